//! What a model answers.

use std::fmt;
use std::ops::Add;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The answer to one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The text; empty where the model only calls tools.
    pub text: String,
    /// The text as JSON, where the request's format asks for it and it was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The tools that the model calls, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Why it stopped.
    pub finish: Finish,
    /// The tokens, of all calls that made this reply.
    pub usage: Usage,
    /// The model, as the provider names it.
    pub model: String,
    /// Who answered: `openai`, `ollama`, `script`, `cassette` …
    pub provider: String,
    /// How long it took.
    pub latency: Latency,
    /// What it cost; none where no price is known, which is not the same as nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// How many times the provider was called for it: one, more after faults and for a repair.
    pub calls: u32,
}

/// The call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// What the tool's result is sent back under.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments' JSON, as the model wrote it; an object that fits the tool's schema, where it was checked.
    pub arguments: String,
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done.
    Stop,
    /// It came to the most tokens that it may write.
    Length,
    /// It waits for the tools that it calls.
    ToolCalls,
    /// Its provider keeps the rest back.
    Filtered,
    /// Something that only the provider knows.
    Other(String),
}

/// How many tokens were read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// The request's.
    pub input: u64,
    /// The answer's, with what the model thought and does not show.
    pub output: u64,
    /// How many of the request's the provider had kept from earlier; none if it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Who counted.
    pub source: UsageSource,
}

/// Who counted tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The provider.
    Reported,
    /// We did, with a tokenizer that need not be the model's.
    Estimated,
}

/// How long an answer took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Milliseconds until its first piece; none where it came in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_ms: Option<u64>,
    /// Milliseconds until its end.
    pub total_ms: u64,
}

/// What an answer cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// Billionths of a US dollar.
    pub nano_usd: u64,
    /// Who says so.
    pub source: CostSource,
}

/// Who says what an answer cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// The provider.
    Reported,
    /// The settings' prices, times the tokens.
    Prices,
}

impl Reply {
    /// This reply, with what an earlier call took for it as well.
    pub(crate) fn after(mut self, earlier: &Reply) -> Reply {
        self.usage = self.usage + earlier.usage;
        self.latency.total_ms += earlier.latency.total_ms;
        self.cost = match (earlier.cost, self.cost) {
            (Some(first), Some(second)) => Some(first + second),
            (None, _) | (_, None) => None,
        };
        self.calls += earlier.calls;
        self
    }
}

impl Add for Usage {
    type Output = Usage;

    /// Both; an estimate where either is one.
    fn add(self, other: Usage) -> Usage {
        let cached = match (self.cached, other.cached) {
            (None, None) => None,
            (first, second) => Some(first.unwrap_or(0) + second.unwrap_or(0)),
        };
        let source = match (self.source, other.source) {
            (UsageSource::Reported, UsageSource::Reported) => UsageSource::Reported,
            (UsageSource::Estimated, _) | (_, UsageSource::Estimated) => UsageSource::Estimated,
        };
        Usage { input: self.input + other.input, output: self.output + other.output, cached, source }
    }
}

impl Add for Cost {
    type Output = Cost;

    /// Both; by our prices where either is.
    fn add(self, other: Cost) -> Cost {
        let source = match (self.source, other.source) {
            (CostSource::Reported, CostSource::Reported) => CostSource::Reported,
            (CostSource::Prices, _) | (_, CostSource::Prices) => CostSource::Prices,
        };
        Cost { nano_usd: self.nano_usd.saturating_add(other.nano_usd), source }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "${}.{:09}", self.nano_usd / 1_000_000_000, self.nano_usd % 1_000_000_000)
    }
}
