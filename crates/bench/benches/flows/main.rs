//! Durable steps of flows: each writes about 1 KB of state, and the next one begins when SQLite has synced that.
//!
//! One run, and 64 at once, in this process. Beside them LangGraph with its SQLite saver and DBOS with SQLite do the same, each
//! with a database on the same disk and the same settings; so does a connection of rusqlite's that inserts rows as large as
//! the entries of a run's journal, one in a transaction or 64, and does nothing else. 64 runs of the others are shorter: a step
//! costs them so much more that their beginning counts for little.
//!
//! Then the first page of a trace of 100,000 spans is read, beside that of a trace of 1,000.
//!
//! `cargo xtask bench flows` brings the others into the build folder; without network it goes on without them.

mod code;
mod floor;
mod rival;
mod trace;

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lmlang_bench::process::{own_cpu, settle};
use lmlang_bench::report::{Measured, Report, Target, target_folder};
use lmlang_bench::rounds::{ROUNDS, Spread, orders};

use crate::code::{Runner, text};
use crate::floor::{Floor, stored};
use crate::rival::{Library, Rival};
use crate::trace::Pages;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs at once.
const MANY: usize = 64;
/// Steps of a run that is alone.
const ALONE: u64 = 1_000;
/// Steps of each run among many.
const AMONG_MANY: u64 = 256;
/// The same of the others.
const RIVALS_AMONG_MANY: u64 = 32;
/// What part of its steps a turn has that warms up.
const WARM_UP: u64 = 8;

/// The least number of steps beside LangGraph's, of one run.
const BESIDE_LANGGRAPH: f64 = 4.0;
/// The least part of what transactions of 64 rows do, of 64 runs.
const BESIDE_GROUPS: f64 = 0.25;
/// Milliseconds of a processor for a step, at most.
const CPU: f64 = 0.1;
/// Milliseconds until the first page of a long trace is there, at most.
const FIRST_PAGE: f64 = 200.0;

/// The Python in which the others are installed.
const PYTHON: &str = "LMLANG_BENCH_PYTHON";

type Failure = Box<dyn Error + Send + Sync>;

/// Who takes a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Engine,
    Rows,
    Rival(Library),
}

/// What takes a turn in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    who: Who,
    /// Runs at once, or rows of a transaction.
    runs: usize,
}

impl Turn {
    fn name(self) -> String {
        let runs = if self.runs == 1 { "1 run".to_owned() } else { format!("{} runs", self.runs) };
        match self.who {
            Who::Engine => runs,
            Who::Rows if self.runs == 1 => "a row a transaction".to_owned(),
            Who::Rows => format!("{} rows a transaction", self.runs),
            Who::Rival(library) => format!("{}, {runs}", library.name()),
        }
    }

    /// Steps of each of its runs.
    fn steps(self) -> u64 {
        match (self.who, self.runs) {
            (_, 1) => ALONE,
            (Who::Engine | Who::Rows, _) => AMONG_MANY,
            (Who::Rival(_), _) => RIVALS_AMONG_MANY,
        }
    }
}

/// What the rounds of a turn came to.
#[derive(Debug, Default)]
struct Found {
    /// Steps, or rows, in a second.
    rate: Vec<f64>,
    /// Milliseconds of a processor for each.
    cpu: Vec<f64>,
    /// Bytes that are stored for each.
    bytes: Vec<f64>,
}

/// Everything that runs.
struct Bench {
    runner: Runner,
    database: PathBuf,
    floor: Floor,
    floor_database: PathBuf,
    rivals: Vec<Rival>,
}

fn main() -> Result<(), Failure> {
    let target = target_folder()?.join("bench");
    fs::create_dir_all(&target)?;
    // Beside the build, which is on a disk: a temporary folder may be memory.
    let folder = tempfile::Builder::new().prefix("flows-").tempdir_in(target)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(folder.path()))?.publish()?;
    Ok(())
}

async fn measure(folder: &Path) -> Result<Report, Failure> {
    let mut bench = Bench::start(folder).await?;
    let subjects = [Who::Engine, Who::Rows].into_iter();
    let subjects = subjects.chain(bench.rivals.iter().map(|rival| Who::Rival(rival.library)));
    let turns: Vec<Turn> = subjects.flat_map(|who| [1, MANY].map(|runs| Turn { who, runs })).collect();
    for turn in &turns {
        // Warms up caches, statements and interpreters.
        bench.take(*turn, turn.steps() / WARM_UP, &mut Found::default()).await?;
    }
    let mut found: Vec<Found> = turns.iter().map(|_| Found::default()).collect();
    for order in orders(turns.len(), ROUNDS, 2) {
        for at in order {
            bench.take(turns[at], turns[at].steps(), &mut found[at]).await?;
        }
    }
    bench.runner.engine.close().await;
    drop(bench);
    let pages = trace::pages(folder).await?;
    Ok(report(&turns, &found, &pages))
}

impl Bench {
    async fn start(folder: &Path) -> Result<Bench, Failure> {
        let [database, floor_database] = ["lmlang.db", "rows.db"].map(|name| folder.join(name));
        let mut runner = Runner::open(&database).await?;
        // The rows beside it are as large as those of this run.
        runner.run(1, ALONE / WARM_UP).await?;
        let floor = Floor::start(&floor_database, &database)?;
        Ok(Bench { runner, database, floor, floor_database, rivals: rivals(folder) })
    }

