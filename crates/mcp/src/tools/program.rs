//! The tool `program`: which programs there are, what one is made of, and a new one.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::about::{self, counted, page, text};
use super::findings::{self, DIAGNOSTIC, EDIT_ERROR};
use crate::arguments::{schema, typed};
use crate::failure::{Failure, RpcError};
use crate::reply::Reply;
use crate::tool::{Call, Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// list: programs. overview: modules, types and functions of one. create: a new one.
    action: Action,
    /// overview: name or id.
    program: Option<String>,
    /// overview: revision `r7`, branch or checkpoint; default the head.
    at: Option<String>,
    /// create: its name.
    name: Option<String>,
    /// create: its content in the text form, with `module` lines; without it, it is empty.
    text: Option<String>,
    /// create: what it is for.
    doc: Option<String>,
    /// list, overview: only what has this text in its name.
    search: Option<String>,
    /// Same key, same answer: a repeated create makes one program.
    idempotency_key: Option<String>,
    /// next_cursor of the answer before.
    cursor: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    #[expect(dead_code, reason = "the desk reads it")]
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Overview,
    Create,
}

pub(super) static TOOL: Tool = Tool {
    name: "program",
    title: "Programs",
    description: "Start here. Lists programs, shows what one is made of (each function with its ref, signature and \
                  doc), or creates one. For bodies of functions use retrieve_subgraph.",
    effect: Effect::Appends,
    rate: None,
    begins: None,
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

const LIST: &str = "query($first: Int!, $after: String, $search: String) {
  programs(first: $first, after: $after, search: $search) {
    totalCount pageInfo { hasNextPage }
    edges { cursor node { name doc revision { number } stats { functions nodes } } }
  }
}";

const OVERVIEW: &str =
    "query($id: ID, $name: String, $at: String, $first: Int!, $after: String, $search: String) {
  program(id: $id, name: $name, at: $at) {
    name doc branch revision { number message actor { name } }
    stats { modules types functions nodes holes warnings }
    modules(first: 50) { totalCount nodes { ref path } }
    types(first: 50) { totalCount nodes { ref path text } }
    functions(first: $first, after: $after, search: $search) {
      totalCount pageInfo { hasNextPage }
      edges { cursor node { ref path visibility signature doc complete } }
    }
  }
}";

/// Functions and programs of a page.
const PAGE: u32 = 200;

async fn run(call: &Call, args: Args) -> Result<Reply, Failure> {
    match args.action {
        Action::List => list(call, args).await,
        Action::Overview => overview(call, args).await,
        Action::Create => create(call, args).await,
    }
}

async fn list(call: &Call, args: Args) -> Result<Reply, Failure> {
    let variables = json!({ "first": PAGE, "after": args.cursor, "search": args.search });
    let data = call.ask(LIST, variables).await?;
    let mut reply = Reply { noun: "programs", ..Reply::default() };
    if args.cursor.is_none() {
        reply.say(counted(&data["programs"]["totalCount"], "program", "programs"));
    }
    page(&mut reply, &data["programs"], args.cursor.as_deref(), |program| {
        let stats = &program["stats"];
        let doc = program["doc"].as_str().map(|doc| format!(" ; {}", first_line(doc))).unwrap_or_default();
        format!(
            "{} @ {}: {}, {}{doc}",
            text(program, "name"),
            about::revision(&program["revision"]),
            counted(&stats["functions"], "function", "functions"),
            counted(&stats["nodes"], "node", "nodes")
        )
    });
    Ok(reply)
}

