use std::time::Duration;

use lmlang_history::log::ActorKind;
use lmlang_store::{Options, Store};

use super::*;
use crate::{Call, Creation, Limits, NewProgramRequest, Rejected, SnapshotPolicy};

/// A refusal may be told after the head has moved and before the entry is told that moved it.
#[tokio::test]
async fn a_refusal_that_overtakes_an_entry_does_not_hide_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(Options::file(folder.path().join("lmlang.db"))).await.unwrap();
    let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
    let actor = Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None };
    let call = Call::by(actor.clone());
    let request = NewProgramRequest { name: "shop".to_owned(), doc: String::new(), text: None };
    let Creation::Created(open) = engine.create_program(request, &call).await.unwrap() else {
        panic!("an empty program has no errors");
    };
    let mut readers = [engine.events(&open, None).unwrap(), engine.all_events(None).await.unwrap()];
    let outcome = Arc::new(Outcome::Rejected(Box::<Rejected>::default()));
    open.tell(Event::Refused { actor, branch: 0, outcome, edits: 1 }, 1);
    engine.create_checkpoint(&open, "then", None, &call).await.unwrap();
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
