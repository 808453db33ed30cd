//! Executing runs: one task for each.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use lmlang_flow::{Failure, Place, Run, Status, Task, What};
use lmlang_store::{RunStatus, Timestamp};
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::Error;
use crate::flows::attempt::{Within, broke_off};
use crate::flows::code::{Halt, LetGo, failure};
use crate::flows::live::{By, LEASE, LiveRun, child_id};
use crate::flows::moving::other_version;
use crate::flows::starting::Given;
use crate::flows::told::Passing;
use crate::flows::work::Work;

/// The longest sleep: another process may have left a run behind, or the clock been set.
pub(super) const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// Why a run is stopped that another one waited for.
const ORPHANED: &str = "the run that waited for it has ended";

/// How long a run rests whose journal could not be written.
const REST: Duration = Duration::from_millis(500);

impl Engine {
    /// Goes on with a run that was left, if there is anything to do about it.
    pub async fn resume_run(&self, run: Uuid) -> Result<(), Error> {
        self.run_info(run).await?;
        self.seeing_all().go_on(run).await
    }

    /// Has a run executed, if it is not already.
    pub(crate) async fn go_on(&self, run: Uuid) -> Result<(), Error> {
        self.check_version(run).await?;
        self.kick(&self.live_run(run).await?);
        Ok(())
    }

    /// Refuses to go on with a run whose flow is another one by now.
    pub(crate) async fn check_version(&self, run: Uuid) -> Result<(), Error> {
        let live = self.live_run(run).await?;
        match live.code {
            Some(_) => Ok(()),
            None => {
                self.0.flows.forget(&live);
                Err(other_version(&live.flow))
            }
        }
    }

    pub(crate) fn kick(&self, live: &Arc<LiveRun>) {
        // It may have been let go since it was found, and another one be there: that one is told.
        let live = Arc::clone(self.0.flows.live().entry(live.id).or_insert_with(|| Arc::clone(live)));
        self.0.flows.stuck().remove(&live.id);
        live.kicks.fetch_add(1, Ordering::SeqCst);
        match Arc::clone(&live.driving).try_lock_owned() {
            Ok(driving) => {
                let engine = self.seeing_all();
                self.spawn_to_end(async move { engine.drive(live, driving).await });
            }
            // Whoever drives it looks once more before they leave.
            Err(_) => live.kicked.notify_one(),
        }
    }

    /// Executes a run until nothing can be done about it at the moment.
    async fn drive(&self, live: Arc<LiveRun>, mut driving: OwnedMutexGuard<()>) {
        loop {
            let seen = live.kicks.load(Ordering::SeqCst);
            let is_foreign = live.code.is_none() && !live.machine.lock().await.has_ended();
            let claimed = match is_foreign {
                // Whoever can execute it may have it.
                true => Err(other_version(&live.flow)),
                false => self.claim(&live).await,
            };
            let left = match claimed {
                Ok(true) => self.drive_once(&live).await,
                Ok(false) => Ok(()),
                Err(error) => Err(Halt::Lost(error)),
            };
            drop(driving);
            if let Err(Halt::Lost(error)) = left {
                self.0.flows.forget(&live);
                if !self.closing().is_cancelled() && !live.stop.is_cancelled() {
                    tracing::warn!(run = %live.id, %error, "a run was let go");
                }
                self.leave_if_stuck(live.id, &error).await;
                tokio::select! {
                    () = self.closing().cancelled() => {}
                    () = tokio::time::sleep(REST) => self.look_sooner(live.id),
                }
                return;
            }
            if self.0.flows.leave(&live, seen) {
                self.rest(&live).await;
                return;
            }
            match Arc::clone(&live.driving).try_lock_owned() {
                Ok(again) => driving = again,
                // Somebody else drives it by now.
                Err(_) => return,
            }
        }
    }

    /// Lets other processes go on with what this one executes, at its end.
    pub(crate) async fn release_runs(&self) {
        if self.store().is_alone() {
            return;
        }
        if let Err(error) = self.store().release_runs(self.0.flows.me).await {
            // They wait until the lease is over.
            tracing::warn!(%error, "runs could not be given free");
        }
    }

    /// Takes a run for this process.
    async fn claim(&self, live: &LiveRun) -> Result<bool, Error> {
        if self.store().is_alone() {
            return Ok(true);
        }
        let now = self.now();
        let until = now.saturating_add(i64::try_from(LEASE.as_micros()).unwrap_or(i64::MAX));
        Ok(self.store().claim_run(live.id, self.0.flows.me, Timestamp(now), Timestamp(until)).await?)
    }

