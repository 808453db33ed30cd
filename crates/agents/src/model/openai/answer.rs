//! An answer that is put together out of its pieces.

use serde::Deserialize;
use serde_json::Value;

use super::super::reply::{Cost, CostSource, Finish, ToolCall, Usage, UsageSource};
use super::super::{Delta, Tell};

/// Most calls of tools in one answer.
const CALLS: usize = 128;

/// Longest answer, text and arguments, in bytes.
pub(super) const LONGEST: usize = 8 << 20;

/// One piece of a stream, or a whole answer: what is read of it.
#[derive(Debug, Deserialize)]
pub(super) struct Piece {
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Counted>,
    /// Some servers report what went wrong in the middle of a stream.
    #[serde(default)]
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default, alias = "message")]
    delta: Option<Part>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Part {
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallPart>>,
}

/// A text, or as some servers have it a list of parts, those of other kinds left out.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Debug, Deserialize)]
struct ContentPart {
    #[serde(default)]
    text: Option<String>,
}

#[derive(Debug, Deserialize)]
struct CallPart {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<FunctionPart>,
}

#[derive(Debug, Deserialize)]
struct FunctionPart {
    #[serde(default)]
    name: Option<String>,
    /// A text as the protocol has it; some servers send the object itself.
    #[serde(default)]
    arguments: Option<Value>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Counted {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<CountedDetails>,
    #[serde(default)]
    cost: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct CountedDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

/// What has come of an answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The text.
    pub(super) text: String,
    /// What it says instead of an answer.
    pub(super) refusal: String,
    /// Why it stopped, when it has.
    pub(super) finish: Option<Finish>,
    /// The model, as the server names it.
    pub(super) model: Option<String>,
    /// The tokens, if the server counts them.
    pub(super) usage: Option<Usage>,
    /// What it costs, if the server says so.
    pub(super) cost: Option<Cost>,
    calls: Vec<Call>,
    size: usize,
}

#[derive(Debug)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// An answer that is longer than any may be.
#[derive(Debug)]
pub(super) struct TooLarge;

impl Answer {
    /// Takes a piece, and tells what is new in it.
    pub(super) fn take(&mut self, piece: Piece, tell: Tell<'_>) -> Result<(), TooLarge> {
        if let Some(model) = piece.model.filter(|model| !model.is_empty()) {
            self.model.get_or_insert(model);
        }
        if let Some(counted) = piece.usage {
            self.count(counted);
        }
        // Of several answers that nobody asked for, the first one counts.
        for choice in piece.choices.into_iter().filter(|choice| choice.index.unwrap_or(0) == 0) {
            let part = choice.delta.unwrap_or_default();
            let text = match part.content {
                None => String::new(),
                Some(Content::Text(text)) => text,
                Some(Content::Parts(parts)) => parts.into_iter().filter_map(|part| part.text).collect(),
            };
            if !text.is_empty() {
                self.grow(text.len())?;
                self.text.push_str(&text);
                tell(Delta::Text(text));
            }
            if let Some(refusal) = part.refusal {
                self.grow(refusal.len())?;
                self.refusal.push_str(&refusal);
            }
            for part in part.tool_calls.unwrap_or_default() {
                self.call(part, tell)?;
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish = Some(finish(reason));
            }
        }
        Ok(())
    }

    /// The calls of tools, each with an id.
    pub(super) fn tool_calls(&mut self) -> Vec<ToolCall> {
        let calls = std::mem::take(&mut self.calls).into_iter().enumerate();
        calls
            .map(|(index, call)| ToolCall {
                id: if call.id.is_empty() { format!("call_{index}") } else { call.id },
                name: call.name,
                // What needs no arguments is often called with nothing at all.
                arguments: if call.arguments.trim().is_empty() { "{}".to_owned() } else { call.arguments },
            })
            .collect()
    }

    fn count(&mut self, counted: Counted) {
        if let (Some(input), Some(output)) = (counted.prompt_tokens, counted.completion_tokens) {
            let cached = counted.prompt_tokens_details.and_then(|details| details.cached_tokens);
            self.usage = Some(Usage { input, output, cached, source: UsageSource::Reported });
        }
        if let Some(cost) = counted.cost.filter(|cost| (0.0..1e9).contains(cost)) {
            let nano_usd = (cost * 1e9).round() as u64;
            self.cost = Some(Cost { nano_usd, source: CostSource::Reported });
        }
    }

