//! Changes that meet each other.

use std::future::Future;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::join_all;
use lmlang_engine::{
    Applied, Call, Distance, Error, Event, Limits, Outcome, Proposal, Selector, SnapshotPolicy, Way,
};
use lmlang_history::request::{EditRequest, ModifyNode, ReplaceText, Target};
use lmlang_ir::text::{Detail, print_program};

use crate::fixture::{Fixture, OFTEN, call};

fn price(number: u64) -> String {
    format!("func price() -> (i64) {{\n  a = const.i64 {number}\n  return a\n}}\n")
}

#[tokio::test]
async fn undo_goes_through_revisions_that_are_not_stored_yet() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", &format!("module app\n\n{}", price(0))).await;
    let (one, two, three) = (price(1), price(2), price(3));
    // Each is planned on what the one before has submitted, before the database has answered.
    tokio::join!(
        fixture.replace("shop", "app::price", &one),
        fixture.replace("shop", "app::price", &two),
        async { assert!(fixture.travel(&open, Way::Undo(Distance::Steps(1))).await) },
        async { assert!(fixture.travel(&open, Way::Undo(Distance::Steps(1))).await) },
        async { assert!(fixture.travel(&open, Way::Redo(Distance::Steps(2))).await) },
        fixture.replace("shop", "app::price", &three),
        async { assert!(fixture.travel(&open, Way::Undo(Distance::Steps(1))).await) },
    );
    let head = open.timeline.head();
    assert_eq!(head.last, 8);
    let text = print_program(head.main.revision.checked.program(), Detail::Full);
    assert!(text.contains("const.i64 2"), "{text}");
    let findings = fixture.engine.doctor(|_| {}).await.unwrap();
    assert_eq!(findings.findings().collect::<Vec<_>>(), Vec::<String>::new());
}

fn keyed(key: &str) -> Call {
    call().keyed(Some(key), key.as_bytes())
}

fn proposal(base: &str, number: u64) -> Proposal {
    let edit = ReplaceText { of: "app::price".to_owned(), text: price(number), if_hash: None };
    Proposal {
        program: Selector::Name("shop".to_owned()),
        branch: "main".to_owned(),
        base: Some(base.to_owned()),
        edits: vec![EditRequest::ReplaceFunctionText(edit)],
        dry_run: false,
        require_complete: false,
        verify_all: false,
    }
}

/// What a change set was carried over is counted, however much it was; the newest of it are listed.
#[tokio::test]
async fn all_is_counted_that_a_change_set_was_carried_over() {
    const EDITS: u64 = 1_005;
    let fixture = Fixture::new(SnapshotPolicy::default()).await;
    let rate = |number| price(number).replace("price", "rate");
    let open = fixture.create("shop", &format!("module app\n\n{}\n{}", price(0), rate(0))).await;
    let numbers: Vec<u64> = (1..=EDITS).collect();
    for some in numbers.chunks(67) {
        let texts: Vec<String> = some.iter().map(|number| price(*number)).collect();
        join_all(texts.iter().map(|text| fixture.replace("shop", "app::price", text))).await;
        // Is on the way, and changes nothing.
        let (name, call) = (format!("c{}", some[0]), call());
        fixture.engine.create_checkpoint(&open, &name, None, &call).await.unwrap();
    }
    let edit = ReplaceText { of: "app::rate".to_owned(), text: rate(1), if_hash: None };
    let proposal =
        Proposal { edits: vec![EditRequest::ReplaceFunctionText(edit)], dry_run: true, ..proposal("r1", 0) };
    for (base, total) in [("r1", EDITS), ("r2", EDITS - 1), ("r9", EDITS - 8), ("main~3", 3), ("main", 0)] {
        let proposal = Proposal { base: Some(base.to_owned()), ..proposal.clone() };
        let outcome = fixture.engine.propose(proposal, &call()).await.unwrap();
        let Outcome::Applied(Applied { rebased_over, .. }) = outcome else { panic!("{base}: {outcome:?}") };
        let newest = rebased_over.newest.iter().map(|header| header.number).max();
        let listed = rebased_over.newest.len() as u64;
        assert_eq!((rebased_over.total, listed), (total, total.min(1_000)), "{base}");
        assert_eq!(newest, (total > 0).then(|| open.timeline.head().main.revision.entry.number), "{base}");
    }
}

