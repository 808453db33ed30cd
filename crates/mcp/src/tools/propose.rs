//! The tool `propose_structured_edit`: a list of edits, carried out as a whole or not at all.

use std::sync::LazyLock;

use lmlang_ir::told;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::about::{self, changed, is_ref, revision, text};
use super::findings::{self, CONFLICT, DIAGNOSTIC, EDIT_ERROR};
use crate::arguments::{schema, typed};
use crate::edits;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::tool::{Call, Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or id.
    program: String,
    /// The revision that you read, `r7`: edits are carried over what others changed since, or are a conflict.
    base_revision: String,
    /// In order, all or nothing. Each is an object with exactly one key, such as
    /// {"addText":{"module":"m","text":"pub func twice (x: i64) -> (i64) pure { return (mul.i64 x, 2) }"}},
    /// {"replaceFunctionText":{"ref":"f2","text":".."}}, {"addModule":{"name":"m"}},
    /// {"insertNode":{"as":"x","op":"add.i64","function":"f2","before":"n9","inputs":["n4","1"]}},
    /// {"addEdge":{"from":"n4","to":"n9","targetPort":0,"replace":true}}, {"modifyNode":{"ref":"n4","op":"sub.i64"}},
    /// {"removeNode":{"ref":"n4","cascade":true}}, {"setDoc":{"ref":"f2","doc":".."}},
    /// {"extractFunction":{"refs":["n4","n5"],"name":"part"}}, {"replacePattern":{"pattern":"add.i64 $x, 0","replacement":"$x"}}.
    /// All, also wrap, inlineCall, applyTextPatch: lmlang://schema/edits.
    #[schemars(length(min = 1))]
    edits: Vec<Map<String, Value>>,
    /// Check and show everything, store nothing.
    dry_run: Option<bool>,
    /// Why, for the log.
    message: Option<String>,
    /// Default main.
    branch: Option<String>,
    /// Refuse when a touched function stays incomplete.
    require_complete: Option<bool>,
    /// Same key and input: the first answer, made once.
    idempotency_key: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    #[expect(dead_code, reason = "the desk reads it")]
    max_tokens: Option<u64>,
}

pub(super) static TOOL: Tool = Tool {
    name: "propose_structured_edit",
    title: "Edit a program",
    description: "Changes a program: whole functions as text, or single nodes and edges. The answer has the new \
                  revision and refs, or every mistake with line, column, what was expected and near names. Whatever it \
                  does, undo takes back. Holes (`_`) are allowed: the function is incomplete until they are filled.",
    effect: Effect::Appends,
    rate: None,
    begins: None,
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

async fn run(call: &Call, args: Args) -> Result<Reply, Failure> {
    edits::check(&args.edits)?;
    let document = format!(
        "mutation($input: ProposeEditInput!) {{ proposeEdit(input: $input) {{ outcome {{
           __typename
           ... on EditApplied {{
             committed unchanged revision {{ number }} program {{ name revision {{ number }} }}
             changed {{ added removed modified functions }} created {{ name ref kind }}
             diagnosticsAdded {{ {DIAGNOSTIC} }} diagnosticsResolved {{ code }}
             rebasedOverCount
           }}
           ... on EditRejected {{ errors {{ {EDIT_ERROR} }} suppressed }}
           ... on EditConflict {{ {CONFLICT} }}
         }} }} }}"
    );
    let mut input = json!({
        "programId": args.program,
        "baseRevision": args.base_revision,
        "edits": args.edits,
        "dryRun": args.dry_run.unwrap_or(false),
        "message": args.message,
        "requireComplete": args.require_complete.unwrap_or(false),
        "idempotencyKey": args.idempotency_key,
    });
    if let Some(branch) = args.branch {
        input["branch"] = branch.into();
    }
    let data = call.ask(&document, json!({ "input": input })).await?;
    let outcome = &data["proposeEdit"]["outcome"];
    Ok(match text(outcome, "__typename") {
        "EditApplied" if outcome["committed"] == true => applied(outcome, args.base_revision),
        "EditApplied" => applied(outcome, numbered(call, &args.program, args.base_revision).await),
        "EditConflict" => conflict(args.program, outcome, &EDITED),
        _ => {
            let base = numbered(call, &args.program, args.base_revision).await;
            rejected(args.program, base, outcome)
        }
    })
}

const NUMBER: &str = "query($id: ID, $name: String, $at: String) {
  program(id: $id, name: $name, at: $at) { revision { number } }
}";

/// The revision that a base stands for, by its number: `r7` of `main`. Where nobody tells it, it stays as it was given.
async fn numbered(call: &Call, program: &str, base: String) -> String {
    if is_ref(&base, 'r') {
        return base;
    }
    let number = match call.ask(NUMBER, about::program(program, Some(&base))).await {
        Ok(data) => data["program"]["revision"]["number"].as_u64(),
        Err(error) => {
            tracing::debug!(%error, "nobody tells the number of a base");
            None
        }
    };
    number.map_or(base, |number| format!("r{number}"))
}

