//! Runs as they are printed.

use std::collections::{BTreeMap, BTreeSet};

use lmlang_mcp::waiting::waited_for;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Output, columns, moment, say};

#[derive(Debug, Deserialize)]
pub(super) struct OfRun {
    pub(super) run: Run,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub(super) id: String,
    pub(super) flow: FlowName,
    pub(super) status: String,
    pub(super) node: Option<String>,
    pub(super) progress: Vec<String>,
    pub(super) error: Option<Value>,
    pub(super) started_by: Author,
    pub(super) created_at: String,
    ended_at: Option<String>,
    deadline: Option<String>,
    pub(super) program: Option<ProgramName>,
    pub(super) outdated: bool,
    pub(super) interrupts: Vec<Question>,
    session: InSession,
    #[serde(flatten)]
    pub(super) rest: BTreeMap<String, Value>,
}

/// The session of a run, with what its runs ask.
#[derive(Debug, Default, Deserialize)]
struct InSession {
    runs: Asking,
}

#[derive(Debug, Default, Deserialize)]
struct Asking {
    nodes: Vec<AskingRun>,
}

#[derive(Debug, Deserialize)]
struct AskingRun {
    id: String,
    parent: Option<Parent>,
    interrupts: Vec<Question>,
}

#[derive(Debug, Deserialize)]
struct Parent {
    id: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct FlowName {
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct ProgramName {
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Author {
    pub(super) name: String,
}

/// A question of a run.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Question {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) question: String,
    pub(super) choices: Option<Vec<String>>,
    pub(super) status: String,
    expires_at: Option<String>,
    pub(super) decision: Option<Value>,
}

/// What moving a run comes to.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Moved {
    from: Version,
    to: Version,
    pub(super) hindrances: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    name: String,
    version: String,
    definition_hash: String,
}

impl Moved {
    /// In words; what it would come to if nothing was changed.
    pub(super) fn told(&self, id: &str, dry_run: bool) -> String {
        let Moved { from, to, hindrances } = self;
        let is = match (from == to, dry_run, hindrances.is_empty()) {
            (true, ..) => "is",
            (false, false, _) => "is now",
            (false, true, true) => "can be",
            (false, true, false) => "cannot be",
        };
        let why: String = hindrances.iter().map(|why| format!("  {why}\n")).collect();
        format!("{id} {is} of version {} of `{}`\n{why}", to.version, to.name)
    }
}

/// A run in a list.
pub(super) fn row(run: &Value) -> [String; 7] {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let deadline = run["deadline"].as_str().filter(|_| run["endedAt"].is_null());
    [
        text(&run["id"]),
        text(&run["flow"]["name"]),
        text(&run["status"]).to_lowercase(),
        text(&run["node"]),
        moment(run["createdAt"].as_str().unwrap_or_default()),
        text(&run["startedBy"]["name"]),
        deadline.map(until).unwrap_or_default(),
    ]
}

/// The same as JSON.
pub(super) fn run_json(run: &Value) -> Value {
    with_moments(run, &["createdAt", "endedAt", "deadline"])
}

/// What the API tells, with moments as all documents have them.
pub(super) fn with_moments(told: &Value, fields: &[&str]) -> Value {
    let mut json = told.clone();
    for field in fields {
        json[*field] = told[*field].as_str().map(moment).into();
    }
    json
}

/// A text whose further lines stand below what it belongs to.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n  ")
}

/// A question in a list.
pub(super) fn asked(of: &Value) -> String {
    fn word(value: &Value) -> &str {
        value.as_str().unwrap_or_default()
    }
    let until = of["expiresAt"].as_str().map(|at| format!("  {}", until(at))).unwrap_or_default();
    let (id, flow, kind) = (word(&of["id"]), word(&of["run"]["flow"]["name"]), word(&of["type"]));
    let decision = &of["decision"];
    let decided = decision["actor"]["name"].as_str().map(|by| format!("  {by}: {}\n", decision["answer"]));
    let question = indented(word(&of["question"]));
    format!("{id}  {flow}  {kind}{until}\n  {question}\n{}", decided.unwrap_or_default())
}

