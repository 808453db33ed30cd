//! `lmlang undo` and `lmlang redo`, and what restoring a checkpoint has in common with them.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::with_client;
use crate::commands::history::Numbered;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Counts, Output, say};
use crate::session::Missing;
use crate::settings::Settings;

/// Which program, and how far.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// How many changes.
    #[arg(long, short = 'n', default_value_t = 1, conflicts_with = "to", value_name = "COUNT", value_parser = clap::value_parser!(i32).range(1..))]
    steps: i32,
    /// To the state that this revision made, such as `r4`.
    #[arg(long, value_name = "REVISION")]
    to: Option<String>,
    #[command(flatten)]
    how: How,
}

/// How to go somewhere.
#[derive(Debug, clap::Args)]
pub(crate) struct How {
    /// Why, for the history.
    #[arg(long, short)]
    message: Option<String>,
    /// The head that you saw; another one is a conflict.
    #[arg(long, value_name = "REVISION")]
    expected_head: Option<String>,
    /// Only say what would happen.
    #[arg(long)]
    dry_run: bool,
}

/// Goes back.
pub(crate) fn undo(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    go("undo", "UndoInput", args.input()?, &args.how, settings, output)
}

/// Goes forward again.
pub(crate) fn redo(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    go("redo", "UndoInput", args.input()?, &args.how, settings, output)
}

/// Goes back to a checkpoint.
pub(crate) fn restore(
    program: &str,
    name: &str,
    how: &How,
    settings: &Settings,
    output: Output,
) -> Result<Exit, Error> {
    let input = json!({ "programId": program, "name": name });
    go("restoreCheckpoint", "RestoreCheckpointInput", input, how, settings, output)
}

impl Args {
    fn input(&self) -> Result<Value, Error> {
        let Some(to) = &self.to else {
            return Ok(json!({ "programId": self.program, "steps": self.steps }));
        };
        let number: Option<u64> = to.strip_prefix('r').and_then(|digits| digits.parse().ok());
        number.ok_or_else(|| Error::Target { given: to.clone() })?;
        Ok(json!({ "programId": self.program, "to": to }))
    }
}

/// What became of it.
#[derive(Debug, Deserialize)]
#[serde(tag = "__typename", rename_all_fields = "camelCase")]
enum Outcome {
    RevisionMade { committed: bool, changed: Counts, revision: Option<Made>, diff: Between, program: Hashed },
    NothingToDo { reason: String },
    EditConflict { head: Numbered },
}

#[derive(Debug, Deserialize)]
struct Made {
    number: u64,
    target: Option<Numbered>,
}

#[derive(Debug, Deserialize)]
struct Between {
    from: Numbered,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hashed {
    root_hash: String,
}

#[derive(Debug, Deserialize)]
struct Payload {
    outcome: Outcome,
}

#[derive(Debug, Deserialize)]
struct Gone {
    went: Payload,
}

/// Goes somewhere by a mutation, and tells what became of it.
fn go(
    mutation: &str,
    input_type: &str,
    mut input: Value,
    how: &How,
    settings: &Settings,
    output: Output,
) -> Result<Exit, Error> {
    let document = format!(
        "mutation($input: {input_type}!) {{
  went: {mutation}(input: $input) {{
    outcome {{
      __typename
      ... on RevisionMade {{
        committed changed {{ added removed modified }} revision {{ number target {{ number }} }}
        diff {{ from {{ number }} }} program {{ rootHash }}
      }}
      ... on NothingToDo {{ reason }}
      ... on EditConflict {{ head {{ number }} }}
    }}
  }}
}}"
    );
    input["message"] = how.message.clone().into();
    input["expectedHead"] = how.expected_head.clone().into();
    input["dryRun"] = how.dry_run.into();
    let look = format!("lmlang history {}", input["programId"].as_str().unwrap_or_default());
    let gone: Gone =
        with_client(settings, Missing::Refuse, async |client| client.change(&document, input, &look).await)?;
    match gone.went.outcome {
        Outcome::RevisionMade { committed, changed, revision, diff, program } => {
            let before = diff.from.number;
            let number = revision.as_ref().map(|made| format!("r{}", made.number));
            let target = revision.and_then(|made| made.target).map(|target| format!("r{}", target.number));
            let json = json!({
                "committed": committed,
                "before": format!("r{before}"),
                "revision": number,
                "target": target,
                "added": changed.added,
                "removed": changed.removed,
                "modified": changed.modified,
                "rootHash": program.root_hash,
            });
            output.data(&json, || {
                let made = number.as_deref().unwrap_or("dry run");
                let content = target.as_ref().map(|target| format!(" (as {target})")).unwrap_or_default();
                format!("r{before} -> {made}{content}  {changed}\n")
            })?;
            Ok(Exit::Success)
        }
        Outcome::NothingToDo { reason } => {
            output.data(&json!({ "committed": false, "reason": reason }), String::new)?;
            say(reason);
            Ok(Exit::Failure)
        }
        Outcome::EditConflict { head } => {
            let head = format!("r{}", head.number);
            output.data(&json!({ "committed": false, "conflict": { "head": head } }), String::new)?;
            say(format_args!("conflict: the head has moved to {head}"));
            Ok(Exit::Conflict)
        }
    }
}
