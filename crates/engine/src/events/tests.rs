use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use lmlang_history::log::ActorKind;
use lmlang_store::{Action, Faults, Options, Step, Store};
use tokio::sync::Notify;

use super::*;
use crate::{Call, Content, Creation, Limits, NewProgramRequest, Rejected, SnapshotPolicy};

fn ada() -> Call {
    Call::by(Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None })
}

async fn create(engine: &Engine) -> OpenProgram {
    let request = NewProgramRequest { name: "shop".to_owned(), doc: String::new(), content: Content::Empty };
    let Creation::Created(open) = engine.create_program(request, &ada()).await.unwrap() else {
        panic!("an empty program has no errors");
    };
    open
}

/// Who reads the log again comes to entries that are stored and not the head yet.
#[tokio::test]
async fn an_entry_is_told_when_it_is_the_head() {
    let folder = tempfile::tempdir().unwrap();
    let (stored, go_on, armed) =
        (Arc::new(Notify::new()), Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let hook = {
        let (stored, go_on, armed) = (Arc::clone(&stored), Arc::clone(&go_on), Arc::clone(&armed));
        move |step| {
            if step != Step::BeforeAck || !armed.load(Ordering::Relaxed) {
                return Action::Continue;
            }
            stored.notify_one();
            Action::Hold(Arc::clone(&go_on))
        }
    };
    let options = Options { faults: Faults::new(hook), ..Options::file(folder.path().join("lmlang.db")) };
    let store = Store::open(options).await.unwrap();
    let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
    let open = create(&engine).await;
    armed.store(true, Ordering::Relaxed);
    let making = {
        let (engine, open) = (engine.clone(), open.clone());
        tokio::spawn(async move { engine.create_checkpoint(&open, "then", None, &ada()).await })
    };
    stored.notified().await;
    let mut reader = engine.events(&open, Some(0)).await.unwrap();
    let first = reader.recv().await.unwrap().unwrap();
    assert_eq!((first.cursor, open.timeline.head().last), (Cursor::Program(1), 1));
    assert_eq!(reader.try_recv().err(), Some(TryRecvError::Empty));
    go_on.notify_one();
    let second = reader.recv().await.unwrap().unwrap();
    assert_eq!((second.cursor, open.timeline.head().last), (Cursor::Program(2), 2));
    making.await.unwrap().unwrap();
    engine.close().await;
}

/// A refusal may be told after the head has moved and before the entry is told that moved it.
#[tokio::test]
async fn a_refusal_that_overtakes_an_entry_does_not_hide_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(Options::file(folder.path().join("lmlang.db"))).await.unwrap();
    let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
    let open = create(&engine).await;
    let mut readers = [engine.events(&open, None).await.unwrap(), engine.all_events(None).await.unwrap()];
    let outcome = Arc::new(Outcome::Rejected(Box::<Rejected>::default()));
    open.tell(Event::Refused { actor: ada().actor, branch: 0, outcome, edits: 1 }, 1);
    engine.create_checkpoint(&open, "then", None, &ada()).await.unwrap();
    let mut told = Vec::new();
    for reader in &mut readers {
        for _ in 0..2 {
            let event = tokio::time::timeout(Duration::from_secs(10), reader.recv()).await;
            let Told { cursor, event, .. } = event.expect("both are told").unwrap().unwrap();
            told.push((cursor.to_string(), matches!(event, Event::Entry(_))));
        }
    }
    let told: Vec<_> = told.iter().map(|(cursor, entry)| (cursor.as_str(), *entry)).collect();
    assert_eq!(told[..2], [("r1", false), ("r2", true)]);
    // Among the events of all programs it has no place of its own: it may come before the entry, or after it.
    let (before, after) = ([("p1.1", false), ("p2.1", true)], [("p2.1", true), ("p2.1", false)]);
    assert!(told[2..] == before || told[2..] == after, "{told:?}");
}
