//! Sessions: what runs belong together.

use std::sync::Arc;

use async_graphql::{Context, ID, Object, Result};
use chrono::{DateTime, Utc};
use lmlang_engine::{Engine, RunFilter, SessionInfo};
use uuid::Uuid;

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::cursor::{List, number};
use crate::schema::defaults::{Int, Or};
use crate::schema::failure::fail;
use crate::schema::flows::places::Places;
use crate::schema::flows::run::{self, Run, Which, whole};
use crate::schema::flows::span::Span;
use crate::schema::ids::GlobalId;
use crate::schema::provenance::Actor;
use crate::schema::revision::moment;
use crate::schema::scalars::Count;
use crate::schema::view::nullable;
use crate::transport::budget;

/// Runs that belong together, in one trace.
#[derive(Clone)]
pub struct Session {
    engine: Engine,
    info: Arc<SessionInfo>,
}

impl Direct for Session {}

impl Listed for Session {
    const CONNECTION: &'static str = "SessionConnection";
    const EDGE: &'static str = "SessionEdge";
}

impl Session {
    pub(crate) fn new(engine: &Engine, info: SessionInfo) -> Session {
        Session { engine: engine.clone(), info: Arc::new(info) }
    }

    pub(crate) async fn find(engine: &Engine, id: Uuid) -> std::result::Result<Session, ApiError> {
        Ok(Session::new(engine, engine.session_info(id).await.map_err(fail)?))
    }

    async fn summed_up(&self) -> std::result::Result<String, ApiError> {
        let Some(newest) = self.newest().await? else { return Ok("nothing has run yet".to_owned()) };
        let machine = self.engine.run_machine(&newest).await.map_err(fail)?;
        let progress = machine.state().get("progress").as_array().cloned().unwrap_or_default();
        let words: Vec<&str> = progress.iter().filter_map(serde_json::Value::as_str).collect();
        Ok(match words.is_empty() {
            true => format!("{:?}", newest.status).to_lowercase(),
            false => words.join(", "),
        })
    }

    async fn newest(&self) -> std::result::Result<Option<lmlang_engine::RunInfo>, ApiError> {
        let filter = RunFilter { session: Some(self.info.id), ..RunFilter::default() };
        Ok(self.engine.run_page(&filter, None, 1).await.map_err(fail)?.items.pop())
    }
}

impl Session {
    async fn span_page(&self, page: &PageRequest) -> std::result::Result<Connection<Span>, ApiError> {
        let places = Places::of(&self.engine).await?;
        let behind = page.after(|text| places.read(text, place))?.unwrap_or([0, 0]).into();
        let found = self.engine.session_span_page(self.info.id, behind, page.first).await.map_err(fail)?;
        let item = |(run, span): (u64, lmlang_engine::Span)| {
            let plain = format!("{run}.{}", span.number);
            (places.write(plain, [run, span.number]), Span::from(span))
        };
        Ok(Connection::known(page, found.more, whole(found.total), found.items.into_iter().map(item)))
    }
}

/// The run and the entry that a place names.
fn place(text: &str) -> Option<[u64; 2]> {
    let (run, entry) = text.split_once('.')?;
    Some([number(run)?, number(entry)?])
}

/// Runs that belong together, in one trace.
#[Object]
impl Session {
    /// Global id.
    pub async fn id(&self) -> ID {
        GlobalId::Session(self.info.id).to_string().into()
    }

    /// What it is about, in the words of whoever began it, for callers who may know of all its runs.
    async fn title(&self, context: &Context<'_>) -> Option<Result<&str>> {
        budget::words(context, self.info.title.as_deref())
    }

    /// The flow that its runs are of.
    async fn workflow(&self) -> &str {
        &self.info.workflow
    }

    /// Who began it.
    async fn started_by(&self) -> Actor {
        Actor::from(&self.info.actor)
    }

    /// When it began.
    async fn created_at(&self) -> DateTime<Utc> {
        moment(self.info.made)
    }

    /// How long a run of it may take, in milliseconds, if none is named for that run; null: for ever.
    async fn deadline_ms(&self) -> Option<Count> {
        let deadline = self.info.deadline?;
        Some(Count(u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX)))
    }

    /// When its newest run began or ended.
    async fn updated_at(&self) -> Option<Result<DateTime<Utc>>> {
        let of = |run: lmlang_engine::RunInfo| run.ended.unwrap_or(run.made);
        nullable(self.newest().await.map(|newest| moment(newest.map_or(self.info.made, of))))
    }

    /// Its runs, the newest first.
    async fn runs(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<50>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Run>>> {
        let session = Some(GlobalId::Session(self.info.id).to_string().into());
        nullable(match PageRequest::new(List::SessionRuns, first, after) {
            Ok(page) => run::page(&self.engine, page, Which { session, ..Which::default() }).await,
            Err(error) => Err(error),
        })
    }

    /// The traces of its runs, run by run, the oldest first: the run, its nodes, and what they did outside.
    async fn trace(
        &self,
        #[graphql(desc = "How many at most.", default)] first: Or<Int<200>>,
        #[graphql(desc = "Begins the page after this cursor, the `endCursor` of the page before.")]
        after: Option<String>,
    ) -> Option<Result<Connection<Span>>> {
        nullable(match PageRequest::new(List::SessionTrace, first, after) {
            Ok(page) => self.span_page(&page).await,
            Err(error) => Err(error),
        })
    }

    /// What its newest run has done so far, in a line.
    async fn summary(&self) -> Option<Result<String>> {
        nullable(self.summed_up().await)
    }
}

/// A page of the sessions, the newest first.
pub(crate) async fn page(
    context: &Context<'_>,
    page: PageRequest,
) -> std::result::Result<Connection<Session>, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let before = page.after_number()?;
    if let Some(before) = before {
        page.among(before, engine.newest_session().await.map_err(fail)?)?;
    }
    let found = engine.session_page(before, page.first).await.map_err(fail)?;
    let item = |info: SessionInfo| (info.key, Session::new(engine, info));
    Ok(Connection::known(&page, found.more, whole(found.total), found.items.into_iter().map(item)))
}
