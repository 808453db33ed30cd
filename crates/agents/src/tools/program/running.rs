//! Running a function within bounds, without any effect on its program.

use std::time::Duration;

use lmlang_engine::{Bounds, BoxFuture, Ended, RunRequest, Scope, Status};
use lmlang_ir::text::{parse_value, print_type_name};
use lmlang_ir::{Const, Program, Type, Value as Datum, counted, miscounted};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::told::{self, Page};
use super::{View, at, max_tokens, object, program, refused, typed};
use crate::graph_store::GraphError;
use crate::tools::{Changes, Reach, Tool, ToolAnswer, ToolSpec};

/// Executed nodes when nobody says how many there may be.
const FUEL: u64 = 10_000_000;
/// Executed nodes at most.
const MOST_FUEL: u64 = 1_000_000_000;
/// Milliseconds when nobody says how long it may take.
const TIME: u64 = 5_000;
/// Milliseconds at most: a turn does not wait longer.
const MOST_TIME: u64 = 15_000;
/// Bytes of memory.
const MEMORY: u64 = 256 << 20;
/// Bytes that are printed.
const OUTPUT: u64 = 64 << 10;
/// Calls and values that are told of where a run stopped.
const SHOWN: usize = 20;

/// Runs a function.
pub(super) struct Simulate(ToolSpec);

impl Default for Simulate {
    fn default() -> Simulate {
        let parameters = object(
            &["program", "function"],
            json!({
                "program": program(),
                "function": { "type": "string", "minLength": 1, "description": "Path `m::name`." },
                "args": {
                    "type": "array", "maxItems": 100,
                    "description": "One for each parameter: text such as \"i64:5\", \"[i32: 1, 2]\", \
                                    \"Item{name: \\\"tea\\\", price: 250}\", or plain JSON.",
                },
                "fuel": { "type": "integer", "minimum": 1, "maximum": MOST_FUEL, "description": "Executed nodes at most." },
                "timeout_ms": { "type": "integer", "minimum": 1, "maximum": MOST_TIME },
                "stdin": { "type": "string", "maxLength": 65_536 },
                "at": at(),
                "max_tokens": max_tokens(),
            }),
        );
        Simulate(ToolSpec {
            name: "simulate",
            description: "Runs a function within bounds, without any effect: the values that it returns, or the trap, broken \
                          contract, hole or limit, and where. Deterministic.",
            parameters,
            changes: Changes::Nothing,
        })
    }
}

#[derive(Deserialize)]
struct SimulateArgs {
    program: String,
    function: String,
    #[serde(default)]
    args: Vec<Value>,
    fuel: Option<u64>,
    timeout_ms: Option<u64>,
    stdin: Option<String>,
    at: Option<String>,
    max_tokens: Option<u64>,
}

impl Tool for Simulate {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(
        &'a self,
        reach: &'a Reach<'a>,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, GraphError>> {
        Box::pin(async move {
            let given: SimulateArgs = typed(arguments)?;
            // Whoever may edit may begin a run and answer it; running functions takes more.
            if let Some(author) = reach.engine.lacking(reach.speakers, Scope::Simulate).await? {
                let message = format!(
                    "`simulate` needs the scope `{}`, which `{author}` lacks",
                    Scope::Simulate.name()
                );
                return Err(refused("FORBIDDEN", message));
            }
            let view = View::find(reach.engine, &given.program, given.at.as_deref()).await?;
            let function = view.function(&given.function)?;
            let args = values(&view, function, &given.args)?;
            let bounds = Bounds {
                fuel: Some(given.fuel.unwrap_or(FUEL)),
                memory_bytes: Some(MEMORY),
                timeout: Some(Duration::from_millis(given.timeout_ms.unwrap_or(TIME))),
                output_bytes: Some(OUTPUT),
                ..Bounds::default()
            };
            let mut request = RunRequest {
                function,
                args,
                bounds,
                environment: Default::default(),
                trace: Default::default(),
                tier: None,
            };
            if let Some(stdin) = given.stdin.as_deref() {
                request.environment.stdin = stdin.into();
            }
            let run = reach.engine.simulate(&view.open, &view.revision, request).await?;
            let report =
                run.report().ok_or_else(|| refused("TIMEOUT", "the run has not ended".to_owned()))?;
            let ended = report.ended(view.program());
            let (outcome, first) = in_words(&ended);
            let said = format!("{}: {first}", given.function);
            let mut lines = vec![first];
            lines.extend(place(view.program(), &ended));
            let steps = counted(report.result.steps, "step", "steps");
            lines.push(format!("{steps}, {} fuel", report.result.fuel_used));
            for (stream, printed) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
                if !printed.is_empty() {
                    lines.push(format!("{stream}:\n{printed}"));
                }
            }
            let page = Page::only(given.max_tokens);
            let mut answer = told::answer(&view, outcome, &lines, page, &crate::model::shortened(&said, 400));
            if let Some(code) = &ended.code {
                answer.value["code"] = json!(code);
            }
            Ok(answer)
        })
    }
}

