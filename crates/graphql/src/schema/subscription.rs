//! The root of subscriptions: each starts without a gap after its cursor and resumes from the last one seen.

use std::sync::Arc;
use std::time::Duration;

use async_graphql::{
    Context, ID, InputObject, Interface, Object, Result, SimpleObject, Subscription as Root,
};
use chrono::{DateTime, Utc};
use futures_util::{Stream, StreamExt};
use lmlang_engine::{self as engine, Batching, Engine, Event};
use lmlang_history::log::Entry;
use lmlang_ir::Ref;
use tokio_stream::wrappers::ReceiverStream;

use crate::direct::Rows;
use crate::error::{ApiError, Code};
use crate::schema::connection::MAX_PAGE;
use crate::schema::diagnostics::Diagnostic;
use crate::schema::diff::{ChangeKind, ProgramDiff};
use crate::schema::event_filter::EventFilter;
use crate::schema::failure::fail;
use crate::schema::ids::GlobalId;
use crate::schema::mutation::selector;
use crate::schema::named::Named;
use crate::schema::outcome::ProposeEditOutcome;
use crate::schema::provenance::Actor;
use crate::schema::revision::{Revision, cursor, cursor_number, moment};
use crate::schema::run_input::SimulateInput;
use crate::schema::run_outcome::{Outcome, outcome};
use crate::schema::scalars::Count;
use crate::schema::simulation::{Simulation, SimulationStatus, TraceStep, trace_step};
use crate::schema::view::{View, not_found};

/// How a trace is cut into batches.
#[derive(Clone, Debug, InputObject)]
pub struct BatchInput {
    /// Steps in one batch at most.
    #[graphql(default = 256)]
    max_events: i32,
    /// How long a step may wait for others, in milliseconds.
    #[graphql(default = 50)]
    max_latency_ms: i32,
}

/// A run to start.
#[derive(Clone, Debug, InputObject)]
pub struct StartSimulationInput {
    /// The program, by id or name.
    program_id: ID,
    /// The revision; without it, the head.
    at: Option<String>,
    /// The function, by ref or path.
    function: String,
    /// What it is given.
    run: SimulateInput,
    /// Not supported yet.
    breakpoints: Option<Vec<BreakpointInput>>,
    /// Not supported yet.
    #[graphql(default = false)]
    pause_at_start: bool,
    /// A simulation changes nothing: a repetition runs again.
    idempotency_key: Option<String>,
}

/// Not supported yet.
#[derive(Clone, Debug, InputObject)]
pub struct BreakpointInput {
    /// A node to stop before.
    node: Option<String>,
    /// A function to stop in.
    function: Option<String>,
    /// When to stop.
    condition: Option<String>,
    /// What to watch.
    watch: Option<String>,
}

/// Part of a trace.
#[derive(Clone, SimpleObject)]
pub struct TraceBatch {
    /// The simulation: `simulation(id:, after:)` resumes it.
    simulation_id: ID,
    /// The number of the step after these: where to resume.
    cursor: Count,
    /// The steps in order.
    steps: Rows<TraceStep>,
    /// Steps from `cursor` on that this stream leaves out, since it met the bound of trace bytes or of time; in the last
    /// batch. `simulation(id:, after:)` shows them.
    skipped: Count,
    /// How the run stands.
    status: SimulationStatus,
    /// How it ended; null while it runs.
    outcome: Option<Outcome>,
}

/// What happened to a program.
#[derive(Clone, Interface)]
#[graphql(
    field(name = "cursor", ty = "String", desc = "Where to resume after this event."),
    field(name = "at", ty = "DateTime<Utc>", desc = "When."),
    field(name = "program_id", ty = "ID", desc = "The program."),
    field(name = "actor", ty = "Option<Actor>", desc = "Who did it.")
)]
pub enum ProgramEvent {
    /// The content changed.
    Committed(RevisionCommitted),
    /// A change set was refused.
    Refused(EditRefused),
    /// The program was renamed or deleted.
    Changed(ProgramChanged),
    /// A checkpoint was made or removed.
    Checkpoint(CheckpointChanged),
    /// A branch was made or removed.
    Branch(BranchChanged),
    /// Something was left out.
    Gap(EventGap),
}

