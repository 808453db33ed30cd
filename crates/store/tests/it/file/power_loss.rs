//! What is on the disk after the power fails: everything that was synced, and of the rest whatever the disk had got to.
//!
//! A run is recorded write by write. For many moments of it the files are rebuilt as a power cut could have left them,
//! and a store is opened on them: everything acknowledged before that moment must be there, and nothing in part.

use std::path::Path;

use libsqlite3_sys::{SQLITE_FULL, SQLITE_IOERR_FSYNC, SQLITE_IOERR_WRITE};
use lmlang_store::{CommitError, Fault, Object, Snapshot, Store};
use lmlang_testdb::TestDb;
use lmlang_testdb::disk::{Dice, Disk, Event, Failing, Recorder, Unsynced};
use sea_orm::{ConnectionTrait, Database};

use crate::fixture::{Fixture, append, author, create, edit, options, options_of, seqs};

/// Appends to three programs: single entries, grouped ones, large ones, snapshots, a checkpoint of the write-ahead log
/// in the middle, a restart.
async fn record() -> Vec<Event> {
    let dir = tempfile::tempdir().unwrap();
    let recorder = Recorder::start(dir.path());
    let mut next = [1_u64; 3];
    for session in 0..2 {
        let store = Store::open(options(dir.path())).await.unwrap();
        let actor = author(&store).await;
        let mut programs = Vec::new();
        for (place, next) in next.iter_mut().enumerate() {
            let name = place.to_string();
            programs.push(match store.program_by_name(&name).await.unwrap() {
                Some(program) => program.key,
                None => {
                    let key = create(&store, &name, actor).await;
                    recorder.acknowledged(place, *next);
                    *next += 1;
                    key
                }
            });
        }
        for round in 0..12 {
            let mut tickets = Vec::new();
            for (place, &program) in programs.iter().enumerate() {
                let rows = if round == 5 && place == 1 { 300 } else { 1 + round % 3 };
                let entries: Vec<_> = (next[place]..next[place] + rows).map(|seq| edit(seq, actor)).collect();
                next[place] += rows;
                tickets.push((place, next[place] - 1, store.committer().submit(append(program, entries))));
            }
            for (place, seq, ticket) in tickets {
                ticket.await.unwrap();
                recorder.acknowledged(place, seq);
            }
            if round % 4 == 3 {
                let snapshot = Snapshot { program: programs[0], seq: next[0] - 1, root: vec![1; 64] };
                let object =
                    Object { hash: [(session * 12 + round) as u8; 32], version: 1, bytes: vec![5; 9_000] };
                store.put_snapshot(snapshot, vec![object]).await.unwrap();
            }
            if round == 7 {
                // The log starts from its beginning again, over frames that have been folded into the file.
                let tool = Database::connect(format!("sqlite://{}", store.location())).await.unwrap();
                tool.execute_unprepared("PRAGMA wal_checkpoint(RESTART)").await.unwrap();
                tool.close().await.unwrap();
            }
        }
        store.close().await.unwrap();
    }
    recorder.events()
}

/// The highest acknowledged number of each program.
fn acknowledged(events: &[Event]) -> [u64; 3] {
    let mut highest = [0; 3];
    for event in events {
        if let Event::Acknowledged { program, seq } = event {
            highest[*program] = *seq;
        }
    }
    highest
}

/// Opens what is left and answers how long the logs are.
async fn survivors(dir: &Path) -> [u64; 3] {
    let store = Store::open(options(dir)).await.unwrap();
    let mut lengths = [0; 3];
    for (place, length) in lengths.iter_mut().enumerate() {
        let Some(program) = store.program_by_name(&place.to_string()).await.unwrap() else { continue };
        let stored = seqs(&store, program.key).await;
        *length = stored.len() as u64;
        assert_eq!(stored, (1..=*length).collect::<Vec<_>>());
        // The next edit is taken.
        let entries = vec![edit(*length + 1, author(&store).await)];
        store.committer().submit(append(program.key, entries)).await.unwrap();
    }
    assert_eq!(store.check(None).await.unwrap().findings, []);
    store.close().await.unwrap();
    lengths
}

