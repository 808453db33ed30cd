//! Beginning runs and sessions, stopping runs, taking them back, going on from an earlier step, and as runs of another version.

use std::time::Duration;

use async_graphql::{Context, ID, InputObject, Json, SimpleObject};
use lmlang_engine::{self as engine, Engine, StartRun, StartSession};

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::call::{call, note};
use crate::schema::defaults::{No, Or};
use crate::schema::failure::fail;
use crate::schema::flows::flow::Flow;
use crate::schema::flows::run::Run;
use crate::schema::flows::session::Session;
use crate::schema::flows::{run_id, session_id};
use crate::schema::natural::natural;
use crate::schema::scalars::Count;

/// Begins a session.
#[derive(Clone, Debug, InputObject)]
pub struct CreateSessionInput {
    /// The flow that its runs are of, by name.
    workflow: String,
    /// What it is about: its first 1,000 characters are kept, and a longer one ends with `…`.
    title: Option<String>,
    /// How long a run of it may take, in milliseconds, if none is named for that run, as `StartRunInput.deadlineMs` says.
    deadline_ms: Option<Count>,
    /// Same key and input: the first answer.
    idempotency_key: Option<String>,
}

/// A session that was begun.
#[derive(Clone, SimpleObject)]
pub struct SessionPayload {
    /// The session.
    session: Option<Session>,
}

/// Begins a run.
#[derive(Clone, Debug, InputObject)]
pub struct StartRunInput {
    /// The flow, by name.
    flow: String,
    /// The session that it belongs to; without, it gets one of its own.
    session_id: Option<ID>,
    /// What it is started with, as `Flow.inputSchema` says.
    input: Json<serde_json::Value>,
    /// How long it may take, in milliseconds, whatever it waits for: then it has failed, with `DEADLINE_EXCEEDED`, and runs that
    /// it waits for are stopped. It counts anew when the run is taken back, and for a fork. At most `runDeadlineMs` of
    /// `serverInfo.limits`; without, what its session has, or for ever.
    deadline_ms: Option<Count>,
    /// Same key and input: the first answer.
    idempotency_key: Option<String>,
}

/// A run that was begun, stopped, taken back or forked.
#[derive(Clone, SimpleObject)]
pub struct RunPayload {
    /// The run.
    run: Option<Run>,
    /// What taking it back comes to; null of other requests.
    rewound: Option<Rewound>,
    /// What moving it comes to; null of other requests.
    moved: Option<Moved>,
}

/// What taking a run back comes to.
#[derive(Clone, Debug, SimpleObject)]
pub struct Rewound {
    /// Entries of its journal that do not count any more.
    superseded: i32,
    /// Revisions that were taken back, by branch, each with the revision that did it: `main by r14`; of a dry run, the branches
    /// alone.
    reverted: Vec<String>,
    /// What happened and stays: kind and name, `http POST /pipelines`.
    not_undone: Vec<String>,
}

impl Direct for Rewound {}

/// What moving a run comes to.
#[derive(Clone, SimpleObject)]
pub struct Moved {
    /// What it was a run of.
    from: Flow,
    /// What its flow is by now: the same if nothing was to be done.
    to: Flow,
    /// What keeps it from going on as one of that; of a dry run: another one is refused.
    hindrances: Vec<String>,
}

/// Stops a run.
#[derive(Clone, Debug, InputObject)]
pub struct CancelRunInput {
    /// The run.
    run_id: ID,
    /// Why, for the record.
    reason: Option<String>,
    /// Has no effect: a run that has ended stays as it is.
    idempotency_key: Option<String>,
}

/// Begins a run that goes on from an earlier step of another one.
#[derive(Clone, Debug, InputObject)]
pub struct ForkRunInput {
    /// The run.
    run_id: ID,
    /// The step, by `Step.index`: the new run is the same up to its end. What it would ask about a program it asks anew, about
    /// its own branch.
    at_step: i32,
    /// Same key and input: the first answer.
    idempotency_key: Option<String>,
}

