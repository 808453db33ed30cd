//! Durable edits without a network: our engine in this process, beside a committer of rusqlite's that inserts the same rows.
//!
//! 64 callers edit one program, or one each, and each asks again when its edit is synced. The committer beside them is a
//! thread that puts what 64 callers have queued into one insertion, of at most as many rows as the engine's transactions
//! have on average: a copy of the engine's newest row in a copy of its table, with new keys, on the same disk. What it
//! does not do is what an engine is for: apply the edit, verify the result, hash it, and show it to readers.
//!
//! `cargo xtask bench in_process`

mod committer;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lmlang_bench::editor::MESSAGE;
use lmlang_bench::process::{own_cpu, settle};
use lmlang_bench::report::{Measured, Report, Target, target_folder};
use lmlang_bench::rounds::{ROUNDS, Spread, orders};
use lmlang_engine::{
    Call, Creation, Engine, Limits, NewProgramRequest, OpenProgram, Outcome, Proposal, Selector,
    SnapshotPolicy,
};
use lmlang_history::log::{Actor, ActorKind};
use lmlang_history::request::{EditRequest, ModifyNode};
use lmlang_history::revision::MAIN;
use lmlang_ir::text::{Detail, print_program};
use lmlang_ir::{Attr, Const, NodeRef};
use lmlang_store::{Options, Store};
use lmlang_testkit::shapes::{self, Shape};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::committer::{Committer, Template};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Callers, and programs that they edit.
const CALLERS: usize = 64;
/// Nodes of a program.
const NODES: usize = 1_000;
/// How long each takes its turn.
const TURN: Duration = Duration::from_millis(1_500);
/// The least part of what the committer does that the engine must do.
const LEAST: f64 = 0.5;

type Failure = Box<dyn Error + Send + Sync>;

/// Who takes a turn, on how many programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Engine(usize),
    Committer(usize),
}

const TURNS: [Turn; 4] =
    [Turn::Engine(1), Turn::Committer(1), Turn::Engine(CALLERS), Turn::Committer(CALLERS)];

/// What the rounds of a turn came to.
#[derive(Debug, Default)]
struct Found {
    /// Edits, or rows, in a second.
    rate: Vec<f64>,
    /// Processor time for each, in microseconds.
    cpu: Vec<f64>,
    /// Rows of a transaction.
    batch: Vec<f64>,
}

/// Everything that runs.
struct Bench {
    engine: Engine,
    programs: Vec<Arc<Edited>>,
    committer: Arc<Committer>,
    next: Arc<AtomicU64>,
    /// Rows of the engine's transactions in its last turn, with one program and with many.
    batches: [f64; 2],
}

/// A program with its constants.
struct Edited {
    open: OpenProgram,
    constants: Vec<NodeRef>,
}

fn main() -> Result<(), Failure> {
    let target = target_folder()?.join("bench");
    fs::create_dir_all(&target)?;
    // Beside the build, which is on a disk: a temporary folder may be memory.
    let folder = tempfile::Builder::new().prefix("in-process-").tempdir_in(target)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(folder.path()))?.publish()?;
    Ok(())
}

async fn measure(folder: &Path) -> Result<Report, Failure> {
    let mut bench = Bench::start(folder).await?;
    let mut found: [Found; TURNS.len()] = Default::default();
    for turn in TURNS {
        // Warms up caches and statements, and says how large batches are.
        bench.take(turn, Duration::from_millis(300), &mut Found::default()).await?;
    }
    for order in orders(TURNS.len(), ROUNDS, 1) {
        for at in order {
            bench.take(TURNS[at], TURN, &mut found[at]).await?;
        }
    }
    bench.check().await?;
    Ok(report(&found))
}

impl Bench {
    async fn start(folder: &Path) -> Result<Bench, Failure> {
        let database = folder.join("lmlang.db");
        let store = Store::open(Options::file(&database)).await?;
        let engine = Engine::new(store, Limits::default(), SnapshotPolicy::default());
        let mut programs = Vec::new();
        for number in 0..CALLERS {
            programs.push(Arc::new(Edited::create(&engine, number).await?));
        }
        // Values that the programs do not begin with, all of one length.
        let next = Arc::new(AtomicU64::new(10_000_000));
        programs[0].edit(&engine, 0, &next).await?;
        let template = Template::read(&database)?;
        let committer = Arc::new(Committer::start(&folder.join("peer.db"), template)?);
        Ok(Bench { engine, programs, committer, next, batches: [1.0; 2] })
    }

