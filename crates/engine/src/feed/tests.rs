use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use lmlang_history::log::{Actor, ActorKind};
use lmlang_store::{Faults, Options, Store};
use tokio::sync::mpsc::error::TryRecvError;

use super::*;
use crate::places::Share;
use crate::{Call, Content, Creation, NewProgramRequest, SnapshotPolicy};

/// Nothing that a test waits for takes this long.
const PATIENCE: Duration = Duration::from_secs(20);

/// One who may know of nothing that there is, is sent nothing: that nobody listens is seen by other signs.
#[tokio::test]
async fn a_reader_whose_listener_has_gone_reads_no_further() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(Options::file(folder.path().join("lmlang.db"))).await.unwrap();
    let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
    let call = Call::by(Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None });
    let request = NewProgramRequest { name: "shop".to_owned(), doc: String::new(), content: Content::Empty };
    let made = engine.create_program(request, &call).await.unwrap();
    assert!(matches!(made, Creation::Created(_)));

    let share = Arc::new(Share::new(engine.limits()));
    let limited = engine.of_caller(&share, Some(Arc::from([Uuid::from_u128(1)])));
    let seal = limited.sealing(Places::Programs).await.unwrap();
    let (sender, events) = Events::channel();
    let (seen, again) = (Position::default(), Again::default());
    let mut reader = Reader { engine: limited, sender, seen, seal, again };
    drop(events);
    assert!(reader.catch_up().await.is_err());
    assert_eq!(reader.seen, Position::default());
    engine.close().await;
}

/// Who reads while the database is away is told what there is when it is back, and no error.
#[tokio::test]
async fn readers_wait_for_a_database_that_is_away() {
    let folder = tempfile::tempdir().unwrap();
    let (away, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let hook = {
        let (away, asked) = (Arc::clone(&away), Arc::clone(&asked));
        move || {
            let lost = away.load(Ordering::SeqCst);
            asked.fetch_add(usize::from(lost), Ordering::SeqCst);
            lost
        }
    };
    let faults = Faults::none().reading(hook);
    let store = Store::open(Options { faults, ..Options::file(folder.path().join("lmlang.db")) });
    let engine = Engine::new(store.await.unwrap(), Limits::default(), SnapshotPolicy::default());
    let call = Call::by(Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None });
    let request = NewProgramRequest { name: "shop".to_owned(), doc: String::new(), content: Content::Empty };
    let Creation::Created(open) = engine.create_program(request, &call).await.unwrap() else {
        panic!("an empty program has no errors");
    };
    let mut of_all = engine.all_events(None).await.unwrap();
    away.store(true, Ordering::SeqCst);
    engine.0.feed.wake();
    let mut of_one = engine.events(&open, Some(0)).await.unwrap();
    let tried = async {
        while asked.load(Ordering::SeqCst) < 6 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, tried).await.expect("they try again");
    for reader in [&mut of_all, &mut of_one] {
        assert_eq!(reader.try_recv().err(), Some(TryRecvError::Empty));
    }
    away.store(false, Ordering::SeqCst);
    engine.create_checkpoint(&open, "then", None, &call).await.unwrap();
    for (mut reader, expected) in [(of_all, vec![2]), (of_one, vec![1, 2])] {
        for number in expected {
            let told = tokio::time::timeout(PATIENCE, reader.recv()).await.expect("it goes on");
            match told.expect("it goes on").unwrap().event {
                Event::Entry(entry) => assert_eq!(entry.number, number),
                other => panic!("{other:?}"),
            }
        }
    }
    engine.close().await;
}
