//! What a branch asks of a state.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::declared::template::{self, Budget, Path};
use crate::state::State;

/// Something that holds of a state or does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Condition {
    /// All of them hold.
    All(Vec<Condition>),
    /// One of them holds.
    Any(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// What is there is a value; numbers are compared as numbers.
    Equals(Compared),
    /// What is there is one of some values.
    OneOf(OneOf),
    /// What is there is a number, and not less than one.
    AtLeast(Compared),
    /// What is there is a number, and not greater than one.
    AtMost(Compared),
    /// What is there is a list with a value in it, a text with a text in it, or an object with a field of that name.
    Contains(Compared),
    /// Something is there that is not null.
    IsSet(String),
}

/// A place in a state, and a value, in which texts are templates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// The place: a channel, then fields and indices behind dots.
    pub path: String,
    /// The value.
    pub value: Value,
}

/// A place in a state, and values, in which texts are templates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneOf {
    /// The place: a channel, then fields and indices behind dots.
    pub path: String,
    /// The values.
    pub values: Vec<Value>,
}

impl Condition {
    /// Whether it holds. What is too large to be filled in equals nothing.
    #[must_use]
    pub fn holds(&self, state: &State) -> bool {
        let found = |path: &str| Path::read(path).map_or(&Value::Null, |path| path.get(state));
        let filled =
            |value: &Value| template::value(value, state, &mut Budget::default()).unwrap_or_default();
        match self {
            Condition::All(all) => all.iter().all(|one| one.holds(state)),
            Condition::Any(any) => any.iter().any(|one| one.holds(state)),
            Condition::Not(one) => !one.holds(state),
            Condition::Equals(Compared { path, value }) => equal(found(path), &filled(value)),
            Condition::OneOf(OneOf { path, values }) => {
                values.iter().any(|value| equal(found(path), &filled(value)))
            }
            Condition::AtLeast(Compared { path, value }) => {
                found(path).as_f64().zip(filled(value).as_f64()).is_some_and(|(found, least)| found >= least)
            }
            Condition::AtMost(Compared { path, value }) => {
                found(path).as_f64().zip(filled(value).as_f64()).is_some_and(|(found, most)| found <= most)
            }
            Condition::Contains(Compared { path, value }) => contains(found(path), &filled(value)),
            Condition::IsSet(path) => !found(path).is_null(),
        }
    }

    /// Tells every path and every value in it, each with its place below `place`.
    pub(crate) fn each(&self, place: &str, tell: &mut dyn FnMut(String, Part<'_>)) {
        let mut compared = |name: &str, Compared { path, value }: &Compared| {
            tell(format!("{place}.{name}.path"), Part::Path(path));
            tell(format!("{place}.{name}.value"), Part::Value(value));
        };
        match self {
            Condition::All(some) | Condition::Any(some) => {
                let name = if matches!(self, Condition::All(_)) { "all" } else { "any" };
                for (index, one) in some.iter().enumerate() {
                    one.each(&format!("{place}.{name}[{index}]"), tell);
                }
            }
            Condition::Not(one) => one.each(&format!("{place}.not"), tell),
            Condition::Equals(of) => compared("equals", of),
            Condition::AtLeast(of) => compared("atLeast", of),
            Condition::AtMost(of) => compared("atMost", of),
            Condition::Contains(of) => compared("contains", of),
            Condition::OneOf(OneOf { path, values }) => {
                tell(format!("{place}.oneOf.path"), Part::Path(path));
                for (index, value) in values.iter().enumerate() {
                    tell(format!("{place}.oneOf.values[{index}]"), Part::Value(value));
                }
            }
            Condition::IsSet(path) => tell(format!("{place}.isSet"), Part::Path(path)),
        }
    }
}

/// A part of a condition that names channels.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'a> {
    /// A path.
    Path(&'a str),
    /// A value, in which texts are templates.
    Value(&'a Value),
}

fn equal(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

fn contains(found: &Value, value: &Value) -> bool {
    match (found, value) {
        (Value::Array(items), value) => items.iter().any(|item| equal(item, value)),
        (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
        (Value::Object(fields), Value::String(name)) => fields.contains_key(name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_hold_of_states() {
        let state: State = serde_json::from_value(json!({
            "kind": "bug", "n": 3, "tags": ["a", 2], "reply": { "confirm": true }, "other": "bug", "none": null,
        }))
        .expect("it is one");
        let check = |condition: Value, expect: bool| {
            let read: Condition = serde_json::from_value(condition.clone()).expect("it is one");
            assert_eq!(read.holds(&state), expect, "{condition}");
            assert_eq!(serde_json::to_value(&read).expect("JSON"), condition);
        };
        check(json!({ "equals": { "path": "kind", "value": "bug" } }), true);
        check(json!({ "equals": { "path": "kind", "value": "{{other}}" } }), true);
        check(json!({ "equals": { "path": "n", "value": 3.0 } }), true);
        check(json!({ "equals": { "path": "reply.confirm", "value": true } }), true);
        check(json!({ "equals": { "path": "nobody", "value": null } }), true);
        check(json!({ "oneOf": { "path": "kind", "values": ["wish", "bug"] } }), true);
        check(json!({ "oneOf": { "path": "kind", "values": [] } }), false);
        check(json!({ "atLeast": { "path": "n", "value": 3 } }), true);
        check(json!({ "atMost": { "path": "n", "value": 2 } }), false);
        check(json!({ "atLeast": { "path": "kind", "value": 0 } }), false);
        check(json!({ "contains": { "path": "tags", "value": 2 } }), true);
        check(json!({ "contains": { "path": "kind", "value": "u" } }), true);
        check(json!({ "contains": { "path": "reply", "value": "feedback" } }), false);
        check(json!({ "isSet": "reply.confirm" }), true);
        check(json!({ "isSet": "none" }), false);
        check(json!({ "not": { "isSet": "none" } }), true);
        check(json!({ "all": [{ "isSet": "n" }, { "isSet": "none" }] }), false);
        check(json!({ "any": [{ "isSet": "n" }, { "isSet": "none" }] }), true);
    }
}
