//! The interface of drafts over HTTP: turns, their stream, and traces.

use std::io::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::{delete, get, post};
use lmlang_agents::draft::manager::RestManager;
use lmlang_agents::draft::source::ManagerSource;
use lmlang_agents::graph_store::GraphSource;
use lmlang_agents::model::settings::{Kind, ModelSettings, Settings};
use lmlang_agents::model::{Role, build, tokens};
use lmlang_engine::{FlowCode, Scope};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use crate::access::{somebody, token};
use crate::real::{Real, start_flowing, start_guarded_flowing};
use crate::server::{Reply, soon};
use crate::sse::Events;

const SCRIPT: &str = r#"
[[reply]]
role = "router"
times = "always"
json = { intent = "nl2sql", stream = "orders" }

[[reply]]
role = "drafter"
text = """SELECT id,
  amount
FROM orders
"""
"#;

/// A Manager that makes whatever it is asked for.
async fn manager() -> String {
    let streams = || async { axum::Json(json!([{ "name": "orders" }])) };
    let orders = || async {
        let columns = ["id", "amount"].map(|name| json!({ "name": name, "data_type": "bigint" }));
        axum::Json(json!({ "stream": "orders", "spec": { "schema": { "columns": columns } } }))
    };
    let constructs = || async {
        let ids = ["statement.select", "from.source", "select.where"];
        axum::Json(json!({ "constructs": ids.map(|id| json!({ "id": id, "status": "supported" })) }))
    };
    let app = Router::new()
        .route("/streams", get(streams))
        .route("/streams/describe/orders", get(orders))
        .route("/functions", get(|| async { axum::Json(json!([])) }))
        .route("/capabilities/syntax", get(constructs))
        .route(
            "/pipelines",
            post(|| async { (StatusCode::CREATED, axum::Json(json!({ "status": "created" }))) }),
        )
        .route("/pipelines/{id}", delete(|| async { "gone" }))
        .route("/pipelines/{id}/explain", get(|| async { "Sink <- Source orders" }));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = url(&listener);
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

fn url(listener: &TcpListener) -> String {
    format!("http://{}", listener.local_addr().expect("an address"))
}

/// A server whose drafts are made by a script.
async fn drafting() -> Real {
    start_flowing(drafts(&manager().await)).await
}

/// Flows whose drafts are made by a script, and tried with a Manager.
fn drafts(manager: &str) -> Vec<Arc<dyn FlowCode>> {
    let mut script = tempfile::NamedTempFile::new().expect("a file");
    script.write_all(SCRIPT.as_bytes()).expect("it can be written");
    let settings = ModelSettings {
        kind: Some(Kind::Script),
        script: Some(script.path().to_owned()),
        ..ModelSettings::default()
    };
    let settings = Settings::from([(Role::default_role(), settings)]);
    let models = Arc::new(build(&settings, &|_| None, tokens).expect("the script can be read"));
    let target = Arc::new(RestManager::new(manager).expect("an address"));
    lmlang_agents::flows(&models, GraphSource::Engine, ManagerSource::Given(target))
}

fn text(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}

impl Real {
    async fn turn(&self, accept: &str, said: &Value) -> Reply {
        let headers = format!("content-type: application/json\r\naccept: {accept}\r\n");
        self.server.send("POST /nl2pipeline/turn", &headers, &said.to_string()).await
    }
}

/// NL-03, NL-11, NL-48, NL-54, NL-55, NL-56, NL-57, NL-60, NL-64, NL-66: a draft from its first word to its pipeline,
/// and its trace with times and tokens.
#[tokio::test]
async fn a_draft_is_talked_about_over_http() {
    let real = drafting().await;
    let first = real.turn("application/json", &json!({ "text": "what do we sell?" })).await;
    assert_eq!(first.status, 200, "{}", text(&first));
    let first = first.json();
    assert_eq!((&first["done"], &first["status"]), (&json!(false), &json!("WAITING")), "{first}");
    assert_eq!(first["sql"], "SELECT id,\n  amount\nFROM orders");
    assert_eq!(first["explain"], "Sink <- Source orders");
    assert_eq!(first["pipeline_json"]["id"], "REPLACE_ME");
    assert_eq!(first["interrupt"]["type"], "need_confirm");
    assert_eq!(first["schema"]["columns"][1]["name"], "amount");
    assert!(first["metrics"]["llm_tokens"].as_u64() > Some(0), "{first}");

    let session = first["session_id"].as_str().expect("a session").to_owned();
    let last = real.turn("application/json", &json!({ "session_id": session, "confirm": true })).await.json();
    assert_eq!((&last["done"], &last["outcome"]), (&json!(true), &json!("confirmed")), "{last}");
    assert_eq!(last["pipeline_json"]["sql"], first["sql"]);

    let trace = real.server.send(&format!("GET /sessions/{session}/trace"), "", "").await.json();
    let spans = trace["runs"][0]["spans"].as_array().expect("spans").clone();
    let of = |kind: &str| spans.iter().filter(|span| span["kind"] == kind).collect::<Vec<_>>();
    let head = real.server.send(&format!("HEAD /sessions/{session}/trace"), "", "").await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    let post = of("http").into_iter().find(|span| span["method"] == "POST").expect("it was made");
    assert_eq!(
        (&post["path"], &post["status"], &post["ok"]),
        (&json!("/pipelines"), &json!(201), &json!(true))
    );
    let models = of("model");
    assert_eq!(models.len(), 2, "{models:?}");
    assert!(
        models[1]["tokens"]["output"].as_u64() > Some(0) && models[1]["temperature"] == 0.0,
        "{:?}",
        models[1]
    );
    for node in of("node") {
        assert!(
            node["latency_ms"].is_number() && node["attempt"] == 1 && node["start_ts"].is_string(),
            "{node}"
        );
    }
}

/// NL-61, and of NL-32 what the server does: what the model says comes line by line, all of it before the end.
#[tokio::test]
async fn words_of_the_model_are_streamed() {
    let real = drafting().await;
    let stream = real.turn("text/event-stream", &json!({ "text": "what do we sell?" })).await;
    assert_eq!(stream.status, 200, "{}", text(&stream));
    let stream = text(&stream);
    let mut said = String::new();
    let mut view = Value::Null;
    for event in stream.split("\n\n") {
        let data = event.lines().find_map(|line| line.strip_prefix("data: "));
        let data: Value = data.and_then(|data| serde_json::from_str(data).ok()).unwrap_or_default();
        if event.contains("event: delta") && data["node"] == "draft_preview_sql" {
            assert!(view.is_null(), "words come before the view");
            said.push_str(data["text"].as_str().unwrap_or_default());
        } else if event.contains("event: view") {
            view = data;
        }
    }
    assert_eq!(view["status"], "WAITING", "{}", stream);
    assert_eq!(json!(said), view["draft"]["preview_text"], "{}", stream);
    assert!(said.lines().count() > 1, "{said}");
}

/// A turn that is repeated under its key is not taken twice, and its stream ends.
#[tokio::test]
async fn a_repeated_turn_ends_as_the_first() {
    let real = drafting().await;
    let said = json!({ "text": "what do we sell?", "idempotency_key": "k" });
    let first = text(&real.turn("text/event-stream", &said).await);
    let second = text(&real.turn("text/event-stream", &said).await);
    let view = |stream: &str| -> Value {
        let last = stream.split("\n\n").find(|event| event.contains("event: view")).expect("a view");
        let data = last.lines().find_map(|line| line.strip_prefix("data: ")).expect("data");
        serde_json::from_str(data).expect("JSON")
    };
    assert_eq!(view(&first)["run_id"], view(&second)["run_id"], "{second}");
    assert_eq!(view(&first)["sql"], view(&second)["sql"]);
}

/// What is revoked ends, also where a turn is told of that goes on.
#[tokio::test]
async fn a_turn_is_told_of_as_long_as_its_token_is_good() {
    // A Manager that takes what it is asked, and does not answer.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let real = start_guarded_flowing(drafts(&url(&silent))).await;
    let drafter = token(&real, "drafter", Scope::Admin, None).await;
    let (address, body) = (real.server.address, json!({ "text": "what do we sell?" }).to_string());
    let request = format!(
        "POST /nl2pipeline/turn HTTP/1.1\r\nhost: {address}\r\naccept: text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n{drafter}connection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.expect("the server accepts");
    stream.write_all(request.as_bytes()).await.expect("the request is sent");
    let _asked = soon(silent.accept()).await.expect("the Manager is asked");

    real.engine.revoke_token("drafter", &somebody()).await.expect("the token is revoked");
    let mut events = Events::of(stream);
    assert!(soon(events.until("UNAUTHENTICATED")).await, "{}", events.seen);
    assert!(!events.seen.contains("event: view"), "{}", events.seen);
}

/// NL-69: the server makes the ids of sessions; rubbish is told where it is.
#[tokio::test]
async fn what_is_wrong_with_a_turn_is_told() {
    let real = drafting().await;
    let check = async |said: Value, status: u16, code: &str, words: &str| {
        let reply = real.turn("application/json", &said).await;
        let error = reply.json()["errors"][0].clone();
        assert_eq!(
            (reply.status, error["extensions"]["code"].as_str()),
            (status, Some(code)),
            "{said}: {}",
            text(&reply)
        );
        assert!(error["message"].to_string().contains(words), "{said}: {error}");
    };
    check(
        json!({ "session_id": "3b1f2a3e-7d0e-4b3a-9d6e-1f1a2b3c4d5e", "text": "x" }),
        404,
        "NOT_FOUND",
        "session",
    )
    .await;
    check(json!({ "session_id": "mine", "text": "x" }), 404, "NOT_FOUND", "mine").await;
    check(json!({ "text": " " }), 400, "BAD_REQUEST", "words").await;
    check(json!({ "txet": "x" }), 400, "BAD_REQUEST", "txet").await;
    check(json!({ "text": "x", "sinks": [] }), 400, "BAD_REQUEST", "at least one").await;
    let unknown = json!({ "session_id": "mine", "text": "x" });
    let reply = real.turn("text/event-stream", &unknown).await;
    assert_eq!(
        (reply.status, reply.json()["errors"][0]["extensions"]["code"].as_str()),
        (404, Some("NOT_FOUND"))
    );
    let reply = real.server.send("GET /nl2pipeline/turn", "", "").await;
    assert_eq!(reply.status, 405);
    let reply = real.server.send("GET /sessions/nobody/trace", "", "").await;
    assert_eq!(
        (reply.status, reply.json()["errors"][0]["extensions"]["code"].as_str()),
        (404, Some("NOT_FOUND"))
    );
    let reply = real.server.send("POST /nl2pipeline/turn", "content-type: text/plain\r\n", "{}").await;
    assert_eq!(reply.status, 415);
}
