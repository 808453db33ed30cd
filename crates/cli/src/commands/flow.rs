//! `lmlang flow`: durable runs of flows.

use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use chrono::TimeDelta;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::client::{Client, Page, with_client};
use crate::duration::duration;
use crate::error::Error;
use crate::exit::Exit;
use crate::fields;
use crate::output::{Output, columns, counted, say};
use crate::session::Missing;
use crate::settings::Settings;
use crate::signals::interrupted;

pub(crate) mod answering;
mod cancelling;
mod declared;
mod metrics;
mod sessions;
mod shown;
mod watching;

use shown::{Moved, OfRun, Run, asked, row, run_json, show, trace, with_moments};

/// What to do with flows and their runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

/// What to do with flows and their runs.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the flows that can be run, or the nodes of one and what it is started with.
    List {
        /// The flow to show, by name.
        flow: Option<String>,
        /// How its nodes are shown.
        #[arg(long, value_enum, default_value_t, requires = "flow")]
        picture: Picture,
    },
    #[command(flatten)]
    Declared(declared::Action),
    /// Begin a run and wait until it ends or asks, at most as long as `--wait` says; exits with 7 when it asks.
    Start {
        /// The flow, by name.
        flow: String,
        /// What it is started with: `name=value`; a value is a text if it is no JSON, or if its field is one, and `@FILE` is the
        /// text of a file.
        #[arg(value_name = "NAME=VALUE")]
        fields: Vec<String>,
        /// What it is started with, as a JSON object in a file, or `-` for standard input.
        #[arg(long, value_name = "FILE", conflicts_with = "fields")]
        input: Option<PathBuf>,
        /// The session that it belongs to [default: one of its own].
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// How long the run may take, with all that it waits for, such as `90m`, `2h` or `7d`: then it has failed [default: what
        /// its session says, or for ever].
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        deadline: Option<TimeDelta>,
    },
    /// List runs, the newest first.
    Runs {
        #[command(flatten)]
        which: Which,
        /// Only those that stand so.
        #[arg(long, value_enum)]
        status: Option<Status>,
        /// Only those of this session, by its id.
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// How many at most.
        #[arg(long, short = 'n', default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
    },
    /// Show how a run stands, its steps and its questions.
    Show {
        /// The run, by its id; `last` for the newest one.
        run: String,
    },
    /// Go on with a run that was left, and wait until it ends or asks, at most as long as `--wait` says; exits with 7 when
    /// it asks.
    Resume {
        /// The run, by its id; `last` for the newest one.
        run: String,
    },
    /// List the questions that nobody has answered yet, or those that stand otherwise, the oldest first.
    Questions {
        /// Only those that stand so.
        #[arg(long, value_enum, default_value_t)]
        status: Standing,
    },
    /// Answer a question with a choice or with words; `lmlang approve` and `lmlang reject` say yes and no.
    Answer {
        /// One of its choices, `yes` or `no`, or words.
        answer: String,
        /// The question, as `lmlang flow questions` lists it, or a run that asks one thing, also `last` [default: the only one
        /// that stands].
        #[arg(long, value_name = "ID")]
        question: Option<String>,
        /// Why, for the record.
        #[arg(long, short)]
        message: Option<String>,
    },
    /// Stop a run, or all that have not ended of a flow, about a program, or begun by somebody.
    Cancel(cancelling::Args),
    /// Begin a run that goes on from a step of another one, on a branch of its own.
    Fork {
        /// The run, by its id; `last` for the newest one.
        run: String,
        /// The step, by the number that `lmlang flow show` gives.
        #[arg(long, value_name = "STEP")]
        at: u32,
    },
    /// Take a run back to a step; revisions that it made after that are taken back.
    Rewind {
        /// The run, by its id; `last` for the newest one.
        run: String,
        /// The step, by the number that `lmlang flow show` gives.
        #[arg(long, value_name = "STEP")]
        to: u32,
        /// Tell what it would come to, and change nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Have a run go on as one of the newer version that its flow has by now.
    Move {
        /// The run, by its id; `last` for the newest one.
        run: String,
        /// Tell what keeps it from that, and change nothing; exits with 1 if something does.
        #[arg(long)]
        dry_run: bool,
    },
    /// List sessions, the newest first, or the runs of one.
    Sessions(sessions::Args),
    /// Print what happens to runs, as it happens; of one run all that has happened, until it ends.
    Watch(watching::Args),
    /// Count how runs went: calls of tools and models, and failures by class.
    Metrics(metrics::Args),
    /// Print the trace of a run: its nodes, and what they did outside.
    Trace {
        /// The run, by its id; `last` for the newest one.
        run: String,
    },
}

