use lmlang_history::log::{Actor, ActorKind};
use lmlang_store::{Options, Store};

use super::*;
use crate::{Call, Creation, Limits, NewProgramRequest, Selector, SnapshotPolicy};

async fn create(engine: &Engine, name: &str) -> OpenProgram {
    let actor = Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None };
    let text = Some(format!("module {name}\n"));
    let request = NewProgramRequest { name: name.to_owned(), doc: String::new(), content: text.into() };
    match engine.create_program(request, &Call::by(actor)).await.unwrap() {
        Creation::Created(open) => open,
        Creation::Rejected { .. } => panic!("`{name}` has no errors"),
    }
}

fn open(engine: &Engine) -> Vec<String> {
    let mut names: Vec<String> = engine.with_open(|open| {
        open.values().filter_map(|cell| cell.get().map(|open| open.info().name.clone())).collect()
    });
    names.sort();
    names
}

#[tokio::test]
async fn the_least_recently_used_programs_are_let_go_and_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(Options::file(folder.path().join("lmlang.db"))).await.unwrap();
    let limits = Limits { open_programs: 2, ..Limits::default() };
    let never = SnapshotPolicy { entries: u64::MAX, bytes: u64::MAX, share: 0 };
    let engine = Engine::new(store, limits, never);
    let used = create(&engine, "a").await;
    for name in ["b", "c"] {
        create(&engine, name).await;
    }
    // The last one is still in use while there is one too many.
    assert_eq!(open(&engine), ["a", "c"]);
    let found = engine.find(&Selector::Name("b".to_owned())).await.unwrap();
    assert_eq!(found.timeline.head().main.revision.checked.program().modules().count(), 1);
    assert_eq!(open(&engine), ["a", "b"]);
    drop((used, found));
    // Whoever reads the events of all keeps none of them.
    let mut events = engine.all_events(None).await.unwrap();
    create(&engine, "d").await;
    assert_eq!(open(&engine), ["b", "d"]);
    assert_eq!(events.recv().await.unwrap().unwrap().cursor.to_string(), "p3.4");
    create(&engine, "e").await;
    assert_eq!(open(&engine), ["d", "e"]);
}