/// Until when something is waited for.
fn until(at: &str) -> String {
    format!("until {}", moment(at))
}

pub(super) fn show(run: &Run, steps: &[Value], output: Output) -> Result<Exit, Error> {
    let mut json = run.json();
    json["steps"] = json!(steps);
    output.data(&json, || {
        let row = |step: &Value| {
            let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let attempt = step["attempt"].as_u64().unwrap_or(0);
            let came = match (step["error"]["message"].as_str(), step["goto"].as_str()) {
                (Some(message), goto) => {
                    let then = goto.map(|node| format!(" -> {node}")).unwrap_or_default();
                    format!("failed: {} ({}){then}", indented(message), word(&step["error"]["code"]))
                }
                (None, goto) => format!("-> {}", goto.unwrap_or_default()),
            };
            let came = if step["superseded"] == true { format!("{came}, taken back") } else { came };
            let branch = word(&step["branch"]);
            [
                step["index"].to_string(),
                if branch.is_empty() {
                    word(&step["node"])
                } else {
                    format!("{branch} {}", word(&step["node"]))
                },
                if attempt > 1 { format!("attempt {attempt}") } else { String::new() },
                came,
            ]
        };
        let about =
            run.program.as_ref().map(|program| format!(" about {}", program.name)).unwrap_or_default();
        let deadline = run.deadline.as_deref().filter(|_| run.ended_at.is_none());
        let deadline = deadline.map(|at| format!(", {}", until(at))).unwrap_or_default();
        let mut text = format!(
            "{} of {}{about}, begun by {} at {}{deadline}\n",
            run.id,
            run.flow.name,
            run.started_by.name,
            moment(&run.created_at)
        );
        text += &columns(&steps.iter().map(row).collect::<Vec<_>>());
        text + &run.standing()
    })?;
    if run.outdated {
        let needs = match run.node {
            Some(_) => "it is not gone on with",
            None => "it is neither forked nor rewound",
        };
        say(format_args!(
            "`{}` has a newer version by now: {needs} before `lmlang flow move {}`",
            run.flow.name, run.id
        ));
    }
    Ok(Exit::Success)
}

pub(super) fn trace(spans: &[Value]) -> String {
    fn word<'a>(span: &'a Value, field: &str) -> &'a str {
        span[field].as_str().unwrap_or_default()
    }
    let ids: BTreeSet<&str> = spans.iter().map(|span| word(span, "id")).collect();
    let mut sorted: Vec<&Value> = spans.iter().collect();
    sorted.sort_by_key(|span| (word(span, "startedAt"), span["kind"] != "run", span["kind"] != "node"));
    let mut runs = spans.iter().filter(|span| span["kind"] == "run").map(|span| word(span, "id"));
    let run = match (runs.next(), runs.next()) {
        (Some(run), None) => run,
        _ => "",
    };
    // By the span that they lie in. One that is not over is not there yet, nor is one that never came to its end: what was done in
    // it lies in the run. A page may not have that either, and what it has stands at the margin then.
    let mut within: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for span in sorted {
        let parent = match word(span, "parentId") {
            parent if ids.contains(parent) => parent,
            _ if span["kind"] == "run" => "",
            _ => run,
        };
        within.entry(parent).or_default().push(span);
    }
    let mut text = String::new();
    let mut open: Vec<(usize, &Value)> =
        within.remove("").into_iter().flatten().rev().map(|span| (0, span)).collect();
    while let Some((depth, span)) = open.pop() {
        let inner = within.remove(word(span, "id")).into_iter().flatten().rev();
        open.extend(inner.map(|span| (depth + 1, span)));
        let ok = match span["ok"].as_bool() {
            Some(true) => "ok",
            Some(false) => span["attributes"]["error.type"].as_str().unwrap_or("failed"),
            None => "goes on",
        };
        text += &format!("{}{} {}  {ok}\n", "  ".repeat(depth), word(span, "kind"), word(span, "name"));
    }
    text
}

