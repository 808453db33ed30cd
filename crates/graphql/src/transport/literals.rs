//! Finds what the library takes for a value of its type and is none, before anything runs: integers that do not fit 32
//! bits, and names of enums in quotes.
//!
//! The library's validation takes any integer for an `Int`, and its execution then fails at the argument, before the
//! field that has it can answer null: the field's siblings go with it. Here the request is refused instead, with the
//! place. A name in quotes is a string in a document, though in the JSON of a variable there is no other way to write it.

use std::convert::Infallible;

use async_graphql::parser::types::{
    BaseType, ExecutableDocument, Field, OperationDefinition, Selection, SelectionSet, Type,
};
use async_graphql::{Name, Pos, Value, Variables};
use serde_json::json;

use super::shape::Shape;
use crate::error::{ApiError, Code, cut};

/// An error with its place in the document.
pub(super) type Placed = (ApiError, Pos);

/// Checks the arguments of all fields, and the variables of the chosen operation.
pub(super) fn check(
    document: &ExecutableDocument,
    operation: &OperationDefinition,
    variables: &Variables,
    shape: &Shape,
) -> Result<(), Placed> {
    for definition in &operation.variable_definitions {
        let (name, ty) = (&definition.node.name.node, &definition.node.var_type.node);
        if let Some(value) = variables.get(name) {
            fits(shape, ty, value, name, Written::Variable).map_err(|error| (error, definition.pos))?;
        }
        if let Some(default) = definition.node.default_value() {
            fits(shape, ty, default, name, Written::Document).map_err(|error| (error, definition.pos))?;
        }
    }
    for (_, operation) in document.operations.iter() {
        let operation = &operation.node;
        set(&operation.selection_set.node, shape.root(operation.ty), shape)?;
    }
    for fragment in document.fragments.values() {
        let fragment = &fragment.node;
        set(&fragment.selection_set.node, Some(&fragment.type_condition.node.on.node), shape)?;
    }
    Ok(())
}

/// The recursion is as deep as the selections, which are bounded.
fn set(set: &SelectionSet, owner: Option<&Name>, shape: &Shape) -> Result<(), Placed> {
    for selection in &set.items {
        match &selection.node {
            Selection::Field(one) => field(&one.node, owner, shape)?,
            Selection::InlineFragment(inline) => {
                let inline = &inline.node;
                let owner = inline.type_condition.as_ref().map(|on| &on.node.on.node).or(owner);
                self::set(&inline.selection_set.node, owner, shape)?;
            }
            Selection::FragmentSpread(_) => {}
        }
    }
    Ok(())
}

fn field(field: &Field, owner: Option<&Name>, shape: &Shape) -> Result<(), Placed> {
    let Some(known) = owner.and_then(|owner| shape.field(owner, &field.name.node)) else { return Ok(()) };
    for (name, value) in &field.arguments {
        let Some(argument) = known.arguments.get(&name.node) else { continue };
        // Variables are looked at where they are declared.
        let literal = value.node.clone().into_const_with(|_| Ok::<_, Infallible>(Value::Null));
        let Ok(literal) = literal;
        fits(shape, &argument.ty, &literal, &name.node, Written::Document)
            .map_err(|error| (error, name.pos))?;
    }
    set(&field.selection_set.node, Some(&known.of), shape)
}

/// Where a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// In the document.
    Document,
    /// In the JSON of the variables.
    Variable,
}

fn fits(shape: &Shape, ty: &Type, value: &Value, path: &str, written: Written) -> Result<(), ApiError> {
    match (&ty.base, value) {
        (BaseType::List(of), Value::List(items)) => {
            for (index, item) in items.iter().enumerate() {
                fits(shape, of, item, &format!("{path}[{index}]"), written)?;
            }
        }
        (BaseType::List(of), one) => fits(shape, of, one, path, written)?,
        (BaseType::Named(name), Value::Number(number)) if name == "Int" => {
            if number.as_i64().is_none_or(|number| i32::try_from(number).is_err()) {
                let message = format!("Invalid value for argument \"{path}\", expected type \"Int\"");
                return Err(ApiError::new(Code::BadRequest, message).data(json!({ "path": path })));
            }
        }
        (BaseType::Named(name), Value::Object(given)) => {
            let Some(input) = shape.inputs.fields(name) else { return Ok(()) };
            for (field, value) in given {
                if let Some(one) = input.get(field) {
                    fits(shape, &one.ty, value, &format!("{path}.{field}"), written)?;
                }
            }
        }
        (BaseType::Named(name), Value::String(given)) if written == Written::Document => {
            if let Some(names) = shape.inputs.names(name) {
                let (given, listed) = (cut(given), names.join(", "));
                let message = format!(
                    "Invalid value for argument \"{path}\", a name of enumeration type \"{name}\" stands without \
                     quotes: expected {listed}, found \"{given}\""
                );
                let data = json!({ "path": path, "expected": names, "found": given });
                return Err(ApiError::new(Code::BadRequest, message).data(data));
            }
        }
        (BaseType::Named(_), _) => {}
    }
    Ok(())
}