async fn overview(call: &Call, args: Args) -> Result<Reply, Failure> {
    let program = args.program.ok_or_else(|| RpcError::invalid("program", "string", "nothing"))?;
    let mut variables = about::program(&program, args.at.as_deref());
    variables["first"] = PAGE.into();
    variables["after"] = json!(args.cursor);
    variables["search"] = json!(args.search);
    let data = call.ask(OVERVIEW, variables).await?;
    let program = &data["program"];
    let mut reply = Reply { noun: "functions", ..Reply::about(program) };
    let stats = &program["stats"];
    for name in ["modules", "types", "functions", "nodes", "holes", "warnings"] {
        reply.count(name, &stats[name]);
    }
    if args.cursor.is_none() {
        if let Some(doc) = program["doc"].as_str() {
            reply.say(doc);
        }
        let branch = program["branch"].as_str().map(|name| format!(" of {name}")).unwrap_or_default();
        reply.say(format!("the newest{branch} by {}", text(&program["revision"]["actor"], "name")));
        let sizes = [
            ("module", "modules"),
            ("type", "types"),
            ("function", "functions"),
            ("node", "nodes"),
            ("hole", "holes"),
            ("warning", "warnings"),
        ];
        let sizes: Vec<String> =
            sizes.iter().map(|(one, several)| counted(&stats[*several], one, several)).collect();
        reply.say(sizes.join(", "));
        for module in program["modules"]["nodes"].as_array().into_iter().flatten() {
            reply.items.push(format!("{} module {}", text(module, "ref"), text(module, "path")).into());
        }
        for of in program["types"]["nodes"].as_array().into_iter().flatten() {
            let told = of["text"].as_str().unwrap_or_else(|| text(of, "path"));
            reply.items.push(format!("{} {told}", text(of, "ref")).into());
        }
        for name in ["modules", "types"] {
            let list = &program[name];
            let shown = list["nodes"].as_array().map_or(0, Vec::len) as u64;
            let more = list["totalCount"].as_u64().unwrap_or_default().saturating_sub(shown);
            if more > 0 {
                let told =
                    format!("{more} more {name}: search finds them, the graphql tool pages Program.{name}");
                reply.items.push(told.into());
            }
        }
    }
    page(&mut reply, &program["functions"], args.cursor.as_deref(), function);
    Ok(reply)
}

fn function(function: &Value) -> String {
    let public = if function["visibility"] == "PUBLIC" { "pub " } else { "" };
    let incomplete = if function["complete"] == true { "" } else { " incomplete" };
    let doc = function["doc"].as_str().map(|doc| format!(" ; {}", first_line(doc))).unwrap_or_default();
    format!(
        "{} {public}func {} {}{incomplete}{doc}",
        text(function, "ref"),
        text(function, "path"),
        text(function, "signature")
    )
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

async fn create(call: &Call, args: Args) -> Result<Reply, Failure> {
    let name = args.name.ok_or_else(|| RpcError::invalid("name", "string", "nothing"))?;
    let document = format!(
        "mutation($input: CreateProgramInput!) {{ createProgram(input: $input) {{
           program {{ name revision {{ number }} stats {{ modules functions nodes }} modules {{ nodes {{ ref path }} }} }}
           errors {{ {EDIT_ERROR} }} warnings {{ {DIAGNOSTIC} }}
         }} }}"
    );
    let input = json!({
        "name": name, "text": args.text, "doc": args.doc, "idempotencyKey": args.idempotency_key,
    });
    let data = call.ask(&document, json!({ "input": input })).await?;
    let made = &data["createProgram"];
    let warnings = made["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
    if made["program"].is_null() {
        let errors = made["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut reply =
            Reply { program: Some(name), outcome: Some("rejected"), is_error: true, ..Reply::default() };
        reply.noun = "mistakes";
        reply.say(format!("rejected, nothing was created: {}", findings::mistakes(errors.len())));
        reply.items.extend(errors.iter().map(findings::mistake));
        return Ok(reply);
    }
    let program = &made["program"];
    let mut reply = Reply { outcome: Some("created"), carried_out: true, ..Reply::about(program) };
    for name in ["modules", "functions", "nodes"] {
        reply.count(name, &program["stats"][name]);
    }
    reply.say("created; pass the revision above as base_revision of propose_structured_edit");
    for module in program["modules"]["nodes"].as_array().into_iter().flatten() {
        reply.items.push(format!("{} module {}", text(module, "ref"), text(module, "path")).into());
    }
    reply.items.extend(warnings.iter().map(findings::diagnostic).map(Into::into));
    Ok(reply)
}
