//! Calling tools, and judging what came of it.

use lmlang_engine::flows::code::failure;
use lmlang_engine::{BoxFuture, Effect, Halt, Repeat, Work};
use lmlang_entities::Counts;
use lmlang_flow::definition::ATTEMPTS;
use lmlang_flow::{Ask, AskKind, Class, Failure, Remedy, State, ladder};
use lmlang_telemetry::names::gen_ai;
use serde_json::{Value, json};

use crate::act::parts::{Came, ErrorClassifier, EscalationHandler, Evaluator, Executor, ToolUse, Verdict};
use crate::graph_store::GraphStore;
use crate::tools::{Changes, MadeRevision, Reach, ToolAnswer, ToolRegistry};

/// The code of arguments that do not fit a tool's schema.
pub const INVALID_ARGUMENTS: &str = "INVALID_ARGUMENTS";
/// The code of a tool that is not there.
pub const UNKNOWN_TOOL: &str = "UNKNOWN_TOOL";

/// What is offered when a step has failed for good.
pub const CHOICES: [&str; 3] = ["try again", "do it differently", "stop"];

/// Checks the arguments, then calls the tool as an effect of the run.
pub struct ToolExecutor;

impl Executor for ToolExecutor {
    fn execute<'a>(
        &'a self,
        tools: &'a dyn ToolRegistry,
        graph: &'a dyn GraphStore,
        step: &'a ToolUse,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<Result<ToolAnswer, Failure>, Halt>> {
        Box::pin(async move {
            let request = Value::Object(step.arguments.clone());
            let refused = |code, message| Failure {
                tool: Some(step.tool.clone()),
                arguments: Some(digest(&request)),
                ..failure(code, message)
            };
            let Some(tool) = tools.get(&step.tool) else {
                return Ok(Err(unknown(tools, step)));
            };
            let mistakes = tools.check(&step.tool, &request);
            if !mistakes.is_empty() {
                let message =
                    format!("`{}` does not take these arguments: {}", step.tool, mistakes.join("; "));
                return Ok(Err(refused(INVALID_ARGUMENTS, message)));
            }
            let repeat = match tool.spec().changes {
                Changes::Nothing => Repeat::Harmless,
                Changes::Appends | Changes::Merges | Changes::Deletes => Repeat::Keyed,
            };
            let call = work.call("", None, &request);
            let notes = json!({
                (gen_ai::OPERATION_NAME): gen_ai::operation::EXECUTE_TOOL,
                (gen_ai::TOOL_NAME): step.tool,
                "lmlang.tool.arguments": request,
            });
            let effect = Effect::new("tool", &step.tool, request.clone(), repeat).noting(notes);
            let (tool, arguments, engine) = (tool.clone(), &step.arguments, work.engine().clone());
            let speakers = work.speakers().await;
            let answered = work.effect(effect, move |key| async move {
                let call = call.keyed(Some(&key), request.to_string().as_bytes());
                let reach = Reach { graph, engine: &engine, speakers: &speakers, call: &call };
                let answer = tool.call(&reach, arguments).await.map_err(|error| Failure {
                    transient: error.transient,
                    ..failure(&error.code, error.message)
                })?;
                let counts = counted(answer.counts);
                let mut notes = json!({ "lmlang.tool.said": answer.said, "lmlang.tool.counts": counts });
                if let Some(MadeRevision { program, branch, number }) = answer.made {
                    notes["program"] = json!(program);
                    notes["branch"] = json!(branch);
                    notes["revision"] = json!(number);
                }
                Ok((json!({ "value": answer.value, "said": answer.said, "counts": counts }), notes))
            });
            match answered.await {
                Ok(answer) => Ok(Ok(ToolAnswer {
                    value: answer["value"].clone(),
                    said: answer["said"].as_str().unwrap_or_default().to_owned(),
                    counts: counts_of(&serde_json::from_value(answer["counts"].clone()).unwrap_or_default()),
                    made: None,
                })),
                // Nobody but a person can say what has happened.
                Err(Halt::Failed(failed)) if failed.code == lmlang_engine::flows::work::IN_DOUBT => {
                    Err(Halt::Failed(failed))
                }
                Err(Halt::Failed(failed)) => Ok(Err(Failure {
                    arguments: Some(digest(&Value::Object(step.arguments.clone()))),
                    ..failed
                })),
                Err(lost @ Halt::Lost(_)) => Err(lost),
            }
        })
    }
}

/// The failure of a step that names no tool.
pub(crate) fn unknown(tools: &dyn ToolRegistry, step: &ToolUse) -> Failure {
    let names: Vec<String> = tools.list().iter().map(|spec| format!("`{}`", spec.name)).collect();
    Failure {
        tool: Some(step.tool.clone()),
        arguments: Some(digest(&Value::Object(step.arguments.clone()))),
        ..failure(UNKNOWN_TOOL, format!("no tool is called `{}`: there are {}", step.tool, names.join(", ")))
    }
}

/// What the same arguments are known by.
fn digest(arguments: &Value) -> String {
    // Objects are in the order of their fields' names.
    blake3::hash(arguments.to_string().as_bytes()).to_hex()[..32].to_owned()
}

/// Counts as they are kept: created, updated, deleted, unchanged.
pub(crate) fn counted(counts: Counts) -> [usize; 4] {
    [counts.created, counts.updated, counts.deleted, counts.unchanged]
}

/// Counts that were kept.
pub(crate) fn counts_of([created, updated, deleted, unchanged]: &[usize; 4]) -> Counts {
    Counts { created: *created, updated: *updated, deleted: *deleted, unchanged: *unchanged }
}

/// Goes on after what was done, and looks at why something was not; asks people in words that say what was tried.
pub struct Verdicts;

impl Evaluator for Verdicts {
    fn evaluate(&self, came: &Came, complete: bool) -> Verdict {
        match came {
            Came::Failed(_) => Verdict::Diagnose,
            Came::Done { .. } if complete => Verdict::Answer,
            Came::Done { .. } => Verdict::Advance,
        }
    }
}

impl EscalationHandler for Verdicts {
    fn escalate(&self, state: &State, class: &str, failures: &[Failure]) -> Ask {
        let step = state.get("step")["call"]["tool"].as_str().unwrap_or("the step");
        let times = match failures.len() {
            0 | 1 => "once".to_owned(),
            times => format!("{times} times"),
        };
        let how = match class {
            "identical" => ", each time alike",
            "systematic" => ", whatever was tried",
            "random" => ", although it was waited for",
            _ => "",
        };
        let why = failures.last().map(|failure| format!(": {} ({})", failure.message, failure.code));
        let done = state.get("progress").as_array().map_or(0, Vec::len);
        let done = lmlang_ir::counted(done as u64, "step was", "steps were");
        let question = format!(
            "`{step}` failed {times}{how}{}. {done} done before. Try again, do it differently (say how), or stop?",
            why.unwrap_or_default(),
        );
        Ask {
            kind: AskKind::Escalation,
            question,
            choices: CHOICES.map(str::to_owned).to_vec(),
            expires: None,
            otherwise: None,
            into: Some("reply".to_owned()),
            subject: None,
        }
    }
}

/// The ladder that all flows have.
pub struct Ladder {
    attempts: u32,
}

impl Default for Ladder {
    fn default() -> Ladder {
        Ladder { attempts: ATTEMPTS }
    }
}

impl ErrorClassifier for Ladder {
    fn classify(&self, before: &[Failure], failure: &Failure, attempt: u32, now: i64) -> (Class, Remedy) {
        ladder::remedy("call_tool", before, failure, attempt, self.attempts, now)
    }
}
