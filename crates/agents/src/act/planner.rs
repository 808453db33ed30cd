//! Who decides on the steps: a model, where one is configured for the role `planner`, and rules where none is.

use std::sync::Arc;

use lmlang_engine::flows::code::failure;
use lmlang_engine::{BoxFuture, Halt, Work};
use lmlang_flow::State;
use serde_json::{Map, Value, json};

use crate::act::disclosure::{ANSWER, ASK, PROMPT_VERSION, last};
use crate::act::parts::{Context, Goal, Planned, Planner, ToolUse};
use crate::act::rules;
use crate::asking::{ask, ask_for, decide_by_rules};
use crate::model::{Format, Message, Models, Repair, Reply, Request, Role, RoleError};

/// What the model is asked for.
const ROLE: &str = "planner";
/// Messages before this task that reading it may need.
const CONVERSATION: usize = 8;

const READ: &str = "You read a task for a property graph and programs and put it into JSON: `goal`, one sentence that can be understood \
                    without the conversation; `constraints`, what must hold meanwhile; `domain_hints`, the labels, keys, \
                    types of relations, programs and functions that it names; `plan`, the steps in order, each a sentence, as few as it takes.";

/// The model of the role `planner`; without one, rules that understand commands.
pub struct ModelOrRules {
    models: Arc<Models>,
}

impl ModelOrRules {
    /// A planner that asks these models.
    pub fn new(models: Arc<Models>) -> ModelOrRules {
        ModelOrRules { models }
    }

    fn model(&self) -> Option<Role> {
        let role: Result<Role, RoleError> = ROLE.parse();
        role.ok().filter(|role| self.models.is_configured(role))
    }
}

impl Planner for ModelOrRules {
    fn provider(&self) -> String {
        match self.model() {
            Some(role) => self.models.described(&role).provider,
            None => crate::model::rules::PROVIDER.to_owned(),
        }
    }

    fn takes(&self, task: &str) -> Result<(), String> {
        let steps = if self.model().is_some() { 0 } else { rules::read(task).1.len() };
        match steps > rules::MOST_STEPS {
            true => Err(format!("{steps} steps, and a task has {} at most", rules::MOST_STEPS)),
            false => Ok(()),
        }
    }

    fn goal<'a>(
        &'a self,
        state: &'a State,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<(Goal, Vec<ToolUse>), Halt>> {
        Box::pin(async move {
            let task = state.text("task");
            let Some(role) = self.model() else {
                let (goal, queue) = rules::read(task);
                let decision = json!({ "goal": goal.goal, "steps": queue.len() });
                decide_by_rules(ROLE, decision, work).await?;
                return Ok((goal, queue));
            };
            let mut messages = vec![Message::system(READ)];
            for message in last(state.get("messages"), CONVERSATION) {
                let text = message["text"].as_str().unwrap_or_default().to_owned();
                messages.push(match message["from"].as_str() {
                    Some("agent") => Message::Assistant { text, tool_calls: Vec::new() },
                    Some(_) | None => Message::User { text },
                });
            }
            messages.push(Message::user(task));
            let request = Request {
                prompt_version: PROMPT_VERSION.to_owned(),
                format: Format::JsonSchema { name: "goal".to_owned(), schema: goal_schema() },
                repair: Repair::Once,
                temperature: Some(0.0),
                ..Request::new(role, messages)
            };
            let reply = ask(&self.models, &request, work).await?;
            let goal = serde_json::from_value(reply.value.unwrap_or_default());
            let goal: Goal = goal.map_err(|error| failure("MODEL_SCHEMA_MISMATCH", error.to_string()))?;
            Ok((goal, Vec::new()))
        })
    }

    fn step<'a>(
        &'a self,
        context: &'a Context,
        state: &'a State,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<Planned, Halt>> {
        Box::pin(async move {
            let Some(role) = self.model() else {
                let planned = rules::step(state);
                let decision = json!(planned);
                decide_by_rules(ROLE, decision, work).await?;
                return Ok(planned);
            };
            let request = Request {
                prompt_version: PROMPT_VERSION.to_owned(),
                tools: context.tools.clone(),
                temperature: Some(context.temperature),
                ..Request::new(role, context.messages.clone())
            };
            let reply = ask_for(&self.models, &request, work, |reply| planned(reply).map(drop)).await?;
            Ok(planned(&reply)?)
        })
    }
}

/// What a model's answer decides: the first tool that it calls. Words alone end the task.
fn planned(reply: &Reply) -> Result<Planned, lmlang_flow::Failure> {
    let Some(call) = reply.tool_calls.first() else {
        return match reply.text.trim() {
            "" => Err(failure("MODEL_SAYS_NOTHING", "the model called no tool and said nothing")),
            text => Ok(Planned::Answer { text: text.to_owned() }),
        };
    };
    let arguments: Map<String, Value> = serde_json::from_str(&call.arguments)
        .map_err(|error| failure("MODEL_SCHEMA_MISMATCH", format!("the arguments are no object: {error}")))?;
    let text = |field: &str| arguments.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(match call.name.as_str() {
        ANSWER => Planned::Answer { text: text("text") },
        ASK => {
            let choices = arguments.get("choices").and_then(Value::as_array).into_iter().flatten();
            let choices = choices.filter_map(Value::as_str).map(str::to_owned).collect();
            Planned::Ask { question: text("question"), choices, new_task: false }
        }
        tool => Planned::Call(ToolUse { tool: tool.to_owned(), arguments }),
    })
}

fn goal_schema() -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" }, "maxItems": 20 });
    json!({
        "type": "object",
        "required": ["goal", "constraints", "domain_hints", "plan"],
        "additionalProperties": false,
        "properties": {
            "goal": { "type": "string", "minLength": 1 },
            "constraints": texts, "domain_hints": texts, "plan": texts,
        },
    })
}
