//! Answers to questions: whether one fits, and what is recorded of it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::step::{Ask, AskKind};

/// What was decided, by whom and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// What was answered.
    pub answer: Value,
    /// The name of whoever answered.
    pub by: String,
    /// What they are: the name of an actor's kind.
    pub kind: String,
    /// Why, in their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When, in microseconds of UTC.
    pub at: i64,
}

impl Decision {
    /// BLAKE3 of the answer as JSON, in hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        blake3::hash(self.answer.to_string().as_bytes()).to_hex().to_string()
    }
}

/// Why an answer was not taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnswerError {
    /// The question was answered before.
    #[error("the question was answered by `{by}`")]
    Already {
        /// The number of the entry that has the answer.
        entry: u64,
        /// The name of whoever answered.
        by: String,
    },
    /// The question does not stand any more.
    #[error("{0}")]
    Stale(Stale),
    /// The answer does not fit the question.
    #[error(transparent)]
    Bad(#[from] BadAnswer),
    /// There is no such question.
    #[error("the run has asked no such question")]
    Unknown,
}

/// Why a question does not stand any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Stale {
    /// Its time is over.
    #[error("the question has expired")]
    Expired,
    /// Its run was cancelled or has failed.
    #[error("the run does not wait for it any more")]
    Cancelled,
}

/// An answer that does not fit its question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {what}")]
pub struct BadAnswer {
    /// The field of the answer.
    pub field: String,
    /// What is wrong with it.
    pub what: String,
}

/// Bytes of an answer.
pub const ANSWER_BYTES: usize = 64 << 10;

/// Checks that an answer is what a question asks for.
///
/// # Errors
///
/// See [`BadAnswer`].
pub fn fits(ask: &Ask, answer: &Value) -> Result<(), BadAnswer> {
    let Value::Object(fields) = answer else {
        return Err(bad("answer", format!("an object is expected, not {}", crate::state::kind(answer))));
    };
    if answer.to_string().len() > ANSWER_BYTES {
        return Err(bad("answer", format!("more than {ANSWER_BYTES} bytes")));
    }
    let allowed: &[&str] = match ask.kind {
        AskKind::NeedConfirm => &["confirm", "feedback"],
        AskKind::NeedClarification => &["text"],
        AskKind::NeedChoice | AskKind::Escalation => &["choice", "text"],
    };
    if let Some(field) = fields.keys().find(|field| !allowed.contains(&field.as_str())) {
        return Err(bad(field, format!("`{}` takes {}", ask.kind.name(), list(allowed))));
    }
    match ask.kind {
        AskKind::NeedConfirm => {
            if !fields.get("confirm").is_some_and(Value::is_boolean) {
                return Err(bad("confirm", "true or false is expected".to_owned()));
            }
            optional_text(fields, "feedback")
        }
        AskKind::NeedClarification => match fields.get("text").and_then(Value::as_str) {
            Some(text) if !text.trim().is_empty() => Ok(()),
            Some(_) | None => Err(bad("text", "words are expected".to_owned())),
        },
        AskKind::NeedChoice | AskKind::Escalation => {
            let choice = fields.get("choice").and_then(Value::as_str);
            if !choice.is_some_and(|choice| ask.choices.iter().any(|offered| offered == choice)) {
                let offered: Vec<&str> = ask.choices.iter().map(String::as_str).collect();
                return Err(bad("choice", format!("one of {} is expected", list(&offered))));
            }
            optional_text(fields, "text")
        }
    }
}

fn optional_text(fields: &Map<String, Value>, field: &str) -> Result<(), BadAnswer> {
    match fields.get(field) {
        None | Some(Value::Null | Value::String(_)) => Ok(()),
        Some(other) => Err(bad(field, format!("a text is expected, not {}", crate::state::kind(other)))),
    }
}

fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

fn bad(field: &str, what: String) -> BadAnswer {
    BadAnswer { field: field.to_owned(), what }
}
