//! Opening a program from its snapshots and its log.

use lmlang_engine::{Distance, Head, OpenProgram, SnapshotPolicy, Tip, Way};
use lmlang_history::line::Line;
use lmlang_history::snapshot::{self, State};
use lmlang_store::{Object, Snapshot};

use crate::fixture::{Fixture, OFTEN, call};

pub(crate) const TEXT: &str =
    "module app\n\nfunc price(a: i64) -> (i64) {\n  b = const.i64 0\n  c = add.i64 a, b\n  return c\n}\n";

pub(crate) fn price(step: u64) -> String {
    let chain: String = (0..step % 7).map(|i| format!("  x{i} = const.i64 {}\n", i * 31 + step)).collect();
    format!(
        "func price(a: i64) -> (i64) {{\n  b = const.i64 {step}\n{chain}  c = add.i64 a, b\n  return c\n}}\n"
    )
}

/// What a program is known by: all of it must be the same after it was opened again.
pub(crate) async fn known(fixture: &Fixture, open: &OpenProgram) -> String {
    let head = open.timeline.head();
    let names: Vec<_> = head.checkpoints.iter().map(|it| (it.name.clone(), it.revision)).collect();
    let mut known = format!("{} entries, {names:?}\n", head.last);
    for name in branches(&head) {
        let Tip { branch, revision, line, provenance, .. } =
            fixture.engine.tip(open, &head, &name).await.unwrap();
        let (hash, touched) = (revision.checked.program().root_hash(), provenance.map().hash());
        let number = revision.entry.number;
        known += &format!("{name} {branch}: r{number}, {hash}, {touched}, {line:?}\n");
    }
    known
}

fn branches(head: &Head) -> Vec<String> {
    head.branches.iter().map(|branch| branch.name.clone()).chain(["main".to_owned()]).collect()
}

/// Changes of all kinds on all branches, `rounds` times.
pub(crate) async fn work(fixture: &Fixture, open: &OpenProgram, rounds: u64) {
    work_with(fixture, open, rounds, true).await;
}

