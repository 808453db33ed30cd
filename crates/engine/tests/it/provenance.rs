//! Who changed what last, beside a model that walks through the whole log and knows nothing of ways and of what states have in
//! common.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use lmlang_engine::{
    Arrival, Call, ChangedNodes, Distance, MergeRequest, OpenProgram, Outcome, Place, Proposal, Resolution,
    Selector, Travel, Way,
};
use lmlang_history::Edit;
use lmlang_history::log::{Actor, ActorKind, RevisionKind};
use lmlang_history::merge::Side;
use lmlang_history::request::{EditRequest, ModifyNode, Rename};
use lmlang_ir::Ref;
use lmlang_testkit::Choices;

use crate::fixture::{Fixture, OFTEN};

const TEXT: &str = "module app

func one#f2 () -> (i64) {
  return (add.i64 1#n3, 2#n4)
}

func two#f5 () -> (i64) {
  return (add.i64 3#n6, 4#n7)
}
";

const CONSTANTS: [(&str, &str); 4] = [("n3", "f2"), ("n4", "f2"), ("n6", "f5"), ("n7", "f5")];
const BRANCHES: [&str; 3] = ["main", "left", "right"];
const PEOPLE: [&str; 3] = ["ada", "bob", "carol"];

/// Entries by what they have changed.
type Changes = BTreeMap<Ref, BTreeSet<u64>>;

/// What is known after an entry.
#[derive(Clone, Debug, Default)]
struct After {
    last: BTreeMap<Ref, u64>,
    /// All changes on the line of its content, and on those of what was merged.
    content: Changes,
}

fn name(of: &str) -> Ref {
    of.parse().expect("it is a ref")
}

fn beyond(one: &Changes, other: &Changes, of: Ref) -> bool {
    let none = BTreeSet::new();
    !one.get(&of).unwrap_or(&none).is_subset(other.get(&of).unwrap_or(&none))
}

fn together(one: &Changes, other: &Changes) -> Changes {
    let mut all = one.clone();
    for (of, changes) in other {
        all.entry(*of).or_default().extend(changes);
    }
    all
}

/// What is known after each entry of a log.
async fn model(fixture: &Fixture, open: &OpenProgram) -> Vec<After> {
    let mut known = vec![After::default()];
    for number in 1..=open.timeline.head().last {
        let header = fixture.engine.header(open, number).await.unwrap().unwrap();
        let edits = fixture.engine.edits(open, number).await.unwrap();
        let mut touched: BTreeSet<Ref> = edits.iter().map(Edit::subject).collect();
        touched.extend(edits.iter().filter_map(Edit::function).map(Ref::from));
        if number == 1 {
            touched.extend(CONSTANTS.map(|(of, _)| name(of)));
        }
        let parent = header.parents.first().map_or(0, |parent| *parent as usize);
        let mut after = known[parent].clone();
        let went_to = header.target.filter(|_| header.kind.takes_target_state());
        let went_to = went_to.map(|target| known[target as usize].clone());
        if let Some(target) = &went_to {
            // Whatever the way there had to change.
            after = target.clone();
        }
        let mut settled: BTreeSet<Ref> = header.resolved.iter().copied().collect();
        let inside = edits.iter().filter(|edit| settled.contains(&edit.subject()));
        settled.extend(inside.filter_map(Edit::function).map(Ref::from).collect::<Vec<_>>());
        let theirs = header.parents.get(1).map(|theirs| known[*theirs as usize].clone());
        for of in touched {
            let passed = theirs
                .as_ref()
                .filter(|theirs| !settled.contains(&of) && !beyond(&after.content, &theirs.content, of));
            // Who goes back or forward has not done what is there then.
            let last = passed.or(went_to.as_ref()).map_or(number, |passed| passed.last[&of]);
            after.last.insert(of, last);
            // What states do not tell of is no part of them.
            let is_told = !header.kind.takes_target_state();
            if is_told && (header.kind != RevisionKind::Merge || settled.contains(&of)) {
                after.content.entry(of).or_default().insert(number);
            }
        }
        if let Some(theirs) = theirs {
            after.content = together(&after.content, &theirs.content);
        }
        known.push(after);
    }
    known
}

