//! Random work of several authors, and random parts of it taken back: the plan is what is done, an author's last change takes
//! along nobody else's, and everything that was taken back comes back as it was.

use lmlang_engine::{
    Arrival, Call, Distance, OpenProgram, Outcome, Proposal, RevertRequest, Reverted, Selector, Way, Which,
};
use lmlang_history::log::{Actor, ActorKind};
use lmlang_history::request::{AddText, EditRequest, ModifyNode, Remove, Rename, ReplaceText, SetDoc};
use lmlang_testkit::Choices;
use lmlang_verify::Class;

use crate::fixture::{Fixture, OFTEN};

const TEXT: &str = "module app

type Point#t20 = struct { x#d21: i64, y#d22: i64 }

pub func one#f2 (a: i64) -> (i64) {
  require#k8 \"not below\" { yield (ge_s.i64 a, 0) }
  sum#n5 = add.i64 a, 1#n3
  return#n6 (mul.i64#n7 sum, 2#n4)
}

pub func two#f40 (a: i64) -> (i64) {
  sum#n45 = add.i64 a, 1#n43
  return#n46 (mul.i64#n47 sum, 2#n44)
}
";

const CONSTANTS: [&str; 4] = ["n3", "n4", "n43", "n44"];
const SUMS: [&str; 2] = ["n5", "n45"];
const FUNCTIONS: [&str; 2] = ["f2", "f40"];
const PEOPLE: [&str; 3] = ["ada", "bob", "carol"];

fn by(name: &str) -> Call {
    Call::by(Actor { name: name.to_owned(), kind: ActorKind::Agent, client: None })
}

/// The content of `main`, by its hash.
fn content(open: &OpenProgram) -> String {
    format!("{:?}", open.timeline.head().main.revision.checked.program().root_hash())
}

fn newest(open: &OpenProgram) -> u64 {
    open.timeline.head().main.revision.entry.number
}

/// What a request came to, without who has stored it.
fn plan(of: &Reverted) -> (String, [Vec<u64>; 3], usize) {
    let came = match &of.arrival {
        Arrival::Made { after, .. } => format!("{:?}", after.checked.program().root_hash()),
        Arrival::Nothing(reason) => reason.clone(),
        Arrival::Conflict(conflict) => format!("{:?}", conflict.conflicts),
    };
    let numbers = [&of.removed, &of.also_removed, &of.kept]
        .map(|headers| headers.iter().map(|header| header.number).collect());
    (came, numbers, of.findings.len())
}

fn is_made(of: &Reverted) -> bool {
    matches!(of.arrival, Arrival::Made { committed: true, .. })
}

struct Session {
    fixture: Fixture,
    open: OpenProgram,
    choices: Choices,
    /// Revisions that can be named.
    made: Vec<u64>,
    /// How often something was taken back.
    reverted: usize,
}

