//! Runs of flows.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, Json, Object, Result};
use chrono::{DateTime, Utc};
use lmlang_engine::{self as engine, Engine, InterruptFilter, RunCursor, RunInfo, RunsWanted, Selector};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::cursor::List;
use crate::schema::defaults::{Int, Or};
use crate::schema::failure::fail;
use crate::schema::flows::flow::Flow;
use crate::schema::flows::interrupt::Interrupt;
use crate::schema::flows::places::Places;
use crate::schema::flows::session::Session;
use crate::schema::flows::span::Span;
use crate::schema::flows::step::Step;
use crate::schema::flows::{run_id, session_id};
use crate::schema::ids::GlobalId;
use crate::schema::mutation::selector;
use crate::schema::program::Program;
use crate::schema::provenance::Actor;
use crate::schema::revision::moment;
use crate::schema::view::{View, nullable};

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum RunStatus {
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
    /// Another run does its work; no run of this version comes to that.
    Superseded,
}

impl From<engine::RunStatus> for RunStatus {
    fn from(status: engine::RunStatus) -> RunStatus {
        match status {
            engine::RunStatus::Running => RunStatus::Running,
            engine::RunStatus::Waiting => RunStatus::Waiting,
            engine::RunStatus::Completed => RunStatus::Completed,
            engine::RunStatus::Failed => RunStatus::Failed,
            engine::RunStatus::Cancelled => RunStatus::Cancelled,
        }
    }
}

impl RunStatus {
    /// The status as the engine knows it; none for one that no run comes to.
    fn known(self) -> Option<engine::RunStatus> {
        match self {
            RunStatus::Running => Some(engine::RunStatus::Running),
            RunStatus::Waiting => Some(engine::RunStatus::Waiting),
            RunStatus::Completed => Some(engine::RunStatus::Completed),
            RunStatus::Failed => Some(engine::RunStatus::Failed),
            RunStatus::Cancelled => Some(engine::RunStatus::Cancelled),
            RunStatus::Superseded => None,
        }
    }
}

/// One execution of a flow. It survives the process: every step is stored before anything follows from it.
#[derive(Clone)]
pub struct Run {
    engine: Engine,
    info: Arc<RunInfo>,
    /// Its journal is folded once, for whoever asks for what follows from it.
    machine: Arc<OnceCell<std::result::Result<Arc<lmlang_flow::Run>, ApiError>>>,
}

impl Direct for Run {}

impl Listed for Run {
    const CONNECTION: &'static str = "RunConnection";
    const EDGE: &'static str = "RunEdge";
}

/// The most questions of a run in one answer.
const MOST_INTERRUPTS: usize = 1_000;

impl Run {
    pub(crate) fn new(engine: &Engine, info: RunInfo) -> Run {
        Run { engine: engine.clone(), info: Arc::new(info), machine: Arc::default() }
    }

    pub(crate) async fn find(engine: &Engine, id: uuid::Uuid) -> std::result::Result<Run, ApiError> {
        Ok(Run::new(engine, engine.run_info(id).await.map_err(fail)?))
    }

    async fn machine(&self) -> std::result::Result<Arc<lmlang_flow::Run>, ApiError> {
        let fold = || async { self.engine.run_machine(&self.info).await.map(Arc::new).map_err(fail) };
        self.machine.get_or_init(fold).await.clone()
    }

    /// The words of a channel that lists some.
    async fn words(&self, channel: &str) -> std::result::Result<Vec<String>, ApiError> {
        let machine = self.machine().await?;
        let words = machine.state().get(channel).as_array().cloned().unwrap_or_default();
        Ok(words.iter().filter_map(Value::as_str).map(str::to_owned).collect())
    }

    async fn step_page(&self, page: &PageRequest) -> std::result::Result<Connection<Step>, ApiError> {
        let behind = page.after_number()?.unwrap_or(0);
        let found = self.engine.step_page(self.info.id, behind, page.first).await.map_err(fail)?;
        let item = |step: engine::StepInfo| (step.number, Step::new(&self.engine, &self.info, step));
        Ok(Connection::known(page, found.more, whole(found.total), found.items.into_iter().map(item)))
    }

