//! The journal of a run: what happened, in order, for good.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::Decision;
use crate::ladder::{Class, Failure, Remedy};
use crate::place::Place;
use crate::receipts::{Intent, Outcome, is_zero};
use crate::state::Update;
use crate::step::{Ask, Goto};

/// An entry of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its place in the journal, from 1 on, without gaps.
    pub number: u64,
    /// When, in microseconds of UTC.
    pub time: i64,
    /// What happened.
    pub what: What,
}

/// What happened. The names of the variants are stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum What {
    /// The run began, with what its flow made of its input.
    Started(Update),
    /// An effect that changes something outside is about to be performed.
    Announced(Intent),
    /// An effect was performed.
    Received(Receipt),
    /// A node came to its end.
    Stepped(Stepped),
    /// A node did not.
    Failed(Failed),
    /// A question was answered.
    Answered {
        /// The number of the entry that asked it.
        asked: u64,
        /// What was decided.
        decision: Decision,
        /// A digest of the request's key, if it had one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<String>,
    },
    /// Nobody has answered a question in time.
    Expired {
        /// The number of the entry that asked it.
        asked: u64,
    },
    /// A run that a branch waits for has ended.
    SubEnded {
        /// The branch.
        place: Place,
        /// What the run showed at its end, or why it failed.
        result: Result<Value, Failure>,
    },
    /// Somebody stopped the run.
    Cancelled {
        /// Who.
        by: String,
        /// Why, in their words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The run was taken back to an earlier entry: those between are superseded.
    Rewound {
        /// The number of the newest entry that stands.
        to: u64,
        /// Who.
        by: String,
        /// A digest of the request's key, if it had one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<String>,
    },
    /// The run may take so long, counted from here on; and from each entry that takes it back on, again.
    Bounded {
        /// Microseconds.
        within: i64,
    },
    /// The time that the run may take is over: it has failed.
    Overdue,
    /// From here on the run is one of another definition of its flow.
    Moved {
        /// The version of the definition before.
        from: u32,
        /// The version of the definition since.
        to: u32,
        /// The hash of that, in hexadecimal digits.
        definition: String,
        /// Who.
        by: String,
    },
}

/// An effect was performed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// What it was.
    pub intent: Intent,
    /// When it began, in microseconds of UTC.
    pub started: i64,
    /// What it came to.
    pub outcome: Outcome,
}

/// A node came to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stepped {
    /// The branch.
    pub place: Place,
    /// The node.
    pub node: String,
    /// The step of the branch that it was.
    pub step: u64,
    /// The attempt, from 1 on.
    pub attempt: u32,
    /// When it began, in microseconds of UTC.
    pub started: i64,
    /// The entry by which the run was taken back before, 0 if it was not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub epoch: u64,
    /// How many effects it had.
    pub effects: u32,
    /// What its span notes of it: decisions, above all.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub notes: Value,
    /// What it changes.
    pub update: Update,
    /// Where the run goes on.
    pub goto: Goto,
}

/// A node did not come to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// The branch.
    pub place: Place,
    /// The node.
    pub node: String,
    /// The step of the branch that it was.
    pub step: u64,
    /// The attempt, from 1 on.
    pub attempt: u32,
    /// When it began, in microseconds of UTC.
    pub started: i64,
    /// The entry by which the run was taken back before, 0 if it was not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub epoch: u64,
    /// How many effects it had.
    pub effects: u32,
    /// Why.
    pub failure: Failure,
    /// How that relates to earlier failures of the step.
    pub class: Class,
    /// What becomes of it.
    pub remedy: Remedy,
}

/// What kind of entry it is. The discriminants are stored: they never change, and new ones are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// [`What::Started`].
    Started = 0,
    /// [`What::Announced`].
    Announced = 1,
    /// [`What::Received`].
    Received = 2,
    /// [`What::Stepped`].
    Stepped = 3,
    /// [`What::Failed`].
    Failed = 4,
    /// [`What::Answered`].
    Answered = 5,
    /// [`What::Expired`].
    Expired = 6,
    /// [`What::SubEnded`].
    SubEnded = 7,
    /// [`What::Cancelled`].
    Cancelled = 8,
    /// [`What::Rewound`].
    Rewound = 9,
    /// [`What::Moved`].
    Moved = 10,
    /// [`What::Bounded`].
    Bounded = 11,
    /// [`What::Overdue`].
    Overdue = 12,
}

impl What {
    /// The question that it asks.
    #[must_use]
    pub fn ask(&self) -> Option<&Ask> {
        match self {
            What::Stepped(Stepped { goto: Goto::Ask { ask, .. }, .. })
            | What::Failed(Failed { remedy: Remedy::Ask(ask), .. }) => Some(ask),
            What::Started(_)
            | What::Announced(_)
            | What::Received(_)
            | What::Stepped(_)
            | What::Failed(_)
            | What::Answered { .. }
            | What::Expired { .. }
            | What::SubEnded { .. }
            | What::Cancelled { .. }
            | What::Rewound { .. }
            | What::Bounded { .. }
            | What::Overdue
            | What::Moved { .. } => None,
        }
    }

    /// The node that it tells of.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        match self {
            What::Stepped(stepped) => Some(&stepped.node),
            What::Failed(failed) => Some(&failed.node),
            What::Started(_)
            | What::Announced(_)
            | What::Received(_)
            | What::Answered { .. }
            | What::Expired { .. }
            | What::SubEnded { .. }
            | What::Cancelled { .. }
            | What::Rewound { .. }
            | What::Bounded { .. }
            | What::Overdue
            | What::Moved { .. } => None,
        }
    }

    /// What kind of entry it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            What::Started(_) => Kind::Started,
            What::Announced(_) => Kind::Announced,
            What::Received(_) => Kind::Received,
            What::Stepped(_) => Kind::Stepped,
            What::Failed(_) => Kind::Failed,
            What::Answered { .. } => Kind::Answered,
            What::Expired { .. } => Kind::Expired,
            What::SubEnded { .. } => Kind::SubEnded,
            What::Cancelled { .. } => Kind::Cancelled,
            What::Rewound { .. } => Kind::Rewound,
            What::Moved { .. } => Kind::Moved,
            What::Bounded { .. } => Kind::Bounded,
            What::Overdue => Kind::Overdue,
        }
    }
}
