//! An engine over a database of its own.

use std::sync::Arc;

use lmlang_engine::{
    Arrival, Call, Content, Creation, Engine, Limits, NewProgramRequest, OpenProgram, Outcome, Proposal,
    Selector, SnapshotPolicy, Travel, Way,
};
use lmlang_history::log::{Actor, ActorKind};
use lmlang_history::request::{EditRequest, ReplaceText};
use lmlang_store::{Location, Options, Store};
use lmlang_testdb::TestDb;

/// Snapshots as often as can be.
pub(crate) const OFTEN: SnapshotPolicy = SnapshotPolicy { entries: 4, bytes: u64::MAX, share: 0 };

pub(crate) struct Fixture {
    pub(crate) db: Arc<TestDb>,
    pub(crate) engine: Engine,
    policy: SnapshotPolicy,
}

impl Fixture {
    pub(crate) async fn new(policy: SnapshotPolicy) -> Fixture {
        Fixture::over(&Arc::new(TestDb::new().await), policy).await
    }

    /// One over a database that is there.
    pub(crate) async fn over(db: &Arc<TestDb>, policy: SnapshotPolicy) -> Fixture {
        Fixture { db: Arc::clone(db), engine: open(db, policy).await, policy }
    }

    /// One with other limits, for as long as it is not opened again.
    pub(crate) async fn within(policy: SnapshotPolicy, limits: Limits) -> Fixture {
        let db = Arc::new(TestDb::new().await);
        let engine = Engine::new(store(&db).await, limits, policy);
        Fixture { db, engine, policy }
    }

    /// Another engine over the same database, as another process has one.
    pub(crate) async fn replica(&self) -> Engine {
        open(&self.db, self.policy).await
    }

    /// Closes the engine, changes the database with SQL, and opens it again.
    pub(crate) async fn reopened(self, sql: &[&str]) -> Fixture {
        self.engine.close().await;
        for statement in sql {
            self.db.execute(statement).await;
        }
        let engine = open(&self.db, self.policy).await;
        Fixture { engine, ..self }
    }

    pub(crate) async fn create(&self, name: &str, text: &str) -> OpenProgram {
        let request = NewProgramRequest {
            name: name.to_owned(),
            doc: String::new(),
            content: Content::Text(text.to_owned()),
        };
        match self.engine.create_program(request, &call()).await.unwrap() {
            Creation::Created(open) => open,
            Creation::Rejected { text, .. } => panic!("{text:?}"),
        }
    }

    pub(crate) async fn find(&self, name: &str) -> OpenProgram {
        self.engine.find(&Selector::Name(name.to_owned())).await.unwrap()
    }

    /// Replaces the text of a function on `main`.
    pub(crate) async fn replace(&self, program: &str, of: &str, text: &str) {
        self.replace_on("main", program, of, text).await;
    }

    /// Replaces the text of a function on a branch.
    pub(crate) async fn replace_on(&self, branch: &str, program: &str, of: &str, text: &str) {
        let edit = ReplaceText { of: of.to_owned(), text: text.to_owned(), if_hash: None };
        let proposal = Proposal {
            program: Selector::Name(program.to_owned()),
            branch: branch.to_owned(),
            base: None,
            edits: vec![EditRequest::ReplaceFunctionText(edit)],
            dry_run: false,
            require_complete: false,
            verify_all: false,
        };
        match self.engine.propose(proposal, &call()).await.unwrap() {
            Outcome::Applied(applied) => assert!(applied.committed),
            other => panic!("{other:?}"),
        }
    }

    /// Goes back or forth on `main`; tells whether there was anywhere to go.
    pub(crate) async fn travel(&self, open: &OpenProgram, way: Way) -> bool {
        self.travel_on("main", open, way).await
    }

    /// Goes back or forth on a branch; tells whether there was anywhere to go.
    pub(crate) async fn travel_on(&self, branch: &str, open: &OpenProgram, way: Way) -> bool {
        let travel = Travel { branch: branch.to_owned(), way, expected_head: None, dry_run: false };
        match self.engine.travel(open, &travel, &call()).await.unwrap() {
            Arrival::Made { committed, .. } => committed,
            Arrival::Nothing(_) => false,
            Arrival::Conflict(conflict) => panic!("{conflict:?}"),
        }
    }

    /// The numbers of the snapshots of a program, newest first.
    pub(crate) async fn snapshots(&self, open: &OpenProgram) -> Vec<u64> {
        let snapshots =
            self.engine.store().snapshots(open.timeline.key(), u64::MAX >> 1, 1_000).await.unwrap();
        snapshots.into_iter().map(|snapshot| snapshot.seq).collect()
    }

    /// Waits for the background writer, until there is a snapshot of an entry or a later one.
    pub(crate) async fn snapshot_after(&self, open: &OpenProgram, number: u64) {
        let there = async {
            while self.snapshots(open).await.first().is_none_or(|newest| *newest < number) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(30), there).await.expect("a snapshot is written");
    }
}

async fn open(db: &TestDb, policy: SnapshotPolicy) -> Engine {
    // Few events in memory, so that a test can fall behind.
    Engine::new(store(db).await, Limits { events_in_memory: 8, ..Limits::default() }, policy)
}

async fn store(db: &TestDb) -> Store {
    Store::open(Options::new(Location::parse(&db.to_string()).unwrap())).await.unwrap()
}

pub(crate) fn call() -> Call {
    Call::by(Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None })
}
