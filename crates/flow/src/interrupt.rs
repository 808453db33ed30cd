//! Questions of a run, and what became of them.

use serde::{Deserialize, Serialize};

use crate::answer::Stale;
use crate::place::Place;
use crate::step::{Ask, AskKind};

/// A question of a run that stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interrupt {
    /// The number of the entry that asked it.
    pub asked: u64,
    /// When it was asked, in microseconds of UTC.
    pub time: i64,
    /// The branch that waits.
    pub place: Place,
    /// The node that asked.
    pub node: String,
    /// The question.
    pub ask: Ask,
}

impl Interrupt {
    /// Whether the ladder asks it, since a node has failed for good; that of a node takes its answer like any other.
    pub(crate) fn is_of_ladder(&self) -> bool {
        self.ask.kind == AskKind::Escalation && self.ask.into.is_none()
    }
}

/// What became of a question that does not stand any more. What was asked and answered is in the journal: a run that has asked a
/// thousand times carries little of that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Settled {
    /// It was answered.
    Answered {
        /// The number of the entry that has the answer.
        entry: u64,
        /// The name of whoever answered.
        by: String,
        /// A digest of the request's key, if it had one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<String>,
    },
    /// Nobody awaits an answer.
    Stale(Stale),
}
