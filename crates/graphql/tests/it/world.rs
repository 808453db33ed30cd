//! A program with one of everything, and how to ask about it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use lmlang_engine::{Engine, Limits, SnapshotPolicy};
use lmlang_graphql::schema;
use lmlang_graphql::transport::{self, Caller, Executor, Params, RequestId};
use lmlang_store::{Faults, Location, Options, Store};
use lmlang_testdb::TestDb;
use serde_json::{Value, json};

/// Nothing that a test waits for takes this long.
const PATIENCE: Duration = Duration::from_secs(20);

/// A module in another, a type of each kind, contracts, variables, regions, calls, docs and holes.
const TEXT: &str = r#"
; What is looked at.
module world

; A point.
pub type Point = struct {
  ; To the right.
  x: i64,
  y: i64
}

type Shape = enum { dot, at(Point) }

; Adds up, in a loop.
pub func total (n: i64) -> (i64) {
  require "n is not negative" = ge_s.i64 n, 0
  var sum: i64
  loop L (i: i64 = 0) {
    break_if L (gt_s.i64 i, n)
    var.set sum, (add.i64 (var.get sum), i)
    continue L (add.i64 i, 1)
  }
  return (var.get sum)
}

pub func far (p: Point) -> (i64) {
  sum = call total(struct.get Point.x p)
  return sum
}

func open (n: i64) -> (i64) {
  return (add.i64 n, _)
}

module world::inner

func nothing () -> () pure {
  return
}
"#;

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) executor: Executor,
    db: TestDb,
}

impl World {
    /// An engine with an empty database.
    pub(crate) async fn empty() -> World {
        World::over(TestDb::new().await).await
    }

    async fn over(db: TestDb) -> World {
        World::interfered(db, Faults::none()).await
    }

    /// An engine over a database, with something that interferes with what is written.
    pub(crate) async fn interfered(db: TestDb, faults: Faults) -> World {
        let location = Location::parse(&db.to_string()).expect("the database has a place");
        let store = Store::open(Options { faults, ..Options::new(location) }).await;
        let engine =
            Engine::new(store.expect("the store opens"), Limits::default(), SnapshotPolicy::default());
        let models = Arc::new(lmlang_agents::model::Models::none());
        engine.interpret_by(lmlang_agents::interpreter(
            &models,
            lmlang_agents::graph_store::GraphSource::Engine,
        ));
        engine.run_flows(lmlang_agents::flows(
            &models,
            lmlang_agents::graph_store::GraphSource::Engine,
            lmlang_agents::draft::source::ManagerSource::BuiltIn,
        ));
        let executor = schema::build(engine.clone(), transport::Limits::default());
        World { engine, executor, db }
    }

    /// The same database under a new engine; the statements are run in between.
    pub(crate) async fn restarted(self, statements: &[&str]) -> World {
        self.engine.close().await;
        for statement in statements {
            self.db.execute(statement).await;
        }
        World::over(self.db).await
    }

