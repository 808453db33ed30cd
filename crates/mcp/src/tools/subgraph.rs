//! The tool `retrieve_subgraph`: functions as text, and what lies around a node.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::about::{self, is_ref, text, texts};
use crate::arguments::{schema, typed};
use crate::cursor::{Lines, Paged};
use crate::failure::{Failure, RpcError};
use crate::reply::Reply;
use crate::tool::{Call, Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or id.
    program: String,
    /// Refs or paths: functions `f2`, `m::name`; modules, types, globals; nodes `n12`, `m::f::sum`. Without: all as text.
    #[schemars(length(max = 20))]
    of: Option<Vec<String>>,
    /// text: as written, with refs. neighborhood: nodes up to `hops` edges away. backward, forward: what a node's value is
    /// made of, what is made of it. calls: callers and callees. impact: what a change could affect. Default text.
    view: Option<View>,
    /// neighborhood: 1 to 3, default 1.
    #[schemars(range(min = 1, max = 3))]
    hops: Option<u32>,
    /// neighborhood: default both.
    direction: Option<Direction>,
    /// neighborhood: also through calls.
    cross_calls: Option<bool>,
    /// Default 200.
    #[schemars(range(min = 1, max = 1000))]
    max_nodes: Option<u32>,
    /// Default full for text, standard else.
    detail: Option<Detail>,
    /// Revision `r7`, branch or checkpoint; default the head.
    at: Option<String>,
    /// next_cursor of the answer before.
    cursor: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    #[expect(dead_code, reason = "the desk reads it")]
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum View {
    Text,
    Neighborhood,
    Backward,
    Forward,
    Calls,
    Impact,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Direction {
    In,
    Out,
    Both,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Detail {
    Summary,
    Standard,
    Full,
}

pub(super) static TOOL: Tool = Tool {
    name: "retrieve_subgraph",
    title: "Read code",
    description: "Reads a program: functions and modules in the text form with refs of their nodes, or what lies around \
                  a node or function in the graph. To find something by words use search.",
    effect: Effect::Reads,
    rate: None,
    begins: None,
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

const HEAD: &str = "name revision { number }";

async fn run(call: &Call, mut args: Args) -> Result<Reply, Failure> {
    let view = args.view.unwrap_or(View::Text);
    let (pinned, lines) = view.paged().lines(args.cursor.as_deref())?;
    // The lines go on where they were cut, of the revision that they are of.
    args.at = pinned.or(args.at);
    let of = args.of.clone().unwrap_or_default();
    if of.is_empty() && view != View::Text {
        return Err(RpcError::invalid("of", "refs or paths", "nothing").into());
    }
    match view {
        View::Text => written(call, &args, &of, lines).await,
        View::Neighborhood => around(call, &args, &of, lines).await,
        View::Backward | View::Forward => slice(call, &args, &of, view, lines).await,
        View::Calls => calls(call, &args, &of, lines).await,
        View::Impact => impact(call, &args, &of, lines).await,
    }
}

impl View {
    /// What its answers are pages of.
    fn paged(self) -> Paged {
        match self {
            View::Text => Paged::Text,
            View::Neighborhood => Paged::Neighborhood,
            View::Backward => Paged::Backward,
            View::Forward => Paged::Forward,
            View::Calls => Paged::Calls,
            View::Impact => Paged::Impact,
        }
    }
}

impl Args {
    fn variables(&self) -> Value {
        about::program(&self.program, self.at.as_deref())
    }

    fn detail(&self, default: &'static str) -> &'static str {
        match self.detail {
            None => default,
            Some(Detail::Summary) => "SUMMARY",
            Some(Detail::Standard) => "STANDARD",
            Some(Detail::Full) => "FULL",
        }
    }
}

/// What is asked of an entity of any kind.
const ENTITY: &str = "__typename
  ... on Function { ref path contentHash text(detail: $detail) }
  ... on ComputeNode { ref owner { path } region { ref } text(detail: $detail) }
  ... on TypeDef { ref path text }
  ... on Storage { ref path text }
  ... on Contract { ref text }
  ... on Module { ref path hash: contentHash }
  ... on Region { ref owner { ref path } ownerNode { ref } params { name type } }
  ... on Var { ref owner { ref path } name type }";

async fn written(call: &Call, args: &Args, of: &[String], lines: Lines) -> Result<Reply, Failure> {
    let mut variables = args.variables();
    variables["detail"] = args.detail("FULL").into();
    if of.is_empty() {
        let document = format!(
            "query($id: ID, $name: String, $at: String, $detail: Detail!) {{
               program(id: $id, name: $name, at: $at) {{ {HEAD} text(detail: $detail) }} }}"
        );
        let data = call.ask(&document, variables).await?;
        let mut reply = Reply::about(&data["program"]);
        reply.lines(text(&data["program"], "text"), lines);
        return Ok(reply);
    }
    let (mut declared, mut fields) = (String::new(), String::new());
    for (index, of) in of.iter().enumerate() {
        declared.push_str(&format!(", $o{index}: String!"));
        fields.push_str(&format!(" a{index}: entity(of: $o{index}) {{ {ENTITY} }}"));
        variables[format!("o{index}")] = of.as_str().into();
    }
    let document = format!(
        "query($id: ID, $name: String, $at: String, $detail: Detail!{declared}) {{
           program(id: $id, name: $name, at: $at) {{ {HEAD}{fields} }} }}"
    );
    let data = call.ask(&document, variables).await?;
    let program = &data["program"];
    let mut reply = Reply::about(program);
    let mut told = String::new();
    for index in 0..of.len() {
        let found = &program[format!("a{index}")];
        told.push_str(&heading(found));
        match text(found, "__typename") {
            "Module" => told.push_str(&module(call, args, text(found, "ref")).await?),
            "Region" | "Var" => {}
            _ => told.push_str(text(found, "text")),
        }
        if !told.ends_with('\n') {
            told.push('\n');
        }
    }
    reply.lines(&told, lines);
    Ok(reply)
}

/// The line above the text of an entity, which says what it is. It is no comment: where the text is sent back, that would be
/// the doc of what follows.
fn heading(found: &Value) -> String {
    let of = text(found, "ref");
    let owner = || format!("{} {}", text(&found["owner"], "ref"), text(&found["owner"], "path"));
    match text(found, "__typename") {
        kind @ ("Function" | "Module") => {
            // Of functions it may be missing, so the two are not one field.
            let hash = text(found, if kind == "Module" { "hash" } else { "contentHash" });
            format!("== {of} {} hash {}\n", text(found, "path"), hash.get(..16).unwrap_or_default())
        }
        "ComputeNode" => {
            format!("== {of} in {} {}\n", text(&found["owner"], "path"), text(&found["region"], "ref"))
        }
        "Region" => {
            let params = found["params"].as_array().map(Vec::as_slice).unwrap_or_default();
            let params: Vec<String> = params
                .iter()
                .map(|param| format!("{}: {}", text(param, "name"), text(param, "type")))
                .collect();
            let node = text(&found["ownerNode"], "ref");
            format!("== {of} in {} {node} ({})", owner(), params.join(", "))
        }
        "Var" => format!("== {of} in {} var {}: {}", owner(), text(found, "name"), text(found, "type")),
        _ => format!("== {of} {}\n", text(found, "path")),
    }
}

/// The text of a module.
async fn module(call: &Call, args: &Args, of: &str) -> Result<String, Failure> {
    let mut variables = args.variables();
    variables["detail"] = args.detail("FULL").into();
    variables["module"] = of.into();
    let document = "query($id: ID, $name: String, $at: String, $detail: Detail!, $module: String!) {
      program(id: $id, name: $name, at: $at) { text(module: $module, detail: $detail) } }";
    let data = call.ask(document, variables).await?;
    Ok(text(&data["program"], "text").to_owned())
}

