//! One entry of a script.

use super::*;

use serde_json::Value;

use super::super::reply::{Usage, UsageSource};
use super::super::role::Role;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) reply: Vec<Entry>,
}

/// What is answered, and with what.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    role: Option<Role>,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    prompt_contains: Vec<String>,
    #[serde(default)]
    pub(super) times: Times,
    text: Option<String>,
    json: Option<Value>,
    #[serde(default)]
    tool_calls: Vec<Call>,
    pub(super) finish: Option<Finish>,
    pub(super) model: Option<String>,
    usage: Option<Counted>,
    #[serde(default)]
    pub(super) delay_ms: u64,
    pub(super) error: Option<Failure>,
    retry_after_ms: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    id: Option<String>,
    name: String,
    /// A value, or a text that is sent as it stands: so that arguments can be wrong.
    #[serde(default)]
    arguments: Option<Value>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counted {
    input: u64,
    output: u64,
    cached: Option<u64>,
}

/// How often an entry answers.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Times {
    Count(u32),
    Word(Word),
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    Always,
}

/// What may happen instead of an answer, or in the middle of one.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Failure {
    Cut,
    Timeout,
    RateLimited,
    Unavailable,
    Unreachable,
    Denied,
    Refused,
}

impl Default for Times {
    fn default() -> Times {
        Times::Count(1)
    }
}

impl Times {
    /// Says whether there is an answer left after so many.
    pub(super) fn may(self, used: u32) -> bool {
        match self {
            Times::Count(count) => used < count,
            Times::Word(Word::Always) => true,
        }
    }

    /// How many answers are left that a script is written for.
    pub(super) fn left(self, used: u32) -> u32 {
        match self {
            Times::Count(count) => count.saturating_sub(used),
            Times::Word(Word::Always) => u32::from(used == 0),
        }
    }
}

impl Entry {
    /// What cannot be meant, if anything.
    pub(super) fn contradiction(&self) -> Option<&'static str> {
        let answers = self.text.is_some() || self.json.is_some() || !self.tool_calls.is_empty();
        if self.text.is_some() && self.json.is_some() {
            return Some("has both a text and a value for its text");
        }
        if !answers && self.error.is_none() {
            return Some("answers nothing: it needs `text`, `json`, `tool_calls` or `error`");
        }
        match self.error {
            Some(Failure::RateLimited | Failure::Unavailable) => None,
            Some(_) | None if self.retry_after_ms.is_some() => {
                Some("has a time to wait, and no error that names one")
            }
            Some(_) | None => None,
        }
    }

    /// Says whether a request is this entry's.
    pub(super) fn fits(&self, request: &Request, prompt: &str) -> bool {
        let last = request.last_user().unwrap_or_default();
        self.role.as_ref().is_none_or(|role| *role == request.role)
            && self.contains.iter().all(|part| last.contains(part.as_str()))
            && self.prompt_contains.iter().all(|part| prompt.contains(part.as_str()))
    }

    /// What it waits for, in short.
    pub(super) fn waits_for(&self) -> String {
        let role = self.role.as_ref().map_or("any role".to_owned(), |role| format!("role `{role}`"));
        let parts = self.contains.iter().chain(&self.prompt_contains);
        let parts: String = parts.map(|part| format!(", `{part}`")).collect();
        cut(&format!("{role}{parts}"), 200)
    }

    pub(super) fn text(&self) -> String {
        match (&self.text, &self.json) {
            (Some(text), _) => text.clone(),
            (None, Some(value)) => value.to_string(),
            (None, None) => String::new(),
        }
    }

    pub(super) fn tool_calls(&self) -> Vec<ToolCall> {
        let calls = self.tool_calls.iter().enumerate();
        calls
            .map(|(index, call)| ToolCall {
                id: call.id.clone().unwrap_or_else(|| format!("call_{index}")),
                name: call.name.clone(),
                arguments: match &call.arguments {
                    None => "{}".to_owned(),
                    Some(Value::String(text)) => text.clone(),
                    Some(value) => value.to_string(),
                },
            })
            .collect()
    }

    pub(super) fn usage(&self) -> Option<Usage> {
        let counted = self.usage?;
        let Counted { input, output, cached } = counted;
        Some(Usage { input, output, cached, source: UsageSource::Reported })
    }

    /// The error, after so much of the text.
    pub(super) fn failure(&self, failure: Failure, told: usize) -> ModelError {
        let retry_after = self.retry_after_ms.map(Duration::from_millis);
        let said = "as the script says".to_owned();
        match failure {
            Failure::Cut => ModelError::Cut { received: told },
            Failure::Timeout => ModelError::Timeout { after: Duration::from_millis(self.delay_ms) },
            Failure::RateLimited => ModelError::RateLimited { status: 429, retry_after, said },
            Failure::Unavailable => ModelError::Unavailable { status: 503, retry_after, said },
            Failure::Unreachable => ModelError::Unreachable { server: PROVIDER.to_owned(), why: said },
            Failure::Denied => ModelError::Denied { status: 401, said },
            Failure::Refused => ModelError::Refused { said },
        }
    }
}