    async fn span_page(&self, page: &PageRequest) -> std::result::Result<Connection<Span>, ApiError> {
        let behind = page.after_number()?.unwrap_or(0);
        let found = self.engine.span_page(&self.info, behind, page.first).await.map_err(fail)?;
        let item = |span: engine::Span| (span.number, Span::from(span));
        Ok(Connection::known(page, found.more, whole(found.total), found.items.into_iter().map(item)))
    }
}

/// One execution of a flow. It survives the process: every step is stored before anything follows from it.
#[Object]
impl Run {
    /// Global id.
    pub async fn id(&self) -> ID {
        GlobalId::Run(self.info.id).to_string().into()
    }

    /// Its flow, in the definition that it began with, or was moved to.
    async fn flow(&self) -> Flow {
        Flow::of(&self.engine, &self.info.flow)
    }

    /// Whether its flow has a newer version by now: it is not gone on with, forked or rewound before `moveRun`.
    async fn outdated(&self) -> bool {
        self.engine.is_outdated(&self.info)
    }

    /// The session that it belongs to.
    async fn session(&self) -> Session {
        Session::new(&self.engine, self.info.session.clone())
    }

    /// The run that waits for it; null: none does.
    async fn parent(&self) -> Option<Result<Run>> {
        let parent = self.info.parent?;
        nullable(Box::pin(Run::find(&self.engine, parent)).await)
    }

    /// How it stands.
    async fn status(&self) -> RunStatus {
        self.info.status.into()
    }

    /// The node at which it stands; null: it has ended. Of a run with several branches, that of the first one.
    async fn node(&self) -> Option<&str> {
        self.info.node.as_deref()
    }

    /// What it is going to do, in words, if its flow says so.
    async fn plan(&self) -> Option<Result<Vec<String>>> {
        nullable(self.words("plan").await)
    }

    /// What it has done, in words, if its flow says so.
    async fn progress(&self) -> Option<Result<Vec<String>>> {
        nullable(self.words("progress").await)
    }

    /// Why it cannot go on, or was stopped: `code`, `message`, `node`, `tool`; null otherwise.
    async fn error(&self) -> Option<Result<Json<Value>>> {
        match self.info.status {
            engine::RunStatus::Failed | engine::RunStatus::Cancelled => {}
            engine::RunStatus::Running | engine::RunStatus::Waiting | engine::RunStatus::Completed => {
                return None;
            }
        }
        let machine = match self.machine().await {
            Ok(machine) => machine,
            Err(error) => return nullable(Err(error)),
        };
        let error = match machine.failure() {
            Some((failure, node)) => json!({
                "code": failure.code, "message": failure.message, "node": node, "tool": failure.tool,
            }),
            None => {
                let why = machine.cancellation().and_then(|(_, why)| why);
                json!({ "code": "CANCELLED", "message": why, "node": null, "tool": null })
            }
        };
        Some(Ok(Json(error)))
    }