/// The content changed.
#[derive(Clone)]
pub struct RevisionCommitted {
    view: View,
    before: View,
    entry: Arc<Entry>,
}

/// The most refs in one event.
const TOUCHED: usize = 500;

/// The content changed: a revision was appended.
#[Object]
impl RevisionCommitted {
    /// Where to resume after this event.
    pub async fn cursor(&self) -> String {
        cursor(self.entry.number)
    }

    /// When.
    pub async fn at(&self) -> DateTime<Utc> {
        moment(self.entry.time)
    }

    /// The program.
    pub async fn program_id(&self) -> ID {
        self.view.id().program.into()
    }

    /// Who did it.
    pub async fn actor(&self) -> Option<Actor> {
        Some(Actor::from(&self.entry.actor))
    }

    /// The revision.
    async fn revision(&self) -> Revision {
        Revision::new(&self.view, self.entry.clone())
    }

    /// What differs from the revision before.
    async fn diff(&self) -> ProgramDiff {
        ProgramDiff::new(self.before.clone(), self.view.clone())
    }

    /// Refs of the entities that it made, changed or removed.
    async fn touched(&self) -> Vec<String> {
        touched(&self.entry).into_iter().take(TOUCHED).map(|of| of.to_string()).collect()
    }

    /// Whether refs were left out.
    async fn touched_truncated(&self) -> bool {
        touched(&self.entry).len() > TOUCHED
    }
}

fn touched(entry: &Entry) -> Vec<Ref> {
    let mut refs: Vec<Ref> = entry.edits.iter().map(lmlang_history::Edit::subject).collect();
    refs.sort_unstable();
    refs.dedup();
    refs
}

/// What every event says.
#[derive(Clone)]
struct Told {
    cursor: String,
    at: DateTime<Utc>,
    program_id: ID,
    actor: Option<Actor>,
}

