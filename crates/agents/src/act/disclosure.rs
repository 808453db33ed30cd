//! What a model is shown: the task and the tools at first, the error that it made at the second attempt, what was done before
//! at the third.

use std::fmt::Write;

use lmlang_flow::{Failure, State};
use serde_json::Value;

use crate::act::parts::{Context, ContextManager, ToolUse, View};
use crate::model::{Message, Tool};
use crate::tools::ToolRegistry;

/// Which version of the prompts this is: on every span of a model.
pub const PROMPT_VERSION: &str = "act-2";

/// Failures of a step that are kept.
const FAILURES: usize = 8;
/// Most characters of what came before, in a prompt.
const SHOWN: usize = 4_000;

const SYSTEM: &str = "You carry out a task on a property graph and on programs, one step at a time. Entities have a label and a \
                      natural key, written Label:key; programs, and what is in them, have names; never make up ids. Call exactly \
                      one tool. Call `answer` when the task is done, and \
                      `ask` only if you cannot go on without knowing something.";

/// Shows more with each attempt.
#[derive(Clone, Copy, Debug)]
pub struct Progressive {
    /// Lines of what was done that the last attempt is shown.
    pub history: usize,
}

/// Shows all of it in every attempt.
#[derive(Clone, Copy, Debug)]
pub struct Simple(pub Progressive);

impl ContextManager for Progressive {
    fn prepare_minimal_context(&self, view: View<'_>, tools: &dyn ToolRegistry) -> Context {
        let state = view.state;
        let mut text =
            format!("Task: {}\n", state.get("goal")["goal"].as_str().unwrap_or(state.text("task")));
        for constraint in strings(&state.get("goal")["constraints"]) {
            line(&mut text, "It must hold", constraint);
        }
        let done = state.get("done").as_u64().and_then(|done| usize::try_from(done).ok()).unwrap_or(0);
        if let Some(step) = strings(state.get("plan")).nth(done) {
            line(&mut text, "This step", step);
        }
        // Where it stands, not how it came there.
        if let Some(last) =
            last(state.get("progress"), 1).first().and_then(Value::as_str).filter(|_| done > 0)
        {
            line(&mut text, "Steps done so far", &format!("{done}, the last one: {}", cut(last)));
        }
        if let Some(said) = state.get("reply")["text"].as_str().or(state.get("reply")["choice"].as_str()) {
            line(&mut text, "The user says", said);
        }
        if let Some(found) = state.get("artifacts").get("found").filter(|found| !found.is_null()) {
            // What a tool has put into words fits its own budget of tokens.
            let told = found["text"].as_str().map_or_else(|| cut(&found.to_string()), str::to_owned);
            line(&mut text, "The last tool answered", &told);
        }
        Context {
            messages: vec![Message::system(SYSTEM), Message::user(text)],
            tools: tools.list().into_iter().map(hint).chain(closing()).collect(),
            temperature: 0.2,
        }
    }

    fn add_error_context(&self, mut context: Context, view: View<'_>) -> Context {
        let Some(failure) = view.failures.last() else { return context };
        let mut text = format!("The attempt before failed: {} ({}).\n", cut(&failure.message), failure.code);
        if let Ok(step) = serde_json::from_value::<ToolUse>(view.state.get("step")["call"].clone()) {
            let arguments = Value::Object(step.arguments).to_string();
            line(&mut text, "It was", &format!("{} {}", step.tool, cut(&arguments)));
        }
        text.push_str("Do it differently.\n");
        context.messages.push(Message::user(text));
        context
    }

    fn add_historical_context(&self, mut context: Context, view: View<'_>) -> Context {
        let state = view.state;
        let mut text = String::new();
        for step in strings(state.get("plan")) {
            line(&mut text, "Planned", step);
        }
        for done in last(state.get("progress"), self.history).iter().filter_map(Value::as_str) {
            line(&mut text, "Done", done);
        }
        for failure in view.failures.iter().rev().skip(1).take(self.history) {
            line(&mut text, "Failed before", &format!("{} ({})", failure.message, failure.code));
        }
        for message in last(state.get("messages"), self.history) {
            let from = message["from"].as_str().unwrap_or("user");
            line(&mut text, &format!("Said by the {from}"), message["text"].as_str().unwrap_or_default());
        }
        context.messages.push(Message::user(cut(&text)));
        // Less chance where chance has not helped.
        context.temperature = 0.0;
        context
    }

