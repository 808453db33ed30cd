//! Why a model gave no answer.

use std::fmt::Write;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::digest::Digest;
use super::reply::{Cost, Usage};
use super::role::Role;

/// Why a model gave no answer. No text in it has a key, and each is bounded. It can be kept in a receipt.
#[derive(Clone, Debug, PartialEq, Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ModelError {
    /// Nothing is configured that could answer.
    #[error(
        "no model is configured for the role `{role}`: name one in `llm.{role}.model` or `llm.default.model` \
         (`LMLANG_LLM__DEFAULT__MODEL`), with its server in `base_url`, or set `OPENAI_API_KEY`, \
         `OPENROUTER_API_KEY` or `OLLAMA_HOST`"
    )]
    NoModel {
        /// What was to be done.
        role: Role,
    },
    /// It took too long.
    #[error("the model did not answer within {after:?}")]
    Timeout {
        /// How long was waited.
        after: Duration,
    },
    /// Nothing more of the answer came for too long.
    #[error("the model sent nothing for {after:?} in the middle of its answer")]
    Stalled {
        /// How long was waited.
        after: Duration,
    },
    /// The connection was lost in the middle of an answer.
    #[error("the answer was cut off after {received} bytes of its text")]
    Cut {
        /// How much of the text there was.
        received: usize,
    },
    /// The server could not be reached.
    #[error("the server of the model at `{server}` cannot be reached: {why}")]
    Unreachable {
        /// The server, without path, query and user.
        server: String,
        /// What the system says.
        why: String,
    },
    /// Too many requests, or no quota left.
    #[error("the model's server answers {status}, too many requests: {said}")]
    RateLimited {
        /// The HTTP status.
        status: u16,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
        /// What it says.
        said: String,
    },
    /// The server has a fault.
    #[error("the model's server answers {status}: {said}")]
    Unavailable {
        /// The HTTP status, or one that the answer names.
        status: u16,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
        /// What it says.
        said: String,
    },
    /// The key is missing or not good for this.
    #[error("the model's server answers {status}, the key is missing or not good for this: {said}")]
    Denied {
        /// The HTTP status.
        status: u16,
        /// What it says.
        said: String,
    },
    /// The server takes no such request.
    #[error("the model's server answers {status}, it does not take this request: {said}")]
    Rejected {
        /// The HTTP status.
        status: u16,
        /// What it says.
        said: String,
    },
    /// The model, or its provider, does not want to answer this.
    #[error("the model refuses to answer: {said}")]
    Refused {
        /// What it says.
        said: String,
    },
    /// What came is not an answer in the protocol.
    #[error("the model's server answers what cannot be read ({why}): {said}")]
    Unreadable {
        /// What is wrong with it.
        why: String,
        /// How it begins.
        said: String,
    },
    /// The answer is longer than any may be.
    #[error("the answer is longer than {limit} bytes")]
    TooLarge {
        /// The most.
        limit: usize,
    },
    /// The request's own schema is none.
    #[error("the schema of `{name}` is not one: {why}")]
    Schema {
        /// Whose schema, of the format or of a tool.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The answer is not what its format and tools ask for.
    #[error("{0}")]
    Mismatch(Box<Mismatch>),
    /// A script has nothing for this request.
    #[error(
        "the script `{script}` has no reply for this request ({} left):\n{prompt}",
        lmlang_ir::counted(*left as u64, "entry", "entries")
    )]
    Unscripted {
        /// The file.
        script: String,
        /// How many entries would still answer something else.
        left: usize,
        /// The request, its beginning.
        prompt: String,
    },
    /// A recording has no answer to this request.
    #[error("the cassette `{cassette}` has no answer to the request {digest}{nearest}")]
    Unrecorded {
        /// The file.
        cassette: String,
        /// The request's digest.
        digest: Digest,
        /// The recorded request that is nearest, and where it begins to differ.
        nearest: Box<str>,
    },
    /// A recording cannot be written or read.
    #[error("the cassette `{cassette}` cannot be used: {why}")]
    Cassette {
        /// The file.
        cassette: String,
        /// What is wrong with it.
        why: String,
    },
    /// It was called several times for this one answer. Code and class are those of the last call.
    #[error("{calls} calls in a row: {error}")]
    Repeated {
        /// How many times.
        calls: u32,
        /// What came of the last call.
        error: Box<ModelError>,
    },
}

