//! The tool `history`: the revisions of a program, and what one of them did.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::about::{self, in_words, moment, page, revision, text};
use crate::arguments::{schema, typed};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::tool::{Call, Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Name or id.
    program: String,
    /// The edits of this one, `r7`, instead of the list.
    revision: Option<String>,
    /// Only those of this author.
    author: Option<String>,
    /// Only those that touched this ref or path.
    touching: Option<String>,
    kind: Option<Kind>,
    /// The branch or revision where it begins, backwards; default the head.
    at: Option<String>,
    /// next_cursor of the answer before.
    cursor: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    #[expect(dead_code, reason = "the desk reads it")]
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Create,
    Edit,
    Undo,
    Redo,
    Revert,
    Restore,
    Merge,
    Import,
    Checkpoint,
    Branch,
}

pub(super) static TOOL: Tool = Tool {
    name: "history",
    title: "History",
    description: "Lists the revisions of a program, the newest first: who, what kind, why, how much. Or the edits of one \
                  revision. For the change in the code itself use diff.",
    effect: Effect::Reads,
    rate: None,
    begins: None,
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

const LIST: &str = "query($id: ID, $name: String, $at: String, $author: String, $touching: String, $kind: RevisionKind, $after: String) {
  program(id: $id, name: $name, at: $at) {
    name revision { number }
    history(first: 100, after: $after, author: $author, touching: $touching, kind: $kind) {
      totalCount pageInfo { hasNextPage }
      edges { cursor node {
        number kind branch message createdAt undone actor { name kind } target { number }
        changed { added removed modified functions }
      } }
    }
  }
}";

const ONE: &str = "query($id: ID, $name: String, $at: String, $of: String!, $after: String) {
  program(id: $id, name: $name, at: $at) {
    name
    revision(at: $of) {
      number kind branch message createdAt undone actor { name kind } target { number }
      changed { added removed modified functions }
      edits(first: 200, after: $after) { totalCount pageInfo { hasNextPage } edges { cursor node { kind ref text } } }
    }
  }
}";

async fn run(call: &Call, args: Args) -> Result<Reply, Failure> {
    let mut variables = about::program(&args.program, args.at.as_deref());
    variables["after"] = json!(args.cursor);
    let after = args.cursor.as_deref();
    let Some(of) = args.revision else {
        variables["author"] = json!(args.author);
        variables["touching"] = json!(args.touching);
        variables["kind"] = json!(args.kind.map(Kind::name));
        let data = call.ask(LIST, variables).await?;
        let program = &data["program"];
        let mut reply = Reply { noun: "revisions", ..Reply::about(program) };
        page(&mut reply, &program["history"], after, line);
        return Ok(reply);
    };
    variables["of"] = of.into();
    let data = call.ask(ONE, variables).await?;
    let program = &data["program"];
    let mut reply = Reply { noun: "edits", ..Reply::about(program) };
    if after.is_none() {
        reply.say(line(&program["revision"]));
    }
    page(&mut reply, &program["revision"]["edits"], after, |edit| {
        format!("{} {} {}", text(edit, "kind"), text(edit, "ref"), text(edit, "text").trim_end())
    });
    Ok(reply)
}

fn line(of: &Value) -> String {
    let mut told = format!(
        "{} {} by {} at {}: {}",
        revision(of),
        text(of, "kind").to_lowercase(),
        text(&of["actor"], "name"),
        moment(of, "createdAt"),
        in_words(&of["changed"])
    );
    if of["target"].is_object() {
        told.push_str(&format!(", back to {}", revision(&of["target"])));
    }
    if of["undone"] == true {
        told.push_str(", undone");
    }
    if text(of, "branch") != "main" {
        told.push_str(&format!(", on {}", text(of, "branch")));
    }
    if let Some(message) = of["message"].as_str() {
        told.push_str(&format!(" ; {message}"));
    }
    told
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Create => "CREATE",
            Kind::Edit => "EDIT",
            Kind::Undo => "UNDO",
            Kind::Redo => "REDO",
            Kind::Revert => "REVERT",
            Kind::Restore => "RESTORE",
            Kind::Merge => "MERGE",
            Kind::Import => "IMPORT",
            Kind::Checkpoint => "CHECKPOINT",
            Kind::Branch => "BRANCH",
        }
    }
}