    fn call(&mut self, part: CallPart, tell: Tell<'_>) -> Result<(), TooLarge> {
        let id = part.id.unwrap_or_default();
        let (name, arguments) = match part.function {
            Some(function) => (function.name.unwrap_or_default(), arguments(function.arguments)),
            None => (String::new(), String::new()),
        };
        self.grow(id.len() + name.len() + arguments.len())?;
        let at = match self.place_of(part.index, &id) {
            Some(at) => at,
            None if self.calls.len() == CALLS => return Err(TooLarge),
            None => {
                let (id, name) = (String::new(), String::new());
                self.calls.push(Call { index: part.index, id, name, arguments: String::new() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            call.id = id;
        }
        let named = call.name.is_empty() && !name.is_empty();
        if named {
            call.name = name;
        }
        call.arguments.push_str(&arguments);
        if named || !arguments.is_empty() {
            tell(Delta::ToolCall { index: at, name: named.then(|| call.name.clone()), arguments });
        }
        Ok(())
    }

    /// The call that a piece goes on with. Some servers number all calls 0, or none: another id is another call.
    fn place_of(&self, index: Option<u64>, id: &str) -> Option<usize> {
        let at = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index)?,
            None => self.calls.len().checked_sub(1)?,
        };
        let known = &self.calls[at].id;
        (id.is_empty() || known.is_empty() || known == id).then_some(at)
    }

    fn grow(&mut self, by: usize) -> Result<(), TooLarge> {
        self.size += by;
        if self.size > LONGEST { Err(TooLarge) } else { Ok(()) }
    }
}

fn arguments(value: Option<Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(value) => value.to_string(),
    }
}

fn finish(reason: String) -> Finish {
    match reason.as_str() {
        "stop" | "end_turn" | "eos" => Finish::Stop,
        "length" | "max_tokens" => Finish::Length,
        "tool_calls" | "function_call" => Finish::ToolCalls,
        "content_filter" => Finish::Filtered,
        _ => Finish::Other(reason),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn take(pieces: &[Value]) -> (Answer, Vec<Delta>) {
        let mut answer = Answer::default();
        let mut told = Vec::new();
        for piece in pieces {
            let piece = serde_json::from_value(piece.clone()).unwrap();
            answer.take(piece, &mut |delta| told.push(delta)).unwrap();
        }
        (answer, told)
    }

    fn call(part: Value) -> Value {
        json!({"choices": [{"delta": {"tool_calls": [part]}}]})
    }

    fn check(pieces: &[Value], expect: &[(&str, &str, &str)]) {
        let (mut answer, told) = take(pieces);
        let calls = answer.tool_calls();
        let found: Vec<_> = calls.iter().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect();
        assert_eq!(found, expect);
        for (at, call) in calls.iter().enumerate() {
            let joined: String = told
                .iter()
                .filter_map(|delta| match delta {
                    Delta::ToolCall { index, arguments, .. } if *index == at => Some(arguments.as_str()),
                    Delta::ToolCall { .. } | Delta::Text(_) | Delta::Restarted => None,
                })
                .collect();
            let nothing = joined.trim().is_empty() && call.arguments == "{}";
            assert!(joined == call.arguments || nothing, "{joined}");
        }
    }

    #[test]
    fn calls_are_put_together_as_servers_send_them() {
        check(
            &[
                call(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}})),
                call(json!({"index": 1, "id": "b", "function": {"name": "g", "arguments": "{}"}})),
                call(json!({"index": 0, "function": {"arguments": "{\"x\":"}})),
                call(json!({"index": 0, "id": "", "function": {"name": null, "arguments": "1}"}})),
            ],
            &[("a", "f", "{\"x\":1}"), ("b", "g", "{}")],
        );
        let two = [
            call(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}})),
            call(json!({"index": 0, "id": "b", "function": {"name": "f", "arguments": {"y": 2}}})),
        ];
        check(&two, &[("a", "f", "{}"), ("b", "f", "{\"y\":2}")]);
        check(
            &[call(json!({"function": {"name": "f"}})), call(json!({"function": {"arguments": " "}}))],
            &[("call_0", "f", "{}")],
        );
    }

    #[test]
    fn other_answers_and_missing_parts_are_passed_over() {
        let (answer, told) = take(&[
            json!({"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}]}),
            json!({"choices": [{"delta": {"role": "assistant", "content": null}, "finish_reason": null}]}),
            json!({"choices": [{"delta": {"content": [{"type": "text", "text": "ye"}, {"type": "x"}]}}]}),
            json!({"model": "m-1", "choices": [{"index": 0, "delta": {"content": "s"}}], "usage": null}),
            json!({"choices": [{"finish_reason": "stop"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "cost": 0.0000012,
                "prompt_tokens_details": {"cached_tokens": 1}}}),
            json!({"choices": [], "usage": {"prompt_tokens": 9}}),
        ]);
        assert_eq!(told, [Delta::Text("ye".to_owned()), Delta::Text("s".to_owned())]);
        assert_eq!(
            (&*answer.text, answer.finish, answer.model.as_deref()),
            ("yes", Some(Finish::Stop), Some("m-1"))
        );
        let expect = Usage { input: 3, output: 2, cached: Some(1), source: UsageSource::Reported };
        assert_eq!(answer.usage, Some(expect));
        assert_eq!(answer.cost, Some(Cost { nano_usd: 1_200, source: CostSource::Reported }));
    }

    #[test]
    fn an_answer_is_bounded() {
        let mut answer = Answer::default();
        let mut take = |value: Value| answer.take(serde_json::from_value(value).unwrap(), &mut |_| {});
        for index in 0..CALLS {
            take(call(json!({"index": index, "id": index.to_string()}))).unwrap();
        }
        take(call(json!({"index": CALLS}))).unwrap_err();
        take(json!({"choices": [{"delta": {"content": "x".repeat(LONGEST)}}]})).unwrap_err();
    }
}
