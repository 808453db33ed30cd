//! Faults at every step of the write path.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lmlang_store::{Action, CommitError, Entry, EntryKind, Fault, Faults, Step};

use crate::fixture::{Fixture, new_program};

/// Fails the next time that a step is reached, once armed.
pub(crate) fn once(step: Step, fault: Fault) -> (Arc<AtomicBool>, Faults) {
    let armed = Arc::new(AtomicBool::new(false));
    let hook = Arc::clone(&armed);
    let faults = Faults::new(move |at| {
        if at == step && hook.swap(false, Ordering::Relaxed) {
            Action::Fail(fault.clone())
        } else {
            Action::Continue
        }
    });
    (armed, faults)
}

#[tokio::test]
async fn a_lost_answer_is_found_out() {
    // Lost before the rows were sent, before the commit, and after it: stored once in any case.
    for step in [Step::BeforeInsert, Step::BeforeCommit, Step::AfterCommit, Step::BeforeAck] {
        let (armed, faults) = once(step, Fault::ConnectionLost);
        let fixture = Fixture::with_faults(faults).await;
        let program = fixture.program("a").await;
        for (number, entries) in [1_u64, 300].into_iter().enumerate() {
            let first = fixture.seqs(program).await.len() as u64 + 1;
            armed.store(true, Ordering::Relaxed);
            let entries = (first..first + entries).map(|seq| fixture.edit(seq)).collect();
            fixture
                .submit(program, entries)
                .await
                .unwrap_or_else(|error| panic!("{step:?} {number}: {error}"));
        }
        assert_eq!(fixture.seqs(program).await, (1..=302).collect::<Vec<_>>(), "{step:?}");
        assert!(fixture.store.committer().committed().connections > 1, "{step:?}");
    }
}

#[tokio::test]
async fn a_lost_answer_to_other_writing_too() {
    for step in Step::ALL {
        let (armed, faults) = once(step, Fault::ConnectionLost);
        let fixture = Fixture::with_faults(faults).await;
        armed.store(true, Ordering::Relaxed);
        let first = Entry { kind: EntryKind::Create, ..fixture.edit(1) };
        let program = fixture
            .store
            .create_program(new_program("a"), vec![first])
            .await
            .unwrap_or_else(|error| panic!("{step:?}: {error}"));
        assert_eq!(fixture.seqs(program).await, [1], "{step:?}");
        fixture.append(program, fixture.edit(2)).await.unwrap();

        armed.store(true, Ordering::Relaxed);
        assert!(fixture.store.delete_program(program, lmlang_store::Timestamp(3)).await.unwrap(), "{step:?}");
        armed.store(true, Ordering::Relaxed);
        let object = lmlang_store::Object { hash: [1; 32], version: 1, bytes: Vec::new() };
        fixture.store.put_objects(vec![object.clone()]).await.unwrap();
        assert_eq!(fixture.store.objects(&[object.hash]).await.unwrap(), [object], "{step:?}");
    }
}

#[tokio::test]
async fn a_read_that_is_lost_is_told_and_can_be_made_again() {
    let loses = Arc::new(AtomicBool::new(false));
    let hook = Arc::clone(&loses);
    let faults = Faults::none().reading(move || hook.load(Ordering::Relaxed));
    let fixture = Fixture::with_faults(faults).await;
    let (store, program) = (&fixture.store, fixture.program("a").await);
    loses.store(true, Ordering::Relaxed);
    let lost = [
        store.program_by_name("a").await.map(drop),
        store.position().await.map(drop),
        store.entities_now().await.map(drop),
        store.manager_records().await.map(drop),
        store.edits(program, &[1], 100).await.map(drop),
    ];
    assert!(lost.iter().all(|lost| matches!(lost, Err(Fault::ConnectionLost))), "{lost:?}");
    // What writes has a connection of its own.
    fixture.append(program, fixture.edit(2)).await.unwrap();
    loses.store(false, Ordering::Relaxed);
    assert_eq!(fixture.seqs(program).await, [1, 2]);
}

#[tokio::test]
async fn a_full_or_locked_database_stores_nothing_and_recovers() {
    for fault in [Fault::DiskFull, Fault::Busy, Fault::ReadOnly] {
        for (step, rows) in [(Step::BeforeInsert, 1), (Step::BeforeCommit, 300)] {
            let (armed, faults) = once(step, fault.clone());
            let fixture = Fixture::with_faults(faults).await;
            let program = fixture.program("a").await;
            armed.store(true, Ordering::Relaxed);
            let entries: Vec<_> = (2..2 + rows).map(|seq| fixture.edit(seq)).collect();
            match fixture.submit(program, entries.clone()).await {
                Err(CommitError::Storage(found)) => assert_eq!(found.to_string(), fault.to_string()),
                other => panic!("{other:?}"),
            }
            assert_eq!(fixture.seqs(program).await, [1]);
            fixture.submit(program, entries).await.unwrap();
            assert_eq!(fixture.seqs(program).await.len() as u64, 1 + rows);
        }
    }
}

#[tokio::test]
async fn a_connection_that_stays_away_is_an_error_and_no_hang() {
    let away = Arc::new(AtomicBool::new(false));
    let asked = Arc::new(AtomicU64::new(0));
    let faults = {
        let (away, asked) = (Arc::clone(&away), Arc::clone(&asked));
        Faults::new(move |step| {
            if step == Step::BeforeInsert && away.load(Ordering::Relaxed) {
                asked.fetch_add(1, Ordering::Relaxed);
                Action::Fail(Fault::ConnectionLost)
            } else {
                Action::Continue
            }
        })
    };
    let fixture = Fixture::with_faults(faults).await;
    let program = fixture.program("a").await;
    away.store(true, Ordering::Relaxed);
    let first = fixture.submit(program, vec![fixture.edit(2)]);
    assert!(matches!(first.await, Err(CommitError::Storage(Fault::ConnectionLost))));
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    away.store(false, Ordering::Relaxed);
    fixture.append(program, fixture.edit(2)).await.unwrap();
    assert_eq!(fixture.seqs(program).await, [1, 2]);
}
