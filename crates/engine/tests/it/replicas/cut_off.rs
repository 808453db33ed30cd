//! A replica that is cut off from the database while it and another one are written to, and comes back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use lmlang_engine::{Call, Cursor, Engine, Error, Event, Events, Limits, Outcome, Selector};
use lmlang_store::{Fault, Location, Options, Store};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use uuid::Uuid;

use super::way::{State, Way};
use super::{TEXT, adds, apply, knows};
use crate::fixture::{Fixture, OFTEN, call};

/// Writers at each replica.
const WRITERS: usize = 2;

/// Acknowledged edits of a replica between two changes of the way.
const BETWEEN: usize = 20;

/// Within which something happens.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the replica tries to reach the database before it says that it cannot.
const BUSY: Duration = Duration::from_millis(500);

/// A writer: what it has written is acknowledged once, however often it has to ask.
struct Writer {
    engine: Engine,
    name: String,
    over: Arc<AtomicBool>,
    /// How often it was told that the database is not there.
    refused: Arc<AtomicUsize>,
    made: UnboundedSender<(u64, String)>,
}

impl Writer {
    async fn write(self) {
        for number in 0.. {
            let name = format!("f_{}_{number}", self.name);
            let call = call().keyed(Some(&name), name.as_bytes());
            let revision = loop {
                match self.engine.propose(adds(&name), &call).await {
                    Ok(Outcome::Applied(applied)) => break applied.after.entry.number,
                    Err(Error::Storage(
                        Fault::ConnectionLost
                        | Fault::Device(_)
                        | Fault::Busy
                        | Fault::Held
                        | Fault::NoConnection,
                    )) => {
                        self.refused.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(Error::Overloaded { .. }) => {}
                    other => panic!("{name}: {other:?}"),
                }
            };
            if self.made.send((revision, name)).is_err() || self.over.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}

/// Takes in what was acknowledged.
fn take(made: &mut UnboundedReceiver<(u64, String)>, all: &mut BTreeMap<u64, String>) {
    while let Ok((revision, name)) = made.try_recv() {
        assert_eq!(all.insert(revision, name), None, "two edits are r{revision}");
    }
}

/// Waits for so many edits that are acknowledged from now on.
async fn some(made: &mut UnboundedReceiver<(u64, String)>, all: &mut BTreeMap<u64, String>) {
    take(made, all);
    for _ in 0..BETWEEN {
        let one = tokio::time::timeout(PATIENCE, made.recv()).await.expect("edits go on");
        let (revision, name) = one.expect("a writer writes");
        assert_eq!(all.insert(revision, name), None, "two edits are r{revision}");
    }
}

/// The entries of a program that a reader is told behind a cursor, up to one with the message `end`. Who cannot be told any
/// further asks again, from where it was.
async fn hear<F: Future<Output = Result<Events, Error>>>(
    mut after: Cursor,
    program: Uuid,
    subscribe: impl Fn(Cursor) -> F,
) -> Vec<u64> {
    let mut heard = Vec::new();
    loop {
        let Ok(mut events) = subscribe(after).await else {
            tokio::task::yield_now().await;
            continue;
        };
        while let Some(Ok(told)) = events.recv().await {
            after = told.cursor;
            let Event::Entry(entry) = told.event else { continue };
            if told.program != program {
                continue;
            }
            heard.push(entry.number);
            if entry.message.as_deref() == Some("end") {
                return heard;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_is_cut_off_loses_nothing_and_catches_up() {
    let fixture = Fixture::new(OFTEN).await;
    if fixture.db.is_file() {
        return;
    }
    fixture.create("shop", TEXT).await;
    let here = &fixture.engine;
    let way = Way::to(&fixture.db.to_string());
    let location = Location::parse(way.url()).unwrap();
    let store = Store::open(Options { busy_timeout: BUSY, ..Options::new(location) }).await.unwrap();
    let there = Engine::new(store, Limits::default(), OFTEN);
    let shop = Selector::Name("shop".to_owned());
    let open = there.find(&shop).await.unwrap();
    let (program, start) = (open.timeline.id(), there.cursor().await.unwrap());
    let engine = there.clone();
    let of_all = move |after: Cursor| {
        let engine = engine.clone();
        async move { engine.all_events(Some(after)).await }
    };
    let engine = there.clone();
    let of_one = move |after: Cursor| {
        let (engine, open) = (engine.clone(), open.clone());
        async move {
            let Cursor::Program(seen) = after else { unreachable!("{after} is of all programs") };
            engine.events(&open, Some(seen)).await
        }
    };
    let hearing =
        [tokio::spawn(hear(start, program, of_all)), tokio::spawn(hear(Cursor::Program(1), program, of_one))];

    let (over, mut writers) = (Arc::new(AtomicBool::new(false)), tokio::task::JoinSet::new());
    let mut begin = |engine: &Engine, place: &str| {
        let ((made, come), refused) = (unbounded_channel(), Arc::new(AtomicUsize::new(0)));
        for writer in 0..WRITERS {
            let writer = Writer {
                engine: engine.clone(),
                name: format!("{place}_{writer}"),
                over: Arc::clone(&over),
                refused: Arc::clone(&refused),
                made: made.clone(),
            };
            writers.spawn(writer.write());
        }
        (come, refused)
    };
    let (mut made_here, _) = begin(here, "here");
    let (mut made_there, refused) = begin(&there, "there");
    let mut made = BTreeMap::new();
    some(&mut made_there, &mut made).await;
    for state in [State::Cut, State::Silent, State::Cut] {
        let before = refused.load(Ordering::Relaxed);
        way.set(state);
        // The other one goes on.
        some(&mut made_here, &mut made).await;
        if state == State::Cut {
            let told = async {
                while refused.load(Ordering::Relaxed) == before || there.is_reachable() {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(PATIENCE, told).await.expect("who asks is told");
            // What it has in memory, it answers.
            assert!(there.find(&shop).await.is_ok());
        }
        take(&mut made_there, &mut made);
        way.set(State::Open);
        some(&mut made_there, &mut made).await;
    }
    over.store(true, Ordering::Relaxed);
    while let Some(writer) = writers.join_next().await {
        writer.expect("no writer panicked");
    }
    take(&mut made_here, &mut made);
    take(&mut made_there, &mut made);

    let last = 1 + made.len() as u64;
    let numbers: Vec<u64> = made.keys().copied().collect();
    assert_eq!(numbers, (2..=last).collect::<Vec<_>>(), "each edit is one entry, and the log has no others");
    let mut hashes = Vec::new();
    for engine in [here, &there] {
        knows(engine, last).await;
        let open = engine.find(&shop).await.unwrap();
        let program = open.timeline.head().main.revision.checked.program().clone();
        for name in made.values() {
            let path = format!("app::{name}");
            assert!(program.functions().any(|(of, _)| program.path(of.into()) == path), "{path} is lost");
        }
        hashes.push(program.root_hash());
    }
    assert_eq!(hashes[0], hashes[1]);
    // Nothing is missing in what it tells, and nothing comes twice.
    apply(here, adds("last"), &Call { message: Some("end".to_owned()), ..call() }).await;
    for hearing in hearing {
        let heard =
            tokio::time::timeout(PATIENCE, hearing).await.expect("it hears of all").expect("no panic");
        assert_eq!(heard, (2..=last + 1).collect::<Vec<_>>());
    }
    let checkup = here.doctor(|_| {}).await.unwrap();
    assert_eq!(checkup.findings().collect::<Vec<_>>(), Vec::<String>::new());
    there.close().await;
}