    async fn take(&mut self, turn: Turn, time: Duration, found: &mut Found) -> Result<(), Failure> {
        settle().await;
        let (start, cpu) = (Instant::now(), own_cpu());
        let (rows, transactions) = match turn {
            Turn::Engine(programs) => {
                let before = self.engine.store().committer().committed();
                let mut callers = JoinSet::new();
                for number in 0..CALLERS {
                    let program = Arc::clone(&self.programs[number % programs]);
                    let (engine, next) = (self.engine.clone(), Arc::clone(&self.next));
                    let at = number / programs;
                    callers.spawn(async move {
                        while start.elapsed() < time {
                            program.edit(&engine, at, &next).await?;
                        }
                        Ok::<(), Failure>(())
                    });
                }
                callers.join_all().await.into_iter().collect::<Result<(), Failure>>()?;
                let after = self.engine.store().committer().committed();
                (after.entries - before.entries, after.transactions - before.transactions)
            }
            Turn::Committer(programs) => {
                let before = self.committer.committed();
                self.committer.at_most(self.batches[usize::from(programs > 1)]);
                let mut callers = JoinSet::new();
                for number in 0..CALLERS {
                    let committer = Arc::clone(&self.committer);
                    callers.spawn(async move {
                        while start.elapsed() < time {
                            committer.insert(number % programs).await?;
                        }
                        Ok::<(), Failure>(())
                    });
                }
                callers.join_all().await.into_iter().collect::<Result<(), Failure>>()?;
                let after = self.committer.committed();
                (after.0 - before.0, after.1 - before.1)
            }
        };
        let took = start.elapsed();
        // With what is done in the background.
        settle().await;
        let batch = rows as f64 / transactions as f64;
        if let Turn::Engine(programs) = turn {
            self.batches[usize::from(programs > 1)] = batch;
        }
        found.rate.push(rows as f64 / took.as_secs_f64());
        found.cpu.push((own_cpu() - cpu).as_secs_f64() * 1e6 / rows as f64);
        found.batch.push(batch);
        Ok(())
    }

    /// Closes both, and compares the rows with what was acknowledged.
    async fn check(self) -> Result<(), Failure> {
        let heads: u64 = self.programs.iter().map(|program| program.open.timeline.head().last).sum();
        let acknowledged = self.engine.store().committer().committed().entries;
        assert_eq!(acknowledged, heads, "every entry is a revision");
        self.engine.close().await;
        let committer = Arc::into_inner(self.committer).ok_or("somebody still inserts")?;
        let inserted = committer.committed().0;
        assert_eq!(committer.close()?, inserted, "every insertion is a row");
        Ok(())
    }
}

impl Edited {
    async fn create(engine: &Engine, number: usize) -> Result<Edited, Failure> {
        let generated = shapes::program(Shape::ManySmall, NODES, number as u64);
        let text = Some(print_program(&generated.program, Detail::Standard));
        let name = format!("program{number}");
        let request = NewProgramRequest { name, doc: String::new(), content: text.into() };
        let open = match engine.create_program(request, &call()).await? {
            Creation::Created(open) => open,
            Creation::Rejected { text, .. } => return Err(format!("not made: {text:?}").into()),
        };
        let head = open.timeline.head();
        let functions = head.main.revision.checked.program().functions();
        let constants: Vec<NodeRef> = functions
            .flat_map(|(_, function)| {
                let is_constant = |attr: &Attr| matches!(attr, Attr::Const(Const::I64(_)));
                function
                    .body()
                    .nodes()
                    .filter(move |(_, node)| is_constant(node.op().attr()))
                    .map(|(of, _)| of)
            })
            .collect();
        assert!(constants.len() >= CALLERS, "every caller has a constant of its own");
        Ok(Edited { open, constants })
    }

    /// Sets one of the constants, and waits until that is durable.
    async fn edit(&self, engine: &Engine, at: usize, next: &AtomicU64) -> Result<(), Failure> {
        let op = format!("const.i64 {}", next.fetch_add(1, Ordering::Relaxed));
        let of = self.constants[at].to_string();
        let key = Uuid::now_v7().to_string();
        let mut call = call().keyed(Some(&key), op.as_bytes());
        call.message = Some(MESSAGE.to_owned());
        let proposal = Proposal {
            program: Selector::Id(self.open.timeline.id()),
            branch: MAIN.to_owned(),
            base: None,
            edits: vec![EditRequest::ModifyNode(ModifyNode { of, op })],
            dry_run: false,
            require_complete: false,
            verify_all: false,
        };
        match engine.propose(proposal, &call).await? {
            Outcome::Applied(_) => Ok(()),
            other => Err(format!("not applied: {other:?}").into()),
        }
    }
}

fn call() -> Call {
    Call::by(Actor { name: "bench".to_owned(), kind: ActorKind::Tool, client: None })
}

fn report(found: &[Found; TURNS.len()]) -> Report {
    let mut report = Report::of("in_process");
    for (found_one, turn) in found.iter().zip(TURNS) {
        let (who, programs) = match turn {
            Turn::Engine(programs) => ("engine", programs),
            Turn::Committer(programs) => ("committer", programs),
        };
        let name = match programs {
            1 => format!("{who}, {CALLERS} callers on 1 program"),
            _ => format!("{who}, {CALLERS} callers on a program each"),
        };
        let mut rate = Measured::new(name.clone(), "edits/s", Spread::of(&found_one.rate));
        let mut cpu = Measured::new(format!("{name}: CPU"), "us an edit", Spread::of(&found_one.cpu));
        let committer = TURNS.iter().position(|other| *other == Turn::Committer(programs));
        if let (Turn::Engine(_), Some(at)) = (turn, committer) {
            let ratio = Spread::of_ratio(&found_one.rate, &found[at].rate);
            rate = rate.beside("the committer", ratio).target(Target::AtLeast(LEAST));
            cpu = cpu.beside("the committer", Spread::of_ratio(&found_one.cpu, &found[at].cpu));
        }
        report.add(rate);
        report.add(cpu);
        report.add(Measured::new(format!("{name}: a transaction"), "rows", Spread::of(&found_one.batch)));
    }
    report
}
