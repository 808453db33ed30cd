//! `lmlang watch`: what happens to programs, as it happens.

use std::collections::HashMap;
use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{Client, named, with_client};
use crate::error::Error;
use crate::exit::Exit;
use crate::following::{Wanted, follow};
use crate::output::{Counts, Form, Output, moment};
use crate::session::Missing;
use crate::settings::Settings;

mod findings;

/// What is watched.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The program, by name or id [default: all of them].
    program: Option<String>,
    /// Only revisions of this branch.
    #[arg(long, value_name = "NAME", requires = "program")]
    branch: Option<String>,
    /// Only what this author does; may be given several times.
    #[arg(long = "by", value_name = "NAME")]
    by: Vec<String>,
    /// Only revisions that change this function, by ref or path; may be given several times.
    #[arg(long = "function", value_name = "FUNCTION", requires = "program")]
    functions: Vec<String>,
    /// Tell instead what each revision changes about the findings of the verifier; of those in the functions, where some are
    /// named.
    #[arg(long, requires = "program", conflicts_with = "by")]
    findings: bool,
    /// Begin behind this revision, such as `r7`, instead of now.
    #[arg(long, value_name = "REVISION", requires = "program", conflicts_with = "after")]
    since: Option<String>,
    /// Begin behind this cursor, which `--json` tells of each event.
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
    /// End after this many events [default: never].
    #[arg(long, short = 'n', value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
}

const START: &str = "query($id: ID, $name: String, $at: String) {
  program(id: $id, name: $name, at: $at) { id name eventCursor }
}";

const START_OF_ALL: &str = "{ eventCursor }";

const NAME: &str = "query($id: ID!) { program(id: $id) { name } }";

const EVENTS: &str =
    "subscription($programId: ID, $branch: String, $after: String, $filter: EventFilter) {
  event: programEvents(programId: $programId, branch: $branch, after: $after, filter: $filter) {
    type: __typename cursor at programId actor { name kind client }
    ... on RevisionCommitted {
      revision { number branch kind message checkpoint rootHash changed { added removed modified } target { number } }
      touched
    }
    ... on EditRefused {
      editCount
      outcome {
        type: __typename
        ... on EditRejected { errors { code message } }
        ... on EditConflict { conflicts { message } }
      }
    }
    ... on CheckpointChanged { name change }
    ... on BranchChanged { name change }
    ... on ProgramChanged { name change }
    ... on EventGap { from to }
  }
}";

/// An event, as far as a line shows it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    at: String,
    program_id: String,
    actor: Option<Actor>,
    revision: Option<Revision>,
    edit_count: Option<u64>,
    outcome: Option<Outcome>,
    name: Option<String>,
    change: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Actor {
    name: String,
    kind: String,
}

#[derive(Deserialize)]
struct Revision {
    number: u64,
    branch: String,
    kind: String,
    message: Option<String>,
    checkpoint: Option<String>,
    changed: Counts,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Target {
    number: u64,
}

#[derive(Deserialize)]
struct Outcome {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    errors: Vec<Finding>,
    #[serde(default)]
    conflicts: Vec<Finding>,
}

#[derive(Deserialize)]
struct Finding {
    code: Option<String>,
    message: String,
}

/// Prints events until it is ended. Where the server goes away it waits for it, and goes on behind the last event.
pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    with_client(settings, Missing::Refuse, async |client| {
        if !client.is_shared() {
            return Err(Error::NotServed);
        }
        watch(args, client, output).await?;
        Ok(Exit::Success)
    })
}

async fn watch(args: &Args, client: &Client, output: Output) -> Result<(), Error> {
    let (program, after) = start(args, client).await?;
    let mut names = Names { one: program.is_some(), known: HashMap::new() };
    let request = |cursor: Option<&str>| args.request(program.as_deref(), cursor);
    follow(client, Wanted { after, limit: args.limit }, request, async |event| {
        match args.findings {
            true => findings::print(event, output)?,
            false => print(event, &mut names, client, output).await?,
        }
        Ok(ControlFlow::Continue(()))
    })
    .await
}

impl Args {
    /// Whether it tells what happens, whoever does it.
    pub(crate) fn lists_all_authors(&self) -> bool {
        self.by.is_empty()
    }