    /// Its steps, oldest first: nodes that came to their end, and attempts that did not.
    async fn steps(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<100>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Step>>> {
        nullable(match PageRequest::new(List::Steps, first, after) {
            Ok(page) => self.step_page(&page).await,
            Err(error) => Err(error),
        })
    }

    /// Its questions, whatever became of them, oldest first; the first thousand.
    async fn interrupts(&self) -> Option<Result<Vec<Interrupt>>> {
        let filter = InterruptFilter { run: Some(self.info.id), ..InterruptFilter::default() };
        let found = self.engine.interrupt_page(&filter, None, MOST_INTERRUPTS).await.map_err(fail);
        let shown = |info| Interrupt::new(&self.engine, info);
        nullable(found.map(|found| found.items.into_iter().map(shown).collect()))
    }

    /// Its trace, oldest first: the run, its nodes, and what they did outside.
    async fn trace(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<200>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Span>>> {
        nullable(match PageRequest::new(List::RunTrace, first, after) {
            Ok(page) => self.span_page(&page).await,
            Err(error) => Err(error),
        })
    }

    /// The program that it is about, at the branch that the run works on; null: none, or it was deleted.
    async fn program(&self) -> Option<Result<Program>> {
        let id = self.info.program?;
        let open = match self.engine.find(&Selector::Id(id)).await {
            Ok(open) => open,
            Err(engine::Error::NotFound { .. }) => return None,
            Err(error) => return nullable(Err(fail(error))),
        };
        // The branch of a run that has ended may be gone.
        let head = open.timeline.head();
        let at = self.info.branch.as_deref().filter(|branch| head.number_of(branch).is_some());
        nullable(View::find(&self.engine, &id.to_string(), at).await.map(Program::of))
    }

    /// Who decides where a model could: the provider of a model, or `rules` where none is asked.
    async fn provider(&self) -> Option<Result<String>> {
        let named = |run: Arc<lmlang_flow::Run>| run.state().get("provider").as_str().map(str::to_owned);
        nullable(self.machine().await.map(|run| named(run).unwrap_or_else(|| "rules".to_owned())))
    }

    /// What it was started with.
    async fn input(&self) -> Json<&Value> {
        Json(&self.info.input)
    }

    /// Who started it.
    async fn started_by(&self) -> Actor {
        Actor::from(&self.info.actor)
    }

    /// When it began.
    async fn created_at(&self) -> DateTime<Utc> {
        moment(self.info.made)
    }

    /// When it ended; null: it has not.
    async fn ended_at(&self) -> Option<DateTime<Utc>> {
        self.info.ended.map(moment)
    }

    /// When it ends by itself, as `FAILED` with the code `DEADLINE_EXCEEDED`, if it has not come to its end by then; or is stopped with
    /// a run that waits for it, which does. Null: it may take for ever.
    async fn deadline(&self) -> Option<DateTime<Utc>> {
        self.info.deadline.map(moment)
    }

    /// The run that this one was forked from, which may have been removed since; null: it began by itself.
    async fn forked_from(&self) -> Option<ID> {
        self.info.forked.map(|(from, _)| GlobalId::Run(from).to_string().into())
    }

    /// Where `runEvents(after:)` starts so that nothing is missed of what happens after this answer. Ask for it in a request
    /// before the rest.
    async fn cursor(&self) -> Option<Result<String>> {
        nullable(self.engine.run_cursor().await.map(|cursor| cursor.to_string()).map_err(fail))
    }
}

/// A count, as a list tells it.
pub(crate) fn whole(total: u64) -> usize {
    usize::try_from(total).unwrap_or(usize::MAX)
}

/// The run with an id.
pub(crate) async fn one(context: &Context<'_>, id: &str) -> std::result::Result<Run, ApiError> {
    Run::find(context.data_unchecked::<Engine>(), run_id(id)?).await
}

/// Which runs are listed.
#[derive(Default)]
pub(crate) struct Which {
    /// Those of a flow, by name.
    pub(crate) flow: Option<String>,
    /// Those that stand so.
    pub(crate) status: Option<RunStatus>,
    /// Those of a session.
    pub(crate) session: Option<ID>,
    /// Those about a program, by id or name.
    pub(crate) program: Option<ID>,
    /// Those that an actor of this name began.
    pub(crate) started_by: Option<String>,
}

/// A page of the runs, the newest first.
pub(crate) async fn page(
    engine: &Engine,
    page: PageRequest,
    which: Which,
) -> std::result::Result<Connection<Run>, ApiError> {
    let places = Places::of(engine).await?;
    let before = places.after_number(&page)?;
    if let Some(before) = before {
        page.among(before, engine.newest_run().await.map_err(fail)?)?;
    }
    let Which { flow, status, session, program, started_by } = which;
    let wanted = RunsWanted {
        flow,
        status: status.and_then(RunStatus::known),
        session: session.map(|session| session_id(&session)).transpose()?,
        program: program.map(|program| selector(&program)),
        by: started_by,
    };
    let filter = engine.run_filter(wanted).await.map_err(fail)?;
    if status.is_some_and(|status| status.known().is_none()) {
        return Ok(Connection::known(&page, false, 0, Vec::<(String, Run)>::new()));
    }
    let found = engine.run_page(&filter, before, page.first).await.map_err(fail)?;
    let item = |info: RunInfo| (places.write_number(info.key), Run::new(engine, info));
    Ok(Connection::known(&page, found.more, whole(found.total), found.items.into_iter().map(item)))
}

/// What a run carries.
pub(crate) async fn state(context: &Context<'_>, id: &str) -> std::result::Result<Json<Value>, ApiError> {
    let run = one(context, id).await?;
    let machine = run.machine().await?;
    Ok(Json(machine.state().public(machine.flow())))
}

/// A cursor of `runEvents`.
pub(crate) fn run_cursor(given: &str) -> std::result::Result<RunCursor, ApiError> {
    RunCursor::of_runs(given).map_err(fail)
}