/// A log, for whoever reads of a failure.
async fn told(fixture: &Fixture, open: &OpenProgram) -> String {
    let mut told = String::new();
    for number in 1..=open.timeline.head().last {
        let header = fixture.engine.header(open, number).await.unwrap().unwrap();
        let edits = fixture.engine.edits(open, number).await.unwrap();
        let (kind, parents, target, branch) = (header.kind, &header.parents, header.target, header.branch);
        let subjects: Vec<String> = edits.iter().map(|edit| edit.subject().to_string()).collect();
        let resolved = &header.resolved;
        writeln!(
            told,
            "r{number} on {branch}: {kind:?} of {parents:?} to {target:?}: {subjects:?}, {resolved:?}"
        )
        .expect("it is a string");
    }
    told
}

async fn propose(fixture: &Fixture, branch: &str, edit: EditRequest, call: &Call) -> Outcome {
    let proposal = Proposal {
        program: Selector::Name("p".to_owned()),
        branch: branch.to_owned(),
        base: None,
        edits: vec![edit],
        dry_run: false,
        require_complete: false,
        verify_all: false,
    };
    fixture.engine.propose(proposal, call).await.unwrap()
}

fn by(name: &str) -> Call {
    Call::by(Actor { name: name.to_owned(), kind: ActorKind::Agent, client: None })
}

struct Session {
    fixture: Fixture,
    open: OpenProgram,
    choices: Choices,
}

impl Session {
    fn call(&mut self) -> Call {
        by(self.choices.pick(&PEOPLE).expect("there are some"))
    }

    fn branch(&mut self) -> String {
        self.choices.pick(&BRANCHES).expect("there are some").to_string()
    }

    fn edit(&mut self) -> EditRequest {
        let of = self.choices.pick(&CONSTANTS).expect("there are some").0.to_owned();
        match self.choices.below(3) {
            0 => EditRequest::RenameNode(Rename { of, name: format!("v{}", self.choices.below(3)) }),
            _ => {
                EditRequest::ModifyNode(ModifyNode { of, op: format!("const.i64 {}", self.choices.below(4)) })
            }
        }
    }

    async fn step(&mut self) {
        let (call, branch) = (self.call(), self.branch());
        match self.choices.below(10) {
            0..=4 => {
                let edit = self.edit();
                let outcome = propose(&self.fixture, &branch, edit, &call).await;
                assert!(matches!(outcome, Outcome::Applied(_) | Outcome::Rejected(_)), "{outcome:?}");
            }
            5 => {
                // What several steps pass over may come to nothing together.
                let distance = Distance::Steps(1 + self.choices.below(3) as u64);
                let way = match self.choices.chance(60) {
                    true => Way::Undo(distance),
                    false => Way::Redo(distance),
                };
                let travel = Travel { branch, way, expected_head: None, dry_run: false };
                self.fixture.engine.travel(&self.open, &travel, &call).await.unwrap();
            }
            _ => self.merge(branch, call).await,
        }
    }

    async fn merge(&mut self, into: String, call: Call) {
        let mut request = MergeRequest {
            from: self.branch(),
            into,
            resolutions: Vec::new(),
            expected_head: None,
            dry_run: false,
        };
        if request.from == request.into {
            return;
        }
        loop {
            match self.fixture.engine.merge(&self.open, &request, &call).await.unwrap() {
                Arrival::Made { .. } | Arrival::Nothing(_) => return,
                Arrival::Conflict(conflict) => {
                    let open: BTreeSet<Ref> = conflict.conflicts.iter().map(|one| name(&one.of)).collect();
                    for of in open {
                        let (take, edits) = match self.choices.below(3) {
                            0 => (Some(Side::Ours), Vec::new()),
                            1 => (Some(Side::Theirs), Vec::new()),
                            _ => {
                                let op = format!("const.i64 {}", self.choices.below(9));
                                (None, vec![EditRequest::ModifyNode(ModifyNode { of: of.to_string(), op })])
                            }
                        };
                        request.resolutions.push(Resolution { of, take, edits });
                    }
                }
            }
        }
    }
}

