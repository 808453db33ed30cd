//! The tool `diff`: how two revisions differ, function by function.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::about::{self, changed, revision, text};
use crate::address::{SCHEME, encoded};
use crate::arguments::{schema, typed};
use crate::failure::{Failure, RpcError};
use crate::reply::{Item, Link, Reply};
use crate::tool::{Call, Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or id.
    program: String,
    /// Revision `r7`, branch or checkpoint.
    from: String,
    /// Default the head.
    to: Option<String>,
    /// next_cursor of the answer before.
    cursor: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    #[expect(dead_code, reason = "the desk reads it")]
    max_tokens: Option<u64>,
}

pub(super) static TOOL: Tool = Tool {
    name: "diff",
    title: "Differences",
    description: "Shows how two revisions differ: counts, and for each changed function what became of it, as a unified \
                  diff of its text.",
    effect: Effect::Reads,
    rate: None,
    begins: None,
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

const DIFF: &str = "query($id: ID, $name: String, $from: String!, $to: String!, $after: String) {
  program(id: $id, name: $name) {
    name
    diff(from: $from, to: $to) {
      from { number } to { number } changed { added removed modified functions }
      functions(first: 50, after: $after) {
        totalCount pageInfo { hasNextPage } edges { cursor node { ref path change text } }
      }
    }
  }
}";

async fn run(call: &Call, args: Args) -> Result<Reply, Failure> {
    let to = args.to.as_deref().unwrap_or("main");
    page(call, &args.program, (&args.from, to), args.cursor.as_deref()).await
}

/// A page of the difference between two revisions of a program.
pub(crate) async fn page(
    call: &Call,
    program: &str,
    (from, to): (&str, &str),
    cursor: Option<&str>,
) -> Result<Reply, Failure> {
    let (after, skipped) = place(cursor)?;
    let mut variables = about::program(program, None);
    variables["from"] = from.into();
    variables["to"] = to.into();
    variables["after"] = json!(after);
    let data = call.ask(DIFF, variables).await?;
    let program = &data["program"];
    let diff = &program["diff"];
    let (from, to) = (revision(&diff["from"]), revision(&diff["to"]));
    let mut reply = Reply { noun: "lines", ..Reply::about(program) };
    reply.revision = Some(to.clone());
    let counts = changed(&mut reply, &diff["changed"]);
    if cursor.is_none() {
        reply.say(format!("{from} to {to}: {counts}"));
    }
    let functions = &diff["functions"];
    let mut before = after.unwrap_or_default();
    for (index, edge) in functions["edges"].as_array().into_iter().flatten().enumerate() {
        let behind = text(edge, "cursor");
        let told = function(&edge["node"]);
        let count = told.lines().count();
        let skipped = if index == 0 { skipped } else { 0 };
        reply.items.extend(told.lines().enumerate().skip(skipped).map(|(line, told)| Item {
            text: told.to_owned(),
            cursor: Some(match line + 1 < count {
                true => format!("{before}+{}", line + 1),
                false => behind.to_owned(),
            }),
            data: None,
        }));
        before = behind;
    }
    reply.count("total", &functions["totalCount"]);
    if functions["pageInfo"]["hasNextPage"] == true {
        (reply.further, reply.uncounted) = (1, true);
    }
    if let Some(program) = &reply.program {
        reply.links.push(link(program, &from, &to));
    }
    Ok(reply)
}

/// Where a cursor goes on: behind a function, and behind so many lines of the next one.
fn place(cursor: Option<&str>) -> Result<(Option<&str>, usize), RpcError> {
    let Some(cursor) = cursor else { return Ok((None, 0)) };
    let Some((after, line)) = cursor.rsplit_once('+') else { return Ok((Some(cursor), 0)) };
    let wrong = |_| RpcError::invalid("cursor", "a next_cursor of this tool", format!("`{cursor}`"));
    Ok(((!after.is_empty()).then_some(after), line.parse().map_err(wrong)?))
}

/// What became of a function.
fn function(changed: &Value) -> String {
    format!(
        "{} {} {}\n{}",
        text(changed, "change").to_lowercase(),
        text(changed, "ref"),
        text(changed, "path"),
        text(changed, "text").trim_end()
    )
}

/// Where the difference can be read page by page.
pub(super) fn link(program: &str, from: &str, to: &str) -> Link {
    Link {
        uri: format!("{SCHEME}program/{}/diff/{from}..{to}", encoded(program)),
        name: "diff".to_owned(),
        description: format!("the difference of {from} and {to}"),
    }
}
