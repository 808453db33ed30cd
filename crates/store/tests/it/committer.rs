//! Order, grouping, and what happens to the others when one append fails.

use lmlang_store::{Append, Bound, CommitError, Idempotency, Session, Step, Stretch, Timestamp};
use uuid::Uuid;

use crate::fixture::{Fixture, Gate, append, edit, keyed};

#[tokio::test]
async fn what_waits_becomes_one_transaction() {
    let (gate, faults) = Gate::new();
    let fixture = Fixture::with_faults(faults).await;
    let (a, b) = (fixture.program("a").await, fixture.program("b").await);
    let before = fixture.store.committer().committed();

    let mut held = gate.hold(Step::BeforeInsert);
    let first = fixture.submit(a, vec![fixture.edit(2)]);
    held.reached().await;
    let mut tickets = vec![first];
    for seq in 3..=100 {
        tickets.push(fixture.submit(a, vec![fixture.edit(seq)]));
        tickets.push(fixture.submit(b, vec![fixture.edit(seq - 1)]));
    }
    held.release();
    for ticket in tickets {
        ticket.await.unwrap();
    }

    let after = fixture.store.committer().committed();
    assert_eq!(after.entries - before.entries, 1 + 2 * 98);
    assert_eq!(after.transactions - before.transactions, 2);
    assert_eq!(fixture.seqs(a).await, (1..=100).collect::<Vec<_>>());
    assert_eq!(fixture.seqs(b).await, (1..=99).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_batch_is_at_most_256_rows_and_an_append_is_never_cut() {
    let (gate, faults) = Gate::new();
    let fixture = Fixture::with_faults(faults).await;
    let program = fixture.program("a").await;
    let before = fixture.store.committer().committed();

    let mut held = gate.hold(Step::BeforeInsert);
    let mut tickets = vec![fixture.submit(program, vec![fixture.edit(2)])];
    held.reached().await;
    // 200 + 50 fit one statement, the next 50 do not; 600 need three in one transaction.
    let mut seq = 3;
    for rows in [200, 50, 50, 600, 1] {
        tickets.push(fixture.submit(program, (seq..seq + rows).map(|seq| fixture.edit(seq)).collect()));
        seq += rows;
    }
    held.release();
    for ticket in tickets {
        ticket.await.unwrap();
    }

    let after = fixture.store.committer().committed();
    assert_eq!(after.transactions - before.transactions, 5);
    assert_eq!(fixture.seqs(program).await, (1..seq).collect::<Vec<_>>());
}

#[tokio::test]
async fn one_failure_fails_what_was_built_on_it_and_nothing_else() {
    let (gate, faults) = Gate::new();
    let fixture = Fixture::with_faults(faults).await;
    let (a, b) = (fixture.program("a").await, fixture.program("b").await);

    let mut held = gate.hold(Step::BeforeInsert);
    let opener = fixture.submit(b, vec![fixture.edit(2)]);
    held.reached().await;
    let before = fixture.submit(a, vec![keyed(fixture.edit(2), "k")]);
    let clash = fixture.submit(a, vec![keyed(fixture.edit(3), "k")]);
    let successor = fixture.submit(a, vec![fixture.edit(4)]);
    let other = fixture.submit(b, vec![keyed(fixture.edit(3), "k")]);
    held.release();

    opener.await.unwrap();
    before.await.unwrap();
    assert!(matches!(clash.await, Err(CommitError::KeyTaken { seq: 2 })));
    assert!(matches!(successor.await, Err(CommitError::OutOfOrder { expected: 3, found: 4 })));
    other.await.unwrap();
    // The engine applies the successor again, at the number that is free.
    fixture.append(a, fixture.edit(3)).await.unwrap();
    assert_eq!(fixture.seqs(a).await, [1, 2, 3]);
    assert_eq!(fixture.seqs(b).await, [1, 2, 3]);
}

#[tokio::test]
async fn an_append_is_all_or_nothing() {
    let fixture = Fixture::new().await;
    let program = fixture.program("a").await;
    let twice = vec![keyed(fixture.edit(2), "k"), keyed(fixture.edit(3), "k")];
    assert!(matches!(fixture.submit(program, twice).await, Err(CommitError::KeyTaken { seq: 2 })));
    let gap = vec![fixture.edit(2), fixture.edit(4)];
    assert!(matches!(
        fixture.submit(program, gap).await,
        Err(CommitError::OutOfOrder { expected: 3, found: 4 })
    ));
    assert_eq!(fixture.seqs(program).await, [1]);
    fixture.submit(program, Vec::new()).await.unwrap();
}

#[tokio::test]
async fn entries_of_a_branch_are_found_by_themselves() {
    let fixture = Fixture::new().await;
    let program = fixture.program("a").await;
    let on = |branch, seq| lmlang_store::Entry { branch, ..fixture.edit(seq) };
    for entry in [on(2, 2), on(0, 3), on(2, 4), on(5, 5), on(2, 6)] {
        fixture.append(program, entry).await.unwrap();
    }
    let newest = async |branch, at_most| fixture.store.newest_on(program, branch, at_most).await.unwrap();
    assert_eq!([newest(0, 9).await, newest(2, 9).await, newest(2, 5).await], [Some(3), Some(6), Some(4)]);
    assert_eq!([newest(3, 9).await, newest(5, 4).await], [None, None]);
    for (branch, entries, seqs) in [(0, 1..=6, &[1, 3][..]), (2, 3..=6, &[4, 6]), (5, 1..=9, &[5])] {
        let stretch = Stretch { branch, entries };
        let found =
            fixture.store.entries_on(program, &stretch, Bound { rows: 9, bytes: 1 << 20 }).await.unwrap();
        assert_eq!(found.iter().map(|entry| entry.seq).collect::<Vec<_>>(), seqs);
        assert_eq!(fixture.store.stretch_len(program, &stretch).await.unwrap(), seqs.len() as u64);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_callers_on_one_program_and_on_many() {
    let fixture = Fixture::new().await;
    let mut programs = Vec::new();
    for number in 0..8 {
        programs.push(fixture.program(&format!("p{number}")).await);
    }
    let next: Vec<_> = programs.iter().map(|_| std::sync::Mutex::new(2_u64)).collect();
    let next = std::sync::Arc::new(next);
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..64_usize {
        let (committer, next, programs) = (fixture.store.committer().clone(), next.clone(), programs.clone());
        let actor = fixture.actor;
        callers.spawn(async move {
            for round in 0..20 {
                let place = (caller + round) % programs.len();
                let ticket = {
                    let mut seq = next[place].lock().unwrap();
                    let entry = keyed(edit(*seq, actor), &format!("{caller}/{round}"));
                    *seq += 1;
                    committer.submit(append(programs[place], vec![entry]))
                };
                ticket.await.unwrap();
            }
        });
    }
    while let Some(done) = callers.join_next().await {
        done.unwrap();
    }
    let committed = fixture.store.committer().committed();
    assert_eq!(committed.entries, 8 + 64 * 20);
    assert!(committed.transactions < committed.entries, "{committed:?}");
    let fixture = fixture.reopened().await;
    for program in programs {
        assert_eq!(fixture.seqs(program).await, (1..=161).collect::<Vec<_>>());
    }
}

/// Writes that wait together are one transaction; one that is refused is refused alone.
#[tokio::test]
async fn writes_are_joined_and_none_suffers_from_another() {
    let (gate, faults) = Gate::new();
    let Fixture { db: _db, store, actor } = Fixture::with_faults(faults).await;
    let store = std::sync::Arc::new(store);
    let session = |key: &str| {
        let making = Idempotency { key: key.as_bytes().to_vec(), digest: vec![0; 32] };
        let session = Session {
            key: 0,
            id: Uuid::new_v4(),
            workflow: "act".to_owned(),
            title: None,
            actor,
            made: Timestamp(1),
            making: Some(making),
            within: None,
        };
        let store = std::sync::Arc::clone(&store);
        tokio::spawn(async move { store.begin_session(session).await })
    };
    let mut held = gate.hold(Step::BeforeInsert);
    let first = session("a");
    held.reached().await;
    // They are queued before the first is let go: the tasks of this runtime take turns.
    let waiting = ["b", "c", "b", "a", "d"].map(session);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    held.release();
    first.await.expect("it ends").expect("it is stored");
    let mut stored = Vec::new();
    for waiting in waiting {
        stored.push(waiting.await.expect("it ends").is_ok());
    }
    assert_eq!(stored, [true, true, false, false, true]);
    assert_eq!(store.count_sessions().await.expect("counted"), 4);
}

#[tokio::test]
async fn closing_finishes_what_is_queued_and_refuses_what_comes_later() {
    let (gate, faults) = Gate::new();
    let fixture = Fixture::with_faults(faults).await;
    let program = fixture.program("a").await;
    let committer = fixture.store.committer().clone();
    let mut held = gate.hold(Step::BeforeInsert);
    let first = fixture.submit(program, vec![fixture.edit(2)]);
    held.reached().await;
    let second = fixture.submit(program, vec![fixture.edit(3)]);
    held.release();
    fixture.store.close().await.unwrap();
    first.await.unwrap();
    second.await.unwrap();
    let late = committer.submit(append(program, vec![edit(4, fixture.actor)]));
    assert!(matches!(late.await, Err(CommitError::Storage(lmlang_store::Fault::Closed))));
}

#[tokio::test]
async fn entries_built_on_another_one_with_the_same_number_are_refused() {
    let fixture = Fixture::new().await;
    let program = fixture.program("a").await;
    let entries = vec![fixture.edit(2)];
    // As if another process had stored its second entry first.
    let foreign = Append { program, after: uuid::Uuid::now_v7(), entries: entries.clone() };
    let refused = fixture.store.committer().submit(foreign).await;
    assert!(matches!(refused, Err(CommitError::OutOfOrder { expected: 2, found: 2 })), "{refused:?}");
    assert_eq!(fixture.seqs(program).await, [1]);
    fixture.submit(program, entries).await.unwrap();
    assert_eq!(fixture.seqs(program).await, [1, 2]);
}
