//! A server with the Query API of Neo4j that knows the statements of the store, each by its text.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, post};
use axum::{Json, Router};
use lmlang_agents::neo4j::statements;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::sync::{OwnedMutexGuard, oneshot, watch};
use tokio::task::JoinHandle;

pub(super) const PASSWORD: &str = "correct horse";
/// The user and the password, as they are sent.
const AUTHORIZATION: &str = "Basic bmVvNGo6Y29ycmVjdCBob3JzZQ==";

pub(super) struct Server {
    pub(super) url: String,
    backend: Backend,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Server {
    pub(super) async fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it has an address"));
        let backend = Backend::default();
        let (stop, stopped) = oneshot::channel::<()>();
        let routes = Router::new()
            .route("/db/neo4j/query/v2", post(alone))
            .route("/db/neo4j/query/v2/tx", post(begin))
            .route("/db/neo4j/query/v2/tx/{id}", post(execute))
            .route("/db/neo4j/query/v2/tx/{id}", delete(roll_back))
            .route("/db/neo4j/query/v2/tx/{id}/commit", post(commit))
            .with_state(backend.clone());
        let server = axum::serve(listener, routes).with_graceful_shutdown(async {
            drop(stopped.await);
        });
        let task = tokio::spawn(async move { server.await.expect("it serves") });
        Server { url, backend, stop, task }
    }

    /// Answers the next statement with an error.
    pub(super) fn fail(&self, code: &str, message: &str) {
        self.backend.amiss().statement = Some(failure(code, message));
    }

    /// Answers the next statement with what is no answer of the API.
    pub(super) fn garble(&self) {
        self.backend.amiss().statement = Some("<html>Welcome</html>".into_response());
    }

    /// Ends no transaction when it is told to the next time.
    pub(super) fn is_busy(&self) {
        let code = "Neo.ClientError.Transaction.TransactionAccessedConcurrently";
        self.backend.amiss().end = Some(failure(code, "It is at work."));
    }

    /// Gives nobody a turn as long as what is returned is kept.
    pub(super) fn hold(&self) -> OwnedMutexGuard<impl Sized + use<>> {
        Arc::clone(&self.backend.graph).try_lock_owned().expect("nobody asks")
    }

    /// Waits until so many wait for their turn.
    pub(super) async fn waiting(&self, many: usize) {
        let mut waiting = self.backend.waiting.subscribe();
        waiting.wait_for(|waiting| *waiting == many).await.expect("it serves");
    }

    /// How many transactions are open.
    pub(super) fn open(&self) -> usize {
        self.backend.open().len()
    }

    /// Makes a node that is not as the store writes them.
    pub(super) fn spoil(&self) {
        let mut graph = self.backend.graph.try_lock().expect("nobody asks");
        graph.entities.insert("Note x".to_owned(), json!({ "a": 1 }));
    }

    /// Stops serving, and returns where it served.
    pub(super) async fn stop(self) -> String {
        self.stop.send(()).expect("it serves");
        self.task.await.expect("it ends");
        self.url
    }
}

#[derive(Clone)]
struct Relation {
    from: Value,
    relation_type: String,
    to: Value,
    props: Value,
}

#[derive(Clone, Default)]
struct Graph {
    /// Properties by name.
    entities: BTreeMap<String, Value>,
    relations: Vec<Relation>,
    requests: HashMap<String, Value>,
}

/// A transaction that has its turn: it has the graph, and what that was.
struct Turn {
    graph: OwnedMutexGuard<Graph>,
    before: Graph,
}

/// What the next answers are instead of what they would be.
#[derive(Default)]
struct Amiss {
    /// The next statement's.
    statement: Option<Response>,
    /// The next end's.
    end: Option<Response>,
}

#[derive(Clone, Default)]
struct Backend {
    graph: Arc<tokio::sync::Mutex<Graph>>,
    /// The transactions that are open; nothing of one that has no turn yet.
    open: Arc<Mutex<HashMap<String, Option<Turn>>>>,
    begun: Arc<AtomicU64>,
    amiss: Arc<Mutex<Amiss>>,
    /// How many wait for their turn.
    waiting: watch::Sender<usize>,
}

