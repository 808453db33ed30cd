//! The tool `read_context`: what one has to know about some entities, within a budget.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::about::{self, text, texts};
use crate::arguments::{schema, typed};
use crate::budget::{CAP, DEFAULT};
use crate::failure::{Failure, Refused, RpcError};
use crate::rates::Rate;
use crate::reply::Reply;
use crate::tool::{Call, Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or id; with focus.
    program: Option<String>,
    /// Refs or paths that the context is about.
    #[schemars(length(min = 1, max = 50))]
    focus: Option<Vec<String>>,
    /// The token of the answer before: only what changed since is told.
    since: Option<String>,
    detail: Option<Detail>,
    /// Documents instead: words to look for. Not supported yet.
    query: Option<String>,
    /// Documents: how many.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u32>,
    /// Documents: how they are looked through.
    mode: Option<String>,
    /// Documents: tags, priority, assignee.
    filters: Option<Map<String, Value>>,
    /// Revision `r7`, branch or checkpoint; default the head.
    at: Option<String>,
    /// Documents: next_cursor of the answer before.
    cursor: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Detail {
    Summary,
    Standard,
    Full,
}

pub(super) static TOOL: Tool = Tool {
    name: "read_context",
    title: "Context",
    description: "Gathers what one has to know to work on some functions, types or nodes: they themselves, what they use, \
                  who uses them, within the budget, and what was left out. With `since` only what changed. 10 calls a \
                  minute.",
    effect: Effect::Reads,
    rate: Some(Rate(10)),
    begins: Some(("build-context", "building the context")),
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

const CONTEXT: &str = "query($id: ID, $name: String, $at: String, $input: ContextInput!) {
  program(id: $id, name: $name, at: $at) {
    name revision { number }
    context(input: $input) {
      text tokensUsed tokensWhole token complete stages included { ref } omitted { what count howToAsk } changedSince
    }
  }
}";

/// Tokens that the head, the data and what was left out take.
const AROUND: u64 = 500;

async fn run(call: &Call, args: Args) -> Result<Reply, Failure> {
    let documents =
        args.query.is_some() || args.mode.is_some() || args.filters.is_some() || args.limit.is_some();
    if documents || args.cursor.is_some() {
        let message =
            "documents are not supported yet: give a program and what the context is about as `focus`";
        return Err(Refused::unsupported(message).into());
    }
    let focus = args.focus.ok_or_else(|| RpcError::invalid("focus", "refs or paths", "nothing"))?;
    let program = args.program.ok_or_else(|| RpcError::invalid("program", "string", "nothing"))?;
    let most = args.max_tokens.unwrap_or(DEFAULT).min(CAP);
    (call.progress)(&format!("collecting what {} entities need", focus.len()));
    let mut variables = about::program(&program, args.at.as_deref());
    variables["input"] = json!({
        "focus": focus,
        "budgetTokens": most.saturating_sub(AROUND).max(most / 2),
        "since": args.since,
        "detail": match args.detail {
            Some(Detail::Summary) => "SUMMARY",
            Some(Detail::Standard) | None => "STANDARD",
            Some(Detail::Full) => "FULL",
        },
    });
    let data = call.ask(CONTEXT, variables).await?;
    let program = &data["program"];
    let pack = &program["context"];
    let mut reply = Reply::about(program);
    reply.outcome = Some(if pack["complete"] == true { "complete" } else { "abridged" });
    reply.count("tokens", &pack["tokensUsed"]);
    reply.count("tokens_whole", &pack["tokensWhole"]);
    reply.counts.insert("included", pack["included"].as_array().map_or(0, Vec::len).try_into().unwrap_or(0));
    reply.say(format!("since: {}", text(pack, "token")));
    let stages = texts(&pack["stages"]);
    if !stages.is_empty() {
        reply.say(format!("abridged by: {}", stages.join(", ")));
    }
    let changed = texts(&pack["changedSince"]);
    if !changed.is_empty() {
        reply.say(format!(
            "changed since: {}",
            changed.iter().take(60).copied().collect::<Vec<_>>().join(" ")
        ));
    }
    for left in pack["omitted"].as_array().into_iter().flatten().take(10) {
        reply.say(format!("left out: {} {}; {}", left["count"], text(left, "what"), text(left, "howToAsk")));
    }
    // As a whole: it was made to fit.
    let told = text(pack, "text").trim_end();
    // Its first line is the head, which stands above.
    let told = told
        .split_once('\n')
        .filter(|(head, _)| head.starts_with("; program "))
        .map_or(told, |(_, rest)| rest);
    reply.items.push(told.into());
    Ok(reply)
}