    /// Executes what there is to execute, side by side. What is being stored when that ends is stored.
    async fn drive_once(&self, live: &Arc<LiveRun>) -> Result<(), Halt> {
        let mut doing = JoinSet::new();
        let halt = live.stop.child_token();
        let driven = self.drive_on(live, &mut doing, &halt).await;
        break_off(&mut doing, &halt).await;
        driven
    }

    async fn drive_on(
        &self,
        live: &Arc<LiveRun>,
        doing: &mut JoinSet<(Place, Result<(), Halt>)>,
        halt: &CancellationToken,
    ) -> Result<(), Halt> {
        let mut busy: BTreeSet<Place> = BTreeSet::new();
        let mut renew = tokio::time::interval(LEASE / 3);
        renew.tick().await;
        loop {
            self.expire(live).await?;
            self.take_in_subs(live).await?;
            let now = self.now();
            let (tasks, wake, ended) = {
                let machine = live.machine.lock().await;
                (machine.tasks().collect::<Vec<Task>>(), machine.wake_after(now), machine.has_ended())
            };
            if ended {
                break_off(doing, halt).await;
                self.after_end(live).await;
                live.give_free(self).await;
                return Ok(());
            }
            let free = |task: &Task| !busy.contains(&task.place) && task.from <= now;
            for task in tasks.into_iter().filter(free).collect::<Vec<_>>() {
                busy.insert(task.place.clone());
                let (engine, live, halt) = (self.clone(), Arc::clone(live), halt.clone());
                doing.spawn(async move { (task.place.clone(), engine.execute_on(&live, task, &halt).await) });
            }
            if doing.is_empty() {
                return Ok(());
            }
            let later = wake.map_or(LONGEST_SLEEP, |wake| {
                Duration::from_micros(u64::try_from(wake.saturating_sub(now)).unwrap_or(0))
            });
            tokio::select! {
                Some(done) = doing.join_next() => {
                    let (place, outcome) = done.map_err(|error| {
                        Halt::Lost(crate::error::joined::<()>(Err(error)).err().unwrap_or(Error::Closed))
                    })?;
                    busy.remove(&place);
                    outcome?;
                }
                () = live.kicked.notified() => {}
                () = tokio::time::sleep(later) => {}
                _ = renew.tick() => {
                    if !self.claim(live).await.map_err(Halt::Lost)? {
                        return Err(Halt::Lost(Error::Overloaded { what: "changes of the run" }));
                    }
                    live.catch_up(self).await.map_err(Halt::Lost)?;
                }
                () = live.stop.cancelled() => return Err(Halt::Lost(Error::Closed)),
            }
        }
    }

