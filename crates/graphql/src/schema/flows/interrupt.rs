//! Questions of runs, and answers to them.

use std::sync::Arc;

use async_graphql::{Context, Enum, ID, InputObject, Json, Object, Result, SimpleObject, Union};
use chrono::{DateTime, Utc};
use lmlang_engine::flows::answering::kind_of_actor;
use lmlang_engine::{
    self as engine, Answer, Engine, InterruptFilter, InterruptInfo, InterruptStanding, MergeRequest, Selector,
};
use lmlang_flow::{self as flow, Subject};
use lmlang_history::log;
use serde_json::Value;
use uuid::Uuid;

use crate::direct::Direct;
use crate::error::{ApiError, Code};
use crate::schema::call::{call, note};
use crate::schema::connection::{Connection, Listed, PageRequest};
use crate::schema::diff::ProgramDiff;
use crate::schema::failure::fail;
use crate::schema::flows::interrupt_id;
use crate::schema::flows::places::Places;
use crate::schema::flows::run::{Run, whole};
use crate::schema::ids::GlobalId;
use crate::schema::provenance::Actor;
use crate::schema::revision::{Revision, moment};
use crate::schema::view::{View, not_found, nullable};

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum InterruptStatus {
    /// Nobody has answered yet.
    Open,
    /// It was answered.
    Answered,
    /// Nobody has answered in time.
    Expired,
    /// Its run does not wait for it any more.
    Cancelled,
}

impl From<InterruptStanding> for InterruptStatus {
    fn from(standing: InterruptStanding) -> InterruptStatus {
        match standing {
            InterruptStanding::Open => InterruptStatus::Open,
            InterruptStanding::Answered => InterruptStatus::Answered,
            InterruptStanding::Expired => InterruptStatus::Expired,
            InterruptStanding::Cancelled => InterruptStatus::Cancelled,
        }
    }
}

impl From<InterruptStatus> for InterruptStanding {
    fn from(status: InterruptStatus) -> InterruptStanding {
        match status {
            InterruptStatus::Open => InterruptStanding::Open,
            InterruptStatus::Answered => InterruptStanding::Answered,
            InterruptStatus::Expired => InterruptStanding::Expired,
            InterruptStatus::Cancelled => InterruptStanding::Cancelled,
        }
    }
}

/// A question of a run to whoever supervises it.
#[derive(Clone)]
pub struct Interrupt {
    engine: Engine,
    info: Arc<InterruptInfo>,
}

impl Direct for Interrupt {}

impl Listed for Interrupt {
    const CONNECTION: &'static str = "InterruptConnection";
    const EDGE: &'static str = "InterruptEdge";
}

/// An answer that was taken.
#[derive(Clone, SimpleObject)]
pub struct Decision {
    /// Who answered.
    actor: Actor,
    /// What was answered, in the form that `Interrupt.type` says.
    answer: Json<Value>,
    /// BLAKE3 of the answer as JSON, in hexadecimal digits.
    arguments_digest: String,
    /// Why, in their words.
    reason: Option<String>,
    /// When.
    at: DateTime<Utc>,
}

impl From<&flow::Decision> for Decision {
    fn from(decision: &flow::Decision) -> Decision {
        let actor =
            log::Actor { name: decision.by.clone(), kind: kind_of_actor(&decision.kind), client: None };
        Decision {
            actor: Actor::from(&actor),
            answer: Json(decision.answer.clone()),
            arguments_digest: decision.digest(),
            reason: decision.reason.clone(),
            at: moment(decision.at),
        }
    }
}

impl Interrupt {
    pub(crate) fn new(engine: &Engine, info: InterruptInfo) -> Interrupt {
        Interrupt { engine: engine.clone(), info: Arc::new(info) }
    }

    pub(crate) async fn find(
        engine: &Engine,
        run: Uuid,
        asked: u64,
    ) -> std::result::Result<Interrupt, ApiError> {
        Ok(Interrupt::new(engine, engine.interrupt_info(run, asked).await.map_err(fail)?))
    }