    /// What is asked for behind a cursor.
    fn request(&self, program: Option<&str>, cursor: Option<&str>) -> Value {
        if self.findings {
            return findings::request(self, program, cursor);
        }
        let filter = json!({
            "authors": (!self.by.is_empty()).then_some(&self.by),
            "functions": (!self.functions.is_empty()).then_some(&self.functions),
        });
        let variables =
            json!({ "programId": program, "branch": self.branch, "after": cursor, "filter": filter });
        json!({ "query": EVENTS, "variables": variables })
    }
}

/// The program's id, and the cursor that events follow.
async fn start(args: &Args, client: &Client) -> Result<(Option<String>, Option<String>), Error> {
    let Some(program) = &args.program else {
        let found: Value = client.ask(START_OF_ALL, &json!({})).await?;
        let cursor = found["eventCursor"].as_str().map(str::to_owned);
        return Ok((None, args.after.clone().or(cursor)));
    };
    let mut variables = named(program);
    variables["at"] = args.since.clone().or_else(|| args.branch.clone()).into();
    let found: Value = client.ask(START, &variables).await?;
    let text = |field: &str| found["program"][field].as_str().map(str::to_owned);
    Ok((text("id"), args.after.clone().or(text("eventCursor"))))
}

/// The names of programs, which events do not tell; none is needed where there is one program.
struct Names {
    one: bool,
    known: HashMap<String, String>,
}

impl Names {
    async fn find(&mut self, id: &str, client: &Client) -> String {
        if let Some(name) = self.known.get(id) {
            return name.clone();
        }
        let found: Result<Value, Error> = client.ask(NAME, &json!({ "id": id })).await;
        // What is gone has its id only.
        let name = found.ok().and_then(|found| Some(found["program"]["name"].as_str()?.to_owned()));
        let name = name.unwrap_or_else(|| id.to_owned());
        self.known.insert(id.to_owned(), name.clone());
        name
    }
}

async fn print(mut event: Value, names: &mut Names, client: &Client, output: Output) -> Result<(), Error> {
    if output.form == Form::Json {
        event["at"] = event["at"].as_str().map(moment).into();
        return output.json_line(&event);
    }
    let event: Event = serde_json::from_value(event).map_err(Error::Answer)?;
    if event.kind == "ProgramChanged" {
        // It may have another one now.
        names.known.remove(&event.program_id);
    }
    let mut words = vec![moment(&event.at)];
    if !names.one {
        words.push(names.find(&event.program_id, client).await);
    }
    words.extend(
        event.actor.as_ref().map(|actor| format!("{} ({})", actor.name, actor.kind.to_ascii_lowercase())),
    );
    words.push(event.told());
    output.item(&format!("{}\n", words.join("  ")))
}

impl Event {
    /// What happened, in one line.
    fn told(&self) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        let change = self.change.as_deref().unwrap_or_default().to_ascii_lowercase();
        match self.kind.as_str() {
            "RevisionCommitted" => self.revision.as_ref().map(Revision::told).unwrap_or_default(),
            "EditRefused" => {
                let count = self.edit_count.unwrap_or_default();
                let edits = lmlang_ir::counted(count, "edit", "edits");
                format!("refused {edits}: {}", self.outcome.as_ref().map(Outcome::told).unwrap_or_default())
            }
            "CheckpointChanged" => format!("checkpoint `{name}` {change}"),
            "BranchChanged" => format!("branch `{name}` {change}"),
            "ProgramChanged" => format!("program `{name}` {change}"),
            "EventGap" => "events are left out: `lmlang history` has their revisions".to_owned(),
            other => other.to_owned(),
        }
    }
}

impl Revision {
    fn told(&self) -> String {
        let mut words = vec![format!("r{}", self.number)];
        if self.branch != "main" {
            words.push(format!("on {}", self.branch));
        }
        words.push(self.kind.to_ascii_lowercase());
        words.extend(self.checkpoint.as_ref().map(|name| format!("`{name}`")));
        words.extend(self.target.as_ref().map(|target| format!("of r{}", target.number)));
        words.push(self.changed.to_string());
        let told = words.join(" ");
        match &self.message {
            Some(message) => format!("{told}: {message}"),
            None => told,
        }
    }
}

impl Outcome {
    fn told(&self) -> String {
        match self.errors.first().or(self.conflicts.first()) {
            Some(Finding { code: Some(code), message }) => format!("{code}: {message}"),
            Some(Finding { code: None, message }) => message.clone(),
            None => self.kind.clone(),
        }
    }
}
