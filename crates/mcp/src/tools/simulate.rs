//! The tool `simulate`: a bounded run of a function, with a trace that can be read page by page.

use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::about::{self, counted, text, texts};
use super::outcomes::{self, RESULT};
use crate::address::SCHEME;
use crate::arguments::{schema, typed};
use crate::ask::Ask;
use crate::cursor::Paged;
use crate::failure::Failure;
use crate::reply::{Item, Link, Reply};
use crate::tool::{Call, Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or id.
    program: String,
    /// Path `m::name`, or ref `f2`.
    function: String,
    /// One for each parameter: text such as "i64:5", "[i32: 1, 2]", "Item{name: \"tea\", price: 250}", or a JSON number, boolean or list.
    args: Option<Vec<Value>>,
    /// What is recorded, to be read from the link in the answer. none is fastest. Default nodes.
    trace: Option<Trace>,
    /// Executed nodes at most.
    fuel: Option<u64>,
    /// How long it may execute.
    timeout_ms: Option<u32>,
    stdin: Option<String>,
    /// Revision `r7`, branch or checkpoint; default the head.
    at: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    #[expect(dead_code, reason = "the desk reads it")]
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Trace {
    None,
    Calls,
    Regions,
    Nodes,
}

pub(super) static TOOL: Tool = Tool {
    name: "simulate",
    title: "Run a function",
    description: "Runs a function within bounds, without any effect on the program: the values that it returns, or the \
                  trap, broken contract, hole or limit, with place, calls and the values known there. Deterministic.",
    effect: Effect::Reads,
    rate: None,
    begins: Some(("simulate", "running")),
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

async fn run(call: &Call, args: Args) -> Result<Reply, Failure> {
    let trace = match args.trace {
        Some(Trace::None) => return without_trace(call, args).await,
        Some(Trace::Calls) => "CALLS",
        Some(Trace::Regions) => "REGIONS",
        Some(Trace::Nodes) | None => "NODES",
    };
    held(call, args, trace).await
}

impl Args {
    fn input(&self, trace: &str) -> Value {
        let limits = json!({ "fuel": self.fuel, "timeoutMs": self.timeout_ms });
        let args = self.args.clone().unwrap_or_default();
        json!({ "args": args, "limits": limits, "stdin": self.stdin, "recordTrace": trace })
    }
}

/// Runs it in one query, which ends with whoever waits for it.
async fn without_trace(call: &Call, args: Args) -> Result<Reply, Failure> {
    let by = if about::is_ref(&args.function, 'f') { "ref" } else { "name" };
    let document = format!(
        "query($id: ID, $name: String, $at: String, $function: String!, $input: SimulateInput!) {{
           program(id: $id, name: $name, at: $at) {{
             name revision {{ number }} function({by}: $function) {{ simulate(input: $input) {{ {RESULT} }} }}
           }} }}"
    );
    let mut variables = about::program(&args.program, args.at.as_deref());
    variables["function"] = args.function.as_str().into();
    variables["input"] = args.input("NONE");
    let data = call.ask(&document, variables).await?;
    let program = &data["program"];
    let mut reply = Reply::about(program);
    outcomes::tell(&mut reply, &program["function"]["simulate"]);
    reply.otherwise = Some("raise max_tokens, or run it with a trace".to_owned());
    Ok(reply)
}

const START: &str = "mutation($input: StartSimulationInput!) {
  startSimulation(input: $input) { simulation { id program { name revision { number } } } }
}";

const CANCEL: &str = "mutation($id: ID!) {
  controlSimulation(input: { id: $id, action: CANCEL }) { simulation { status } }
}";

/// How long to wait before asking whether a run stands that was not awaited to its end.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(250);