/// Which runs.
#[derive(Debug, clap::Args)]
struct Which {
    /// Only those of this flow.
    #[arg(long)]
    flow: Option<String>,
    /// Only those about this program, by name or id; one that was deleted by its id.
    #[arg(long)]
    program: Option<String>,
    /// Only those that were begun by whom this name names.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

/// A language of pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Picture {
    /// A list of nodes, each with those that it leads to.
    #[default]
    Nodes,
    /// The language of Graphviz.
    Dot,
    /// The language of Mermaid.
    Mermaid,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Status {
    Running,
    Waiting,
    Completed,
    Failed,
    Cancelled,
}

/// How a question stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Standing {
    /// Nobody has answered yet.
    #[default]
    Open,
    /// It was answered.
    Answered,
    /// Nobody has answered in time.
    Expired,
    /// Its run does not wait for it any more.
    Cancelled,
}

const FLOWS: &str = "query { flows {
  name version doc definitionHash inputSchema nodes { name kind targets doc } dot mermaid
} }";

const INPUT: &str = "query($id: ID!) { flow(id: $id) { inputSchema } }";

const START: &str = "mutation($input: StartRunInput!) { made: startRun(input: $input) { run { id } } }";

const RUNS: &str =
    "query($first: Int!, $after: String, $flow: String, $status: RunStatus, $program: ID, $by: String, $session: ID) {
  runs(
    first: $first, after: $after, flow: $flow, status: $status, program: $program, startedBy: $by, sessionId: $session
  ) {
    nodes { id flow { name } status node createdAt endedAt deadline startedBy { name } }
    pageInfo { hasNextPage endCursor }
  }
}";

const RUN: &str = "query($id: ID!) { run(id: $id) {
  id flow { name version } status node plan progress error input createdAt endedAt deadline startedBy { name }
  forkedFrom outdated
  program { name }
  interrupts { ...Asked }
  session { runs(first: 50) { nodes { id parent { id } interrupts { ...Asked } } } }
} }
fragment Asked on Interrupt { id type question choices status expiresAt decision { actor { name } answer reason } }";

const STEPS: &str = "query($id: ID!, $first: Int!, $after: String) { run(id: $id) {
  steps(first: $first, after: $after) {
    nodes { index node branch attempt latencyMs goto error receipts superseded }
    pageInfo { hasNextPage endCursor }
  }
} }";

const TRACE: &str = "query($id: ID!, $first: Int!, $after: String) { run(id: $id) {
  trace(first: $first, after: $after) {
    nodes { id parentId kind name startedAt endedAt ok attempt attributes }
    pageInfo { hasNextPage endCursor }
  }
} }";

const QUESTIONS: &str = "query($first: Int!, $after: String, $status: InterruptStatus) {
  interrupts(first: $first, after: $after, status: $status) {
    nodes {
      id type question choices status askedAt expiresAt run { flow { name } } decision { actor { name } answer reason }
    }
    pageInfo { hasNextPage endCursor }
  }
}";

const FORK: &str = "mutation($input: ForkRunInput!) { made: forkRun(input: $input) { run { id } } }";

const REWIND: &str = "mutation($input: RewindRunInput!) { made: rewindRun(input: $input) {
  run { id } rewound { superseded reverted notUndone }
} }";

