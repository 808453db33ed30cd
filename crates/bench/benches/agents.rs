//! What agents wait for: candidates of a change tried and ranked, a context, and entities found by words.
//!
//! A program of 10,000 nodes and one of 100,000, each with fifty test cases. A tournament is set beside the same candidates as
//! dry runs one after the other, a context beside that of the smaller program, a search beside printing the whole program.
//!
//! `cargo xtask bench agents`

use std::collections::BTreeSet;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use lmlang_bench::process::settle;
use lmlang_bench::report::{Measured, Report, Target, target_folder};
use lmlang_bench::rounds::{ROUNDS, Series, Spread, orders};
use lmlang_context::search::{self, Kinds};
use lmlang_context::{Compressor, Request};
use lmlang_engine::tournament::{Gate, TournamentRequest};
use lmlang_engine::{
    Bounds, Call, Content, Creation, Engine, Limits, NewCase, NewProgramRequest, Outcome, Proposal, Selector,
    SnapshotPolicy,
};
use lmlang_history::log::{Actor, ActorKind};
use lmlang_history::request::{At, EditRequest, InsertNode};
use lmlang_history::revision::MAIN;
use lmlang_interp::Environment;
use lmlang_ir::text::{Detail, print_program};
use lmlang_ir::{Const, FuncRef, NodeRef, Opcode, Program, Ref, Value};
use lmlang_store::{Options, Store};
use lmlang_testkit::shapes::{self, Shape};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const NODES: [usize; 2] = [10_000, 100_000];
const CANDIDATES: usize = 64;
const CASES: usize = 50;
/// Tokens of a context.
const TOKENS: usize = 4_000;

const WHAT: [&str; 5] =
    ["64 candidates, 50 test cases", "64 dry runs", "context of 4,000 tokens", "search by words", "print"];

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let target = target_folder()?.join("bench");
    std::fs::create_dir_all(&target)?;
    let folder = tempfile::Builder::new().prefix("agents-").tempdir_in(target)?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().build()?.block_on(measure(folder.path()))?.publish()?;
    Ok(())
}

async fn measure(folder: &Path) -> Result<Report, Failure> {
    let mut subjects = Vec::new();
    for nodes in NODES {
        subjects.push(Subject::of(folder, nodes).await?);
    }
    for (round, order) in orders(subjects.len(), ROUNDS + 1, 8).into_iter().enumerate() {
        for at in order {
            let turn = subjects[at].turn().await?;
            // The first round warms up.
            if round > 0 {
                turn.into_iter().zip(&mut subjects[at].found).for_each(|(one, all)| all.push(one));
            }
        }
    }
    let [small, large] = &subjects[..] else { return Err("there are two programs".into()) };
    let [tournament, dry_runs, context, search, print] = &large.found;
    let of = |what: usize| Measured::new(WHAT[what], "ms", Spread::of(&large.found[what]));
    let mut report = Report::of("agents");
    report.add(of(0).target(Target::AtMost(3_000.0)));
    report.add(of(0).beside("the same as dry runs", Spread::of_ratio(tournament, dry_runs)));
    let smaller = Spread::of_ratio(context, &small.found[2]);
    report.add(of(2).beside("a program of a tenth", smaller).target(Target::AtMost(1.5)));
    report.add(of(3).beside("printing it", Spread::of_ratio(search, print)).target(Target::AtMost(1.0)));
    for subject in subjects {
        subject.engine.close().await;
    }
    Ok(report)
}

/// A database with one program.
struct Subject {
    engine: Engine,
    program: Program,
    functions: Vec<FuncRef>,
    anchors: Vec<NodeRef>,
    series: Series,
    /// Milliseconds of each of [`WHAT`], by round.
    found: [Vec<f64>; WHAT.len()],
}

