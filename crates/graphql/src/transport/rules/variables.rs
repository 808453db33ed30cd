//! Variables: declared once, of a type that there is, and used only where a value of their type may stand.
//!
//! What is given by a variable that is not given is taken out before the library validates, so a variable in a place that
//! does not exist is found here as well.

use std::collections::{HashMap, HashSet};

use async_graphql::parser::Positioned;
use async_graphql::parser::types::{
    BaseType, Directive, ExecutableDocument, Field, FragmentDefinition, OperationDefinition, Selection,
    SelectionSet, Type, VariableDefinition,
};
use async_graphql::{Name, Pos};
use async_graphql_value::Value;
use serde_json::json;

use crate::error::{ApiError, Code};
use crate::transport::literals::Placed;
use crate::transport::shape::Shape;
use crate::transport::values::Argument;

/// Checks the variables of all operations.
pub(super) fn check(document: &ExecutableDocument, shape: &Shape) -> Result<(), Placed> {
    let mut fragments: HashMap<&Name, Uses<'_>> = HashMap::new();
    let mut sorted: Vec<(&Name, &Positioned<FragmentDefinition>)> = document.fragments.iter().collect();
    sorted.sort_unstable_by_key(|(_, fragment)| fragment.pos);
    for (name, fragment) in sorted {
        let fragment = &fragment.node;
        let on = &fragment.type_condition.node.on.node;
        let mut uses = Uses::new(shape);
        uses.directives(&fragment.directives)?;
        uses.set(&fragment.selection_set.node, Some(on))?;
        fragments.insert(name, uses);
    }
    for (_, operation) in document.operations.iter() {
        let operation = &operation.node;
        let declared = declared(operation, shape)?;
        let mut uses = Uses::new(shape);
        uses.directives(&operation.directives)?;
        uses.set(&operation.selection_set.node, shape.root(operation.ty))?;
        let (mut open, mut seen) = (vec![&uses], HashSet::new());
        while let Some(uses) = open.pop() {
            for one in &uses.uses {
                if let Some(definition) = declared.get(one.variable) {
                    one.may_be(definition)?;
                }
            }
            // In the order in which they are spread.
            for spread in uses.spreads.iter().rev().filter(|name| seen.insert(**name)) {
                open.extend(fragments.get(spread));
            }
        }
    }
    Ok(())
}

/// The variables of an operation by name.
fn declared<'a>(
    operation: &'a OperationDefinition,
    shape: &Shape,
) -> Result<HashMap<&'a Name, &'a VariableDefinition>, Placed> {
    let mut declared = HashMap::new();
    for definition in &operation.variable_definitions {
        let (variable, place) = (&definition.node, definition.pos);
        let (name, ty) = (&variable.name.node, bottom(&variable.var_type.node));
        let refused = |message: String, data: serde_json::Value| {
            Err((ApiError::new(Code::BadRequest, message).data(data), place))
        };
        if declared.insert(name, variable).is_some() {
            return refused(
                format!("variable `${name}` is declared twice"),
                json!({ "path": name.as_str() }),
            );
        }
        let data = json!({ "path": name.as_str(), "type": ty.as_str() });
        match shape.is_input(ty) {
            Some(true) => {}
            Some(false) => {
                return refused(
                    format!("variable `${name}` cannot be of type `{ty}`: no input has it"),
                    data,
                );
            }
            None => return refused(format!("variable `${name}` has the unknown type `{ty}`"), data),
        }
    }
    Ok(declared)
}

fn bottom(ty: &Type) -> &Name {
    match &ty.base {
        BaseType::Named(name) => name,
        BaseType::List(of) => bottom(of),
    }
}

/// A variable where a value is expected.
struct Use<'a> {
    variable: &'a Name,
    ty: &'a Type,
    /// Whether the place has a default for what is not given.
    has_default: bool,
    /// The input object of which exactly one field is given, where it is in one.
    one_of: Option<&'a Name>,
    path: String,
    place: Pos,
}

impl Use<'_> {
    /// Checks that the variable's values may stand here.
    fn may_be(&self, definition: &VariableDefinition) -> Result<(), Placed> {
        let (name, found) = (self.variable, &definition.var_type.node);
        let expected = match self.one_of {
            Some(_) => Type { nullable: false, ..self.ty.clone() },
            None => self.ty.clone(),
        };
        let is_given = self.has_default || definition.default_value().is_some_and(|value| *value != Null);
        let fits = match !expected.nullable && found.nullable && is_given && self.one_of.is_none() {
            true => is_part(found, &Type { nullable: true, ..expected.clone() }),
            false => is_part(found, &expected),
        };
        if fits {
            return Ok(());
        }
        let path = &self.path;
        let why = match self.one_of {
            Some(input) => format!(", since exactly one field of `{input}` is given"),
            None => String::new(),
        };
        let message =
            format!("`{path}` takes `{expected}`{why}: variable `${name}` is declared as `{found}`");
        let data = json!({ "path": path, "expected": expected.to_string(), "found": found.to_string() });
        Err((ApiError::new(Code::BadRequest, message).data(data), self.place))
    }
}

use async_graphql::Value::Null;

/// Says whether every value of one type is one of another.
fn is_part(one: &Type, of: &Type) -> bool {
    if one.nullable && !of.nullable {
        return false;
    }
    match (&one.base, &of.base) {
        (BaseType::List(one), BaseType::List(of)) => is_part(one, of),
        (BaseType::Named(one), BaseType::Named(of)) => one == of,
        (BaseType::List(_), BaseType::Named(_)) | (BaseType::Named(_), BaseType::List(_)) => false,
    }
}

