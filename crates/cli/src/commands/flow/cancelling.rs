//! Stopping runs: one, or all that are asked for.

use serde_json::{Value, json};

use crate::client::{Client, with_client};
use crate::commands::flow::shown::Run;
use crate::commands::flow::{Listed, Made, RUNS, Which, find, id_of, look};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, say};
use crate::session::Missing;
use crate::settings::Settings;

const CANCEL: &str = "mutation($input: CancelRunInput!) { made: cancelRun(input: $input) { run { id } } }";

/// Which runs are stopped, and why.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run, by its id; `last` for the newest one.
    #[arg(required_unless_present_any = ["flow", "program", "by"], conflicts_with_all = ["flow", "program", "by"])]
    run: Option<String>,
    #[command(flatten)]
    which: Which,
    /// Why, for the record.
    #[arg(long, short)]
    message: Option<String>,
}

pub(super) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let Args { run, which, message } = args;
    let why = message.as_deref();
    match run {
        Some(run) => with_client(settings, Missing::Refuse, async |client| {
            let id = id_of(client, run).await?;
            let stopped = cancel(client, &id, why).await?;
            output.data(&stopped.json(), || line(&stopped))?;
            match stopped.status.as_str() {
                "CANCELLED" => Ok(Exit::Success),
                _ => {
                    say("nothing was stopped: the run had ended");
                    Ok(Exit::Nothing)
                }
            }
        }),
        None => with_client(settings, Missing::Refuse, async |client| {
            let stopped = cancel_all(client, which, why).await?;
            let json: Vec<Value> = stopped.iter().map(Run::json).collect();
            output.data(&json, || stopped.iter().map(line).collect())?;
            if stopped.is_empty() {
                say("nothing was stopped: none of these runs goes on");
                return Ok(Exit::Nothing);
            }
            Ok(Exit::Success)
        }),
    }
}

/// Stops a run, and tells how it stands then.
async fn cancel(client: &Client, run: &str, why: Option<&str>) -> Result<Run, Error> {
    let input = json!({ "runId": run, "reason": why });
    client.change::<Made>(CANCEL, input, &look(run)).await?;
    find(client, run).await
}

/// Stops the runs that go on, and tells how they stand then.
async fn cancel_all(client: &Client, which: &Which, why: Option<&str>) -> Result<Vec<Run>, Error> {
    let mut going = Vec::new();
    for status in ["RUNNING", "WAITING"] {
        let variables = which.variables(Some(status));
        let (runs, _) = client.list(RUNS, variables, usize::MAX, |answer: Listed| answer.runs).await?;
        going.extend(runs);
    }
    let word = |run: &Value, field: &str| run[field].as_str().unwrap_or_default().to_owned();
    // The oldest first: a run that waits for another one is stopped before that, and has not failed by it.
    going.sort_by_cached_key(|run| word(run, "createdAt").trim_end_matches('Z').to_owned());
    let mut stopped = Vec::with_capacity(going.len());
    for run in &going {
        stopped.push(cancel(client, &word(run, "id"), why).await?);
    }
    Ok(stopped)
}

fn line(run: &Run) -> String {
    format!("{} {}\n", run.id, run.status.to_lowercase())
}
