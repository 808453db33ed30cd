//! An engine over a database of its own, with the flows of this crate.

use std::path::Path;
use std::sync::Arc;

use lmlang_agents::draft::source::ManagerSource;
use lmlang_agents::flows;
use lmlang_agents::graph_store::GraphSource;
use lmlang_agents::model::settings::{Kind, ModelSettings, Settings};
use lmlang_agents::model::{Models, Role, build, tokens};
use lmlang_engine::{
    Call, Content, Creation, Engine, Limits, NewProgramRequest, NewToken, Scope, SnapshotPolicy,
};
use lmlang_history::log::{Actor, ActorKind};
use lmlang_store::{Location, Options, Store};
use lmlang_testdb::TestDb;

pub(crate) struct World {
    pub(crate) db: TestDb,
    pub(crate) engine: Engine,
    pub(crate) models: Arc<Models>,
    manager: ManagerSource,
}

impl World {
    pub(crate) async fn new(models: Models) -> World {
        World::with_manager(models, ManagerSource::BuiltIn).await
    }

    pub(crate) async fn with_manager(models: Models, manager: ManagerSource) -> World {
        let db = TestDb::new().await;
        let models = Arc::new(models);
        let engine = open(&db, &models, manager.clone()).await;
        World { db, engine, models, manager }
    }

    /// Makes a program of a text.
    pub(crate) async fn program(&self, name: &str, text: &str) {
        make_program(&self.engine, name, text).await;
    }

    /// Makes a token for some scopes, named with commas between them.
    pub(crate) async fn token(&self, name: &str, scopes: &str) {
        let named = |name: &str| Scope::ALL.into_iter().find(|scope| scope.name() == name);
        let new = NewToken {
            name: name.to_owned(),
            kind: ActorKind::Agent,
            scopes: scopes.split(',').map(|name| named(name).expect("there is such a scope")).collect(),
            programs: None,
            expires: None,
        };
        self.engine.create_token(new, &call().actor).await.expect("its name is free");
    }

    /// Closes the engine and opens it again.
    pub(crate) async fn reopened(self) -> World {
        self.engine.close().await;
        let engine = open(&self.db, &self.models, self.manager.clone()).await;
        World { engine, ..self }
    }
}

async fn open(db: &TestDb, models: &Arc<Models>, manager: ManagerSource) -> Engine {
    let location = Location::parse(&db.to_string()).expect("it is a location");
    let store = Store::open(Options::new(location)).await.expect("it opens");
    let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
    engine.run_flows(flows(models, GraphSource::Engine, manager));
    engine
}

/// Makes a program of a text.
pub(crate) async fn make_program(engine: &Engine, name: &str, text: &str) {
    let content = Content::Text(text.to_owned());
    let request = NewProgramRequest { name: name.to_owned(), doc: String::new(), content };
    match engine.create_program(request, &call()).await.expect("it is answered") {
        Creation::Created(_) => {}
        refused @ Creation::Rejected { .. } => panic!("{refused:?}"),
    }
}

/// Models that say what a script says.
pub(crate) fn scripted(script: &Path) -> Models {
    of_settings(ModelSettings { script: Some(script.to_owned()), ..ModelSettings::default() })
}

/// The same, of which secrets are hidden.
pub(crate) fn masked(script: &Path) -> Models {
    let script = Some(script.to_owned());
    of_settings(ModelSettings { script, mask: Some(true), ..ModelSettings::default() })
}

fn of_settings(settings: ModelSettings) -> Models {
    let settings = ModelSettings { kind: Some(Kind::Script), attempts: Some(1), ..settings };
    let settings = Settings::from([(Role::default_role(), settings)]);
    build(&settings, &|_| None, tokens).expect("the script can be read")
}

pub(crate) fn call() -> Call {
    Call::by(Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None })
}
