//! A run in memory, and the one way by which its journal grows.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use lmlang_flow::receipts::EffectId;
use lmlang_flow::{Corrupt, Entry, Flow, Goto, Run, Status, What};
use lmlang_history::log::{Actor, ActorKind, Origin};
use lmlang_ir::hash::hex;
use lmlang_store::{
    FlowDefinition, InterruptChange, InterruptStanding, JournalAppend, JournalError, NewRun, RunStanding,
    RunStatus, Timestamp,
};
use serde_json::Value;
use tokio::sync::{Mutex, Notify, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::{Error, joined};
use crate::flows::code::{FlowCode, Halt};
use crate::flows::coding;
use crate::flows::keeping::LastSnapshot;
use crate::flows::starting::Given;
use crate::flows::told::Passing;
use crate::records::from_actor;
use crate::request::Call;

/// Others were faster, again and again.
const OUTRUN: Error = Error::Overloaded { what: "changes of the run" };

/// For how long nobody else executes a run that this process has not given a sign of.
pub(crate) const LEASE: Duration = Duration::from_secs(30);

/// After what time a run looks again whether those that it waits for have ended, should nobody have told it.
pub(crate) const LOOKS_AGAIN: i64 = 5_000_000;

/// A run in memory.
pub(crate) struct LiveRun {
    pub(crate) id: Uuid,
    pub(crate) session: Uuid,
    pub(crate) parent: Option<Uuid>,
    pub(crate) flow: Arc<Flow>,
    /// What its row said of the definition when it was loaded.
    definition: Vec<u8>,
    /// None when its flow is another one by now: it is not gone on with.
    pub(crate) code: Option<Arc<dyn FlowCode>>,
    pub(crate) program: Option<Uuid>,
    pub(crate) branch: Option<String>,
    pub(crate) actor: Actor,
    /// When it was begun.
    pub(crate) made: i64,
    /// Held while an entry is stored: a journal has one order, and the next entry is planned on this one.
    pub(crate) machine: Mutex<Run>,
    /// How it stands by its row, once this process has written that. Changed with the machine held.
    row: std::sync::Mutex<Option<RunStanding>>,
    /// Its newest snapshot. Changed with the machine held.
    snapshot: std::sync::Mutex<LastSnapshot>,
    /// Held by whoever executes it.
    pub(crate) driving: Arc<Mutex<()>>,
    /// What effects were asked whose receipts are being stored, for a tracer that wants it.
    asked: std::sync::Mutex<Vec<(EffectId, Value)>>,
    /// Counts up when there may be something to do.
    pub(crate) kicks: AtomicU64,
    pub(crate) kicked: Notify,
    pub(crate) stop: CancellationToken,
    /// Set, with the machine held, when what is in memory is not what is stored: nothing is written on it any more.
    lost: AtomicBool,
    /// Set, with the machine held, while an entry is stored that is in memory already. Whoever stored it may have gone away in
    /// the middle of that: the next one who appends reads the journal first.
    unsure: AtomicBool,
}

impl std::fmt::Debug for LiveRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveRun").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Who appends to a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Whoever executes the run: it stays with them for a while.
    Driver,
    /// Somebody beside them.
    Caller,
}

/// How often an entry is planned again when somebody else was faster.
const ATTEMPTS: usize = 8;

impl LiveRun {
    /// A call of the flow: recorded with the run, on behalf of whoever began it.
    pub(crate) fn call(&self, step: u64, message: Option<String>) -> Call {
        Call {
            actor: Actor { name: self.flow.name().to_owned(), kind: ActorKind::Flow, client: None },
            on_behalf_of: Some(self.actor.name.clone()),
            message,
            idempotency: None,
            origin: Some(Origin { run: self.id.into_bytes(), step }),
        }
    }