impl Backend {
    fn open(&self) -> MutexGuard<'_, HashMap<String, Option<Turn>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn amiss(&self) -> MutexGuard<'_, Amiss> {
        self.amiss.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is answered instead, if anything is wrong.
    fn refusal(&self, headers: &HeaderMap) -> Option<Response> {
        let given = headers.get("authorization").and_then(|given| given.to_str().ok());
        if given != Some(AUTHORIZATION) {
            let why =
                json!({ "code": "Neo.ClientError.Security.Unauthorized", "message": "Invalid credential." });
            return Some((StatusCode::UNAUTHORIZED, Json(json!({ "errors": [why] }))).into_response());
        }
        self.amiss().statement.take()
    }
}

async fn alone(State(backend): State<Backend>, headers: HeaderMap, Json(body): Json<Value>) -> Response {
    if let Some(refusal) = backend.refusal(&headers) {
        return refusal;
    }
    let statement = body["statement"].as_str().unwrap_or_default();
    assert!(statements::CONSTRAINTS.contains(&statement), "{statement}");
    (StatusCode::ACCEPTED, Json(answer(&[], Vec::new()))).into_response()
}

async fn begin(State(backend): State<Backend>, headers: HeaderMap, body: Bytes) -> Response {
    if let Some(refusal) = backend.refusal(&headers) {
        return refusal;
    }
    assert!(body.is_empty(), "it is known before anything is done in it");
    let id = format!("t{}", backend.begun.fetch_add(1, Ordering::Relaxed));
    backend.open().insert(id.clone(), None);
    let told = json!({ "transaction": { "id": id, "expires": "2030-01-01T00:00:00Z" } });
    (StatusCode::ACCEPTED, [("neo4j-cluster-affinity", "member-1")], Json(told)).into_response()
}

async fn execute(
    State(backend): State<Backend>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(body): Json<Value>,
) -> Response {
    if let Some(refusal) = backend.refusal(&headers) {
        return refusal;
    }
    assert_eq!(headers["neo4j-cluster-affinity"], "member-1", "the member is asked that has the transaction");
    let statement = body["statement"].as_str().unwrap_or_default();
    if statement == statements::TAKE_TURN {
        backend.waiting.send_modify(|waiting| *waiting += 1);
        let graph = Arc::clone(&backend.graph).lock_owned().await;
        backend.waiting.send_modify(|waiting| *waiting -= 1);
        // It may have been ended meanwhile.
        if let Some(turn) = backend.open().get_mut(&id) {
            *turn = Some(Turn { before: graph.clone(), graph });
        }
        return (StatusCode::ACCEPTED, Json(answer(&["taken"], vec![vec![json!(1)]]))).into_response();
    }
    let mut open = backend.open();
    let turn = open.get_mut(&id).and_then(Option::as_mut).expect("the turn is taken first");
    let (columns, rows) = turn.graph.run(statement, &body["parameters"]);
    (StatusCode::ACCEPTED, Json(answer(&columns, rows))).into_response()
}

async fn commit(State(backend): State<Backend>, Path(id): Path<String>) -> Json<Value> {
    assert!(backend.open().remove(&id).is_some(), "it is open");
    Json(json!({ "bookmarks": [] }))
}

async fn roll_back(State(backend): State<Backend>, Path(id): Path<String>) -> Response {
    if let Some(busy) = backend.amiss().end.take() {
        return busy;
    }
    match backend.open().remove(&id) {
        Some(turn) => {
            if let Some(mut turn) = turn {
                *turn.graph = std::mem::take(&mut turn.before);
            }
            Json(json!({})).into_response()
        }
        None => failure("Neo.ClientError.Request.Invalid", "There is no such transaction."),
    }
}

fn failure(code: &str, message: &str) -> Response {
    let failure = json!({ "errors": [{ "code": code, "message": message }] });
    (StatusCode::BAD_REQUEST, Json(failure)).into_response()
}

fn answer(columns: &[&str], rows: Vec<Vec<Value>>) -> Value {
    let rows: Vec<Vec<Value>> = rows.into_iter().map(|row| row.iter().map(typed).collect()).collect();
    json!({ "data": { "fields": columns, "values": rows }, "bookmarks": [] })
}

/// A value that says its type.
fn typed(value: &Value) -> Value {
    let (of, value) = match value {
        Value::Null => ("Null", Value::Null),
        Value::Bool(_) => ("Boolean", value.clone()),
        Value::Number(number) if number.is_f64() => ("Float", number.to_string().into()),
        Value::Number(number) => ("Integer", number.to_string().into()),
        Value::String(_) => ("String", value.clone()),
        Value::Array(items) => ("List", items.iter().map(typed).collect()),
        Value::Object(fields) => {
            let fields: Map<String, Value> =
                fields.iter().map(|(name, value)| (name.clone(), typed(value))).collect();
            ("Map", Value::Object(fields))
        }
    };
    json!({ "$type": of, "_value": value })
}

fn text<'a>(values: &'a Value, name: &str) -> &'a str {
    values[name].as_str().unwrap_or_else(|| panic!("`{name}` is no text"))
}

fn list<'a>(values: &'a Value, name: &str) -> &'a [Value] {
    values[name].as_array().unwrap_or_else(|| panic!("`{name}` is no list"))
}

fn most(parameters: &Value) -> usize {
    parameters["most"].as_u64().and_then(|most| usize::try_from(most).ok()).expect("it is a number")
}

