//! Edits of what is not as the caller read it, by its hash: both sides are told, and who is in between.

use lmlang_engine::{Call, Conflict, OpenProgram, Outcome, Proposal, Selector};
use lmlang_history::log::{Actor, ActorKind};
use lmlang_history::request::{EditRequest, Rename, ReplaceText, text_hash};

use crate::fixture::{Fixture, OFTEN};

const TEXT: &str = "module app#m1

func price#f2 () -> (i64) {
  rate#n3 = const.i64 19
  return#n4 rate
}
";

fn by(name: &str) -> Call {
    Call::by(Actor { name: name.to_owned(), kind: ActorKind::Agent, client: None })
}

fn rate(value: u64, if_hash: Option<&str>) -> EditRequest {
    let text = format!("func price#f2 () -> (i64) {{\n  rate#n3 = const.i64 {value}\n  return#n4 rate\n}}\n");
    EditRequest::ReplaceFunctionText(ReplaceText {
        of: "f2".to_owned(),
        text,
        if_hash: if_hash.map(str::to_owned),
    })
}

async fn propose(fixture: &Fixture, base: Option<&str>, edits: Vec<EditRequest>, dry_run: bool) -> Outcome {
    let proposal = Proposal {
        program: Selector::Name("shop".to_owned()),
        branch: "main".to_owned(),
        base: base.map(str::to_owned),
        edits,
        dry_run,
        require_complete: false,
        verify_all: false,
    };
    fixture.engine.propose(proposal, &by("bob")).await.unwrap()
}

/// What an edit is refused with, dry or not.
async fn refused(fixture: &Fixture, base: Option<&str>, edits: Vec<EditRequest>) -> Conflict {
    let dry = propose(fixture, base, edits.clone(), true).await;
    match (dry, propose(fixture, base, edits, false).await) {
        (Outcome::Conflict(dry), Outcome::Conflict(conflict)) => {
            assert_eq!(dry.conflicts, conflict.conflicts);
            conflict
        }
        other => panic!("{other:?}"),
    }
}

async fn hash_at(fixture: &Fixture, open: &OpenProgram, number: u64, of: &str) -> String {
    let revision = fixture.engine.state(open, number).await.unwrap().unwrap();
    text_hash(revision.checked.program(), of.parse().unwrap()).unwrap().to_string()
}

/// Checks what is told of the only entity in the way: the end of the message, and what stands on each side.
fn check(conflict: &Conflict, message: &str, base: Option<&str>, ours: &str) {
    let [one] = &conflict.conflicts[..] else { panic!("{conflict:?}") };
    assert_eq!(one.kind, "HASH_MISMATCH");
    assert!(one.message.ends_with(message), "{}", one.message);
    let has = |side: &Option<String>, text: &str| side.as_ref().is_some_and(|side| side.contains(text));
    assert!(has(&one.ours, ours), "{one:?}");
    match base {
        Some(base) => assert!(has(&one.base, base), "{one:?}"),
        None => assert_eq!(one.base, None),
    }
}

#[tokio::test]
async fn both_sides_of_what_is_not_as_it_was_read_are_told() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let read = hash_at(&fixture, &open, 1, "f2").await;
    for value in [7, 8] {
        let outcome = propose(&fixture, None, vec![rate(value, None)], false).await; // r2, r3
        assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
    }
    // Found by its hash, of which some digits do.
    let conflict = refused(&fixture, None, vec![rate(9, Some(&read[..16]))]).await;
    check(&conflict, ", which it had until r2 by `bob`", Some("const.i64 19"), "const.i64 8");
    assert!(conflict.base.is_none() && conflict.head.number == 3, "{conflict:?}");
    // A module changes with what is in it.
    let module = hash_at(&fixture, &open, 2, "m1").await;
    let text = format!("{TEXT}\nfunc other () -> () {{ return }}\n");
    let replace = ReplaceText { of: "m1".to_owned(), text, if_hash: Some(module) };
    let conflict = refused(&fixture, None, vec![EditRequest::ReplaceModuleText(replace)]).await;
    check(&conflict, ", which it had until r3 by `bob`", Some("const.i64 7"), "const.i64 8");
    // Something that never was there.
    let conflict = refused(&fixture, None, vec![rate(9, Some(&"0".repeat(64)))]).await;
    check(&conflict, &"0".repeat(64), None, "const.i64 8");
}

#[tokio::test]
async fn what_was_read_and_the_base_that_is_named_can_be_two() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let outcome = propose(&fixture, None, vec![rate(7, None)], false).await; // r2
    assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}");
    let newest = hash_at(&fixture, &open, 2, "f2").await;
    let conflict = refused(&fixture, Some("r1"), vec![rate(9, Some(&newest))]).await;
    check(&conflict, ", which it has in r2", Some("const.i64 19"), "const.i64 7");
    let base = conflict.base.as_ref().map(|base| base.number);
    assert_eq!((base, conflict.head.number), (Some(1), 2), "what is there is the head of the branch");
    // The hash of neither: what is known is the base.
    let conflict = refused(&fixture, Some("r1"), vec![rate(9, Some(&"0".repeat(64)))]).await;
    check(&conflict, &"0".repeat(64), Some("const.i64 19"), "const.i64 7");
    // Who has changed it are the edits themselves.
    let rename = EditRequest::RenameFunction(Rename { of: "f2".to_owned(), name: "cost".to_owned() });
    let conflict = refused(&fixture, None, vec![rename, rate(9, Some(&newest))]).await;
    check(&conflict, ": an edit before it in the list changes it", Some("const.i64 7"), "const.i64 7");
}
