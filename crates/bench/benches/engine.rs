//! What the use cases cost as programs grow: 1,000 and 100,000 nodes, in many functions and in few.
//!
//! Edits, dry runs, undo and checkpoints go through the engine over a real database, so a figure is the processor time
//! of all threads from request to durable answer; what a difference and the step in memory cost is measured beside
//! them. In memory there is nothing but the domain: the edit, its snapshot for readers and the hash, and LOCAL verification.
//!
//! The engine measured in detail writes no snapshots to its database; the last line is that of one that does.
//!
//! `cargo xtask bench engine`

use std::collections::VecDeque;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lmlang_bench::process::{cpu, own_cpu, settle};
use lmlang_bench::report::{Measured, Report, Target, target_folder};
use lmlang_bench::rounds::{ROUNDS, Series, Spread, orders};
use lmlang_engine::{
    Arrival, Call, Creation, Distance, Engine, Limits, NewProgramRequest, OpenProgram, Outcome, Proposal,
    Selector, SnapshotPolicy, Travel, Way,
};
use lmlang_history::diff;
use lmlang_history::log::{Actor, ActorKind};
use lmlang_history::request::{At, EditRequest, InsertNode};
use lmlang_history::revision::MAIN;
use lmlang_ir::text::{Detail, print_program};
use lmlang_ir::{FuncRef, NodeRef, Opcode, Program};
use lmlang_store::{Options, Store};
use lmlang_testkit::shapes::{self, Shape};
use lmlang_testkit::{Choices, Generated};
use lmlang_verify::{Findings, full, local};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The sizes, and how many times more something may cost there than at the first.
const SIZES: [(usize, f64); 3] = [(1_000, 1.0), (100_000, 2.5), (1_000_000, 4.0)];
const SHAPES: [Shape; 2] = [Shape::ManySmall, Shape::FewLarge];
/// Operations of a turn, each.
const OPERATIONS: usize = 100;
/// Edits of a change set that is undone.
const BATCH: usize = 10;
/// More often than an engine with the usual settings writes snapshots.
const SNAPSHOT_EDITS: usize = 128;
/// Steps in memory of a turn: fewer than would make the small program another one.
const STEPS: usize = 200;
/// Revisions that are kept in memory, as readers do.
const KEPT: usize = 8;
/// The most that something may take in the largest program, in microseconds.
const MOST: f64 = 1_000.0;
/// What that is asked of.
const BOUNDED: [&str; 2] = ["undo of 10", "difference of 10 edits"];

const WHAT: [&str; 10] = [
    "edit",
    "edit of 10",
    "undo of 10",
    "dry run",
    "checkpoint",
    "difference of 10 edits",
    "difference of 100 edits",
    "in memory: edit, snapshot, hash",
    "in memory: LOCAL verification",
    "edit, with its part of the stored snapshots",
];

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let target = target_folder()?.join("bench");
    std::fs::create_dir_all(&target)?;
    let folder = tempfile::Builder::new().prefix("engine-").tempdir_in(target)?;
    // Threads that stay, so that starting them is not measured.
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.thread_keep_alive(Duration::from_secs(3_600)).enable_all();
    runtime.build()?.block_on(measure(folder.path()))?.publish()?;
    Ok(())
}

/// A program of a shape and size, in two engines and in memory.
struct Subject {
    shape: Shape,
    size: usize,
    /// Without snapshots, and with them.
    open: [OpenProgram; 2],
    anchors: Vec<NodeRef>,
    memory: Memory,
    series: Series,
    checkpoints: usize,
    /// Microseconds of each of [`WHAT`], by round.
    found: [Vec<f64>; WHAT.len()],
}

/// The state of a program without an engine.
struct Memory {
    generated: Generated,
    functions: Vec<FuncRef>,
    findings: Findings,
}

async fn measure(folder: &Path) -> Result<Report, Failure> {
    let never = SnapshotPolicy { entries: u64::MAX, bytes: u64::MAX, ..SnapshotPolicy::default() };
    let engines = [
        engine(&folder.join("bare.db"), never).await?,
        engine(&folder.join("usual.db"), SnapshotPolicy::default()).await?,
    ];
    let mut subjects = Vec::new();
    for shape in SHAPES {
        for (size, _) in SIZES {
            subjects.push(Subject::of(&engines, shape, size).await?);
        }
    }
    for (round, order) in orders(subjects.len(), ROUNDS + 1, 4).into_iter().enumerate() {
        for at in order {
            let turn = subjects[at].turn(&engines).await?;
            // The first round warms up.
            if round > 0 {
                turn.into_iter().zip(&mut subjects[at].found).for_each(|(one, all)| all.push(one));
            }
        }
    }
    for engine in engines {
        engine.close().await;
    }
    Ok(report(&subjects))
}