impl Session {
    fn one_of(&mut self, from: &[&'static str]) -> String {
        (*self.choices.pick(from).expect("there are some")).to_owned()
    }

    fn edit(&mut self) -> EditRequest {
        match self.choices.below(10) {
            0..=3 => {
                let op = format!("const.i64 {}", self.choices.below(5));
                EditRequest::ModifyNode(ModifyNode { of: self.one_of(&CONSTANTS), op })
            }
            4 => {
                let name = format!("sum_{}", self.choices.below(3));
                EditRequest::RenameNode(Rename { of: self.one_of(&SUMS), name })
            }
            5 => {
                let doc = Some(format!("As {}.", self.choices.below(3)));
                EditRequest::SetDoc(SetDoc { of: self.one_of(&FUNCTIONS), doc })
            }
            6 => {
                let kind = self.one_of(&["i32", "i64", "f64"]);
                let text = format!("type Point#t20 = struct {{ x#d21: i64, y#d22: {kind} }}");
                EditRequest::ReplaceType(ReplaceText { of: "t20".to_owned(), text, if_hash: None })
            }
            7 => {
                let text = format!("require \"not below\" = ge_s.i64 a, {}", self.choices.below(4));
                EditRequest::ReplaceContract(ReplaceText { of: "k8".to_owned(), text, if_hash: None })
            }
            8 => {
                let (name, called) = (self.choices.below(1_000), self.one_of(&["one", "two"]));
                let text = format!("pub func f_{name} () -> (i64) {{ return (call {called}(2)) }}");
                EditRequest::AddText(AddText { module: Some("app".to_owned()), text })
            }
            _ => EditRequest::RemoveFunction(Remove { of: self.one_of(&FUNCTIONS), cascade: true }),
        }
    }

    async fn propose(&mut self, who: &str) {
        let proposal = Proposal {
            program: Selector::Name("p".to_owned()),
            branch: "main".to_owned(),
            base: None,
            edits: vec![self.edit()],
            dry_run: false,
            require_complete: false,
            verify_all: false,
        };
        let before = newest(&self.open);
        // What is not there any more is rejected.
        let outcome = self.fixture.engine.propose(proposal, &by(who)).await.unwrap();
        assert!(matches!(outcome, Outcome::Applied(_) | Outcome::Rejected(_)), "{outcome:?}");
        self.made.extend(Some(newest(&self.open)).filter(|now| *now != before));
    }

    async fn take(&self, which: &Which, who: &str, dry_run: bool) -> Reverted {
        let branch = "main".to_owned();
        let request = RevertRequest { branch, which: which.clone(), expected_head: None, dry_run };
        self.fixture.engine.revert(&self.open, &request, &by(who)).await.unwrap()
    }

    /// Takes something back as a dry run has said.
    async fn take_as_planned(&mut self, which: &Which, who: &str) -> Reverted {
        let (before, was) = (newest(&self.open), content(&self.open));
        let planned = self.take(which, who, true).await;
        assert_eq!((newest(&self.open), content(&self.open)), (before, was), "a dry run stores nothing");
        let done = self.take(which, who, false).await;
        assert_eq!(plan(&done), plan(&planned), "{which:?}");
        let wrong = done.findings.iter().filter(|found| found.class() == Class::Error).count();
        assert!(!is_made(&done) || wrong == 0, "{which:?}: {:?}", done.findings);
        if is_made(&done) {
            self.made.push(newest(&self.open));
            self.reverted += 1;
        }
        done
    }

    async fn revert(&mut self, who: &str) {
        let which = match self.choices.chance(40) {
            true => Which::Author(self.one_of(&PEOPLE)),
            false => {
                let chosen = 1 + self.choices.below(2);
                let mut names = Vec::new();
                for _ in 0..chosen {
                    names.extend(self.choices.pick(&self.made).map(|number| format!("r{number}")));
                }
                Which::Revisions(names)
            }
        };
        let before = content(&self.open);
        if !is_made(&self.take_as_planned(&which, who).await) {
            return;
        }
        let after = content(&self.open);
        assert!(self.fixture.travel(&self.open, Way::Undo(Distance::Steps(1))).await);
        assert_eq!(content(&self.open), before, "{which:?}: it is one revision, which can be undone");
        assert!(self.fixture.travel(&self.open, Way::Redo(Distance::Steps(1))).await);
        assert_eq!(content(&self.open), after);
        if self.choices.chance(50) {
            let again = self.take_as_planned(&which, who).await;
            assert!(matches!(again.arrival, Arrival::Nothing(_)), "{which:?}: {again:?}");
            let revert = *self.made.last().expect("it was made");
            let back = self.take_as_planned(&Which::Revisions(vec![format!("r{revert}")]), who).await;
            assert!(is_made(&back), "{which:?}: {back:?}");
            assert_eq!(content(&self.open), before, "{which:?}: whoever reverts a revert has what was there");
        }
    }

    /// Undo and redo of an author.
    async fn undo(&mut self, who: &str) {
        let author = self.one_of(&PEOPLE);
        let before = content(&self.open);
        let done = self.take_as_planned(&Which::Newest(author.clone(), 1), who).await;
        if !is_made(&done) {
            return;
        }
        let mut taken = done.removed.iter().chain(&done.also_removed);
        assert!(taken.all(|header| header.actor.name == author), "{author}: {:?}", plan(&done));
        if self.choices.chance(60) {
            let back = self.take_as_planned(&Which::TakenBack(author.clone(), 1), who).await;
            assert!(is_made(&back), "{author}: {back:?}");
            assert_eq!(content(&self.open), before, "{author}");
        }
    }
}

/// How many sessions are tried; a server takes much longer.
fn seeds() -> u64 {
    match (std::env::var_os("LMLANG_LONG").is_some(), std::env::var_os("LMLANG_TEST_POSTGRES").is_some()) {
        (true, _) => 300,
        (false, false) => 30,
        (false, true) => 3,
    }
}

#[tokio::test]
async fn what_is_taken_back_is_what_the_plan_says_and_comes_back_as_it_was() {
    let (mut reverted, count) = (0, seeds());
    for seed in 0..count {
        let fixture = Fixture::new(OFTEN).await;
        let open = fixture.create("p", TEXT).await;
        let choices = Choices::seeded(seed);
        let mut session = Session { fixture, open, choices, made: Vec::new(), reverted: 0 };
        println!("seed {seed}");
        for _ in 0..30 {
            let who = session.one_of(&PEOPLE);
            match session.choices.below(10) {
                0..=5 => session.propose(&who).await,
                6 => {
                    session.fixture.travel(&session.open, Way::Undo(Distance::Steps(2))).await;
                }
                7 => session.revert(&who).await,
                _ => session.undo(&who).await,
            }
        }
        reverted += session.reverted;
    }
    assert!(reverted as u64 > 3 * count, "{reverted} of {count} sessions");
}
