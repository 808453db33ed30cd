//! Several engines over one database. A file has one; so these do nothing but on a server, and `cargo xtask test` runs
//! them there.

mod cut_off;
mod way;

use std::time::Duration;

use lmlang_engine::{
    Arrival, Call, Change, Distance, Engine, Error, Event, Events, Limits, MergeRequest, NewToken, Outcome,
    Proposal, RevertRequest, Scope, Selector, Unnamed, Way, Which,
};
use lmlang_history::log::ActorKind;
use lmlang_history::request::{AddText, EditRequest};
use lmlang_store::{Fault, Location, Options, Store};
use tokio::task::JoinSet;

use crate::fixture::{Fixture, OFTEN, call};

const TEXT: &str = "module app\n\nfunc price() -> (i64) {\n  a = const.i64 0\n  return a\n}\n";

/// Engines, and writers at each of them, and what each of those writes.
const ENGINES: usize = 3;
const WRITERS: usize = 4;
const EDITS: usize = 10;

/// An edit of `shop` that adds a function.
fn adds(name: &str) -> Proposal {
    let text = format!("func {name}() -> () pure {{\n  return\n}}\n");
    Proposal {
        program: Selector::Name("shop".to_owned()),
        branch: "main".to_owned(),
        base: None,
        edits: vec![EditRequest::AddText(AddText { module: Some("app".to_owned()), text })],
        dry_run: false,
        require_complete: false,
        verify_all: false,
    }
}

/// Carries an edit out, and answers with the number of its revision.
async fn apply(engine: &Engine, proposal: Proposal, call: &Call) -> u64 {
    match engine.propose(proposal, call).await.unwrap() {
        Outcome::Applied(applied) => applied.after.entry.number,
        other => panic!("{other:?}"),
    }
}

/// Waits until an engine knows of an entry.
async fn knows(engine: &Engine, number: u64) {
    let there = async {
        let open = engine.find(&Selector::Name("shop".to_owned())).await.unwrap();
        while open.timeline.head().last < number {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), there).await.expect("the entry arrives");
}