    fn context(&self, view: View<'_>, tools: &dyn ToolRegistry) -> Context {
        let mut context = self.prepare_minimal_context(view, tools);
        if view.attempt > 1 {
            context = self.add_error_context(context, view);
        }
        if view.attempt > 2 {
            context = self.add_historical_context(context, view);
        }
        context
    }

    fn record_failure(&self, failures: &[Failure], failure: &Failure) -> Vec<Failure> {
        let dropped = (failures.len() + 1).saturating_sub(FAILURES);
        failures.iter().skip(dropped).chain([failure]).cloned().collect()
    }

    fn advance_step(&self, state: &State) -> u64 {
        state.get("done").as_u64().unwrap_or(0) + 1
    }

    fn is_complete(&self, state: &State) -> bool {
        !state.get("answer").is_null()
    }
}

impl ContextManager for Simple {
    fn prepare_minimal_context(&self, view: View<'_>, tools: &dyn ToolRegistry) -> Context {
        self.0.prepare_minimal_context(view, tools)
    }

    fn add_error_context(&self, context: Context, view: View<'_>) -> Context {
        self.0.add_error_context(context, view)
    }

    fn add_historical_context(&self, context: Context, view: View<'_>) -> Context {
        self.0.add_historical_context(context, view)
    }

    fn context(&self, view: View<'_>, tools: &dyn ToolRegistry) -> Context {
        self.0.context(View { attempt: 3, ..view }, tools)
    }

    fn record_failure(&self, failures: &[Failure], failure: &Failure) -> Vec<Failure> {
        self.0.record_failure(failures, failure)
    }

    fn advance_step(&self, state: &State) -> u64 {
        self.0.advance_step(state)
    }

    fn is_complete(&self, state: &State) -> bool {
        self.0.is_complete(state)
    }
}

/// What a model is told of a tool: its name, a line, and its arguments.
fn hint(spec: &crate::tools::ToolSpec) -> Tool {
    Tool {
        name: spec.name.to_owned(),
        description: spec.description.to_owned(),
        parameters: spec.parameters.clone(),
    }
}

/// How a model ends a task, or asks.
fn closing() -> [Tool; 2] {
    let object = |required: &str, properties: Value| {
        serde_json::json!({
            "type": "object", "required": [required], "additionalProperties": false, "properties": properties,
        })
    };
    [
        Tool {
            name: ANSWER.to_owned(),
            description: "The task is done: says what the user wanted to know, or what was done.".to_owned(),
            parameters: object("text", serde_json::json!({ "text": { "type": "string", "minLength": 1 } })),
        },
        Tool {
            name: ASK.to_owned(),
            description: "Asks the user something without which the task cannot be done.".to_owned(),
            parameters: object(
                "question",
                serde_json::json!({
                    "question": { "type": "string", "minLength": 1 },
                    "choices": { "type": "array", "items": { "type": "string", "minLength": 1 }, "maxItems": 10 },
                }),
            ),
        },
    ]
}

/// The tool by which a model ends a task.
pub(crate) const ANSWER: &str = "answer";
/// The tool by which a model asks.
pub(crate) const ASK: &str = "ask";

fn line(text: &mut String, what: &str, of: &str) {
    // A text takes anything.
    writeln!(text, "{what}: {of}").ok();
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The newest items of a list.
pub(crate) fn last(value: &Value, most: usize) -> &[Value] {
    let all = value.as_array().map_or(&[][..], Vec::as_slice);
    &all[all.len().saturating_sub(most)..]
}

fn cut(text: &str) -> String {
    crate::model::shortened(text, SHOWN)
}
