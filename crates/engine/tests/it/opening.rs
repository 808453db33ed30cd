//! Opening a program from its snapshots and its log.

use lmlang_engine::{Distance, Head, OpenProgram, Way};

use crate::fixture::{Fixture, OFTEN, call};

const TEXT: &str =
    "module app\n\nfunc price(a: i64) -> (i64) {\n  b = const.i64 0\n  c = add.i64 a, b\n  return c\n}\n";

fn price(step: u64) -> String {
    let chain: String = (0..step % 7).map(|i| format!("  x{i} = const.i64 {}\n", i * 31 + step)).collect();
    format!(
        "func price(a: i64) -> (i64) {{\n  b = const.i64 {step}\n{chain}  c = add.i64 a, b\n  return c\n}}\n"
    )
}

/// What a program is known by: all of it must be the same after it was opened again.
fn known(open: &OpenProgram) -> String {
    let Head { revision, last, line, checkpoints, provenance } = open.timeline.head();
    let names: Vec<_> = checkpoints.iter().map(|it| (it.name.clone(), it.revision)).collect();
    let (hash, touched) = (revision.checked.program().root_hash(), provenance.map().hash());
    let number = revision.entry.number;
    format!("r{number} of {last}, {hash}, {touched}, {names:?}, {line:?}")
}

/// Changes of all kinds, `rounds` times.
async fn work(fixture: &Fixture, open: &OpenProgram, rounds: u64) {
    for step in 0..rounds {
        let number = open.timeline.head().last;
        match step % 9 {
            3 | 5 => drop(fixture.travel(open, Way::Undo(Distance::Steps(1 + step % 2))).await),
            6 => drop(fixture.travel(open, Way::Redo(Distance::Steps(1))).await),
            7 => {
                let name = format!("at {number}");
                fixture.engine.create_checkpoint(open, &name, None, &call()).await.map(drop).unwrap();
            }
            _ => fixture.replace("shop", "app::price", &price(number)).await,
        }
    }
}

#[tokio::test]
async fn a_program_opens_as_it_was() {
    let mut fixture = Fixture::new(OFTEN).await;
    let mut open = fixture.create("shop", TEXT).await;
    for _ in 0..4 {
        work(&fixture, &open, 30).await;
        fixture.snapshot_after(&open, 4).await;
        let before = known(&open);
        fixture = fixture.reopened(&[]).await;
        open = fixture.find("shop").await;
        assert_eq!(known(&open), before);
    }
    let checkup = fixture.engine.doctor(|_| {}).await.unwrap();
    assert_eq!(checkup.findings().collect::<Vec<_>>(), Vec::<String>::new());
    assert!(checkup.structure.snapshots >= 4, "{}", checkup.structure.snapshots);
}

#[tokio::test]
async fn opening_reads_the_newest_snapshot_and_the_tail() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    fixture.engine.create_checkpoint(&open, "gone", None, &call()).await.unwrap();
    fixture.engine.delete_checkpoint(&open, "gone", &call()).await.unwrap();
    work(&fixture, &open, 40).await;
    fixture.snapshot_after(&open, 20).await;
    let before = known(&open);
    // Of older entries only those of the checkpoints that there are.
    let unreadable =
        "update log set edits = x'00', counts = x'00' where seq < 20 and (kind <> 8 or seq in (2, 3))";
    let fixture = fixture.reopened(&[unreadable]).await;
    assert_eq!(known(&fixture.find("shop").await), before);
}

#[tokio::test]
async fn a_snapshot_that_cannot_be_read_is_left_aside() {
    let damages = [
        "delete from objects",
        "update objects set bytes = x'00'",
        "update objects set version = 99",
        "update snapshots set root = x'6c6d7302'",
        "delete from objects where rowid % 2 = 0",
    ];
    for damage in damages {
        let fixture = Fixture::new(OFTEN).await;
        let open = fixture.create("shop", TEXT).await;
        work(&fixture, &open, 20).await;
        fixture.snapshot_after(&open, 8).await;
        let before = known(&open);
        let fixture = fixture.reopened(&[damage]).await;
        let open = fixture.find("shop").await;
        assert_eq!(known(&open), before, "{damage}");
        let findings = fixture.engine.doctor(|_| {}).await.unwrap().findings().count();
        assert_ne!(findings, 0, "{damage}");
        // And the program can be worked on.
        work(&fixture, &open, 20).await;
    }
}

#[tokio::test]
async fn old_revisions_are_built_from_the_snapshot_before_them() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    work(&fixture, &open, 60).await;
    fixture.snapshot_after(&open, 40).await;
    let mut states = Vec::new();
    for number in 1..=open.timeline.head().last {
        let state = fixture.engine.state(&open, number).await.unwrap().unwrap();
        states.push((number, state.entry.number, state.checked.program().root_hash()));
    }
    let fixture = fixture.reopened(&[]).await;
    let open = fixture.find("shop").await;
    for (number, entry, hash) in states {
        let state = fixture.engine.state(&open, number).await.unwrap().unwrap();
        assert_eq!((state.entry.number, state.checked.program().root_hash()), (entry, hash), "r{number}");
    }
}