async fn next(events: &mut Events) -> Option<Event> {
    let told = tokio::time::timeout(Duration::from_secs(30), events.recv()).await.expect("an event comes");
    told.transpose().unwrap().map(|told| told.event)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_edit_of_any_replica_is_lost() {
    let fixture = Fixture::new(OFTEN).await;
    if fixture.db.is_file() {
        return;
    }
    fixture.create("shop", TEXT).await;
    let mut engines = vec![fixture.engine.clone()];
    while engines.len() < ENGINES {
        engines.push(fixture.replica().await);
    }
    let mut writers = JoinSet::new();
    for (at, engine) in engines.iter().enumerate() {
        for writer in 0..WRITERS {
            let engine = engine.clone();
            writers.spawn(async move {
                let mut made = Vec::new();
                for edit in 0..EDITS {
                    let name = format!("f_{at}_{writer}_{edit}");
                    made.push((apply(&engine, adds(&name), &call()).await, name));
                }
                made
            });
        }
    }
    let mut made: Vec<(u64, String)> = writers.join_all().await.into_iter().flatten().collect();
    made.sort();
    let numbers: Vec<u64> = made.iter().map(|(number, _)| *number).collect();
    let last = 1 + (ENGINES * WRITERS * EDITS) as u64;
    assert_eq!(numbers, (2..=last).collect::<Vec<_>>(), "each edit is one entry, and the log has no others");
    let mut hashes = Vec::new();
    for engine in &engines {
        knows(engine, last).await;
        let open = engine.find(&Selector::Name("shop".to_owned())).await.unwrap();
        let program = open.timeline.head().main.revision.checked.program().clone();
        assert_eq!(program.functions().count() as u64, last);
        hashes.push(program.root_hash());
    }
    hashes.dedup();
    assert_eq!(hashes.len(), 1);
    let checkup = fixture.engine.doctor(|_| {}).await.unwrap();
    assert_eq!(checkup.findings().collect::<Vec<_>>(), Vec::<String>::new());
    for engine in &engines[1..] {
        engine.close().await;
    }
}

/// It is no matter of the database: who has the log lets it go some time.
#[tokio::test(flavor = "multi_thread")]
async fn who_waits_in_vain_for_a_log_that_is_held_is_told_so() {
    let fixture = Fixture::new(OFTEN).await;
    if fixture.db.is_file() {
        return;
    }
    let open = fixture.create("shop", TEXT).await;
    let location = Location::parse(&fixture.db.to_string()).unwrap();
    let busy_timeout = Duration::from_millis(500);
    let store = Store::open(Options { busy_timeout, ..Options::new(location) }).await.unwrap();
    let there = Engine::new(store, Limits::default(), OFTEN);
    let here = fixture.engine.store();
    let held = here.hold(open.timeline.key()).await.unwrap().expect("the program is there");
    let late = there.propose(adds("late"), &call()).await;
    assert!(matches!(late, Err(Error::Storage(Fault::Held))), "{late:?}");
    here.committer().settle(held);
    assert_eq!(apply(&there, adds("late"), &call()).await, 2);
    there.close().await;
}

/// What is sealed for a caller who may know of some programs only, every replica reads, whichever was the first to need the key.
#[tokio::test(flavor = "multi_thread")]
async fn a_sealed_cursor_of_one_replica_is_read_by_the_others() {
    let fixture = Fixture::new(OFTEN).await;
    if fixture.db.is_file() {
        return;
    }
    fixture.create("shop", TEXT).await;
    let engines = [fixture.engine.clone(), fixture.replica().await, fixture.replica().await];
    let programs = Some(vec![Selector::Name("shop".to_owned())]);
    let (kind, scopes) = (ActorKind::Agent, vec![Scope::Edit]);
    let new = NewToken { name: "planner".to_owned(), kind, scopes, programs, expires: None };
    let (_, secret) = engines[0].create_token(new, &call().actor).await.unwrap();
    let mut asked = JoinSet::new();
    for engine in engines.clone() {
        let secret = secret.clone();
        asked.spawn(async move {
            let grant = engine.admit(Some(secret.reveal()), Unnamed::Nobody).await.unwrap();
            let seen = grant.engine().expect("it is limited").clone();
            let cursor = seen.cursor().await.unwrap();
            (seen, cursor)
        });
    }
    let asked = asked.join_all().await;
    apply(&fixture.engine, adds("one"), &call()).await;
    for (seen, _) in &asked {
        for (_, cursor) in &asked {
            let mut events = seen.all_events(Some(*cursor)).await.unwrap();
            assert!(matches!(next(&mut events).await, Some(Event::Entry(entry)) if entry.number == 2));
        }
    }
    for engine in &engines[1..] {
        engine.close().await;
    }
}

#[tokio::test]
async fn a_token_that_one_has_made_is_good_at_the_others_at_once() {
    let fixture = Fixture::new(OFTEN).await;
    if fixture.db.is_file() {
        return;
    }
    let there = fixture.replica().await;
    for name in ["one", "two", "three"] {
        let (kind, scopes) = (ActorKind::Agent, vec![Scope::Read]);
        let new = NewToken { name: name.to_owned(), kind, scopes, programs: None, expires: None };
        let (_, secret) = fixture.engine.create_token(new, &call().actor).await.unwrap();
        let grant = there.admit(Some(secret.reveal()), Unnamed::Nobody).await.unwrap();
        assert_eq!(grant.token().map(|token| token.name.as_str()), Some(name));
    }
    let unknown = "lml_AAAAAAAA_0123456789012345678901234567890123456789012";
    assert!(there.admit(Some(unknown), Unnamed::Nobody).await.is_err());
    there.close().await;
}

#[tokio::test]
async fn what_one_replica_does_the_others_tell() {
    let fixture = Fixture::new(OFTEN).await;
    if fixture.db.is_file() {
        return;
    }
    fixture.create("shop", TEXT).await;
    let (here, there) = (&fixture.engine, fixture.replica().await);
    let open = there.find(&Selector::Name("shop".to_owned())).await.unwrap();
    let mut events = there.events(&open, None).await.unwrap();
    let mut all = there.all_events(None).await.unwrap();

    apply(here, adds("one"), &call()).await;
    assert!(matches!(next(&mut events).await, Some(Event::Entry(entry)) if entry.number == 2));
    assert!(matches!(next(&mut all).await, Some(Event::Entry(entry)) if entry.number == 2));

    fixture.create("bank", TEXT).await;
    let added = next(&mut all).await;
    assert!(
        matches!(&added, Some(Event::Program { name, change: Change::Added, .. }) if name == "bank"),
        "{added:?}"
    );
    assert!(matches!(next(&mut all).await, Some(Event::Entry(entry)) if entry.number == 1));

    let shop = Selector::Id(open.timeline.id());
    here.update_program(&shop, Some("store"), None, &call()).await.unwrap();
    let renamed = next(&mut events).await;
    assert!(
        matches!(&renamed, Some(Event::Program { name, change: Change::Renamed, .. }) if name == "store"),
        "{renamed:?}"
    );
    assert_eq!(open.info().name, "store");

    assert!(here.delete_program(&shop, &call()).await.unwrap());
    assert!(matches!(next(&mut events).await, Some(Event::Program { change: Change::Removed, .. })));
    assert!(next(&mut events).await.is_none());
    let gone = there.find(&shop).await.unwrap_err();
    assert!(matches!(gone, Error::NotFound { retired: true, .. }), "{gone:?}");
    there.close().await;
}

#[tokio::test]
async fn a_replica_that_is_behind_goes_on_from_what_others_did() {
    let fixture = Fixture::new(OFTEN).await;
    if fixture.db.is_file() {
        return;
    }
    fixture.create("shop", TEXT).await;
    let (here, there) = (&fixture.engine, fixture.replica().await);
    knows(&there, 1).await;

    // A key answers everywhere, whichever replica carried its request out.
    let keyed = call().keyed(Some("k"), b"one");
    let first = apply(here, adds("one"), &keyed).await;
    assert_eq!(apply(&there, adds("one"), &keyed).await, first);

    // A number that another has just answered is known.
    let second = apply(here, adds("two"), &call()).await;
    let stale = Proposal { base: Some(format!("r{second}")), dry_run: true, ..adds("dry") };
    apply(&there, stale, &call()).await;
    let open = there.find(&Selector::Name("shop".to_owned())).await.unwrap();
    // What one made, another takes back, before it was told.
    apply(&there, adds("three"), &call()).await;
    assert_eq!(open.timeline.head().last, 4);
    let undone = there.travel(&open, &undo(2), &call()).await.unwrap();
    assert!(matches!(undone, Arrival::Made { committed: true, .. }), "{undone:?}");
    knows(here, 5).await;

    // Branches are known by all.
    let open = here.find(&Selector::Name("shop".to_owned())).await.unwrap();
    here.create_branch(&open, "draft", None, &call()).await.unwrap();
    let draft = Proposal { branch: "draft".to_owned(), ..adds("four") };
    knows(&there, 6).await;
    assert_eq!(apply(&there, draft, &call()).await, 7);
    knows(here, 7).await;
    let checkup = fixture.engine.doctor(|_| {}).await.unwrap();
    assert_eq!(checkup.findings().collect::<Vec<_>>(), Vec::<String>::new());
    there.close().await;
}

/// A number that one has answered is known by the others, as a revision and as a place in the events, whatever they are storing.
#[tokio::test(flavor = "multi_thread")]
async fn what_one_has_answered_the_others_know_while_they_write() {
    let fixture = Fixture::new(OFTEN).await;
    if fixture.db.is_file() {
        return;
    }
    let shop = fixture.create("shop", TEXT).await;
    let (here, there) = (&fixture.engine, fixture.replica().await);
    let open = there.find(&Selector::Name("shop".to_owned())).await.unwrap();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let there = there.clone();
        writers.spawn(async move {
            for edit in 0..EDITS {
                apply(&there, adds(&format!("there_{writer}_{edit}")), &call()).await;
            }
        });
    }
    for edit in 0..EDITS {
        let made = apply(here, adds(&format!("here_{edit}")), &call()).await;
        there.events(&open, Some(made)).await.unwrap();
        let made = apply(here, adds(&format!("and_{edit}")), &call()).await;
        let found = there.revision(&open, Some(&format!("r{made}"))).await.unwrap();
        assert_eq!(found.entry.number, made);
        let made = apply(here, adds(&format!("then_{edit}")), &call()).await;
        there.come_to(&open, made).await.unwrap();
        assert!(there.state(&open, made).await.unwrap().is_some());
        let branch = format!("draft_{edit}");
        here.create_branch(&shop, &branch, None, &call()).await.unwrap();
        apply(&there, Proposal { branch, ..adds(&format!("on_{edit}")) }, &call()).await;
    }
    writers.join_all().await;
    there.close().await;
}