/// Whoever is told of a fault of the database has changed nothing.
#[tokio::test]
async fn what_cannot_be_answered_is_not_stored() {
    let limits = Limits { revisions_in_memory: 1, ..Limits::default() };
    let fixture = Fixture::within(OFTEN, limits).await;
    let other = |number: u64| price(number).replace("price", "other");
    let open = fixture.create("shop", &format!("module app\n\n{}\n{}", price(0), other(1))).await;
    for number in 2..=5 {
        fixture.replace("shop", "app::other", &other(number)).await;
    }
    // The revisions that it is carried over are part of the answer.
    fixture.db.execute("update log set counts = x'00' where seq = 4").await;
    let refused = fixture.engine.propose(proposal("r2", 1), &call()).await;
    assert!(matches!(refused, Err(Error::Damaged { entry: 4, .. })), "{refused:?}");
    assert_eq!(open.timeline.head().last, 5);
    fixture.db.execute("update log set counts = (select counts from log where seq = 3) where seq = 4").await;
    let Ok(Outcome::Applied(applied)) = fixture.engine.propose(proposal("r2", 1), &call()).await else {
        panic!("it can be read again");
    };
    let numbers: Vec<u64> = applied.rebased_over.newest.iter().map(|entry| entry.number).collect();
    assert_eq!((numbers, open.timeline.head().last), (vec![3, 4, 5], 6));
}

/// Edits that change nothing make no revision, except as the record of their key.
#[tokio::test]
async fn what_changes_nothing_is_told_and_makes_no_revision() {
    let mut fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", &format!("module app\n\n{}", price(0))).await;
    let mut events = fixture.engine.events(&open, None).await.unwrap();
    let told = async |fixture: &Fixture, call: &Call| {
        let outcome = fixture.engine.propose(proposal("r1", 0), call).await.unwrap();
        let Outcome::Applied(applied) = outcome else { panic!("{outcome:?}") };
        assert_eq!(applied.counts(), lmlang_history::ChangeCounts::default());
        assert!(applied.unchanged && applied.committed && applied.created.is_empty());
        (applied.before.entry.number, applied.after.entry.number, applied.made())
    };
    assert_eq!(told(&fixture, &call()).await, (1, 1, None));
    assert_eq!(open.timeline.head().last, 1);
    assert_eq!(told(&fixture, &keyed("same")).await, (1, 2, Some(2)));
    // Of the first one nobody was told.
    let first = tokio::time::timeout(Duration::from_secs(10), events.recv()).await.unwrap().unwrap().unwrap();
    assert!(matches!(first.event, Event::Entry(entry) if entry.number == 2));
    fixture = fixture.reopened(&[]).await;
    assert_eq!(told(&fixture, &keyed("same")).await, (1, 2, Some(2)));
    // Carried over what others have changed since, it changes nothing either: that stays.
    fixture.replace("shop", "app::price", &price(1)).await;
    assert_eq!(told(&fixture, &call()).await, (3, 3, None));
    assert_eq!(fixture.find("shop").await.timeline.head().last, 3);
}

#[tokio::test]
async fn a_repeated_request_is_answered_as_the_first_one_after_a_restart_too() {
    let mut fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", &format!("module app\n\n{}", price(0))).await;
    fixture.engine.create_checkpoint(&open, "before", None, &keyed("mark")).await.unwrap();
    for restart in [false, true] {
        if restart {
            fixture = fixture.reopened(&[]).await;
        }
        // By itself the repetition would be a conflict, since the head has moved.
        let outcome = fixture.engine.propose(proposal("r1", 1), &keyed("edit")).await.unwrap();
        let Outcome::Applied(applied) = outcome else { panic!("{outcome:?}") };
        assert_eq!((applied.before.entry.number, applied.after.entry.number), (1, 3));
        let open = fixture.find("shop").await;
        let made = fixture.engine.create_checkpoint(&open, "before", None, &keyed("mark")).await.unwrap();
        assert_eq!((&*made.name, made.revision), ("before", 1));
        let other = fixture.engine.propose(proposal("r1", 1), &call().keyed(Some("edit"), b"other")).await;
        assert!(matches!(other, Err(Error::IdempotencyMismatch)), "{other:?}");
        assert_eq!(open.timeline.head().last, 3);
    }
}

#[tokio::test]
async fn an_entry_whose_answer_was_lost_is_taken_in_by_the_next_change() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", &format!("module app\n\n{}", price(0))).await;
    fixture.engine.create_checkpoint(&open, "then", None, &call()).await.unwrap();
    let mut events = fixture.engine.events(&open, None).await.unwrap();
    // Stored, and nobody was told.
    let columns = "parents, branch, kind, actor, on_behalf_of, message, time, edits, counts, root_hash, next_ref, target, run, step";
    let again = format!(
        "INSERT INTO log (program, seq, id, {columns}) SELECT program, seq + 1, id, {columns} FROM log WHERE seq = 2"
    );
    fixture.db.execute(&again).await;
    if !fixture.db.is_file() {
        fixture.db.execute("UPDATE heads SET seq = 3").await;
    }
    fixture.replace("shop", "app::price", &price(1)).await;
    assert_eq!(open.timeline.head().last, 4);
    for number in [3, 4] {
        let told =
            tokio::time::timeout(Duration::from_secs(10), events.recv()).await.unwrap().unwrap().unwrap();
        assert!(matches!(told.event, Event::Entry(entry) if entry.number == number));
    }
}

