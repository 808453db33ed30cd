//! What each entry changes about a run.

use serde_json::Value;

use crate::answer::{Decision, Stale};
use crate::branch::{Branch, Position};
use crate::corrupt::Corrupt;
use crate::definition::END;
use crate::entry::{Entry, Failed, Stepped, What};
use crate::interrupt::{Interrupt, Settled};
use crate::ladder::{Failure, Remedy};
use crate::place::Place;
use crate::run::deadline::{Deadline, overdue};
use crate::run::{EXPIRED, Ended, Run};
use crate::state::{State, StateError, Update};
use crate::step::{Arm, Ask, Goto};

impl Run {
    pub(super) fn take_in(&mut self, entry: &Entry) -> Result<(), Corrupt> {
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
            What::Failed(failed) => self.fail(entry, failed, corrupt, misfit)?,
            What::Answered { asked, decision, request } => {
                self.answer(*asked, entry, decision, request.as_ref(), corrupt, misfit)?;
            }
            What::Expired { asked } => self.expire(*asked, entry, corrupt)?,
            What::SubEnded { place, result } => self.end_sub(place, result, entry, corrupt, misfit)?,
            What::Cancelled { by, reason } => {
                self.end(Ended::Cancelled { by: by.clone(), reason: reason.clone() });
            }
            What::Bounded { within } => {
                self.deadline = Some(Deadline { within: *within, since: entry.time });
            }
            What::Overdue => self.end_overdue(corrupt)?,
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
        branch.leave_step();
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

    fn fail(
        &mut self,
        entry: &Entry,
        failed: &Failed,
        corrupt: impl Fn() -> Corrupt,
        misfit: impl Fn(StateError) -> Corrupt,
    ) -> Result<(), Corrupt> {
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
            Remedy::Next { node, update } => {
                branch.change(&self.flow, &failed.place, update).map_err(misfit)?;
                branch.leave_step();
                self.go(&failed.place, node, entry.time);
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
        let interrupt = self.interrupts.remove(&asked).ok_or_else(&corrupt)?;
        let place = interrupt.place.clone();
        let branch = self.branches.get_mut(&place).ok_or_else(&corrupt)?;
        let Position::Asking { asked: waits, then } = branch.position.clone() else { return Err(corrupt()) };
        if waits != asked {
            return Err(corrupt());
        }
        let (by, request) = (decision.by.clone(), request.cloned());
        self.settled.insert(asked, Settled::Answered { entry: entry.number, by, request });
        // A question of the ladder; that of a node takes its answer like any other.
        if interrupt.is_of_ladder() {
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
        if let Some(into) = &interrupt.ask.into {
            let update = Update::none().with(into, decision.answer.clone());
            branch.change(&self.flow, &place, &update).map_err(misfit)?;
        }
        self.go(&place, &then, entry.time);
        Ok(())
    }

    fn expire(&mut self, asked: u64, entry: &Entry, corrupt: impl Fn() -> Corrupt) -> Result<(), Corrupt> {
        let interrupt = self.interrupts.remove(&asked).ok_or_else(&corrupt)?;
        self.settled.insert(asked, Settled::Stale(Stale::Expired));
        let is_of_ladder = interrupt.is_of_ladder();
        let Interrupt { place, node, ask, .. } = interrupt;
        match ask.otherwise {
            Some(otherwise) => {
                if is_of_ladder {
                    // The node that asks has not come to its end: another step begins without it.
                    self.branches.get_mut(&place).ok_or_else(corrupt)?.leave_step();
                }
                self.go(&place, &otherwise, entry.time);
            }
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
        let branch = self.branches.get(place).ok_or_else(&corrupt)?;
        let Position::Sub { node, into, then, .. } = branch.position.clone() else { return Err(corrupt()) };
        let (update, next) = match result {
            Ok(shown) => (Update::none().with(&into, shown.clone()), then),
            Err(failure) => {
                let spec = self.flow.node(&node);
                let Some((next, update)) = spec.and_then(|spec| self.fallback(spec, failure)) else {
                    self.end(Ended::Failed { failure: failure.clone(), node: Some(node) });
                    return Ok(());
                };
                (update, next)
            }
        };
        let branch = self.branches.get_mut(place).ok_or_else(corrupt)?;
        branch.change(&self.flow, place, &update).map_err(misfit)?;
        self.go(place, &next, entry.time);
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

    fn end_overdue(&mut self, corrupt: impl Fn() -> Corrupt) -> Result<(), Corrupt> {
        if self.has_ended() {
            return Err(corrupt());
        }
        let failure = overdue(self.deadline.ok_or_else(corrupt)?.within);
        let node = self.node().map(str::to_owned);
        self.end(Ended::Failed { failure, node });
        Ok(())
    }

    /// Nobody waits for anything any more.
    fn end(&mut self, how: Ended) {
        self.ended = Some(how);
        let open = std::mem::take(&mut self.interrupts);
        self.settled.extend(open.into_keys().map(|asked| (asked, Settled::Stale(Stale::Cancelled))));
    }
}