/// What one has named, the others know by that name when they change something.
#[tokio::test]
async fn what_one_has_named_the_others_know_when_they_change_something() {
    let fixture = Fixture::new(OFTEN).await;
    if fixture.db.is_file() {
        return;
    }
    let open = fixture.create("shop", TEXT).await;
    let (here, there) = (&fixture.engine, fixture.replica().await);
    let open_there = there.find(&Selector::Name("shop".to_owned())).await.unwrap();
    for round in 0..5 {
        let draft = format!("draft{round}");
        here.create_branch(&open, &draft, None, &call()).await.unwrap();
        let edit = Proposal { branch: draft.clone(), ..adds(&format!("a{round}")) };
        let made = apply(here, edit, &call()).await;
        let travel = lmlang_engine::Travel { branch: draft.clone(), ..undo(1) };
        let undone = there.travel(&open_there, &travel, &call()).await.unwrap();
        assert!(matches!(undone, Arrival::Made { committed: true, .. }), "{undone:?}");

        let name = format!("then{round}");
        here.create_checkpoint(&open, &name, Some(&format!("r{made}")), &call()).await.unwrap();
        let begun =
            there.create_branch(&open_there, &format!("at{round}"), Some(&name), &call()).await.unwrap();
        assert_eq!(begun.head.entry.number, made);

        let newest = apply(here, adds(&format!("b{round}")), &call()).await;
        let named = there.create_checkpoint(&open_there, &format!("now{round}"), Some("main"), &call()).await;
        assert_eq!(named.unwrap().revision, newest);
    }
    there.close().await;
}

