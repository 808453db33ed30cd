//! A run: what its journal comes to.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::branch::{Branch, Position};
use crate::check::Flow;
use crate::corrupt::Corrupt;
use crate::entry::{Entry, What};
use crate::interrupt::{Interrupt, Settled};
use crate::ladder::Failure;
use crate::place::Place;
use crate::receipts::{EffectId, Known};
use crate::run::deadline::Deadline;
use crate::state::State;

mod deadline;
mod folding;
mod snapshot;

pub use deadline::OVERDUE;
pub use snapshot::Snapshot;

/// One execution of a flow: a fold over its journal.
#[derive(Clone, Debug)]
pub struct Run {
    flow: Arc<Flow>,
    last: u64,
    /// The entry that it was last taken back to; what is done again after that is something else.
    epoch: u64,
    pub(crate) branches: BTreeMap<Place, Branch>,
    /// Its questions that stand.
    interrupts: BTreeMap<u64, Interrupt>,
    /// What became of the others.
    settled: BTreeMap<u64, Settled>,
    pub(crate) visits: BTreeMap<String, u32>,
    /// How long it may take, if that has a bound.
    deadline: Option<Deadline>,
    ended: Option<Ended>,
    ended_at: Option<i64>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Ended {
    Completed,
    Failed { failure: Failure, node: Option<String> },
    Cancelled { by: String, reason: Option<String> },
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Something is being done, or will be at a known time.
    Running,
    /// Nothing can be done before somebody has answered or another run has ended.
    Waiting,
    /// It has come to its end.
    Completed,
    /// It cannot go on.
    Failed,
    /// Somebody stopped it.
    Cancelled,
}

/// A node that is to be executed.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The branch.
    pub place: Place,
    /// The node.
    pub node: String,
    /// The step of the branch that it is.
    pub step: u64,
    /// The attempt, from 1 on.
    pub attempt: u32,
    /// How often it has failed in this step, with or without counting as an attempt.
    pub tries: u32,
    /// The entry that the run was last taken back to when it was taken from it.
    pub epoch: u64,
    /// Not before this time, in microseconds of UTC.
    pub from: i64,
}

impl Run {
    /// A run of a flow before its first entry.
    #[must_use]
    pub fn new(flow: Arc<Flow>) -> Run {
        Run {
            flow,
            last: 0,
            epoch: 0,
            branches: BTreeMap::new(),
            interrupts: BTreeMap::new(),
            settled: BTreeMap::new(),
            visits: BTreeMap::new(),
            deadline: None,
            ended: None,
            ended_at: None,
        }
    }

    /// Folds a journal. What it was rewound over counts for nothing but its numbers, and for how long the run may take: that
    /// begins anew when it is taken back.
    ///
    /// # Errors
    ///
    /// See [`Corrupt`].
    pub fn replay(flow: &Arc<Flow>, journal: &[Entry]) -> Result<Run, Corrupt> {
        let run = Run::new(Arc::clone(flow)).fold(journal)?;
        // Nothing comes before the first entry.
        run.ok_or(Corrupt::Number { expected: 1, found: 0 })
    }

    /// Folds what comes next in a journal; none if that takes the run back to before where it stands.
    fn fold(mut self, journal: &[Entry]) -> Result<Option<Run>, Corrupt> {
        let mut standing: Vec<&Entry> = Vec::with_capacity(journal.len());
        let first = self.last;
        let (mut last, mut epoch, mut deadline) = (first, self.epoch, self.deadline);
        for entry in journal {
            if entry.number != last + 1 {
                return Err(Corrupt::Number { expected: last + 1, found: entry.number });
            }
            last = entry.number;
            match &entry.what {
                What::Rewound { to, .. } if *to < first => return Ok(None),
                What::Rewound { to, .. } => {
                    standing.truncate(standing.partition_point(|earlier| earlier.number <= *to));
                    epoch = entry.number;
                    deadline = deadline.map(|of| Deadline { since: entry.time, ..of });
                }
                // It holds whatever the run is taken back to.
                What::Bounded { within } => {
                    deadline = Some(Deadline { within: *within, since: entry.time });
                }
                _ => standing.push(entry),
            }
        }
        self.deadline = deadline;
        for entry in standing {
            self.take_in(entry)?;
        }
        self.last = last;
        self.epoch = epoch;
        Ok(Some(self))
    }

    /// Takes in the next entry. A run that one does not follow from is not to be used any more; a rewound journal is replayed
    /// instead.
    ///
    /// # Errors
    ///
    /// See [`Corrupt`].
    pub fn take(&mut self, entry: &Entry) -> Result<(), Corrupt> {
        if entry.number != self.last + 1 {
            return Err(Corrupt::Number { expected: self.last + 1, found: entry.number });
        }
        self.take_in(entry)?;
        self.last = entry.number;
        Ok(())
    }

    /// The flow that it is a run of.
    #[must_use]
    pub fn flow(&self) -> &Arc<Flow> {
        &self.flow
    }

    /// The number of its newest entry.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The entry that took it back last, 0 without one.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// How it stands.
    #[must_use]
    pub fn status(&self) -> Status {
        match &self.ended {
            Some(Ended::Completed) => Status::Completed,
            Some(Ended::Failed { .. }) => Status::Failed,
            Some(Ended::Cancelled { .. }) => Status::Cancelled,
            None if self.tasks().next().is_some() => Status::Running,
            None => Status::Waiting,
        }
    }

    /// Whether it has ended, however it did.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// When it ended, in microseconds of UTC.
    #[must_use]
    pub fn ended_at(&self) -> Option<i64> {
        self.ended_at
    }