/// An answer that is not what its format and tools ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mismatch {
    /// What is wrong with it, the first few.
    pub problems: Vec<Problem>,
    /// Whether it came to the most tokens that it may have, so that its end is missing.
    pub truncated: bool,
    /// How it begins.
    pub said: String,
    /// How many times the provider was called for it.
    pub calls: u32,
    /// The tokens that were spent.
    pub usage: Usage,
    /// What was paid for them.
    pub cost: Option<Cost>,
}

/// One thing that is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Where: a JSON pointer into the text's value, or behind the name of the tool that is called.
    pub place: String,
    /// What.
    pub what: String,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let why = if self.truncated { " because its end is missing" } else { "" };
        write!(formatter, "the answer is not what was asked for{why}: ")?;
        formatter.write_str(&Problem::list(&self.problems, "; "))?;
        write!(formatter, "; it begins `{}`", self.said)
    }
}

impl Problem {
    /// Several, between separators.
    pub(crate) fn list(problems: &[Problem], separator: &str) -> String {
        let mut out = String::new();
        for (index, problem) in problems.iter().enumerate() {
            if index > 0 {
                out.push_str(separator);
            }
            match problem.place.as_str() {
                "" => out.push_str(&problem.what),
                place => write!(out, "at `{place}`: {}", problem.what).expect("a string takes any text"),
            }
        }
        out
    }
}

/// What can be done about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// It may pass: the same request may be answered later, not before the given time if there is one.
    Transient {
        /// How long the server wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The answer was cut off: the same request may be answered.
    Cut,
    /// It took too long: the same request may be answered in time.
    Timeout,
    /// The server or the model does not do this; the same request is refused again.
    Refused,
    /// The request or the answer is not what it must be; a repetition alone does not change that.
    Invalid,
    /// Nothing is configured that could answer.
    NoModel,
}

impl Class {
    /// Says whether the same request may be answered if it is sent again.
    pub const fn retriable(self) -> bool {
        match self {
            Class::Transient { .. } | Class::Cut | Class::Timeout => true,
            Class::Refused | Class::Invalid | Class::NoModel => false,
        }
    }
}

impl ModelError {
    /// The same as what came of the last of so many calls.
    pub(crate) fn after(self, calls: u32) -> ModelError {
        match calls {
            0 | 1 => self,
            calls => ModelError::Repeated { calls, error: Box::new(self) },
        }
    }

    /// What can be done about it.
    pub fn class(&self) -> Class {
        match self {
            ModelError::Repeated { error, .. } => error.class(),
            ModelError::NoModel { .. } => Class::NoModel,
            ModelError::Timeout { .. } | ModelError::Stalled { .. } => Class::Timeout,
            ModelError::Cut { .. } => Class::Cut,
            ModelError::Unreachable { .. } => Class::Transient { retry_after: None },
            ModelError::RateLimited { retry_after, .. } | ModelError::Unavailable { retry_after, .. } => {
                Class::Transient { retry_after: *retry_after }
            }
            ModelError::Denied { .. } | ModelError::Rejected { .. } | ModelError::Refused { .. } => {
                Class::Refused
            }
            ModelError::Unreadable { .. }
            | ModelError::TooLarge { .. }
            | ModelError::Schema { .. }
            | ModelError::Mismatch(_)
            | ModelError::Unscripted { .. }
            | ModelError::Unrecorded { .. }
            | ModelError::Cassette { .. } => Class::Invalid,
        }
    }

