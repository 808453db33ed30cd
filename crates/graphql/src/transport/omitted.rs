//! Leaves out what is given by a variable that is not given, as the specification has it.
//!
//! An argument or input field whose value is such a variable counts as missing, so that its default holds. The library
//! passes null instead, which an argument with a default does not take.

use async_graphql::parser::Positioned;
use async_graphql::parser::types::{
    Directive, DocumentOperations, ExecutableDocument, Selection, SelectionSet,
};
use async_graphql::{Name, Variables};
use async_graphql_value::Value;

/// Takes variables that are not given and have no default out of a document of one operation.
pub(super) fn take_out(document: &mut ExecutableDocument, variables: &Variables) {
    // Several operations can share fragments and declare the same variables; then nulls stay.
    let DocumentOperations::Single(operation) = &mut document.operations else { return };
    let definitions = &mut operation.node.variable_definitions;
    let is_omitted = |definition: &async_graphql::parser::types::VariableDefinition| {
        definition.default_value.is_none()
            && definition.var_type.node.nullable
            && !variables.contains_key(&definition.name.node)
    };
    let omitted: Vec<Name> = definitions
        .iter()
        .filter(|definition| is_omitted(&definition.node))
        .map(|definition| definition.node.name.node.clone())
        .collect();
    if omitted.is_empty() {
        return;
    }
    let omitted = Omitted(omitted);
    let mut used = Vec::new();
    omitted.directives(&mut operation.node.directives, &mut used);
    omitted.set(&mut operation.node.selection_set.node, &mut used);
    for fragment in document.fragments.values_mut() {
        omitted.directives(&mut fragment.node.directives, &mut used);
        omitted.set(&mut fragment.node.selection_set.node, &mut used);
    }
    // One that nothing uses stays, for validation to tell.
    operation.node.variable_definitions.retain(|definition| !used.contains(&definition.node.name.node));
}

struct Omitted(Vec<Name>);

impl Omitted {
    fn holds(&self, value: &Value, used: &mut Vec<Name>) -> bool {
        let Value::Variable(name) = value else { return false };
        let holds = self.0.contains(name);
        if holds {
            used.push(name.clone());
        }
        holds
    }

    fn value(&self, value: &mut Value, used: &mut Vec<Name>) {
        match value {
            Value::List(items) => {
                for item in items {
                    if self.holds(item, used) {
                        *item = Value::Null;
                    } else {
                        self.value(item, used);
                    }
                }
            }
            Value::Object(fields) => {
                fields.retain(|_, value| !self.holds(value, used));
                fields.values_mut().for_each(|value| self.value(value, used));
            }
            Value::Variable(_)
            | Value::Null
            | Value::Number(_)
            | Value::String(_)
            | Value::Boolean(_)
            | Value::Binary(_)
            | Value::Enum(_) => {}
        }
    }

    fn arguments(&self, arguments: &mut Vec<(Positioned<Name>, Positioned<Value>)>, used: &mut Vec<Name>) {
        arguments.retain(|(_, value)| !self.holds(&value.node, used));
        arguments.iter_mut().for_each(|(_, value)| self.value(&mut value.node, used));
    }

    fn directives(&self, directives: &mut [Positioned<Directive>], used: &mut Vec<Name>) {
        directives.iter_mut().for_each(|directive| self.arguments(&mut directive.node.arguments, used));
    }

    /// The recursion is as deep as the selections, which are bounded.
    fn set(&self, set: &mut SelectionSet, used: &mut Vec<Name>) {
        for selection in &mut set.items {
            match &mut selection.node {
                Selection::Field(field) => {
                    self.arguments(&mut field.node.arguments, used);
                    self.directives(&mut field.node.directives, used);
                    self.set(&mut field.node.selection_set.node, used);
                }
                Selection::InlineFragment(inline) => {
                    self.directives(&mut inline.node.directives, used);
                    self.set(&mut inline.node.selection_set.node, used);
                }
                Selection::FragmentSpread(spread) => self.directives(&mut spread.node.directives, used),
            }
        }
    }
}
