//! Answers to the questions of runs.

use lmlang_flow::{AnswerError, Decision, Settled, What};
use lmlang_history::log::ActorKind;
use serde_json::Value;
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::Error;
use crate::flows::live::decode;
use crate::flows::steering::request_digest;
use crate::request::Call;

/// An answer to a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The run that asked.
    pub run: Uuid,
    /// The number of the entry that asked it.
    pub asked: u64,
    /// What is answered.
    pub answer: Value,
    /// Why.
    pub reason: Option<String>,
}

/// What became of an answer.
#[derive(Clone, Debug)]
pub enum AnswerOutcome {
    /// It was taken, and the run goes on.
    Taken(Decision),
    /// Somebody has answered before.
    Already(Decision),
    /// The question does not stand any more.
    Stale(String),
    /// Somebody else has to answer than who began the run, which is the one of this name.
    Own(String),
}

/// Why an answer was refused.
enum Refused {
    Error(Error),
    Answer(AnswerError),
    /// The same request has answered before, by this entry.
    Repeated(u64),
    /// It is for others to answer.
    Own,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        Refused::Error(error)
    }
}

impl Engine {
    /// Answers a question, once: the run goes on when that is durable.
    pub async fn answer_interrupt(&self, answer: &Answer, call: &Call) -> Result<AnswerOutcome, Error> {
        // Whether this caller may know of the run.
        let beginner = self.run_info(answer.run).await?.actor.name;
        let is_own = call.actor.name == beginner || call.on_behalf_of.as_ref() == Some(&beginner);
        let request = call.idempotency.as_ref().map(request_digest);
        self.check_version(answer.run).await?;
        let changed = self.change_run(answer.run, |machine, now| {
            if let Some(Settled::Answered { entry, request: Some(first), .. }) = machine.settled(answer.asked)
                && Some(first) == request.as_ref()
            {
                return Err(Refused::Repeated(*entry));
            }
            let ask = machine.interrupt(answer.asked);
            if is_own && ask.and_then(|of| of.ask.subject.as_ref()).is_some_and(|subject| subject.others) {
                return Err(Refused::Own);
            }
            let decision = Decision {
                answer: answer.answer.clone(),
                by: call.actor.name.clone(),
                kind: actor_kind(call.actor.kind).to_owned(),
                reason: answer.reason.clone(),
                at: now,
            };
            let what = machine.answered(answer.asked, decision, request.clone()).map_err(Refused::Answer)?;
            Ok(Some(what))
        });
        match changed.await {
            Ok((live, number)) => {
                self.kick(&live);
                let missing = || Error::not_found("interrupt", answer.asked.to_string());
                let number = number.ok_or_else(missing)?;
                Ok(AnswerOutcome::Taken(self.decision(answer, number).await?))
            }
            Err(Refused::Repeated(entry)) => Ok(AnswerOutcome::Taken(self.decision(answer, entry).await?)),
            Err(Refused::Own) => Ok(AnswerOutcome::Own(beginner)),
            Err(Refused::Answer(AnswerError::Already { entry, .. })) => {
                Ok(AnswerOutcome::Already(self.decision(answer, entry).await?))
            }
            Err(Refused::Answer(AnswerError::Stale(why))) => Ok(AnswerOutcome::Stale(why.to_string())),
            Err(Refused::Answer(AnswerError::Unknown)) => self.rewound_over(answer).await,
            Err(Refused::Answer(AnswerError::Bad(bad))) => {
                let place = match bad.field.as_str() {
                    "answer" => "input.answer".to_owned(),
                    field => format!("input.answer.{field}"),
                };
                Err(Error::Argument { place, message: bad.what })
            }
            Err(Refused::Error(error)) => Err(error),
        }
    }

    /// What was decided by an entry about the question that is answered.
    async fn decision(&self, answer: &Answer, entry: u64) -> Result<Decision, Error> {
        let found = self.store().journal_entry(answer.run, entry).await?;
        match found.map(|found| decode(&found)).transpose()?.map(|found| found.what) {
            Some(What::Answered { decision, .. }) => Ok(decision),
            _ => Err(Error::not_found("interrupt", answer.asked.to_string())),
        }
    }

    /// A question that the run does not know any more: it was asked before the run was taken back, or never.
    async fn rewound_over(&self, answer: &Answer) -> Result<AnswerOutcome, Error> {
        let entry = self.store().journal_entry(answer.run, answer.asked).await?;
        let what = entry.map(|entry| decode(&entry)).transpose()?.map(|entry| entry.what);
        match what.as_ref().and_then(What::ask) {
            Some(_) => Ok(AnswerOutcome::Stale("the run was taken back to before the question".to_owned())),
            None => Err(Error::not_found("interrupt", answer.asked.to_string())),
        }
    }
}

/// The name of a kind of actors, as decisions record it.
pub(crate) const fn actor_kind(kind: ActorKind) -> &'static str {
    match kind {
        ActorKind::Human => "HUMAN",
        ActorKind::Agent => "AGENT",
        ActorKind::Tool => "TOOL",
        ActorKind::Flow => "FLOW",
        ActorKind::System => "SYSTEM",
    }
}

/// The kind of actors with a name; a tool where nobody knows it.
#[must_use]
pub fn kind_of_actor(name: &str) -> ActorKind {
    ActorKind::ALL.into_iter().find(|kind| actor_kind(*kind) == name).unwrap_or(ActorKind::Tool)
}
