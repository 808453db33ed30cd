//! How many tokens a request and an answer have, where the provider does not say.

use serde_json::Value;

use super::reply::{ToolCall, Usage, UsageSource};
use super::request::{Format, Message, Request};

/// Counts the tokens of a text.
pub type Count = fn(&str) -> usize;

/// Counts with the vocabulary that most models have or come near to.
#[must_use]
pub fn tokens(text: &str) -> usize {
    lmlang_context::Tokenizer::default().count(text)
}

/// What a message takes beside its text: the marks around it and who speaks. OpenAI's cookbook counts three and a reply's
/// three more.
const AROUND: usize = 4;

/// Estimates both sides of a call.
pub(crate) fn usage(count: Count, request: &Request, text: &str, tool_calls: &[ToolCall]) -> Usage {
    Usage {
        input: to_u64(input(count, request)),
        output: to_u64(count(text) + calls(count, tool_calls)),
        cached: None,
        source: UsageSource::Estimated,
    }
}

fn input(count: Count, request: &Request) -> usize {
    let messages = request.messages.iter().map(|message| {
        let called = match message {
            Message::Assistant { tool_calls, .. } => calls(count, tool_calls),
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => 0,
        };
        AROUND + count(message.text()) + called
    });
    let tools = request
        .tools
        .iter()
        .map(|tool| AROUND + count(&tool.name) + count(&tool.description) + json(count, &tool.parameters));
    let format = match &request.format {
        Format::Text | Format::JsonObject => 0,
        Format::JsonSchema { schema, .. } => json(count, schema),
    };
    messages.chain(tools).sum::<usize>() + format
}

fn calls(count: Count, calls: &[ToolCall]) -> usize {
    calls.iter().map(|call| AROUND + count(&call.name) + count(&call.arguments)).sum()
}

fn json(count: Count, value: &Value) -> usize {
    count(&value.to_string())
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
