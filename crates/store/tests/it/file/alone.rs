//! A run that writes to a file alone, whose steps its own thread stores: whatever befalls the file, it loses none, and has none twice.

use std::fs;
use std::path::Path;
use std::time::Duration;

use futures_util::FutureExt;
use libsqlite3_sys::{SQLITE_FULL, SQLITE_IOERR_FSYNC, SQLITE_IOERR_WRITE};
use lmlang_store::{Fault, JournalError, Options, Store};
use lmlang_testdb::disk::{Dice, Disk, Event, Failing, Recorder, Unsynced};
use sea_orm::{ConnectionTrait, Database};
use uuid::Uuid;

use crate::fixture::{append, author, create, edit, options, seqs};
use crate::journal::{begin, entry, numbers};

/// A run in a file of its own, with some steps.
async fn run_in(dir: &Path) -> (Store, Uuid) {
    let options = Options { busy_timeout: Duration::from_millis(20), ..options(dir) };
    let store = Store::open(options).await.unwrap();
    let run = begin(&store, author(&store).await).await;
    steps(&store, run, 2, 20).await;
    (store, run)
}

async fn steps(store: &Store, run: Uuid, first: u64, last: u64) {
    for number in first..=last {
        store.append_to_journal(entry(run, number)).await.unwrap();
    }
}

/// Closes a store, and opens it again: the journal has so many entries, each once.
async fn assert_has(store: Store, dir: &Path, run: Uuid, last: u64) {
    store.close().await.unwrap();
    assert!(!dir.join("lmlang.db-wal").exists(), "the write-ahead log is not folded in");
    let store = Store::open(options(dir)).await.unwrap();
    assert_eq!(numbers(&store, run).await, (1..=last).collect::<Vec<_>>());
    assert_eq!(store.check(None).await.unwrap().findings, []);
    store.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_waits_for_another_tool_as_long_as_it_may() {
    let dir = tempfile::tempdir().unwrap();
    let (store, run) = run_in(dir.path()).await;
    let tool = Database::connect(format!("sqlite://{}", store.location())).await.unwrap();
    tool.execute_unprepared("BEGIN IMMEDIATE").await.unwrap();
    let answer = store.append_to_journal(entry(run, 21)).await;
    assert!(matches!(answer, Err(JournalError::Storage(Fault::Busy))), "{answer:?}");
    tool.close().await.unwrap();
    steps(&store, run, 21, 40).await;
    assert_has(store, dir.path(), run, 40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_step_goes_to_a_file_that_nobody_finds() {
    let dir = tempfile::tempdir().unwrap();
    let (store, run) = run_in(dir.path()).await;
    let (path, elsewhere) = (dir.path().join("lmlang.db"), dir.path().join("elsewhere.db"));
    fs::rename(&path, &elsewhere).unwrap();
    let answer = store.append_to_journal(entry(run, 21)).await;
    assert!(matches!(answer, Err(JournalError::Storage(Fault::Moved))), "{answer:?}");
    // Another file of that name is another one.
    fs::write(&path, "").unwrap();
    let answer = store.append_to_journal(entry(run, 21)).await;
    assert!(matches!(answer, Err(JournalError::Storage(Fault::Moved))), "{answer:?}");
    fs::rename(&elsewhere, &path).unwrap();
    steps(&store, run, 21, 40).await;
    assert_has(store, dir.path(), run, 40).await;
}

/// An entry that waits in the queue comes before the next one of its run, also when nobody waits for it any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_step_overtakes_another() {
    let dir = tempfile::tempdir().unwrap();
    let (store, run) = run_in(dir.path()).await;
    let actor = author(&store).await;
    let program = create(&store, "beside", actor).await;
    for (seq, number) in (2..).zip((21..=79).step_by(2)) {
        let beside = store.committer().submit(append(program, vec![edit(seq, actor)]));
        // Whether it has to wait or not is a matter of luck.
        if let Some(stored) = store.append_to_journal(entry(run, number)).now_or_never() {
            stored.unwrap();
        }
        steps(&store, run, number + 1, number + 1).await;
        beside.await.unwrap();
    }
    let entries = store.journal(run, None, 0, 1_000).await.unwrap();
    assert!(entries.is_sorted_by_key(|entry| entry.position), "{entries:?}");
    assert_eq!(seqs(&store, program).await, (1..=31).collect::<Vec<_>>());
    assert_has(store, dir.path(), run, 80).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_is_full_or_fails_loses_no_step_that_was_acknowledged() {
    let full = Failing { writes: Some(SQLITE_FULL), syncs: None };
    let broken = Failing { writes: Some(SQLITE_IOERR_WRITE), syncs: None };
    let unsyncable = Failing { writes: None, syncs: Some(SQLITE_IOERR_FSYNC) };
    for failing in [full, broken, unsyncable] {
        let dir = tempfile::tempdir().unwrap();
        let recorder = Recorder::start(dir.path());
        let (store, run) = run_in(dir.path()).await;
        recorder.fail(failing);
        for _ in 0..2 {
            let error = store.append_to_journal(entry(run, 21)).await.unwrap_err();
            match (&error, failing.writes) {
                (JournalError::Storage(Fault::DiskFull), Some(SQLITE_FULL)) => {}
                (JournalError::Storage(Fault::Device(_)), code) if code != Some(SQLITE_FULL) => {}
                _ => panic!("{failing:?}: {error:?}"),
            }
        }
        recorder.fail(Failing::default());
        steps(&store, run, 21, 40).await;
        assert_has(store, dir.path(), run, 40).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_steps_survive_a_power_cut_at_any_moment() {
    let dir = tempfile::tempdir().unwrap();
    let recorder = Recorder::start(dir.path());
    let (store, run) = run_in(dir.path()).await;
    recorder.acknowledged(0, 20);
    for number in 21..=80 {
        steps(&store, run, number, number).await;
        recorder.acknowledged(0, number);
        if number == 50 {
            // The log starts from its beginning again, over frames that have been folded into the file.
            let tool = Database::connect(format!("sqlite://{}", store.location())).await.unwrap();
            tool.execute_unprepared("PRAGMA wal_checkpoint(RESTART)").await.unwrap();
            tool.close().await.unwrap();
        }
    }
    store.close().await.unwrap();
    let events = recorder.events();
    let first = events.iter().position(|event| matches!(event, Event::Acknowledged { .. })).unwrap();

    let cuts = if std::env::var_os("LMLANG_LONG").is_some() { 1_000 } else { 30 };
    let mut dice = Dice(1);
    let mut moments: Vec<usize> = (0..cuts).map(|_| first + 1 + dice.roll(events.len() - first)).collect();
    moments.sort_unstable();
    let (mut disk, mut applied) = (Disk::default(), 0);
    for (number, moment) in moments.into_iter().enumerate() {
        events[applied..moment].iter().for_each(|event| disk.apply(event));
        applied = moment;
        let told = events[..moment].iter().rev().find_map(|event| match event {
            Event::Acknowledged { seq, .. } => Some(*seq),
            _ => None,
        });
        let unsynced = if number % 3 == 0 { Unsynced::Lost } else { Unsynced::Some(number as u64) };
        let dir = tempfile::tempdir().unwrap();
        disk.cut(unsynced, dir.path());
        let store = Store::open(options(dir.path())).await.unwrap();
        let last = numbers(&store, run).await.len() as u64;
        assert!(Some(last) >= told, "cut after event {moment}, {unsynced:?}: {told:?} told, {last} found");
        // The next step is taken.
        steps(&store, run, last + 1, last + 1).await;
        assert_has(store, dir.path(), run, last + 1).await;
    }
}
