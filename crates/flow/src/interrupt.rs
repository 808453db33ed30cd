//! Questions of a run, and what became of them.

use crate::answer::{Decision, Stale};
use crate::place::Place;
use crate::step::{Ask, AskKind};

/// A question of a run.
#[derive(Clone, Debug, PartialEq)]
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
    /// What became of it.
    pub standing: Standing,
}

impl Interrupt {
    /// Whether the ladder asks it, since a node has failed for good; that of a node takes its answer like any other.
    pub(crate) fn is_of_ladder(&self) -> bool {
        self.ask.kind == AskKind::Escalation && self.ask.into.is_none()
    }
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// Nobody has answered yet.
    Open,
    /// It was answered.
    Answered {
        /// How.
        decision: Decision,
        /// A digest of the request's key, if it had one.
        request: Option<String>,
    },
    /// It does not stand any more.
    Stale(Stale),
}