fn equal(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

type Rows = (Vec<&'static str>, Vec<Vec<Value>>);

impl Graph {
    fn by_id(&self, id: &Value) -> Option<&Value> {
        self.entities.values().find(|entity| entity["id"] == *id)
    }

    fn within<'a>(&'a self, parameters: &Value) -> impl Iterator<Item = &'a Value> {
        let (after, before) = (text(parameters, "after").to_owned(), text(parameters, "before").to_owned());
        let inside = move |(name, _): &(&String, &Value)| **name > after && **name < before;
        self.entities.iter().filter(inside).map(|(_, entity)| entity)
    }

    /// What a statement returns: rows with a value for each column.
    fn run(&mut self, statement: &str, parameters: &Value) -> Rows {
        let alone = |value: &Value| vec![value.clone()];
        match statement {
            statements::ENTITY => {
                let found = self.entities.get(text(parameters, "name"));
                (vec!["entity"], found.map(alone).into_iter().collect())
            }
            statements::PAGE => {
                (vec!["entity"], self.within(parameters).take(most(parameters)).map(alone).collect())
            }
            statements::EQUAL => {
                let prop = text(parameters, "prop");
                let is = |entity: &&Value| equal(&entity[prop], &parameters["value"]);
                let found = self.within(parameters).filter(is).take(most(parameters));
                (vec!["entity"], found.map(alone).collect())
            }
            statements::COUNT => (vec!["entities"], vec![vec![json!(self.within(parameters).count())]]),
            statements::RELATION => {
                let is = |one: &&Relation| {
                    one.from == parameters["from"]
                        && one.relation_type == parameters["type"]
                        && one.to == parameters["to"]
                };
                let found = self.relations.iter().filter(is).map(|one| alone(&one.props));
                (vec!["relation"], found.collect())
            }
            statements::RELATIONS_FROM | statements::RELATIONS_TO => {
                let (id, out) = (&parameters["id"], statement == statements::RELATIONS_FROM);
                let is =
                    |one: &&Relation| if out { one.from == *id } else { one.to == *id && one.from != *id };
                let row = |one: &Relation| {
                    let other = if out { &one.to } else { &one.from };
                    vec![json!(one.relation_type), one.props.clone(), other.clone()]
                };
                let found = self.relations.iter().filter(is).take(most(parameters)).map(row);
                (vec!["type", "relation", "other"], found.collect())
            }
            statements::HOPS_OUT | statements::HOPS_IN => {
                self.hops(parameters, statement == statements::HOPS_OUT)
            }
            statements::DELETE_RELATIONS => {
                for row in list(parameters, "rows") {
                    self.relations.retain(|one| one.props["id"] != row["id"]);
                }
                (Vec::new(), Vec::new())
            }
            statements::DELETE_ENTITIES => {
                for id in list(parameters, "ids") {
                    let held = self.relations.iter().any(|one| one.from == *id || one.to == *id);
                    assert!(!held, "it has relations");
                    self.entities.retain(|_, entity| entity["id"] != *id);
                }
                (Vec::new(), Vec::new())
            }
            statements::REQUEST => {
                let found = self.requests.get(text(parameters, "key"));
                (vec!["request"], found.map(alone).into_iter().collect())
            }
            statements::NOTE_REQUEST => {
                let request = &parameters["request"];
                self.requests.insert(text(request, "key").to_owned(), request.clone());
                (Vec::new(), Vec::new())
            }
            other => self.merge(other, parameters),
        }
    }

    fn hops(&self, parameters: &Value, out: bool) -> Rows {
        let types = list(parameters, "types");
        let after = (text(parameters, "type"), text(parameters, "after"));
        let mut found: Vec<((&str, &str), Vec<Value>)> = Vec::new();
        for one in &self.relations {
            let (own, other) = if out { (&one.from, &one.to) } else { (&one.to, &one.from) };
            let wanted = types.is_empty() || types.contains(&json!(one.relation_type));
            if let Some(other) = self.by_id(other).filter(|_| *own == parameters["id"] && wanted) {
                let place = (one.relation_type.as_str(), text(other, "_lmlang_name"));
                found.push((place, vec![json!(one.relation_type), one.props.clone(), other.clone()]));
            }
        }
        found.retain(|(place, _)| *place > after);
        found.sort_by(|one, other| one.0.cmp(&other.0));
        let rows = found.into_iter().take(most(parameters)).map(|(_, row)| row);
        (vec!["type", "relation", "entity"], rows.collect())
    }

    fn merge(&mut self, statement: &str, parameters: &Value) -> Rows {
        let named = statement.rsplit('`').nth(1).expect("a label or a type stands in backticks");
        for row in list(parameters, "rows") {
            let props = row["props"].clone();
            if statement == statements::merge_entities(named) {
                let name = text(row, "name");
                assert!(name.starts_with(&format!("{named} ")), "{name} is no {named}");
                self.entities.insert(name.to_owned(), props);
                continue;
            }
            assert_eq!(statement, statements::merge_relations(named));
            let (from, to) = (row["from"].clone(), row["to"].clone());
            self.relations.retain(|one| !(one.from == from && one.relation_type == named && one.to == to));
            self.relations.push(Relation { from, relation_type: named.to_owned(), to, props });
        }
        (Vec::new(), Vec::new())
    }
}
