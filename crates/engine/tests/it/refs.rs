//! Refs: what was handed out once names one thing for ever, whatever is taken back, removed, merged or opened again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lmlang_engine::{
    Arrival, Conflict, Distance, Engine, Error, Given, GivenModule, MergeRequest, Outcome, Progress,
    Proposal, Resolution, RevertRequest, Selector, Travel, Way, Which,
};
use lmlang_history::merge::Side;
use lmlang_history::request::{
    AddContract, AddText, AddVar, ConditionKind, EditRequest, Remove, ReplaceText,
};
use lmlang_ir::{Place, Program, Ref};
use lmlang_testkit::Choices;

use crate::fixture::{Fixture, OFTEN, call};

const TEXT: &str = "module app\n\nfunc first(n: i64) -> (i64) {\n  a = add.i64 n, 1\n  return a\n}\n";

/// What a program's numbers stand for: each with the entity that has it, and the function that this is in.
type Named = BTreeMap<u64, (Ref, Option<Ref>)>;

/// Runs, and what is done in each.
fn runs() -> u64 {
    if std::env::var_os("LMLANG_LONG").is_some() { 150 } else { 12 }
}
const STEPS: usize = 40;

/// How a step comes by what is in its program and was not there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comes {
    /// It is new.
    New,
    /// It is back, or from elsewhere.
    Back,
}

fn named(program: &Program, next: u64) -> Named {
    let home = |of: Ref| match program.place(of)? {
        Place::Region(function, _)
        | Place::Variable(function, _)
        | Place::Contract(function, _)
        | Place::Node(function, _) => Some(Ref::from(function)),
        Place::Module(_) | Place::Type(_) | Place::Member(..) | Place::Function(_) | Place::Storage(_) => {
            None
        }
    };
    (1..next).filter_map(|number| program.ref_of(number).map(|of| (number, (of, home(of))))).collect()
}

fn a_variable(of: &str, name: &str) -> EditRequest {
    let (function, name) = (of.to_owned(), Some(name.to_owned()));
    EditRequest::AddVar(AddVar { name_as: None, function, name, ty: "i64".to_owned() })
}

async fn propose(engine: &Engine, branch: &str, edit: EditRequest) -> Outcome {
    let proposal = Proposal {
        program: Selector::Name("shop".to_owned()),
        branch: branch.to_owned(),
        base: None,
        edits: vec![edit],
        dry_run: false,
        require_complete: false,
        verify_all: false,
    };
    engine.propose(proposal, &call()).await.unwrap()
}

/// A program that is changed at random, and all that its refs have ever named, on any branch.
struct Run {
    fixture: Fixture,
    choices: Choices,
    ever: Named,
    /// The branches, and what their newest states have.
    tips: BTreeMap<String, Named>,
    /// How many functions were added, and checkpoints made.
    made: usize,
    checkpoints: usize,
}

impl Run {
    async fn begin(seed: u64) -> Run {
        let fixture = Fixture::new(OFTEN).await;
        fixture.create("shop", TEXT).await;
        let (ever, tips) = (Named::new(), BTreeMap::from([("main".to_owned(), Named::new())]));
        let mut run = Run { fixture, choices: Choices::seeded(seed), ever, tips, made: 0, checkpoints: 0 };
        run.look("main", Comes::New).await;
        run
    }

    /// Looks at what has become of a branch.
    async fn look(&mut self, branch: &str, comes: Comes) {
        let open = self.fixture.find("shop").await;
        let head = open.timeline.head();
        let tip = self.fixture.engine.tip(&open, &head, branch).await.unwrap();
        let next = tip.revision.entry.next_ref;
        let now = named(tip.revision.checked.program(), next);
        let largest = tip.revision.checked.program().largest_number();
        assert!(largest < next, "`{largest}` is there, and the next one is `{next}`");
        let before = self.tips.insert(branch.to_owned(), now.clone()).unwrap_or_default();
        for (number, one) in now {
            let known = self.ever.get(&number);
            match (before.contains_key(&number), comes) {
                (false, Comes::New) => assert_eq!(known, None, "{one:?} is handed out again"),
                (true, _) | (false, Comes::Back) => assert_eq!(known, Some(&one), "it was another one"),
            }
            self.ever.insert(number, one);
        }
    }

    fn branch(&mut self) -> String {
        let all: Vec<String> = self.tips.keys().cloned().collect();
        self.choices.pick(&all).expect("there is `main`").clone()
    }

    /// A function of a branch.
    async fn function(&mut self, branch: &str) -> Option<String> {
        let open = self.fixture.find("shop").await;
        let tip = self.fixture.engine.tip(&open, &open.timeline.head(), branch).await.unwrap();
        let functions: Vec<String> =
            tip.revision.checked.program().functions().map(|(of, _)| of.to_string()).collect();
        self.choices.pick(&functions).cloned()
    }

