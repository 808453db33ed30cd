//! Golden traces: what is said in a session, and every span of what came of it.
//!
//! A file has comments (`;`), an optional script for the model between `script:` and `end`, turns (`> ` and the turn as JSON),
//! `! reopen` for a process that ended and began again, and below each turn what came of it. `! manager` at the beginning brings a
//! Manager up, of which `! log` shows what it was asked, and `! answer REQUEST STATUS BODY` orders an answer; `! ask METHOD PATH
//! BODY` asks the built-in one, and shows what it answers. `! program NAME TEXT` makes a program of a text in JSON, and `! token NAME
//! SCOPES` a token. `LMLANG_BLESS=1` writes what came of it anew.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lmlang_agents::draft::source::ManagerSource;
use lmlang_agents::model::Models;
use lmlang_engine::{Engine, Span, Turn, Turned};
use lmlang_streams::manager::{Answer, Body, Request};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use crate::manager::Manager;
use crate::world::{World, call, scripted};

/// A turn as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    text: Option<String>,
    feedback: Option<String>,
    confirm: Option<bool>,
    choice: Option<String>,
    flow: Option<String>,
    #[serde(default)]
    options: serde_json::Map<String, Value>,
    #[serde(default)]
    new_session: bool,
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.sort_unstable();
    files
}

