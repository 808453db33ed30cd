//! Sessions, and the runs that belong to one.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::{Page, Part, with_client};
use crate::commands::flow::shown::{Author, row, run_json};
use crate::duration::span;
use crate::error::Error;
use crate::exit::Exit;
use crate::nodes::first_line;
use crate::output::{Output, columns, counted, moment, rest_behind, say};
use crate::session::Missing;
use crate::settings::Settings;

const SESSIONS: &str = "query($first: Int!, $after: String) {
  sessions(first: $first, after: $after) {
    nodes { id workflow title summary createdAt updatedAt deadlineMs startedBy { name } }
    pageInfo { hasNextPage endCursor } totalCount
  }
}";

const SESSION: &str = "query($id: ID!) {
  session(id: $id) { id workflow title summary createdAt updatedAt deadlineMs startedBy { name } }
}";

const RUNS: &str = "query($id: ID!, $first: Int!, $after: String) {
  session(id: $id) {
    runs(first: $first, after: $after) {
      nodes { id flow { name } status node createdAt endedAt deadline startedBy { name } }
      pageInfo { hasNextPage endCursor } totalCount
    }
  }
}";

/// Which sessions.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session of which the runs are listed, by its id.
    session: Option<String>,
    /// How many at most.
    #[arg(long, short = 'n', default_value_t = 50, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Go on behind this cursor, which is told where more follow.
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Sessions {
    sessions: Page<Session>,
}

#[derive(Debug, Deserialize)]
struct One<T> {
    session: T,
}

#[derive(Debug, Deserialize)]
struct Runs {
    runs: Page<Value>,
}

/// Runs that belong together.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    id: String,
    workflow: String,
    title: Option<String>,
    summary: Option<String>,
    created_at: String,
    updated_at: Option<String>,
    deadline_ms: Option<u64>,
    started_by: Author,
}

pub(super) fn run(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    match &args.session {
        None => list(args, settings, output),
        Some(session) => show(args, session, settings, output),
    }
}

fn list(args: &Args, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let part = with_client(settings, Missing::Refuse, async |client| {
        let page = |answer: Sessions| answer.sessions;
        client.part(SESSIONS, json!({ "after": args.after }), args.limit as usize, page).await
    })?;
    output.data(&part.json(Session::json), || {
        columns(&part.items.iter().map(Session::row).collect::<Vec<_>>())
    })?;
    tell(&part, ["session", "sessions"]);
    Ok(Exit::Success)
}

fn show(args: &Args, session: &str, settings: &Settings, output: Output) -> Result<Exit, Error> {
    let (shown, part) = with_client(settings, Missing::Refuse, async |client| {
        let shown: One<Session> = client.ask(SESSION, &json!({ "id": session })).await?;
        let variables = json!({ "id": session, "after": args.after });
        let page = |answer: One<Runs>| answer.session.runs;
        Ok((shown.session, client.part(RUNS, variables, args.limit as usize, page).await?))
    })?;
    let mut json = shown.json();
    json["runs"] = part.json(run_json);
    output.data(&json, || {
        let runs = columns(&part.items.iter().map(row).collect::<Vec<_>>());
        format!("{}{runs}", shown.head())
    })?;
    tell(&part, ["run", "runs"]);
    Ok(Exit::Success)
}

/// Says whether that is all.
fn tell<T>(part: &Part<T>, [one, several]: [&str; 2]) {
    match &part.next {
        Some(next) => say(rest_behind(next)),
        None => say(format_args!("{}, that is all", counted(part.items.len() as u64, one, several))),
    }
}

impl Session {
    fn json(&self) -> Value {
        json!({
            "id": self.id,
            "flow": self.workflow,
            "title": self.title,
            "summary": self.summary,
            "startedBy": self.started_by.name,
            "createdAt": moment(&self.created_at),
            "updatedAt": self.updated_at.as_deref().map(moment),
            "deadlineMs": self.deadline_ms,
        })
    }

    /// The session as a row: id, flow, who began it, when something happened last, and what it is about.
    fn row(&self) -> [String; 5] {
        let updated = self.updated_at.as_deref().unwrap_or(&self.created_at);
        let about = self.title.as_deref().or(self.summary.as_deref()).unwrap_or_default();
        [
            self.id.clone(),
            self.workflow.clone(),
            self.started_by.name.clone(),
            moment(updated),
            first_line(about),
        ]
    }

    /// What it is, above its runs.
    fn head(&self) -> String {
        let Session { id, workflow, title, created_at, started_by, .. } = self;
        let title = title.as_ref().map(|title| format!("{title}\n")).unwrap_or_default();
        let within = self.deadline_ms.map(|millis| format!(", each run may take {}", span(millis)));
        let (by, at) = (&started_by.name, moment(created_at));
        format!("{id} of {workflow}, begun by {by} at {at}{}\n{title}", within.unwrap_or_default())
    }
}