/// Compares what the engine says of all heads with the model.
async fn compare(seed: u64, session: &Session) -> usize {
    let Session { fixture, open, .. } = session;
    let known = model(fixture, open).await;
    let (newest, mut merged) = (open.timeline.head().last, 0);
    for branch in BRANCHES {
        let head = fixture.engine.revision(open, Some(branch)).await.unwrap();
        let last = &known[head.entry.number as usize].last;
        let nodes = CONSTANTS.map(|(node, function)| (node, Some(name(function))));
        for (of, owner) in nodes.into_iter().chain([("f2", None), ("f5", None)]) {
            let place = format!("seed {seed}, `{of}` at r{} on `{branch}`", head.entry.number);
            let found = fixture.engine.provenance(open, &head, name(of), owner).await.unwrap();
            if (found.created, found.modified) != (1, last[&name(of)]) {
                let log = told(fixture, open).await;
                panic!("{place}: {found:?}, expected r{}\n{log}", last[&name(of)]);
            }
            let entry = fixture.engine.header(open, found.modified).await.unwrap().unwrap();
            merged += usize::from(entry.kind == RevisionKind::Merge);
            let (Some(_), false) = (owner, entry.number == 1) else { continue };
            let author = Some(entry.actor.name.clone());
            let place_of = Place { revision: head.entry.number, branch: head.entry.branch };
            let what = ChangedNodes { place: place_of, newest, since: 0, author };
            let nodes = fixture.engine.changed_nodes(open, &what).await.unwrap();
            assert!(nodes.iter().any(|node| Ref::from(*node) == name(of)), "{place}: {nodes:?}");
        }
    }
    merged
}

/// How many sessions are tried; a server takes much longer.
fn seeds() -> u64 {
    match (std::env::var_os("LMLANG_LONG").is_some(), std::env::var_os("LMLANG_TEST_POSTGRES").is_some()) {
        (true, _) => 300,
        (false, false) => 20,
        (false, true) => 2,
    }
}

#[tokio::test]
async fn who_changed_something_last_is_what_a_walk_through_the_log_says() {
    let (mut merged, count) = (0, seeds());
    for seed in 0..count {
        let fixture = Fixture::new(OFTEN).await;
        let open = fixture.create("p", TEXT).await;
        let mut session = Session { fixture, open, choices: Choices::seeded(seed) };
        for branch in &BRANCHES[1..] {
            let call = session.call();
            session.fixture.engine.create_branch(&session.open, branch, None, &call).await.unwrap();
        }
        for _ in 0..30 {
            session.step().await;
        }
        merged += compare(seed, &session).await;
    }
    assert!(merged > 0 || count < 20, "no merge has combined what both sides changed");
}

/// What bob did, carol has taken back by a change of hers: an undo of both has nothing to say of it.
#[tokio::test]
async fn what_an_undo_passes_over_has_changed_nothing_last() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("p", TEXT).await;
    fixture.engine.create_branch(&open, "left", None, &by("ada")).await.unwrap(); // r2
    for (node, value, name) in [("n3", 5, "bob"), ("n3", 1, "carol"), ("n6", 9, "ada")] {
        let edit = ModifyNode { of: node.to_owned(), op: format!("const.i64 {value}") };
        let outcome = propose(&fixture, "left", EditRequest::ModifyNode(edit), &by(name)).await;
        assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}"); // r3, r4, r5
    }
    assert!(fixture.travel_on("left", &open, Way::Undo(Distance::Steps(3))).await); // r6
    let check = async |at: &str, one: u64, other: u64| {
        let view = fixture.engine.revision(&open, Some(at)).await.unwrap();
        for (of, owner, modified) in [("n3", Some("f2"), one), ("f2", None, one), ("n6", Some("f5"), other)] {
            let found = fixture.engine.provenance(&open, &view, name(of), owner.map(name)).await.unwrap();
            assert_eq!((found.created, found.modified), (1, modified), "`{of}` at {at}");
        }
    };
    check("left", 1, 1).await;
    check("r4", 4, 1).await;
    check("r5", 4, 5).await;
    // Nor where others go on, and when the branch is gone.
    let edit = ModifyNode { of: "n4".to_owned(), op: "const.i64 8".to_owned() };
    let outcome = propose(&fixture, "left", EditRequest::ModifyNode(edit), &by("bob")).await;
    assert!(matches!(outcome, Outcome::Applied(_)), "{outcome:?}"); // r7
    let view = fixture.engine.revision(&open, Some("left")).await.unwrap();
    let found = fixture.engine.provenance(&open, &view, name("n3"), Some(name("f2"))).await.unwrap();
    assert_eq!(found.modified, 1, "what was undone has done nothing under what follows");
    assert!(fixture.travel_on("left", &open, Way::Undo(Distance::Steps(1))).await); // r8
    check("left", 1, 1).await;
    fixture.engine.delete_branch(&open, "left", &by("ada")).await.unwrap();
    check("r8", 1, 1).await;
    check("r5", 4, 5).await;
}
