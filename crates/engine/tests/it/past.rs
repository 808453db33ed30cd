//! Looking back over a log.

use lmlang_engine::{
    Arrival, Call, Error, HistoryQuery, MergeRequest, OpenProgram, Outcome, Place, Proposal, Selector,
};
use lmlang_history::log::Actor;
use lmlang_history::request::{AddText, EditRequest};

use crate::fixture::{Fixture, OFTEN, call};

const TEXT: &str = "module app

func one() -> (i64) {
  return 1
}

func two() -> (i64) {
  return (call one)
}
";

/// `one` in odd revisions, `two`, which mentions it, in even ones.
async fn work(fixture: &Fixture) {
    for number in 2..=12 {
        match number % 2 {
            0 => {
                let text = format!("func two() -> (i64) {{\n  return (add.i64 (call one), {number})\n}}\n");
                fixture.replace("shop", "app::two", &text).await;
            }
            _ => {
                let text = format!("func one() -> (i64) {{\n  return {number}\n}}\n");
                fixture.replace("shop", "app::one", &text).await;
            }
        }
    }
}

/// Adds a function on a branch; gives the number of the revision.
async fn add(fixture: &Fixture, branch: &str, name: &str, by: &str) -> u64 {
    let text = format!("func {name}() -> () pure {{\n  return\n}}\n");
    let proposal = Proposal {
        program: Selector::Name("shop".to_owned()),
        branch: branch.to_owned(),
        base: None,
        edits: vec![EditRequest::AddText(AddText { module: Some("app".to_owned()), text })],
        dry_run: false,
        require_complete: false,
        verify_all: false,
    };
    let by = Call::by(Actor { name: by.to_owned(), ..call().actor });
    match fixture.engine.propose(proposal, &by).await.unwrap() {
        Outcome::Applied(applied) => applied.after.entry.number,
        other => panic!("{other:?}"),
    }
}

async fn merge(fixture: &Fixture, open: &OpenProgram, from: &str, into: &str) {
    let request = MergeRequest {
        from: from.to_owned(),
        into: into.to_owned(),
        resolutions: Vec::new(),
        expected_head: None,
        dry_run: false,
    };
    let arrival = fixture.engine.merge(open, &request, &call()).await.unwrap();
    assert!(matches!(arrival, Arrival::Made { .. }), "{arrival:?}");
}

#[tokio::test]
async fn edits_are_read_only_when_they_are_asked_for() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    work(&fixture).await;
    fixture.snapshot_after(&open, 8).await;
    let unreadable = "update log set edits = x'00' where seq < 8";
    let fixture = fixture.reopened(&[unreadable]).await;
    let open = fixture.find("shop").await;
    let newest = open.timeline.head().last;
    let page = fixture.engine.history(&open, &HistoryQuery::up_to(newest, 100)).await.unwrap();
    let numbers: Vec<u64> = page.entries.iter().map(|entry| entry.number).collect();
    assert_eq!(numbers, (1..=12).rev().collect::<Vec<u64>>());
    let changed = page.entries.iter().map(|entry| entry.counts.added + entry.counts.modified);
    assert!(changed.min() > Some(0), "{page:?}");
    assert_ne!(fixture.engine.edits(&open, 8).await.unwrap().len(), 0);
    let Err(Error::Damaged { entry, .. }) = fixture.engine.edits(&open, 7).await else {
        panic!("the edits of r7 cannot be read");
    };
    assert_eq!(entry, 7);
}