/// Changes of all kinds, `rounds` times; with branches, or on `main` alone.
async fn work_with(fixture: &Fixture, open: &OpenProgram, rounds: u64, branching: bool) {
    for step in 0..rounds {
        let head = open.timeline.head();
        let (number, names) = (head.last, branches(&head));
        let branch = &names[(number as usize * 7) % names.len()];
        match step % 11 {
            3 | 5 => drop(fixture.travel_on(branch, open, Way::Undo(Distance::Steps(1 + step % 2))).await),
            6 => drop(fixture.travel_on(branch, open, Way::Redo(Distance::Steps(1))).await),
            7 => {
                let name = format!("at {number}");
                fixture.engine.create_checkpoint(open, &name, Some(branch), &call()).await.map(drop).unwrap();
            }
            2 | 8 if branching => {
                let (name, at) = (format!("from {number}"), format!("r{}", number.div_ceil(2)));
                let at = if step % 2 == 0 { branch } else { &at };
                fixture.engine.create_branch(open, &name, Some(at), &call()).await.map(drop).unwrap();
            }
            10 if branch != "main" => fixture.engine.delete_branch(open, branch, &call()).await.unwrap(),
            _ => fixture.replace_on(branch, "shop", "app::price", &price(number)).await,
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
        let before = known(&fixture, &open).await;
        fixture = fixture.reopened(&[]).await;
        open = fixture.find("shop").await;
        assert_eq!(known(&fixture, &open).await, before);
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
    work_with(&fixture, &open, 40, false).await;
    fixture.snapshot_after(&open, 20).await;
    let before = known(&fixture, &open).await;
    // Of older entries only those of the checkpoints that there are.
    let unreadable =
        "update log set edits = x'00', counts = x'00' where seq < 20 and (kind <> 8 or seq in (2, 3))";
    let fixture = fixture.reopened(&[unreadable]).await;
    assert_eq!(known(&fixture, &fixture.find("shop").await).await, before);
}

/// Rows that cannot be read are findings like others.
#[tokio::test]
async fn the_doctor_names_rows_that_cannot_be_read() {
    for (column, value) in [("kind", "77"), ("kind", "-7"), ("parents", "x'ff'"), ("root_hash", "x'00'")] {
        let fixture = Fixture::new(OFTEN).await;
        let open = fixture.create("shop", TEXT).await;
        work(&fixture, &open, 6).await;
        let damage = format!("update log set {column} = {value} where seq = 3");
        let fixture = fixture.reopened(&[&damage]).await;
        let findings: Vec<String> = fixture.engine.doctor(|_| {}).await.unwrap().findings().collect();
        let expected = format!("entry 3: `{column}` cannot be read");
        assert!(findings.iter().any(|found| found.ends_with(&expected)), "{damage}: {findings:?}");
    }
}

#[tokio::test]
async fn a_snapshot_that_cannot_be_read_is_left_aside() {
    let damages = [
        "delete from objects",
        "update objects set bytes = x'00'",
        "update objects set version = 99",
        "update snapshots set root = x'6c6d7302'",
        "delete from objects where length(bytes) % 2 = 0",
    ];
    for damage in damages {
        let fixture = Fixture::new(OFTEN).await;
        let open = fixture.create("shop", TEXT).await;
        work(&fixture, &open, 20).await;
        fixture.snapshot_after(&open, 8).await;
        let before = known(&fixture, &open).await;
        let fixture = fixture.reopened(&[damage]).await;
        let open = fixture.find("shop").await;
        assert_eq!(known(&fixture, &open).await, before, "{damage}");
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

#[tokio::test]
async fn a_new_branch_leaves_what_was_undone_alone() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    for step in 1..4 {
        fixture.replace("shop", "app::price", &price(step)).await;
    }
    assert!(fixture.travel(&open, Way::Undo(Distance::Steps(1))).await);
    // As many as make a snapshot due.
    for step in 0..12 {
        fixture.engine.create_branch(&open, &format!("b{step}"), None, &call()).await.map(drop).unwrap();
    }
    fixture.snapshot_after(&open, 5).await;
    let before = known(&fixture, &open).await;
    let fixture = fixture.reopened(&[]).await;
    let open = fixture.find("shop").await;
    assert_eq!(known(&fixture, &open).await, before);
    assert!(fixture.travel(&open, Way::Redo(Distance::Steps(1))).await);
}

#[tokio::test]
async fn a_snapshot_with_another_undo_line_is_found() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    work(&fixture, &open, 20).await;
    fixture.snapshot_after(&open, 8).await;
    let number = fixture.snapshots(&open).await[0];
    let state = fixture.engine.state(&open, number).await.unwrap().unwrap();
    let program = state.checked.program().clone();
    let forged = State {
        number,
        next_ref: state.entry.next_ref,
        line: Line::from_stacks([1..=1], []),
        program,
        ..State::before_all()
    };
    let written = snapshot::write(&forged, None);
    let plain = |one: snapshot::Object| Object { hash: one.key, version: 2, bytes: one.bytes };
    let objects = written.objects.into_iter().map(plain).collect();
    let snapshot = Snapshot { program: open.timeline.key(), seq: number, root: written.root };
    fixture.engine.store().put_snapshot(snapshot, objects).await.unwrap();
    let checkup = fixture.engine.doctor(|_| {}).await.unwrap();
    let expect = format!("program `shop`, r{number}: its snapshot has another undo line");
    assert_eq!(checkup.content.iter().map(ToString::to_string).collect::<Vec<_>>(), [expect]);
}

/// However large a share of the log it takes.
#[tokio::test]
async fn a_program_that_is_closed_with_a_long_tail_has_it_in_a_snapshot() {
    // There is one by itself after four entries, and another never.
    let policy = SnapshotPolicy { entries: 4, bytes: u64::MAX, share: u64::MAX >> 32 };
    let mut fixture = Fixture::new(policy).await;
    let open = fixture.create("shop", TEXT).await;
    work_with(&fixture, &open, 4, false).await;
    fixture.snapshot_after(&open, 2).await;
    drop(open);
    for (tail, newest) in [(9, true), (2, false)] {
        let open = fixture.find("shop").await;
        work_with(&fixture, &open, tail, false).await;
        let before = known(&fixture, &open).await;
        let main = open.timeline.head().main.revision.entry.number;
        assert!(!fixture.snapshots(&open).await.contains(&main));
        drop(open);
        fixture = fixture.reopened(&[]).await;
        let open = fixture.find("shop").await;
        assert_eq!(known(&fixture, &open).await, before);
        assert_eq!(fixture.snapshots(&open).await.contains(&main), newest, "after {tail}");
    }
}
