//! Processes that end in the middle of a run of an agent, at every place where its journal has just grown.

use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use lmlang_agents::draft::source::ManagerSource;
use lmlang_agents::graph_store::GraphSource;
use lmlang_agents::model::Models;
use lmlang_agents::{flows, interpreter};
use lmlang_engine::{
    Clock, Engine, InterruptFilter, InterruptStanding, Limits, RunStatus, Selector, SnapshotPolicy, Turn,
};
use lmlang_flow::AskKind;
use lmlang_store::{Action, Faults, Location, Options, Step, Store};
use lmlang_testdb::TestDb;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::manager::Manager;
use crate::world::{call, make_program, scripted};

/// A task with a deletion, about which a person is asked.
const ACT: &str = r#"
[[reply]]
role = "planner"
contains = ["move"]
json = { goal = "move the note", constraints = [], domain_hints = [], plan = [] }

[[reply]]
tool_calls = [{ name = "add_node", arguments = { label = "Note", key = "n" } }]

[[reply]]
tool_calls = [{ name = "add_edge", arguments = { from = { label = "Note", key = "n" }, type = "IN", to = { label = "Box", key = "b" } } }]

[[reply]]
prompt_contains = ["does not exist"]
tool_calls = [{ name = "add_node", arguments = { label = "Box", key = "b" } }]

[[reply]]
tool_calls = [{ name = "delete_node", arguments = { label = "Note", key = "n", detach = true } }]

[[reply]]
text = "It is moved."
"#;

/// A task with an edit of a program that is mended once, and one that takes it back.
const EDIT: &str = r#"
[[reply]]
role = "planner"
contains = ["triple"]
json = { goal = "triple it", constraints = [], domain_hints = [], plan = [] }

[[reply]]
tool_calls = [{ name = "propose_structured_edit", arguments = { program = "calc", base_revision = "r1", edits = [{ addText = { module = "calc", text = "func thrice (n: i64) -> (i64) { return (mul.i32 n, 3) }" } }] } }]

[[reply]]
prompt_contains = ["TYPE_MISMATCH"]
tool_calls = [{ name = "propose_structured_edit", arguments = { program = "calc", base_revision = "r1", edits = [{ addText = { module = "calc", text = "func thrice (n: i64) -> (i64) { return (mul.i64 n, 3) }" } }] } }]

[[reply]]
prompt_contains = ["; program calc @ r2"]
tool_calls = [{ name = "undo", arguments = { program = "calc", expected_head = "r2" } }]

[[reply]]
prompt_contains = ["; program calc @ r3"]
text = "It is as it was."
"#;

/// Nobody asks a model.
const NOBODY: &str = "reply = []";

/// A change of a program that is mended once, reviewed and merged.
const CHANGE: &str = r#"
[[reply]]
role = "drafter"
json = { edits = [{ addText = { module = "calc", text = "func thrice (n: i64) -> (i64) { return (mul.i32 n, 3) }" } }] }

[[reply]]
role = "reasoner"
prompt_contains = ["TYPE_MISMATCH"]
json = { edits = [{ addText = { module = "calc", text = "func thrice (n: i64) -> (i64) { return (mul.i64 n, 3) }" } }] }
"#;

/// A draft that the Manager refuses once.
const DRAFT: &str = r#"
[[reply]]
role = "router"
json = { intent = "nl2sql", stream = "orders" }

[[reply]]
role = "drafter"
text = "SELECT id FROM orders"

[[reply]]
role = "reasoner"
json = { sql = "SELECT id, amount FROM orders", questions = [], assumptions = [] }
"#;

/// A declared flow that asks a model, calls a tool in a loop, asks a person, calls another one, and has a model call tools.
fn sorting() -> Value {
    json!({
        "name": "sorting",
        "input": { "type": "object", "properties": { "text": { "type": "string" } } },
        "channels": { "sorted": {}, "reply": {}, "said": {}, "n": { "reducer": "sum" } },
        "nodes": [
            {
                "name": "sort",
                "action": { "model": {
                    "role": "router", "prompt": "{{text}}",
                    "schema": { "type": "object", "required": ["kind"], "properties": { "kind": { "type": "string" } } },
                    "into": "sorted", "then": "more",
                } },
            },
            {
                "name": "more", "visits": 6,
                "action": { "branch": {
                    "cases": [{ "when": { "atLeast": { "path": "n", "value": 5 } }, "then": "ask" }],
                    "otherwise": "add",
                } },
            },
            {
                "name": "add", "say": "added n-{{n}}",
                "action": { "tool": {
                    "name": "add_node",
                    "arguments": { "label": "Note", "key": "n-{{n}}", "props": { "kind": "{{sorted.kind}}" } },
                    "then": "count",
                } },
            },
            { "name": "count", "action": { "set": { "values": { "n": 1 }, "then": "more" } } },
            {
                "name": "ask",
                "action": { "ask": { "kind": "need_confirm", "question": "Delete one?", "into": "reply", "then": "drop" } },
            },
            {
                "name": "drop",
                "action": { "tool": {
                    "name": "delete_node", "arguments": { "label": "Note", "key": "n-0" }, "then": "work",
                } },
            },
            {
                "name": "work",
                "action": { "agent": {
                    "role": "planner", "prompt": "One more", "tools": ["add_node", "add_edge"], "into": "said", "then": "END",
                } },
            },
        ],
    })
}

