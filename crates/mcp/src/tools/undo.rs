//! The tool `undo`: back and forward along the line of a branch.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::about::{changed, revision, text};
use super::diff::link;
use super::findings::CONFLICT;
use super::propose::{WENT, conflict};
use crate::arguments::{schema, typed};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::tool::{Call, Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or id.
    program: String,
    /// Default undo.
    action: Option<Action>,
    /// Default 1.
    #[schemars(range(min = 1))]
    steps: Option<u32>,
    /// Go to this revision, `r7`, instead of a number of steps.
    to: Option<String>,
    /// undo: only what this author did last; later work of others stays.
    author: Option<String>,
    /// The head that you read: another one now is a conflict.
    expected_head: Option<String>,
    /// Show what would be, store nothing.
    dry_run: Option<bool>,
    /// Why, for the log.
    message: Option<String>,
    /// Default main.
    branch: Option<String>,
    /// Same key, done once.
    idempotency_key: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    #[expect(dead_code, reason = "the desk reads it")]
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Undo,
    Redo,
}

pub(super) static TOOL: Tool = Tool {
    name: "undo",
    title: "Undo and redo",
    description: "Takes the last changes back, or makes what was undone again, by appending a revision: nothing is ever \
                  lost.",
    effect: Effect::Appends,
    rate: None,
    begins: None,
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

/// What is asked of what becomes of undoing, redoing and restoring.
pub(super) fn outcome() -> String {
    format!(
        "outcome {{ __typename
           ... on RevisionMade {{
             committed revision {{ number kind }} changed {{ added removed modified functions }}
             program {{ name revision {{ number }} }} diff {{ from {{ number }} text(maxBytes: 200000) }}
           }}
           ... on NothingToDo {{ reason }}
           ... on EditConflict {{ {CONFLICT} }}
         }}"
    )
}

async fn run(call: &Call, args: Args) -> Result<Reply, Failure> {
    let field = match args.action {
        Some(Action::Redo) => "redo",
        Some(Action::Undo) | None => "undo",
    };
    let document =
        format!("mutation($input: UndoInput!) {{ done: {field}(input: $input) {{ {} }} }}", outcome());
    let mut input = json!({
        "programId": args.program,
        "to": args.to,
        "author": args.author,
        "expectedHead": args.expected_head,
        "dryRun": args.dry_run.unwrap_or(false),
        "message": args.message,
        "idempotencyKey": args.idempotency_key,
    });
    if let Some(steps) = args.steps {
        input["steps"] = steps.into();
    }
    if let Some(branch) = args.branch {
        input["branch"] = branch.into();
    }
    let answer = call.ask.ask(&document, json!({ "input": input })).await?;
    told(args.program, answer)
}

/// Tells what became of it. The difference may be too long to be told, which is no failure of what was done.
pub(super) fn told(program: String, answer: crate::ask::Answer) -> Result<Reply, Failure> {
    let outcome = answer.data.pointer("/done/outcome").cloned().unwrap_or(Value::Null);
    match text(&outcome, "__typename") {
        "RevisionMade" => Ok(made(&outcome)),
        "NothingToDo" => {
            let mut reply = Reply {
                program: Some(program),
                outcome: Some("nothing_to_do"),
                is_error: true,
                ..Reply::default()
            };
            reply.say(format!("nothing to do: {}", text(&outcome, "reason")));
            Ok(reply)
        }
        "EditConflict" => Ok(conflict(program, &outcome, &WENT)),
        _ => {
            answer.whole()?;
            Ok(Reply { program: Some(program), ..Reply::default() })
        }
    }
}

fn made(outcome: &Value) -> Reply {
    let mut reply = Reply::about(&outcome["program"]);
    let counts = changed(&mut reply, &outcome["changed"]);
    let kind = text(&outcome["revision"], "kind").to_lowercase();
    reply.carried_out = outcome["committed"] == true;
    match reply.carried_out {
        true => {
            reply.outcome = Some("made");
            reply.say(format!("{kind}: {counts}"));
        }
        false => {
            reply.outcome = Some("dry_run");
            reply.revision = Some(revision(&outcome["diff"]["from"]));
            reply.say(format!("would be done, nothing is stored: {counts}"));
        }
    }
    if let (Some(from), Some(to), Some(program)) =
        (outcome["diff"]["from"]["number"].as_u64(), outcome["revision"]["number"].as_u64(), &reply.program)
    {
        let link = link(program, &format!("r{from}"), &format!("r{to}"));
        reply.links.push(link);
    }
    if let Some(diff) = outcome["diff"]["text"].as_str() {
        reply.noun = "lines";
        reply.items.extend(diff.lines().map(Into::into));
        reply.otherwise = Some("the tool diff pages it".to_owned());
    }
    reply
}
