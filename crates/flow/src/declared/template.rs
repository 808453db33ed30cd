//! Texts and values with places for what a run carries.
//!
//! `{{kind}}` stands for what the channel `kind` holds, `{{sorted.parts.0}}` for a part of it; `{{{{` stands for two braces. In a
//! text a string stands as it is, null and what is not there as nothing, everything else as JSON. A value that is nothing but one
//! place becomes what is there, of whatever type.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::state::State;

/// Most bytes of what templates of one node are filled to: what a run carries could double with each step otherwise.
pub const FILLED_BYTES: usize = 1 << 20;

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// It stands as it is.
    Text(&'a str),
    /// What the state has there stands for it.
    Place(Path<'a>),
}

/// Where in a state something is: a channel, and the fields and indices that lead on from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path<'a> {
    /// The channel.
    pub channel: &'a str,
    steps: Vec<&'a str>,
}

/// A text that is no template, or no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    /// A place that has no end.
    #[error("`{{{{` is not closed by `}}}}`")]
    Open,
    /// A place that names nothing.
    #[error("`{0}` is no path: expected a channel, then fields and indices behind dots")]
    Path(String),
}

/// What templates are filled to is more than [`FILLED_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what a node is filled in with is limited to {} bytes", FILLED_BYTES)]
pub struct TooLarge;

/// How much may still be filled in.
#[derive(Clone, Copy, Debug)]
pub struct Budget(usize);

impl Default for Budget {
    fn default() -> Budget {
        Budget(FILLED_BYTES)
    }
}

impl Budget {
    fn take(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.0 = self.0.checked_sub(bytes).ok_or(TooLarge)?;
        Ok(())
    }
}

impl<'a> Path<'a> {
    /// Reads a path.
    ///
    /// # Errors
    ///
    /// [`BadTemplate::Path`].
    pub fn read(text: &'a str) -> Result<Path<'a>, BadTemplate> {
        let bad = || BadTemplate::Path(text.to_owned());
        let mut steps = text.trim().split('.');
        let channel = steps.next().unwrap_or_default();
        let steps: Vec<&str> = steps.collect();
        let legal = |step: &&str| !step.is_empty() && !step.contains(['{', '}', ' ', '"']);
        if !legal(&channel) || !steps.iter().all(legal) {
            return Err(bad());
        }
        Ok(Path { channel, steps })
    }

    /// What a state has there; null where it has nothing.
    #[must_use]
    pub fn get<'s>(&self, state: &'s State) -> &'s Value {
        const NOTHING: &Value = &Value::Null;
        let mut found = state.get(self.channel);
        for step in &self.steps {
            let next = match found {
                Value::Object(fields) => fields.get(*step),
                Value::Array(items) => step.parse().ok().and_then(|index: usize| items.get(index)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
            };
            found = next.unwrap_or(NOTHING);
        }
        found
    }
}