    /// Changes a branch, if the change is right there. What is refused may have taken numbers, which nobody gets then.
    async fn edit(&self, branch: &str, edit: EditRequest) {
        if let Outcome::Rejected(rejected) = propose(&self.fixture.engine, branch, edit).await {
            let codes: Vec<&str> = rejected.errors.iter().map(|error| error.code).collect();
            let is_taken = |code: &&str| matches!(*code, "STRUCTURE" | "DUPLICATE_REF");
            assert!(!codes.iter().any(is_taken), "{:?}", rejected.errors);
        }
    }

    /// Goes somewhere, if there is such a place.
    async fn travel(&self, branch: &str, way: Way) {
        let open = self.fixture.find("shop").await;
        let travel = Travel { branch: branch.to_owned(), way, expected_head: None, dry_run: false };
        let arrived = self.fixture.engine.travel(&open, &travel, &call()).await.map(drop);
        assert!(
            matches!(arrived, Ok(()) | Err(Error::BadRequest { .. } | Error::NotFound { .. })),
            "{arrived:?}"
        );
    }

    async fn step(&mut self) {
        let branch = self.branch();
        let number = self.choices.below(1_000);
        match self.choices.below(14) {
            0..=2 => {
                self.made += 1;
                let name = format!("sum{}", self.made);
                let text = format!(
                    "func {name}(n: i64) -> (i64) {{\n  a = add.i64 n, {number}\n  b = mul.i64 a, n\n  return b\n}}\n"
                );
                self.edit(&branch, EditRequest::AddText(AddText { module: Some("app".to_owned()), text }))
                    .await;
                self.look(&branch, Comes::New).await;
            }
            3 | 4 => {
                let Some(of) = self.function(&branch).await else { return };
                let name = format!("less{}", self.made);
                self.made += 1;
                // What is new of it may be anything between nothing and all.
                let vars: String =
                    (0..self.choices.below(3)).map(|var| format!("  var cell{var}: i64\n")).collect();
                let contracts = "  require \"said\" = true\n".repeat(self.choices.below(3));
                let text = format!(
                    "func {name}(n: i64) -> (i64) {{\n{vars}{contracts}  c = sub.i64 n, {}\n  return c\n}}\n",
                    number % 2
                );
                let replace = ReplaceText { of, text, if_hash: None };
                self.edit(&branch, EditRequest::ReplaceFunctionText(replace)).await;
                self.look(&branch, Comes::New).await;
            }
            5 => {
                let Some(of) = self.function(&branch).await else { return };
                self.edit(&branch, EditRequest::RemoveFunction(Remove { of, cascade: true })).await;
                self.look(&branch, Comes::New).await;
            }
            6 | 7 => {
                let distance = Distance::Steps(1 + number as u64 % 3);
                let way = if number % 5 < 3 { Way::Undo(distance) } else { Way::Redo(distance) };
                self.travel(&branch, way).await;
                self.look(&branch, Comes::Back).await;
            }
            8 => {
                let open = self.fixture.find("shop").await;
                let which = Which::Newest("ada".to_owned(), 1 + number % 2);
                let request =
                    RevertRequest { branch: branch.clone(), which, expected_head: None, dry_run: false };
                // There may be nothing that can be taken back.
                let reverted = self.fixture.engine.revert(&open, &request, &call()).await.map(drop);
                assert!(
                    matches!(reverted, Ok(()) | Err(Error::BadRequest { .. } | Error::NotFound { .. })),
                    "{reverted:?}"
                );
                self.look(&branch, Comes::Back).await;
            }
            9 => {
                if self.checkpoints > 0 && number.is_multiple_of(2) {
                    let name = format!("c{}", number % self.checkpoints);
                    self.travel(&branch, Way::Restore(name)).await;
                } else {
                    let name = format!("c{}", self.checkpoints);
                    self.checkpoints += 1;
                    let open = self.fixture.find("shop").await;
                    self.fixture
                        .engine
                        .create_checkpoint(&open, &name, Some(&branch), &call())
                        .await
                        .unwrap();
                }
                self.look(&branch, Comes::Back).await;
            }
            10 if self.tips.len() < 3 => {
                let (open, name) = (self.fixture.find("shop").await, format!("side{}", self.tips.len()));
                self.fixture.engine.create_branch(&open, &name, Some(&branch), &call()).await.unwrap();
                self.look(&name, Comes::Back).await;
            }
            11 | 12 => {
                let Some(of) = self.function(&branch).await else { return };
                self.made += 1;
                let edit = match number.is_multiple_of(2) {
                    true => a_variable(&of, &format!("more{}", self.made)),
                    false => EditRequest::AddContract(AddContract {
                        name_as: None,
                        of,
                        kind: ConditionKind::Require,
                        message: "said".to_owned(),
                        text: "true".to_owned(),
                    }),
                };
                self.edit(&branch, edit).await;
                self.look(&branch, Comes::New).await;
            }
            _ => {
                let from = self.branch();
                if from == branch {
                    return;
                }
                self.merge(&from, &branch, if number.is_multiple_of(2) { Side::Ours } else { Side::Theirs })
                    .await;
                self.look(&branch, Comes::Back).await;
            }
        }
    }