    /// Appends the entry that `plan` makes of the run as it is now, and answers whether there was one. When another process was
    /// faster, its entries are taken in and the entry is planned again.
    ///
    /// # Errors
    ///
    /// [`Halt::Lost`]: the journal cannot be written. The run is to be loaded again.
    pub(crate) async fn append(
        self: &Arc<Self>,
        engine: &Engine,
        by: By,
        plan: impl Fn(&Run, i64) -> Option<What> + Send,
    ) -> Result<Option<u64>, Halt> {
        let mut machine = self.machine.lock().await;
        for _ in 0..ATTEMPTS {
            if self.lost.load(Ordering::Relaxed) {
                return Err(Halt::Lost(OUTRUN));
            }
            if self.unsure.load(Ordering::Relaxed)
                && let Err(error) = self.load(engine, &mut machine).await
            {
                self.lose(engine);
                return Err(Halt::Lost(error));
            }
            let now = engine.now();
            let Some(what) = plan(&machine, now) else { return Ok(None) };
            match self.append_to(engine, &mut machine, (now, by), what).await {
                Ok(Some(number)) => return Ok(Some(number)),
                // Somebody else was faster: what is in memory is not what is stored.
                Ok(None) => {}
                Err(error) => {
                    self.lose(engine);
                    return Err(Halt::Lost(error));
                }
            }
        }
        Err(Halt::Lost(OUTRUN))
    }

    /// The same, to its end, whatever becomes of whoever waits: something has happened, and the engine does not close before it
    /// is written down. `held` is held until then.
    pub(crate) async fn append_to_end(
        self: &Arc<Self>,
        engine: &Engine,
        held: OwnedMutexGuard<()>,
        plan: impl Fn(&Run, i64) -> Option<What> + Send + 'static,
    ) -> Result<Option<u64>, Halt> {
        let (live, on) = (Arc::clone(self), engine.clone());
        let appended = engine.spawn_to_end(async move {
            let appended = live.append(&on, By::Driver, plan).await;
            drop(held);
            appended
        });
        joined(appended.await).map_err(Halt::Lost)?
    }

    /// Takes in what other processes have stored.
    pub(crate) async fn catch_up(&self, engine: &Engine) -> Result<(), Error> {
        let mut machine = self.machine.lock().await;
        let row = engine.store().run(self.id).await?.ok_or_else(|| Error::not_found("run", self.id))?;
        self.is_one_of(&row)?;
        match row.standing.last > machine.last() || self.unsure.load(Ordering::Relaxed) {
            true => self.load(engine, &mut machine).await,
            false => Ok(()),
        }
    }

    /// Refuses what was moved to another definition: whoever wants it loads it as a run of that.
    fn is_one_of(&self, row: &lmlang_store::Run) -> Result<(), Error> {
        match row.definition == self.definition {
            true => Ok(()),
            false => Err(OUTRUN),
        }
    }

