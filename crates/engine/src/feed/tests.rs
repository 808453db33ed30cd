use lmlang_history::log::{Actor, ActorKind};
use lmlang_store::{Options, Store};

use super::*;
use crate::places::Share;
use crate::{Call, Content, Creation, NewProgramRequest, SnapshotPolicy};

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
    let mut reader = Reader { engine: limited, sender, seen: Position::default(), seal };
    drop(events);
    assert!(reader.catch_up().await.is_err());
    assert_eq!(reader.seen, Position::default());
    engine.close().await;
}
