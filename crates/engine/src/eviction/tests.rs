use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use lmlang_history::log::{Actor, ActorKind};
use lmlang_history::request::{AddText, EditRequest};
use lmlang_interp::{Environment, TraceLevel};
use lmlang_ir::Program;
use lmlang_store::{Options, Store};

use super::*;
use crate::tournament::TournamentRequest;
use crate::{
    Batching, Bounds, Call, Creation, Limits, NewProgramRequest, Outcome, Proposal, RunRequest, Selector,
    SnapshotPolicy,
};

fn call() -> Call {
    Call::by(Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None })
}

async fn engine(folder: &Path, limits: Limits) -> Engine {
    let store = Store::open(Options::file(folder.join("lmlang.db"))).await.unwrap();
    Engine::new(store, limits, SnapshotPolicy { entries: u64::MAX, bytes: u64::MAX, share: 0 })
}

async fn create(engine: &Engine, name: &str) -> OpenProgram {
    let text = Some(format!("module {name}\n\nfunc one() -> (i64) {{\n  return 1\n}}\n"));
    let request = NewProgramRequest { name: name.to_owned(), doc: String::new(), content: text.into() };
    match engine.create_program(request, &call()).await.unwrap() {
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
    let engine = engine(folder.path(), Limits { open_programs: 2, ..Limits::default() }).await;
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

/// A simulation that nobody looks at keeps no program open: both come back for whoever asks for it.
#[tokio::test]
async fn what_was_run_keeps_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), Limits { open_programs: 1, ..Limits::default() }).await;
    let used = create(&engine, "a").await;
    let revision = Arc::clone(&used.timeline.head().main.revision);
    let request = RunRequest {
        function: revision.checked.program().functions().next().unwrap().0,
        args: Vec::new(),
        bounds: Bounds::default(),
        environment: Environment::default(),
        trace: TraceLevel::Nodes,
        tier: None,
    };
    let batching = Batching { steps: 100, latency: Duration::from_secs(1), pulse: Duration::from_secs(60) };
    let (simulation, mut batches) = engine.stream(&used, &revision, request, batching).await.unwrap();
    let id = simulation.id;
    while batches.recv().await.is_some() {}
    drop((used, revision, simulation));
    let stored = async {
        while engine.0.simulations.kept().left().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), stored).await.expect("how it ended is stored");
    create(&engine, "b").await;
    assert_eq!(open(&engine), ["b"]);
    let back = engine.simulation(id).await.unwrap().expect("it is brought back");
    assert!(back.report().is_some());
    assert!(open(&engine).contains(&"a".to_owned()));
}

/// A tournament that is remembered keeps no program open: whoever looks at it opens that again.
#[tokio::test]
async fn a_tournament_keeps_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), Limits { open_programs: 1, ..Limits::default() }).await;
    let used = create(&engine, "a").await;
    let text = "func two() -> (i64) {\n  return 2\n}\n".to_owned();
    let request = TournamentRequest {
        program: Selector::Id(used.info().id),
        base: None,
        candidates: vec![vec![EditRequest::AddText(AddText { module: Some("a".to_owned()), text })]],
        gates: BTreeSet::new(),
        timeout: Duration::from_secs(10),
        fuel: None,
    };
    let (tournament, tried, ranked) = engine.tournament(request, &call()).await.unwrap();
    let id = tournament.id.to_string();
    drop((used, tournament, tried, ranked));
    create(&engine, "b").await;
    assert_eq!(open(&engine), ["b"]);
    let found = engine.tournament_of(&id, "ada").await.expect("it is remembered");
    let again = engine.find(&Selector::Id(found.program)).await.unwrap();
    let row = found.row(0).await.expect("there is a candidate");
    let Outcome::Applied(applied) = Arc::unwrap_or_clone(row.outcome) else {
        panic!("the candidate has no errors");
    };
    assert_eq!((again.info().name.as_str(), applied.committed), ("a", false));
    assert_eq!(applied.after.checked.program().functions().count(), 2);
}

#[tokio::test]
async fn the_newest_states_of_branches_are_counted_as_far_as_they_are_held_beside_main() {
    let folder = tempfile::tempdir().unwrap();
    let first = engine(folder.path(), Limits::default()).await;
    let open = create(&first, "a").await;
    let before = weight(&open);
    first.create_branch(&open, "side", None, &call()).await.unwrap();
    assert_eq!(weight(&open), before);
    let text = "func two() -> (i64) {\n  return 2\n}\n".to_owned();
    let proposal = Proposal {
        program: Selector::Id(open.timeline.id()),
        branch: "side".to_owned(),
        base: None,
        edits: vec![EditRequest::AddText(AddText { module: Some("a".to_owned()), text })],
        dry_run: false,
        require_complete: false,
        verify_all: false,
    };
    let Outcome::Applied(applied) = first.propose(proposal, &call()).await.unwrap() else {
        panic!("the edit has no errors");
    };
    let nodes = |program: &Program| program.totals().counts.nodes;
    let (main, side) = (nodes(applied.before.checked.program()), nodes(applied.after.checked.program()));
    // It has the other nodes in common with `main`; the revision counts among the newest.
    let beside = open.timeline.bytes_beside();
    assert_eq!(weight(&open), PROGRAM + node_bytes(side) + beside);
    assert_ne!(main, side);
    drop((open, applied));
    first.close().await;
    let second = engine(folder.path(), Limits::default()).await;
    let open = second.find(&Selector::Name("a".to_owned())).await.unwrap();
    let before = weight(&open);
    second.tip(&open, &open.timeline.head(), "side").await.unwrap();
    // Built again from the log, it has nothing in common with what was opened.
    assert_eq!(weight(&open), before + node_bytes(side));
}