    /// Executes a node, and those that follow it for as long as nothing else is to be done about the run: a step that goes
    /// back to whoever drives it wakes one more thread.
    async fn execute_on(
        &self,
        live: &Arc<LiveRun>,
        mut task: Task,
        halt: &CancellationToken,
    ) -> Result<(), Halt> {
        loop {
            self.execute(live, &task, halt).await?;
            let now = self.now();
            let machine = live.machine.lock().await;
            let mut tasks = machine.tasks();
            match (tasks.next(), tasks.next()) {
                (Some(next), None)
                    if next.place == task.place
                        && next.from <= now
                        && machine.subs().next().is_none()
                        && machine.expired(now).next().is_none() =>
                {
                    task = next;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Executes a node, and appends what came of it. It is broken off by `halt` until then, as if the process had ended.
    async fn execute(&self, live: &Arc<LiveRun>, task: &Task, halt: &CancellationToken) -> Result<(), Halt> {
        let turn = halt.run_until_cancelled(self.0.flows.nodes.acquire()).await;
        let _turn = turn.and_then(Result::ok).ok_or(Halt::Lost(Error::Closed))?;
        let (state, failures) = {
            let machine = live.machine.lock().await;
            if !machine.stands(task) {
                return Ok(());
            }
            let state = machine.state_at(&task.place).cloned().unwrap_or_default();
            (state, machine.failures(&task.place).to_vec())
        };
        let started = self.now();
        if self.0.flows.has_listeners() {
            live.pass(self, Passing::begun(live.id, &task.node, task.attempt, started));
        }
        let mut work = Work::new(self, live, task, failures);
        let Some(code) = &live.code else { return Err(Halt::Lost(other_version(&live.flow))) };
        let executed = code.execute(&task.node, &state, &mut work);
        // A node that panics fails like one that says so.
        let executed = std::panic::AssertUnwindSafe(executed).catch_unwind();
        let within = Within::of(&live.flow, task);
        let executed = halt.run_until_cancelled(within.work(executed)).await;
        let executed = executed.ok_or(Halt::Lost(Error::Closed))?;
        if executed.is_none() {
            // What it has had is known before it is tried again.
            work.settled().await;
        }
        if halt.is_cancelled() && !matches!(executed, Some(Ok(Ok(_)))) {
            // What it waited for was broken off as well: it has not failed by itself.
            return Err(Halt::Lost(Error::Closed));
        }
        let effects = work.effects();
        drop(work);
        let executed = match executed {
            Some(executed) => executed.unwrap_or_else(|_| Err(broke_off(&task.node).into())),
            None => Err(within.late(&task.node).into()),
        };
        let hidden = self.0.flows.redaction();
        let step = match executed {
            Ok(mut step) => {
                hidden.value(&mut step.notes);
                Ok(step)
            }
            Err(Halt::Failed(failure)) => {
                let message = hidden.text(&failure.message).into_owned();
                Err(lmlang_flow::Failure { message, ..failure })
            }
            Err(lost @ Halt::Lost(_)) => return Err(lost),
        };
        // What a run of another flow is to be begun with is read now: its beginning is stored with this step.
        let step = match step {
            Ok(step) => match self.check_sub(live, &step).await {
                Ok(()) => Ok(step),
                Err(failure) => Err(failure),
            },
            Err(failure) => Err(failure),
        };
        let appended = live.append(self, By::Driver, |machine, now| {
            if !machine.stands(task) {
                return None;
            }
            Some(match step.clone() {
                Ok(step) => machine.finished(task, step, started, effects, now).unwrap_or_else(|refused| {
                    let broken = failure(refused.code(), refused.to_string());
                    machine.broken(task, broken, started, effects)
                }),
                Err(failure) => machine.failed(task, failure, started, effects, now),
            })
        });
        appended.await.map(drop)
    }

    async fn check_sub(&self, live: &LiveRun, step: &lmlang_flow::Step) -> Result<(), Failure> {
        let lmlang_flow::Goto::Sub { flow, input, .. } = &step.goto else { return Ok(()) };
        let id = child_id(live.id, 0);
        let parent = Some((live.session, (live.id, String::new())));
        match live.reach(self).new_run(flow, Given::to_sub(input), &live.actor, id, parent).await {
            // What its beginner may see was decided for one program.
            Ok(new)
                if live.program.is_some() && new.run.program.is_some_and(|of| Some(of) != live.program) =>
            {
                Err(failure("FORBIDDEN", format!("a run of `{flow}` about another program")))
            }
            Ok(_) => Ok(()),
            Err(error) => Err(crate::flows::code::failed(flow, &error)),
        }
    }

    /// Ends a run whose time is over, or questions of one.
    async fn expire(&self, live: &Arc<LiveRun>) -> Result<(), Halt> {
        loop {
            let expired = live.append(self, By::Driver, |machine, now| machine.expired(now).next()).await?;
            if expired.is_none() {
                return Ok(());
            }
        }
    }

    /// Takes in what runs have come to that this one waits for, and has those executed that have not.
    async fn take_in_subs(&self, live: &Arc<LiveRun>) -> Result<(), Halt> {
        let waits: Vec<(Place, u64)> = {
            let machine = live.machine.lock().await;
            machine.subs().map(|(place, since, _, _)| (place.clone(), since)).collect()
        };
        for (place, since) in waits {
            let child = child_id(live.id, since);
            let row = self.store().run(child).await.map_err(|fault| Halt::Lost(fault.into()))?;
            let Some(row) = row else { continue };
            let result = match row.standing.status {
                RunStatus::Running | RunStatus::Waiting => {
                    if !self.0.flows.live().contains_key(&child) && row.standing.status == RunStatus::Running
                    {
                        // Its own trouble is its own: here it is waited for.
                        drop(Box::pin(self.go_on(child)).await);
                    }
                    continue;
                }
                RunStatus::Completed => {
                    let run = self.stored_run(&row).await.map_err(Halt::Lost)?;
                    Ok(run.state().public(run.flow()))
                }
                RunStatus::Failed => {
                    let run = self.stored_run(&row).await.map_err(Halt::Lost)?;
                    let why = run.failure().map(|(failure, _)| failure.clone());
                    Err(why.unwrap_or_else(|| failure("SUB_RUN_FAILED", "it has failed")))
                }
                RunStatus::Cancelled => {
                    let run = self.stored_run(&row).await.map_err(Halt::Lost)?;
                    let (by, why) = run.cancellation().unwrap_or_default();
                    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                    let message = format!("the run R-{child} of `{}` was cancelled by `{by}`{why}", row.flow);
                    Err(failure("SUB_RUN_CANCELLED", message))
                }
            };
            let ended = |machine: &Run, _| machine.sub_ended(&place, result.clone());
            live.append(self, By::Driver, ended).await?;
        }
        Ok(())
    }

    /// Tells whoever waits for a run that it has ended, stops those that it waited for, and lets one that was cancelled take away
    /// what it made.
    fn after_end<'a>(&'a self, live: &'a LiveRun) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let (ended, state) = {
                let machine = live.machine.lock().await;
                let ended = machine.status();
                (ended, matches!(ended, Status::Cancelled | Status::Failed).then(|| machine.state().clone()))
            };
            let is_cancelled = ended == Status::Cancelled;
            if let (Some(state), Some(code)) = (state, &live.code) {
                let (run, program, call) = (live.id, live.program, live.call(0, None));
                code.let_go(LetGo { engine: self, run, ended, state: &state, program, call }).await;
            }
            if let Some(parent) = live.parent
                && let Err(error) = Box::pin(self.go_on(parent)).await
            {
                tracing::warn!(run = %parent, %error, "a run cannot be gone on with");
            }
            if is_cancelled && let Err(error) = self.store().rest_run(live.id).await {
                tracing::warn!(run = %live.id, %error, "it is done again that a run has let go");
            }
            let children = match self.store().child_runs(live.id).await {
                Ok(children) => children,
                Err(error) => {
                    tracing::warn!(run = %live.id, %error, "runs that it waited for could not be looked for");
                    return;
                }
            };
            for child in children.into_iter().filter(|child| child.standing.ended.is_none()) {
                self.stop_orphan(child.id, live.flow.name()).await;
            }
        })
    }

