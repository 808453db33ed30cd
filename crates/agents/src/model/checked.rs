//! The layer that holds answers against what they must be.

use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use super::error::{Mismatch, ModelError, Problem};
use super::quote::{cut, quote};
use super::reply::{Finish, Reply, ToolCall};
use super::request::{Format, Message, Repair, Request};
use super::{Completion, Delta, Model, Tell};

/// Most problems that are told.
const PROBLEMS: usize = 8;

/// Longest description of one, in characters.
const LONGEST: usize = 240;

/// Most of an answer that its repair quotes, in characters.
const QUOTED: usize = 32_000;

/// Checks the text of answers against the request's format, and calls of tools against the tools.
///
/// What fits comes with its text's value. What does not is [`ModelError::Mismatch`], after one round of repair if the
/// request allows it: the model is shown its answer and what is wrong with it.
pub struct Checked {
    inner: Arc<dyn Model>,
}

impl Checked {
    /// A layer around a model.
    pub fn new(inner: Arc<dyn Model>) -> Checked {
        Checked { inner }
    }

    async fn ask(&self, request: &Request, tell: Tell<'_>) -> Result<Reply, ModelError> {
        let rules = Rules::of(request)?;
        let first = self.inner.complete(request, &mut *tell).await?;
        let problems = match rules.check(&first) {
            Ok(value) => return Ok(Reply { value, ..first }),
            Err(problems) => problems,
        };
        match (request.repair, &first.finish) {
            // More of the same would not fit either.
            (Repair::Once, Finish::Stop | Finish::ToolCalls | Finish::Other(_)) => {}
            (Repair::Once, Finish::Length | Finish::Filtered) | (Repair::Never, _) => {
                return Err(mismatch(first, problems));
            }
        }
        tell(Delta::Restarted);
        let second = self.inner.complete(&repair(request, &first, &problems), tell).await?.after(&first);
        match rules.check(&second) {
            Ok(value) => Ok(Reply { value, ..second }),
            Err(problems) => Err(mismatch(second, problems)),
        }
    }
}

impl Model for Checked {
    fn provider(&self) -> &str {
        self.inner.provider()
    }

    fn complete<'a>(&'a self, request: &'a Request, tell: Tell<'a>) -> Completion<'a> {
        Box::pin(self.ask(request, tell))
    }
}

/// What an answer must be.
struct Rules<'a> {
    text: Text,
    tools: Vec<(&'a str, Validator)>,
}

enum Text {
    Any,
    Object,
    Fits(Box<Validator>),
}

impl Rules<'_> {
    /// Reads the schemas of a request, before anything is asked.
    fn of(request: &Request) -> Result<Rules<'_>, ModelError> {
        let text = match &request.format {
            Format::Text => Text::Any,
            Format::JsonObject => Text::Object,
            Format::JsonSchema { name, schema } => Text::Fits(Box::new(validator(name, schema)?)),
        };
        let tools = request.tools.iter();
        let tools = tools.map(|tool| Ok((tool.name.as_str(), validator(&tool.name, &tool.parameters)?)));
        Ok(Rules { text, tools: tools.collect::<Result<_, ModelError>>()? })
    }

    /// The value of the text if it has to have one, or what is wrong.
    fn check(&self, reply: &Reply) -> Result<Option<Value>, Vec<Problem>> {
        let mut problems = Vec::new();
        for call in &reply.tool_calls {
            self.check_call(call, &mut problems);
        }
        // An answer that calls tools is not the last one: its text is what the model says on the way.
        let value = match (&self.text, reply.tool_calls.is_empty()) {
            (Text::Any, _) | (_, false) => None,
            (Text::Object, true) => object(&reply.text, &mut problems),
            (Text::Fits(validator), true) => {
                let value = json(&reply.text, &mut problems);
                if let Some(value) = &value {
                    fit(validator, value, "", &mut problems);
                }
                value
            }
        };
        if problems.is_empty() { Ok(value) } else { Err(problems) }
    }

    fn check_call(&self, call: &ToolCall, problems: &mut Vec<Problem>) {
        let Some((_, validator)) = self.tools.iter().find(|(name, _)| *name == call.name) else {
            let names: Vec<_> = self.tools.iter().map(|(name, _)| format!("`{name}`")).collect();
            let there_are = match names.as_slice() {
                [] => "there are none".to_owned(),
                names => format!("there are {}", names.join(", ")),
            };
            let what = format!("no tool is called `{}`: {there_are}", cut(&call.name, 64));
            return problems.push(Problem { place: String::new(), what: cut(&what, LONGEST) });
        };
        match serde_json::from_str::<Value>(&call.arguments) {
            Ok(arguments @ Value::Object(_)) => fit(validator, &arguments, &call.name, problems),
            Ok(_) => problems
                .push(Problem { place: call.name.clone(), what: "the arguments are no object".to_owned() }),
            Err(error) => problems.push(Problem {
                place: call.name.clone(),
                what: cut(&format!("the arguments are not JSON: {error}"), LONGEST),
            }),
        }
    }
}

