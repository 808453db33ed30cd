//! `lmlang checkpoint`: names for revisions.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{About, Page, named, with_client};
use crate::commands::history::{Author, Numbered};
use crate::commands::travel::{How, restore};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, moment, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::view::View;

/// What to do with checkpoints.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do with checkpoints.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Name a revision.
    Create {
        /// The program, by name or id.
        program: String,
        /// The checkpoint's name.
        name: String,
        #[command(flatten)]
        view: View,
        /// Why.
        #[arg(long, short)]
        message: Option<String>,
    },
    /// List the checkpoints of a program by name.
    List {
        /// The program, by name or id.
        program: String,
    },
    /// Go back to the revision that a checkpoint names, by a new revision.
    Restore {
        /// The program, by name or id.
        program: String,
        /// The checkpoint's name.
        name: String,
        #[command(flatten)]
        how: How,
    },
    /// Forget a checkpoint; the revision stays.
    Delete {
        /// The program, by name or id.
        program: String,
        /// The checkpoint's name.
        name: String,
    },
}

const CREATE: &str = "mutation($input: CreateCheckpointInput!) {
  made: createCheckpoint(input: $input) {
    checkpoint { name revision { number } actor { name } createdAt message }
  }
}";

const LIST: &str = "query($id: ID, $name: String, $first: Int!, $after: String) {
  program(id: $id, name: $name) {
    checkpoints(first: $first, after: $after) {
      nodes { name revision { number } actor { name } createdAt message }
      pageInfo { hasNextPage endCursor }
    }
  }
}";

const DELETE: &str =
    "mutation($input: DeleteCheckpointInput!) { deleteCheckpoint(input: $input) { deleted } }";

/// A name for a revision.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Checkpoint {
    name: String,
    revision: Numbered,
    actor: Author,
    created_at: String,
    message: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Made {
    made: Payload,
}

#[derive(Debug, Deserialize)]
struct Payload {
    checkpoint: Checkpoint,
}

#[derive(Debug, Deserialize)]
struct Checkpoints {
    checkpoints: Page<Checkpoint>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.action {
        Action::Create { program, name, view, message } => {
            let input = json!({ "programId": program, "name": name, "at": view.at, "message": message });
            let answer: Made = with_client(settings, Missing::Refuse, async |client| {
                client.change(CREATE, input, &look(program)).await
            })?;
            let made = answer.made.checkpoint;
            output.data(&made.json(), || format!("{} at r{}\n", made.name, made.revision.number))?;
        }
        Action::List { program } => {
            let (checkpoints, _) = with_client(settings, Missing::Refuse, async |client| {
                let page = |answer: About<Checkpoints>| answer.program.checkpoints;
                client.list(LIST, named(program), usize::MAX, page).await
            })?;
            let json: Vec<Value> = checkpoints.iter().map(Checkpoint::json).collect();
            output.data(&json, || columns(&checkpoints.iter().map(Checkpoint::row).collect::<Vec<_>>()))?;
        }
        Action::Restore { program, name, how } => return restore(program, name, how, settings, output),
        Action::Delete { program, name } => {
            let input = json!({ "programId": program, "name": name });
            with_client(settings, Missing::Refuse, async |client| {
                client.change::<Value>(DELETE, input, &look(program)).await
            })?;
            say(format_args!("forgot checkpoint `{name}` of `{program}`"));
        }
    }
    Ok(Exit::Success)
}

fn look(program: &str) -> String {
    format!("lmlang checkpoint list {program}")
}

impl Checkpoint {
    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "revision": format!("r{}", self.revision.number),
            "author": self.actor.name,
            "time": moment(&self.created_at),
            "message": self.message,
        })
    }

    fn row(&self) -> [String; 5] {
        [
            self.name.clone(),
            format!("r{}", self.revision.number),
            self.actor.name.clone(),
            moment(&self.created_at),
            self.message.clone().unwrap_or_default(),
        ]
    }
}