/// What one has named, the others know by that name when they look at it, and by the hash of what it is.
#[tokio::test]
async fn what_one_has_named_the_others_know_when_they_look_at_it() {
    let fixture = Fixture::new(OFTEN).await;
    if fixture.db.is_file() {
        return;
    }
    let open = fixture.create("shop", TEXT).await;
    let (here, there) = (&fixture.engine, fixture.replica().await);
    let open_there = there.find(&Selector::Name("shop".to_owned())).await.unwrap();
    for round in 0..10 {
        let branch = format!("draft{round}");
        let begun = here.create_branch(&open, &branch, None, &call()).await.unwrap();
        let found = there.revision(&open_there, Some(&branch)).await.unwrap();
        assert_eq!(found.entry.number, begun.head.entry.number);

        let checkpoint = format!("then{round}");
        let made = here.create_checkpoint(&open, &checkpoint, Some("main"), &call()).await.unwrap();
        let entry = there.entry_named(&open_there, &checkpoint).await.unwrap();
        assert_eq!(entry.number, made.revision);

        let made = apply(here, adds(&format!("a{round}")), &call()).await;
        let here_now = here.revision(&open, Some(&format!("r{made}"))).await.unwrap();
        let found = there.revision(&open_there, Some(&here_now.entry.root_hash.to_string())).await.unwrap();
        assert_eq!(found.entry.number, made);
    }
    let unknown = there.revision(&open_there, Some("nobodys")).await.err();
    assert!(matches!(unknown, Some(Error::NotFound { what: "revision", .. })), "{unknown:?}");
    there.close().await;
}

