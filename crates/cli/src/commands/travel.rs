//! `lmlang undo` and `lmlang redo`, and what restoring a checkpoint has in common with them.

use lmlang_engine::{Arrival, Distance, Travel, Way};
use serde_json::json;

use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, say};
use crate::session::{call, with_program};
use crate::settings::Settings;

/// Which program, and how far.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// How many changes.
    #[arg(long, short = 'n', default_value_t = 1, conflicts_with = "to", value_name = "COUNT")]
    steps: u64,
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
    go(&args.program, Way::Undo(args.distance()?), &args.how, settings, output)
}

/// Goes forward again.
pub(crate) fn redo(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    go(&args.program, Way::Redo(args.distance()?), &args.how, settings, output)
}

impl Args {
    fn distance(&self) -> Result<Distance, Error> {
        let Some(to) = &self.to else { return Ok(Distance::Steps(self.steps)) };
        let number: Option<u64> = to.strip_prefix('r').and_then(|digits| digits.parse().ok());
        number.map(|_| Distance::To(to.clone())).ok_or_else(|| Error::Target { given: to.clone() })
    }
}

/// Goes somewhere and tells what became of it.
pub(crate) fn go(
    program: &str,
    way: Way,
    how: &How,
    settings: &Settings,
    output: Output,
) -> Result<Exit, Error> {
    let travel = Travel { way, expected_head: how.expected_head.clone(), dry_run: how.dry_run };
    let call = call(settings, how.message.clone());
    let arrival = with_program(settings, program, |engine, open| async move {
        Ok(engine.travel(&open, &travel, &call).await?)
    })?;
    match arrival {
        Arrival::Made { committed, before, after } => {
            let counts = after.entry.counts;
            let (from, to) = (before.entry.number, after.entry.number);
            let target = after.entry.target;
            let json = json!({
                "committed": committed,
                "before": format!("r{from}"),
                "revision": committed.then(|| format!("r{to}")),
                "target": target.map(|target| format!("r{target}")),
                "added": counts.added,
                "removed": counts.removed,
                "modified": counts.modified,
                "rootHash": after.entry.root_hash.to_string(),
            });
            output.data(&json, || {
                let content = target.map(|target| format!(" (as r{target})")).unwrap_or_default();
                let changes = format!("+{} -{} ~{}", counts.added, counts.removed, counts.modified);
                match committed {
                    true => format!("r{from} -> r{to}{content}  {changes}\n"),
                    false => format!("r{from} -> dry run{content}  {changes}\n"),
                }
            })?;
            Ok(Exit::Success)
        }
        Arrival::Nothing(reason) => {
            output.data(&json!({ "committed": false, "reason": reason }), String::new)?;
            say(reason);
            Ok(Exit::Failure)
        }
        Arrival::Conflict(conflict) => {
            let head = format!("r{}", conflict.head.number);
            output.data(&json!({ "committed": false, "conflict": { "head": head } }), String::new)?;
            say(format_args!("conflict: the head has moved to {head}"));
            Ok(Exit::Conflict)
        }
    }
}
