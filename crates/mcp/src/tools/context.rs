//! The tool `read_context`: what one has to know about some entities, within a budget.

use std::sync::LazyLock;

use lmlang_ir::counted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::about::{self, text, texts};
use crate::arguments::{schema, typed};
use crate::budget::{CAP, DEFAULT};
use crate::failure::{Failure, Refused, RpcCode, RpcError};
use crate::rates::Rate;
use crate::reply::{Reply, too_large};
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
      text tokensUsed tokensWhole token complete cached stages included { ref } omitted { what count refs } changedSince
    }
  }
}";

/// Tokens that all but the text are given first.
const AROUND: u64 = 300;

/// How often the text is made smaller until all of it fits.
const TRIES: usize = 6;

/// Changed refs that are told.
const NAMED: usize = 60;

/// Refs of what is left out that the API tells.
const LEFT_OUT: usize = 20;

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
    (call.progress)(&format!("collecting what {} need", counted(focus.len() as u64, "entity", "entities")));
    let mut variables = about::program(&program, args.at.as_deref());
    variables["input"] = json!({
        "focus": focus,
        "since": args.since,
        "detail": match args.detail {
            Some(Detail::Summary) => "SUMMARY",
            Some(Detail::Standard) | None => "STANDARD",
            Some(Detail::Full) => "FULL",
        },
    });
    // The token says that the text was told, so all of it has to be.
    let mut budget = most.saturating_sub(AROUND).max(most / 2).max(1);
    for _ in 0..TRIES {
        let Ok(made) = packed(call, &variables, budget).await? else { break };
        let size = made.reply.tokens();
        if size <= most {
            return Ok(made.within(most));
        }
        budget = budget.saturating_sub(size - most).max(1);
    }
    // What is around the smallest text is known only with it.
    let mut smallest = packed(call, &variables, 1).await?;
    if let Err(enough) = smallest {
        smallest = packed(call, &variables, enough).await?;
    }
    let size = smallest.as_ref().map_or_else(|enough| enough + AROUND, |made| made.reply.tokens());
    let fits = smallest.ok().filter(|_| size <= most);
    fits.map(|made| made.within(most)).ok_or_else(|| too_large(size, most).into())
}

/// A context as it is told.
struct Made {
    reply: Reply,
    /// Whether it was made before.
    cached: bool,
}

/// What saying that it was takes at most, in tokens.
const SAYING_SO: u64 = 24;

impl Made {
    /// The reply, which says that it was made before if there is room for that.
    fn within(self, most: u64) -> Reply {
        let Made { mut reply, cached } = self;
        if cached && reply.tokens() + SAYING_SO <= most {
            reply.say("cached: it was made before on this revision");
        }
        reply
    }
}

/// The context with a text of so many tokens at most, or with how many the smallest text is told.
async fn packed(call: &Call, variables: &Value, budget: u64) -> Result<Result<Made, u64>, Failure> {
    let mut variables = variables.clone();
    variables["input"]["budgetTokens"] = budget.into();
    match call.ask(CONTEXT, variables).await {
        Ok(data) => {
            let program = &data["program"];
            Ok(Ok(Made { reply: told(program), cached: program["context"]["cached"] == true }))
        }
        Err(Failure::Rpc(RpcError { code: RpcCode::TokenLimitExceeded, data })) => {
            Ok(Err(data["current_size"].as_u64().unwrap_or(budget)))
        }
        Err(error) => Err(error),
    }
}

fn told(program: &Value) -> Reply {
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
        reply.say(format!("changed since: {}", named(&changed, NAMED)));
    }
    let omitted = pack["omitted"].as_array().map_or(&[][..], Vec::as_slice);
    for left in omitted {
        let (what, refs) = (text(left, "what"), texts(&left["refs"]));
        // Where it is one, the words name it.
        let which = if refs.len() > 1 { format!(": {}", named(&refs, LEFT_OUT)) } else { String::new() };
        reply.say(format!("left out: {} {what}{which}", left["count"]));
    }
    if !omitted.is_empty() {
        reply.say("what is left out: retrieve_subgraph with it as `of`, or read_context with it as `focus`");
    }
    // As a whole: it was made to fit.
    let told = text(pack, "text").trim_end();
    // Its first line is the head, which stands above.
    let told = told
        .split_once('\n')
        .filter(|(head, _)| head.starts_with("; program "))
        .map_or(told, |(_, rest)| rest);
    reply.items.push(told.into());
    reply
}

/// The first of some refs, and that there are more.
fn named(refs: &[&str], most: usize) -> String {
    let told = refs.iter().take(most).copied().collect::<Vec<_>>().join(" ");
    if refs.len() < most { told } else { format!("{told} ..") }
}
