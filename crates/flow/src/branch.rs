//! A line of execution within a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::check::Flow;
use crate::entry::Receipt;
use crate::ladder::Failure;
use crate::place::Place;
use crate::receipts::{EffectId, Intent, Known};
use crate::state::{State, StateError, Update};

/// A line of execution within a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Branch {
    pub(crate) state: State,
    /// What it changed since it was opened, for those who wait for it.
    pub(crate) changes: Vec<Update>,
    pub(crate) position: Position,
    /// How many steps it has made; a node that somebody has tried again is another one.
    pub(crate) step: u64,
    /// How often that was since the last step.
    pub(crate) retried: u64,
    pub(crate) failures: Vec<Failure>,
    pub(crate) announced: Vec<Intent>,
    pub(crate) receipts: Vec<Receipt>,
    /// How many arms it has opened.
    pub(crate) arms: u32,
}

/// Where a branch stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Position {
    /// At a node, from a time on.
    At { node: String, attempt: u32, from: i64 },
    /// Before a node, until a question is answered.
    Asking { asked: u64, then: String },
    /// Before a node, until the arms with these numbers have ended.
    Forked { first: u32, count: u32, join: String },
    /// Before a node, until another run has ended that the node before it asked for.
    Sub { since: u64, node: String, flow: String, input: Value, into: String, then: String },
    /// Nowhere.
    Ended,
}

impl Branch {
    pub(crate) fn at(state: State, node: String, from: i64) -> Branch {
        Branch {
            state,
            changes: Vec::new(),
            position: Position::At { node, attempt: 1, from },
            step: 0,
            retried: 0,
            failures: Vec::new(),
            announced: Vec::new(),
            receipts: Vec::new(),
            arms: 0,
        }
    }

    pub(crate) fn change(&mut self, flow: &Flow, place: &Place, update: &Update) -> Result<(), StateError> {
        self.state.apply(flow, update)?;
        if place.parent().is_some() && !update.0.is_empty() {
            self.changes.push(update.clone());
        }
        Ok(())
    }

    /// What comes next is another step.
    pub(crate) fn leave_step(&mut self) {
        self.step += 1;
        self.retried = 0;
        self.failures.clear();
        self.announced.clear();
        self.receipts.clear();
    }

    /// The same step again: its effects are counted apart from those of the attempts before.
    pub(crate) fn retries(&mut self) {
        self.step += 1;
        self.retried += 1;
    }

    /// What is known of an effect that a node asks for here. What an earlier attempt at the same step was answered well stands.
    pub(crate) fn known(&self, id: &EffectId, digest: &str) -> Known {
        if let Some(receipt) = self.receipts.iter().find(|receipt| receipt.intent.id == *id) {
            return match receipt.intent.digest == digest {
                true => Known::Answered(receipt.outcome.clone()),
                false => Known::Different { before: receipt.intent.name.clone() },
            };
        }
        let alike = |receipt: &&Receipt| {
            receipt.intent.digest == digest
                && receipt.intent.id.index == id.index
                && receipt.outcome.answer.is_ok()
        };
        if let Some(receipt) = self.receipts.iter().rev().find(alike) {
            return Known::Answered(receipt.outcome.clone());
        }
        // Announced in an earlier attempt too, and broken off before anything was known of it.
        let open = |intent: &&Intent| {
            intent.id.index == id.index
                && intent.digest == digest
                && self.receipts.iter().all(|receipt| receipt.intent.id != intent.id)
        };
        match self.announced.iter().find(open).is_some() {
            true => Known::Announced,
            false => Known::Nothing,
        }
    }

    /// Forgets the effects that have failed, when that was waited for: each is asked again, as if for the first time.
    pub(crate) fn asks_again(&mut self) {
        let failed = |receipt: &mut Receipt| receipt.outcome.answer.is_err();
        let again: Vec<EffectId> = self.receipts.extract_if(.., failed).map(|of| of.intent.id).collect();
        self.announced.retain(|intent| !again.contains(&intent.id));
    }
}