const AROUND: &str = "query($id: ID, $name: String, $at: String, $input: NeighborhoodInput!) {
  program(id: $id, name: $name, at: $at) {
    name revision { number }
    neighborhood(input: $input) { text nodeCount truncated frontier }
  }
}";

async fn around(call: &Call, args: &Args, of: &[String], lines: Lines) -> Result<Reply, Failure> {
    let direction = match args.direction {
        Some(Direction::In) => "IN",
        Some(Direction::Out) => "OUT",
        Some(Direction::Both) | None => "BOTH",
    };
    let mut variables = args.variables();
    variables["input"] = json!({
        "center": of,
        "hops": args.hops.unwrap_or(1),
        "direction": direction,
        "crossCalls": args.cross_calls.unwrap_or(false),
        "maxNodes": args.max_nodes.unwrap_or(200),
        "detail": args.detail("STANDARD"),
    });
    let data = call.ask(AROUND, variables).await?;
    let program = &data["program"];
    let mut reply = Reply::about(program);
    graph(&mut reply, &program["neighborhood"], lines);
    Ok(reply)
}

const SLICE: &str = "query($id: ID, $name: String, $at: String, $node: String!, $direction: SliceDirection!, $most: Int!, $detail: Detail!) {
  program(id: $id, name: $name, at: $at) {
    name revision { number }
    slice(node: $node, direction: $direction, maxNodes: $most, detail: $detail) { text nodeCount truncated frontier }
  }
}";

