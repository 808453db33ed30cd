//! What a user says about models.
//!
//! Settings are by role, in a section `llm`: `[llm.default]` is what every role goes by that has none of its own, and a
//! role that names neither `kind` nor `base_url` changes only what it says; one that does shares waiting times, the mask and the
//! cassette. Keys are never settings: these say which
//! variable or file has one.
//!
//! ```toml
//! [llm.default]
//! base_url = "https://api.example.com/v1"
//! model = "small"
//! api_key_env = "EXAMPLE_KEY"
//!
//! [llm.reasoner]
//! model = "large"
//! timeout_ms = 300_000
//! ```
//!
//! Where nothing says which server there is, the variables that users have set already do: `OPENAI_API_KEY` or
//! `OPENAI_BASE_URL`, `OPENROUTER_API_KEY`, `OLLAMA_HOST`, the first of these. Their `OPENAI_MODEL`, `OPENROUTER_MODEL` and
//! `OLLAMA_MODEL` name a model. Such a key goes only to the server that it belongs to, never to a `base_url` of the settings.

mod resolve;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::cassette::CassetteError;
use super::openai::{LimitField, ServerError, Structured};
use super::prices::Prices;
use super::role::Role;
use super::script::ScriptError;

pub(crate) use resolve::{Provider, Resolved, Variable, resolve};

/// The settings of all roles.
pub type Settings = BTreeMap<Role, ModelSettings>;

/// What answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A server with OpenAI's interface; OpenAI itself if no other address is given.
    #[serde(rename = "openai")]
    OpenAi,
    /// OpenRouter.
    #[serde(rename = "openrouter")]
    OpenRouter,
    /// Ollama, at `OLLAMA_HOST` or on this machine.
    Ollama,
    /// A script.
    Script,
    /// Nothing: a flow decides by rules of its own.
    Rules,
}

/// What a user says about the model of one role. What is not said is as for `default`, or has a value that suits most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// What answers; a server with OpenAI's interface where only `base_url` is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Where the server is, up to what `/chat/completions` stands behind: `http://localhost:8000/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The model, as the server calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Which variable of the environment has the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Which file has the key, and nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_file: Option<PathBuf>,
    /// What tokens cost, by model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// How the server is made to answer in JSON; by a schema without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Structured>,
    /// What the server calls the most tokens of an answer; `max_completion_tokens` at OpenAI and `max_tokens` elsewhere
    /// without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_field: Option<LimitField>,
    /// Whether the server is asked to count the tokens of a stream; it is without this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_usage: Option<bool>,
    /// How long one attempt may take; 120 s without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How long the server may send nothing in the middle of an answer; 60 s without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
    /// How many times a request is sent at most; 3 without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// How long is waited before the second time, twice as long before the third; 500 ms without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff_ms: Option<u64>,
    /// The longest wait between two; 30 s without it. A server that wants to be left alone for longer is not asked again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_backoff_ms: Option<u64>,
    /// How many requests go to the server in a minute; any number without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// How many requests are under way at once; any number without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Whether what is secret in texts is hidden from the model; it is not without this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mask: Option<bool>,
    /// The script, for `kind = "script"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<PathBuf>,
    /// Where answers are recorded, or taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cassette: Option<CassetteSettings>,
}

/// Where answers are recorded, or taken from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CassetteSettings {
    /// The file.
    pub file: PathBuf,
    /// What is done with it.
    pub mode: CassetteMode,
}

/// What is done with a cassette.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CassetteMode {
    /// Answers are written behind those that it has.
    Record,
    /// Its answers are given, and nobody is called.
    Replay,
}