async fn engine(database: &Path, snapshots: SnapshotPolicy) -> Result<Engine, Failure> {
    let store = Store::open(Options::file(database)).await?;
    let limits = Limits { text_bytes: 64 << 20, ..Limits::default() };
    Ok(Engine::new(store, limits, snapshots))
}

fn call() -> Call {
    Call::by(Actor { name: "bench".to_owned(), kind: ActorKind::Tool, client: None })
}

fn program_of(open: &OpenProgram) -> Program {
    open.timeline.head().main.revision.checked.program().clone()
}

/// Processor time of comparing two revisions.
async fn difference(before: &Program, after: &Program) -> Result<f64, Failure> {
    cpu(10, async {
        for _ in 0..10 {
            black_box(diff(before, after));
        }
        Ok(())
    })
    .await
}

impl Subject {
    async fn of(engines: &[Engine; 2], shape: Shape, size: usize) -> Result<Subject, Failure> {
        let generated = shapes::program(shape, size, 1);
        let text = print_program(&generated.program, Detail::Standard);
        let mut open = Vec::new();
        for engine in engines {
            let (name, text) = (format!("{shape:?}-{size}"), Some(text.clone()));
            match engine
                .create_program(NewProgramRequest { name, doc: String::new(), content: text.into() }, &call())
                .await?
            {
                Creation::Created(program) => open.push(program),
                Creation::Rejected { text, .. } => return Err(format!("not made: {text:?}").into()),
            }
        }
        let program = program_of(&open[0]);
        assert_eq!(program.root_hash(), program_of(&open[1]).root_hash(), "both engines hold the same");
        let additions = program.functions().flat_map(|(_, function)| {
            function.body().nodes().filter(|(_, node)| node.op().code() == Opcode::Add).map(|(of, _)| of)
        });
        let anchors = additions.collect();
        let functions = generated.program.functions().map(|(of, _)| of).collect();
        let findings = full(&generated.program);
        let open = open.try_into().map_err(|_| "two engines")?;
        Ok(Subject {
            shape,
            size,
            open,
            anchors,
            memory: Memory { generated, functions, findings },
            series: Series::seeded(5),
            checkpoints: 0,
            found: Default::default(),
        })
    }

    /// A change set that puts additions behind others.
    fn proposal(&mut self, edits: usize, dry_run: bool) -> Proposal {
        let insertion = |_| {
            let anchor = self.anchors[self.series.below(self.anchors.len())].to_string();
            EditRequest::InsertNode(InsertNode {
                name_as: None,
                op: "add.i64".to_owned(),
                at: At { after: Some(anchor.clone()), ..At::default() },
                inputs: vec![Some(anchor.clone()), Some(anchor)],
                name: None,
            })
        };
        Proposal {
            program: Selector::Id(self.open[0].timeline.id()),
            branch: MAIN.to_owned(),
            base: None,
            edits: (0..edits).map(insertion).collect(),
            dry_run,
            require_complete: false,
            verify_all: false,
        }
    }

    /// Proposes so many change sets, one after the other.
    async fn propose(
        &mut self,
        engine: &Engine,
        count: usize,
        edits: usize,
        dry: bool,
    ) -> Result<f64, Failure> {
        let proposals: Vec<Proposal> = (0..count).map(|_| self.proposal(edits, dry)).collect();
        cpu(count, async {
            for proposal in proposals {
                match engine.propose(proposal, &call()).await? {
                    Outcome::Applied(_) => {}
                    other => return Err(format!("not applied: {other:?}").into()),
                }
            }
            Ok(())
        })
        .await
    }

    /// Undoes so many states, one after the other.
    async fn undo(&self, engine: &Engine, open: &OpenProgram, count: usize) -> Result<f64, Failure> {
        let travel = Travel {
            branch: "main".to_owned(),
            way: Way::Undo(Distance::Steps(1)),
            expected_head: None,
            dry_run: false,
        };
        cpu(count, async {
            for _ in 0..count {
                match engine.travel(open, &travel, &call()).await? {
                    Arrival::Made { .. } => {}
                    other => return Err(format!("not undone: {other:?}").into()),
                }
            }
            Ok(())
        })
        .await
    }

