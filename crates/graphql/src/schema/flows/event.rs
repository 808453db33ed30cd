//! What listeners are told of runs.

use async_graphql::{Context, Enum, ID, Interface, Json, Object};
use chrono::{DateTime, Utc};
use futures_util::{Stream, StreamExt};
use lmlang_engine::{self as engine, Engine, RunTold, RunsOf};
use tokio_stream::wrappers::ReceiverStream;

use crate::error::{ApiError, Code};
use crate::schema::failure::fail;
use crate::schema::flows::run::run_cursor;
use crate::schema::flows::{run_id, session_id};
use crate::schema::ids::GlobalId;
use crate::schema::revision::moment;

/// What kind of event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "engine::RunEventKind")]
pub enum RunEventKind {
    /// The run began.
    Started,
    /// A node began; `data` is `{attempt}`. Not stored: who reads on from a cursor is not told of it.
    NodeStarted,
    /// A node came to its end, or gave up; `data` is `{step, branch, attempt, goto, ok: true}`, or `{step, branch, attempt, code,
    /// class, ok: false}` with the failure in `text`.
    NodeFinished,
    /// The state changed; `data` has the channels that did. Where something else about the run did, it is `{cancelledBy}`,
    /// `{rewoundTo, by}`, `{movedTo, by}`, `{deadlineMicros}`, the `{code}` of a run that is overdue, or `{branch, ok}` of a run that
    /// was waited for and has ended.
    StateUpdated,
    /// Words of a model, in `text`; where `data` is `{restarted: true}`, what it has said so far is taken back. Not stored: what it
    /// said comes again with its receipt.
    ModelDelta,
    /// Something outside was called; `text` is its name, `data` is `{kind, ok, code, startedAtMicros, notes}`.
    ToolCalled,
    /// Somebody is asked; `text` is the question, `data` is `{asked, type}`, with `expiresAtMicros` where it expires. `asked` stands
    /// behind the run in the id of the question.
    Interrupted,
    /// A question was answered, or has expired; `data` is `{asked, answer, by}`, or `{asked, expired: true}`.
    Answered,
    /// A node failed and is tried again; `text` says why it failed, `data` is as for `NODE_FINISHED`.
    Retried,
    /// A node failed and somebody is asked; `text` says why it failed, `data` is as for `NODE_FINISHED`.
    Escalated,
    /// The run ended; `data` is `{status}`.
    Finished,
    /// Events that are not stored were left out.
    Gap,
    /// The subscription has begun, and what comes from here on is whole. Only told where `kinds` names it.
    Listening,
}

/// Something that happened to a run.
#[derive(Clone, Interface)]
#[graphql(
    field(name = "cursor", ty = "String", desc = "Where to resume after this event."),
    field(name = "at", ty = "DateTime<Utc>", desc = "When."),
    field(name = "run_id", ty = "ID", desc = "The run."),
    field(name = "kind", ty = "RunEventKind", desc = "What kind of event it is.")
)]
pub enum RunEvent {
    /// Something that happened to a run.
    Update(RunUpdate),
}

/// Something that happened to a run.
#[derive(Clone)]
pub struct RunUpdate(RunTold);

/// Something that happened to a run.
#[Object]
impl RunUpdate {
    /// Where to resume after this event.
    pub async fn cursor(&self) -> String {
        self.0.cursor.to_string()
    }

    /// When.
    pub async fn at(&self) -> DateTime<Utc> {
        moment(self.0.at)
    }

    /// The run.
    pub async fn run_id(&self) -> ID {
        GlobalId::Run(self.0.run).to_string().into()
    }

    /// What kind of event it is.
    pub async fn kind(&self) -> RunEventKind {
        self.0.kind.into()
    }

    /// The node that it is about; null: none.
    async fn node(&self) -> Option<&str> {
        self.0.node.as_deref()
    }

    /// Words: of a model, of a question, of a failure; null: none.
    async fn text(&self) -> Option<&str> {
        self.0.text.as_deref()
    }

    /// More of it, as `RunEventKind` says of its kind; null: nothing.
    async fn data(&self) -> Option<Json<&serde_json::Value>> {
        Some(&self.0.data).filter(|data| !data.is_null()).map(Json)
    }
}

/// What happens to runs, from now on or after a cursor.
pub(crate) async fn events(
    context: &Context<'_>,
    run: Option<ID>,
    session: Option<ID>,
    after: Option<String>,
    kinds: Option<Vec<RunEventKind>>,
) -> std::result::Result<impl Stream<Item = std::result::Result<RunEvent, ApiError>> + use<>, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let of = match (run, session) {
        (Some(run), None) => RunsOf::Run(run_id(&run)?),
        (None, Some(session)) => RunsOf::Session(session_id(&session)?),
        (None, None) => RunsOf::All,
        (Some(_), Some(_)) => {
            return Err(ApiError::new(Code::BadRequest, "give one of `runId` and `sessionId`, or neither"));
        }
    };
    let after = match after.as_deref() {
        Some(after) => run_cursor(after)?,
        None => engine.run_cursor().await.map_err(fail)?,
    };
    let told = engine.run_events(&of, Some(after)).await.map_err(fail)?;
    let listening = kinds.as_ref().is_some_and(|kinds| kinds.contains(&RunEventKind::Listening));
    let first = listening.then(|| RunTold {
        cursor: after,
        run: uuid::Uuid::nil(),
        at: chrono::Utc::now().timestamp_micros(),
        kind: engine::RunEventKind::Listening,
        node: None,
        text: None,
        data: serde_json::Value::Null,
    });
    let first = futures_util::stream::iter(first.map(|told| Ok(RunEvent::Update(RunUpdate(told)))));
    let kinds: Option<Vec<engine::RunEventKind>> =
        kinds.map(|kinds| kinds.into_iter().map(Into::into).collect());
    let wanted = move |told: &std::result::Result<RunTold, engine::Error>| match told {
        Ok(told) => kinds.as_ref().is_none_or(|kinds| kinds.contains(&told.kind)),
        Err(_) => true,
    };
    let told = ReceiverStream::new(told).filter(move |told| std::future::ready(wanted(told)));
    Ok(first.chain(told.map(|told| told.map(|told| RunEvent::Update(RunUpdate(told))).map_err(fail))))
}