/// How a run ended, as a word and in a line.
fn in_words(ended: &Ended) -> (&'static str, String) {
    let code = ended.code.as_deref().unwrap_or_default();
    let message = &ended.message;
    match ended.status {
        Status::Completed if ended.values.is_empty() => ("returned", "returned nothing".to_owned()),
        Status::Completed => ("returned", format!("returned {}", ended.values.join(", "))),
        Status::Trapped => ("trapped", format!("trap {code}: {message}")),
        Status::ContractViolated => ("contract_violated", format!("contract {message}")),
        Status::LimitReached => ("limit_reached", message.clone()),
        Status::ReachedHole if code == "NOT_VERIFIED" => ("not_verified", format!("may not run: {message}")),
        Status::ReachedHole => ("reached_hole", format!("hole: {message}")),
        Status::Cancelled | Status::Ready | Status::Running | Status::Paused => {
            ("cancelled", "cancelled".to_owned())
        }
    }
}

/// Where a run stopped, and what was known there.
fn place(program: &Program, ended: &Ended) -> Vec<String> {
    let Some(at) = &ended.at else { return Vec::new() };
    let path = |of: &lmlang_ir::FuncRef| program.path((*of).into());
    let mut lines = vec![format!("at step {} in {} `{}`", at.step, path(&at.function), at.text)];
    let inner = at.stack.len().saturating_sub(SHOWN);
    if at.stack.len() > 1 {
        let calls: Vec<String> = at.stack[inner..].iter().map(path).collect();
        lines.push(format!("calls, the innermost last: {}", calls.join(" > ")));
    }
    let alive = ended.alive.iter().take(SHOWN);
    lines.extend(alive.map(|(of, value)| format!("{of} = {}", crate::model::shortened(value, 200))));
    lines
}

/// The arguments of a function, as values of the types that it takes.
fn values(view: &View, function: lmlang_ir::FuncRef, given: &[Value]) -> Result<Vec<Datum>, GraphError> {
    let program = view.program();
    let params =
        program.function(function).map(|function| function.head().params.clone()).unwrap_or_default();
    if let Some(message) = miscounted("args", params.len(), given.len()) {
        return Err(refused("BAD_REQUEST", message));
    }
    let each = params.iter().zip(given).enumerate();
    each.map(|(index, (param, given))| value(program, &param.ty, given, &format!("args[{index}]"))).collect()
}

/// A value as a caller wrote it: text, or JSON where that says it.
fn value(program: &Program, ty: &Type, given: &Value, place: &str) -> Result<Datum, GraphError> {
    let wrong = |why: &str| {
        let expected = print_type_name(program, None, ty);
        refused("BAD_REQUEST", format!("`{place}` is no `{expected}`: {why}"))
    };
    let literal = |text: &str| parse_value(program, ty, text).map_err(|error| wrong(&error.message));
    match (given, ty) {
        // For a text a JSON string is the text itself.
        (Value::String(text), Type::String) => Ok(Datum::Const(Const::String(text.as_str().into()))),
        (Value::String(text), _) => literal(text),
        (Value::Number(_) | Value::Bool(_), _) => literal(&given.to_string()),
        (Value::Array(items), Type::Array(of) | Type::FixedArray(of, _)) => {
            let items = items.iter().enumerate();
            let items = items.map(|(index, item)| value(program, of, item, &format!("{place}[{index}]")));
            let items = items.collect::<Result<Vec<Datum>, GraphError>>()?;
            Ok(match ty {
                Type::FixedArray(..) => Datum::FixedArray(of.clone(), items),
                _ => Datum::Array(of.clone(), items),
            })
        }
        _ => Err(wrong("it is written as text, a number, a boolean or a list")),
    }
}
