//! Where several processes write. A file has one; so this does nothing but on a server.

use lmlang_history::log::{Actor, ActorKind};
use lmlang_store::{Location, Options, Store};
use lmlang_testdb::TestDb;
use tokio::sync::Notify;

use super::*;
use crate::{Content, Creation, Limits, NewProgramRequest, Selector, SnapshotPolicy};

/// Who deletes a program waits for what is planned on it; neither waits for the other in vain.
#[tokio::test]
async fn a_program_is_deleted_whose_log_others_are_kept_from() {
    let db = TestDb::new().await;
    if db.is_file() {
        return;
    }
    let store = Store::open(Options::new(Location::parse(&db.to_string()).unwrap())).await.unwrap();
    let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
    let call = Call::by(Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None });
    let request = NewProgramRequest { name: "shop".to_owned(), doc: String::new(), content: Content::Empty };
    let Creation::Created(open) = engine.create_program(request, &call).await.unwrap() else {
        panic!("an empty program has no errors");
    };
    open.timeline.writer.lock().await.contended = Some(Instant::now() + Duration::from_secs(600));
    let (planned, go_on) = (Notify::new(), Notify::new());
    let (planned, go_on) = (&planned, &go_on);
    let mut write = Box::pin(engine.write(&open, &call, |_, _| async move {
        planned.notify_one();
        go_on.notified().await;
        Ok(Plan::<(), ()>::Leave(()))
    }));
    tokio::select! {
        _ = &mut write => panic!("it waits"),
        () = planned.notified() => {}
    }
    let selector = Selector::Id(open.timeline.id());
    let mut delete = Box::pin(engine.delete_program(&selector, &call));
    for _ in 0..100 {
        tokio::select! {
            biased;
            _ = &mut delete => panic!("others are kept from the log"),
            () = tokio::task::yield_now() => {}
        }
    }
    go_on.notify_one();
    let (written, deleted) = tokio::join!(write, delete);
    assert!(matches!(written, Ok(Written::Left(()))));
    assert!(deleted.unwrap());
    engine.close().await;
}