async fn slice(call: &Call, args: &Args, of: &[String], view: View, lines: Lines) -> Result<Reply, Failure> {
    let [node] = of else {
        return Err(RpcError::invalid("of", "one node", format!("{} of them", of.len())).into());
    };
    let mut variables = args.variables();
    variables["node"] = node.as_str().into();
    variables["direction"] = if view == View::Backward { "BACKWARD" } else { "FORWARD" }.into();
    variables["most"] = args.max_nodes.unwrap_or(200).into();
    variables["detail"] = args.detail("STANDARD").into();
    let data = call.ask(SLICE, variables).await?;
    let program = &data["program"];
    let mut reply = Reply::about(program);
    graph(&mut reply, &program["slice"], lines);
    Ok(reply)
}

/// Nodes that are told of a frontier.
const FRONTIER: usize = 40;

/// Tells a part of the graph: its text, and from where it goes on.
fn graph(reply: &mut Reply, graph: &Value, lines: Lines) {
    reply.count("nodes", &graph["nodeCount"]);
    let frontier = texts(&graph["frontier"]);
    if !frontier.is_empty() {
        let shown = frontier.iter().take(FRONTIER).copied().collect::<Vec<_>>().join(" ");
        let more = match frontier.len().saturating_sub(FRONTIER) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        reply.say(format!("frontier, to ask for next: {shown}{more}"));
    }
    reply.lines(text(graph, "text"), lines);
    if graph["truncated"] == true {
        // Nothing goes on behind the last line.
        if let Some(last) = reply.items.last_mut() {
            last.cursor = None;
        }
        (reply.further, reply.uncounted) = (1, true);
        reply.otherwise = Some("raise max_nodes, or ask for what lies at the frontier".to_owned());
    }
}

/// Lines of a list beyond which no answer goes, whatever its budget.
const ENOUGH: usize = 4_000;