    /// Everything once; the program is then what it was.
    async fn turn(&mut self, [bare, usual]: &[Engine; 2]) -> Result<[f64; WHAT.len()], Failure> {
        let open = self.open[0].clone();
        let start = program_of(&open);
        let mut edit = self.propose(bare, BATCH, 1, false).await? * BATCH as f64;
        let small_difference = difference(&start, &program_of(&open)).await?;
        let others = OPERATIONS - BATCH;
        edit += self.propose(bare, others, 1, false).await? * others as f64;
        edit /= OPERATIONS as f64;
        let difference = difference(&start, &program_of(&open)).await?;
        self.undo(bare, &open, OPERATIONS).await?;
        assert_eq!(start.root_hash(), program_of(&open).root_hash(), "undo leads back");
        let batch = self.propose(bare, OPERATIONS, BATCH, false).await?;
        let undo = self.undo(bare, &open, OPERATIONS).await?;
        assert_eq!(start.root_hash(), program_of(&open).root_hash(), "undo leads back");
        let dry_run = self.propose(bare, OPERATIONS, 1, true).await?;
        assert_eq!(start.root_hash(), program_of(&open).root_hash(), "a dry run changes nothing");
        let first = self.checkpoints;
        self.checkpoints += OPERATIONS;
        let names: Vec<String> = (first..self.checkpoints).map(|number| format!("mark{number}")).collect();
        let checkpoint = cpu(OPERATIONS, async {
            for name in &names {
                bare.create_checkpoint(&open, name, None, &call()).await?;
            }
            Ok::<(), Failure>(())
        })
        .await?;
        for name in &names {
            bare.delete_checkpoint(&open, name, &call()).await?;
        }
        let (step, check) = self.memory.turn();
        let usual_open = self.open[1].clone();
        let stored = self.with_snapshots(usual, &usual_open).await?;
        Ok([edit, batch, undo, dry_run, checkpoint, small_difference, difference, step, check, stored])
    }

    /// Edits while snapshots are stored in the background, until both are done.
    async fn with_snapshots(&mut self, engine: &Engine, open: &OpenProgram) -> Result<f64, Failure> {
        let mut proposals: Vec<Proposal> = (0..SNAPSHOT_EDITS).map(|_| self.proposal(1, false)).collect();
        proposals.iter_mut().for_each(|proposal| proposal.program = Selector::Id(open.timeline.id()));
        let took = cpu(SNAPSHOT_EDITS, async {
            for proposal in proposals {
                engine.propose(proposal, &call()).await?;
            }
            settle().await;
            Ok::<(), Failure>(())
        })
        .await?;
        let back = Travel {
            branch: "main".to_owned(),
            way: Way::Undo(Distance::Steps(SNAPSHOT_EDITS as u64)),
            expected_head: None,
            dry_run: false,
        };
        engine.travel(open, &back, &call()).await?;
        settle().await;
        Ok(took)
    }
}

impl Memory {
    /// Edits with a snapshot and the hash, and LOCAL verification after each, in microseconds.
    fn turn(&mut self) -> (f64, f64) {
        let mut generated =
            Generated { program: self.generated.program.clone(), refs: self.generated.refs.clone() };
        generated.program.root_hash();
        let mut choices = Choices::seeded(self.findings.iter().count() as u64 + 6);
        let mut findings = self.findings.clone();
        let mut kept: VecDeque<Arc<Program>> = VecDeque::new();
        let (mut steps, mut checks) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..STEPS {
            let start = own_cpu();
            let before = Arc::new(generated.program.clone());
            shapes::edit(&mut generated, &self.functions, &mut choices);
            black_box(generated.program.root_hash());
            let edited = own_cpu();
            findings = local(&before, &findings, &generated.program);
            let checked = own_cpu();
            steps += edited - start;
            checks += checked - edited;
            kept.push_back(before);
            if kept.len() > KEPT {
                kept.pop_front();
            }
        }
        assert_eq!(findings, full(&generated.program), "LOCAL finds what FULL finds");
        let each = |all: Duration| all.as_secs_f64() * 1e6 / STEPS as f64;
        (each(steps), each(checks))
    }
}

fn report(subjects: &[Subject]) -> Report {
    let mut report = Report::of("engine");
    for (what, name) in WHAT.iter().enumerate() {
        for subject in subjects {
            let [(smallest, _), .., (largest, _)] = SIZES;
            let smaller = |other: &&Subject| {
                other.shape == subject.shape && other.size == smallest && subject.size != smallest
            };
            let growth = SIZES.iter().find(|(size, _)| *size == subject.size).map_or(1.0, |(_, most)| *most);
            let found = &subject.found[what];
            let subject_name = format!("{:?}, {} nodes", subject.shape, subject.size);
            let measured = Measured::new(format!("{name}; {subject_name}"), "us CPU", Spread::of(found));
            report.add(match subjects.iter().find(smaller) {
                None => measured,
                Some(small) => measured
                    .beside(format!("{} nodes", small.size), Spread::of_ratio(found, &small.found[what]))
                    .target(Target::AtMost(growth)),
            });
            if BOUNDED.contains(name) && subject.size == largest {
                let name = format!("{name}; {subject_name}, by itself");
                report.add(Measured::new(name, "us CPU", Spread::of(found)).target(Target::AtMost(MOST)));
            }
        }
    }
    report
}