/// Where variables stand in an operation or a fragment, without the fragments that it spreads.
struct Uses<'a> {
    shape: &'a Shape,
    uses: Vec<Use<'a>>,
    spreads: Vec<&'a Name>,
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct Spot<'a> {
    ty: &'a Type,
    has_default: bool,
    one_of: Option<&'a Name>,
    place: Pos,
}

impl<'a> Uses<'a> {
    fn new(shape: &'a Shape) -> Self {
        Uses { shape, uses: Vec::new(), spreads: Vec::new() }
    }

    /// The recursion is as deep as the selections, which are bounded.
    fn set(&mut self, set: &'a SelectionSet, owner: Option<&'a Name>) -> Result<(), Placed> {
        for selection in &set.items {
            self.directives(selection.node.directives())?;
            match &selection.node {
                Selection::Field(field) => self.field(field, owner)?,
                Selection::InlineFragment(inline) => {
                    let inline = &inline.node;
                    let owner = inline.type_condition.as_ref().map(|on| &on.node.on.node).or(owner);
                    self.set(&inline.selection_set.node, owner)?;
                }
                Selection::FragmentSpread(spread) => self.spreads.push(&spread.node.fragment_name.node),
            }
        }
        Ok(())
    }

    fn field(&mut self, field: &'a Positioned<Field>, owner: Option<&'a Name>) -> Result<(), Placed> {
        let (field, shape) = (&field.node, self.shape);
        // What is selected of an unknown field is of no type; the library refuses it.
        let known = owner.and_then(|owner| shape.any_field(owner, &field.name.node));
        if let Some(known) = known {
            let of = format!("field `{}`", field.name.node);
            self.arguments(&field.arguments, &known.arguments, &of)?;
        }
        self.set(&field.selection_set.node, known.map(|known| &known.of))
    }

    fn directives(&mut self, directives: &'a [Positioned<Directive>]) -> Result<(), Placed> {
        for directive in directives {
            let directive = &directive.node;
            if let Some(known) = self.shape.directive(&directive.name.node) {
                self.arguments(&directive.arguments, known, &format!("`@{}`", directive.name.node))?;
            }
        }
        Ok(())
    }

    fn arguments(
        &mut self,
        given: &'a [(Positioned<Name>, Positioned<Value>)],
        known: &'a HashMap<Name, Argument>,
        of: &str,
    ) -> Result<(), Placed> {
        for (name, value) in given {
            match known.get(&name.node) {
                Some(argument) => {
                    let spot = Spot {
                        ty: &argument.ty,
                        has_default: argument.has_default,
                        one_of: None,
                        place: value.pos,
                    };
                    self.value(&value.node, spot, &name.node)?;
                }
                None if has_variable(&value.node) => {
                    let message = format!("{of} has no argument `{}`", name.node);
                    let data = json!({ "path": name.node.as_str() });
                    return Err((ApiError::new(Code::BadRequest, message).data(data), name.pos));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// The recursion is as deep as the brackets, which are bounded.
    fn value(&mut self, value: &'a Value, spot: Spot<'a>, path: &str) -> Result<(), Placed> {
        match (value, &spot.ty.base) {
            (Value::Variable(variable), _) => {
                let Spot { ty, has_default, one_of, place } = spot;
                let path = path.to_owned();
                self.uses.push(Use { variable, ty, has_default, one_of, path, place });
            }
            (Value::List(items), BaseType::List(of)) => {
                for (at, item) in items.iter().enumerate() {
                    let spot = Spot { ty: of, has_default: false, one_of: None, ..spot };
                    self.value(item, spot, &format!("{path}[{at}]"))?;
                }
            }
            // One value stands for a list of it.
            (Value::Object(_), BaseType::List(of)) => {
                self.value(value, Spot { ty: of, has_default: false, one_of: None, ..spot }, path)?;
            }
            (Value::Object(fields), BaseType::Named(input)) => {
                // What stands in a scalar of our own is judged by that.
                let Some(known) = self.shape.inputs.fields(input) else { return Ok(()) };
                let one_of = self.shape.inputs.is_one_of(input).then_some(input);
                for (name, value) in fields {
                    match known.get(name) {
                        Some(field) => {
                            let spot = Spot { ty: &field.ty, has_default: field.has_default, one_of, ..spot };
                            self.value(value, spot, &format!("{path}.{name}"))?;
                        }
                        None if has_variable(value) => {
                            let message = format!("`{path}` of type `{input}` has no field `{name}`");
                            let data = json!({ "path": format!("{path}.{name}") });
                            return Err((ApiError::new(Code::BadRequest, message).data(data), spot.place));
                        }
                        None => {}
                    }
                }
            }
            (
                Value::List(_)
                | Value::Null
                | Value::Number(_)
                | Value::String(_)
                | Value::Boolean(_)
                | Value::Binary(_)
                | Value::Enum(_),
                _,
            ) => {}
        }
        Ok(())
    }
}

fn has_variable(value: &Value) -> bool {
    match value {
        Value::Variable(_) => true,
        Value::List(items) => items.iter().any(has_variable),
        Value::Object(fields) => fields.values().any(has_variable),
        Value::Null
        | Value::Number(_)
        | Value::String(_)
        | Value::Boolean(_)
        | Value::Binary(_)
        | Value::Enum(_) => false,
    }
}