impl Subject {
    async fn of(folder: &Path, nodes: usize) -> Result<Subject, Failure> {
        let store = Store::open(Options::file(folder.join(format!("{nodes}.db")))).await?;
        let limits = Limits { text_bytes: 64 << 20, ..Limits::default() };
        let engine = Engine::new(store, limits, SnapshotPolicy::default());
        let text = print_program(&shapes::program(Shape::ManySmall, nodes, 1).program, Detail::Standard);
        let request = NewProgramRequest {
            name: "program".to_owned(),
            doc: String::new(),
            content: Content::Text(text),
        };
        let open = match engine.create_program(request, &call()).await? {
            Creation::Created(open) => open,
            Creation::Rejected { text, .. } => return Err(format!("not made: {text:?}").into()),
        };
        let revision = engine.revision(&open, None).await?;
        let program = revision.checked.program().clone();
        let functions: Vec<FuncRef> = program.functions().map(|(of, _)| of).collect();
        for (index, function) in functions.iter().take(CASES).enumerate() {
            let case = NewCase {
                function: *function,
                name: format!("case {index}"),
                args: vec![Value::Const(Const::I64(3)), Value::Const(Const::I64(4))],
                expected: None,
                bounds: Bounds::default(),
                environment: Environment::default(),
            };
            engine.add_case(&open, &revision, case, &call()).await?;
        }
        let mut anchors = Vec::new();
        for (_, function) in program.functions() {
            let adds = function.body().nodes().filter(|(_, node)| node.op().code() == Opcode::Add);
            anchors.extend(adds.map(|(of, _)| of));
        }
        Ok(Subject {
            engine,
            program,
            functions,
            anchors,
            series: Series::seeded(9),
            found: Default::default(),
        })
    }

    /// Everything once; nothing is stored.
    async fn turn(&mut self) -> Result<[f64; WHAT.len()], Failure> {
        let anchors: Vec<NodeRef> =
            (0..CANDIDATES).map(|_| self.anchors[self.series.below(self.anchors.len())]).collect();
        settle().await;
        let start = Instant::now();
        let request = TournamentRequest {
            program: Selector::Name("program".to_owned()),
            base: None,
            candidates: anchors.iter().map(|anchor| vec![insertion(*anchor)]).collect(),
            gates: BTreeSet::from(Gate::ALL),
            timeout: Duration::from_secs(20),
            fuel: None,
        };
        let (_, _, ranked) = self.engine.tournament(request, &call()).await?;
        let tournament = millis(start);
        assert_eq!(ranked.len(), CANDIDATES);
        for candidate in &ranked {
            assert!(candidate.missed.is_empty() && !candidate.late, "{candidate:?}");
        }
        let start = Instant::now();
        for anchor in &anchors {
            match self.engine.propose(dry_run(insertion(*anchor)), &call()).await? {
                Outcome::Applied(_) => {}
                other => return Err(format!("not applied: {other:?}").into()),
            }
        }
        let dry_runs = millis(start);
        let focus: [Ref; 1] = [self.functions[self.series.below(self.functions.len() / 2) + 40].into()];
        let start = Instant::now();
        let request = Request {
            name: "program",
            revision: 1,
            focus: &focus,
            detail: Detail::Standard,
            budget: TOKENS,
            compressor: &Compressor::default(),
            since: None,
        };
        let pack = lmlang_context::pack(&self.program, &request)?;
        let context = millis(start);
        assert!(pack.tokens_used <= TOKENS && pack.tokens_used > TOKENS / 4, "{}", pack.tokens_used);
        let start = Instant::now();
        let found = search::find(&self.program, "function 77", &Kinds::default());
        let search = millis(start);
        assert!(!found.is_empty());
        let start = Instant::now();
        black_box(print_program(&self.program, Detail::Standard));
        Ok([tournament, dry_runs, context, search, millis(start)])
    }
}

fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn call() -> Call {
    Call::by(Actor { name: "agent".to_owned(), kind: ActorKind::Agent, client: None })
}

/// An addition behind another.
fn insertion(anchor: NodeRef) -> EditRequest {
    let anchor = anchor.to_string();
    EditRequest::InsertNode(InsertNode {
        name_as: None,
        op: "add.i64".to_owned(),
        at: At { after: Some(anchor.clone()), ..At::default() },
        inputs: vec![Some(anchor.clone()), Some(anchor)],
        name: None,
    })
}

fn dry_run(edit: EditRequest) -> Proposal {
    Proposal {
        program: Selector::Name("program".to_owned()),
        branch: MAIN.to_owned(),
        base: None,
        edits: vec![edit],
        dry_run: true,
        require_complete: false,
        verify_all: false,
    }
}
