//! Effects outside a run, and why they are not repeated.
//!
//! Within an attempt effects are counted. One that has a receipt is answered from it; one that is about to change
//! something outside is announced first, so that after a crash it is known that it may have happened.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::place::Place;

/// Where an effect belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectId {
    /// The branch.
    pub place: Place,
    /// The step of that branch.
    pub step: u64,
    /// The attempt at it.
    pub attempt: u32,
    /// Which effect of the attempt, from 0 on.
    pub index: u32,
}

/// What of an effect is known before it is performed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// Where it belongs.
    pub id: EffectId,
    /// What kind it is: `model`, `tool`, `http`, `edit`.
    pub kind: String,
    /// What is called.
    pub name: String,
    /// A digest of what it is asked.
    pub digest: String,
    /// The entry by which the run was taken back before, 0 if it was not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub epoch: u64,
}

/// Whether a run had not been taken back before: it is not written then.
pub(crate) const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What an effect came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// What was answered; an error is answered as its failure.
    pub answer: Result<Value, crate::ladder::Failure>,
    /// What is noted beside it: models, tokens, status codes.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub notes: Value,
}

/// What is known of an effect that a node asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// Nothing: it is to be performed.
    Nothing,
    /// It was announced and nothing is known of its end.
    Announced,
    /// This was answered.
    Answered(Outcome),
    /// Something else was asked in its place before: the node does not do the same thing twice.
    Different {
        /// What was asked then.
        before: String,
    },
}
