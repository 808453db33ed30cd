//! The flow `act`: carries out a task on entities and programs, one small step at a time.
//!
//! A model decides on each step, or rules where none is configured; everything else is code. Which node comes next follows
//! from the state. A step that fails is planned again with more to go by, and a person is asked when that does not help, or
//! before something is deleted.

pub mod agent;
mod answering;
pub mod disclosure;
pub mod evaluating;
pub mod parts;
pub mod planner;
pub mod rules;

use std::sync::Arc;

use lmlang_engine::{Accepted, BoxFuture, Engine, Error, FlowCode, Halt, Work};
use lmlang_entities::Counts;
use lmlang_flow::definition::END;
use lmlang_flow::{
    Ask, AskKind, Class, Definition, Failure, Flow, Goto, NodeSpec, Reducer, Remedy, State, Step, Update,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::act::agent::Agent;
use crate::act::answering::{answer, appended, changes, message, results};
use crate::act::disclosure::{PROMPT_VERSION, last};
use crate::act::evaluating::{counted, counts_of, unknown};
use crate::act::parts::{Came, Planned, ToolUse, Verdict, View};
use crate::input;
use crate::tools::{Changes, Tool};

/// Steps of a task.
const STEPS: u32 = 100;
/// Bytes of a task.
const TASK_BYTES: usize = 64 << 10;
/// Messages that a run takes over from the one before it, and most characters of each: every turn stores them again.
const CARRIED: usize = 8;
/// See [`CARRIED`].
const SHORT: usize = 400;
/// The code of the flow.
pub struct Act {
    flow: Arc<Flow>,
    agent: Agent,
}

/// What a run is started with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    task: String,
    #[serde(default)]
    confirm: Confirm,
}

/// What a person is asked about before it happens.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Confirm {
    #[default]
    Deletes,
    Changes,
    Nothing,
}

impl Confirm {
    /// The least change that is asked about.
    const fn name(self) -> &'static str {
        match self {
            Confirm::Deletes => "deletes",
            Confirm::Changes => "changes",
            Confirm::Nothing => "nothing",
        }
    }
}

impl Act {
    /// The flow of an agent.
    #[must_use]
    pub fn new(agent: Agent) -> Act {
        // Checked by a test.
        Act { flow: Arc::new(Flow::new(definition()).expect("the definition makes sense")), agent }
    }
}

fn definition() -> Definition {
    Definition::new("act", 1, "Carries out a task on entities and programs, one small step at a time.")
        .node(
            NodeSpec::task("parse_goal", &["plan_step"], "Reads the task: goal, constraints, hints, plan.")
                .at_most(STEPS),
        )
        .node(
            NodeSpec::task("plan_step", &["route_tool", "answer"], "Decides on the next step and its tool.")
                .at_most(STEPS),
        )
        .node(
            NodeSpec::ask(
                "route_tool",
                &["call_tool", "route_tool", "plan_step", "parse_goal", "diagnose", "answer"],
                "Goes on to the tool, or asks first.",
            )
            .at_most(2 * STEPS),
        )
        .node(
            NodeSpec::task(
                "call_tool",
                &["evaluate", "plan_step", "answer"],
                "Calls the tool, if its arguments fit.",
            )
            .at_most(2 * STEPS),
        )
        .node(NodeSpec::task(
            "evaluate",
            &["plan_step", "diagnose", "answer"],
            "Goes on, or looks at why it failed.",
        ))
        .node(NodeSpec::task(
            "diagnose",
            &["plan_step", "call_tool", "escalate"],
            "Says what kind of failure it is, and what is done about it.",
        ))
        .node(NodeSpec::ask("escalate", &["plan_step", "call_tool"], "Asks a person what to do."))
        .node(NodeSpec::task("answer", &[END], "Says what was done."))
        .channel("task", Reducer::Replace, json!(""))
        .channel("provider", Reducer::Replace, Value::Null)
        .channel("goal", Reducer::Replace, Value::Null)
        .channel("plan", Reducer::Replace, json!([]))
        .channel("progress", Reducer::Append { most: 100 }, json!([]))
        .channel("failures", Reducer::Append { most: 50 }, json!([]))
        .channel("messages", Reducer::Append { most: 100 }, json!([]))
        .channel("artifacts", Reducer::Merge { most: 8 }, json!({}))
        .channel("changes", Reducer::Replace, json!([0, 0, 0, 0]))
        .channel("answer", Reducer::Replace, Value::Null)
        .channel("outcome", Reducer::Replace, Value::Null)
        .private("confirm", Reducer::Replace, json!(Confirm::default().name()))
        .private("queue", Reducer::Replace, json!([]))
        .private("done", Reducer::Replace, json!(0))
        .private("step", Reducer::Replace, Value::Null)
        .private("came", Reducer::Replace, Value::Null)
        .private("tries", Reducer::Replace, json!([]))
        .private("attempt", Reducer::Replace, json!(1))
        .private("class", Reducer::Replace, json!("new"))
        .private("failed_at", Reducer::Replace, json!("call_tool"))
        .private("reply", Reducer::Replace, Value::Null)
}

