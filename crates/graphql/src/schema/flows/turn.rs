//! Turns of a conversation.

use async_graphql::{Context, ID, InputObject, Json, SimpleObject};
use lmlang_engine::{Engine, RunStatus, Turn};
use serde_json::Value;

use crate::error::ApiError;
use crate::schema::call::call;
use crate::schema::failure::fail;
use crate::schema::flows::interrupt::Interrupt;
use crate::schema::flows::run::Run;
use crate::schema::flows::session::Session;
use crate::schema::flows::steering::millis;
use crate::schema::flows::{interrupt_id, session_id};
use crate::schema::scalars::Count;

/// The flow of a session that is begun by a turn.
const WORKFLOW: &str = "act";

/// Something that is said in a session. If the session asks something, it is the answer; otherwise `text` begins its next run.
#[derive(Clone, Debug, InputObject)]
pub struct TurnInput {
    /// The session; without, a new one is begun. The server makes its id: one that it does not know is refused.
    session_id: Option<ID>,
    /// The flow, by name: of a session that is begun, `act` without it; one that the session is not of is refused.
    workflow: Option<String>,
    /// Words: a task, or the answer to a question. Where yes or no is expected, they are feedback.
    text: Option<String>,
    /// What a run that begins is started with besides the words, as `Flow.inputSchema` says: an object.
    options: Option<Json<serde_json::Map<String, Value>>>,
    /// How long a run that begins may take, as `StartRunInput.deadlineMs` says.
    deadline_ms: Option<Count>,
    /// How long runs of the session that is begun may take, as `CreateSessionInput.deadlineMs` says.
    session_deadline_ms: Option<Count>,
    /// What is to be different, where somebody is asked whether to go on.
    feedback: Option<String>,
    /// Whether to go on.
    confirm: Option<bool>,
    /// One of the choices of the question.
    choice: Option<String>,
    /// The question that is answered; the oldest open one of the session without it.
    interrupt_id: Option<ID>,
    /// Same key and input: the turn is taken once.
    idempotency_key: Option<String>,
}

/// What a turn came to: the run has ended, or asks, or goes on after 20 seconds.
#[derive(Clone, SimpleObject)]
pub struct TurnPayload {
    /// The session.
    session: Session,
    /// Its run.
    run: Run,
    /// What is asked now.
    interrupt: Option<Interrupt>,
    /// Whether the run has ended.
    done: bool,
    /// What the flow shows of its state: an object.
    view: Json<Value>,
}

pub(crate) async fn take(context: &Context<'_>, input: TurnInput) -> Result<TurnPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let session = input.session_id.as_ref().map(|id| session_id(id)).transpose()?;
    let interrupt = input.interrupt_id.as_ref().map(|id| interrupt_id(id)).transpose()?;
    let turn = Turn {
        session,
        workflow: input.workflow.or_else(|| session.is_none().then(|| WORKFLOW.to_owned())),
        text: input.text,
        options: input.options.map(|options| options.0).unwrap_or_default(),
        deadline: input.deadline_ms.map(millis),
        session_deadline: input.session_deadline_ms.map(millis),
        feedback: input.feedback,
        confirm: input.confirm,
        choice: input.choice,
        interrupt,
    };
    let turned = engine.take_turn(&turn, &call).await.map_err(fail)?;
    let done = !matches!(turned.run.status, RunStatus::Running | RunStatus::Waiting);
    Ok(TurnPayload {
        session: Session::new(engine, turned.session),
        run: Run::new(engine, turned.run),
        interrupt: turned.interrupt.map(|info| Interrupt::new(engine, info)),
        done,
        view: Json(turned.view),
    })
}
