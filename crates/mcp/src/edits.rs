//! What an edit is: an object with exactly one key, which names it. What stands below it, the API checks.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::failure::{RpcError, nearest};
use crate::mask::MASKED;
use crate::sdl;

/// The names of all edits.
static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| sdl::fields("EditInput"));

/// Looks at the shape of edits, which a schema without `oneOf` does not say.
pub(crate) fn check(edits: &[Map<String, Value>]) -> Result<(), RpcError> {
    for (index, edit) in edits.iter().enumerate() {
        let place = format!("edits[{index}]");
        let keys: Vec<&str> = edit.keys().map(String::as_str).collect();
        let [name] = keys.as_slice() else {
            let actual = match keys.as_slice() {
                [] => "an empty object".to_owned(),
                keys => format!("the keys {}", keys.join(", ")),
            };
            return Err(RpcError::invalid(&place, "an object with exactly one key, the edit's name", actual));
        };
        if !NAMES.contains(name) {
            let near = nearest(name, NAMES.iter().copied());
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let expected = format!("one of {}{near}", NAMES.join(", "));
            return Err(RpcError::invalid(&place, expected, format!("`{name}`")));
        }
        // Written back, it would take the place of the secret that it hides.
        if edit.values().any(hides) {
            let expected = "no text that was hidden: edit the nodes around it one by one";
            return Err(RpcError::invalid(&format!("{place}.{name}"), expected, format!("`{MASKED}`")));
        }
    }
    Ok(())
}

/// Whether something that was hidden stands in an argument.
fn hides(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(MASKED),
        Value::Array(list) => list.iter().any(hides),
        Value::Object(map) => map.values().any(hides),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The types of edits and of all that they consist of, in the schema language.
pub(crate) fn schema() -> String {
    let head =
        "# An edit of propose_structured_edit: an object with exactly one of the keys of EditInput.\n\n";
    format!("{head}{}", sdl::closure("EditInput"))
}
