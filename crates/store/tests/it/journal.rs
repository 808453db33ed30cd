//! Journals of runs, by whichever way their entries come to be stored.

use std::sync::Arc;

use lmlang_store::{
    ActorKey, FlowDefinition, JournalAppend, JournalError, NewRun, Run, RunStanding, RunStatus, Session,
    Store, Timestamp,
};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::fixture::{Fixture, append, create, edit, seqs};

/// Begins a run, whose journal has an entry then.
pub(crate) async fn begin(store: &Store, actor: ActorKey) -> Uuid {
    let (id, session, made) = (Uuid::now_v7(), Uuid::now_v7(), Timestamp(1));
    let definition =
        FlowDefinition { hash: vec![1; 32], name: "loop".to_owned(), version: 1, definition: b"{}".to_vec() };
    let run = Run {
        key: 0,
        id,
        flow: "loop".to_owned(),
        definition: definition.hash.clone(),
        session,
        parent: None,
        program: None,
        branch: None,
        actor,
        input: b"{}".to_vec(),
        made,
        making: None,
        forked: None,
        standing: RunStanding {
            status: RunStatus::Running,
            node: None,
            last: 1,
            wake: None,
            ended: None,
            deadline: None,
        },
    };
    let session = Session {
        key: 0,
        id: session,
        workflow: "loop".to_owned(),
        title: None,
        actor,
        made,
        making: None,
        within: None,
    };
    let entries = vec![(made, 1, b"1".to_vec())];
    let new = NewRun { run, definition, session: Some(session), entries, open: Vec::new() };
    store.begin_run(new).await.unwrap();
    id
}

/// An entry, from which nothing else follows.
pub(crate) fn entry(run: Uuid, number: u64) -> JournalAppend {
    JournalAppend {
        run,
        program: None,
        number,
        time: Timestamp(5),
        kind: 3,
        payload: number.to_string().into_bytes(),
        standing: None,
        interrupts: Vec::new(),
        begins: Vec::new(),
        lease: None,
        definition: None,
        snapshot: None,
    }
}

/// The numbers of a journal, each of which is what its entry says.
pub(crate) async fn numbers(store: &Store, run: Uuid) -> Vec<u64> {
    let entries = store.journal(run, None, 0, 1_000).await.unwrap();
    let says_its_number = entries.iter().all(|entry| entry.number.to_string().into_bytes() == entry.payload);
    assert!(says_its_number, "{entries:?}");
    entries.into_iter().map(|entry| entry.number).collect()
}

/// With threads to spare, who is alone waits for the disk on one of them; without, on none.
async fn one_run_alone() {
    let fixture = Fixture::new().await;
    let run = begin(&fixture.store, fixture.actor).await;
    for number in 2..=60 {
        fixture.store.append_to_journal(entry(run, number)).await.unwrap();
    }
    // One whose answer was lost is there; another one with its number is not taken.
    fixture.store.append_to_journal(entry(run, 60)).await.unwrap();
    let other = JournalAppend { payload: b"other".to_vec(), ..entry(run, 60) };
    let taken = fixture.store.append_to_journal(other).await;
    assert!(matches!(taken, Err(JournalError::Taken)), "{taken:?}");
    let gone = fixture.store.append_to_journal(entry(Uuid::now_v7(), 2)).await;
    assert!(matches!(gone, Err(JournalError::Gone)), "{gone:?}");
    fixture.store.append_to_journal(entry(run, 61)).await.unwrap();
    assert_eq!(numbers(&fixture.store, run).await, (1..=61).collect::<Vec<_>>());
    let fixture = fixture.reopened().await;
    assert_eq!(numbers(&fixture.store, run).await, (1..=61).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_of_one_run_are_stored_in_their_order() {
    one_run_alone().await;
}

#[tokio::test]
async fn and_where_there_is_one_thread() {
    one_run_alone().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_of_many_runs_are_stored_while_programs_change() {
    const RUNS: usize = 8;
    let Fixture { db: _db, store, actor } = Fixture::new().await;
    let program = create(&store, "beside", actor).await;
    let store = Arc::new(store);
    let mut work = JoinSet::new();
    for _ in 0..RUNS {
        let store = Arc::clone(&store);
        work.spawn(async move {
            let run = begin(&store, actor).await;
            for number in 2..=40 {
                store.append_to_journal(entry(run, number)).await.unwrap();
            }
            run
        });
    }
    for seq in 2..=40 {
        let entries = vec![edit(seq, actor)];
        store.committer().submit(append(program, entries)).await.unwrap();
    }
    let mut runs = 0;
    while let Some(run) = work.join_next().await {
        assert_eq!(numbers(&store, run.unwrap()).await, (1..=40).collect::<Vec<_>>());
        runs += 1;
    }
    assert_eq!(runs, RUNS);
    assert_eq!(seqs(&store, program).await, (1..=40).collect::<Vec<_>>());
    store.close().await.unwrap();
}
