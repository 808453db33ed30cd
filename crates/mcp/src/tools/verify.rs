//! The tool `verify_and_propagate`: what the verifier finds, and which functions a change reaches.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::about::{self, counted, texts};
use super::findings::{self, DIAGNOSTIC};
use crate::arguments::{schema, typed};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::tool::{Call, Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or id.
    program: String,
    /// local: what a change reaches. full: everything. Default local.
    scope: Option<Scope>,
    /// local: what changed, refs or paths; default what the revision's own edits touched.
    touched: Option<Vec<String>>,
    /// local, without touched: what changed since this revision.
    since: Option<String>,
    /// Revision `r7`, branch or checkpoint; default the head.
    at: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    #[expect(dead_code, reason = "the desk reads it")]
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Scope {
    Local,
    Full,
}

pub(super) static TOOL: Tool = Tool {
    name: "verify_and_propagate",
    title: "Verify",
    description: "Verifies a program, or what a change of it reaches: all errors, warnings and incomplete places with \
                  code, place, expected and found types. Edits are verified anyway; use this for the whole, or for what \
                  others changed.",
    effect: Effect::Reads,
    rate: None,
    begins: Some(("verify", "verifying")),
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

async fn run(call: &Call, args: Args) -> Result<Reply, Failure> {
    let document = format!(
        "query($id: ID, $name: String, $at: String, $scope: VerifyScope!, $touched: [String!], $since: String) {{
           program(id: $id, name: $name, at: $at) {{
             name revision {{ number }}
             verify(scope: $scope, touched: $touched, since: $since) {{
               valid complete truncated checkedFunctions reusedFunctions dirtyFunctions
               errors {{ {DIAGNOSTIC} }} warnings {{ {DIAGNOSTIC} }}
             }}
           }} }}"
    );
    let mut variables = about::program(&args.program, args.at.as_deref());
    variables["scope"] = match args.scope {
        Some(Scope::Full) => "FULL",
        Some(Scope::Local) | None => "LOCAL",
    }
    .into();
    variables["touched"] = json!(args.touched);
    variables["since"] = json!(args.since);
    let data = call.ask(&document, variables).await?;
    let program = &data["program"];
    let report = &program["verify"];
    let mut reply = Reply { noun: "findings", ..Reply::about(program) };
    let (valid, complete) = (report["valid"] == true, report["complete"] == true);
    reply.outcome = Some(if valid { "valid" } else { "invalid" });
    for (name, list) in [("errors", &report["errors"]), ("warnings", &report["warnings"])] {
        let count = list.as_array().map_or(0, Vec::len);
        reply.counts.insert(name, u64::try_from(count).unwrap_or(u64::MAX));
    }
    reply.count("checked", &report["checkedFunctions"]);
    let word = |yes: bool, word: &str| if yes { word.to_owned() } else { format!("not {word}") };
    reply.say(format!(
        "{}, {}: {} checked, {} as before",
        word(valid, "valid"),
        word(complete, "complete"),
        counted(&report["checkedFunctions"], "function", "functions"),
        report["reusedFunctions"]
    ));
    let dirty = texts(&report["dirtyFunctions"]);
    if !dirty.is_empty() {
        let shown = dirty.iter().take(60).copied().collect::<Vec<_>>().join(" ");
        let more = dirty.len().saturating_sub(60);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        reply.say(format!("reached: {shown}{more}"));
    }
    let findings =
        ["errors", "warnings"].into_iter().flat_map(|list| report[list].as_array().into_iter().flatten());
    reply.items.extend(findings.map(|found: &Value| findings::diagnostic(found)).map(Into::into));
    if report["truncated"] == true {
        reply.further = 1;
        reply.uncounted = true;
    }
    reply.otherwise = Some("Program.diagnostics pages them: the graphql tool".to_owned());
    Ok(reply)
}