    /// Why it cannot go on, and at which node.
    #[must_use]
    pub fn failure(&self) -> Option<(&Failure, Option<&str>)> {
        match &self.ended {
            Some(Ended::Failed { failure, node }) => Some((failure, node.as_deref())),
            Some(Ended::Completed | Ended::Cancelled { .. }) | None => None,
        }
    }

    /// Who stopped it, and why.
    #[must_use]
    pub fn cancellation(&self) -> Option<(&str, Option<&str>)> {
        match &self.ended {
            Some(Ended::Cancelled { by, reason }) => Some((by.as_str(), reason.as_deref())),
            Some(Ended::Completed | Ended::Failed { .. }) | None => None,
        }
    }

    /// What its main line carries.
    #[must_use]
    pub fn state(&self) -> &State {
        const EMPTY: &State = &State::empty();
        self.branches.get(&Place::main()).map_or(EMPTY, |branch| &branch.state)
    }

    /// What a branch carries.
    #[must_use]
    pub fn state_at(&self, place: &Place) -> Option<&State> {
        self.branches.get(place).map(|branch| &branch.state)
    }

    /// The node at which it stands: that of its first branch that has not ended, whatever it waits for.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        if self.has_ended() {
            return None;
        }
        self.branches.values().find_map(|branch| match &branch.position {
            Position::At { node, .. } => Some(node.as_str()),
            Position::Asking { asked, .. } => self.interrupts.get(asked).map(|asked| asked.node.as_str()),
            Position::Sub { then, .. } => Some(then.as_str()),
            Position::Forked { .. } | Position::Ended => None,
        })
    }

    /// Its questions that stand, in the order in which they were asked.
    pub fn interrupts(&self) -> impl Iterator<Item = &Interrupt> {
        self.interrupts.values()
    }

    /// The question that an entry asked, if it stands.
    #[must_use]
    pub fn interrupt(&self, asked: u64) -> Option<&Interrupt> {
        self.interrupts.get(&asked)
    }

    /// What became of the question that an entry asked, if it does not stand any more.
    #[must_use]
    pub fn settled(&self, asked: u64) -> Option<&Settled> {
        self.settled.get(&asked)
    }

    /// The names of those who answered its questions.
    pub fn answerers(&self) -> impl Iterator<Item = &str> {
        self.settled.values().filter_map(|settled| match settled {
            Settled::Answered { by, .. } => Some(by.as_str()),
            Settled::Stale(_) => None,
        })
    }

    /// Whether a request has answered one of its questions, by the digest of its key.
    #[must_use]
    pub fn has_taken(&self, request: &str) -> bool {
        self.settled.values().any(
            |settled| matches!(settled, Settled::Answered { request: Some(first), .. } if first == request),
        )
    }

    /// What is to be executed, by branch.
    pub fn tasks(&self) -> impl Iterator<Item = Task> {
        let branches = self.branches.iter().filter(|_| self.ended.is_none());
        branches.filter_map(|(place, branch)| match &branch.position {
            Position::At { node, attempt, from } => Some(Task {
                place: place.clone(),
                node: node.clone(),
                step: branch.step,
                attempt: *attempt,
                tries: u32::try_from(branch.failures.len()).unwrap_or(u32::MAX),
                epoch: self.epoch,
                from: *from,
            }),
            Position::Asking { .. } | Position::Forked { .. } | Position::Sub { .. } | Position::Ended => {
                None
            }
        })
    }

    /// Runs of other flows that it waits for: the branch, the entry that asked for it, the flow and its input.
    pub fn subs(&self) -> impl Iterator<Item = (&Place, u64, &str, &Value)> {
        let branches = self.branches.iter().filter(|_| self.ended.is_none());
        branches.filter_map(|(place, branch)| match &branch.position {
            Position::Sub { since, flow, input, .. } => Some((place, *since, flow.as_str(), input)),
            Position::At { .. } | Position::Asking { .. } | Position::Forked { .. } | Position::Ended => None,
        })
    }

    /// When something is to be done without anybody doing anything: a node whose time comes, a question that expires, the end
    /// of the time that it may take.
    #[must_use]
    pub fn wake(&self) -> Option<i64> {
        self.times().min()
    }

    /// Earlier failures of the step that a branch is at.
    #[must_use]
    pub fn failures(&self, place: &Place) -> &[Failure] {
        self.branches.get(place).map_or(&[], |branch| &branch.failures)
    }

    /// The step of a branch by which others know its effects again: that in which somebody had its node tried again is the same.
    #[must_use]
    pub fn known_step(&self, place: &Place) -> u64 {
        self.branches.get(place).map_or(0, |branch| branch.step - branch.retried)
    }

    /// When the next thing is to be done after a time; what is to be done by then is left out.
    #[must_use]
    pub fn wake_after(&self, now: i64) -> Option<i64> {
        self.times().filter(|time| *time > now).min()
    }

    fn times(&self) -> impl Iterator<Item = i64> {
        let questions = self.interrupts.values().filter_map(|of| of.ask.expires);
        self.tasks().map(|task| task.from).chain(questions).chain(self.ends_by())
    }

    /// What is known of an effect that a node asks for. What an earlier attempt at the same step was answered well stands.
    #[must_use]
    pub fn known(&self, id: &EffectId, digest: &str) -> Known {
        let Some(branch) = self.branches.get(&id.place) else { return Known::Nothing };
        branch.known(id, digest)
    }
}

/// The code of a run that failed because nobody answered.
pub const EXPIRED: &str = "INTERRUPT_EXPIRED";