/// Defines an event that consists of what every event says and of some fields.
macro_rules! event {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $field_doc:literal])* $field:ident: $ty:ty,)* }) => {
        $(#[doc = $doc])*
        #[derive(Clone)]
        pub struct $name {
            told: Told,
            $($field: $ty,)*
        }

        $(#[doc = $doc])*
        #[Object]
        impl $name {
            /// Where to resume after this event.
            pub async fn cursor(&self) -> String {
                self.told.cursor.clone()
            }

            /// When.
            pub async fn at(&self) -> DateTime<Utc> {
                self.told.at
            }

            /// The program.
            pub async fn program_id(&self) -> ID {
                self.told.program_id.clone()
            }

            /// Who did it; null where it is not recorded.
            pub async fn actor(&self) -> Option<Actor> {
                self.told.actor.clone()
            }

            $($(#[doc = $field_doc])*
            async fn $field(&self) -> $ty {
                self.$field.clone()
            })*
        }
    };
}

event! {
    /// A change set was refused; told to those who listen at that moment.
    EditRefused {
        /// Why it was refused.
        outcome: ProposeEditOutcome,
        /// How many edits it had.
        edit_count: i32,
    }
}

event! {
    /// A program was made, renamed or deleted.
    ProgramChanged {
        /// Its name now.
        name: String,
        /// What became of it.
        change: ChangeKind,
    }
}

event! {
    /// A checkpoint was made or removed.
    CheckpointChanged {
        /// Its name.
        name: String,
        /// What became of it.
        change: ChangeKind,
    }
}

event! {
    /// A branch was made or removed. None yet: there is one branch.
    BranchChanged {
        /// Its name.
        name: String,
        /// What became of it.
        change: ChangeKind,
    }
}

event! {
    /// The reader fell behind: re-read, then go on from `cursor`.
    EventGap {
        /// The first event that is left out.
        from: String,
        /// The last event that is left out.
        to: String,
    }
}

/// What a revision changed about the findings.
#[derive(Clone)]
pub struct DiagnosticsDelta {
    view: View,
    delta: Arc<lmlang_verify::Delta>,
    complete: bool,
}

/// What a revision changed about the findings of the verifier.
#[Object]
impl DiagnosticsDelta {
    /// Where to resume after this event.
    async fn cursor(&self) -> String {
        cursor(self.view.revision().entry.number)
    }

    /// The revision.
    async fn revision(&self) -> Revision {
        Revision::new(&self.view, self.view.revision().entry.clone())
    }

    /// Findings that are new, the first thousand.
    async fn added(&self) -> Vec<Diagnostic> {
        self.delta
            .added
            .iter()
            .take(MAX_PAGE)
            .map(|found| Diagnostic::new(&self.view, found.clone()))
            .collect()
    }

    /// Findings that are gone, the first thousand.
    async fn resolved(&self) -> Vec<Diagnostic> {
        self.delta
            .resolved
            .iter()
            .take(MAX_PAGE)
            .map(|found| Diagnostic::new(&self.view, found.clone()))
            .collect()
    }

    /// Whether the program may be compiled and exported.
    async fn complete(&self) -> bool {
        self.complete
    }
}

/// What happens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subscription;

/// What happens. Each subscription starts without a gap after its cursor and resumes from the last one seen.
#[Root]
impl Subscription {
    /// What happens to a program, from now on or after a cursor; without `programId` to all programs, from now on.
    async fn program_events(
        &self,
        context: &Context<'_>,
        program_id: Option<ID>,
        branch: Option<String>,
        after: Option<String>,
        filter: Option<EventFilter>,
    ) -> Result<impl Stream<Item = Result<ProgramEvent>>> {
        let engine = context.data_unchecked::<Engine>().clone();
        if branch.as_ref().is_some_and(|branch| branch != lmlang_history::revision::MAIN) {
            return Err(not_found("branch", &branch.unwrap_or_default()).into());
        }
        let after = after.as_deref().map(cursor_number).transpose()?;
        let mut filter = filter.unwrap_or_default();
        let events = match program_id {
            Some(program_id) => {
                let open = engine.find(&selector(&program_id)).await.map_err(fail)?;
                let view = View::head(&engine, open);
                if let Some(functions) = &mut filter.functions {
                    let named = Named::all(&view, functions)?;
                    *functions = named.functions.iter().map(ToString::to_string).collect();
                }
                engine.events(view.open(), after).map_err(fail)?
            }
            None if after.is_none() && filter.functions.is_none() => engine.all_events(),
            None => {
                let message = "`after` and `functions` need `programId`";
                return Err(ApiError::new(Code::BadRequest, message).into());
            }
        };
        let events = ReceiverStream::new(events).filter_map(move |told| {
            let (engine, filter) = (engine.clone(), filter.clone());
            async move {
                match told.map_err(fail) {
                    Ok((open, event)) if filter.passes(&event) => Some(shown(&engine, &open, event).await),
                    Ok(_) => None,
                    Err(error) => Some(Err(error)),
                }
            }
        });
        Ok(up_to_error(events))
    }

    /// Runs a function while subscribed and streams its trace, then completes.
    async fn simulate(
        &self,
        context: &Context<'_>,
        input: StartSimulationInput,
        batch: Option<BatchInput>,
    ) -> Result<impl Stream<Item = Result<TraceBatch>>> {
        let engine = context.data_unchecked::<Engine>();
        if input.pause_at_start || input.breakpoints.is_some_and(|breakpoints| !breakpoints.is_empty()) {
            return Err(ApiError::new(Code::Unsupported, "breakpoints are not supported").into());
        }
        let view = View::find(engine, &input.program_id, input.at.as_deref()).await?;
        let function = view.function_named(&input.function)?;
        let request = input.run.request(&view, function)?;
        let batching = batching(batch)?;
        let (simulation, batches) =
            engine.stream(view.open(), view.revision(), request, batching).await.map_err(fail)?;
        let simulation = Simulation::new(engine, simulation);
        Ok(ReceiverStream::new(batches).map(move |batch| trace_batch(&simulation, batch)))
    }

    /// Streams the trace of a simulation that was streamed before, from a step on, then completes. One that was left
    /// before its end goes on.
    async fn simulation(
        &self,
        context: &Context<'_>,
        id: ID,
        #[graphql(default_with = "Count(0)")] after: Count,
        batch: Option<BatchInput>,
    ) -> Result<impl Stream<Item = Result<TraceBatch>>> {
        let engine = context.data_unchecked::<Engine>();
        let Ok(GlobalId::Simulation(uuid)) = id.parse() else {
            return Err(not_found("simulation", &id).into());
        };
        let simulation = Simulation::find(engine, uuid).await?;
        let batching = batching(batch)?;
        let batches = engine.stream_again(simulation.inner(), after.0, batching).await.map_err(fail)?;
        Ok(ReceiverStream::new(batches).map(move |batch| trace_batch(&simulation, batch)))
    }

    /// What each revision changes about the findings, from now on or after a cursor.
    async fn diagnostics(
        &self,
        context: &Context<'_>,
        program_id: ID,
        #[graphql(default_with = "\"main\".to_owned()")] branch: String,
        after: Option<String>,
        scope: Option<Vec<String>>,
    ) -> Result<impl Stream<Item = Result<DiagnosticsDelta>>> {
        let engine = context.data_unchecked::<Engine>().clone();
        if branch != lmlang_history::revision::MAIN {
            return Err(not_found("branch", &branch).into());
        }
        let open = engine.find(&selector(&program_id)).await.map_err(fail)?;
        let after = after.as_deref().map(cursor_number).transpose()?;
        let view = View::head(&engine, open);
        let scope = scope.map(|given| Named::all(&view, &given)).transpose()?;
        let events = ReceiverStream::new(engine.events(view.open(), after).map_err(fail)?);
        let deltas = events.filter_map(move |told| {
            let (engine, scope) = (engine.clone(), scope.clone());
            async move {
                match told.map_err(fail) {
                    Ok((open, event)) => delta(&engine, &open, event, scope.as_ref()).await.transpose(),
                    Err(error) => Some(Err(error)),
                }
            }
        });
        Ok(up_to_error(deltas))
    }
}

/// What an event changes about the findings; `None` for one that changes no content.
async fn delta(
    engine: &Engine,
    open: &engine::OpenProgram,
    event: Event,
    scope: Option<&Named>,
) -> std::result::Result<Option<DiagnosticsDelta>, ApiError> {
    let entry = match event {
        Event::Entry(entry) if entry.kind.makes_state() || entry.kind.takes_target_state() => entry,
        Event::Entry(_) | Event::Refused { .. } | Event::Program { .. } => return Ok(None),
        Event::Gap { from, to } => {
            let message = format!("r{from} to r{to} are left out: read `diagnostics` of the program anew");
            return Err(ApiError::new(Code::CursorInvalid, message));
        }
    };
    let (before, after) = states(engine, open, &entry).await?;
    let mut delta = after.findings().since(before.findings());
    if let Some(scope) = scope {
        delta.added.retain(|found| scope.holds(&after, found));
        delta.resolved.retain(|found| scope.holds(&before, found));
    }
    let complete = after.findings().tally().is_complete();
    Ok(Some(DiagnosticsDelta { view: after, delta: Arc::new(delta), complete }))
}

/// Ends a stream after its first error: whoever resumes goes on from before it.
fn up_to_error<T>(
    items: impl Stream<Item = std::result::Result<T, ApiError>>,
) -> impl Stream<Item = Result<T>> {
    let mut failed = false;
    let items = items.take_while(move |item| {
        let goes_on = !failed;
        failed |= item.is_err();
        std::future::ready(goes_on)
    });
    items.map(|item| item.map_err(Into::into))
}

/// The states before and after an entry.
async fn states(
    engine: &Engine,
    open: &engine::OpenProgram,
    entry: &Arc<Entry>,
) -> std::result::Result<(View, View), ApiError> {
    let state = async |number: u64| {
        let revision = engine.state(open, number).await.map_err(fail)?;
        let revision = revision.ok_or_else(|| not_found("revision", &format!("r{number}")))?;
        Ok::<_, ApiError>(View::pinned(engine, open.clone(), revision))
    };
    let after = state(entry.number).await?;
    let before = match entry.parents.first() {
        Some(parent) => state(*parent).await?,
        None => after.clone(),
    };
    Ok((before, after))
}

/// An event as clients see it.
async fn shown(
    engine: &Engine,
    open: &engine::OpenProgram,
    event: Event,
) -> std::result::Result<ProgramEvent, ApiError> {
    use lmlang_history::log::RevisionKind as Kind;
    let told = |number, at, actor: Option<&lmlang_history::log::Actor>| Told {
        cursor: cursor(number),
        at,
        program_id: open.timeline.id().into(),
        actor: actor.map(Actor::from),
    };
    Ok(match event {
        Event::Entry(entry) => {
            let told = told(entry.number, moment(entry.time), Some(&entry.actor));
            let change = if entry.target.is_some() { ChangeKind::Added } else { ChangeKind::Removed };
            let name = entry.name.clone().unwrap_or_default();
            match entry.kind {
                Kind::Checkpoint => ProgramEvent::Checkpoint(CheckpointChanged { told, name, change }),
                Kind::Branch => ProgramEvent::Branch(BranchChanged { told, name, change }),
                Kind::Create
                | Kind::Edit
                | Kind::Undo
                | Kind::Redo
                | Kind::Revert
                | Kind::Restore
                | Kind::Merge
                | Kind::Import => {
                    let (before, view) = states(engine, open, &entry).await?;
                    ProgramEvent::Committed(RevisionCommitted { view, before, entry })
                }
            }
        }
        Event::Refused { last, actor, outcome, edits } => ProgramEvent::Refused(EditRefused {
            told: told(last, Utc::now(), Some(&actor)),
            outcome: ProposeEditOutcome::new(engine, open, (*outcome).clone()),
            edit_count: edits as i32,
        }),
        Event::Program { last, name, change } => ProgramEvent::Changed(ProgramChanged {
            told: told(last, Utc::now(), None),
            name,
            change: match change {
                engine::Change::Added => ChangeKind::Added,
                engine::Change::Removed => ChangeKind::Removed,
                engine::Change::Modified => ChangeKind::Modified,
                engine::Change::Renamed => ChangeKind::Renamed,
            },
        }),
        Event::Gap { from, to } => ProgramEvent::Gap(EventGap {
            told: told(to, Utc::now(), None),
            from: cursor(from),
            to: cursor(to),
        }),
    })
}

/// The most steps of one batch.
pub(crate) const MOST_EVENTS: usize = 10_000;

fn batching(given: Option<BatchInput>) -> std::result::Result<Batching, ApiError> {
    let given = given.unwrap_or(BatchInput { max_events: 256, max_latency_ms: 50 });
    let steps = usize::try_from(given.max_events).ok().filter(|steps| *steps > 0);
    let steps = steps.ok_or_else(|| ApiError::new(Code::BadRequest, "`maxEvents` must be positive"))?;
    if steps > MOST_EVENTS {
        return Err(ApiError::limit("maxEvents", MOST_EVENTS as u64, steps as u64));
    }
    let latency = u64::try_from(given.max_latency_ms)
        .map_err(|_| ApiError::new(Code::BadRequest, "`maxLatencyMs` must not be negative"))?;
    Ok(Batching { steps, latency: Duration::from_millis(latency.min(10_000)) })
}

fn trace_batch(simulation: &Simulation, batch: engine::Batch) -> Result<TraceBatch> {
    let view = simulation.view();
    let found = batch.report.as_ref().map(|report| &report.result.outcome);
    Ok(TraceBatch {
        simulation_id: GlobalId::Simulation(simulation.inner().id).to_string().into(),
        cursor: Count(batch.cursor),
        steps: Rows(batch.steps.iter().map(|step| trace_step(view, step)).collect()),
        skipped: Count(batch.skipped),
        status: found.map_or(SimulationStatus::Running, |found| engine::Status::of(found).into()),
        outcome: found.map(|found| outcome(view, found)).transpose()?,
    })
}
