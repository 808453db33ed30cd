//! An engine's work, and what is on the disk when the power fails at any moment of it: every revision that was acknowledged
//! is there, and is what it was, recomputed edit by edit.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lmlang_engine::{Arrival, Distance, Engine, Limits, MergeRequest, OpenProgram, Selector, Travel, Way};
use lmlang_ir::hash::Hash;
use lmlang_store::{Options, Store};
use lmlang_testdb::TestDb;
use lmlang_testdb::disk::{Dice, Disk, Event, Recorder, Unsynced};

use crate::fixture::{Fixture, OFTEN, call};

const PROGRAMS: [&str; 2] = ["shop", "bank"];

/// The hashes of what was acknowledged, by program and number.
type Hashes = BTreeMap<(usize, u64), Hash>;

/// A recorded session.
struct Session {
    fixture: Fixture,
    recorder: Recorder,
    hashes: Hashes,
}

impl Session {
    /// Notes that all is stored that a program has.
    async fn acknowledged(&mut self, place: usize, open: &OpenProgram) {
        let newest = open.timeline.head().last;
        let header = self.fixture.engine.header(open, newest).await.unwrap().unwrap();
        self.recorder.acknowledged(place, newest);
        self.hashes.insert((place, newest), header.root_hash);
    }

    async fn replace(&mut self, place: usize, open: &OpenProgram, branch: &str, of: &str, value: usize) {
        let (name, text) = (PROGRAMS[place], format!("func {of}() -> (i64) {{\n  return {value}\n}}\n"));
        self.fixture.replace_on(branch, name, &format!("app::{of}"), &text).await;
        self.acknowledged(place, open).await;
    }

    /// Edits of every kind on two programs in turn, with snapshots in the background.
    async fn work(&mut self, session: usize) {
        let engine = self.fixture.engine.clone();
        for (place, name) in PROGRAMS.into_iter().enumerate() {
            let open = match session {
                0 => {
                    let text = |of: &str| format!("func {of}() -> (i64) {{\n  return 0\n}}\n");
                    let text = format!("module app\n\n{}\n{}", text("one"), text("two"));
                    self.fixture.create(name, &text).await
                }
                _ => self.fixture.find(name).await,
            };
            self.acknowledged(place, &open).await;
            let side = format!("side_{session}");
            engine.create_branch(&open, &side, None, &call()).await.unwrap();
            self.acknowledged(place, &open).await;
            for round in 0..6 {
                let value = 100 * session + 10 * round + place;
                self.replace(place, &open, "main", "one", value + 1).await;
                self.replace(place, &open, &side, "two", value + 2).await;
                if round % 3 == 1 {
                    let (name, at) = (format!("c_{session}_{round}"), None);
                    engine.create_checkpoint(&open, &name, at, &call()).await.unwrap();
                    self.acknowledged(place, &open).await;
                    assert!(self.fixture.travel(&open, Way::Undo(Distance::Steps(1))).await);
                    self.acknowledged(place, &open).await;
                }
            }
            let merge = MergeRequest {
                from: side,
                into: "main".to_owned(),
                resolutions: Vec::new(),
                expected_head: None,
                dry_run: false,
            };
            let merged = engine.merge(&open, &merge, &call()).await.unwrap();
            assert!(matches!(merged, Arrival::Made { .. }), "{merged:?}");
            self.acknowledged(place, &open).await;
        }
    }
}

async fn record() -> (Vec<Event>, Hashes) {
    let db = Arc::new(TestDb::new().await);
    let recorder = Recorder::start(db.folder());
    let fixture = Fixture::over(&db, OFTEN).await;
    let mut session = Session { fixture, recorder, hashes: Hashes::new() };
    session.work(0).await;
    let Session { fixture, recorder, hashes } = session;
    let mut session = Session { fixture: fixture.reopened(&[]).await, recorder, hashes };
    session.work(1).await;
    session.fixture.engine.close().await;
    (session.recorder.events(), session.hashes)
}

/// Opens what is left, and compares it with what was acknowledged.
async fn compare(dir: &Path, newest: [u64; 2], hashes: &Hashes) -> Result<(), String> {
    let store = Store::open(Options::file(dir.join("lmlang.db"))).await.map_err(|error| error.to_string())?;
    let engine = Engine::new(store, Limits::default(), OFTEN);
    let checkup = engine.doctor(|_| {}).await.map_err(|error| error.to_string())?;
    let findings: Vec<String> = checkup.findings().collect();
    if !findings.is_empty() {
        return Err(findings.join("\n"));
    }
    for (place, name) in PROGRAMS.into_iter().enumerate().filter(|(place, _)| newest[*place] > 0) {
        let open = engine.find(&Selector::Name(name.to_owned())).await.map_err(|error| error.to_string())?;
        for ((_, number), hash) in hashes.range((place, 0)..=(place, newest[place])) {
            let header = engine.header(&open, *number).await.map_err(|error| error.to_string())?;
            // The doctor has compared the hash that is recorded with the content.
            if header.as_ref().map(|header| header.root_hash) != Some(*hash) {
                return Err(format!("`{name}`: r{number} is {header:?}"));
            }
        }
        let way = Way::Undo(Distance::Steps(1));
        let travel = Travel { branch: "main".to_owned(), way, expected_head: None, dry_run: false };
        let undone = engine.travel(&open, &travel, &call()).await.map_err(|error| error.to_string())?;
        if matches!(undone, Arrival::Conflict(_)) {
            return Err(format!("`{name}`: {undone:?}"));
        }
    }
    engine.close().await;
    Ok(())
}

#[tokio::test]
async fn what_an_engine_acknowledged_is_what_it_was_after_a_power_cut() {
    let (events, hashes) = record().await;
    let syncs = events.iter().filter(|event| matches!(event, Event::Sync { .. })).count();
    assert!(syncs > 20, "{syncs} syncs in {} events", events.len());
    let cuts = if std::env::var_os("LMLANG_LONG").is_some() { 1_000 } else { 40 };
    let mut dice = Dice(1);
    // Before the tables are there, there is nothing to open.
    let first = events.iter().position(|event| matches!(event, Event::Acknowledged { .. })).unwrap();
    let mut moments: Vec<usize> = (0..cuts).map(|_| first + 1 + dice.roll(events.len() - first)).collect();
    moments.push(events.len());
    moments.sort_unstable();
    let (mut disk, mut applied, mut newest) = (Disk::default(), 0, [0; 2]);
    for (number, moment) in moments.into_iter().enumerate() {
        for event in &events[applied..moment] {
            disk.apply(event);
            if let Event::Acknowledged { program, seq } = event {
                newest[*program] = *seq;
            }
        }
        applied = moment;
        let unsynced = if number % 3 == 0 { Unsynced::Lost } else { Unsynced::Some(number as u64) };
        let dir = tempfile::tempdir().unwrap();
        disk.cut(unsynced, dir.path());
        if let Err(wrong) = compare(dir.path(), newest, &hashes).await {
            panic!("cut after event {moment}, {unsynced:?}, acknowledged {newest:?}: {wrong}");
        }
    }
}