const MOVE: &str = "mutation($input: MoveRunInput!) { made: moveRun(input: $input) {
  run { id } moved { from { name version definitionHash } to { name version definitionHash } hindrances }
} }";

#[derive(Debug, Deserialize)]
struct Made {
    made: MadeRun,
}

#[derive(Debug, Deserialize)]
struct MadeRun {
    run: Named,
    rewound: Option<Rewound>,
    moved: Option<Moved>,
}

#[derive(Debug, Deserialize)]
struct Named {
    id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rewound {
    superseded: u64,
    reverted: Vec<String>,
    not_undone: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Listed {
    runs: Page<Value>,
}

#[derive(Debug, Deserialize)]
struct Questions {
    interrupts: Page<Value>,
}

pub(crate) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.action {
        Action::List { flow, picture } => list(flow.as_deref(), *picture, settings, output),
        Action::Declared(action) => declared::run(action, settings, output),
        Action::Start { flow, fields, input, session, deadline } => {
            let mut given = fields::object(fields, input.as_deref())?;
            let deadline = deadline.map(|deadline| deadline.num_milliseconds());
            with_client(settings, Missing::Refuse, async |client| {
                as_taken(client, flow, fields, &mut given).await?;
                let input = json!({
                    "flow": flow, "input": given, "sessionId": session, "deadlineMs": deadline,
                });
                let made: Made = client.change(START, input, "lmlang flow runs").await?;
                say(format_args!("began {}", made.made.run.id));
                wait_for(client, &made.made.run.id, 0, patience(settings), output).await
            })
        }
        Action::Runs { which, status, session, limit } => {
            let status = status.map(|status| format!("{status:?}").to_uppercase());
            let mut variables = which.variables(status.as_deref());
            variables["session"] = session.clone().into();
            let (runs, more) = with_client(settings, Missing::Refuse, async |client| {
                client.list(RUNS, variables, *limit as usize, |answer: Listed| answer.runs).await
            })?;
            let json: Vec<Value> = runs.iter().map(run_json).collect();
            output.data(&json, || columns(&runs.iter().map(row).collect::<Vec<_>>()))?;
            if more {
                say("there are more: `--limit` shows them");
            }
            Ok(Exit::Success)
        }
        Action::Show { run } => with_client(settings, Missing::Refuse, async |client| {
            let run = &id_of(client, run).await?;
            let shown = find(client, run).await?;
            let steps = all(client, STEPS, run, "steps").await?;
            show(&shown, &steps, output)
        }),
        Action::Resume { run } => with_client(settings, Missing::Refuse, async |client| {
            let run = &id_of(client, run).await?;
            let told = find(client, run).await?.progress.len();
            client.go_on(run).await?;
            wait_for(client, run, told, patience(settings), output).await
        }),
        Action::Questions { status } => {
            let variables = json!({ "status": format!("{status:?}").to_uppercase() });
            let (questions, _) = with_client(settings, Missing::Refuse, async |client| {
                client.list(QUESTIONS, variables, usize::MAX, |answer: Questions| answer.interrupts).await
            })?;
            let json = questions.iter().map(|of| with_moments(of, &["askedAt", "expiresAt"]));
            output.data(&json.collect::<Vec<Value>>(), || questions.iter().map(asked).collect())?;
            Ok(Exit::Success)
        }
        Action::Answer { question, answer, message } => {
            with_client(settings, Missing::Refuse, async |client| {
                let question = answering::question_of(client, question.as_deref()).await?;
                let given = question.answered_by(answer);
                let patience = patience(settings);
                answering::decide(client, &question, given, message.as_deref(), patience, output).await
            })
        }
        Action::Cancel(args) => cancelling::run(args, settings, output),
        Action::Fork { run, at } => {
            let made: Made = with_client(settings, Missing::Refuse, async |client| {
                let input = json!({ "runId": id_of(client, run).await?, "atStep": at });
                client.change(FORK, input, "lmlang flow runs").await
            })?;
            let id = made.made.run.id;
            output.data(&json!({ "id": id }), || format!("{id}\n"))?;
            Ok(Exit::Success)
        }
        Action::Rewind { run, to, dry_run } => {
            let made: Made = with_client(settings, Missing::Refuse, async |client| {
                let input = json!({ "runId": id_of(client, run).await?, "toStep": to, "dryRun": dry_run });
                client.change(REWIND, input, &look(run)).await
            })?;
            let Some(rewound) = made.made.rewound else { return Ok(Exit::Success) };
            let json = json!({
                "superseded": rewound.superseded, "reverted": rewound.reverted, "notUndone": rewound.not_undone,
            });
            output.data(&json, || {
                let entries = counted(rewound.superseded, "entry", "entries");
                let verb = match (*dry_run, rewound.superseded) {
                    (true, _) => "would not count",
                    (false, 1) => "does not count",
                    (false, _) => "do not count",
                };
                let mut text = format!("{entries} after step {to} {verb} any more\n");
                for branch in &rewound.reverted {
                    text += &format!("taken back on {branch}\n");
                }
                for effect in &rewound.not_undone {
                    text += &format!("not undone: {effect}\n");
                }
                text
            })?;
            Ok(Exit::Success)
        }
        Action::Move { run, dry_run } => {
            let made: Made = with_client(settings, Missing::Refuse, async |client| {
                let input = json!({ "runId": id_of(client, run).await?, "dryRun": dry_run });
                client.change(MOVE, input, &look(run)).await
            })?;
            let id = made.made.run.id;
            let Some(moved) = made.made.moved else { return Ok(Exit::Success) };
            output.data(&moved, || moved.told(&id, *dry_run))?;
            Ok(if moved.hindrances.is_empty() { Exit::Success } else { Exit::Failure })
        }
        Action::Sessions(args) => sessions::run(args, settings, output),
        Action::Watch(args) => watching::run(args, settings, output),
        Action::Metrics(args) => metrics::run(args, settings, output),
        Action::Trace { run } => {
            with_client(settings, Missing::Refuse, async |client| {
                print_trace(client, &id_of(client, run).await?, output).await
            })?;
            Ok(Exit::Success)
        }
    }
}

/// Prints the trace of a run.
pub(crate) async fn print_trace(client: &Client, run: &str, output: Output) -> Result<(), Error> {
    let spans = all(client, TRACE, run, "trace").await?;
    output.data(&spans, || trace(&spans))
}

impl Which {
    fn variables(&self, status: Option<&str>) -> Value {
        json!({ "flow": self.flow, "status": status, "program": self.program, "by": self.by })
    }
}

fn look(run: &str) -> String {
    format!("lmlang flow show {run}")
}

fn list(flow: Option<&str>, picture: Picture, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let answer: Value =
        with_client(settings, Missing::Refuse, async |client| client.ask(FLOWS, &json!({})).await)?;
    let flows = answer["flows"].as_array().cloned().unwrap_or_default();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let Some(name) = flow else {
        let row = |flow: &Value| [word(&flow["name"]), word(&flow["version"]), word(&flow["doc"])];
        output.data(&flows, || columns(&flows.iter().map(row).collect::<Vec<_>>()))?;
        return Ok(Exit::Success);
    };
    let Some(found) = flows.iter().find(|flow| flow["name"] == name) else {
        let names = flows.iter().map(|flow| word(&flow["name"])).collect();
        return Err(Error::not_found(format!("there is no flow `{name}`"), names));
    };
    output.data(found, || match picture {
        Picture::Dot => word(&found["dot"]),
        Picture::Mermaid => word(&found["mermaid"]),
        Picture::Nodes => {
            let nodes = found["nodes"].as_array().cloned().unwrap_or_default();
            let row = |node: &Value| {
                let targets: Vec<String> =
                    node["targets"].as_array().into_iter().flatten().map(word).collect();
                [
                    word(&node["name"]),
                    word(&node["kind"]).to_lowercase(),
                    targets.join(", "),
                    word(&node["doc"]),
                ]
            };
            columns(&nodes.iter().map(row).collect::<Vec<_>>())
        }
    })?;
    if picture == Picture::Nodes {
        say(input_fields(&found["inputSchema"]));
    }
    Ok(Exit::Success)
}

/// The fields that a flow is started with, of the schema of its input.
fn input_fields(schema: &Value) -> String {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema["properties"].as_object().into_iter().flat_map(Map::keys).map(String::as_str);
    let optional: Vec<&str> = fields.filter(|field| !required.contains(field)).collect();
    let told: Vec<String> = [("required", required), ("optional", optional)]
        .into_iter()
        .filter(|(_, fields)| !fields.is_empty())
        .map(|(kind, fields)| format!("{kind} input: {}", fields.join(", ")))
        .collect();
    if told.is_empty() { "no input".to_owned() } else { told.join("; ") }
}

async fn find(client: &Client, run: &str) -> Result<Run, Error> {
    let mut found: OfRun = client.ask(RUN, &json!({ "id": run })).await?;
    found.run.take_over();
    Ok(found.run)
}

/// The id of a run that a caller names: itself, or `last` for that of the newest one.
async fn id_of(client: &Client, run: &str) -> Result<String, Error> {
    if run != "last" {
        return Ok(run.to_owned());
    }
    let (runs, _) = client.list(RUNS, json!({}), 1, |answer: Listed| answer.runs).await?;
    let newest = runs.first().and_then(|run| run["id"].as_str()).map(str::to_owned);
    newest.ok_or_else(|| Error::not_found("there is no run yet".to_owned(), Vec::new()))
}

/// Has fields of the input of a flow be texts where it takes texts, whatever they look like.
pub(crate) async fn as_taken(
    client: &Client,
    flow: &str,
    fields: &[String],
    given: &mut Value,
) -> Result<(), Error> {
    if !fields.is_empty() {
        let answer: Value = client.ask(INPUT, &json!({ "id": flow })).await?;
        fields::as_texts(given, fields, &answer["flow"]["inputSchema"]);
    }
    Ok(())
}

/// All items of a list of a run.
async fn all(client: &Client, document: &str, run: &str, list: &'static str) -> Result<Vec<Value>, Error> {
    let page = |answer: Value| -> Page<Value> {
        serde_json::from_value(answer["run"][list].clone()).unwrap_or_else(|_| Page::empty())
    };
    Ok(client.list(document, json!({ "id": run }), usize::MAX, page).await?.0)
}

/// How many seconds a run is waited for at most.
pub(crate) fn patience(settings: &Settings) -> u64 {
    settings.wait.unwrap_or(60)
}

/// Waits until a run ends or asks, and prints how it stands then; what it has done by then, but for the first so many words.
async fn wait_for(
    client: &Client,
    id: &str,
    mut told: usize,
    seconds: u64,
    output: Output,
) -> Result<Exit, Error> {
    const PAUSE: Duration = Duration::from_millis(50);
    let begun = std::time::Instant::now();
    let mut interrupted = pin!(interrupted());
    loop {
        let run = find(client, id).await?;
        for words in run.progress.iter().skip(told) {
            say(words);
        }
        told = run.progress.len();
        // Where nothing is asked it waits for another run, which does something.
        let over = run.status != "RUNNING" && (run.status != "WAITING" || run.asks());
        if over || begun.elapsed() >= Duration::from_secs(seconds) {
            output.data(&run.json(), || run.standing())?;
            return Ok(run.exit());
        }
        tokio::select! {
            () = &mut interrupted => {
                say(format_args!("left {id}: `lmlang flow resume {id}` waits for it again"));
                // The run is as safe as when the process is killed, and nobody waits for what it is at.
                std::process::exit(Exit::Interrupted.number().into());
            }
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}