fn applied(outcome: &Value, base: String) -> Reply {
    let mut reply = Reply { noun: "lines", ..Reply::about(&outcome["program"]) };
    let counts = changed(&mut reply, &outcome["changed"]);
    reply.carried_out = outcome["committed"] == true;
    match (reply.carried_out, outcome["unchanged"] == true) {
        (true, true) => {
            reply.outcome = Some("unchanged");
            reply.say(told::UNCHANGED);
        }
        (true, false) => {
            reply.outcome = Some("applied");
            reply.say(format!("applied: {counts}; undo takes it back"));
        }
        (false, unchanged) => {
            reply.outcome = Some("dry_run");
            reply.revision = reply.revision.or(Some(base));
            reply.say(format!("would be applied, nothing is stored, refs are provisional: {counts}"));
            if unchanged {
                reply.say(told::UNCHANGED);
            }
        }
    }
    if let Some(over @ 1..) = outcome["rebasedOverCount"].as_u64() {
        reply.say(told::carried_over(over));
    }
    let resolved = outcome["diagnosticsResolved"].as_array().map_or(0, Vec::len);
    if resolved > 0 {
        let findings = lmlang_ir::counted(resolved as u64, "finding is", "findings are");
        reply.say(format!("{findings} resolved"));
    }
    let added = outcome["diagnosticsAdded"].as_array().into_iter().flatten();
    reply.items.extend(added.map(findings::diagnostic).map(Into::into));
    // Functions and what has a name first: of the rest a caller hardly needs the refs.
    let created: Vec<&Value> = outcome["created"].as_array().into_iter().flatten().collect();
    let (nodes, others): (Vec<&Value>, Vec<&Value>) =
        created.into_iter().partition(|of| of["kind"] == "NODE" || of["kind"] == "REGION");
    for of in others.into_iter().chain(nodes) {
        let kind = text(of, "kind").to_lowercase();
        let name = of["name"].as_str().map(|name| format!(" {name}")).unwrap_or_default();
        reply.items.push(format!("created {} {kind}{name}", text(of, "ref")).into());
    }
    reply.otherwise = Some("retrieve_subgraph shows the functions with all refs".to_owned());
    reply
}

fn rejected(program: String, base: String, outcome: &Value) -> Reply {
    let errors = outcome["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut reply = Reply {
        program: Some(program),
        revision: Some(base),
        outcome: Some("rejected"),
        noun: "mistakes",
        is_error: true,
        ..Reply::default()
    };
    reply.counts.insert("errors", u64::try_from(errors.len()).unwrap_or(u64::MAX));
    reply.say(format!("rejected, nothing is changed: {}", findings::mistakes(errors.len())));
    if let Some(more @ 1..) = outcome["suppressed"].as_u64() {
        reply.say(format!("{more} more {} not told", if more == 1 { "is" } else { "are" }));
    }
    reply.items.extend(errors.iter().map(findings::mistake));
    reply.otherwise = Some("repair these first, or raise max_tokens".to_owned());
    reply
}

/// The words for a change that is in conflict.
pub(super) struct Words {
    /// What it would make of something.
    proposed: &'static str,
    /// What to do about it, once the head is read.
    again: &'static str,
}

/// The words for edits.
const EDITED: Words = Words { proposed: told::EDITED, again: "propose again on it" };

/// The words for going back, forward, or to a checkpoint.
pub(super) const WENT: Words = Words { proposed: told::WENT, again: "ask again" };

/// Tells of changes that cannot both be.
pub(super) fn conflict(program: String, outcome: &Value, words: &Words) -> Reply {
    let head = revision(&outcome["head"]);
    let mut reply = Reply {
        program: Some(program),
        revision: Some(head.clone()),
        outcome: Some("conflict"),
        noun: "conflicts",
        is_error: true,
        ..Reply::default()
    };
    let conflicts = outcome["conflicts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let has = |kind: &str| conflicts.iter().any(|of| of["kind"] == kind);
    let Words { proposed, again } = words;
    let why = match outcome["base"]["number"].as_u64() {
        _ if has("HASH_MISMATCH") => format!(": a text has another hash than ifHash says; read it at {head}"),
        // It says itself what is the matter.
        _ if has("STALE_BASE") => format!("; read {head} and {again}"),
        _ if has("RESTED_ON") => ": later work rests on it".to_owned(),
        Some(base) => format!(": it does not go with what came after r{base}; read {head} and {again}"),
        None => format!(": it does not go with what came later; read {head} and {again}"),
    };
    reply.say(format!("conflict, nothing is changed{why}"));
    reply.items.extend(conflicts.iter().map(|of| findings::conflict(of, proposed)));
    reply
}
