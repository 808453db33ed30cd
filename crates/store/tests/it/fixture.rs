//! A store over a database of its own.

use std::path::Path;
use std::sync::{Arc, Mutex};

use lmlang_store::{
    Action, Actor, ActorKey, ActorKind, Append, CommitError, Entry, EntryKind, FIRST_SEQ, Faults,
    Idempotency, Location, NewProgram, Options, ProgramKey, Step, Store, Ticket, Timestamp,
};
use lmlang_testdb::TestDb;
use tokio::sync::{Notify, mpsc};
use uuid::Uuid;

pub(crate) struct Fixture {
    pub(crate) db: TestDb,
    pub(crate) store: Store,
    pub(crate) actor: ActorKey,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with_faults(Faults::none()).await
    }

    pub(crate) async fn with_faults(faults: Faults) -> Self {
        Self::with_options(|options| Options { faults, ..options }).await
    }

    pub(crate) async fn with_options(chosen: impl FnOnce(Options) -> Options) -> Self {
        let db = TestDb::new().await;
        let store = Store::open(chosen(options_of(&db))).await.unwrap();
        let actor = author(&store).await;
        Self { db, store, actor }
    }

    /// Closes the store, changes the database with SQL, and opens it again.
    pub(crate) async fn reopened_after(self, sql: &str) -> Self {
        self.store.close().await.unwrap();
        self.db.execute(sql).await;
        let store = Store::open(options_of(&self.db)).await.unwrap();
        Self { store, ..self }
    }

    /// Closes the store and opens it again.
    pub(crate) async fn reopened(self) -> Self {
        self.store.close().await.unwrap();
        let store = Store::open(options_of(&self.db)).await.unwrap();
        Self { store, ..self }
    }

    pub(crate) async fn program(&self, name: &str) -> ProgramKey {
        create(&self.store, name, self.actor).await
    }

    pub(crate) fn submit(&self, program: ProgramKey, entries: Vec<Entry>) -> Ticket {
        self.store.committer().submit(append(program, entries))
    }

    pub(crate) async fn append(&self, program: ProgramKey, entry: Entry) -> Result<(), CommitError> {
        self.submit(program, vec![entry]).await
    }

    pub(crate) fn edit(&self, seq: u64) -> Entry {
        edit(seq, self.actor)
    }

    pub(crate) async fn seqs(&self, program: ProgramKey) -> Vec<u64> {
        seqs(&self.store, program).await
    }
}

pub(crate) fn options_of(db: &TestDb) -> Options {
    Options::new(Location::parse(&db.to_string()).unwrap())
}

/// Those of a file.
pub(crate) fn options(dir: &Path) -> Options {
    Options::file(dir.join("lmlang.db"))
}

pub(crate) async fn author(store: &Store) -> ActorKey {
    let actor = Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: Some("tests".to_owned()) };
    store.actor_key(&actor).await.unwrap()
}

pub(crate) fn new_program(name: &str) -> NewProgram {
    NewProgram { id: Uuid::now_v7(), name: name.to_owned(), doc: String::new(), created: Timestamp(1) }
}

pub(crate) async fn create(store: &Store, name: &str, actor: ActorKey) -> ProgramKey {
    let first = Entry { kind: EntryKind::Create, parents: Default::default(), ..edit(FIRST_SEQ, actor) };
    store.create_program(new_program(name), vec![first]).await.unwrap()
}

/// Entries after the one before them.
pub(crate) fn append(program: ProgramKey, entries: Vec<Entry>) -> Append {
    let first = entries.first().map_or(FIRST_SEQ + 1, |first| first.seq);
    Append { program, after: id_of(first - 1), entries }
}

/// The id of the entry with a number, in all logs here.
fn id_of(seq: u64) -> Uuid {
    Uuid::from_u128(seq.into())
}

/// An edit that follows the entry before it.
pub(crate) fn edit(seq: u64, actor: ActorKey) -> Entry {
    Entry {
        seq,
        id: id_of(seq),
        parents: [seq - 1].into_iter().collect(),
        branch: 0,
        kind: EntryKind::Edit,
        actor,
        on_behalf_of: None,
        message: None,
        time: Timestamp(seq.cast_signed()),
        edits: vec![7; 300],
        counts: vec![1, 2, 3],
        root_hash: [seq as u8; 32],
        next_ref: seq * 16,
        target: None,
        idempotency: None,
        origin: None,
    }
}

pub(crate) fn keyed(entry: Entry, key: &str) -> Entry {
    let idempotency = Idempotency { key: key.as_bytes().to_vec(), digest: vec![9; 32] };
    Entry { idempotency: Some(idempotency), ..entry }
}

pub(crate) async fn seqs(store: &Store, program: ProgramKey) -> Vec<u64> {
    store
        .entries(program, 0..=u64::MAX, u64::from(u32::MAX))
        .await
        .unwrap()
        .iter()
        .map(|entry| entry.seq)
        .collect()
}

/// Holds the committer before its next batch, so that a test decides what the batches are.
pub(crate) struct Gate {
    arm: Arc<Mutex<Option<Armed>>>,
}

type Armed = (Step, mpsc::UnboundedSender<()>, Arc<Notify>);

pub(crate) struct Held {
    reached: mpsc::UnboundedReceiver<()>,
    release: Arc<Notify>,
}

impl Gate {
    pub(crate) fn new() -> (Self, Faults) {
        let arm = Arc::new(Mutex::new(None::<Armed>));
        let hook = Arc::clone(&arm);
        let faults =
            Faults::new(move |step| match hook.lock().unwrap().take_if(|(wanted, _, _)| *wanted == step) {
                Some((_, reached, release)) => {
                    reached.send(()).unwrap();
                    Action::Hold(release)
                }
                None => Action::Continue,
            });
        (Self { arm }, faults)
    }

    pub(crate) fn hold(&self, step: Step) -> Held {
        let (sender, reached) = mpsc::unbounded_channel();
        let release = Arc::new(Notify::new());
        *self.arm.lock().unwrap() = Some((step, sender, Arc::clone(&release)));
        Held { reached, release }
    }
}

impl Held {
    /// Waits until the committer stands at the step.
    pub(crate) async fn reached(&mut self) {
        self.reached.recv().await.unwrap();
    }

    pub(crate) fn release(&self) {
        self.release.notify_one();
    }
}
