//! The root of subscriptions: each starts without a gap after its cursor and resumes from the last one seen.

use async_graphql::{Context, ID, Result, Subscription as Root};
use futures_util::{Stream, StreamExt};
use lmlang_engine::{self as engine, Cursor, Engine, OpenProgram};
use lmlang_history::log::RevisionKind;
use lmlang_history::revision::MAIN;

use crate::direct::{Planned, planned};
use crate::error::{ApiError, Code};
use crate::schema::checking::{self, CheckContractsInput, ContractAttempt};
use crate::schema::defaults::{Main, Or, Zero};
use crate::schema::diagnostics_delta::{DiagnosticsDelta, delta};
use crate::schema::event_filter::EventFilter;
use crate::schema::failure::fail;
use crate::schema::flows;
use crate::schema::flows::event::{RunEvent, RunEventKind};
use crate::schema::ids::GlobalId;
use crate::schema::interactive::StartSimulationInput;
use crate::schema::mutation::selector;
use crate::schema::named::Named;
use crate::schema::program_event::{Asked, ProgramEvent, shown};
use crate::schema::simulation::Simulation;
use crate::schema::tournament::{self, CandidateResult};
use crate::schema::trace_batch::{BatchInput, TraceBatch, Wanted};
use crate::schema::view::{View, not_found};
use crate::transport::budget;

/// What happens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subscription;

/// What happens. Each subscription starts without a gap after its cursor and resumes from the last one seen.
#[Root]
impl Subscription {
    /// What happens to a program, from now on or after a cursor; without `programId`, what happens to all programs, in
    /// the order in which it was stored and also after they were deleted. With `branch`, revisions of that branch only,
    /// and what is no revision. The two have cursors of their own: see
    /// `Program.eventCursor` and `Query.eventCursor`.
    async fn program_events(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The program, by id or name; without it, all of them.")] program_id: Option<ID>,
        #[graphql(desc = "Only what happens on this branch; needs `programId`.")] branch: Option<String>,
        #[graphql(desc = "Goes on after this cursor, that of the last event; without it, from now on.")]
        after: Option<String>,
        #[graphql(desc = "Only what this lets through.")] filter: Option<EventFilter>,
    ) -> Result<impl Stream<Item = Result<Planned<ProgramEvent>>>> {
        let engine = context.data_unchecked::<Engine>().clone();
        let mut filter = filter.unwrap_or_default();
        // What is waited for once stands apart: a subscription holds room for all that its beginning waits for, to its end.
        let (open, events) = match program_id {
            Some(program_id) => {
                let after = after.as_deref().map(Cursor::of_program).transpose().map_err(fail)?;
                let open = Box::pin(engine.find(&selector(&program_id))).await.map_err(fail)?;
                if let Some(name) = &branch {
                    filter.branch = Some(Box::pin(branch_named(&engine, &open, name)).await?);
                }
                if let Some(functions) = &mut filter.functions {
                    let view = View::find(&engine, &program_id, branch.as_deref().or(Some(MAIN))).await?;
                    let named = Named::functions(&view, functions)?;
                    *functions = named.iter().map(ToString::to_string).collect();
                }
                let events = engine.events(&open, after).await.map_err(fail)?;
                (Some(open), events)
            }
            None if filter.functions.is_some() || branch.is_some() => {
                let needs = if branch.is_some() { "branch" } else { "functions" };
                return Err(ApiError::new(Code::BadRequest, format!("`{needs}` needs `programId`")).into());
            }
            None => {
                let after = after.as_deref().map(Cursor::of_all).transpose().map_err(fail)?;
                (None, Box::pin(engine.all_events(after)).await.map_err(fail)?)
            }
        };
        let asked = Asked::in_selection(context);
        let events = events.filter_map(move |told| {
            let wanted = told.as_ref().map_or(true, |told| filter.passes(&told.event));
            let (engine, open) = (engine.clone(), open.clone());
            async move {
                match told.map_err(fail) {
                    Ok(told) if wanted => Some(shown(&engine, open.as_ref(), asked, told).await),
                    Ok(_) => None,
                    Err(error) => Some(Err(error)),
                }
            }
        });
        Ok(planned(context, up_to_error(events)))
    }

    /// Runs a function while subscribed and streams its trace, then completes. When the program is deleted meanwhile, that
    /// ends with `NOT_FOUND`, and so does `simulation` of such a run.
    async fn simulate(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The function, its arguments, and within which bounds it runs.")]
        input: StartSimulationInput,
        #[graphql(desc = "How many steps come together, and how long they may wait for others.")]
        batch: Option<BatchInput>,
    ) -> Result<impl Stream<Item = Result<Planned<TraceBatch>>>> {
        let engine = context.data_unchecked::<Engine>();
        if input.pause_at_start.0 || input.breakpoints.is_some_and(|breakpoints| !breakpoints.is_empty()) {
            let message = "a stream does not stop: `startSimulation` takes breakpoints and `pauseAtStart`";
            return Err(ApiError::new(Code::BadRequest, message).into());
        }
        let view = View::find(engine, &input.program_id, input.at.as_deref()).await?;
        let function = view.function_named(&input.function)?;
        let request = input.run.request(&view, function)?;
        let wanted = Wanted::new(batch)?;
        let started = engine.stream(view.open(), view.revision(), request, wanted.batching()).await;
        let (simulation, batches) = started.map_err(fail)?;
        let simulation = Simulation::new(engine, simulation);
        Ok(planned(context, wanted.printed(simulation, batches, budget::most_text(context))))
    }

