//! `lmlang checkpoint`: names for revisions.

use lmlang_engine::{Checkpoint, Way};
use serde_json::{Value, json};

use crate::commands::travel::{How, go};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, moment, say};
use crate::session::{call, with_program};
use crate::settings::Settings;

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
        /// The revision [default: the head].
        #[arg(long, value_name = "REVISION")]
        at: Option<String>,
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

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.action {
        Action::Create { program, name, at, message } => {
            let call = call(settings, message.clone());
            let made = with_program(settings, program, |engine, open| async move {
                Ok(engine.create_checkpoint(&open, name, at.as_deref(), &call).await?)
            })?;
            output.data(&shown(&made), || format!("{} at r{}\n", made.name, made.revision))?;
        }
        Action::List { program } => {
            let head = with_program(settings, program, |_, open| async move { Ok(open.timeline.head()) })?;
            let json: Vec<Value> = head.checkpoints.iter().map(|checkpoint| shown(checkpoint)).collect();
            output
                .data(&json, || columns(&head.checkpoints.iter().map(|one| row(one)).collect::<Vec<_>>()))?;
        }
        Action::Restore { program, name, how } => {
            return go(program, Way::Restore(name.clone()), how, settings, output);
        }
        Action::Delete { program, name } => {
            let call = call(settings, None);
            with_program(settings, program, |engine, open| async move {
                Ok(engine.delete_checkpoint(&open, name, &call).await?)
            })?;
            say(format_args!("forgot checkpoint `{name}` of `{program}`"));
        }
    }
    Ok(Exit::Success)
}

fn shown(checkpoint: &Checkpoint) -> Value {
    json!({
        "name": checkpoint.name,
        "revision": format!("r{}", checkpoint.revision),
        "author": checkpoint.actor.name,
        "time": moment(checkpoint.time),
        "message": checkpoint.message,
    })
}

fn row(checkpoint: &Checkpoint) -> [String; 5] {
    [
        checkpoint.name.clone(),
        format!("r{}", checkpoint.revision),
        checkpoint.actor.name.clone(),
        moment(checkpoint.time),
        checkpoint.message.clone().unwrap_or_default(),
    ]
}