impl FlowCode for Act {
    fn flow(&self) -> &Arc<Flow> {
        &self.flow
    }

    fn input_schema(&self) -> Value {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "required": ["task"],
            "additionalProperties": false,
            "properties": {
                "task": {
                    "type": "string", "title": "Task", "x-multiline": true, "minLength": 1,
                    "description": "What is to be done with entities and programs, or asked about them.",
                },
                "confirm": {
                    "type": "string", "title": "Ask before", "enum": ["deletes", "changes", "nothing"], "default": "deletes",
                    "description": "What a person is asked about before it happens.",
                },
            },
        })
    }

    fn turn_input(&self, text: &str) -> Option<Value> {
        Some(json!({ "task": text }))
    }

    fn accept<'a>(
        &'a self,
        engine: &'a Engine,
        input: &'a Value,
        before: Option<&'a State>,
    ) -> BoxFuture<'a, Result<Accepted, Error>> {
        Box::pin(async move {
            let input: Input = input::read(input)?;
            input::check_words("task", &input.task, TASK_BYTES)?;
            if let Err(message) = self.agent.planner.takes(&input.task) {
                return Err(input::wrong("task", message));
            }
            if !engine.is_unlimited() {
                let what = "acting on entities with a token for some programs only".to_owned();
                return Err(Error::Unsupported { what });
            }
            let said = before.map_or(&[][..], |state| last(state.get("messages"), CARRIED));
            let short = |said: &Value| {
                let text = crate::model::shortened(said["text"].as_str().unwrap_or_default(), SHORT);
                json!({ "from": said["from"], "text": text })
            };
            let mut messages: Vec<Value> = said.iter().map(short).collect();
            messages.push(message("user", &input.task));
            let update = Update::none()
                .with("task", input.task)
                .with("confirm", input.confirm.name())
                .with("messages", messages)
                .with("provider", self.agent.planner.provider());
            Ok(Accepted { update, program: None, branch: None })
        })
    }

    fn execute<'a>(
        &'a self,
        node: &'a str,
        state: &'a State,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<Step, Halt>> {
        Box::pin(async move {
            match node {
                "parse_goal" => self.parse_goal(state, work).await,
                "plan_step" => self.plan_step(state, work).await,
                "route_tool" => Ok(self.route_tool(state)),
                "call_tool" => self.call_tool(state, work).await,
                "evaluate" => Ok(self.evaluate(state)),
                "diagnose" => Ok(self.diagnose(state, work.now())),
                "escalate" => Ok(self.escalate(state)),
                "answer" => Ok(answer(state)),
                other => Err(lmlang_engine::flows::code::failure(
                    "INTERNAL",
                    format!("there is no node `{other}`"),
                )
                .into()),
            }
        })
    }
}

impl Act {
    async fn parse_goal(&self, state: &State, work: &mut Work) -> Result<Step, Halt> {
        // Somebody may have said it in other words since.
        let said = state.get("reply")["text"].as_str().filter(|_| !state.get("step").is_null());
        let mut read = state.clone();
        let mut update = Update::none().with("reply", Value::Null).with("step", Value::Null);
        if let Some(task) = said {
            update = update.with("task", task).with("messages", json!([message("user", task)]));
            read.apply(&self.flow, &Update::none().with("task", task)).ok();
        }
        let (goal, queue) = self.agent.planner.goal(&read, work).await?;
        let update = update
            .with("plan", goal.plan.clone())
            .with("goal", json!({ "goal": goal.goal, "constraints": goal.constraints, "domain_hints": goal.domain_hints }))
            .with("queue", json!(queue))
            .with("done", 0)
            .with("tries", json!([]))
            .with("attempt", 1);
        Ok(Step::next("plan_step", update))
    }

    async fn plan_step(&self, state: &State, work: &mut Work) -> Result<Step, Halt> {
        if stopped(state) {
            return Ok(Step::next("answer", Update::none().with("outcome", "stopped")));
        }
        let tries = failures(state);
        let failures: Vec<Failure> = tries.iter().chain(work.failures()).cloned().collect();
        let attempt = attempt(state).max(work.attempt());
        let view = View { state, failures: &failures, attempt };
        let context = self.agent.context.context(view, &*self.agent.tools);
        let planned = self.agent.planner.step(&context, state, work).await?;
        let step = serde_json::to_value(&planned).unwrap_or_default();
        let mut update = Update::none().with("step", step).with("reply", Value::Null);
        if let Some(said) = state.get("reply")["text"].as_str() {
            update = update.with("messages", json!([message("user", said)]));
        }
        let notes = json!({ "lmlang.attempt": attempt, "lmlang.prompt.version": PROMPT_VERSION });
        Ok(Step::next("route_tool", update).noting(notes))
    }