    /// Stops a run whose waiting one has ended.
    pub(super) async fn stop_orphan(&self, run: Uuid, by: &str) {
        if let Err(error) = self.stop_run(run, by, Some(ORPHANED.to_owned())).await {
            tracing::warn!(%run, %error, "a run could not be stopped");
        }
    }

    /// Waits until nobody executes a run in this process, and lets it go: nodes that are at work are broken off, as if the process
    /// had ended.
    pub(crate) async fn let_go_of_run(&self, run: Uuid) {
        let live = self.0.flows.live().get(&run).cloned();
        if let Some(live) = live {
            live.stop.cancel();
            let _driving = live.driving.lock().await;
            self.0.flows.forget(&live);
        }
    }

    /// Appends that somebody stopped a run, unless it has ended, and waits until nothing of it is at work any more in this
    /// process: another one that executes it breaks off when it would append. Answers whether it was appended.
    pub(crate) async fn stop_run(&self, run: Uuid, by: &str, reason: Option<String>) -> Result<bool, Error> {
        let by = by.to_owned();
        let stopped = self.change_run(run, |machine, _| {
            let (by, reason) = (by.clone(), reason.clone());
            Ok::<_, Error>((!machine.has_ended()).then_some(What::Cancelled { by, reason }))
        });
        let (live, stopped) = stopped.await?;
        if stopped.is_none() {
            // Nobody else may drive it: it is let go when there is nothing to do.
            self.kick(&live);
            return Ok(false);
        }
        let engine = self.seeing_all();
        // Whoever asked may be gone before it is done.
        let rest = async move {
            engine.let_go_of_run(run).await;
            // Somebody may have taken it back to an earlier entry meanwhile.
            if engine.store().run(run).await?.is_some_and(|row| row.standing.ended.is_some()) {
                engine.after_end(&live).await;
            }
            Ok(())
        };
        self.to_end(rest).await?;
        Ok(true)
    }

    /// Appends what `plan` makes of a run as it is.
    pub(crate) async fn change_run<E: From<Error> + Send>(
        &self,
        run: Uuid,
        plan: impl Fn(&Run, i64) -> Result<Option<What>, E> + Send + Sync,
    ) -> Result<(Arc<LiveRun>, Option<u64>), E> {
        for _ in 0..ATTEMPTS {
            let live = self.live_run(run).await?;
            let refused = std::sync::Mutex::new(None);
            let appended = live.append(self, By::Caller, |machine, now| match plan(machine, now) {
                Ok(what) => what,
                Err(error) => {
                    *refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(error);
                    None
                }
            });
            let appended = appended.await;
            if let Some(refused) = refused.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
                // Nobody else may drive it: it is let go when there is nothing to do.
                self.kick(&live);
                return Err(refused);
            }
            match appended {
                Ok(number) => return Ok((live, number)),
                // It was let go, and is loaded again.
                Err(Halt::Lost(Error::Overloaded { .. })) => {}
                Err(Halt::Lost(error)) => return Err(error.into()),
                Err(Halt::Failed(failure)) => return Err(Error::bad_request(failure.message).into()),
            }
        }
        Err(Error::Overloaded { what: "changes of the run" }.into())
    }
}

/// Breaks off what is at work, and waits for what is being stored.
async fn break_off(doing: &mut JoinSet<(Place, Result<(), Halt>)>, halt: &CancellationToken) {
    halt.cancel();
    while doing.join_next().await.is_some() {}
}

/// How often a run that was let go is loaded again for a change.
const ATTEMPTS: usize = 8;