    /// The code, which stays.
    pub fn code(&self) -> &'static str {
        match self {
            ModelError::Repeated { error, .. } => error.code(),
            ModelError::NoModel { .. } => "MODEL_NONE",
            ModelError::Timeout { .. } => "MODEL_TIMEOUT",
            ModelError::Stalled { .. } => "MODEL_STALLED",
            ModelError::Cut { .. } => "MODEL_CUT",
            ModelError::Unreachable { .. } => "MODEL_UNREACHABLE",
            ModelError::RateLimited { .. } => "MODEL_RATE_LIMITED",
            ModelError::Unavailable { .. } => "MODEL_UNAVAILABLE",
            ModelError::Denied { .. } => "MODEL_DENIED",
            ModelError::Rejected { .. } => "MODEL_REJECTED",
            ModelError::Refused { .. } => "MODEL_REFUSED",
            ModelError::Unreadable { .. } => "MODEL_UNREADABLE",
            ModelError::TooLarge { .. } => "MODEL_TOO_LARGE",
            ModelError::Schema { .. } => "MODEL_SCHEMA_INVALID",
            ModelError::Mismatch(_) => "MODEL_SCHEMA_MISMATCH",
            ModelError::Unscripted { .. } => "MODEL_UNSCRIPTED",
            ModelError::Unrecorded { .. } => "MODEL_UNRECORDED",
            ModelError::Cassette { .. } => "MODEL_CASSETTE",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::reply::UsageSource;
    use super::*;

    fn every() -> Vec<ModelError> {
        let text = || "x".to_owned();
        let role: Role = "planner".parse().unwrap();
        let after = Duration::from_millis(1_500);
        let (status, said) = (400, text);
        vec![
            ModelError::NoModel { role },
            ModelError::Timeout { after },
            ModelError::Stalled { after },
            ModelError::Cut { received: 3 },
            ModelError::Unreachable { server: text(), why: text() },
            ModelError::RateLimited { status, retry_after: Some(after), said: said() },
            ModelError::Unavailable { status, retry_after: None, said: said() },
            ModelError::Denied { status, said: said() },
            ModelError::Rejected { status, said: said() },
            ModelError::Refused { said: said() },
            ModelError::Unreadable { why: text(), said: said() },
            ModelError::TooLarge { limit: 9 },
            ModelError::Schema { name: text(), why: text() },
            ModelError::Mismatch(Box::new(Mismatch {
                problems: vec![Problem { place: text(), what: text() }],
                truncated: true,
                said: text(),
                calls: 2,
                usage: Usage { input: 1, output: 2, cached: None, source: UsageSource::Reported },
                cost: None,
            })),
            ModelError::Unscripted { script: text(), left: 1, prompt: text() },
            ModelError::Unrecorded { cassette: text(), digest: Digest::of(&json!(1)), nearest: "x".into() },
            ModelError::Cassette { cassette: text(), why: text() },
        ]
    }

    #[test]
    fn every_error_has_a_code_of_its_own_and_reads_back() {
        let mut codes = Vec::new();
        for error in every() {
            let kept = serde_json::to_value(&error).unwrap();
            assert_eq!(serde_json::from_value::<ModelError>(kept).unwrap(), error);
            assert!(error.code().starts_with("MODEL_"));
            assert!(!codes.contains(&error.code()), "{error}");
            codes.push(error.code());
            let text = error.to_string();
            assert!(text.starts_with(|first: char| first.is_lowercase()) && !text.ends_with('.'), "{text}");
        }
    }

    #[test]
    fn several_calls_fail_as_the_last_of_them_and_are_counted() {
        let error = ModelError::Timeout { after: Duration::from_secs(120) };
        assert_eq!(error.clone().after(1), error);
        let repeated = error.clone().after(3);
        assert_eq!((repeated.code(), repeated.class()), (error.code(), error.class()));
        assert_eq!(repeated.to_string(), "3 calls in a row: the model did not answer within 120s");
        let kept = serde_json::to_value(&repeated).unwrap();
        assert_eq!(serde_json::from_value::<ModelError>(kept).unwrap(), repeated);
    }

    #[test]
    fn what_is_kept_of_an_error_is_plain() {
        let error = ModelError::Cut { received: 3 };
        let kept: Value = serde_json::to_value(error).unwrap();
        assert_eq!(kept, json!({"kind": "cut", "received": 3}));
    }
}