    /// Where a planned step leads: a function of the state.
    fn route_tool(&self, state: &State) -> Step {
        let planned = serde_json::from_value(state.get("step").clone());
        let Ok(planned) = planned else { return Step::next("plan_step", Update::none()) };
        match planned {
            Planned::Answer { text } => {
                Step::next("answer", Update::none().with("artifacts", json!({ "text": text })))
            }
            Planned::Ask { question, choices, new_task } => {
                let kind = if choices.is_empty() { AskKind::NeedClarification } else { AskKind::NeedChoice };
                let then = if new_task { "parse_goal" } else { "plan_step" };
                let said = json!([message("agent", &question)]);
                Step::ask(asked(kind, question, choices), then, Update::none().with("messages", said))
            }
            Planned::Call(step) => match self.changed_by(&step) {
                None => {
                    let came = Came::Failed(unknown(&*self.agent.tools, &step));
                    let update = Update::none().with("came", json!(came)).with("failed_at", "plan_step");
                    Step::next("diagnose", update)
                }
                Some(changes) => self.route_call(state, &step, changes),
            },
        }
    }

    /// What a step changes, if there is its tool.
    fn changed_by(&self, step: &ToolUse) -> Option<Changes> {
        Some(self.agent.tools.get(&step.tool)?.changes(&step.arguments))
    }

    fn route_call(&self, state: &State, step: &ToolUse, changes: Changes) -> Step {
        let asks = match state.text("confirm") {
            "nothing" => false,
            "changes" => changes > Changes::Nothing,
            _ => changes > Changes::Merges,
        };
        // What does not fit the tool is not worth a question.
        let fits = self.agent.tools.check(&step.tool, &Value::Object(step.arguments.clone())).is_empty();
        let reply = state.get("reply");
        if !asks || !fits || reply["confirm"] == true {
            let mut update = Update::none().with("reply", Value::Null);
            // Yes, but: it is done, and what was said beside it holds from here on.
            if let Some(said) = reply["feedback"].as_str().filter(|said| !said.trim().is_empty()) {
                update = update.with("messages", json!([message("user", said)]));
            }
            return Step::next("call_tool", update);
        }
        if reply["confirm"] == false {
            return match reply["feedback"].as_str().filter(|said| !said.trim().is_empty()) {
                Some(said) => {
                    let said = json!({ "text": said });
                    Step::next("plan_step", Update::none().with("reply", said).with("attempt", 1))
                }
                None => Step::next(
                    "answer",
                    Update::none().with("outcome", "rejected").with("reply", Value::Null),
                ),
            };
        }
        let question = format!("Call `{}` with {}?", step.tool, in_short(&step.arguments));
        Step::ask(asked(AskKind::NeedConfirm, question, Vec::new()), "route_tool", Update::none())
    }

    async fn call_tool(&self, state: &State, work: &mut Work) -> Result<Step, Halt> {
        if stopped(state) {
            return Ok(Step::next("answer", Update::none().with("outcome", "stopped")));
        }
        let Ok(Planned::Call(step)) = serde_json::from_value(state.get("step").clone()) else {
            return Ok(Step::next("plan_step", Update::none()));
        };
        if state.get("reply")["choice"] == evaluating::CHOICES[1] {
            // What was said is planned with.
            return Ok(Step::next("plan_step", Update::none()));
        }
        let graph = self.agent.graph.of(work.engine());
        let came = self.agent.executor.execute(&*self.agent.tools, &*graph, &step, work).await?;
        let came = match came {
            Ok(answer) => {
                Came::Done { value: answer.value, said: answer.said, counts: counted(answer.counts) }
            }
            Err(failure) => Came::Failed(failure),
        };
        let update = Update::none()
            .with("came", json!(came))
            .with("failed_at", "call_tool")
            .with("reply", Value::Null);
        Ok(Step::next("evaluate", update))
    }