    /// Looks for inputs that break functions, as `checkContracts` does, while subscribed: says every so often how far it has come,
    /// and of each function how the search ended, then completes.
    async fn contract_attempts(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The functions, and how long they are searched.")] input: CheckContractsInput,
    ) -> Result<impl Stream<Item = Result<ContractAttempt>>> {
        Ok(checking::attempts(context, input).await?)
    }

    /// The candidates of a tournament as `proposeMany` comes to an end with each, then all once more by rank; then it completes.
    /// May be asked for together with it: it waits two seconds for the tournament to begin.
    async fn tournament(
        &self,
        context: &Context<'_>,
        #[graphql(
            desc = "Its `tournamentId`, or the `idempotencyKey` under which the same caller began it."
        )]
        id: ID,
        #[graphql(desc = "Goes on after this many rows.")] after: Option<String>,
    ) -> Result<impl Stream<Item = Result<CandidateResult>>> {
        Ok(tournament::rows(context, &id, after).await?)
    }

    /// What happens to runs of flows, from now on or after a cursor, in the order in which it was stored; without an id, to all
    /// that the caller may know of. What is not stored (a node that begins, words of a model) comes between, with the cursor of
    /// what was stored before it.
    async fn run_events(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Only of this run.")] run_id: Option<ID>,
        #[graphql(desc = "Only of the runs of this session.")] session_id: Option<ID>,
        #[graphql(desc = "Goes on after this cursor, that of the last event; without it, from now on.")]
        after: Option<String>,
        #[graphql(desc = "Only events of these kinds.")] kinds: Option<Vec<RunEventKind>>,
    ) -> Result<impl Stream<Item = Result<RunEvent>>> {
        Ok(up_to_error(flows::event::events(context, run_id, session_id, after, kinds).await?))
    }

    /// Streams the trace of a simulation that was streamed before, from a step on, then completes. One that was left
    /// before its end goes on. Of an interactive simulation it streams the steps each time that it is moved forward, as far as
    /// `traceBytes` allow, and says where it stands each time; it completes when that is cancelled.
    async fn simulation(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Its id, as `simulate` tells it.")] id: ID,
        #[graphql(desc = "Goes on after this many steps, the `cursor` of the last batch.", default)]
        after: Or<Zero>,
        #[graphql(desc = "How many steps come together, and how long they may wait for others.")]
        batch: Option<BatchInput>,
    ) -> Result<impl Stream<Item = Result<Planned<TraceBatch>>>> {
        let engine = context.data_unchecked::<Engine>();
        let Ok(GlobalId::Simulation(uuid)) = id.parse() else {
            return Err(not_found("simulation", &id).into());
        };
        let simulation = Simulation::find(engine, uuid).await?;
        let wanted = Wanted::new(batch)?;
        let (inner, batching) = (simulation.inner(), wanted.batching());
        let batches = match engine.interactive_state(inner) {
            Some(_) => engine.watch_interactive(inner, after.0.0, batching),
            None => engine.stream_again(inner, after.0.0, batching).await.map_err(fail)?,
        };
        Ok(planned(context, wanted.printed(simulation, batches, budget::most_text(context))))
    }

    /// What each revision changes about the findings, from now on or after a cursor; completes when the branch is deleted.
    async fn diagnostics(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "The program, by id or name.")] program_id: ID,
        #[graphql(desc = "The branch.", default)] branch: Or<Main>,
        #[graphql(desc = "Goes on after this cursor, that of the last event; without it, from now on.")]
        after: Option<String>,
        #[graphql(desc = "Only findings in these functions and modules, by ref or path.")] scope: Option<
            Vec<String>,
        >,
    ) -> Result<impl Stream<Item = Result<DiagnosticsDelta>>> {
        let engine = context.data_unchecked::<Engine>().clone();
        let open = engine.find(&selector(&program_id)).await.map_err(fail)?;
        let after = after.as_deref().map(Cursor::of_program).transpose().map_err(fail)?;
        let number = Box::pin(branch_named(&engine, &open, &branch.0)).await?;
        let scope = match scope {
            Some(given) => {
                let view = View::find(&engine, &program_id, Some(&branch.0)).await?;
                Some(Named::all(&view, &given)?)
            }
            None => None,
        };
        let events = engine.events(&open, after).await.map_err(fail)?;
        let events = events.take_while(move |told| std::future::ready(!ends_branch(told, number)));
        let deltas = events.filter_map(move |told| {
            let (engine, open, scope) = (engine.clone(), open.clone(), scope.clone());
            async move {
                match told.map_err(fail) {
                    Ok(told) => delta(&engine, &open, number, told.event, scope.as_ref()).await.transpose(),
                    Err(error) => Some(Err(error)),
                }
            }
        });
        Ok(up_to_error(deltas))
    }
}

/// The number of the branch with a name.
async fn branch_named(engine: &Engine, open: &OpenProgram, name: &str) -> std::result::Result<u32, ApiError> {
    engine.hear_of(open, name).await.map_err(fail)?;
    let head = open.timeline.head();
    head.number_of(name).ok_or_else(|| fail(engine::no_branch(&head, name)))
}

/// Whether an event is the end of a branch.
fn ends_branch(told: &std::result::Result<engine::Told, engine::Error>, branch: u32) -> bool {
    let Ok(engine::Told { event: engine::Event::Entry(entry), .. }) = told else { return false };
    entry.kind == RevisionKind::Branch && entry.branch == branch && entry.target.is_none()
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
