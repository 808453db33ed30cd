//! The tool `search`: entities by words, nodes by what they are like.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::about::{self, counted, page, text};
use crate::arguments::{schema, typed};
use crate::failure::{Failure, RpcError};
use crate::reply::Reply;
use crate::tool::{Call, Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or id.
    program: String,
    /// Words of names, docs and code; the best come first. Either this or filter.
    query: Option<String>,
    /// query: only these. Default all but region, and node only where nothing else is found.
    kinds: Option<Vec<Kind>>,
    /// Nodes with all of: opcode (["CALL"]), opGroup, text, function, module, type, constant, usesFunction, hasDiagnostic,
    /// isHole, author, changedSince.
    filter: Option<Map<String, Value>>,
    /// Revision `r7`, branch or checkpoint; default the head.
    at: Option<String>,
    /// Results of a page, default 20.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
    /// next_cursor of the answer before.
    cursor: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    #[expect(dead_code, reason = "the desk reads it")]
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Module,
    Type,
    Function,
    Region,
    Variable,
    Contract,
    Node,
}

pub(super) static TOOL: Tool = Tool {
    name: "search",
    title: "Search",
    description: "Finds functions, types and nodes of a program by words, or nodes by operator, constant, type, finding \
                  or author. Answers refs for retrieve_subgraph.",
    effect: Effect::Reads,
    rate: None,
    begins: None,
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

const FIND: &str = "query($id: ID, $name: String, $at: String, $of: ID!, $query: String!, $kinds: [EntityKind!], $first: Int!, $after: String) {
  program(id: $id, name: $name, at: $at) { name revision { number } }
  findText(programId: $of, query: $query, kinds: $kinds, at: $at, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage }
    edges { cursor node { ref kind path text score } }
  }
}";

const FILTER: &str =
    "query($id: ID, $name: String, $at: String, $filter: NodeFilter!, $first: Int!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    name revision { number }
    search(filter: $filter, first: $first, after: $after) {
      totalCount pageInfo { hasNextPage }
      edges { cursor node { ref owner { path } text(detail: STANDARD) } }
    }
  }
}";

/// What a cursor begins with that goes on among nodes, at which nobody asked to look.
const AMONG_NODES: &str = "node:";

async fn run(call: &Call, args: Args) -> Result<Reply, Failure> {
    let mut variables = about::program(&args.program, args.at.as_deref());
    variables["first"] = args.limit.unwrap_or(20).into();
    variables["after"] = json!(args.cursor);
    match (args.query, args.filter) {
        (Some(query), None) => {
            variables["of"] = args.program.into();
            variables["query"] = query.into();
            let kinds = args.kinds.map(|kinds| kinds.into_iter().map(Kind::name).collect::<Vec<_>>());
            variables["kinds"] = json!(kinds);
            by_words(call, variables, args.cursor.as_deref()).await
        }
        (None, Some(filter)) => {
            variables["filter"] = filter.into();
            let data = call.ask(FILTER, variables).await?;
            Ok(told(&data["program"], &data["program"]["search"], args.cursor.as_deref(), node))
        }
        (Some(_), Some(_)) => Err(RpcError::invalid("filter", "either query or filter", "both").into()),
        (None, None) => Err(RpcError::invalid("query", "either query or filter", "nothing").into()),
    }
}

/// Finds entities by words: nodes only where they are asked for, or nothing else is found.
async fn by_words(call: &Call, mut variables: Value, cursor: Option<&str>) -> Result<Reply, Failure> {
    let anything = variables["kinds"].is_null();
    let among_nodes = cursor.filter(|_| anything).and_then(|cursor| cursor.strip_prefix(AMONG_NODES));
    if among_nodes.is_none() {
        let data = call.ask(FIND, variables.clone()).await?;
        let is_empty = data["findText"]["totalCount"] == 0;
        if !(anything && cursor.is_none() && is_empty) {
            return Ok(told(&data["program"], &data["findText"], cursor, entity));
        }
    }
    variables["kinds"] = json!([Kind::Node.name()]);
    variables["after"] = json!(among_nodes);
    let data = call.ask(FIND, variables).await?;
    let mut reply = told(&data["program"], &data["findText"], cursor, entity);
    for item in &mut reply.items {
        item.cursor = item.cursor.take().map(|cursor| format!("{AMONG_NODES}{cursor}"));
    }
    if cursor.is_none() && !reply.items.is_empty() {
        reply.say("all of them nodes: nothing else has these words");
    }
    Ok(reply)
}

/// Tells of a page of what was found, each in a line.
fn told(program: &Value, list: &Value, cursor: Option<&str>, line: fn(&Value) -> String) -> Reply {
    let mut reply = Reply { noun: "results", ..Reply::about(program) };
    page(&mut reply, list, cursor, line);
    if cursor.is_none() {
        reply.say(match list["totalCount"].as_u64() {
            Some(0) => "no match".to_owned(),
            _ => counted(&list["totalCount"], "result", "results"),
        });
    }
    reply
}

fn entity(found: &Value) -> String {
    let kind = text(found, "kind").to_lowercase();
    let (path, told) = (text(found, "path"), text(found, "text"));
    let place = if told.starts_with(path) { String::new() } else { format!("{path}: ") };
    format!("{} {kind} {place}{told}", text(found, "ref"))
}

fn node(found: &Value) -> String {
    format!("{}: {}", text(&found["owner"], "path"), text(found, "text").trim_end())
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Module => "MODULE",
            Kind::Type => "TYPE",
            Kind::Function => "FUNCTION",
            Kind::Region => "REGION",
            Kind::Variable => "VARIABLE",
            Kind::Contract => "CONTRACT",
            Kind::Node => "NODE",
        }
    }
}
