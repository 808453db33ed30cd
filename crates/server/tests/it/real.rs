//! A server over a real engine with an empty database of its own.

use std::io::Write as _;
use std::sync::Arc;

use lmlang_agents::draft::source::ManagerSource;
use lmlang_agents::graph_store::GraphSource;
use lmlang_agents::model::settings::{Kind, ModelSettings, Settings};
use lmlang_agents::model::{Models, Role, build, tokens};
use lmlang_engine::{Engine, FlowCode, Limits, SnapshotPolicy, Unnamed};
use lmlang_graphql::{schema, transport};
use lmlang_server::{Admit, Config, Hooks};
use lmlang_store::{Location, Options, Store};
use lmlang_testdb::TestDb;
use serde_json::{Value, json};

use crate::schema::Levers;
use crate::server::{Reply, Server, serving};

pub(crate) struct Real {
    pub(crate) server: Server,
    pub(crate) engine: Engine,
    _db: TestDb,
}

/// Starts a server with the usual limits.
pub(crate) async fn start_real() -> Real {
    start_real_with(Limits::default()).await
}

pub(crate) async fn start_real_with(limits: Limits) -> Real {
    start_real_as(limits, |_| Hooks::default()).await
}

/// Starts a server that asks for a token once there is one.
pub(crate) async fn start_guarded() -> Real {
    start_guarded_with(Hooks::default()).await
}

/// The same with other hooks.
pub(crate) async fn start_guarded_with(hooks: Hooks) -> Real {
    start_guarded_over(|_| hooks).await
}

/// The same with hooks over the engine.
pub(crate) async fn start_guarded_over(hooks: impl FnOnce(&Engine) -> Hooks) -> Real {
    start_real_as(Limits::default(), |engine| guarded(engine, hooks(engine))).await
}

/// The same with flows.
pub(crate) async fn start_guarded_flowing(flows: Vec<Arc<dyn FlowCode>>) -> Real {
    let hooks = |engine: &Engine| guarded(engine, Hooks::default());
    start_real_with_flows(Limits::default(), hooks, &Arc::new(Models::none()), flows).await
}

/// Hooks that ask for a token once there is one.
fn guarded(engine: &Engine, hooks: Hooks) -> Hooks {
    let engine = engine.clone();
    let admit: Admit = Arc::new(move |token| {
        let engine = engine.clone();
        Box::pin(async move { engine.admit(token.as_deref(), Unnamed::WithoutTokens).await })
    });
    Hooks { admit, ..hooks }
}

/// Starts a server whose flows are these.
pub(crate) async fn start_flowing(flows: Vec<Arc<dyn FlowCode>>) -> Real {
    start_real_with_flows(Limits::default(), |_| Hooks::default(), &Arc::new(Models::none()), flows).await
}

/// Starts a server whose models say what a script says.
pub(crate) async fn start_scripted(script: &str) -> Real {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(script.as_bytes()).expect("it can be written");
    let settings = ModelSettings {
        kind: Some(Kind::Script),
        script: Some(file.path().to_owned()),
        attempts: Some(1),
        ..ModelSettings::default()
    };
    let settings = Settings::from([(Role::default_role(), settings)]);
    let models = Arc::new(build(&settings, &|_| None, tokens).expect("the script can be read"));
    start_real_over(Limits::default(), |_| Hooks::default(), &models).await
}

async fn start_real_as(limits: Limits, hooks: impl FnOnce(&Engine) -> Hooks) -> Real {
    start_real_over(limits, hooks, &Arc::new(Models::none())).await
}

async fn start_real_over(limits: Limits, hooks: impl FnOnce(&Engine) -> Hooks, models: &Arc<Models>) -> Real {
    let flows = lmlang_agents::flows(models, GraphSource::Engine, ManagerSource::BuiltIn);
    start_real_with_flows(limits, hooks, models, flows).await
}

async fn start_real_with_flows(
    limits: Limits,
    hooks: impl FnOnce(&Engine) -> Hooks,
    models: &Arc<Models>,
    flows: Vec<Arc<dyn FlowCode>>,
) -> Real {
    let db = TestDb::new().await;
    let location = Location::parse(&db.to_string()).expect("the database has a place");
    let store = Store::open(Options::new(location)).await.expect("the store opens");
    let engine = Engine::new(store, limits, SnapshotPolicy::default());
    engine.interpret_by(lmlang_agents::interpreter(models, GraphSource::Engine));
    engine.run_flows(flows);
    let config = Config::default();
    let operations = transport::Limits { carrier: config.named_limits(), ..transport::Limits::default() };
    let executor = schema::build(engine.clone(), operations);
    let server = serving(executor, Levers::new(), config, hooks(&engine)).await;
    Real { server, engine, _db: db }
}

impl Real {
    /// Posts a document with variables.
    pub(crate) async fn post(&self, query: &str, variables: &Value) -> Reply {
        self.post_as("", query, variables).await
    }

    /// The same with more headers, each with the end of its line.
    pub(crate) async fn post_as(&self, headers: &str, query: &str, variables: &Value) -> Reply {
        let body = json!({ "query": query, "variables": variables }).to_string();
        let headers = format!(
            "content-type: application/json\r\naccept: application/graphql-response+json\r\n{headers}"
        );
        self.server.send("POST /graphql", &headers, &body).await
    }

    /// The data of a document that has no errors.
    pub(crate) async fn data(&self, query: &str, variables: Value) -> Value {
        let mut answer = self.post(query, &variables).await.json();
        assert_eq!(answer.get("errors"), None, "{query}");
        answer["data"].take()
    }

    /// Makes a program from a text.
    pub(crate) async fn program(&self, name: &str, text: &str) {
        let query = "mutation($name: String!, $text: String!) {
            createProgram(input: {name: $name, text: $text}) { program { id } errors { message line } }
        }";
        let made = self.data(query, json!({"name": name, "text": text})).await;
        assert_eq!(made["createProgram"]["errors"], json!([]), "{text}");
    }
}