#[tokio::test]
async fn a_key_is_known_though_its_entry_has_not_been_heard_of() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", &format!("module app\n\n{}", price(0))).await;
    fixture.engine.create_checkpoint(&open, "then", None, &call()).await.unwrap();
    // Another process has done it, or this one without an answer.
    let columns = "parents, branch, kind, actor, on_behalf_of, message, time, edits, counts, root_hash, next_ref, target, run, step";
    let (key, digest) = ("6b", blake3::hash(b"k").to_hex());
    let again = format!(
        "INSERT INTO log (program, seq, id, idem_key, request_digest, {columns}) \
         SELECT program, seq + 1, id, x'{key}', x'{digest}', {columns} FROM log WHERE seq = 2"
    );
    fixture.db.execute(&again).await;
    if !fixture.db.is_file() {
        fixture.db.execute("UPDATE heads SET seq = 3").await;
    }
    // By itself the name would be taken.
    let made = fixture.engine.create_checkpoint(&open, "then", None, &keyed("k")).await.unwrap();
    assert_eq!((made.entry, open.timeline.head().last), (3, 3));
}

#[tokio::test]
async fn a_deletion_is_carried_out_though_its_caller_has_gone() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", &format!("module app\n\n{}", price(0))).await;
    let mut events = fixture.engine.events(&open, None).await.unwrap();
    let name = Selector::Name("shop".to_owned());
    let call = call();
    let mut delete = Box::pin(fixture.engine.delete_program(&name, &call));
    // Polled once and dropped.
    let begun = std::future::poll_fn(|context| Poll::Ready(delete.as_mut().poll(context).is_pending())).await;
    drop(delete);
    assert!(begun);
    let told = tokio::time::timeout(Duration::from_secs(10), events.recv()).await.unwrap().unwrap().unwrap();
    assert!(matches!(told.event, Event::Program { .. }));
    assert!(matches!(fixture.engine.find(&name).await, Err(Error::NotFound { .. })));
}

#[tokio::test]
async fn a_deletion_that_is_asked_for_twice_at_once_is_answered_alike() {
    let fixture = Fixture::new(OFTEN).await;
    fixture.create("shop", &format!("module app\n\n{}", price(0))).await;
    let (name, call) = (Selector::Name("shop".to_owned()), keyed("gone"));
    let delete = || fixture.engine.delete_program(&name, &call);
    let (one, two, three) = tokio::join!(delete(), delete(), delete());
    assert_eq!([one.unwrap(), two.unwrap(), three.unwrap()], [true; 3]);
}

#[tokio::test]
async fn what_an_edit_rests_on_is_known_after_a_restart() {
    let fixture = Fixture::new(OFTEN).await;
    let text = "module app

func next#f2 (a: i64) -> (i64) {
  s#n3 = add.i64 a, 1
  return#n4 s
}

func use#f5 (a: i64) -> (i64) {
  r#n6 = call next(a)
  return#n7 r
}
";
    fixture.create("shop", text).await;
    let proposal = |base: &str, edit: EditRequest| Proposal {
        program: Selector::Name("shop".to_owned()),
        branch: "main".to_owned(),
        base: Some(base.to_owned()),
        edits: vec![edit],
        dry_run: false,
        require_complete: false,
        verify_all: false,
    };
    let inline = EditRequest::InlineCall(Target { name_as: None, of: "n6".to_owned() });
    let inlined = fixture.engine.propose(proposal("r1", inline), &call()).await.unwrap();
    assert!(matches!(inlined, Outcome::Applied(_)), "{inlined:?}");
    let fixture = fixture.reopened(&[]).await;
    let changed = EditRequest::ModifyNode(ModifyNode { of: "n3".to_owned(), op: "sub.i64".to_owned() });
    match fixture.engine.propose(proposal("r1", changed), &call()).await.unwrap() {
        Outcome::Conflict(conflict) => {
            let found: Vec<(&str, &str)> =
                conflict.conflicts.iter().map(|one| (one.of.as_str(), one.kind)).collect();
            assert_eq!(found, [("f2", "COPIED_AND_EDITED")]);
        }
        other => panic!("{other:?}"),
    }
}
