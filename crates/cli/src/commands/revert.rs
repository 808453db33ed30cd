//! `lmlang revert`: chosen revisions are taken back, and later work is kept.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::with_client;
use crate::commands::history::Author;
use crate::commands::travel::How;
use crate::error::Error;
use crate::exit::Exit;
use crate::findings::{FOUND, Found};
use crate::outcome::{OUTCOME, Outcome};
use crate::output::{Output, columns};
use crate::session::Missing;
use crate::settings::Settings;

/// Which program, and which of its revisions.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "lmlang revert [OPTIONS] <PROGRAM> <REVISION>...\n       lmlang revert [OPTIONS] <PROGRAM> --by <NAME>\n       lmlang revert [OPTIONS] <PROGRAM> --run <ID>"
)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    how: How,
}

/// Which revisions are taken back.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// The revisions, such as `r7`. What came with a merge goes with the revision of the merge.
    #[arg(value_name = "REVISION")]
    revisions: Vec<String>,
    /// All revisions of the branch by this author.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// All revisions of the branch by this run of a flow.
    #[arg(long, value_name = "ID")]
    run: Option<String>,
}

const REVERT: &str = "mutation($input: RevertInput!) {
  went: revert(input: $input) {
    outcome { ...Became } removed { ...Named } alsoRemoved { ...Named } ...Stays newDiagnostics { ...Found }
  }
}
fragment Named on Revision { number actor { name } message }";

/// What stays can be long, and is shown by a plan alone.
const STAYS: &str = "fragment Stays on RevertPayload { kept { ...Named } }";

const NOTHING_STAYS: &str = "fragment Stays on RevertPayload { __typename }";

/// The mutation with all that it names.
fn document(plan: bool) -> String {
    let stays = if plan { STAYS } else { NOTHING_STAYS };
    format!("{REVERT}\n{stays}\n{OUTCOME}\n{FOUND}")
}

#[derive(Debug, Deserialize)]
struct Gone {
    went: Reverted,
}

/// What became of taking revisions back, or would.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reverted {
    outcome: Outcome,
    removed: Vec<Named>,
    also_removed: Vec<Named>,
    /// Of a dry run alone.
    #[serde(default)]
    kept: Vec<Named>,
    new_diagnostics: Vec<Found>,
}

/// A revision, as far as a plan shows it.
#[derive(Debug, Deserialize)]
struct Named {
    number: u64,
    actor: Author,
    message: Option<String>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let Args { program, which: Which { revisions, by, run }, how } = args;
    let revisions = (!revisions.is_empty()).then_some(revisions);
    let mut input = json!({ "programId": program, "revisions": revisions, "author": by, "runId": run });
    how.complete(&mut input);
    let gone: Gone = with_client(settings, Missing::Refuse, async |client| {
        client.change(&document(how.dry_run), input, &how.look(program)).await
    })?;
    let reverted = gone.went;
    output.data(&reverted.json(how.dry_run), || reverted.text())?;
    Ok(reverted.outcome.end(output))
}

impl Reverted {
    fn json(&self, plan: bool) -> Value {
        let all = |revisions: &[Named]| revisions.iter().map(Named::json).collect::<Vec<_>>();
        let mut json = self.outcome.json();
        json["reverted"] = all(&self.removed).into();
        json["alsoReverted"] = all(&self.also_removed).into();
        if plan {
            json["kept"] = all(&self.kept).into();
        }
        json["newDiagnostics"] = self.new_diagnostics.iter().map(Found::json).collect();
        json
    }

    /// What was made, what went, what had to go with it, what stays, and what the verifier finds then.
    fn text(&self) -> String {
        let mut text = self.outcome.text();
        let parts = [("goes", &self.removed), ("goes too", &self.also_removed), ("stays", &self.kept)];
        let rows = parts.iter().flat_map(|(what, revisions)| revisions.iter().map(|one| one.row(what)));
        text.push_str(&columns(&rows.collect::<Vec<_>>()));
        self.new_diagnostics.iter().for_each(|found| text.push_str(&found.text()));
        text
    }
}

impl Named {
    fn json(&self) -> Value {
        json!({ "revision": format!("r{}", self.number), "author": self.actor.name, "message": self.message })
    }

    fn row(&self, what: &str) -> [String; 4] {
        let message = self.message.clone().unwrap_or_default();
        [what.to_owned(), format!("r{}", self.number), self.actor.name.clone(), message]
    }
}
