//! `lmlang undo` and `lmlang redo`, and what restoring a checkpoint has in common with them.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::with_client;
use crate::error::Error;
use crate::exit::Exit;
use crate::outcome::{OUTCOME, Outcome};
use crate::output::Output;
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
    /// Only what this author has done last; later work by others is kept.
    #[arg(long, conflicts_with = "to", value_name = "NAME")]
    by: Option<String>,
    #[command(flatten)]
    how: How,
}

/// How to go somewhere.
#[derive(Debug, clap::Args)]
pub(crate) struct How {
    /// The branch whose head moves.
    #[arg(long, default_value = "main", value_name = "NAME")]
    branch: String,
    /// Why, for the history.
    #[arg(long, short)]
    message: Option<String>,
    /// The head that you saw; another one is a conflict.
    #[arg(long, value_name = "REVISION")]
    expected_head: Option<String>,
    /// Only say what would happen.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

const UNDO: &str = "mutation($input: UndoInput!) { went: undo(input: $input) { outcome { ...Became } } }";

const REDO: &str = "mutation($input: UndoInput!) { went: redo(input: $input) { outcome { ...Became } } }";

const RESTORE: &str = "mutation($input: RestoreCheckpointInput!) {
  went: restoreCheckpoint(input: $input) { outcome { ...Became } }
}";

/// Goes back.
pub(crate) fn undo(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    go(UNDO, args.input()?, &args.how, settings, output)
}

/// Goes forward again.
pub(crate) fn redo(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    go(REDO, args.input()?, &args.how, settings, output)
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
    go(RESTORE, input, how, settings, output)
}

impl Args {
    fn input(&self) -> Result<Value, Error> {
        let Some(to) = &self.to else {
            return Ok(json!({ "programId": self.program, "steps": self.steps, "author": self.by }));
        };
        let number: Option<u64> = to.strip_prefix('r').and_then(|digits| digits.parse().ok());
        number.ok_or_else(|| Error::Target { given: to.clone() })?;
        Ok(json!({ "programId": self.program, "to": to }))
    }
}

impl How {
    /// Adds to the input of a mutation how it is done.
    pub(crate) fn complete(&self, input: &mut Value) {
        input["branch"] = self.branch.clone().into();
        input["message"] = self.message.clone().into();
        input["expectedHead"] = self.expected_head.clone().into();
        input["dryRun"] = self.dry_run.into();
    }

    /// The command that shows whether the head of a program has moved.
    pub(crate) fn look(&self, program: &str) -> String {
        format!("lmlang history {program} --branch {}", self.branch)
    }
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
    mut input: Value,
    how: &How,
    settings: &Settings,
    output: Output,
) -> Result<Exit, Error> {
    let document = format!("{mutation}\n{OUTCOME}");
    how.complete(&mut input);
    let look = how.look(input["programId"].as_str().unwrap_or_default());
    let gone: Gone =
        with_client(settings, Missing::Refuse, async |client| client.change(&document, input, &look).await)?;
    gone.went.outcome.tell(output)
}
