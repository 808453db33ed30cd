//! The tool `session`: what runs belong together.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::about::text;
use super::run::missing;
use crate::arguments::{schema, typed};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::tool::{Call, Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    action: Action,
    /// show: the session.
    session_id: Option<String>,
    /// create: the flow that its runs are of, `review`.
    workflow: Option<String>,
    /// create: what it is about.
    title: Option<String>,
    /// Same key, done once.
    idempotency_key: Option<String>,
    /// Tokens of the answer; default 4000, at most 20000.
    #[expect(dead_code, reason = "the desk reads it")]
    max_tokens: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Create,
    Show,
    List,
}

pub(super) static TOOL: Tool = Tool {
    name: "session",
    title: "Sessions",
    description: "Creates, shows and lists sessions: runs of one flow that belong together, in one trace.",
    effect: Effect::Appends,
    rate: None,
    begins: None,
    schema: LazyLock::new(schema::<Args>),
    run: |call, arguments| Box::pin(async move { run(call, typed(arguments)?).await }),
};

/// Characters of a title in a list, which has many of them.
const TITLE: usize = 80;

const SESSION: &str =
    "id title workflow summary createdAt runs(first: 20) { totalCount nodes { id status } }";

async fn run(call: &Call, args: Args) -> Result<Reply, Failure> {
    let carried_out = matches!(args.action, Action::Create);
    let session = match args.action {
        Action::List => return list(call).await,
        Action::Show => {
            let document = format!("query($id: ID!) {{ session(id: $id) {{ {SESSION} }} }}");
            let id = args.session_id.ok_or_else(|| missing("session_id"))?;
            call.ask.ask(&document, json!({ "id": id })).await?.whole()?["session"].take()
        }
        Action::Create => {
            let document = format!(
                "mutation($input: CreateSessionInput!) {{ done: createSession(input: $input) {{ session {{ {SESSION} }} }} }}"
            );
            let input = json!({
                "workflow": args.workflow.ok_or_else(|| missing("workflow"))?,
                "title": args.title,
                "idempotencyKey": args.idempotency_key,
            });
            call.ask.ask(&document, json!({ "input": input })).await?.whole()?["done"]["session"].take()
        }
    };
    let mut reply = Reply { outcome: Some("session"), noun: "runs", carried_out, ..Reply::default() };
    reply.count("runs", &session["runs"]["totalCount"]);
    reply.ids.insert("session_id", text(&session, "id").to_owned());
    reply.say(line(&session, usize::MAX));
    let runs = session["runs"]["nodes"].as_array().into_iter().flatten();
    let shown = |run: &Value| format!("{} {}", text(run, "id"), text(run, "status").to_lowercase()).into();
    reply.items.extend(runs.map(shown));
    Ok(reply)
}

/// A session in a line, with so many characters of its title at most.
fn line(session: &Value, longest: usize) -> String {
    let cut = |title: &str| match title.char_indices().nth(longest) {
        Some((end, _)) => format!(" \"{}…\"", &title[..end]),
        None => format!(" \"{title}\""),
    };
    let title = session["title"].as_str().map(cut).unwrap_or_default();
    let (id, workflow) = (text(session, "id"), text(session, "workflow"));
    format!("session_id {id} of {workflow}{title}: {}", text(session, "summary"))
}

async fn list(call: &Call) -> Result<Reply, Failure> {
    let document = format!("{{ sessions(first: 50) {{ totalCount nodes {{ {SESSION} }} }} }}");
    let answer = call.ask.ask(&document, json!({})).await?.whole()?;
    let sessions = &answer["sessions"];
    let mut reply = Reply { outcome: Some("listed"), noun: "sessions", ..Reply::default() };
    reply.count("sessions", &sessions["totalCount"]);
    reply.items.extend(sessions["nodes"].as_array().into_iter().flatten().map(|of| line(of, TITLE).into()));
    let shown = reply.items.len() as u64;
    reply.further = sessions["totalCount"].as_u64().unwrap_or(shown).saturating_sub(shown);
    Ok(reply)
}