    async fn load(&self, engine: &Engine, machine: &mut Run) -> Result<(), Error> {
        let folded = engine.folded(self.id, &self.flow, &self.definition).await?;
        // Afterwards: a moving that this sees was not in the journal yet.
        let row = engine.store().run(self.id).await?.ok_or_else(|| Error::not_found("run", self.id))?;
        self.is_one_of(&row)?;
        (*machine, *self.snapshot()) = folded.map_err(|error| damaged(self.id, 0, error))?;
        self.unsure.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Lets other processes have a run that has ended: one may be taken back to where it goes on.
    pub(crate) async fn give_free(&self, engine: &Engine) {
        if engine.store().is_alone() {
            return;
        }
        if let Err(error) = engine.store().release_run(self.id, engine.0.flows.me).await {
            // They wait until the lease is over.
            tracing::warn!(run = %self.id, %error, "a run could not be given free");
        }
    }

    fn lose(self: &Arc<Self>, engine: &Engine) {
        self.lost.store(true, Ordering::Relaxed);
        engine.0.flows.forget(self);
        self.stop.cancel();
    }

    /// Answers without a number when another process was faster.
    async fn append_to(
        &self,
        engine: &Engine,
        machine: &mut Run,
        (now, by): (i64, By),
        what: What,
    ) -> Result<Option<u64>, Error> {
        let entry = Entry { number: machine.last() + 1, time: now, what };
        let damaged = |error: lmlang_flow::Corrupt| damaged(self.id, entry.number, error);
        self.unsure.store(true, Ordering::Relaxed);
        let had_ended = machine.has_ended();
        match &entry.what {
            What::Rewound { .. } => {
                let mut journal = engine.journal_of(self.id).await?;
                journal.push(entry.clone());
                *machine = Run::replay(&self.flow, &journal).map_err(damaged)?;
            }
            _ => machine.take(&entry).map_err(damaged)?,
        }
        let snapshot = self.snapshot().due(machine, &entry, &self.definition);
        let begins = self.begins(engine, &entry).await?;
        let standing = standing(machine, now);
        // What becomes of the row is not known before the answer is there.
        let before = self.row().take().filter(|before| is_as_before(before, &standing, now));
        let standing = (!engine.store().is_alone() || before.is_none()).then_some(standing);
        let lease = (by == By::Driver && !engine.store().is_alone()).then(|| {
            let until = now.saturating_add(i64::try_from(LEASE.as_micros()).unwrap_or(i64::MAX));
            (engine.0.flows.me, Timestamp(until))
        });
        let append = JournalAppend {
            run: self.id,
            program: self.program,
            number: entry.number,
            time: Timestamp(now),
            kind: entry.what.kind() as u8,
            payload: coding::encode(&entry.what)?,
            standing: standing.clone(),
            interrupts: interrupts(&entry, machine),
            begins,
            lease,
            definition: match &entry.what {
                What::Moved { definition, .. } => Some(self.moved_to(engine, definition).await?),
                _ => None,
            },
            snapshot,
        };
        match engine.store().append_to_journal(append).await {
            Ok(()) => {}
            Err(JournalError::Taken) => return Ok(None),
            Err(JournalError::Gone) => return Err(Error::not_found("run", self.id)),
            Err(JournalError::Storage(fault)) => return Err(fault.into()),
        }
        self.unsure.store(false, Ordering::Relaxed);
        *self.row() = standing.or(before);
        engine.send_span(self, machine, &entry, machine.has_ended() && !had_ended);
        engine.0.flows.stored.send_modify(|count| *count += 1);
        Ok(Some(entry.number))
    }

    fn snapshot(&self) -> MutexGuard<'_, LastSnapshot> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn row(&self) -> MutexGuard<'_, Option<RunStanding>> {
        self.row.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The node at which it stands, and the number of its newest entry, where that is newer than `last`.
    pub(crate) async fn newer(&self, last: u64) -> Option<(Option<String>, u64)> {
        let machine = self.machine.lock().await;
        // What may not be stored is not told.
        let is_stored = !self.unsure.load(Ordering::Relaxed) && !self.lost.load(Ordering::Relaxed);
        (is_stored && machine.last() > last).then(|| (machine.node().map(str::to_owned), machine.last()))
    }

    /// Keeps what an effect was asked until its receipt is stored.
    pub(crate) fn keep_asked(&self, effect: EffectId, request: Value) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push((effect, request));
    }

    /// What an effect was asked, once.
    pub(crate) fn asked(&self, effect: &EffectId) -> Option<Value> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let at = asked.iter().position(|(of, _)| of == effect)?;
        Some(asked.swap_remove(at).1)
    }

    /// The definition that the run is moved to: the flow may have been declared anew since that was planned.
    async fn moved_to(&self, engine: &Engine, hash: &str) -> Result<FlowDefinition, Error> {
        let code = engine.code_named(self.flow.name()).await?;
        match hex(&code.flow().hash()) == hash {
            true => definition(code.flow()),
            false => Err(OUTRUN),
        }
    }

    /// The engine as far as its nodes reach, and the runs that it waits for: where its flow is about a program, that one.
    pub(crate) fn reach(&self, engine: &Engine) -> Engine {
        match self.flow.is_about_a_program() {
            true => engine.seeing_only(self.program),
            false => engine.clone(),
        }
    }

    /// The runs that begin by an entry.
    async fn begins(&self, engine: &Engine, entry: &Entry) -> Result<Vec<NewRun>, Error> {
        let What::Stepped(stepped) = &entry.what else { return Ok(Vec::new()) };
        let Goto::Sub { flow, input, .. } = &stepped.goto else { return Ok(Vec::new()) };
        let parent = (self.id, stepped.place.to_string());
        let id = child_id(self.id, entry.number);
        let parent = Some((self.session, parent));
        let new = self.reach(engine).new_run(flow, Given::to_sub(input), &self.actor, id, parent).await?;
        Ok(vec![new])
    }

    /// Tells listeners what is not stored.
    pub(crate) fn pass(&self, engine: &Engine, passing: Passing) {
        let passing = passing.after(*engine.0.flows.stored.borrow());
        // Nobody may listen.
        engine.0.flows.passing.send(passing).ok();
    }
}

