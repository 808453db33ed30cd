//! A database with tools over it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use lmlang_engine::{Engine, Limits, SnapshotPolicy};
use lmlang_graphql::schema;
use lmlang_graphql::transport::{self, Caller, Executor};
use lmlang_mcp::{Answer, Ask, Desk, InProcess, RpcError, ToolResult, desk};
use lmlang_store::{Location, Options, Store};
use lmlang_testdb::TestDb;
use serde_json::{Value, json};

/// Nothing that a test waits for takes this long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const SHOP: &str = "module shop

; Doubles a price.
pub func twice (x: i64) -> (i64) pure {
  return (mul.i64 x, 2)
}

; The price of a pair.
pub func pair (x: i64) -> (i64) {
  y = call twice(x)
  return y
}

; Never ends.
pub func forever () -> () {
  loop L () { continue L }
}
";

pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("it happens soon")
}

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) executor: Executor,
    pub(crate) desk: Desk,
    _db: TestDb,
}

impl World {
    pub(crate) async fn new() -> World {
        let db = TestDb::new().await;
        let location = Location::parse(&db.to_string()).expect("the database has a place");
        let store = Store::open(Options::new(location)).await.expect("the database opens");
        let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
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
        let ask = InProcess { executor: executor.clone(), caller: Caller::anonymous() };
        World { engine, executor, desk: Desk::new(Arc::new(ask)), _db: db }
    }

    /// The same with a program called `shop`.
    pub(crate) async fn with_shop() -> World {
        let world = World::new().await;
        let made = world.call("program", json!({ "action": "create", "name": "shop", "text": SHOP })).await;
        assert!(!made.is_error(), "{}", made.text());
        world
    }

    pub(crate) async fn try_call(&self, tool: &str, arguments: Value) -> Result<ToolResult, RpcError> {
        let tool = desk::find(tool)?;
        let arguments = arguments.as_object().expect("arguments are an object").clone();
        soon(self.desk.call(tool, arguments, Arc::new(|_| {}))).await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        let told = arguments.to_string();
        self.try_call(tool, arguments).await.unwrap_or_else(|error| panic!("{tool} {told}: {error}"))
    }

    /// Calls a tool that must do what it is asked for, and gives what it says.
    pub(crate) async fn says(&self, tool: &str, arguments: Value) -> String {
        let done = self.call(tool, arguments).await;
        assert!(!done.is_error(), "{}", done.text());
        done.text().to_owned()
    }
}

/// Someone who writes down what is asked, and lets another answer it.
pub(crate) struct Listener {
    pub(crate) to: Arc<dyn Ask>,
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Ask for Listener {
    fn ask<'a>(&'a self, document: &'a str, variables: Value) -> BoxFuture<'a, Result<Answer, RpcError>> {
        self.asked.lock().expect("nobody panics with it").push(document.to_owned());
        self.to.ask(document, variables)
    }
}