const SORTED: &str = r#"
[[reply]]
role = "router"
contains = ["notes"]
json = { kind = "note" }

[[reply]]
role = "planner"
tool_calls = [{ name = "add_node", arguments = { label = "Note", key = "n-9" } }]

[[reply]]
role = "planner"
tool_calls = [{ name = "add_edge", arguments = { from = { label = "Note", key = "n-9" }, type = "IN", to = { label = "Box", key = "b" } } }]

[[reply]]
role = "planner"
prompt_contains = ["error: "]
text = "It is in no box."
"#;

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

async fn open(
    db: &TestDb,
    faults: Faults,
    ahead: Duration,
    models: &Arc<Models>,
    manager: &Manager,
) -> Engine {
    let location = Location::parse(&db.to_string()).expect("a place");
    // The one that was killed gives the file free a moment after it.
    let there = async {
        loop {
            let options = Options { faults: faults.clone(), ..Options::new(location.clone()) };
            match Store::open(options).await {
                Ok(store) => return store,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let store = tokio::time::timeout(Duration::from_secs(30), there).await.expect("it is free");
    let clock = Clock::default();
    clock.set_ahead(i64::try_from(ahead.as_micros()).expect("small"));
    let engine = Engine::with_clock(store, Limits::default(), SnapshotPolicy::default(), clock);
    let target = Arc::new(manager.target());
    engine.interpret_by(interpreter(models, GraphSource::Engine));
    engine.run_flows(flows(models, GraphSource::Engine, ManagerSource::Given(target)));
    engine
}

/// Waits for a run to its end, and agrees to whatever it asks.
async fn finish(engine: &Engine, session: Uuid) -> (RunStatus, Value) {
    loop {
        let filter = InterruptFilter {
            standing: Some(InterruptStanding::Open),
            session: Some(session),
            ..InterruptFilter::default()
        };
        let runs = lmlang_engine::RunFilter { session: Some(session), ..lmlang_engine::RunFilter::default() };
        let runs = engine.run_page(&runs, None, 10).await.expect("they are listed").items;
        let run = runs.into_iter().find(|run| run.parent.is_none()).expect("it has begun");
        let run = engine.settled(run.id, Duration::from_secs(30)).await.expect("it can be read");
        if run.status != RunStatus::Waiting {
            let machine = engine.run_machine(&run).await.expect("it can be read");
            return (run.status, machine.state().public(machine.flow()));
        }
        let open = engine.interrupt_page(&filter, None, 1).await.expect("they are listed").items;
        let Some(asked) = open.into_iter().next() else { continue };
        assert_eq!(asked.ask.kind, AskKind::NeedConfirm, "{}", asked.ask.question);
        let turn = Turn { session: Some(session), confirm: Some(true), ..Turn::default() };
        engine.take_turn(&turn, &call()).await.expect("it is taken");
    }
}

/// What a run came to.
#[derive(Debug, PartialEq)]
struct Came {
    status: RunStatus,
    state: Value,
    /// What the Manager was asked.
    asked: Vec<String>,
    /// How many revisions the program has.
    revisions: u64,
}

/// Lets a process die when its database has been written for the `die_at`th time since a run was asked for, and another
/// one go on.
/// Answers what the run came to, and whether anybody died. The script knows each answer once: nobody is asked twice.
fn die_at(die_at: u64, flow: &str, text: &str, script: &str, manager: &Manager) -> (Came, bool) {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(script.as_bytes()).expect("it can be written");
    let models = Arc::new(scripted(file.path()));
    manager.log();
    manager.forget();
    manager.order("POST /pipelines", 400, "planner: too little");
    let first = runtime();
    let db = Arc::new(first.block_on(TestDb::new()));
    let (dead, death) = mpsc::channel();
    let writes = Arc::new(AtomicU64::new(0));
    let hook = {
        let writes = Arc::clone(&writes);
        Faults::new(move |step| {
            // Counted from the beginning of the run on.
            if step != Step::AfterCommit || writes.load(Ordering::SeqCst) == 0 {
                return Action::Continue;
            }
            if writes.fetch_add(1, Ordering::SeqCst) == die_at {
                dead.send(()).ok();
                return Action::Hold(Arc::new(Notify::new()));
            }
            Action::Continue
        })
    };
    let (session, died) = first.block_on(async {
        let engine = open(&db, hook, Duration::ZERO, &models, manager).await;
        make_program(&engine, "calc", "module calc\n").await;
        let declared = engine.register_flow(&sorting(), false, &call()).await.expect("it is answered");
        assert_eq!(declared.mistakes, []);
        let start = lmlang_engine::StartSession { workflow: flow.to_owned(), title: None, deadline: None };
        let session = engine.start_session(&start, &call()).await.expect("it begins").id;
        let start = lmlang_engine::StartRun {
            flow: flow.to_owned(),
            session: Some(session),
            input: match flow {
                "act" => serde_json::json!({ "task": text }),
                "edit" | "review" => serde_json::json!({ "text": text, "program": "calc" }),
                _ => serde_json::json!({ "text": text }),
            },
            deadline: None,
        };
        // That of its beginning is counted too: how many there are does not depend on how fast the machine is.
        writes.store(1, Ordering::SeqCst);
        let over = tokio::spawn(async move {
            engine.start_run(&start, &call()).await.expect("it begins");
            drop(finish(&engine, session).await);
        });
        // Dies, or comes to its end.
        let wait = tokio::task::spawn_blocking(move || death.recv_timeout(Duration::from_secs(60)).is_ok());
        let died = tokio::select! {
            died = wait => died.expect("it waits"),
            _ = over => false,
        };
        (session, died)
    });
    first.shutdown_background();
    let second = runtime();
    let ((status, state), revisions) = second.block_on(async {
        // Later than the lease of the one that died.
        let engine = open(&db, Faults::none(), Duration::from_secs(60), &models, manager).await;
        let ended = finish(&engine, session).await;
        let calc = engine.find(&Selector::Name("calc".to_owned())).await.expect("it is there");
        let last = calc.timeline.head().last;
        engine.close().await;
        (ended, last)
    });
    let unused = models.unused();
    assert!(unused.is_empty(), "killed at write {die_at}: {unused:?}");
    let without = |text: &str| text.replace(&session.to_string(), "SESSION");
    let state = serde_json::from_str(&without(&state.to_string())).expect("JSON");
    let asked = manager.log().iter().map(|asked| without(asked)).collect();
    (Came { status, state, asked, revisions }, died)
}

/// Answers what the run comes to, wherever it is killed.
fn kill_everywhere(flow: &str, text: &str, script: &str) -> Came {
    let hosting = runtime();
    let manager = hosting.block_on(Manager::start());
    let undisturbed = die_at(u64::MAX, flow, text, script, &manager).0.steady();
    assert_eq!(undisturbed.status, RunStatus::Completed, "{:?}", undisturbed.state);
    let every = if std::env::var("LMLANG_LONG").is_ok() { 1 } else { 5 };
    let mut at = 1;
    loop {
        let (came, died) = die_at(at, flow, text, script, &manager);
        if !died {
            assert!(at > 20, "it was written {at} times only");
            return undisturbed;
        }
        assert_eq!(came.steady(), undisturbed, "killed at write {at}");
        at += every;
    }
}

impl Came {
    /// Without how long it took.
    fn steady(mut self) -> Came {
        for metric in ["llm_latency_ms", "manager_latency_ms"] {
            if self.state["metrics"].is_object() {
                self.state["metrics"][metric] = Value::Null;
            }
        }
        self
    }
}

/// PUN-64, PUN-82: wherever the process is killed, the task ends alike, and neither the model nor a tool is asked more.
#[test]
fn a_killed_task_ends_as_an_undisturbed_one() {
    kill_everywhere("act", "move the note", ACT);
}

/// PUN-64: wherever the process is killed, a program is edited once, and what the edit says is what it said.
#[test]
fn a_killed_edit_is_made_once() {
    let came = kill_everywhere("act", "triple it", EDIT);
    assert_eq!(came.revisions, 3, "{:?}", came.state);
}

/// Wherever the process is killed, in a run or in the one that it waits for, the change is merged once.
#[test]
fn a_killed_change_is_merged_once() {
    let came = kill_everywhere("edit", "triple it", CHANGE);
    assert_eq!(came.state["outcome"], "merged");
    assert_eq!(came.state["review"]["outcome"], "merged");
}

/// Wherever the process is killed, a branch is made of a text once, and merged once.
#[test]
fn a_killed_review_is_merged_once() {
    let text = "module calc\n\npub func thrice (n: i64) -> (i64) pure {\n  return (mul.i64 n, 3)\n}\n";
    let came = kill_everywhere("review", text, NOBODY);
    assert_eq!(came.state["outcome"], "merged", "{:?}", came.state);
}

/// Wherever the process is killed, a declared flow ends as an undisturbed one: by the definition that is stored with its run.
#[test]
fn a_killed_run_of_a_declared_flow_ends_as_an_undisturbed_one() {
    let came = kill_everywhere("sorting", "five notes", SORTED);
    let added: Vec<String> = (0..5).map(|n| format!("added n-{n}")).collect();
    let progress = came.state["progress"].as_array().cloned().unwrap_or_default();
    assert_eq!(progress[..5], added[..], "{progress:?}");
    assert_eq!((&came.state["n"], &came.state["said"]), (&json!(5), &json!("It is in no box.")));
}

/// NL-02, NL-49, NL-50, NL-51, NL-52: wherever the process is killed, the draft ends alike, and the Manager is asked no more.
/// NL-47, and of NL-72 that every store passes the same tests: whatever database they are run on, a file or a server.
#[test]
fn a_killed_draft_ends_as_an_undisturbed_one() {
    kill_everywhere("draft", "which orders are there?", DRAFT);
}
