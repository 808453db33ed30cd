//! What happens to runs, as it happens.

use std::ops::ControlFlow;

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{Client, with_client};
use crate::commands::flow::{find, id_of};
use crate::error::Error;
use crate::exit::Exit;
use crate::following::{Wanted, follow};
use crate::nodes::first_line;
use crate::output::{Form, Output, moment};
use crate::session::Missing;
use crate::settings::Settings;

/// What is watched.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run, by its id; `last` for the newest one: all that has happened to it, until it ends [default: what happens to all runs
    /// from now on].
    run: Option<String>,
    /// Only runs of this session, from now on.
    #[arg(long, value_name = "ID", conflicts_with = "run")]
    session: Option<String>,
    /// Only events of this kind; may be given several times [default: all but the words of models].
    #[arg(long, value_enum, value_name = "KIND")]
    kind: Vec<Kind>,
    /// Begin behind this cursor, which `--json` tells of each event; `j0.0` is the beginning.
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// End after this many events [default: never].
    #[arg(long, short = 'n', value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Started,
    NodeStarted,
    NodeFinished,
    StateUpdated,
    ModelDelta,
    ToolCalled,
    Interrupted,
    Answered,
    Retried,
    Escalated,
    Finished,
}

const EVENTS: &str = "subscription($run: ID, $session: ID, $after: String, $kinds: [RunEventKind!]) {
  event: runEvents(runId: $run, sessionId: $session, after: $after, kinds: $kinds) {
    cursor at runId kind ... on RunUpdate { node text data }
  }
}";

/// Before anything that happened.
const BEGINNING: &str = "j0.0";

/// An event, as far as a line shows it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    at: String,
    run_id: String,
    kind: String,
    node: Option<String>,
    text: Option<String>,
    #[serde(default)]
    data: Value,
}

impl Kind {
    /// The name in the API.
    fn name(self) -> &'static str {
        match self {
            Kind::Started => "STARTED",
            Kind::NodeStarted => "NODE_STARTED",
            Kind::NodeFinished => "NODE_FINISHED",
            Kind::StateUpdated => "STATE_UPDATED",
            Kind::ModelDelta => "MODEL_DELTA",
            Kind::ToolCalled => "TOOL_CALLED",
            Kind::Interrupted => "INTERRUPTED",
            Kind::Answered => "ANSWERED",
            Kind::Retried => "RETRIED",
            Kind::Escalated => "ESCALATED",
            Kind::Finished => "FINISHED",
        }
    }
}

/// Prints events until it is ended, or the run that is named has. Ends as that run then.
pub(super) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    with_client(settings, Missing::Refuse, async |client| {
        if !client.is_shared() {
            return Err(Error::NotServed);
        }
        watch(args, client, output).await
    })
}

async fn watch(args: &Args, client: &Client, output: Output) -> Result<Exit, Error> {
    let run = match &args.run {
        Some(run) => Some(id_of(client, run).await?),
        None => None,
    };
    let after = args.after.clone().or_else(|| run.as_ref().map(|_| BEGINNING.to_owned()));
    let request = |cursor: Option<&str>| args.request(run.as_deref(), cursor);
    let mut exit = Exit::Success;
    follow(client, Wanted { after, limit: args.limit }, request, async |event| {
        let is_end = event["kind"] == "FINISHED";
        print(event, run.is_none(), output)?;
        if let (Some(run), true) = (&run, is_end) {
            let run = find(client, run).await?;
            // One that was taken back goes on.
            if run.has_ended() {
                exit = run.exit();
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })
    .await?;
    Ok(exit)
}

impl Args {
    /// What is asked for behind a cursor.
    fn request(&self, run: Option<&str>, cursor: Option<&str>) -> Value {
        let all = Kind::value_variants().iter().filter(|kind| **kind != Kind::ModelDelta);
        let kinds: Vec<&str> = match self.kind.as_slice() {
            [] => all.map(|kind| kind.name()).collect(),
            // That a run has ended is always looked for.
            kinds => kinds.iter().map(|kind| kind.name()).chain(run.map(|_| "FINISHED")).collect(),
        };
        let variables = json!({ "run": run, "session": self.session, "after": cursor, "kinds": kinds });
        json!({ "query": EVENTS, "variables": variables })
    }
}

fn print(mut event: Value, names_run: bool, output: Output) -> Result<(), Error> {
    if output.form == Form::Json {
        event["at"] = event["at"].as_str().map(moment).into();
        return output.json_line(&event);
    }
    let event: Event = serde_json::from_value(event).map_err(Error::Answer)?;
    output.item(&event.line(names_run))
}

impl Event {
    /// When, which run where there may be several, what, at which node, and what came of it or was said.
    fn line(&self, names_run: bool) -> String {
        let words = [
            Some(moment(&self.at)),
            names_run.then(|| self.run_id.clone()),
            Some(self.kind.to_ascii_lowercase()),
            self.node.clone(),
            self.came(),
            self.text.as_deref().map(first_line),
        ];
        format!("{}\n", words.into_iter().flatten().collect::<Vec<_>>().join("  "))
    }

    /// How the run ended, where the node leads to, what it says to have done, or who answered what.
    fn came(&self) -> Option<String> {
        match self.kind.as_str() {
            "FINISHED" => self.data["status"].as_str().map(str::to_ascii_lowercase),
            "NODE_FINISHED" => self.data["goto"].as_str().map(|goto| format!("-> {goto}")),
            "STATE_UPDATED" => {
                let words: Vec<&str> =
                    self.data["progress"].as_array()?.iter().filter_map(Value::as_str).collect();
                Some(words.join(", "))
            }
            "ANSWERED" => self.data["by"].as_str().map(|by| format!("{by}: {}", self.data["answer"])),
            _ => None,
        }
    }
}