async fn calls(call: &Call, args: &Args, of: &[String], lines: Lines) -> Result<Reply, Failure> {
    const PAGE: &str = "totalCount nodes { ref path } pageInfo { hasNextPage endCursor }";
    let mut variables = args.variables();
    let mut declared = String::new();
    let mut fields = String::new();
    for (index, of) in of.iter().enumerate() {
        declared.push_str(&format!(", $o{index}: String!"));
        fields.push_str(&format!(
            " a{index}: function({}: $o{index}) {{ ref path callers(first: 200) {{ {PAGE} }} callees(first: 200) {{ {PAGE} }} }}",
            by(of)
        ));
        variables[format!("o{index}")] = of.as_str().into();
    }
    let document = format!(
        "query($id: ID, $name: String, $at: String{declared}) {{
           program(id: $id, name: $name, at: $at) {{ {HEAD}{fields} }} }}"
    );
    let data = call.ask(&document, variables).await?;
    let program = &data["program"];
    let mut reply = Reply::about(program);
    let (mut told, mut all) = (Vec::new(), 0);
    for (index, of) in of.iter().enumerate() {
        let function = &program[format!("a{index}")];
        for (list, word) in [("callers", "is called by"), ("callees", "calls")] {
            let mut page = function[list].clone();
            all += page["totalCount"].as_u64().unwrap_or_default();
            while told.len() < lines.from + ENOUGH {
                told.extend(page["nodes"].as_array().into_iter().flatten().map(|other| {
                    let (one, path) = (text(function, "ref"), text(function, "path"));
                    format!("{one} {path} {word} {} {}", text(other, "ref"), text(other, "path"))
                }));
                let Some(after) = next(&page) else { break };
                let mut variables = about::program(&args.program, reply.revision.as_deref());
                variables["of"] = of.as_str().into();
                variables["after"] = after.into();
                let document = format!(
                    "query($id: ID, $name: String, $at: String, $of: String!, $after: String!) {{
                       program(id: $id, name: $name, at: $at) {{
                         function({}: $of) {{ page: {list}(first: 500, after: $after) {{ {PAGE} }} }} }} }}",
                    by(of)
                );
                let mut data = call.ask(&document, variables).await?;
                page = data["program"]["function"]["page"].take();
            }
        }
    }
    reply.further = all.saturating_sub(count(told.len()));
    if told.is_empty() {
        told.push("no calls".to_owned());
    }
    reply.lines(&told.join("\n"), lines);
    Ok(reply)
}

/// How a function is named in an operation.
fn by(of: &str) -> &'static str {
    if is_ref(of, 'f') { "ref" } else { "name" }
}

/// Where a page of a connection goes on.
fn next(page: &Value) -> Option<&str> {
    let info = &page["pageInfo"];
    (info["hasNextPage"] == true).then(|| info["endCursor"].as_str()).flatten()
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

const IMPACT: &str = "query($id: ID, $name: String, $at: String, $of: [String!]!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    name revision { number }
    impact(of: $of, first: 500, after: $after) {
      totalCount exports
      functions { totalCount nodes { ref path } pageInfo { hasNextPage endCursor } } types { ref path } storage { ref path }
      contracts { ref message }
    }
  }
}";

async fn impact(call: &Call, args: &Args, of: &[String], lines: Lines) -> Result<Reply, Failure> {
    let mut variables = args.variables();
    variables["of"] = json!(of);
    let mut data = call.ask(IMPACT, variables.clone()).await?;
    let mut reply = Reply::about(&data["program"]);
    variables["at"] = json!(reply.revision);
    let mut told = Vec::new();
    let after = loop {
        let functions = &data["program"]["impact"]["functions"];
        told.extend(functions["nodes"].as_array().into_iter().flatten().map(|of| named("function", of)));
        let after = next(functions).map(str::to_owned);
        if after.is_none() || told.len() >= lines.from + ENOUGH {
            break after;
        }
        variables["after"] = json!(after);
        data = call.ask(IMPACT, variables.clone()).await?;
    };
    let impact = &data["program"]["impact"];
    let all = impact["totalCount"].as_u64().unwrap_or_default();
    reply.count("total", &impact["totalCount"]);
    reply.say(format!("a change could affect {all}"));
    if after.is_none() {
        for (kind, list) in [("type", "types"), ("storage", "storage"), ("contract", "contracts")] {
            told.extend(impact[list].as_array().into_iter().flatten().map(|of| named(kind, of)));
        }
    }
    // Of types, storage and contracts the API lists no more than a thousand each; nothing goes on behind these.
    let left_out = all.saturating_sub(count(told.len()));
    if after.is_none() {
        told.extend(texts(&impact["exports"]).iter().map(|name| format!("export {name}")));
    }
    reply.lines(&told.join("\n"), lines);
    reply.further = left_out;
    if after.is_none() && left_out > 0 {
        if let Some(last) = reply.items.last_mut() {
            last.cursor = None;
        }
        reply.otherwise = Some("ask for what a change of less could affect".to_owned());
    }
    Ok(reply)
}

/// A line of what a change could affect.
fn named(kind: &str, of: &Value) -> String {
    let name = of["path"].as_str().unwrap_or_else(|| text(of, "message"));
    format!("{kind} {} {name}", text(of, "ref"))
}