#[tokio::test]
async fn entries_that_touch_something_are_counted_over_the_whole_log() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    work(&fixture).await;
    let newest = open.timeline.head().last;
    let of = |name: &str| {
        let head = open.timeline.head();
        head.main.revision.checked.program().resolve_path(name).first().copied()
    };
    for (name, newest, numbers) in [
        ("app::one", newest, vec![11, 9, 7, 5, 3, 1]),
        ("app::two", newest, vec![12, 10, 8, 6, 4, 2, 1]),
        ("app::two", 9, vec![8, 6, 4, 2, 1]),
    ] {
        let total = numbers.len() as u64;
        let (mut found, mut before) = (Vec::new(), u64::MAX);
        loop {
            let query = HistoryQuery { before, touching: of(name), ..HistoryQuery::up_to(newest, 2) };
            assert_eq!(fixture.engine.history_len(&open, &query).await.unwrap(), total, "{name}");
            let page = fixture.engine.history(&open, &query).await.unwrap();
            found.extend(page.entries.iter().map(|entry| entry.number));
            before = found.last().copied().unwrap_or_default();
            if !page.more {
                break;
            }
        }
        assert_eq!(found, numbers, "{name}");
    }
    let everything = HistoryQuery::up_to(7, 2);
    assert_eq!(fixture.engine.history_len(&open, &everything).await.unwrap(), 7);
    let (author, touching) = (Some("nobody".to_owned()), of("app::one"));
    let by_nobody = HistoryQuery { author, touching, ..HistoryQuery::up_to(newest, 100) };
    assert_eq!(fixture.engine.history_len(&open, &by_nobody).await.unwrap(), 0);
}

#[tokio::test]
async fn what_merges_brought_in_is_told_when_it_is_asked_for() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let engine = &fixture.engine;
    engine.create_branch(&open, "draft", None, &call()).await.unwrap();
    let drafted = add(&fixture, "draft", "three", "ann").await;
    engine.create_branch(&open, "finer", Some("draft"), &call()).await.unwrap();
    let finer = add(&fixture, "finer", "four", "ben").await;
    for (from, into) in [("finer", "draft"), ("draft", "main")] {
        merge(&fixture, &open, from, into).await;
        engine.delete_branch(&open, from, &call()).await.unwrap();
    }
    let later = add(&fixture, "main", "five", "ann").await;
    let head = open.timeline.head();
    let place = Place { revision: head.main.revision.entry.number, branch: 0 };
    let of = async |author: Option<&str>, merged: bool| {
        let query = HistoryQuery {
            on_way_to: Some(place),
            merged,
            author: author.map(str::to_owned),
            ..HistoryQuery::up_to(head.last, 100)
        };
        let page = engine.history(&open, &query).await.unwrap();
        let numbers: Vec<u64> = page.entries.iter().map(|entry| entry.number).collect();
        assert_eq!(engine.history_len(&open, &query).await.unwrap(), numbers.len() as u64);
        numbers
    };
    let (line, all) = (of(None, false).await, of(None, true).await);
    assert!(line.iter().all(|number| all.contains(number)));
    assert!([drafted, finer].iter().all(|number| all.contains(number) && !line.contains(number)));
    assert_eq!(of(Some("ann"), false).await, [later]);
    assert_eq!(of(Some("ann"), true).await, [later, drafted]);
    assert_eq!(of(Some("ben"), true).await, [finer]);
}

#[tokio::test]
async fn of_more_branches_than_the_bound_those_that_were_merged_last_are_told() {
    const TOLD: usize = 200;
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    let engine = &fixture.engine;
    let mut drafted = Vec::new();
    for number in 0..TOLD + 3 {
        let (branch, name) = (format!("b{number}"), format!("draft_{number}"));
        engine.create_branch(&open, &branch, None, &call()).await.unwrap();
        drafted.push(add(&fixture, &branch, &name, "ann").await);
        merge(&fixture, &open, &branch, "main").await;
    }
    let head = open.timeline.head();
    let query = HistoryQuery {
        on_way_to: Some(Place { revision: head.main.revision.entry.number, branch: 0 }),
        merged: true,
        author: Some("ann".to_owned()),
        ..HistoryQuery::up_to(head.last, 1_000)
    };
    let page = engine.history(&open, &query).await.unwrap();
    let numbers: Vec<u64> = page.entries.iter().map(|entry| entry.number).collect();
    let expected: Vec<u64> = drafted.iter().rev().take(TOLD).copied().collect();
    assert_eq!(numbers, expected);
    assert_eq!(engine.history_len(&open, &query).await.unwrap(), TOLD as u64);
}
