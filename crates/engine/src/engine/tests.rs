use std::sync::Mutex;

use lmlang_history::log::{Actor, ActorKind};
use lmlang_store::{Action, Faults, Options, Step, Store};
use tokio::sync::Notify;

use super::*;
use crate::{Call, Content, Creation, NewProgramRequest};

#[tokio::test]
async fn a_closed_engine_has_answered_and_leaves_no_task() {
    let folder = tempfile::tempdir().unwrap();
    // The next commit is held when the test says so.
    let held: Arc<Mutex<Option<Arc<Notify>>>> = Arc::default();
    let hook = Arc::clone(&held);
    let faults = Faults::new(move |step| match hook.lock().unwrap().take_if(|_| step == Step::AfterCommit) {
        Some(release) => Action::Hold(release),
        None => Action::Continue,
    });
    let options = Options { faults, ..Options::file(folder.path().join("lmlang.db")) };
    let store = Store::open(options).await.unwrap();
    let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
    let call = Call::by(Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None });
    let request = NewProgramRequest { name: "shop".to_owned(), doc: String::new(), content: Content::Empty };
    let Creation::Created(open) = engine.create_program(request, &call).await.unwrap() else {
        panic!("an empty program has no errors");
    };
    let release = Arc::new(Notify::new());
    *held.lock().unwrap() = Some(Arc::clone(&release));
    let mut checkpoint = Box::pin(engine.create_checkpoint(&open, "then", None, &call));
    let mut close = Box::pin(engine.close());
    // The change waits for its commit, and closing for the change.
    while held.lock().unwrap().is_some() {
        tokio::select! {
            biased;
            _ = &mut checkpoint => panic!("it is held"),
            () = tokio::task::yield_now() => {}
        }
    }
    tokio::select! {
        biased;
        () = &mut close => panic!("a change is being written"),
        () = tokio::task::yield_now() => {}
    }
    release.notify_one();
    let (made, ()) = tokio::join!(checkpoint, close);
    assert!(made.is_ok(), "{made:?}");
    // Though there is a handle to the program still.
    assert_eq!((open.timeline.head().last, engine.0.publishers.len()), (2, 0));
}

/// Somebody else may be about to open it: who is found by nobody is told of nothing.
#[tokio::test]
async fn a_program_that_could_not_be_opened_stays_for_who_tries_next() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(Options::file(folder.path().join("lmlang.db"))).await.unwrap();
    let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
    let id = Uuid::from_u128(1);
    let next = engine.cell(id);
    engine.forget_unopened(id);
    assert!(Arc::ptr_eq(&next, &engine.cell(id)));
    drop(next);
    engine.forget_unopened(id);
    assert!(engine.with_open(|open| open.is_empty()));
    engine.close().await;
}