    /// One with the program `world`, which has two revisions and a checkpoint `start`.
    pub(crate) async fn new() -> World {
        let world = World::empty().await;
        world.create("world", TEXT).await;
        let edit = r#"mutation {
            createCheckpoint(input: {programId: "world", name: "start"}) { checkpoint { name } }
            proposeEdit(input: {programId: "world", edits: [
                {addText: {module: "world", text: "func added () -> () pure { return }"}}
            ]}) { outcome { __typename } }
        }"#;
        let done = world.data(edit, json!({})).await;
        assert_eq!(done["proposeEdit"]["outcome"]["__typename"], "EditApplied");
        world
    }

    /// Begins a run of `review` about `world` and waits until it asks; its id.
    pub(crate) async fn review(&self) -> String {
        let start = r#"mutation { startRun(input: {flow: "review", input: {
            program: "world", text: "module world\nfunc more () -> () pure { return }", message: "More."
        }}) { run { id cursor } } }"#;
        let started = self.data(start, json!({})).await;
        let run = started["startRun"]["run"]["id"].as_str().expect("it has an id").to_owned();
        let events = r#"subscription($run: ID!) { runEvents(runId: $run, after: "j0.0", kinds: [INTERRUPTED]) { kind } }"#;
        soon(self.stream(events, json!({"run": run})).next()).await.expect("it asks");
        run
    }

    /// The same engine under other limits of operations.
    pub(crate) fn under(&self, limits: transport::Limits) -> Executor {
        schema::build(self.engine.clone(), limits)
    }

    pub(crate) async fn create(&self, name: &str, text: &str) {
        let query = "mutation($name: String!, $text: String) {
            createProgram(input: {name: $name, text: $text}) { program { id } errors { message line } }
        }";
        let made = self.data(query, json!({"name": name, "text": text})).await;
        assert_eq!(made["createProgram"]["errors"], json!([]), "{text}");
    }

    /// The answer to a query or mutation.
    pub(crate) async fn ask(&self, query: &str, variables: Value) -> Value {
        ask(&self.executor, query, variables).await
    }

    /// The data of an answer without errors.
    pub(crate) async fn data(&self, query: &str, variables: Value) -> Value {
        let mut answer = self.ask(query, variables).await;
        assert_eq!(answer.get("errors"), None, "{query}");
        answer["data"].take()
    }

    /// Why a subscription's document is not run, if it is not; waits for no event of one that is.
    pub(crate) async fn refusal(&self, query: &str) -> Option<Value> {
        let prepared = match self.executor.prepare(params(query, json!({})), id(), &Caller::anonymous()) {
            Ok(prepared) => prepared,
            Err(answer) => return Some(serde_json::to_value(&answer).expect("answers are JSON")),
        };
        let mut events = self.executor.stream(prepared);
        let first = tokio::time::timeout(Duration::ZERO, events.next()).await.ok().flatten()?;
        let first = serde_json::to_value(&first).expect("answers are JSON");
        let is_at_a_place = first["errors"]
            .as_array()
            .is_some_and(|errors| errors.iter().all(|error| error.get("path").is_some()));
        (first.get("errors").is_some() && !is_at_a_place).then_some(first)
    }

    /// The events of a subscription.
    pub(crate) fn stream(&self, query: &str, variables: Value) -> BoxStream<'static, Value> {
        stream_with(&self.executor, query, variables)
    }
}

/// The events of a subscription of an executor.
pub(crate) fn stream(executor: &Executor, query: &str) -> BoxStream<'static, Value> {
    stream_with(executor, query, json!({}))
}

fn stream_with(executor: &Executor, query: &str, variables: Value) -> BoxStream<'static, Value> {
    stream_as(executor, &Caller::anonymous(), query, variables)
}

/// The events of a subscription of a caller.
pub(crate) fn stream_as(
    executor: &Executor,
    caller: &Arc<Caller>,
    query: &str,
    variables: Value,
) -> BoxStream<'static, Value> {
    let prepared = executor.prepare(params(query, variables), id(), caller).expect("the document is fine");
    let events = executor.stream(prepared);
    events.map(|answer| serde_json::to_value(&answer).expect("answers are JSON")).boxed()
}

/// The answer of an executor to a query or mutation.
pub(crate) async fn ask(executor: &Executor, query: &str, variables: Value) -> Value {
    ask_as(executor, &Caller::anonymous(), query, variables).await
}

/// The same to one of a caller.
pub(crate) async fn ask_as(
    executor: &Executor,
    caller: &Arc<Caller>,
    query: &str,
    variables: Value,
) -> Value {
    let answer = match executor.prepare(params(query, variables), id(), caller) {
        Ok(prepared) => executor.execute(prepared).await,
        Err(answer) => answer,
    };
    serde_json::to_value(&answer).expect("answers are JSON")
}

fn params(query: &str, variables: Value) -> Params {
    let params = json!({ "query": query, "variables": variables });
    serde_json::from_value(params).expect("parameters are well-formed")
}

fn id() -> RequestId {
    RequestId("test".into())
}

/// Waits for what happens soon.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("it happens soon")
}