/// The id of a run that another one waits for: the same whenever its beginning is repeated.
pub(crate) fn child_id(parent: Uuid, number: u64) -> Uuid {
    let mut seen = blake3::Hasher::new();
    seen.update(parent.as_bytes());
    seen.update(&number.to_be_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&seen.finalize().as_bytes()[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

/// How a run stands, for lists and for whoever goes on with it.
pub(crate) fn standing(run: &Run, now: i64) -> RunStanding {
    let waits = run.subs().next().is_some();
    let wake = match (run.status(), run.has_ended()) {
        // Until it has taken away what it made.
        (Status::Cancelled, _) => Some(now.saturating_add(LOOKS_AGAIN)),
        (_, true) => None,
        (_, false) => run.wake().into_iter().chain(waits.then(|| now.saturating_add(LOOKS_AGAIN))).min(),
    };
    RunStanding {
        status: match run.status() {
            Status::Running => RunStatus::Running,
            Status::Waiting => RunStatus::Waiting,
            Status::Completed => RunStatus::Completed,
            Status::Failed => RunStatus::Failed,
            Status::Cancelled => RunStatus::Cancelled,
        },
        node: run.node().map(str::to_owned),
        last: run.last(),
        wake: wake.map(Timestamp),
        ended: run.ended_at().map(Timestamp),
        deadline: run.deadline().map(Timestamp),
    }
}

/// Whether a run stands as its row says, but for its node and its newest entry. What is due may be due since another time.
fn is_as_before(row: &RunStanding, standing: &RunStanding, now: i64) -> bool {
    let is_due = |wake: Option<Timestamp>| wake.is_some_and(|wake| wake.0 <= now);
    let (before, after) = (row.wake, standing.wake);
    row.status == standing.status
        && row.ended == standing.ended
        && row.deadline == standing.deadline
        && (before == after || is_due(before) && is_due(after))
}

/// What becomes of the questions of a run by an entry.
fn interrupts(entry: &Entry, run: &Run) -> Vec<InterruptChange> {
    let mut changes = match &entry.what {
        What::Stepped(_) | What::Failed(_) if run.interrupt(entry.number).is_some() => {
            vec![InterruptChange::Asked]
        }
        What::Answered { asked, .. } => vec![InterruptChange::Over(*asked, InterruptStanding::Answered)],
        What::Expired { asked } => vec![InterruptChange::Over(*asked, InterruptStanding::Expired)],
        What::Rewound { to, .. } => {
            vec![InterruptChange::Rewound(*to, run.interrupts().map(|of| of.asked).collect())]
        }
        What::Started(_)
        | What::Announced(_)
        | What::Received(_)
        | What::Stepped(_)
        | What::Failed(_)
        | What::SubEnded { .. }
        | What::Cancelled { .. }
        | What::Bounded { .. }
        | What::Overdue
        | What::Moved { .. } => Vec::new(),
    };
    if run.has_ended() {
        changes.push(InterruptChange::AllOver(InterruptStanding::Cancelled));
    }
    changes
}

pub(crate) fn damaged(run: Uuid, entry: u64, reason: impl ToString) -> Error {
    Error::Damaged { program: format!("the run {run}"), entry, reason: reason.to_string() }
}

/// The definition of a flow, as it is kept for its runs.
pub(crate) fn definition(flow: &Flow) -> Result<FlowDefinition, Error> {
    let definition = flow.definition();
    Ok(FlowDefinition {
        hash: flow.hash().to_vec(),
        name: definition.name.clone(),
        version: definition.version,
        definition: serde_json::to_vec(definition).map_err(|error| Error::bad_request(error.to_string()))?,
    })
}

impl Engine {
    /// All entries of the journal of a run.
    pub(crate) async fn journal_of(&self, run: Uuid) -> Result<Vec<Entry>, Error> {
        self.journal_after(run, 0).await
    }

    /// The entries of the journal of a run behind one.
    pub(crate) async fn journal_after(&self, run: Uuid, number: u64) -> Result<Vec<Entry>, Error> {
        const PAGE: u64 = 4_096;
        let mut journal: Vec<Entry> = Vec::new();
        loop {
            let after = journal.last().map_or(number, |entry| entry.number);
            let rows = self.store().journal(run, None, after, PAGE).await?;
            let count = rows.len() as u64;
            for row in rows {
                journal.push(decode(&row)?);
            }
            if count < PAGE {
                return Ok(journal);
            }
        }
    }

    /// A run as it is stored whose row was read just before: that may have been removed meanwhile.
    async fn folded_row(
        &self,
        row: &lmlang_store::Run,
        flow: &Arc<Flow>,
    ) -> Result<Result<(Run, LastSnapshot), Corrupt>, Error> {
        let folded = self.folded(row.id, flow, &row.definition).await?;
        let is_whole = folded.as_ref().is_ok_and(|(run, _)| run.last() >= row.standing.last);
        match is_whole || self.store().run(row.id).await?.is_some() {
            // What is missing without being removed is told.
            true => Ok(folded),
            false => Err(Error::not_found("run", row.id)),
        }
    }

    /// A run in memory, for executing it or changing it.
    pub(crate) async fn live_run(&self, id: Uuid) -> Result<Arc<LiveRun>, Error> {
        for _ in 0..ATTEMPTS {
            match self.loaded(id).await {
                // It was moved while it was loaded.
                Err(Error::Overloaded { .. }) => {}
                loaded => return loaded,
            }
        }
        Err(OUTRUN)
    }

    async fn loaded(&self, id: Uuid) -> Result<Arc<LiveRun>, Error> {
        if let Some(live) = self.0.flows.live().get(&id) {
            return Ok(Arc::clone(live));
        }
        let row = self.store().run(id).await?.ok_or_else(|| Error::not_found("run", id))?;
        let actor = self.store().actor(row.actor).await?;
        let actor = actor.ok_or_else(|| damaged(id, 1, "its actor is unknown"))?;
        let flow = self.flow_of(&row).await?;
        let code = self.code_of(&flow);
        let folded = self.folded_row(&row, &flow).await?;
        let (machine, snapshot) = folded.map_err(|error| damaged(id, 0, error))?;
        let live = LiveRun {
            id,
            session: row.session,
            parent: row.parent.map(|(parent, _)| parent),
            flow,
            definition: row.definition,
            code,
            program: row.program,
            branch: row.branch,
            actor: from_actor(actor),
            made: row.made.0,
            machine: Mutex::new(machine),
            row: std::sync::Mutex::default(),
            snapshot: std::sync::Mutex::new(snapshot),
            driving: Arc::default(),
            asked: std::sync::Mutex::default(),
            kicks: AtomicU64::new(0),
            kicked: Notify::new(),
            stop: self.closing().child_token(),
            lost: AtomicBool::new(false),
            unsure: AtomicBool::new(false),
        };
        // Somebody may have been faster: there is one of each.
        let live = Arc::clone(self.0.flows.live().entry(id).or_insert_with(|| Arc::new(live)));
        // And it may have gone on between the reading and this.
        if let Err(error) = live.catch_up(self).await {
            // Nobody drives it yet: whoever asks next loads it again.
            self.0.flows.forget(&live);
            return Err(error);
        }
        Ok(live)
    }

    /// The run as it is stored, whatever has become of its flow.
    pub(crate) async fn stored_run(&self, row: &lmlang_store::Run) -> Result<Run, Error> {
        let flow = self.flow_of(row).await?;
        match self.folded_row(row, &flow).await? {
            Ok((run, _)) => Ok(run),
            Err(error) => match self.store().run(row.id).await? {
                // It was moved meanwhile.
                Some(now) if now.definition != row.definition => Box::pin(self.stored_run(&now)).await,
                Some(_) | None => Err(damaged(row.id, 0, error)),
            },
        }
    }

    /// The flow that a run is one of.
    pub(crate) async fn flow_of(&self, row: &lmlang_store::Run) -> Result<Arc<Flow>, Error> {
        if let Some(code) = self.0.flows.code(&row.flow)
            && code.flow().hash()[..] == row.definition[..]
        {
            return Ok(Arc::clone(code.flow()));
        }
        if let Some(flow) = self.declared().await?.flow(&row.flow, &row.definition) {
            return Ok(flow);
        }
        let kept = self.store().flow_definition(&row.definition).await?;
        let kept = kept.ok_or_else(|| damaged(row.id, 0, "its flow is unknown"))?;
        let definition =
            serde_json::from_slice(&kept.definition).map_err(|error| damaged(row.id, 0, error))?;
        let flow = Flow::new(definition);
        flow.map(Arc::new).map_err(|_| damaged(row.id, 0, "its flow makes no sense"))
    }
}

/// The entry of a row.
pub(crate) fn decode(row: &lmlang_store::JournalEntry) -> Result<Entry, Error> {
    let what = coding::decode(&row.payload).map_err(|error| damaged(row.run, row.number, error))?;
    Ok(Entry { number: row.number, time: row.time.0, what })
}