/// PUN-67, PUN-02, PUN-30, PUN-31: every call has a span, and the same script gives the same trace.
#[tokio::test]
async fn traces_hold() {
    let mut wrong = Vec::new();
    for file in files() {
        let before = std::fs::read_to_string(&file).expect("it can be read");
        let after = traced(&before).await;
        if after != before {
            match std::env::var_os("LMLANG_BLESS") {
                Some(_) => std::fs::write(&file, &after).expect("it can be written"),
                None => wrong.push(format!("{}:\n{after}", file.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A file with what comes of its turns now.
async fn traced(text: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (script, lines) = parts(text);
    let models = match script {
        None => Models::none(),
        Some(script) => {
            let path = folder.path().join("script.toml");
            std::fs::write(&path, script).expect("it can be written");
            scripted(&path)
        }
    };
    let manager = match lines.contains(&"! manager") {
        true => Some(Manager::start().await),
        false => None,
    };
    let target = match &manager {
        Some(manager) => ManagerSource::Given(Arc::new(manager.target())),
        None => ManagerSource::BuiltIn,
    };
    let mut world = World::with_manager(models, target).await;
    let mut session = None;
    let mut seen = HashMap::new();
    let mut out = String::new();
    for line in lines {
        writeln!(out, "{line}").expect("a text");
        match (line, &manager) {
            ("! reopen", _) => world = world.reopened().await,
            ("! log", Some(manager)) => {
                for asked in manager.log() {
                    writeln!(out, "  {}", without_ids(&asked, session)).expect("a text");
                }
                let left = manager.pipelines();
                writeln!(out, "  {} pipelines", left.len()).expect("a text");
            }
            (line, Some(manager)) if line.starts_with("! answer ") => {
                let words: Vec<&str> = line.splitn(6, ' ').collect();
                let [_, _, method, path, status, body] = words[..] else { panic!("{line}") };
                manager.order(&format!("{method} {path}"), status.parse().expect("a status"), body);
            }
            (line, None) if line.starts_with("! ask ") => {
                let words: Vec<&str> = line.splitn(5, ' ').collect();
                let [_, _, method, path] = words[..4] else { panic!("{line}") };
                let body = words.get(4).map_or(Value::Null, |body| body.parse().expect("JSON"));
                let request = Request::of(method, path, body).expect("a request");
                match world.engine.ask_manager(request, &call().actor).await.expect("it answers") {
                    Ok(Answer { status, body: Body::Json(body), .. }) => writeln!(out, "  {status} {body}"),
                    Ok(Answer { status, body: Body::Text(text), .. }) => writeln!(out, "  {status} {text}"),
                    Err(refused) => writeln!(out, "  {} {refused}", refused.kind.status()),
                }
                .expect("a text");
            }
            (line, _) if line.starts_with("! program ") => {
                let words: Vec<&str> = line.splitn(4, ' ').collect();
                let [_, _, name, text] = words[..] else { panic!("{line}") };
                world.program(name, &serde_json::from_str::<String>(text).expect("a text in JSON")).await;
            }
            (line, _) if line.starts_with("! token ") => {
                let words: Vec<&str> = line.split(' ').skip(2).collect();
                let [name, scopes] = words[..] else { panic!("{line}") };
                world.token(name, scopes).await;
            }
            _ => {}
        }
        let Some(said) = line.strip_prefix("> ") else { continue };
        let said: Said = serde_json::from_str(said).unwrap_or_else(|error| panic!("{line}: {error}"));
        let on = session.filter(|_| !said.new_session);
        let turn = Turn {
            session: on,
            workflow: said.flow.or_else(|| on.is_none().then(|| "act".to_owned())),
            text: said.text,
            options: said.options,
            feedback: said.feedback,
            confirm: said.confirm,
            choice: said.choice,
            interrupt: None,
            deadline: None,
            session_deadline: None,
        };
        match world.engine.take_turn(&turn, &call()).await {
            Ok(turned) => {
                session = Some(turned.session.id);
                let mut came = String::new();
                told(&world.engine, &turned, &mut seen, &mut came).await;
                out.push_str(&without_ids(&came, session));
            }
            Err(error) => writeln!(out, "refused: {error}").expect("a text"),
        }
    }
    let unused = world.models.unused();
    assert!(unused.is_empty(), "the script was not used up: {unused:?}\n{out}");
    world.engine.close().await;
    out
}

/// A text in which the session has no id of its own.
fn without_ids(text: &str, session: Option<Uuid>) -> String {
    session.map_or_else(|| text.to_owned(), |session| text.replace(&session.to_string(), "SESSION"))
}

/// The script, and the lines that stay: all but what came of turns.
fn parts(text: &str) -> (Option<String>, Vec<&str>) {
    let (mut script, mut kept, mut inside): (Option<String>, Vec<&str>, bool) = (None, Vec::new(), false);
    for line in text.lines() {
        match line {
            "script:" => {
                (script, inside) = (Some(String::new()), true);
                kept.push(line);
            }
            "end" if inside => {
                inside = false;
                kept.push(line);
            }
            line if inside => {
                let script = script.as_mut().expect("it was begun");
                script.push_str(line);
                script.push('\n');
                kept.push(line);
            }
            line if line.is_empty() || line.starts_with([';', '>', '!']) => kept.push(line),
            _ => {}
        }
    }
    (script, kept)
}

/// Tells how the run of a turn stands, and what is new in its trace.
async fn told(engine: &Engine, turned: &Turned, seen: &mut HashMap<Uuid, u64>, out: &mut String) {
    let after = seen.get(&turned.run.id).copied().unwrap_or(0);
    let spans = engine.span_page(&turned.run, after, 1_000).await.expect("it can be read");
    seen.insert(turned.run.id, spans.items.last().map_or(after, |span| span.number));
    let status = format!("{:?}", turned.run.status).to_lowercase();
    writeln!(out, "run {} {status}", turned.run.flow.name()).expect("a text");
    for span in spans.items.iter().filter(|span| span.kind != "run") {
        writeln!(out, "  {}", line(span)).expect("a text");
    }
    if let Some(asked) = &turned.interrupt {
        let choices = match asked.ask.choices.as_slice() {
            [] => String::new(),
            choices => format!(" [{}]", choices.join(" | ")),
        };
        writeln!(out, "asks {} {}{choices}", asked.ask.kind.name(), asked.ask.question).expect("a text");
    }
    for shown in ["answer", "validation", "violations", "pipeline", "revision", "notes", "metrics"] {
        let value = &turned.view[shown];
        let says = match value {
            Value::Null => false,
            Value::Array(items) => !items.is_empty(),
            _ => shown != "metrics",
        };
        if says {
            writeln!(out, "{shown} {value}").expect("a text");
        }
    }
}

/// A span in a line: what happened, and the numbers that stay.
fn line(span: &Span) -> String {
    let noted = |name: &str| span.attributes.get(name).filter(|value| !value.is_null());
    let mut line = match span.kind.as_str() {
        "node" => {
            let goto = noted("lmlang.goto").and_then(Value::as_str).unwrap_or("failed");
            format!("{} -> {goto}", span.name)
        }
        kind => format!("  {kind} {}", span.name),
    };
    if span.attempt.is_some_and(|attempt| attempt > 1) {
        write!(line, " attempt {}", span.attempt.unwrap_or(0)).expect("a text");
    }
    let told = [
        "gen_ai.provider.name",
        "gen_ai.request.temperature",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "lmlang.prompt.messages",
        "lmlang.tool.arguments",
        "lmlang.tool.said",
        "http.response.status_code",
        "lmlang.cached",
        "lmlang.intent",
        "lmlang.violations",
        "lmlang.answered_by",
        "lmlang.attempt",
        "error.type",
        "lmlang.failure.class",
        "lmlang.failure.remedy",
    ];
    for name in told {
        if let Some(value) = noted(name) {
            let short = name.rsplit('.').next().unwrap_or(name);
            write!(line, " {short}={value}").expect("a text");
        }
    }
    line
}