    /// Merges a branch into another one, with one side wherever they are in conflict.
    async fn merge(&self, from: &str, into: &str, side: Side) {
        let open = self.fixture.find("shop").await;
        let mut request = MergeRequest {
            from: from.to_owned(),
            into: into.to_owned(),
            resolutions: Vec::new(),
            expected_head: None,
            dry_run: false,
        };
        while let Arrival::Conflict(Conflict { conflicts, .. }) =
            self.fixture.engine.merge(&open, &request, &call()).await.unwrap()
        {
            let known = request.resolutions.len();
            for of in conflicts.iter().filter_map(|one| one.of.parse::<Ref>().ok()) {
                if request.resolutions.iter().all(|one| one.of != of) {
                    request.resolutions.push(Resolution { of, take: Some(side), edits: Vec::new() });
                }
            }
            assert!(request.resolutions.len() > known, "{conflicts:?}");
        }
    }
}

#[tokio::test]
async fn refs_are_never_reused() {
    for seed in 0..runs() {
        let mut run = Run::begin(seed).await;
        for step in 0..STEPS {
            run.step().await;
            if step % 13 == 12 {
                let fixture = run.fixture.reopened(&[]).await;
                run = Run { fixture, ..run };
                let branches: Vec<String> = run.tips.keys().cloned().collect();
                for branch in branches {
                    run.look(&branch, Comes::Back).await;
                }
            }
        }
        let checkup = run.fixture.engine.doctor(|_| {}).await.unwrap();
        assert_eq!(checkup.findings().collect::<Vec<_>>(), Vec::<String>::new(), "seed {seed}");
    }
}

/// A log whose counter is behind what its entries have, as one may be that another version wrote.
#[tokio::test]
async fn a_counter_that_is_behind_catches_up() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    fixture.engine.create_branch(&open, "side", None, &call()).await.unwrap();
    drop(open);
    let fixture = fixture.reopened(&["UPDATE log SET next_ref = 17"]).await;
    let told = fixture.engine.doctor(|_| {}).await.unwrap().findings().collect::<Vec<_>>();
    assert_eq!(told[0], "program `shop`, r1: hands out refs again that are in use");
    for branch in ["main", "side", "main"] {
        match propose(&fixture.engine, branch, a_variable("app::first", branch)).await {
            Outcome::Applied(applied) => {
                let content = applied.after.checked.program();
                assert!(content.largest_number() < applied.after.entry.next_ref);
            }
            other => panic!("{other:?}"),
        }
        let open = fixture.find("shop").await;
        fixture.travel_on(branch, &open, Way::Undo(Distance::Steps(1))).await;
    }
    let checkup = fixture.engine.doctor(|_| {}).await.unwrap();
    assert_eq!(checkup.findings().collect::<Vec<_>>(), told);
}

/// The import begins before the edit on another branch, and ends behind it.
#[tokio::test]
async fn an_import_takes_no_ref_from_what_comes_meanwhile() {
    let fixture = Fixture::new(OFTEN).await;
    let open = fixture.create("shop", TEXT).await;
    fixture.engine.create_branch(&open, "side", None, &call()).await.unwrap();
    let edited = propose(&fixture.engine, "side", a_variable("app::first", "none")).await;
    assert!(matches!(edited, Outcome::Applied(_)), "{edited:?}");
    let (engine, runtime) = (fixture.engine.clone(), tokio::runtime::Handle::current());
    let is_done = AtomicBool::new(false);
    let meanwhile = move |_: Progress| {
        if !is_done.swap(true, Ordering::Relaxed) {
            let edited = runtime.block_on(propose(&engine, "side", a_variable("app::first", "one")));
            assert!(matches!(edited, Outcome::Applied(_)), "{edited:?}");
        }
    };
    let module = GivenModule::Wat("(module (func (export \"f\") (result i64) i64.const 7))".to_owned());
    let given = Given { module, branch: "main".to_owned(), expected_head: None };
    let imported = fixture.engine.import(&open, given, &call(), Arc::new(meanwhile)).await.unwrap();
    assert!(matches!(imported, Arrival::Made { .. }), "{imported:?}");
    let edited = propose(&fixture.engine, "side", a_variable("app::first", "two")).await;
    assert!(matches!(edited, Outcome::Applied(_)), "{edited:?}");
    let checkup = fixture.engine.doctor(|_| {}).await.unwrap();
    assert_eq!(checkup.findings().collect::<Vec<_>>(), Vec::<String>::new());
}