/// Whoever asks a replica right after another has answered is not told of what was before.
#[tokio::test]
async fn a_refusal_is_about_the_newest_head() {
    let fixture = Fixture::new(OFTEN).await;
    if fixture.db.is_file() {
        return;
    }
    let open = fixture.create("shop", TEXT).await;
    let (here, there) = (&fixture.engine, fixture.replica().await);
    here.create_branch(&open, "draft", None, &call()).await.unwrap();
    knows(&there, 2).await;
    let open_there = there.find(&Selector::Name("shop".to_owned())).await.unwrap();
    let revert =
        |which| RevertRequest { branch: "main".to_owned(), which, expected_head: None, dry_run: false };
    let merge = MergeRequest {
        from: "draft".to_owned(),
        into: "main".to_owned(),
        resolutions: Vec::new(),
        expected_head: None,
        dry_run: false,
    };
    let eve = call().actor.name;
    for round in 0..5 {
        let made = apply(here, adds(&format!("a{round}")), &call()).await;
        let which = Which::Revisions(vec![format!("r{made}")]);
        let reverted = there.revert(&open_there, &revert(which), &call()).await.unwrap();
        assert!(matches!(reverted.arrival, Arrival::Made { .. }), "{:?}", reverted.arrival);

        apply(here, adds(&format!("b{round}")), &call()).await;
        let own = there.revert(&open_there, &revert(Which::Newest(eve.clone(), 1)), &call()).await.unwrap();
        assert!(matches!(own.arrival, Arrival::Made { .. }), "{:?}", own.arrival);
        let again = here.revert(&open, &revert(Which::TakenBack(eve.clone(), 1)), &call()).await.unwrap();
        assert!(matches!(again.arrival, Arrival::Made { .. }), "{:?}", again.arrival);

        let draft = Proposal { branch: "draft".to_owned(), ..adds(&format!("c{round}")) };
        apply(here, draft, &call()).await;
        let merged = there.merge(&open_there, &merge, &call()).await.unwrap();
        assert!(matches!(merged, Arrival::Made { .. }), "{merged:?}");

        // What stood against a change is gone.
        let taken = apply(here, adds(&format!("e{round}")), &call()).await;
        knows(&there, taken).await;
        here.travel(&open, &undo(1), &call()).await.unwrap();
        apply(&there, adds(&format!("e{round}")), &call()).await;
    }
    there.close().await;
}

fn undo(steps: u64) -> lmlang_engine::Travel {
    let way = Way::Undo(Distance::Steps(steps));
    lmlang_engine::Travel { branch: "main".to_owned(), way, expected_head: None, dry_run: false }
}

/// Edits of each of two writers while connections are lost.
const INTERRUPTED: usize = 30;

/// Acknowledged edits between two losses.
const BETWEEN: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_lost_at_any_moment_lose_and_repeat_no_edit() {
    let fixture = Fixture::new(OFTEN).await;
    if fixture.db.is_file() {
        return;
    }
    fixture.create("shop", TEXT).await;
    let engines = [fixture.engine.clone(), fixture.replica().await];
    let (acknowledge, mut acknowledged) = tokio::sync::mpsc::unbounded_channel();
    let mut writers = JoinSet::new();
    for (at, engine) in engines.iter().enumerate() {
        let (engine, acknowledge) = (engine.clone(), acknowledge.clone());
        writers.spawn(async move {
            let mut made = Vec::new();
            for edit in 0..INTERRUPTED {
                let name = format!("f_{at}_{edit}");
                let keyed = call().keyed(Some(&name), name.as_bytes());
                made.push(loop {
                    match engine.propose(adds(&name), &keyed).await {
                        Ok(Outcome::Applied(applied)) => break applied.after.entry.number,
                        Ok(other) => panic!("{other:?}"),
                        // Whether it is stored is not known: the key finds it out.
                        Err(Error::Storage(_) | Error::Overloaded { .. }) => {}
                        Err(error) => panic!("{error:?}"),
                    }
                });
                acknowledge.send(()).unwrap();
            }
            made
        });
    }
    drop(acknowledge);
    let mut count = 0;
    while acknowledged.recv().await.is_some() {
        count += 1;
        if count % BETWEEN == 0 {
            fixture.db.disconnect_all().await;
        }
    }
    let mut made: Vec<u64> = writers.join_all().await.into_iter().flatten().collect();
    made.sort_unstable();
    let last = 1 + 2 * INTERRUPTED as u64;
    assert_eq!(made, (2..=last).collect::<Vec<_>>());
    for engine in &engines {
        knows(engine, last).await;
    }
    let checkup = fixture.engine.doctor(|_| {}).await.unwrap();
    assert_eq!(checkup.findings().collect::<Vec<_>>(), Vec::<String>::new());
    engines[1].close().await;
}
