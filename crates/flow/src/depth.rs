//! How deep values of a run are nested.
//!
//! What is stored of a run is JSON, of which readers take 128 levels; entries have a few of their own around a value. And whoever
//! looks through a value goes down on the stack.

use serde_json::Value;

use crate::ladder::Failure;

/// Lists and objects within each other in a value that a run carries, is answered or gives.
pub const MOST_DEPTH: usize = 64;

/// The code of an answer that is nested deeper.
pub const ANSWER_TOO_DEEP: &str = "ANSWER_TOO_DEEP";

/// Says whether a value is nested deeper than a run takes it.
#[must_use]
pub fn is_too_deep(value: &Value) -> bool {
    is_deeper(value, MOST_DEPTH)
}

fn is_deeper(value: &Value, most: usize) -> bool {
    match value {
        Value::Array(items) => most == 0 || items.iter().any(|item| is_deeper(item, most - 1)),
        Value::Object(fields) => most == 0 || fields.values().any(|field| is_deeper(field, most - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Notes without those that are nested too deep: they change nothing.
#[must_use]
pub fn shallow(notes: Value) -> Value {
    match notes {
        Value::Object(mut fields) => {
            fields.retain(|_, note| !is_deeper(note, MOST_DEPTH - 1));
            Value::Object(fields)
        }
        notes if is_too_deep(&notes) => Value::Null,
        notes => notes,
    }
}

/// The failure of what has answered with such a value.
#[must_use]
pub fn too_deep(what: &str) -> Failure {
    Failure {
        code: ANSWER_TOO_DEEP.to_owned(),
        message: format!("what {what} answers is nested more than {MOST_DEPTH} deep"),
        tool: None,
        arguments: None,
        transient: false,
        retry_after: None,
    }
}