    async fn take(&mut self, turn: Turn, steps: u64, found: &mut Found) -> Result<(), Failure> {
        let all = (turn.runs as u64 * steps) as f64;
        let before = stored(self.database_of(turn.who)?)?;
        settle().await;
        let (start, cpu) = (Instant::now(), own_cpu());
        let (took, busy) = match turn.who {
            Who::Engine => {
                let runs = self.runner.run(turn.runs, steps).await?;
                let took = start.elapsed();
                // With what is done in the background.
                settle().await;
                let busy = own_cpu() - cpu;
                let mut came_to = Vec::new();
                for run in &runs {
                    came_to.push(self.runner.came_to(run).await?);
                }
                check(turn, steps, &came_to);
                (took, busy)
            }
            Who::Rows => {
                self.floor.insert(turn.runs, steps)?;
                (start.elapsed(), own_cpu() - cpu)
            }
            Who::Rival(library) => {
                let rival = self.rivals.iter_mut().find(|rival| rival.library == library);
                let answer = rival.ok_or("a rival takes turns while it is there")?.run(turn.runs, steps)?;
                check(turn, steps, &answer.came_to);
                (Duration::from_secs_f64(answer.seconds), Duration::from_secs_f64(answer.cpu))
            }
        };
        let after = stored(self.database_of(turn.who)?)?;
        found.rate.push(all / took.as_secs_f64());
        found.cpu.push(busy.as_secs_f64() * 1e3 / all);
        found.bytes.push(after.saturating_sub(before) as f64 / all);
        Ok(())
    }

    fn database_of(&self, who: Who) -> Result<&Path, Failure> {
        match who {
            Who::Engine => Ok(&self.database),
            Who::Rows => Ok(&self.floor_database),
            Who::Rival(library) => {
                let rival = self.rivals.iter().find(|rival| rival.library == library);
                Ok(&rival.ok_or("a rival takes turns while it is there")?.database)
            }
        }
    }
}

/// All come to the same: the last step and what that wrote.
fn check(turn: Turn, steps: u64, came_to: &[(u64, String)]) {
    assert_eq!(came_to.len(), turn.runs, "{turn:?}");
    let expected = (steps, text(steps));
    assert!(came_to.iter().all(|one| *one == expected), "{turn:?}");
}

/// Starts the others; says which are not there.
fn rivals(folder: &Path) -> Vec<Rival> {
    let Some(python) = env::var_os(PYTHON).map(PathBuf::from) else {
        println!("without LangGraph and DBOS: `{PYTHON}` names no Python with them");
        return Vec::new();
    };
    let start = |library: Library| match Rival::start(&python, folder, library) {
        Ok(rival) => Some(rival),
        Err(error) => {
            println!("without {}: {error}", library.name());
            None
        }
    };
    Library::ALL.into_iter().filter_map(start).collect()
}

fn report(turns: &[Turn], found: &[Found], [short, long]: &[Pages; 2]) -> Report {
    let mut report = Report::of("flows");
    for (turn, of) in turns.iter().zip(found) {
        let name = turn.name();
        let unit = if turn.who == Who::Rows { "rows/s" } else { "steps/s" };
        let rate = Measured::new(name.clone(), unit, Spread::of(&of.rate));
        let cpu = Measured::new(format!("{name}: CPU"), "ms a step", Spread::of(&of.cpu));
        let bytes = Measured::new(format!("{name}: stored"), "bytes a step", Spread::of(&of.bytes));
        if turn.who != Who::Engine {
            [rate, cpu, bytes].into_iter().for_each(|measured| report.add(measured));
            continue;
        }
        let others: Vec<(&Turn, &Found)> = turns.iter().zip(found).collect();
        let others = others.into_iter().filter(|(other, _)| other.runs == turn.runs && *other != turn);
        for (other, beside) in others.clone() {
            let measured = rate.clone().beside(other.name(), Spread::of_ratio(&of.rate, &beside.rate));
            report.add(match (other.who, other.runs) {
                (Who::Rows, MANY) => measured.target(Target::AtLeast(BESIDE_GROUPS)),
                (Who::Rival(Library::LangGraph), 1) => measured.target(Target::AtLeast(BESIDE_LANGGRAPH)),
                _ => measured,
            });
        }
        report.add(cpu.target(Target::AtMost(CPU)));
        for (other, beside) in others {
            let ratio = Spread::of_ratio(&of.bytes, &beside.bytes);
            report.add(bytes.clone().beside(other.name(), ratio));
        }
    }
    let page = |name: &str, found: &[f64]| Measured::new(name, "ms", Spread::of(found));
    let first = "a trace of 100,000 spans: its first 200";
    report.add(page(first, &long.first).target(Target::AtMost(FIRST_PAGE)));
    let ratio = Spread::of_ratio(&long.first, &short.first);
    report.add(page(first, &long.first).beside("a trace of 1,000", ratio));
    let ratio = Spread::of_ratio(&long.middle, &short.middle);
    let middle = page("a trace of 100,000 spans: 200 in its middle", &long.middle);
    report.add(middle.beside("a trace of 1,000", ratio));
    report
}