impl Run {
    /// Takes over what runs ask that it waits for, and what those wait for.
    pub(super) fn take_over(&mut self) {
        let runs = std::mem::take(&mut self.session.runs.nodes);
        let others =
            waited_for(&self.id, runs, |of| &of.id, |of| of.parent.as_ref().map(|parent| parent.id.as_str()));
        self.interrupts.extend(others.into_iter().flat_map(|of| of.interrupts));
    }

    /// Whether something is asked.
    pub(super) fn asks(&self) -> bool {
        self.interrupts.iter().any(|of| of.status == "OPEN")
    }

    /// Whether nothing comes any more, unless somebody takes it back.
    pub(super) fn has_ended(&self) -> bool {
        !matches!(self.status.as_str(), "RUNNING" | "WAITING")
    }

    pub(super) fn json(&self) -> Value {
        let mut json = json!({
            "id": self.id, "flow": self.flow.name, "status": self.status, "node": self.node,
            "progress": self.progress, "error": self.error, "startedBy": self.started_by.name,
            "createdAt": moment(&self.created_at), "endedAt": self.ended_at.as_deref().map(moment),
            "deadline": self.deadline.as_deref().map(moment), "program": self.program.as_ref().map(|of| &of.name),
            "outdated": self.outdated,
            "questions": self.interrupts.iter().map(Question::json).collect::<Vec<_>>(),
        });
        for field in ["input", "plan"] {
            json[field] = self.rest.get(field).cloned().unwrap_or_default();
        }
        json
    }

    /// How it stands, and what it asks.
    pub(super) fn standing(&self) -> String {
        let mut text = self.status.to_lowercase();
        if let Some(node) = &self.node {
            text += &format!(" at {node}");
        }
        text.push('\n');
        if let Some(error) = &self.error {
            match (error["message"].as_str(), error["code"].as_str()) {
                (Some(message), Some("CANCELLED")) => text += &format!("{message}\n"),
                (Some(message), code) => {
                    text += &format!("{} ({})\n", indented(message), code.unwrap_or_default());
                }
                // Cancelled without a reason: that is all there is to say.
                (None, _) => {}
            }
        }
        for of in self.interrupts.iter().filter(|of| of.status == "OPEN") {
            text += &format!("{}  {}\n", of.id, indented(&of.question));
            match (&of.choices, of.kind.as_str()) {
                (Some(choices), _) => text += &format!("  answers: {}\n", choices.join(", ")),
                (None, "need_confirm") => text += "  `lmlang approve` or `lmlang reject` with its id\n",
                (None, _) => {}
            }
            if let Some(at) = &of.expires_at {
                text += &format!("  {}\n", until(at));
            }
        }
        text
    }

    pub(super) fn exit(&self) -> Exit {
        match self.status.as_str() {
            "COMPLETED" => Exit::Success,
            "WAITING" => Exit::Approval,
            "RUNNING" => Exit::TimeOut,
            "CANCELLED" => Exit::Interrupted,
            _ => Exit::Failure,
        }
    }
}

impl Question {
    pub(super) fn json(&self) -> Value {
        json!({
            "id": self.id, "type": self.kind, "question": self.question, "choices": self.choices,
            "status": self.status, "expiresAt": self.expires_at.as_deref().map(moment), "decision": self.decision,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_a_node_that_did_not_end_lies_in_its_run() {
        let span = |id: &str, parent: &str, kind: &str, name: &str, at: &str| json!({ "id": id, "parentId": parent, "kind": kind, "name": name, "startedAt": at, "ok": true });
        let run = span("r", "elsewhere", "run", "draft", "1");
        let rest = [
            span("n", "r", "node", "init", "1"),
            span("a", "n", "http", "GET /functions", "2"),
            span("b", "gone", "http", "GET /streams", "3"),
        ];
        let told = trace(&[&[run][..], &rest].concat());
        let lines = "run draft  ok\n  node init  ok\n    http GET /functions  ok\n  http GET /streams  ok\n";
        assert_eq!(told, lines);
        let told = trace(&rest[1..]);
        assert_eq!(told, "http GET /functions  ok\nhttp GET /streams  ok\n");
    }
}
