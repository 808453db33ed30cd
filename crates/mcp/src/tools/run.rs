//! The tool `run`: durable runs of flows, and answers to what they ask.

use std::sync::LazyLock;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::about::text;
use crate::arguments::{schema, typed};
use crate::failure::{Failure, RpcError};
use crate::reply::Reply;
use crate::tool::{Call, Effect, Tool};
use crate::waiting::waited_for;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    action: Action,
    /// show, cancel: the run.
    run_id: Option<String>,
    /// answer: the question.
    interrupt_id: Option<String>,
    /// start, list, turn: the session; a turn without one begins it.
    session_id: Option<String>,
    /// start, list: the flow, `review`; turn: that of a new session, `act`.
    flow: Option<String>,
    /// start: what it is started with, `{"program": "shop", "branch": "idea"}`.
    input: Option<Map<String, Value>>,
    /// answer: `{"confirm": true}`, `{"text": ".."}` or `{"choice": ".."}`.
    answer: Option<Map<String, Value>>,
    /// answer, cancel: why.
    reason: Option<String>,
    /// turn: a task, or the answer to what is asked.
    text: Option<String>,
    /// start, turn: the run fails after so many milliseconds.
    deadline_ms: Option<u64>,
    /// list: default 20.
    limit: Option<u32>,
    /// Same key, done once.
    idempotency_key: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    #[expect(dead_code, reason = "the desk reads it")]
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Start,
    Show,
    Answer,
    Cancel,
    List,
    Turn,
}

pub(super) static TOOL: Tool = Tool {
    name: "run",
    title: "Runs of flows",
    description: "Begins, shows, answers, cancels and lists durable runs of flows. The flow review merges your branch once its \
                  gates and a person have agreed: work on a branch, then start it. The flow act \
                  does tasks on entities: say them in turns. To run a function use simulate.",
    effect: Effect::Appends,
    rate: None,
    begins: None,
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

/// What is asked of a run: what those ask that it waits for, too.
const RUN: &str = "id flow { name } status node progress error program { name revision { number } }
  interrupts { id type question choices status }
  session { runs(first: 50) { nodes { id parent { id } interrupts { id type question choices status } } } }";

/// For how long a run that goes on is waited for.
const LOOKS: usize = 100;
const PAUSE: Duration = Duration::from_millis(50);

async fn run(call: &Call, args: Args) -> Result<Reply, Failure> {
    match args.action {
        Action::Turn => turn(call, args).await,
        Action::List => list(call, &args).await,
        Action::Show => shown(call, &needed(args.run_id, "run_id")?).await,
        Action::Start => {
            let document =
                "mutation($input: StartRunInput!) { done: startRun(input: $input) { run { id } } }";
            let input = json!({
                "flow": needed(args.flow, "flow")?,
                "sessionId": args.session_id,
                "input": args.input.unwrap_or_default(),
                "deadlineMs": args.deadline_ms,
                "idempotencyKey": args.idempotency_key,
            });
            let done = call.ask.ask(document, json!({ "input": input })).await?.whole()?;
            Ok(carried_out(shown(call, text(&done["done"]["run"], "id")).await?))
        }
        Action::Cancel => {
            let document =
                "mutation($input: CancelRunInput!) { done: cancelRun(input: $input) { run { id } } }";
            let run = needed(args.run_id, "run_id")?;
            let input = json!({ "runId": run, "reason": args.reason });
            call.ask.ask(document, json!({ "input": input })).await?.whole()?;
            Ok(carried_out(shown(call, &run).await?))
        }
        Action::Answer => {
            let document =
                "mutation($input: AnswerInterruptInput!) { done: answerInterrupt(input: $input) { outcome {
              __typename
              ... on Answered { run { id } }
              ... on AlreadyAnswered { decision { actor { name } answer } }
              ... on StaleInterrupt { reason }
            } } }";
            let input = json!({
                "interruptId": needed(args.interrupt_id, "interrupt_id")?,
                "answer": args.answer.ok_or_else(|| missing("answer"))?,
                "reason": args.reason,
                "idempotencyKey": args.idempotency_key,
            });
            let done = call.ask.ask(document, json!({ "input": input })).await?.whole()?;
            let outcome = &done["done"]["outcome"];
            let late = |outcome: &'static str, words: String| {
                let mut reply = Reply { outcome: Some(outcome), is_error: true, ..Reply::default() };
                reply.say(words);
                reply
            };
            match text(outcome, "__typename") {
                "Answered" => Ok(carried_out(shown(call, text(&outcome["run"], "id")).await?)),
                "AlreadyAnswered" => {
                    let decision = &outcome["decision"];
                    let by = text(&decision["actor"], "name");
                    Ok(late("already_answered", format!("{by} has answered it: {}", decision["answer"])))
                }
                _ => Ok(late("stale", text(outcome, "reason").to_owned())),
            }
        }
    }
}

