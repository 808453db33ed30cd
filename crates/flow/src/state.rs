//! What a run carries from node to node.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::check::Flow;
use crate::definition::{Channel, Reducer};
use crate::depth::{MOST_DEPTH, is_too_deep};

/// The values of a flow's channels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State(BTreeMap<String, Value>);

/// What a node changes: a value for each channel that it changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Update(pub BTreeMap<String, Value>);

/// Why an update does not fit a flow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The flow has no such channel.
    #[error("there is no channel `{channel}`")]
    UnknownChannel {
        /// The name.
        channel: String,
    },
    /// The reducer of the channel takes something else.
    #[error("channel `{channel}` takes {expected}, not {found}")]
    Misfit {
        /// The channel.
        channel: String,
        /// What it takes.
        expected: &'static str,
        /// What it was given.
        found: &'static str,
    },
    /// The channel would have more fields than it may.
    #[error("channel `{channel}` would have {found} fields and may have {most}")]
    TooMany {
        /// The channel.
        channel: String,
        /// What it may have.
        most: usize,
        /// What it would have.
        found: usize,
    },
    /// A value is nested deeper than a run carries it.
    #[error("{what} is nested more than {MOST_DEPTH} deep")]
    TooDeep {
        /// What it is for.
        what: String,
    },
}

impl Update {
    /// Changes nothing.
    #[must_use]
    pub fn none() -> Update {
        Update::default()
    }

    /// The same update with a value for a channel.
    #[must_use]
    pub fn with(mut self, channel: &str, value: impl Into<Value>) -> Update {
        self.0.insert(channel.to_owned(), value.into());
        self
    }

    /// Whether its values are nested no deeper than a run carries them. What is stored already is not held against that.
    ///
    /// # Errors
    ///
    /// [`StateError::TooDeep`].
    pub fn check_depth(&self) -> Result<(), StateError> {
        match self.0.iter().find(|(_, value)| is_too_deep(value)) {
            Some((channel, _)) => {
                Err(StateError::TooDeep { what: format!("what channel `{channel}` is given") })
            }
            None => Ok(()),
        }
    }
}

impl State {
    /// Carries nothing.
    pub(crate) const fn empty() -> State {
        State(BTreeMap::new())
    }

    /// What a run of a flow begins with.
    #[must_use]
    pub fn initial(flow: &Flow) -> State {
        let channels = flow.definition().channels.iter();
        State(channels.map(|channel| (channel.name.clone(), channel.initial.clone())).collect())
    }

    /// The value of a channel; null where there is none.
    #[must_use]
    pub fn get(&self, channel: &str) -> &Value {
        self.0.get(channel).unwrap_or(&Value::Null)
    }

    /// The text of a channel; empty where it is none.
    #[must_use]
    pub fn text(&self, channel: &str) -> &str {
        self.get(channel).as_str().unwrap_or_default()
    }

    /// What is shown of it: every channel that is not private.
    #[must_use]
    pub fn public(&self, flow: &Flow) -> Value {
        let shown = |name: &String| flow.channel(name).is_some_and(|channel| !channel.private);
        let fields = self.0.iter().filter(|(name, _)| shown(name));
        Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    /// Takes an update in; changes nothing if it does not fit.
    ///
    /// # Errors
    ///
    /// See [`StateError`].
    pub fn apply(&mut self, flow: &Flow, update: &Update) -> Result<(), StateError> {
        self.check(flow, update)?;
        for (name, value) in &update.0 {
            if let Some(channel) = flow.channel(name) {
                let held = self.0.entry(name.clone()).or_insert_with(|| channel.initial.clone());
                reduce(held, channel.reducer, value);
            }
        }
        Ok(())
    }

    /// Whether an update fits.
    ///
    /// # Errors
    ///
    /// See [`StateError`].
    pub fn check(&self, flow: &Flow, update: &Update) -> Result<(), StateError> {
        for (name, value) in &update.0 {
            let Some(channel) = flow.channel(name) else {
                return Err(StateError::UnknownChannel { channel: name.clone() });
            };
            self.check_channel(channel, value)?;
        }
        Ok(())
    }

    fn check_channel(&self, channel: &Channel, value: &Value) -> Result<(), StateError> {
        let (expected, fits) = match channel.reducer {
            Reducer::Replace => return Ok(()),
            Reducer::Append { .. } => ("a list", value.is_array()),
            Reducer::Sum => ("a number", value.is_number()),
            Reducer::Merge { .. } => ("an object", value.is_object()),
        };
        if !fits {
            return Err(StateError::Misfit { channel: channel.name.clone(), expected, found: kind(value) });
        }
        let Reducer::Merge { most } = channel.reducer else { return Ok(()) };
        let empty = Map::new();
        let held = self.get(&channel.name).as_object().unwrap_or(&empty);
        let new = value.as_object().unwrap_or(&empty).keys().filter(|field| !held.contains_key(*field));
        let found = held.len() + new.count();
        if found > most {
            return Err(StateError::TooMany { channel: channel.name.clone(), most, found });
        }
        Ok(())
    }
}

/// What a reducer makes of a value and an update, which fits.
fn reduce(held: &mut Value, reducer: Reducer, update: &Value) {
    match (reducer, held, update) {
        (Reducer::Replace, held, update) => *held = update.clone(),
        (Reducer::Append { most }, Value::Array(held), Value::Array(items)) => {
            held.extend(items.iter().cloned());
            held.drain(..held.len().saturating_sub(most));
        }
        (Reducer::Sum, held, update) => *held = sum(held, update),
        (Reducer::Merge { .. }, Value::Object(held), Value::Object(fields)) => {
            held.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        // Definitions begin with what their reducers take, and updates were checked.
        (Reducer::Append { .. } | Reducer::Merge { .. }, _, _) => {}
    }
}

/// Whole as long as both are and the sum can be.
fn sum(held: &Value, update: &Value) -> Value {
    let whole = held.as_i64().zip(update.as_i64()).and_then(|(one, other)| one.checked_add(other));
    match whole {
        Some(sum) => sum.into(),
        None => (held.as_f64().unwrap_or(0.0) + update.as_f64().unwrap_or(0.0)).into(),
    }
}

/// What a value is, in words.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
