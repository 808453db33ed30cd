//! A subscription selects one field, which may stand in fragments.
//!
//! The library answers only fields that stand in the operation itself and those all at once, so they are brought there.

use async_graphql::parser::Positioned;
use async_graphql::parser::types::{
    Directive, ExecutableDocument, Field, OperationDefinition, OperationType, Selection, SelectionSet,
};
use async_graphql::{Name, Value, Variables};
use serde_json::json;

use crate::error::{ApiError, Code};
use crate::transport::literals::Placed;

/// Checks that every subscription selects one field.
pub(super) fn check(document: &ExecutableDocument) -> Result<(), Placed> {
    for (_, operation) in document.operations.iter() {
        if operation.node.ty != OperationType::Subscription {
            continue;
        }
        let fields = fields(document, &operation.node.selection_set.node, &|_| true);
        let mut keys: Vec<&Name> = Vec::new();
        for field in &fields {
            let key = &field.node.response_key().node;
            if !keys.contains(&key) {
                keys.push(key);
            }
            if keys.len() > 1 {
                let names: Vec<&str> = keys.iter().map(|key| key.as_str()).collect();
                let message = format!("a subscription selects one field, found `{}`", names.join("` and `"));
                let error = ApiError::new(Code::BadRequest, message).data(json!({ "found": names }));
                return Err((error, field.pos));
            }
        }
    }
    Ok(())
}

/// Says whether the library finds a subscription's field where it stands.
pub(in crate::transport) fn stands_alone(operation: &OperationDefinition) -> bool {
    let items = &operation.selection_set.node.items;
    let is_plain = |selection: &Positioned<Selection>| matches!(&selection.node, Selection::Field(field) if field.node.directives.is_empty());
    items.len() == 1 && items.iter().all(is_plain)
}

/// Brings the field of a subscription into the operation itself, out of fragments and together with what else is
/// selected of it, as far as `@skip` and `@include` let it.
///
/// # Errors
/// If nothing is left.
pub(in crate::transport) fn lift(
    document: &ExecutableDocument,
    operation: &Positioned<OperationDefinition>,
    variables: &Variables,
) -> Result<Positioned<OperationDefinition>, Placed> {
    let is_wanted = |directives: &[Positioned<Directive>]| {
        directives.iter().all(|directive| {
            let directive = &directive.node;
            let given = || truth(directive, &operation.node, variables);
            match directive.name.node.as_str() {
                "skip" => given() != Some(true),
                "include" => given() != Some(false),
                _ => true,
            }
        })
    };
    let mut fields = fields(document, &operation.node.selection_set.node, &is_wanted).into_iter();
    let Some(first) = fields.next() else {
        let message = "the subscription selects nothing: `@skip` and `@include` leave none of its fields";
        return Err((ApiError::new(Code::BadRequest, message), operation.pos));
    };
    let mut field = first.clone();
    field.node.directives.clear();
    for same in fields {
        field.node.selection_set.node.items.extend(same.node.selection_set.node.items.iter().cloned());
    }
    let mut lifted = operation.clone();
    lifted.node.selection_set.node.items = vec![Positioned::new(Selection::Field(field), first.pos)];
    Ok(lifted)
}

/// What the condition of a directive is, where it is known.
fn truth(directive: &Directive, operation: &OperationDefinition, variables: &Variables) -> Option<bool> {
    let condition = directive.get_argument("if")?.node.clone();
    let value = |name: &Name| {
        let mut declared = operation.variable_definitions.iter();
        let default = || declared.find(|one| one.node.name.node == *name)?.node.default_value().cloned();
        variables.get(name).cloned().or_else(default)
    };
    match condition.into_const_with(|name| value(&name).ok_or(())) {
        Ok(Value::Boolean(truth)) => Some(truth),
        Ok(_) | Err(()) => None,
    }
}

/// The fields of a selection set in order, those of its fragments included.
fn fields<'a>(
    document: &'a ExecutableDocument,
    set: &'a SelectionSet,
    is_wanted: &dyn Fn(&[Positioned<Directive>]) -> bool,
) -> Vec<&'a Positioned<Field>> {
    let (mut found, mut spread) = (Vec::new(), Vec::new());
    let mut open = vec![set.items.iter()];
    while let Some(items) = open.last_mut() {
        let Some(selection) = items.next() else {
            open.pop();
            continue;
        };
        if !is_wanted(selection.node.directives()) {
            continue;
        }
        match &selection.node {
            Selection::Field(field) => found.push(field),
            Selection::InlineFragment(inline) => open.push(inline.node.selection_set.node.items.iter()),
            Selection::FragmentSpread(one) => {
                let name = &one.node.fragment_name.node;
                if let Some(fragment) = document.fragments.get(name)
                    && !spread.contains(&name)
                {
                    // As the specification has it, a fragment adds its fields once.
                    spread.push(name);
                    open.push(fragment.node.selection_set.node.items.iter());
                }
            }
        }
    }
    found
}
