//! A stream Manager for tests: over HTTP, with a log of what it was asked and faults to order.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use lmlang_agents::draft::manager::RestManager;
use serde_json::{Value, json};

/// A Manager that was started.
#[derive(Clone)]
pub(crate) struct Manager {
    state: Arc<Mutex<Held>>,
    pub(crate) url: String,
}

#[derive(Default)]
struct Held {
    log: Vec<String>,
    pipelines: BTreeSet<String>,
    /// Whether it checks SQL without making anything of it.
    validates: bool,
    /// Answers that come instead: the beginning of a request, a status, a body.
    ordered: VecDeque<(String, u16, String)>,
}

impl Manager {
    pub(crate) async fn start() -> Manager {
        let state = Arc::new(Mutex::new(Held::default()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let app = Router::new().fallback(answer).with_state(Arc::clone(&state));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Manager { state, url }
    }

    pub(crate) fn target(&self) -> RestManager {
        RestManager::new(&self.url).expect("it is an address")
    }

    /// The next request that begins so is answered with this, and may come again at once.
    pub(crate) fn order(&self, request: &str, status: u16, body: &str) {
        self.held().ordered.push_back((request.to_owned(), status, body.to_owned()));
    }

    /// From now on it checks SQL without making anything of it.
    pub(crate) fn offer_validation(&self) {
        self.held().validates = true;
    }

    /// Has nothing any more, and nothing was ordered.
    pub(crate) fn forget(&self) {
        *self.held() = Held::default();
    }

    /// What it was asked since the last time.
    pub(crate) fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.held().log)
    }

    /// The pipelines that it has.
    pub(crate) fn pipelines(&self) -> Vec<String> {
        self.held().pipelines.iter().cloned().collect()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn answer(State(state): State<Arc<Mutex<Held>>>, request: Request) -> Response {
    let asked = format!("{} {}", request.method(), request.uri().path());
    let body = to_bytes(request.into_body(), 1 << 20).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut held = state.lock().unwrap_or_else(PoisonError::into_inner);
    let told = body["id"].as_str().map(|id| format!(" {id}")).unwrap_or_default();
    held.log.push(format!("{asked}{told}"));
    if held.ordered.front().is_some_and(|(beginning, _, _)| asked.starts_with(beginning.as_str()))
        && let Some((_, status, body)) = held.ordered.pop_front()
    {
        let status = StatusCode::from_u16(status).expect("a status");
        return (status, [(RETRY_AFTER, "0")], body).into_response();
    }
    let (status, body) = held.answer(&asked, &body);
    let text = body.as_str().map(str::to_owned);
    let body = text.map_or_else(|| Body::from(body.to_string()), Body::from);
    (StatusCode::from_u16(status).expect("a status"), body).into_response()
}

impl Held {
    fn answer(&mut self, asked: &str, body: &Value) -> (u16, Value) {
        let (method, path) = asked.split_once(' ').expect("two words");
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match (method, &parts[..]) {
            ("GET", ["streams"]) => {
                let stream = |name: &str| json!({ "name": name, "shared": false });
                (200, json!([stream("orders"), stream("users")]))
            }
            ("GET", ["streams", "describe", "orders"]) => {
                (200, described("orders", &["id", "amount", "user_id"]))
            }
            ("GET", ["streams", "describe", "users"]) => (200, described("users", &["id", "city"])),
            ("GET", ["functions"]) => {
                let function = |kind: &str, name: &str| json!({ "kind": kind, "name": name, "aliases": [] });
                (200, json!([function("aggregate", "sum"), function("scalar", "abs")]))
            }
            ("GET", ["capabilities", "syntax"]) => {
                let feature = |id: &str| json!({ "id": id, "type": "feature", "status": "supported" });
                let ids = [
                    "statement.select",
                    "select.where",
                    "select.group_by",
                    "from.source",
                    "expr.binary.arithmetic",
                    "window.tumbling",
                ];
                let mut syntax = json!({ "dialect": "test", "constructs": ids.map(feature) });
                if self.validates {
                    syntax["validate_sql"] = json!(true);
                }
                (200, syntax)
            }
            ("POST", ["validate_sql"]) if self.validates => match body["sql"].as_str() {
                Some(sql) => (200, json!({ "plan": format!("Plan of {sql}") })),
                None => (400, json!("the SQL is missing")),
            },
            ("POST", ["pipelines"]) => {
                let id = body["id"].as_str().unwrap_or_default().to_owned();
                match body["sinks"].as_array().is_some_and(|sinks| !sinks.is_empty()) {
                    false => (400, json!("a pipeline has at least one sink")),
                    true if !self.pipelines.insert(id.clone()) => (409, json!("it exists")),
                    true => (201, json!({ "id": id, "status": "created" })),
                }
            }
            ("GET", ["pipelines", id, "explain"]) => match self.pipelines.contains(*id) {
                true => (200, json!("Sink\n  Project\n    Source orders")),
                false => (404, json!("there is none")),
            },
            ("DELETE", ["pipelines", id]) => match self.pipelines.remove(*id) {
                true => (200, json!("gone")),
                false => (404, json!("there is none")),
            },
            _ => (404, json!("there is no such path")),
        }
    }
}

fn described(name: &str, columns: &[&str]) -> Value {
    let columns: Vec<Value> =
        columns.iter().map(|name| json!({ "name": name, "data_type": "bigint" })).collect();
    json!({
        "stream": name, "spec_version": 1,
        "spec": { "type": "mqtt", "schema": { "columns": columns }, "props": {}, "shared": false },
    })
}
