//! The tool `checkpoint`: names for revisions, and the way back to them.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::about::{self, moment, page, revision, text};
use super::undo;
use crate::arguments::{schema, typed};
use crate::failure::{Failure, RpcError};
use crate::reply::Reply;
use crate::tool::{Call, Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or id.
    program: String,
    action: Action,
    /// All but list: the checkpoint's name.
    name: Option<String>,
    /// create: the revision that gets the name; default the head.
    at: Option<String>,
    /// create: why.
    message: Option<String>,
    /// restore: show what would be, store nothing.
    dry_run: Option<bool>,
    /// restore: another head than this one is a conflict.
    expected_head: Option<String>,
    /// Same key, done once.
    idempotency_key: Option<String>,
    /// list: next_cursor of the answer before.
    cursor: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    #[expect(dead_code, reason = "the desk reads it")]
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Create,
    List,
    Restore,
    Delete,
}

pub(super) static TOOL: Tool = Tool {
    name: "checkpoint",
    title: "Checkpoints",
    description: "Names a revision before risky work, lists the names, goes back to one by appending a revision, or \
                  forgets the name.",
    effect: Effect::Appends,
    rate: None,
    begins: None,
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

const CREATE: &str = "mutation($input: CreateCheckpointInput!) {
  createCheckpoint(input: $input) { checkpoint { name revision { number } } }
}";

const DELETE: &str =
    "mutation($input: DeleteCheckpointInput!) { deleteCheckpoint(input: $input) { deleted } }";

const LIST: &str = "query($id: ID, $name: String, $at: String, $after: String) {
  program(id: $id, name: $name, at: $at) {
    name revision { number }
    checkpoints(first: 100, after: $after) {
      totalCount pageInfo { hasNextPage }
      edges { cursor node { name message createdAt revision { number } actor { name } } }
    }
  }
}";

async fn run(call: &Call, args: Args) -> Result<Reply, Failure> {
    let name = || args.name.clone().ok_or_else(|| RpcError::invalid("name", "string", "nothing"));
    match args.action {
        Action::List => list(call, &args).await,
        Action::Create => {
            let input = json!({
                "programId": args.program,
                "name": name()?,
                "at": args.at,
                "message": args.message,
                "idempotencyKey": args.idempotency_key,
            });
            let data = call.ask(CREATE, json!({ "input": input })).await?;
            let made = &data["createCheckpoint"]["checkpoint"];
            let at = revision(&made["revision"]);
            let mut reply = Reply {
                program: Some(args.program),
                revision: Some(at.clone()),
                outcome: Some("created"),
                carried_out: true,
                ..Reply::default()
            };
            reply.say(format!("checkpoint {} names {at}", text(made, "name")));
            Ok(reply)
        }
        Action::Delete => {
            let name = name()?;
            let input =
                json!({ "programId": args.program, "name": name, "idempotencyKey": args.idempotency_key });
            let data = call.ask(DELETE, json!({ "input": input })).await?;
            let mut reply =
                Reply { program: Some(args.program), outcome: Some("deleted"), ..Reply::default() };
            reply.carried_out = data["deleteCheckpoint"]["deleted"] == true;
            match reply.carried_out {
                true => reply.say(format!("the name {name} is forgotten, its revision stays")),
                false => {
                    reply.outcome = Some("nothing_to_do");
                    reply.say(format!("there is no checkpoint {name}"));
                }
            }
            Ok(reply)
        }
        Action::Restore => {
            let document = format!(
                "mutation($input: RestoreCheckpointInput!) {{ done: restoreCheckpoint(input: $input) {{ {} }} }}",
                undo::outcome()
            );
            let input = json!({
                "programId": args.program,
                "name": name()?,
                "dryRun": args.dry_run.unwrap_or(false),
                "expectedHead": args.expected_head,
                "message": args.message,
                "idempotencyKey": args.idempotency_key,
            });
            let answer = call.ask.ask(&document, json!({ "input": input })).await?;
            undo::told(args.program, answer)
        }
    }
}

async fn list(call: &Call, args: &Args) -> Result<Reply, Failure> {
    let mut variables = about::program(&args.program, None);
    variables["after"] = json!(args.cursor);
    let data = call.ask(LIST, variables).await?;
    let program = &data["program"];
    let mut reply = Reply { noun: "checkpoints", ..Reply::about(program) };
    page(&mut reply, &program["checkpoints"], args.cursor.as_deref(), |of: &Value| {
        let message = of["message"].as_str().map(|message| format!(" ; {message}")).unwrap_or_default();
        format!(
            "{} at {} by {} on {}{message}",
            text(of, "name"),
            revision(&of["revision"]),
            text(&of["actor"], "name"),
            moment(of, "createdAt")
        )
    });
    if args.cursor.is_none() && reply.items.is_empty() {
        reply.say("no checkpoints");
    }
    Ok(reply)
}
