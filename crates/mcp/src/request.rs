//! A request of JSON-RPC, as far as it is understood before anybody acts on it.

use serde_json::{Value, json};

use crate::failure::{RpcCode, RpcError};
use crate::reply::hidden;

/// A request or notification, as far as it is understood.
pub(crate) struct Request {
    /// None for a notification.
    pub(crate) id: Option<Value>,
    pub(crate) method: String,
    pub(crate) params: Value,
    /// All of it.
    pub(crate) whole: Value,
}

/// Reads a message; nothing if it is an answer. An error comes with the id that it is about.
pub(crate) fn read(bytes: &[u8]) -> Result<Option<Request>, (Value, RpcError)> {
    match serde_json::from_slice(bytes) {
        Ok(message) => understood(message),
        Err(error) => Err((Value::Null, unreadable(bytes, &error))),
    }
}

fn understood(message: Value) -> Result<Option<Request>, (Value, RpcError)> {
    let wrong = |id: &Value, field: &str, expected: &str, actual: &Value| {
        let actual = if actual.is_null() { "nothing".to_owned() } else { actual.to_string() };
        let actual: String = actual.chars().take(80).collect();
        let data = json!({ "field": field, "expected": expected, "actual": actual });
        Err((id.clone(), RpcError::new(RpcCode::InvalidRequest, data)))
    };
    let nobody = Value::Null;
    let Some(fields) = message.as_object() else {
        return wrong(&nobody, "request", "an object; batches are not supported", &message);
    };
    let id = fields.get("id");
    let known = id.filter(|id| id.is_string() || id.is_i64() || id.is_u64()).unwrap_or(&nobody);
    if fields.get("jsonrpc") != Some(&"2.0".into()) {
        return wrong(known, "jsonrpc", "\"2.0\"", &message["jsonrpc"]);
    }
    if id.is_some() && known.is_null() {
        return wrong(&nobody, "id", "a string or an integer", &message["id"]);
    }
    if !fields.contains_key("method") && (fields.contains_key("result") || fields.contains_key("error")) {
        return Ok(None);
    }
    let Some(method) = message["method"].as_str() else {
        return wrong(known, "method", "a string", &message["method"]);
    };
    Ok(Some(Request {
        id: id.cloned(),
        method: method.to_owned(),
        params: fields.get("params").cloned().unwrap_or_default(),
        whole: message,
    }))
}

/// Why a text is no JSON: where, and what was expected there.
fn unreadable(bytes: &[u8], error: &serde_json::Error) -> RpcError {
    // The column counts bytes from 1; at the end of a line it is that of the last one.
    let column = if error.is_eof() { error.column() } else { error.column().saturating_sub(1) };
    let before = bytes.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    let position = before.map(<[u8]>::len).sum::<usize>() + column;
    let told = error.to_string();
    let told = told.split(" at line ").next().unwrap_or_default();
    let expected = match told {
        "EOF while parsing a value" | "expected value" => "a value",
        "EOF while parsing an object" => "`,` or `}`",
        "EOF while parsing a list" => "`,` or `]`",
        "EOF while parsing a string" => "`\"`",
        "trailing characters" => "the end of the request",
        "key must be a string" => "a string as the key",
        told => told.strip_prefix("expected ").unwrap_or(told),
    };
    RpcError::new(RpcCode::ParseError, json!({ "position": position, "expected": expected }))
}

pub(crate) fn refusal(id: &Value, error: &RpcError) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": hidden(error.object()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, position: usize, expected: &str) {
        let data = match read(line.as_bytes()) {
            Err((_, error)) => error.data,
            Ok(_) => panic!("it is no JSON"),
        };
        assert_eq!((&data["position"], &data["expected"]), (&json!(position), &json!(expected)), "{line}");
    }

    /// CUE-09: a line that is no JSON is answered with the place and what was expected there.
    #[test]
    fn cue_09_the_place_of_what_is_no_json_is_told() {
        check(r#"{"jsonrpc":"#, 11, "a value");
        check(r#"{"a" 1}"#, 5, "`:`");
        check("[1, 2", 5, "`,` or `]`");
        check("{} x", 3, "the end of the request");
        check("nope", 1, "ident");
        check("{\n  \"a\" 1\n}", 8, "`:`");
    }
}