/// Reads a schema. References to elsewhere are not followed, and patterns take time that grows with the text alone.
fn validator(name: &str, schema: &Value) -> Result<Validator, ModelError> {
    let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
    options
        .build(schema)
        .map_err(|error| ModelError::Schema { name: cut(name, 64), why: cut(&error.to_string(), LONGEST) })
}

fn fit(validator: &Validator, value: &Value, before: &str, problems: &mut Vec<Problem>) {
    let left = PROBLEMS.saturating_sub(problems.len());
    problems.extend(validator.iter_errors(value).take(left).map(|error| Problem {
        place: cut(&format!("{before}{}", error.instance_path()), LONGEST),
        what: cut(&error.to_string(), LONGEST),
    }));
}

fn object(text: &str, problems: &mut Vec<Problem>) -> Option<Value> {
    let value = json(text, problems)?;
    if !value.is_object() {
        problems.push(Problem { place: String::new(), what: "it is JSON, but no object".to_owned() });
    }
    Some(value)
}

fn json(text: &str, problems: &mut Vec<Problem>) -> Option<Value> {
    match serde_json::from_str(unfenced(text)) {
        Ok(value) => Some(value),
        Err(error) => {
            let what = cut(&format!("it is not JSON: {error}"), LONGEST);
            problems.push(Problem { place: String::new(), what });
            None
        }
    }
}

/// A text without the code fence around it, which models like to put there whatever they are told.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```").and_then(|text| text.strip_suffix("```")) else {
        return text;
    };
    let (word, rest) = inner.split_once('\n').unwrap_or(("", inner));
    if word.trim().bytes().all(|byte| byte.is_ascii_alphanumeric()) { rest.trim() } else { text }
}

/// The request once more, with the answer and what is wrong with it behind.
fn repair(request: &Request, reply: &Reply, problems: &[Problem]) -> Request {
    // As text, calls too: a server may refuse arguments that are not JSON, and calls without results.
    let mut said = reply.text.clone();
    for call in &reply.tool_calls {
        said.push_str(&format!("\n(calls {} with {})", call.name, call.arguments));
    }
    let told = format!(
        "This answer cannot be used:\n- {}\nAnswer again, complete and corrected, in the form that was asked for.",
        Problem::list(problems, "\n- ")
    );
    let mut request = request.clone();
    let said = cut(said.trim(), QUOTED);
    request.messages.push(Message::Assistant {
        text: if said.is_empty() { "(nothing)".to_owned() } else { said },
        tool_calls: Vec::new(),
    });
    request.messages.push(Message::user(told));
    request
}

fn mismatch(reply: Reply, problems: Vec<Problem>) -> ModelError {
    let said = match reply.tool_calls.first() {
        Some(call) => format!("{} {} {}", reply.text, call.name, call.arguments),
        None => reply.text,
    };
    ModelError::Mismatch(Box::new(Mismatch {
        problems,
        truncated: reply.finish == Finish::Length,
        said: quote(&said, None),
        calls: reply.calls,
        usage: reply.usage,
        cost: reply.cost,
    }))
}

#[cfg(test)]
mod tests;
