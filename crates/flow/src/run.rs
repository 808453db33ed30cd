//! A run: what its journal comes to.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::answer::{Decision, Stale};
use crate::branch::{Branch, Position};
use crate::check::Flow;
use crate::corrupt::Corrupt;
use crate::definition::END;
use crate::entry::{Entry, Failed, Stepped, What};
use crate::interrupt::{Interrupt, Standing};
use crate::ladder::{Failure, Remedy};
use crate::place::Place;
use crate::receipts::{EffectId, Known};
use crate::state::{State, StateError, Update};
use crate::step::{Arm, Ask, AskKind, Goto};

/// One execution of a flow: a fold over its journal.
#[derive(Clone, Debug)]
pub struct Run {
    flow: Arc<Flow>,
    last: u64,
    /// The entry that it was last taken back to; what is done again after that is something else.
    epoch: u64,
    pub(crate) branches: BTreeMap<Place, Branch>,
    interrupts: BTreeMap<u64, Interrupt>,
    pub(crate) visits: BTreeMap<String, u32>,
    ended: Option<Ended>,
    ended_at: Option<i64>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
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
            visits: BTreeMap::new(),
            ended: None,
            ended_at: None,
        }
    }

    /// Folds a journal. What it was rewound over counts for nothing but its numbers.
    ///
    /// # Errors
    ///
    /// See [`Corrupt`].
    pub fn replay(flow: &Arc<Flow>, journal: &[Entry]) -> Result<Run, Corrupt> {
        let mut standing: Vec<&Entry> = Vec::with_capacity(journal.len());
        let mut last = 0;
        let mut epoch = 0;
        for entry in journal {
            if entry.number != last + 1 {
                return Err(Corrupt::Number { expected: last + 1, found: entry.number });
            }
            last = entry.number;
            match &entry.what {
                What::Rewound { to, .. } => {
                    standing.truncate(standing.partition_point(|earlier| earlier.number <= *to));
                    epoch = entry.number;
                }
                _ => standing.push(entry),
            }
        }
        let mut run = Run::new(Arc::clone(flow));
        for entry in standing {
            run.take_in(entry)?;
        }
        run.last = last;
        run.epoch = epoch;
        Ok(run)
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

    /// Its questions, in the order in which they were asked.
    pub fn interrupts(&self) -> impl Iterator<Item = &Interrupt> {
        self.interrupts.values()
    }

    /// The question that an entry asked.
    #[must_use]
    pub fn interrupt(&self, asked: u64) -> Option<&Interrupt> {
        self.interrupts.get(&asked)
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

    /// When something is to be done without anybody doing anything: a node whose time comes, a question that expires.
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
        let open = self.interrupts.values().filter(|of| of.standing == Standing::Open);
        self.tasks().map(|task| task.from).chain(open.filter_map(|of| of.ask.expires))
    }

    /// What is known of an effect that a node asks for. What an earlier attempt at the same step was answered well stands.
    #[must_use]
    pub fn known(&self, id: &EffectId, digest: &str) -> Known {
        let Some(branch) = self.branches.get(&id.place) else { return Known::Nothing };
        branch.known(id, digest)
    }

    fn take_in(&mut self, entry: &Entry) -> Result<(), Corrupt> {
        let number = entry.number;
        let corrupt = || Corrupt::Place { number, kind: entry.what.kind() };
        let misfit = |error| Corrupt::Update { number, error };
        match &entry.what {
            What::Started(update) => {
                if !self.branches.is_empty() {
                    return Err(corrupt());
                }
                let mut state = State::initial(&self.flow);
                state.apply(&self.flow, update).map_err(misfit)?;
                let node = self.flow.definition().entry.clone();
                self.visit(&node);
                self.branches.insert(Place::main(), Branch::at(state, node, entry.time));
            }
            What::Announced(intent) => {
                let branch = self.branches.get_mut(&intent.id.place).ok_or_else(corrupt)?;
                branch.announced.push(intent.clone());
            }
            What::Received(receipt) => {
                let branch = self.branches.get_mut(&receipt.intent.id.place).ok_or_else(corrupt)?;
                branch.receipts.push(receipt.clone());
            }
            What::Stepped(stepped) => self.step(entry, stepped, corrupt, misfit)?,
            What::Failed(failed) => self.fail(entry, failed, corrupt)?,
            What::Answered { asked, decision, request } => {
                self.answer(*asked, entry, decision, request.as_ref(), corrupt, misfit)?;
            }
            What::Expired { asked } => self.expire(*asked, entry, corrupt)?,
            What::SubEnded { place, result } => self.end_sub(place, result, entry, corrupt, misfit)?,
            What::Cancelled { by, reason } => {
                self.end(Ended::Cancelled { by: by.clone(), reason: reason.clone() });
            }
            // Whoever folds the journal knows what it is a run of by now.
            What::Moved { .. } => {}
            What::Rewound { .. } => return Err(corrupt()),
        }
        if self.has_ended() {
            self.ended_at.get_or_insert(entry.time);
        }
        Ok(())
    }

    fn step(
        &mut self,
        entry: &Entry,
        stepped: &Stepped,
        corrupt: impl Fn() -> Corrupt,
        misfit: impl Fn(StateError) -> Corrupt,
    ) -> Result<(), Corrupt> {
        let place = &stepped.place;
        let branch = self.branches.get_mut(place).ok_or_else(&corrupt)?;
        if !matches!(&branch.position, Position::At { node, .. } if *node == stepped.node) {
            return Err(corrupt());
        }
        branch.change(&self.flow, place, &stepped.update).map_err(&misfit)?;
        branch.step += 1;
        branch.retried = 0;
        branch.failures.clear();
        branch.announced.clear();
        branch.receipts.clear();
        match &stepped.goto {
            Goto::Next(node) => self.go(place, node, entry.time),
            Goto::Wait { until, then } => self.go(place, then, *until),
            Goto::Ask { ask, then } => {
                branch.position = Position::Asking { asked: entry.number, then: then.clone() };
                self.ask(entry, place, &stepped.node, ask);
            }
            Goto::Fork { arms, join } => self.fork(place, arms, join, entry, misfit)?,
            Goto::Sub { flow, input, into, then } => {
                branch.position = Position::Sub {
                    since: entry.number,
                    node: stepped.node.clone(),
                    flow: flow.clone(),
                    input: input.clone(),
                    into: into.clone(),
                    then: then.clone(),
                };
            }
            Goto::End => {
                branch.position = Position::Ended;
                self.join(place, entry, misfit)?;
            }
        }
        Ok(())
    }

    fn fork(
        &mut self,
        place: &Place,
        arms: &[Arm],
        join: &str,
        entry: &Entry,
        misfit: impl Fn(StateError) -> Corrupt,
    ) -> Result<(), Corrupt> {
        let Some(branch) = self.branches.get_mut(place) else { return Ok(()) };
        let first = branch.arms;
        // A node opens no more than its answer has room for.
        let count = u32::try_from(arms.len()).unwrap_or(u32::MAX);
        branch.arms += count;
        branch.position = Position::Forked { first, count, join: join.to_owned() };
        let state = branch.state.clone();
        for (arm, number) in arms.iter().zip(first..) {
            let mut state = state.clone();
            state.apply(&self.flow, &arm.given).map_err(&misfit)?;
            self.visit(&arm.node);
            self.branches.insert(place.arm(number), Branch::at(state, arm.node.clone(), entry.time));
        }
        if arms.is_empty() {
            self.go(place, join, entry.time);
        }
        Ok(())
    }

    /// Goes on with whoever waits for a branch that has ended, if all arms beside it have.
    fn join(
        &mut self,
        ended: &Place,
        entry: &Entry,
        misfit: impl Fn(StateError) -> Corrupt,
    ) -> Result<(), Corrupt> {
        let Some(parent) = ended.parent() else {
            self.end(Ended::Completed);
            return Ok(());
        };
        let Some(Position::Forked { first, count, join }) =
            self.branches.get(&parent).map(|branch| branch.position.clone())
        else {
            return Ok(());
        };
        let arms: Vec<Place> = (first..first + count).map(|number| parent.arm(number)).collect();
        let over =
            |arm: &Place| self.branches.get(arm).is_some_and(|branch| branch.position == Position::Ended);
        if !arms.iter().all(over) {
            return Ok(());
        }
        for arm in &arms {
            let Some(arm) = self.branches.remove(arm) else { continue };
            let Some(branch) = self.branches.get_mut(&parent) else { continue };
            for update in &arm.changes {
                branch.change(&self.flow, &parent, update).map_err(&misfit)?;
            }
        }
        self.go(&parent, &join, entry.time);
        Ok(())
    }

    fn fail(&mut self, entry: &Entry, failed: &Failed, corrupt: impl Fn() -> Corrupt) -> Result<(), Corrupt> {
        let branch = self.branches.get_mut(&failed.place).ok_or_else(&corrupt)?;
        if !matches!(&branch.position, Position::At { node, .. } if *node == failed.node) {
            return Err(corrupt());
        }
        branch.failures.push(failed.failure.clone());
        match &failed.remedy {
            Remedy::Retry { at, attempt } => {
                if *attempt == failed.attempt {
                    branch.asks_again();
                }
                branch.position = Position::At { node: failed.node.clone(), attempt: *attempt, from: *at };
            }
            Remedy::Ask(ask) => {
                branch.position = Position::Asking { asked: entry.number, then: failed.node.clone() };
                self.ask(entry, &failed.place, &failed.node, ask);
            }
            Remedy::Stop => {
                let (failure, node) = (failed.failure.clone(), Some(failed.node.clone()));
                self.end(Ended::Failed { failure, node });
            }
        }
        Ok(())
    }

    fn ask(&mut self, entry: &Entry, place: &Place, node: &str, ask: &Ask) {
        let asked = Interrupt {
            asked: entry.number,
            time: entry.time,
            place: place.clone(),
            node: node.to_owned(),
            ask: ask.clone(),
            standing: Standing::Open,
        };
        self.interrupts.insert(entry.number, asked);
    }

    fn answer(
        &mut self,
        asked: u64,
        entry: &Entry,
        decision: &Decision,
        request: Option<&String>,
        corrupt: impl Fn() -> Corrupt,
        misfit: impl Fn(StateError) -> Corrupt,
    ) -> Result<(), Corrupt> {
        let interrupt = self.interrupts.get_mut(&asked).ok_or_else(&corrupt)?;
        let place = interrupt.place.clone();
        let branch = self.branches.get_mut(&place).ok_or_else(&corrupt)?;
        let Position::Asking { asked: waits, then } = branch.position.clone() else { return Err(corrupt()) };
        if waits != asked || interrupt.standing != Standing::Open {
            return Err(corrupt());
        }
        interrupt.standing = Standing::Answered { decision: decision.clone(), request: request.cloned() };
        // A question of the ladder; that of a node takes its answer like any other.
        if interrupt.ask.kind == AskKind::Escalation && interrupt.ask.into.is_none() {
            if decision.answer["choice"] == "stop" {
                let failure = branch.failures.last().cloned().ok_or_else(&corrupt)?;
                self.end(Ended::Failed { failure, node: Some(then) });
                return Ok(());
            }
            // A person's word never spends attempts of the machine. What was tried before stays known to the step.
            branch.failures.clear();
            branch.position = Position::At { node: then, attempt: 1, from: entry.time };
            branch.receipts.retain(|receipt| receipt.outcome.answer.is_ok());
            branch.announced.clear();
            branch.retries();
            return Ok(());
        }
        if let Some(into) = interrupt.ask.into.clone() {
            let update = Update::none().with(&into, decision.answer.clone());
            branch.change(&self.flow, &place, &update).map_err(misfit)?;
        }
        self.go(&place, &then, entry.time);
        Ok(())
    }

    fn expire(&mut self, asked: u64, entry: &Entry, corrupt: impl Fn() -> Corrupt) -> Result<(), Corrupt> {
        let interrupt = self.interrupts.get_mut(&asked).ok_or_else(&corrupt)?;
        if interrupt.standing != Standing::Open {
            return Err(corrupt());
        }
        interrupt.standing = Standing::Stale(Stale::Expired);
        let (place, node) = (interrupt.place.clone(), interrupt.node.clone());
        match interrupt.ask.otherwise.clone() {
            Some(otherwise) => self.go(&place, &otherwise, entry.time),
            None => {
                let failure = Failure {
                    code: EXPIRED.to_owned(),
                    message: "nobody has answered in time".to_owned(),
                    tool: None,
                    arguments: None,
                    transient: false,
                    retry_after: None,
                };
                self.end(Ended::Failed { failure, node: Some(node) });
            }
        }
        Ok(())
    }

    fn end_sub(
        &mut self,
        place: &Place,
        result: &Result<Value, Failure>,
        entry: &Entry,
        corrupt: impl Fn() -> Corrupt,
        misfit: impl Fn(StateError) -> Corrupt,
    ) -> Result<(), Corrupt> {
        let branch = self.branches.get_mut(place).ok_or_else(&corrupt)?;
        let Position::Sub { node, into, then, .. } = branch.position.clone() else { return Err(corrupt()) };
        match result {
            Ok(shown) => {
                let update = Update::none().with(&into, shown.clone());
                branch.change(&self.flow, place, &update).map_err(misfit)?;
                self.go(place, &then, entry.time);
            }
            Err(failure) => self.end(Ended::Failed { failure: failure.clone(), node: Some(node) }),
        }
        Ok(())
    }

    fn go(&mut self, place: &Place, node: &str, from: i64) {
        self.visit(node);
        if let Some(branch) = self.branches.get_mut(place) {
            branch.position = Position::At { node: node.to_owned(), attempt: 1, from };
        }
    }

    fn visit(&mut self, node: &str) {
        debug_assert_ne!(node, END, "the end of a branch is no node");
        *self.visits.entry(node.to_owned()).or_default() += 1;
    }

    /// Nobody waits for anything any more.
    fn end(&mut self, how: Ended) {
        self.ended = Some(how);
        for interrupt in self.interrupts.values_mut().filter(|of| of.standing == Standing::Open) {
            interrupt.standing = Standing::Stale(Stale::Cancelled);
        }
    }
}

/// The code of a run that failed because nobody answered.
pub const EXPIRED: &str = "INTERRUPT_EXPIRED";