/// Says something in a session, and tells what came of it.
async fn turn(call: &Call, args: Args) -> Result<Reply, Failure> {
    let document = format!(
        "mutation($input: TurnInput!) {{ done: turn(input: $input) {{ session {{ id }} run {{ {RUN} }} view }} }}"
    );
    let answer = args.answer.unwrap_or_default();
    let input = json!({
        "sessionId": args.session_id,
        "workflow": args.flow,
        "text": args.text.as_ref().map(|text| json!(text)).or_else(|| answer.get("text").cloned()),
        "options": args.input,
        "deadlineMs": args.deadline_ms,
        "feedback": answer.get("feedback"),
        "confirm": answer.get("confirm"),
        "choice": answer.get("choice"),
        "interruptId": args.interrupt_id,
        "idempotencyKey": args.idempotency_key,
    });
    let done = call.ask.ask(&document, json!({ "input": input })).await?.whole()?;
    let mut reply = carried_out(told(&done["done"]["run"]));
    let session = text(&done["done"]["session"], "id");
    reply.ids.insert("session_id", session.to_owned());
    reply.say(format!("session_id {session}"));
    if let Some(said) = done["done"]["view"]["answer"]["text"].as_str() {
        reply.say(said);
    }
    Ok(reply)
}

fn carried_out(reply: Reply) -> Reply {
    Reply { carried_out: true, ..reply }
}

fn needed(given: Option<String>, name: &'static str) -> Result<String, Failure> {
    given.ok_or_else(|| missing(name))
}

/// The error for an action without what it needs.
pub(super) fn missing(name: &'static str) -> Failure {
    RpcError::invalid(name, "a value with this action", "nothing").into()
}

/// How a run stands, once it does not go on by itself, or has gone on for a while.
async fn shown(call: &Call, run: &str) -> Result<Reply, Failure> {
    let document = format!("query($id: ID!) {{ run(id: $id) {{ {RUN} }} }}");
    for look in 1.. {
        let answer = call.ask.ask(&document, json!({ "id": run })).await?.whole()?;
        let found = &answer["run"];
        let is_busy = match text(found, "status") {
            "RUNNING" => true,
            // Where nothing is asked it waits for another run, which does something or asks.
            "WAITING" => open(found).is_empty(),
            _ => false,
        };
        if !is_busy || look == LOOKS {
            return Ok(told(found));
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(Reply::default())
}

/// What a run asks, or those that it waits for.
fn open(run: &Value) -> Vec<&Value> {
    let runs: Vec<&Value> = items(&run["session"]["runs"]["nodes"]).collect();
    let others = waited_for(text(run, "id"), runs, |of| text(of, "id"), |of| of["parent"]["id"].as_str());
    let asking = std::iter::once(run).chain(others);
    let asked = asking.flat_map(|of| items(&of["interrupts"]));
    asked.filter(|of| text(of, "status") == "OPEN").collect()
}

fn told(run: &Value) -> Reply {
    let mut reply = match run["program"].is_object() {
        true => Reply::about(&run["program"]),
        false => Reply::default(),
    };
    let status = text(run, "status");
    let open = open(run);
    reply.outcome = Some(match status {
        "WAITING" if !open.is_empty() => "awaiting_approval",
        "WAITING" => "waiting",
        "RUNNING" => "running",
        "COMPLETED" => "completed",
        "CANCELLED" => "cancelled",
        _ => "failed",
    });
    reply.is_error = status == "FAILED";
    reply.ids.insert("run_id", text(run, "id").to_owned());
    // The next one is told with the answer to this one.
    reply.ids.extend(open.first().map(|first| ("interrupt_id", text(first, "id").to_owned())));
    let at = run["node"].as_str().map(|node| format!(" at {node}")).unwrap_or_default();
    reply.say(format!(
        "run_id {} of {}: {}{at}",
        text(run, "id"),
        text(&run["flow"], "name"),
        status.to_lowercase()
    ));
    if run["error"].is_object() {
        reply.say(format!("{} ({})", text(&run["error"], "message"), text(&run["error"], "code")));
    }
    for of in open {
        reply.say(format!("interrupt_id {} {}: {}", text(of, "id"), text(of, "type"), text(of, "question")));
        let choices: Vec<&str> = items(&of["choices"]).filter_map(Value::as_str).collect();
        if !choices.is_empty() {
            reply.say(format!("choices: {}", choices.join(", ")));
        }
    }
    reply.noun = "steps";
    reply.items.extend(items(&run["progress"]).filter_map(Value::as_str).map(Into::into));
    reply
}

async fn list(call: &Call, args: &Args) -> Result<Reply, Failure> {
    let document = "query($first: Int!, $flow: String, $session: ID) {
      runs(first: $first, flow: $flow, sessionId: $session) { totalCount nodes {
        id flow { name } status node program { name }
      } }
    }";
    let variables =
        json!({ "first": args.limit.unwrap_or(20), "flow": args.flow, "session": args.session_id });
    let answer = call.ask.ask(document, variables).await?.whole()?;
    let runs = &answer["runs"];
    let mut reply = Reply { outcome: Some("listed"), noun: "runs", ..Reply::default() };
    reply.count("runs", &runs["totalCount"]);
    reply.items.extend(items(&runs["nodes"]).map(|run| {
        let about = run["program"]["name"].as_str().map(|name| format!(" about {name}")).unwrap_or_default();
        let at = run["node"].as_str().map(|node| format!(" at {node}")).unwrap_or_default();
        let status = text(run, "status").to_lowercase();
        format!("{} {}{about}: {status}{at}", text(run, "id"), text(&run["flow"], "name")).into()
    }));
    let shown = reply.items.len() as u64;
    reply.further = runs["totalCount"].as_u64().unwrap_or(shown).saturating_sub(shown);
    reply.otherwise = Some("a larger limit, or one flow or session".to_owned());
    Ok(reply)
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