/// Takes a run back to an earlier step.
#[derive(Clone, Debug, InputObject)]
pub struct RewindRunInput {
    /// The run.
    run_id: ID,
    /// The step, by `Step.index`: what came after it does not count any more.
    to_step: i32,
    /// Whether to tell what it would come to, and change nothing.
    #[graphql(default)]
    dry_run: Or<No>,
    /// Same key and input: it is taken back once.
    idempotency_key: Option<String>,
}

/// Has a run go on as one of the newer version that its flow has by now.
#[derive(Clone, Debug, InputObject)]
pub struct MoveRunInput {
    /// The run.
    run_id: ID,
    /// Whether to tell what it would come to, and change nothing.
    #[graphql(default)]
    dry_run: Or<No>,
    /// Has no effect: one that was moved stays as it is.
    idempotency_key: Option<String>,
}

impl RunPayload {
    fn of(engine: &Engine, info: engine::RunInfo) -> RunPayload {
        RunPayload { run: Some(Run::new(engine, info)), rewound: None, moved: None }
    }
}

pub(crate) async fn create_session(
    context: &Context<'_>,
    input: CreateSessionInput,
) -> Result<SessionPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    note("title", input.title.as_deref())?;
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let deadline = input.deadline_ms.map(millis);
    let start = StartSession { workflow: input.workflow, title: input.title, deadline };
    let info = engine.start_session(&start, &call).await.map_err(fail)?;
    Ok(SessionPayload { session: Some(Session::new(engine, info)) })
}

pub(crate) async fn start(context: &Context<'_>, input: StartRunInput) -> Result<RunPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let session = input.session_id.as_ref().map(|id| session_id(id)).transpose()?;
    let deadline = input.deadline_ms.map(millis);
    let start = StartRun { flow: input.flow, session, input: input.input.0, deadline };
    Ok(RunPayload::of(engine, engine.start_run(&start, &call).await.map_err(fail)?))
}

pub(crate) async fn cancel(context: &Context<'_>, input: CancelRunInput) -> Result<RunPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    note("reason", input.reason.as_deref())?;
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let run = run_id(&input.run_id)?;
    Ok(RunPayload::of(engine, engine.cancel_run(run, input.reason, &call).await.map_err(fail)?))
}

pub(crate) async fn fork(context: &Context<'_>, input: ForkRunInput) -> Result<RunPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let (run, at) = (run_id(&input.run_id)?, natural("atStep", input.at_step)?);
    Ok(RunPayload::of(engine, engine.fork_run(run, at, &call).await.map_err(fail)?))
}

pub(crate) async fn rewind(context: &Context<'_>, input: RewindRunInput) -> Result<RunPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let (run, to) = (run_id(&input.run_id)?, natural("toStep", input.to_step)?);
    let (info, rewound) = engine.rewind_run(run, to, input.dry_run.0, &call).await.map_err(fail)?;
    let reverted = rewound.reverted.into_iter().map(|(_, branch, number)| match number {
        0 => branch,
        number => format!("{branch} by r{number}"),
    });
    let rewound = Rewound {
        superseded: i32::try_from(rewound.superseded).unwrap_or(i32::MAX),
        reverted: reverted.collect(),
        not_undone: rewound.not_undone.into_iter().map(|(kind, name)| format!("{kind} {name}")).collect(),
    };
    Ok(RunPayload { rewound: Some(rewound), ..RunPayload::of(engine, info) })
}

pub(crate) async fn move_run(context: &Context<'_>, input: MoveRunInput) -> Result<RunPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let run = run_id(&input.run_id)?;
    let (info, moved) = engine.move_run(run, input.dry_run.0, &call).await.map_err(fail)?;
    let engine::Moved { from, to, hindrances } = moved;
    let moved = Moved { from: Flow::of(engine, &from), to: Flow::of(engine, &to), hindrances };
    Ok(RunPayload { moved: Some(moved), ..RunPayload::of(engine, info) })
}

/// So many milliseconds.
pub(super) fn millis(given: Count) -> Duration {
    Duration::from_millis(given.0)
}
