//! `lmlang bisect`: the revision at which a test case broke.

use serde::Deserialize;
use serde_json::json;

use crate::client::with_client;
use crate::commands::case::find;
use crate::commands::history::Author;
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, counted};
use crate::session::Missing;
use crate::settings::Settings;

/// Which case, and between which revisions.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id.
    program: String,
    /// The case, by name or id.
    case: String,
    /// The function that it is of, where several have one of that name.
    #[arg(long, value_name = "FUNCTION")]
    function: Option<String>,
    /// A revision at which it is green.
    #[arg(long, value_name = "REVISION")]
    good: String,
    /// A later one at which it is not.
    #[arg(long, value_name = "REVISION", default_value = "main")]
    bad: String,
}

const BISECT: &str = "mutation($input: BisectInput!) {
  bisect(input: $input) {
    first { number actor { name } message } freshRuns lookedAt message
  }
}";

#[derive(Debug, Deserialize)]
struct Answer {
    bisect: Report,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    first: Revision,
    fresh_runs: u64,
    looked_at: u64,
    message: String,
}

#[derive(Debug, Deserialize)]
struct Revision {
    number: u64,
    actor: Author,
    message: Option<String>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let Args { program, case, function, good, bad } = args;
    let answer: Answer = with_client(settings, Missing::Refuse, async |client| {
        let case = find(client, program, case, function.as_deref()).await?;
        let input = json!({ "programId": program, "case": case.id, "good": good, "bad": bad });
        client.ask(BISECT, &json!({ "input": input })).await
    })?;
    let Report { first, fresh_runs, looked_at, message } = answer.bisect;
    let json = json!({
        "first": format!("r{}", first.number),
        "author": first.actor.name,
        "why": first.message,
        "message": message,
        "freshRuns": fresh_runs,
        "lookedAt": looked_at,
    });
    output.data(&json, || {
        let why = first.message.as_ref().map(|why| format!("  {why}")).unwrap_or_default();
        let runs = counted(fresh_runs, "run", "runs");
        let looked = counted(looked_at, "revision", "revisions");
        format!("r{}  {}{why}\n{message}\n{runs}, {looked} looked at\n", first.number, first.actor.name)
    })?;
    Ok(Exit::Success)
}