    /// The program that the question is about, if it still is there.
    async fn view(&self, subject: &Subject) -> std::result::Result<Option<View>, ApiError> {
        match self.engine.find(&Selector::Id(Uuid::from_bytes(subject.program))).await {
            Ok(open) => Ok(Some(View::head(&self.engine, open))),
            Err(engine::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(fail(error)),
        }
    }

    async fn revision(&self, number: u64, view: &View) -> std::result::Result<Revision, ApiError> {
        // Another process may have made it a moment ago.
        self.engine.come_to(view.open(), number).await.map_err(fail)?;
        let entry = self.engine.header(view.open(), number).await.map_err(fail)?;
        Ok(Revision::new(view, entry.ok_or_else(|| not_found("revision", &format!("r{number}")))?))
    }

    async fn found_base(&self) -> std::result::Result<Option<Revision>, ApiError> {
        let Some(subject) = &self.info.ask.subject else { return Ok(None) };
        let Some(view) = self.view(subject).await? else { return Ok(None) };
        self.revision(subject.base, &view).await.map(Some)
    }

    async fn found_head(&self) -> std::result::Result<Option<Revision>, ApiError> {
        let Some(subject) = &self.info.ask.subject else { return Ok(None) };
        let Some(view) = self.view(subject).await? else { return Ok(None) };
        let head = view.open().timeline.head();
        if head.number_of(&subject.into).is_none() {
            return Ok(None);
        }
        let tip = self.engine.tip(view.open(), &head, &subject.into).await.map_err(fail)?;
        self.revision(tip.revision.entry.number, &view).await.map(Some)
    }

    async fn found_diff(&self) -> std::result::Result<Option<ProgramDiff>, ApiError> {
        let Some(subject) = &self.info.ask.subject else { return Ok(None) };
        if self.info.standing != InterruptStanding::Open {
            return Ok(None);
        }
        let Some(view) = self.view(subject).await? else { return Ok(None) };
        let open = view.open();
        if open.timeline.head().number_of(&subject.into).is_none() {
            return Ok(None);
        }
        let request = MergeRequest {
            from: format!("r{}", subject.proposed),
            into: subject.into.clone(),
            resolutions: Vec::new(),
            expected_head: None,
            dry_run: true,
        };
        let by = log::Actor { name: "anonymous".to_owned(), kind: log::ActorKind::Tool, client: None };
        let preview = self.engine.merge_preview(open, &request, &engine::Call::by(by)).await.map_err(fail)?;
        let before = View::pinned(&self.engine, open.clone(), preview.before);
        let after = View::dry(&self.engine, open.clone(), Uuid::nil(), preview.after);
        Ok(Some(ProgramDiff::new(before, after).await))
    }
}

/// A question of a run to whoever supervises it. It is answered once.
#[Object]
impl Interrupt {
    /// Global id.
    pub async fn id(&self) -> ID {
        GlobalId::Interrupt(self.info.run, self.info.asked).to_string().into()
    }

    /// The run that asks.
    async fn run_id(&self) -> ID {
        GlobalId::Run(self.info.run).to_string().into()
    }

    /// The run that asks.
    async fn run(&self) -> Option<Result<Run>> {
        nullable(Box::pin(Run::find(&self.engine, self.info.run)).await)
    }

    /// The node that asks.
    async fn node(&self) -> &str {
        &self.info.node
    }

    /// What is wanted. `need_confirm`: `{confirm: true}`, or `{confirm: false, feedback: ".."}`. `need_clarification`:
    /// `{text: ".."}`. `need_choice`, and `escalation` when a node has failed for good: `{choice: ".."}`, one of `choices`.
    #[graphql(name = "type")]
    async fn kind(&self) -> &str {
        self.info.ask.kind.name()
    }

    /// The question.
    async fn question(&self) -> &str {
        &self.info.ask.question
    }

    /// What may be chosen, as a list of texts; null: it is no choice.
    async fn choices(&self) -> Option<Json<&Vec<String>>> {
        Some(&self.info.ask.choices).filter(|choices| !choices.is_empty()).map(Json)
    }

    /// What became of it.
    async fn status(&self) -> InterruptStatus {
        self.info.standing.into()
    }

    /// Whether somebody else has to answer than who started the run.
    async fn for_others(&self) -> bool {
        self.info.ask.subject.as_ref().is_some_and(|subject| subject.others)
    }

    /// The node at which the run goes on when nobody has answered in time; null: the run fails then, with the code
    /// `INTERRUPT_EXPIRED`, or the question does not expire before the run.
    async fn on_expiry(&self) -> Option<&str> {
        self.info.ask.otherwise.as_deref()
    }

    /// When it was asked.
    async fn asked_at(&self) -> DateTime<Utc> {
        moment(self.info.time)
    }