/// Runs it as a simulation that is kept, so that its trace can be read afterwards.
async fn held(call: &Call, args: Args, trace: &str) -> Result<Reply, Failure> {
    let input = json!({
        "programId": args.program,
        "function": args.function,
        "at": args.at,
        "run": args.input(trace),
        // So that its id is known, and it can be ended, before it runs.
        "pauseAtStart": true,
    });
    let data = call.ask(START, json!({ "input": input })).await?;
    let started = &data["startSimulation"]["simulation"];
    let id = text(started, "id").to_owned();
    let running = Running { ask: Arc::clone(&call.ask), id: Some(id.clone()) };
    let asked = format!(
        "simulation {{ status position at {{ function node text step }} trace(first: 1) {{ recorded dropped }} result {{ {RESULT} }} }}"
    );
    let run = format!(
        "mutation($id: ID!) {{ controlSimulation(input: {{ id: $id, action: RUN }}) {{ {asked} }} }}"
    );
    let data = call.ask(&run, json!({ "id": id })).await?;
    let mut simulation = data["controlSimulation"]["simulation"].clone();
    while simulation["status"] == "RUNNING" {
        (call.progress)(&counted(&simulation["position"], "step", "steps"));
        tokio::time::sleep(PAUSE).await;
        let look =
            format!("query($id: ID!) {{ {} }}", asked.replacen("simulation", "simulation(id: $id)", 1));
        simulation = call.ask(&look, json!({ "id": id })).await?["simulation"].clone();
    }
    let mut reply = Reply::about(&started["program"]);
    if simulation["result"].is_null() {
        // It is held where it stands, so that it could go on; nobody moves it here, and it is cancelled.
        outcomes::out_of_time(&mut reply, &simulation);
    } else {
        running.has_ended();
        outcomes::tell(&mut reply, &simulation["result"]);
    }
    reply.count("trace_steps", &simulation["trace"]["recorded"]);
    let steps = counted(&simulation["trace"]["recorded"], "step", "steps");
    let link = Link {
        uri: format!("{SCHEME}run/{id}/trace"),
        name: "trace".to_owned(),
        description: format!("the trace, {steps}"),
    };
    reply.say(format!("trace of {steps}: {}", link.uri));
    reply.links.push(link);
    reply.otherwise = Some("the trace has everything, page by page".to_owned());
    Ok(reply)
}

/// A simulation that is to end when nobody waits for it any more.
struct Running {
    ask: Arc<dyn Ask>,
    id: Option<String>,
}

impl Running {
    fn has_ended(mut self) {
        self.id = None;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let ask = Arc::clone(&self.ask);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = ask.ask(CANCEL, json!({ "id": id })).await {
                    tracing::warn!(%error, id, "a simulation that nobody waits for was not cancelled");
                }
            });
        }
    }
}

const TRACE: &str = "query($id: ID!, $from: Count!, $first: Int!) {
  simulation(id: $id) {
    program { name revision { number } }
    trace(first: $first, from: $from) {
      recorded nextSeq dropped steps { seq function region node op inputs outputs note }
    }
  }
}";

/// Steps that are asked for at a time.
const STEPS: u32 = 500;

/// A page of the trace of a run, from a step on; the cursor of each step is where it goes on behind it.
pub(crate) async fn page(call: &Call, id: &str, from: u64) -> Result<Reply, Failure> {
    let data = call.ask(TRACE, json!({ "id": id, "from": from, "first": STEPS })).await?;
    let simulation = &data["simulation"];
    let trace = &simulation["trace"];
    let mut reply = Reply { noun: "steps", ..Reply::about(&simulation["program"]) };
    reply.count("steps", &trace["recorded"]);
    if let Some(dropped @ 1..) = trace["dropped"].as_u64() {
        let steps = lmlang_ir::counted(dropped, "step was", "steps were");
        reply.say(format!("{steps} not recorded: more than traceBytes"));
    }
    for step in trace["steps"].as_array().into_iter().flatten() {
        let seq = step["seq"].as_u64().unwrap_or_default();
        let mut told =
            format!("{seq} {} {} {}", text(step, "function"), text(step, "node"), text(step, "op"));
        let inputs = texts(&step["inputs"]);
        if !inputs.is_empty() {
            told.push_str(&format!(" ({})", inputs.join(", ")));
        }
        let outputs = texts(&step["outputs"]);
        if !outputs.is_empty() {
            told.push_str(&format!(" = {}", outputs.join(", ")));
        }
        if let Some(note) = step["note"].as_str() {
            told.push_str(&format!(" ; {note}"));
        }
        reply.items.push(Item { text: told, cursor: Some(Paged::Steps.cursor(seq + 1)), data: None });
    }
    if trace["nextSeq"].is_u64() {
        reply.further = 1;
        reply.uncounted = true;
    }
    Ok(reply)
}