/// The parts of a template, in order.
///
/// # Errors
///
/// See [`BadTemplate`].
pub fn pieces(text: &str) -> Result<Vec<Piece<'_>>, BadTemplate> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        let (before, behind) = (&rest[..open], &rest[open + 2..]);
        if let Some(escaped) = behind.strip_prefix("{{") {
            pieces.push(Piece::Text(&rest[..open + 2]));
            rest = escaped;
            continue;
        }
        let close = behind.find("}}").ok_or(BadTemplate::Open)?;
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(Piece::Place(Path::read(&behind[..close])?));
        rest = &behind[close + 2..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

/// The text that a template becomes. One that is none, which no checked flow has, stands as it is.
///
/// # Errors
///
/// See [`TooLarge`].
pub fn text(template: &str, state: &State, budget: &mut Budget) -> Result<String, TooLarge> {
    let mut out = String::new();
    for piece in pieces(template).unwrap_or_else(|_| vec![Piece::Text(template)]) {
        match piece {
            Piece::Text(text) => {
                budget.take(text.len())?;
                out.push_str(text);
            }
            Piece::Place(path) => match path.get(state) {
                Value::Null => {}
                Value::String(text) => {
                    budget.take(text.len())?;
                    out.push_str(text);
                }
                value => {
                    budget.take(size(value))?;
                    // Writing to a string does not fail.
                    write!(out, "{value}").ok();
                }
            },
        }
    }
    Ok(out)
}

/// What a value becomes: its texts are templates.
///
/// # Errors
///
/// See [`TooLarge`].
pub fn value(template: &Value, state: &State, budget: &mut Budget) -> Result<Value, TooLarge> {
    Ok(match template {
        Value::String(given) => match pieces(given).as_deref() {
            Ok([Piece::Place(path)]) => {
                let found = path.get(state);
                budget.take(size(found))?;
                found.clone()
            }
            Ok(_) | Err(_) => Value::String(text(given, state, budget)?),
        },
        Value::Array(items) => {
            let items = items.iter().map(|item| value(item, state, budget));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(given) => Value::Object(fields(given, state, budget)?),
        Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
    })
}

/// What the values of an object become.
///
/// # Errors
///
/// See [`TooLarge`].
pub fn fields(
    templates: &Map<String, Value>,
    state: &State,
    budget: &mut Budget,
) -> Result<Map<String, Value>, TooLarge> {
    let filled = templates.iter().map(|(name, given)| Ok((name.clone(), value(given, state, budget)?)));
    filled.collect()
}

/// About how many bytes a value takes as JSON.
fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| size(item) + 1).sum::<usize>(),
        Value::Object(fields) => {
            2 + fields.iter().map(|(name, value)| name.len() + 4 + size(value)).sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state() -> State {
        serde_json::from_value(json!({
            "who": "ann", "n": 3, "none": null, "found": { "rows": [["T-1"], ["T-2"]] }, "brace": "{{who}}",
        }))
        .expect("it is one")
    }

    #[test]
    fn places_stand_for_what_a_state_has_there() {
        let check = |template: &str, expect: &str| {
            assert_eq!(text(template, &state(), &mut Budget::default()).as_deref(), Ok(expect), "{template}");
        };
        check("", "");
        check("as it is }}", "as it is }}");
        check("{{who}} has {{ n }} of {{found.rows.1.0}}", "ann has 3 of T-2");
        check("{{none}}{{nobody}}{{found.rows.7.0}}{{who.x}}", "");
        check("{{found.rows}}", r#"[["T-1"],["T-2"]]"#);
        check("{{{{who}}", "{{who}}");
        // What is filled in is not filled in again.
        check("{{brace}}", "{{who}}");
    }

    #[test]
    fn a_value_that_is_one_place_keeps_its_type() {
        let check = |template: Value, expect: Value| {
            assert_eq!(value(&template, &state(), &mut Budget::default()), Ok(expect));
        };
        check(json!("{{n}}"), json!(3));
        check(json!("{{n}} "), json!("3 "));
        check(
            json!({ "a": ["{{found.rows.0}}", 1, null], "b": "{{nobody}}" }),
            json!({ "a": [["T-1"], 1, null], "b": null }),
        );
    }

    #[test]
    fn what_is_no_template_is_told() {
        assert_eq!(pieces("a {{b"), Err(BadTemplate::Open));
        for path in ["", "a..b", ".a", "{a", "a b"] {
            let template = format!("{{{{{path}}}}}");
            assert_eq!(pieces(&template), Err(BadTemplate::Path(path.to_owned())), "{template}");
        }
        assert_eq!(BadTemplate::Open.to_string(), "`{{` is not closed by `}}`");
    }

    #[test]
    fn what_is_filled_in_is_bounded() {
        let long: State =
            serde_json::from_value(json!({ "a": "x".repeat(FILLED_BYTES / 2 + 1) })).expect("it is one");
        assert_eq!(text("{{a}}{{a}}", &long, &mut Budget::default()), Err(TooLarge));
        assert_eq!(value(&json!(["{{a}}", "{{a}}"]), &long, &mut Budget::default()), Err(TooLarge));
        assert!(value(&json!(["{{a}}"]), &long, &mut Budget::default()).is_ok());
    }
}