    /// Until when it may be answered: what its flow gives it, or the `deadline` of its run if that comes before. Null: for
    /// ever.
    async fn expires_at(&self) -> Option<DateTime<Utc>> {
        self.info.expires.map(moment)
    }

    /// The revision that was the newest of the branch to be changed when the question was asked; null: it is about no
    /// program, or that was deleted.
    async fn base(&self) -> Option<Result<Revision>> {
        self.found_base().await.map_err(Into::into).transpose()
    }

    /// The revision that is the newest of that branch now: another one than `base` tells that others have changed the program
    /// since.
    async fn head(&self) -> Option<Result<Revision>> {
        self.found_head().await.map_err(Into::into).transpose()
    }

    /// What agreeing would change now; null: it is not open, or about no program.
    async fn diff(&self) -> Option<Result<ProgramDiff>> {
        self.found_diff().await.map_err(Into::into).transpose()
    }

    /// How it was answered; null: it was not.
    async fn decision(&self) -> Option<Decision> {
        self.info.decision.as_ref().map(Decision::from)
    }
}

/// An answer to a question.
#[derive(Clone, Debug, InputObject)]
pub struct AnswerInterruptInput {
    /// The question, by its id.
    interrupt_id: ID,
    /// The answer, in the form that `Interrupt.type` says.
    answer: Json<Value>,
    /// Why, for the record.
    reason: Option<String>,
    /// Same key and input: the first answer.
    idempotency_key: Option<String>,
}

/// What became of an answer.
#[derive(Clone, Union)]
pub enum AnswerOutcome {
    /// It was taken.
    Answered(Answered),
    /// Somebody has answered before.
    Already(AlreadyAnswered),
    /// The question does not stand any more.
    Stale(StaleInterrupt),
}

/// The answer was taken, and the run goes on.
#[derive(Clone, SimpleObject)]
pub struct Answered {
    /// The run.
    run: Run,
    /// What was recorded.
    decision: Decision,
}

/// Somebody has answered before; nothing has changed.
#[derive(Clone, SimpleObject)]
pub struct AlreadyAnswered {
    /// What was decided then, which holds.
    decision: Decision,
}

/// The question does not stand any more; nothing has changed.
#[derive(Clone, Debug, SimpleObject)]
pub struct StaleInterrupt {
    /// Why.
    reason: String,
}

/// What became of an answer.
#[derive(Clone, SimpleObject)]
pub struct AnswerPayload {
    /// Taken, too late, or not wanted any more.
    outcome: AnswerOutcome,
}

/// A page of the questions, the oldest first.
pub(crate) async fn page(
    context: &Context<'_>,
    status: InterruptStatus,
    page: PageRequest,
) -> std::result::Result<Connection<Interrupt>, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let places = Places::of(engine).await?;
    let after = places.after_number(&page)?;
    let filter = InterruptFilter { standing: Some(status.into()), ..InterruptFilter::default() };
    let found = engine.interrupt_page(&filter, after, page.first).await.map_err(fail)?;
    let item = |info: InterruptInfo| (places.write_number(info.key), Interrupt::new(engine, info));
    Ok(Connection::known(&page, found.more, whole(found.total), found.items.into_iter().map(item)))
}

/// Answers a question.
pub(crate) async fn answer(
    context: &Context<'_>,
    input: AnswerInterruptInput,
) -> std::result::Result<AnswerPayload, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    note("reason", input.reason.as_deref())?;
    let call = call(context, None, input.idempotency_key.as_deref(), &input)?;
    let (run, asked) = interrupt_id(&input.interrupt_id)?;
    let given = Answer { run, asked, answer: input.answer.0, reason: input.reason };
    let outcome = match engine.answer_interrupt(&given, &call).await.map_err(fail)? {
        engine::AnswerOutcome::Taken(decision) => AnswerOutcome::Answered(Answered {
            run: Run::find(engine, run).await?,
            decision: Decision::from(&decision),
        }),
        engine::AnswerOutcome::Already(decision) => {
            AnswerOutcome::Already(AlreadyAnswered { decision: Decision::from(&decision) })
        }
        engine::AnswerOutcome::Stale(reason) => AnswerOutcome::Stale(StaleInterrupt { reason }),
        engine::AnswerOutcome::Own(beginner) => {
            let message = format!("somebody else than `{beginner}`, who began the run, has to answer");
            return Err(ApiError::new(Code::Forbidden, message).at("input.interruptId"));
        }
    };
    Ok(AnswerPayload { outcome })
}
