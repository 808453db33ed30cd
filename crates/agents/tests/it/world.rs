//! An engine over a database of its own, with the flows of this crate.

use std::path::Path;
use std::sync::Arc;

use lmlang_agents::draft::target::ManagerSource;
use lmlang_agents::flows;
use lmlang_agents::model::settings::{Kind, ModelSettings, Settings};
use lmlang_agents::model::{Models, Role, build, tokens};
use lmlang_engine::{Call, Engine, Limits, SnapshotPolicy};
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
    engine.run_flows(flows(models, manager));
    engine
}

/// Models that say what a script says.
pub(crate) fn scripted(script: &Path) -> Models {
    let settings = ModelSettings {
        kind: Some(Kind::Script),
        script: Some(script.to_owned()),
        attempts: Some(1),
        ..ModelSettings::default()
    };
    let settings = Settings::from([(Role::default_role(), settings)]);
    build(&settings, &|_| None, tokens).expect("the script can be read")
}

pub(crate) fn call() -> Call {
    Call::by(Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None })
}
