//! The variables that a request gives, before they are compared with what they are for.

use async_graphql::parser::Positioned;
use async_graphql::parser::types::OperationDefinition;
use async_graphql::{Value, Variables};
use serde_json::json;

use super::literals::Placed;
use crate::error::{ApiError, Code};

/// Refuses an operation that is not given a variable that it cannot do without; the library would run it and fail at
/// the field, without the variable's name.
pub(super) fn refuse_missing(
    operation: &Positioned<OperationDefinition>,
    variables: &Variables,
) -> Result<(), Placed> {
    for definition in &operation.node.variable_definitions {
        let (name, ty) = (&definition.node.name.node, &definition.node.var_type.node);
        let given = variables.get(name).is_some_and(|value| *value != Value::Null);
        if ty.nullable || given || (definition.node.default_value.is_some() && !variables.contains_key(name))
        {
            continue;
        }
        let error =
            ApiError::new(Code::BadRequest, format!("variable `${name}` of type `{ty}` is not given"));
        return Err((error.data(json!({ "path": name.as_str() })), definition.pos));
    }
    Ok(())
}

/// The key by which the JSON library knows text to be copied into the output unchecked.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Refuses variables that would be copied unchecked into an answer that shows them.
pub(super) fn refuse_raw_values(variables: &Variables) -> Result<(), ApiError> {
    fn has_raw(value: &Value) -> bool {
        match value {
            Value::Object(fields) => fields.iter().any(|(name, value)| name == RAW_VALUE || has_raw(value)),
            Value::List(items) => items.iter().any(has_raw),
            Value::Null
            | Value::Number(_)
            | Value::String(_)
            | Value::Boolean(_)
            | Value::Binary(_)
            | Value::Enum(_) => false,
        }
    }
    if variables.values().any(has_raw) {
        return Err(ApiError::new(Code::BadRequest, "a variable has a reserved key"));
    }
    Ok(())
}
