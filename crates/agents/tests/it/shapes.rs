//! What runs carry and leave behind, by name: states, traces, and who may know of what.
//!
//! What no test shows: NL-67, a workflow of before that is kept as reference, for there was none; and PUN-92, summaries of summaries of
//! the graph, which is for later.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use lmlang_agents::draft::source::ManagerSource;
use lmlang_agents::flows;
use lmlang_agents::graph_store::GraphSource;
use lmlang_agents::model::Models;
use lmlang_engine::{Turn, Turned};
use lmlang_flow::definition::END;
use lmlang_flow::{State, Update};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::manager::Manager;
use crate::world::{World, call, scripted};

async fn say(world: &World, flow: &str, session: Option<Uuid>, text: &str) -> Turned {
    let turn =
        Turn { session, workflow: Some(flow.to_owned()), text: Some(text.to_owned()), ..Turn::default() };
    world.engine.take_turn(&turn, &call()).await.expect("it is taken")
}

async fn drafting() -> (World, Manager) {
    let manager = Manager::start().await;
    let target = ManagerSource::Given(Arc::new(manager.target()));
    (World::with_manager(Models::none(), target).await, manager)
}

fn names(value: &Value) -> Vec<&str> {
    value.as_object().map(|fields| fields.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// NL-11, NL-12, NL-13, NL-14, NL-16, NL-18, NL-19, NL-20, NL-21, NL-22, NL-30, NL-62, and of NL-15 the hash: the state of a draft is
/// one JSON object with these fields.
#[tokio::test]
async fn a_draft_carries_what_its_interface_names() {
    let (world, manager) = drafting().await;
    let asked = say(&world, "draft", None, "SELECT id FROM orders").await;
    let view = &asked.view;
    assert_eq!(view["session_id"], json!(asked.session.id.to_string()));
    assert_eq!(view["active_stream"], "orders");
    assert_eq!(view["stream_schema"]["columns"][0]["name"], "id");
    assert_eq!(names(&view["catalog_digest"]), ["constructs", "digest_hash", "functions"]);
    assert_eq!(view["notes"][0], "available streams: orders, users");
    assert_eq!(names(&view["history"]), ["summary", "tail"]);
    assert_eq!(
        view["user_input"],
        json!({ "text": "SELECT id FROM orders", "feedback": null, "confirm": null })
    );
    assert_eq!(names(&view["draft"]), ["assumptions", "preview_text", "questions", "sql"]);
    assert_eq!(names(&view["validation"]), ["attempt", "error", "max_attempts", "tmp_pipeline_id"]);
    assert_eq!(view["explain"]["pipeline_request_json"]["id"], "REPLACE_ME");
    assert_eq!(view["interrupt"]["type"], "need_confirm");
    assert_eq!(names(&view["metrics"]), ["llm_latency_ms", "llm_tokens", "manager_latency_ms", "retries"]);
    // It is JSON through and through.
    let again: Value = serde_json::from_str(&view.to_string()).expect("JSON");
    assert_eq!(&again, view);

    // Equal catalogs have equal digests; without a stream, nothing is drafted.
    let other = say(&world, "draft", None, "describe").await;
    assert_eq!(other.view["catalog_digest"], view["catalog_digest"]);
    assert_eq!(other.view["interrupt"]["choices"], json!(["orders", "users"]));
    assert_eq!(other.view["interrupt"]["type"], "need_stream");
    assert!(manager.log().iter().filter(|asked| asked.starts_with("POST")).count() == 1);
}

/// NL-08, NL-29, NL-41: which stream is described is asked for where none is named; the one that is described is the active one,
/// with the schema that the Manager has told.
#[tokio::test]
async fn a_described_stream_is_the_active_one() {
    let (world, manager) = drafting().await;
    let asked = say(&world, "draft", None, "describe").await;
    assert_eq!(asked.view["interrupt"]["type"], "need_stream");
    assert_eq!(asked.view["active_stream"], Value::Null);
    assert_eq!(manager.log(), ["GET /functions", "GET /capabilities/syntax", "GET /streams"]);
    let turn = Turn { session: Some(asked.session.id), choice: Some("users".to_owned()), ..Turn::default() };
    let described = world.engine.take_turn(&turn, &call()).await.expect("it is taken");
    assert_eq!(manager.log(), ["GET /streams/describe/users"]);
    let view = &described.view;
    assert_eq!((&view["outcome"], &view["interrupt"]), (&json!("described"), &Value::Null));
    assert_eq!(view["active_stream"], "users");
    let column = |name: &str| json!({ "name": name, "data_type": "bigint" });
    assert_eq!(view["stream_schema"], json!({ "columns": [column("id"), column("city")] }));
    assert_eq!(view["notes"], json!(["available streams: orders, users", "stream users: city, id"]));
}

/// NL-06: where the Manager checks SQL without making anything of it, that is asked for, and nothing is to be taken away.
#[tokio::test]
async fn sql_is_checked_without_a_pipeline_where_that_is_offered() {
    let (world, manager) = drafting().await;
    manager.offer_validation();
    let asked = say(&world, "draft", None, "SELECT id FROM orders").await;
    let view = &asked.view;
    let checked = json!({ "tmp_pipeline_id": null, "error": null, "attempt": 1, "max_attempts": 3 });
    assert_eq!(view["validation"], checked);
    assert_eq!(view["explain"]["pretty"], "Plan of SELECT id FROM orders");
    assert_eq!(view["explain"]["pipeline_request_json"]["id"], "REPLACE_ME");
    assert_eq!(view["interrupt"]["type"], "need_confirm");
    let described = "GET /streams/describe/orders";
    let read = ["GET /functions", "GET /capabilities/syntax", "GET /streams", described];
    assert_eq!(manager.log(), [&read[..], &["POST /validate_sql"]].concat());
    let turn = Turn { session: Some(asked.session.id), confirm: Some(true), ..Turn::default() };
    let done = world.engine.take_turn(&turn, &call()).await.expect("it is taken");
    assert_eq!(done.view["pipeline"]["sql"], "SELECT id FROM orders");

    // What it says of wrong SQL goes the same ways. That it offers this is known from the catalog.
    manager.order("POST /validate_sql", 400, "planner: no such thing");
    let refused = say(&world, "draft", None, "SELECT id FROM orders").await;
    assert_eq!(refused.view["validation"]["error"], "planner: no such thing");
    let question = refused.view["interrupt"]["question"].as_str().unwrap_or_default();
    assert!(question.contains("planner: no such thing"), "{question}");
    assert_eq!(manager.log(), ["GET /streams", described, "POST /validate_sql"]);
    assert!(manager.pipelines().is_empty());
}

/// What is wrong with SQL is told where it is, and not asked about as if nothing had been said.
#[tokio::test]
async fn sql_without_a_known_stream_is_told_what_is_wrong() {
    let (world, manager) = drafting().await;
    let check = async |text: &str, kind: &str, words: &[&str]| {
        let asked = say(&world, "draft", None, text).await.view["interrupt"].clone();
        let question = asked["question"].as_str().unwrap_or_default();
        assert!(
            asked["type"] == kind && words.iter().all(|words| question.contains(words)),
            "{text}: {asked}"
        );
    };
    check("SELECT id, FROM orders", "need_clarification", &["Which SQL is it?"]).await;
    check("SELECT id FROM order", "need_clarification", &["there is no stream `order`", "`orders` is near"])
        .await;
    check("describe order", "need_stream", &["There is no stream `order`. Which stream is it about?"]).await;
    check("describe", "need_stream", &["Which stream is it about?"]).await;
    check("-- all\nSELECT id FROM orders", "need_confirm", &["Hand out this pipeline?"]).await;
    let described = say(&world, "draft", None, "describe users").await;
    let other = say(&world, "draft", Some(described.session.id), "describe nobody").await;
    assert_eq!(other.view["interrupt"]["choices"], json!(["orders", "users"]), "{}", other.view);
    assert!(manager.pipelines().is_empty());
}

/// A draft about which the model has a question.
const SCRIPT: &str = r#"
[[reply]]
role = "router"
json = { intent = "nl2sql", stream = "orders" }

[[reply]]
role = "drafter"
text = "QUESTION: Which of them?"

[[reply]]
role = "drafter"
prompt_contains = ["all of them"]
text = "SELECT id FROM orders"
"#;

/// NL-23, PUN-96: what a run has spent is added up from turn to turn, and what a model is asked has the version of its prompt.
#[tokio::test]
async fn what_was_spent_is_added_up() {
    let mut script = tempfile::NamedTempFile::new().expect("a file");
    script.write_all(SCRIPT.as_bytes()).expect("it can be written");
    let manager = Manager::start().await;
    let target = ManagerSource::Given(Arc::new(manager.target()));
    let world = World::with_manager(scripted(script.path()), target).await;
    let first = say(&world, "draft", None, "which orders are there?").await;
    let turn = Turn { session: Some(first.session.id), ..Turn::default() };
    let second = Turn { text: Some("all of them".to_owned()), ..turn.clone() };
    let second = world.engine.take_turn(&second, &call()).await.expect("it is taken");
    let third = world.engine.take_turn(&Turn { confirm: Some(true), ..turn }, &call()).await;
    let third = third.expect("it is taken");
    assert_eq!((first.run.id, &third.view["outcome"]), (third.run.id, &json!("confirmed")));

    let spent = |turned: &Turned| {
        ["llm_tokens", "llm_latency_ms", "manager_latency_ms", "retries"]
            .map(|name| turned.view["metrics"][name].as_u64().expect("a number"))
    };
    let (one, two, three) = (spent(&first), spent(&second), spent(&third));
    let grows = (0..4).all(|at| one[at] <= two[at] && two[at] <= three[at]);
    assert!(grows, "{one:?} {two:?} {three:?}");
    assert!(one[0] > 0 && two[0] > one[0] && three[0] == two[0], "{one:?} {two:?} {three:?}");

    let spans = world.engine.span_page(&third.run, 0, 1_000).await.expect("they are read").items;
    let models: Vec<_> = spans.iter().filter(|span| span.kind == "model").collect();
    assert_eq!(models.len(), 3, "{models:?}");
    assert!(models.iter().all(|span| span.attributes["lmlang.prompt.version"].is_string()), "{models:?}");
}

/// NL-17, NL-71: of a long conversation the newest messages are kept word by word, those before in a line each.
#[tokio::test]
async fn old_words_become_a_summary() {
    let (world, _manager) = drafting().await;
    let mut session = None;
    for number in 0..12 {
        session = Some(say(&world, "draft", session, &format!("describe orders {number}")).await.session.id);
    }
    let last = say(&world, "draft", session, "list streams").await;
    let history = &last.view["history"];
    let tail = history["tail"].as_array().expect("a list");
    assert!(tail.len() <= 8, "{history}");
    assert!(!tail.iter().any(|message| message["content"] == "describe orders 0"), "{history}");
    assert!(history["summary"].as_str().expect("a text").contains("describe orders 0"), "{history}");
}

/// NL-04, NL-24, PUN-28, PUN-29, PUN-86, PUN-97: one trace, in which every call has a node around it, and every span its times.
#[tokio::test]
async fn every_call_has_a_node_around_it() {
    let (world, _manager) = drafting().await;
    let asked = say(&world, "draft", None, "SELECT id FROM orders").await;
    let spans = world.engine.span_page(&asked.run, 0, 1_000).await.expect("they are read").items;
    let traces: BTreeSet<&str> = spans.iter().map(|span| span.trace.as_str()).collect();
    assert_eq!(traces, BTreeSet::from([asked.session.id.simple().to_string().as_str()]));
    let ids = |kind: &str| -> BTreeSet<&str> {
        spans.iter().filter(|span| span.kind == kind).map(|span| span.id.as_str()).collect()
    };
    let (runs, nodes) = (ids("run"), ids("node"));
    assert_eq!(runs.len(), 1);
    for span in spans.iter().filter(|span| span.kind != "run") {
        let parent = span.parent.as_deref().expect("it lies in something");
        let around = if ["model", "http", "tool"].contains(&span.kind.as_str()) { &nodes } else { &runs };
        assert!(around.contains(parent), "{span:?}");
        assert!(span.ended.is_some_and(|ended| ended >= span.started), "{span:?}");
    }
}

/// PUN-17, PUN-22, PUN-63, PUN-72: nodes lead where the definition says, and nowhere else; what `evaluate` leads to is three nodes.
#[test]
fn routes_are_data() {
    let flows = flows(&Arc::new(Models::none()), GraphSource::Engine, ManagerSource::BuiltIn);
    let act = flows[1].flow();
    let targets = |name: &str| act.node(name).expect("it is there").targets.clone();
    assert_eq!(targets("evaluate"), ["plan_step", "diagnose", "answer"]);
    assert_eq!(targets("answer"), [END]);
    for node in &act.definition().nodes {
        assert!(!node.doc.is_empty() && !node.targets.is_empty(), "{}", node.name);
    }
    let mut state = State::initial(act);
    state.apply(act, &Update::none().with("nowhere", 1)).expect_err("there is no such channel");
}

/// PUN-16, PUN-19, PUN-99: plan, progress and artifacts are there to be looked at, and the answer sums up what was changed.
#[tokio::test]
async fn a_task_shows_its_plan_and_what_it_did() {
    let world = World::new(Models::none()).await;
    let done = say(
        &world,
        "act",
        None,
        "AddEdge Ticket:T-1 DEPENDS_ON Milestone:M-1; MATCH (t:Ticket) RETURN t.key",
    )
    .await;
    let view = &done.view;
    assert_eq!(view["plan"].as_array().map(Vec::len), Some(4));
    assert_eq!(view["progress"].as_array().map(Vec::len), Some(4));
    assert_eq!(view["artifacts"]["found"]["rows"], json!([["T-1"]]));
    assert_eq!(view["answer"]["counts"]["created"], 3);
    assert_eq!(view["answer"]["text"], "t.key\nT-1\nEntities: 3 created.");
}

/// PUN-61, PUN-70: the language of queries is known to stores alone, and parts of the flow do not write entities.
#[test]
fn nodes_know_no_query_language() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut open = vec![folder];
    let mut looked_at = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("it can be read");
            open.extend(entries.map(|entry| entry.expect("it can be read").path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("it can be read");
        looked_at += 1;
        let is_store = path.ends_with("graph_store.rs") || path.ends_with("neo4j.rs");
        assert!(is_store || !text.contains("cypher::run"), "{}", path.display());
        assert!(is_store || !text.contains("patch_entities"), "{}", path.display());
    }
    assert!(looked_at > 30, "{looked_at}");
}

/// PUN-05, PUN-08, PUN-36, PUN-37, PUN-38: what flows are made of are nine interfaces, and two more. Each says what holds when it is
/// called by many, again, or in vain.
#[test]
fn interfaces_say_what_holds() {
    let interfaces = [
        ("agents/src/graph_store.rs", "GraphStore"),
        ("agents/src/act/parts.rs", "ContextManager"),
        ("agents/src/tools.rs", "ToolRegistry"),
        ("agents/src/act/parts.rs", "Planner"),
        ("agents/src/act/parts.rs", "Executor"),
        ("agents/src/act/parts.rs", "Evaluator"),
        ("agents/src/act/parts.rs", "ErrorClassifier"),
        ("agents/src/act/parts.rs", "EscalationHandler"),
        ("engine/src/flows/spans.rs", "Tracer"),
        ("agents/src/tools.rs", "Tool"),
        ("agents/src/model.rs", "Model"),
        ("agents/src/draft/target.rs", "DraftTarget"),
        ("engine/src/flows/code.rs", "FlowCode"),
        ("engine/src/flows/registry.rs", "Interpreter"),
    ];
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it lies among the crates");
    for (file, name) in interfaces {
        let text = std::fs::read_to_string(crates.join(file)).expect("it can be read");
        let at = text.find(&format!("pub trait {name}:")).unwrap_or_else(|| panic!("{file} has no {name}"));
        let mut docs: Vec<&str> = text[..at]
            .lines()
            .rev()
            .take_while(|line| line.starts_with("///") || line.starts_with("#["))
            .collect();
        docs.reverse();
        let docs = docs.join(" ");
        let pure = docs.contains("Pure: ");
        for what in ["Concurrency: ", "Idempotency: "] {
            assert!(pure || docs.contains(what), "{name} does not say: {what}");
        }
        let effects = docs.contains("Side effects");
        assert!(pure || !effects || docs.contains("Warning: "), "{name} does not say what may go wrong");
        assert!(pure || effects || name == "ToolRegistry", "{name} does not say what it changes");

        // Whatever can fail says why.
        let body = &text[at..];
        let body = &body[..body.find("\n}").expect("it ends")];
        let mut docs = String::new();
        for line in body.lines().map(str::trim) {
            if line.starts_with("///") {
                docs.push_str(line);
            } else if line.starts_with("fn ") || line.starts_with("async fn ") {
                assert!(!docs.is_empty(), "{name}: `{line}` says nothing");
                let fails = line.contains("-> Result<") || line.contains("-> Completion<");
                assert!(!fails || docs.contains("# Errors"), "{name}: `{line}` does not say how it fails");
                docs.clear();
            }
        }
    }
}