/// Why no models can be made of settings. Each says of which role's.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// The server has no such address, or cannot be reached in principle.
    #[error("`llm.{role}`: {error}")]
    Server {
        /// Whose settings.
        role: Role,
        /// What is wrong.
        error: ServerError,
    },
    /// A server is named and no model.
    #[error("`llm.{role}.model` is missing: a server has many models")]
    ModelName {
        /// Whose settings.
        role: Role,
    },
    /// Two places for one key.
    #[error("`llm.{role}` names both `api_key_env` and `api_key_file`")]
    TwoKeys {
        /// Whose settings.
        role: Role,
    },
    /// The variable is not set.
    #[error("`llm.{role}.api_key_env` names the variable `{variable}`, which is not set")]
    KeyVariable {
        /// Whose settings.
        role: Role,
        /// The variable.
        variable: String,
    },
    /// What is named is not what variables are called: perhaps the key itself, so it is not shown.
    #[error(
        "`llm.{role}.api_key_env` is not the name of a variable; a key itself does not belong into settings"
    )]
    KeyName {
        /// Whose settings.
        role: Role,
    },
    /// The provider needs a key.
    #[error(
        "`llm.{role}` asks a provider that wants a key: set `{variable}`, or name a variable or a file that has it"
    )]
    NoKey {
        /// Whose settings.
        role: Role,
        /// The usual variable.
        variable: &'static str,
    },
    /// The file cannot be read.
    #[error("`llm.{role}.api_key_file` names `{file}`, which cannot be read: {error}")]
    KeyFile {
        /// Whose settings.
        role: Role,
        /// The file.
        file: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// The file has no key, or more than one.
    #[error("`llm.{role}.api_key_file` names `{file}`, which is not one line with a key")]
    KeyText {
        /// Whose settings.
        role: Role,
        /// The file.
        file: String,
    },
    /// A price is none.
    #[error("`llm.{role}.prices` has a price of `{model}` that is negative or above a million dollars")]
    Price {
        /// Whose settings.
        role: Role,
        /// The model.
        model: String,
    },
    /// A number that nothing works with.
    #[error("`llm.{role}.{field}` is 0")]
    Zero {
        /// Whose settings.
        role: Role,
        /// Which setting.
        field: &'static str,
    },
    /// A setting that says nothing to this kind, or one that it needs.
    #[error("`llm.{role}`: {why}")]
    Kind {
        /// Whose settings.
        role: Role,
        /// What is wrong.
        why: &'static str,
    },
    /// The script cannot be used.
    #[error("`llm.{role}.script`: {error}")]
    Script {
        /// Whose settings.
        role: Role,
        /// What is wrong.
        error: ScriptError,
    },
    /// The cassette cannot be used.
    #[error("`llm.{role}.cassette`: {error}")]
    Cassette {
        /// Whose settings.
        role: Role,
        /// What is wrong.
        error: CassetteError,
    },
}

impl ModelSettings {
    /// These settings, and where they say nothing, others.
    ///
    /// One that names another server takes nothing that belongs to one, above all no key: only how long and how often it is
    /// asked, whether secrets are hidden from it, and the cassette, so that a replay calls nobody.
    pub(crate) fn over(self, other: &ModelSettings) -> ModelSettings {
        let other = match self.kind.is_some() || self.base_url.is_some() {
            true => other.without_server(),
            false => other.clone(),
        };
        // The two places of a key are one setting.
        let key = self.api_key_env.is_some() || self.api_key_file.is_some();
        ModelSettings {
            kind: self.kind.or(other.kind),
            base_url: self.base_url.or(other.base_url),
            model: self.model.or(other.model),
            api_key_env: if key { self.api_key_env } else { other.api_key_env },
            api_key_file: if key { self.api_key_file } else { other.api_key_file },
            prices: self.prices.or(other.prices),
            structured: self.structured.or(other.structured),
            limit_field: self.limit_field.or(other.limit_field),
            stream_usage: self.stream_usage.or(other.stream_usage),
            timeout_ms: self.timeout_ms.or(other.timeout_ms),
            idle_timeout_ms: self.idle_timeout_ms.or(other.idle_timeout_ms),
            attempts: self.attempts.or(other.attempts),
            backoff_ms: self.backoff_ms.or(other.backoff_ms),
            longest_backoff_ms: self.longest_backoff_ms.or(other.longest_backoff_ms),
            requests_per_minute: self.requests_per_minute.or(other.requests_per_minute),
            concurrency: self.concurrency.or(other.concurrency),
            mask: self.mask.or(other.mask),
            script: self.script.or(other.script),
            cassette: self.cassette.or(other.cassette),
        }
    }

    fn without_server(&self) -> ModelSettings {
        ModelSettings {
            timeout_ms: self.timeout_ms,
            idle_timeout_ms: self.idle_timeout_ms,
            attempts: self.attempts,
            backoff_ms: self.backoff_ms,
            longest_backoff_ms: self.longest_backoff_ms,
            mask: self.mask,
            cassette: self.cassette.clone(),
            ..ModelSettings::default()
        }
    }
}