    fn evaluate(&self, state: &State) -> Step {
        let Ok(came) = serde_json::from_value::<Came>(state.get("came").clone()) else {
            return Step::next("plan_step", Update::none());
        };
        let complete = self.agent.context.is_complete(state);
        let next = match self.agent.evaluator.evaluate(&came, complete) {
            Verdict::Advance => "plan_step",
            Verdict::Diagnose => "diagnose",
            Verdict::Answer => "answer",
        };
        let Came::Done { value, said, counts } = came else { return Step::next(next, Update::none()) };
        let step = match serde_json::from_value::<Planned>(state.get("step").clone()) {
            Ok(Planned::Call(step)) => Some(step),
            Ok(Planned::Ask { .. } | Planned::Answer { .. }) | Err(_) => None,
        };
        let tool = step.as_ref().and_then(|step| self.agent.tools.get(&step.tool).zip(Some(&step.arguments)));
        let found = if tool.is_some_and(|(tool, _)| tool.is_shown()) { value } else { Value::Null };
        let mut artifacts = json!({ "found": found });
        if !found.is_null() {
            artifacts["results"] = Value::Array(results(state, found));
        }
        if tool.is_some_and(|(tool, arguments)| revises(&**tool, arguments)) {
            artifacts["programs"] = json!(appended(state, &said));
        }
        let sum = added(changes(state), counts_of(&counts));
        let update = Update::none()
            .with("progress", json!([said]))
            .with("artifacts", artifacts)
            .with("changes", json!(counted(sum)))
            .with("done", self.agent.context.advance_step(state))
            .with("tries", json!([]))
            .with("attempt", 1);
        Step::next(next, update)
    }

    /// What becomes of a failed step: a function of the state and the time.
    fn diagnose(&self, state: &State, now: i64) -> Step {
        let Ok(Came::Failed(failure)) = serde_json::from_value(state.get("came").clone()) else {
            return Step::next("plan_step", Update::none());
        };
        let before = failures(state);
        let attempt = attempt(state);
        let (class, remedy) = self.agent.classifier.classify(&before, &failure, attempt, now);
        let tries = self.agent.context.record_failure(&before, &failure);
        let told = json!({
            "code": failure.code, "message": failure.message, "tool": failure.tool, "class": class_name(class),
            "attempt": attempt,
        });
        let update = Update::none()
            .with("tries", json!(tries))
            .with("failures", json!([told]))
            .with("class", class_name(class));
        let notes = json!({ "lmlang.failure.class": class_name(class), "error.type": failure.code, "lmlang.attempt": attempt });
        let step = match remedy {
            Remedy::Retry { at, .. } if class == Class::Random => {
                Step::to(Goto::Wait { until: at, then: "call_tool".to_owned() }, update)
            }
            // It is planned with more to go by; what the plan was wrong about, with all there is.
            Remedy::Retry { attempt, .. } => {
                let attempt = if class == Class::Systematic { attempt.max(3) } else { attempt };
                Step::next("plan_step", update.with("attempt", attempt))
            }
            Remedy::Ask(_) | Remedy::Next { .. } | Remedy::Stop => Step::next("escalate", update),
        };
        step.noting(notes)
    }

    fn escalate(&self, state: &State) -> Step {
        let failures = failures(state);
        let ask = self.agent.escalation.escalate(state, state.text("class"), &failures);
        let then = if state.text("failed_at") == "plan_step" { "plan_step" } else { "call_tool" };
        // A person's word never spends attempts of the machine.
        let update = Update::none().with("attempt", 1).with("tries", json!([]));
        Step::ask(ask, then, update)
    }
}

/// Whether a call has made a revision of a program.
fn revises(tool: &dyn Tool, arguments: &Map<String, Value>) -> bool {
    tool.spec().changes == Changes::Appends && tool.changes(arguments) != Changes::Nothing
}

fn asked(kind: AskKind, question: String, choices: Vec<String>) -> Ask {
    Ask {
        kind,
        question,
        choices,
        expires: None,
        otherwise: None,
        into: Some("reply".to_owned()),
        subject: None,
    }
}

/// Arguments for a person, the short ones first: they say what it is about.
fn in_short(arguments: &Map<String, Value>) -> String {
    let mut said: Vec<(&String, String)> =
        arguments.iter().map(|(name, value)| (name, value.to_string())).collect();
    said.sort_by_key(|(_, value)| value.len());
    let said: Vec<String> = said.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    crate::model::shortened(&said.join(", "), 1_000)
}

/// Whether a person has said to stop where a step had failed; a model's own question may offer the same word.
fn stopped(state: &State) -> bool {
    state.get("step")["ask"].is_null() && state.get("reply")["choice"] == evaluating::CHOICES[2]
}

/// What failed in this step.
fn failures(state: &State) -> Vec<Failure> {
    serde_json::from_value(state.get("tries").clone()).unwrap_or_default()
}

fn attempt(state: &State) -> u32 {
    state.get("attempt").as_u64().and_then(|attempt| u32::try_from(attempt).ok()).unwrap_or(1)
}

fn added(one: Counts, other: Counts) -> Counts {
    Counts {
        created: one.created + other.created,
        updated: one.updated + other.updated,
        deleted: one.deleted + other.deleted,
        unchanged: one.unchanged + other.unchanged,
    }
}

const fn class_name(class: Class) -> &'static str {
    match class {
        Class::New => "new",
        Class::Random => "random",
        Class::Identical => "identical",
        Class::Systematic => "systematic",
    }
}
