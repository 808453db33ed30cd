use lmlang_history::ChangeCounts;
use lmlang_history::log::{Actor, ActorKind, Header, RevisionKind};
use lmlang_ir::{RefAllocator, text};
use lmlang_verify::Checked;

use super::*;
use crate::opening::threads;

/// A revision of a program with about so many nodes.
fn revision(number: u64, nodes: usize) -> Arc<Revision> {
    let others = "  _ = const.i64 1\n".repeat(nodes - 1);
    let code = format!("module m\n\nfunc f() -> (i64) {{\n{others}  a = const.i64 1\n  return a\n}}\n");
    let program = text::parse_program(&code, &mut RefAllocator::starting_at(1));
    let program = program.unwrap_or_else(|errors| panic!("{errors:?}"));
    let entry = Header {
        number,
        id: [0; 16],
        parents: Vec::new(),
        branch: 0,
        branch_name: None,
        kind: RevisionKind::Edit,
        actor: Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None },
        on_behalf_of: None,
        message: None,
        time: 0,
        counts: ChangeCounts::default(),
        root_hash: program.root_hash(),
        next_ref: 1,
        target: None,
        reverts: Vec::new(),
        also_reverts: Vec::new(),
        resolved: Vec::new(),
        rests: Vec::new(),
        name: None,
        names: Vec::new(),
        idempotency: None,
        origin: None,
    };
    Arc::new(Revision { entry: Arc::new(entry), checked: Checked::full(program, threads()) })
}

fn numbers(window: &Window) -> Vec<u64> {
    window.newest_first().map(|revision| revision.entry.number).collect()
}

#[test]
fn revisions_are_kept_within_a_number_and_within_bytes() {
    let limits = Limits { revisions_in_memory: 4, revision_bytes_in_memory: 100 << 10, ..Limits::default() };
    let mut window = Window::of(&limits);
    for number in 1..=6 {
        let gone = window.push(revision(number, 1), 0);
        assert_eq!(gone.len(), usize::from(number > 4));
    }
    assert_eq!(numbers(&window), [6, 5, 4, 3]);
    assert_eq!(window.get(5).map(|revision| revision.entry.number), Some(5));
    assert!(window.get(2).is_none());
    // Large edits push out others, and the newest stays however large it is.
    assert_eq!(window.push(revision(7, 1), 24 << 10).len(), 3);
    assert_eq!(numbers(&window), [7, 6]);
    window.push(revision(8, 1), 1 << 20);
    assert_eq!(numbers(&window), [8]);
    window.push(revision(9, 1), 0);
    assert_eq!(numbers(&window), [9]);
    assert!(window.bytes() < 4 << 10);
}

#[test]
fn what_a_small_edit_removes_weighs_as_much_as_it_is() {
    let limits = Limits { revision_bytes_in_memory: 100 << 10, ..Limits::default() };
    let mut window = Window::of(&limits);
    window.push(revision(1, 1_000), 0);
    assert_eq!(numbers(&window), [1]);
    // The removed nodes live on in the first one.
    window.push(revision(2, 1), 10);
    assert_eq!(numbers(&window), [2]);
}
