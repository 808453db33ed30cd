//! What a node answers: an update and where the run goes on, as one value.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::state::Update;

/// What a node answers. Both halves are stored together or not at all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What it changes.
    pub update: Update,
    /// Where the run goes on.
    pub goto: Goto,
    /// What its span notes of it, an object: what was decided and why. It changes nothing.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub notes: Value,
}

/// Where a run goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Goto {
    /// At a node.
    Next(String),
    /// At a node, once somebody has answered.
    Ask {
        /// The question.
        ask: Box<Ask>,
        /// The node.
        then: String,
    },
    /// In several branches at once, each with the state of this one; when all have ended their updates are taken in, in the
    /// order of the arms, whichever ended first. A run has [`MOST_BRANCHES`](crate::plan::MOST_BRANCHES) at most.
    Fork {
        /// The branches.
        arms: Vec<Arm>,
        /// The node after them.
        join: String,
    },
    /// At a node, once a run of another flow has ended.
    Sub {
        /// The flow, by name.
        flow: String,
        /// What it is started with.
        input: Value,
        /// The channel that takes what it shows at its end.
        into: String,
        /// The node.
        then: String,
    },
    /// At a node, at a time.
    Wait {
        /// When, in microseconds of UTC.
        until: i64,
        /// The node.
        then: String,
    },
    /// Nowhere: the branch has ended.
    End,
}

/// A branch that a node opens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Where it begins.
    pub node: String,
    /// What it begins with beside the state; not taken in by those who opened it.
    pub given: Update,
}

/// A question to whoever supervises the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// What kind of answer is wanted.
    pub kind: AskKind,
    /// The question.
    pub question: String,
    /// What may be chosen; empty where anything may be said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Until when it may be answered, in microseconds of UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<i64>,
    /// Where the run goes on if nobody has answered by then; without it, the run has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<String>,
    /// The channel that takes the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// What of a program it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
}

/// What kind of answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskKind {
    /// Yes or no: `{"confirm": true}`, or `{"confirm": false, "feedback": ".."}`.
    NeedConfirm,
    /// Words: `{"text": ".."}`.
    NeedClarification,
    /// One of the choices: `{"choice": ".."}`.
    NeedChoice,
    /// One of the choices, because a node has failed for good.
    Escalation,
}

impl AskKind {
    /// All kinds, in the order of the declaration.
    pub const ALL: [AskKind; 4] =
        [AskKind::NeedConfirm, AskKind::NeedClarification, AskKind::NeedChoice, AskKind::Escalation];

    /// Its name, as it is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            AskKind::NeedConfirm => "need_confirm",
            AskKind::NeedClarification => "need_clarification",
            AskKind::NeedChoice => "need_choice",
            AskKind::Escalation => "escalation",
        }
    }
}

/// A change of a program that a question is about: what a branch would bring into another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The program's uuid.
    pub program: [u8; 16],
    /// The branch that was changed.
    pub branch: String,
    /// The revision of it that the question is about.
    pub proposed: u64,
    /// The branch that would take the change in.
    pub into: String,
    /// The revision of that branch which the question was asked about.
    pub base: u64,
    /// Whether somebody else has to agree than who began the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub others: bool,
}

impl Step {
    /// Goes on as it says.
    #[must_use]
    pub fn to(goto: Goto, update: Update) -> Step {
        Step { update, goto, notes: Value::Null }
    }

    /// The same step, with what its span notes of it.
    #[must_use]
    pub fn noting(mut self, notes: Value) -> Step {
        self.notes = notes;
        self
    }

    /// Goes on at a node.
    #[must_use]
    pub fn next(node: &str, update: Update) -> Step {
        Step::to(Goto::Next(node.to_owned()), update)
    }

    /// Goes on at a node, once somebody has answered.
    #[must_use]
    pub fn ask(ask: Ask, then: &str, update: Update) -> Step {
        Step::to(Goto::Ask { ask: Box::new(ask), then: then.to_owned() }, update)
    }

    /// Ends the branch.
    #[must_use]
    pub fn end(update: Update) -> Step {
        Step::to(Goto::End, update)
    }
}

impl Goto {
    /// The nodes that it names.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        let (one, other, arms): (Option<&str>, Option<&str>, &[Arm]) = match self {
            Goto::Next(node) => (Some(node), None, &[]),
            Goto::Ask { ask, then } => (Some(then), ask.otherwise.as_deref(), &[]),
            Goto::Fork { arms, join } => (Some(join), None, arms),
            Goto::Sub { then, .. } | Goto::Wait { then, .. } => (Some(then), None, &[]),
            Goto::End => (None, None, &[]),
        };
        one.into_iter().chain(other).chain(arms.iter().map(|arm| arm.node.as_str()))
    }

    /// The channels that it names.
    pub fn channels(&self) -> impl Iterator<Item = &str> {
        let into = match self {
            Goto::Ask { ask, .. } => ask.into.as_deref(),
            Goto::Sub { into, .. } => Some(into.as_str()),
            Goto::Next(_) | Goto::Fork { .. } | Goto::Wait { .. } | Goto::End => None,
        };
        into.into_iter()
    }
}