#[tokio::test]
async fn acknowledged_entries_survive_a_power_cut_at_any_moment() {
    let events = record().await;
    let syncs = events.iter().filter(|event| matches!(event, Event::Sync { .. })).count();
    assert!(syncs > 20, "{syncs} syncs in {} events", events.len());

    // Every moment has the same chance; the dice are the same in every run.
    let cuts = if std::env::var_os("LMLANG_LONG").is_some() { 3_000 } else { 120 };
    let mut dice = Dice(1);
    let mut moments: Vec<usize> = (0..cuts).map(|_| 1 + dice.roll(events.len())).collect();
    moments.push(events.len());
    moments.sort_unstable();
    let mut disk = Disk::default();
    let mut applied = 0;
    for (number, moment) in moments.into_iter().enumerate() {
        events[applied..moment].iter().for_each(|event| disk.apply(event));
        applied = moment;
        let unsynced = if number % 3 == 0 { Unsynced::Lost } else { Unsynced::Some(number as u64) };
        let dir = tempfile::tempdir().unwrap();
        disk.cut(unsynced, dir.path());
        let (wanted, found) = (acknowledged(&events[..moment]), survivors(dir.path()).await);
        let kept = wanted.iter().zip(&found).all(|(wanted, found)| wanted <= found);
        assert!(kept, "cut after event {moment}, {unsynced:?}: acknowledged {wanted:?}, found {found:?}");
    }
}

/// The test above can fail: without the syncs of the log, entries are lost.
#[tokio::test]
async fn without_syncs_entries_would_be_lost() {
    let mut events = record().await;
    let end = events.iter().rposition(|event| matches!(event, Event::Acknowledged { .. })).unwrap();
    events.truncate(end + 1);
    let is_log = |path: &Path| path.to_str().unwrap().ends_with("-wal");
    let mut disk = Disk::default();
    for event in &events {
        if !matches!(event, Event::Sync { path } if is_log(path)) {
            disk.apply(event);
        }
    }
    let dir = tempfile::tempdir().unwrap();
    disk.cut(Unsynced::Lost, dir.path());
    assert!(survivors(dir.path()).await < acknowledged(&events));
}

#[tokio::test]
async fn a_disk_that_is_full_or_fails_loses_nothing_that_was_acknowledged() {
    let full = Failing { writes: Some(SQLITE_FULL), syncs: None };
    let broken = Failing { writes: Some(SQLITE_IOERR_WRITE), syncs: None };
    let unsyncable = Failing { writes: None, syncs: Some(SQLITE_IOERR_FSYNC) };
    for failing in [full, broken, unsyncable] {
        let db = TestDb::new().await;
        let recorder = Recorder::start(db.folder());
        let store = Store::open(options_of(&db)).await.unwrap();
        let actor = author(&store).await;
        let fixture = Fixture { db, store, actor };
        let program = fixture.program("a").await;
        fixture.append(program, fixture.edit(2)).await.unwrap();

        recorder.fail(failing);
        for rows in [1_u64, 300] {
            let entries = (3..3 + rows).map(|seq| fixture.edit(seq)).collect();
            let error = fixture.submit(program, entries).await.unwrap_err();
            match (&error, failing.writes) {
                (CommitError::Storage(Fault::DiskFull), Some(SQLITE_FULL)) => {}
                (CommitError::Storage(Fault::Device(_)), code) if code != Some(SQLITE_FULL) => {}
                _ => panic!("{failing:?}: {error:?}"),
            }
        }
        recorder.fail(Failing::default());
        // What failed is not there, or was answered too early to know; then the log says where it goes on.
        let next = match fixture.append(program, fixture.edit(3)).await {
            Ok(()) => 4,
            Err(CommitError::OutOfOrder { expected, .. }) => expected,
            Err(error) => panic!("{failing:?}: {error:?}"),
        };
        fixture.append(program, fixture.edit(next)).await.unwrap();
        let fixture = fixture.reopened().await;
        assert_eq!(fixture.seqs(program).await, (1..=next).collect::<Vec<_>>());
        assert_eq!(fixture.store.check(None).await.unwrap().findings, []);
    }
}
