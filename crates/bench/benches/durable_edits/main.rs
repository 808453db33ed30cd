//! Durable edits: `lmlang serve` over loopback, one edit or several in a request, answered when SQLite has synced them.
//!
//! One client is set beside a bare axum handler that inserts the same row through sea-orm with the same settings.
//! With 64 clients it is the server's processor time that counts: wall time is mostly the disk and the client. The
//! time that the server needs after the last answer, for what it does in the background, is counted with the rest.
//! What a processor is worth differs from machine to machine, so two handlers say what 64 clients cost here at the
//! least: the one that inserts, and one that reads the same request and answers it at once.
//!
//! `cargo xtask bench durable_edits`; once that has built the server, `cargo bench -p lmlang-bench --bench durable_edits
//! -- TEXT` measures only what has the text in its name.

mod peer;

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use lmlang_bench::editor::{Editor, Program, create, head};
use lmlang_bench::load::{Caller, drive};
use lmlang_bench::process::{Server, own_cpu, start_lmlang};
use lmlang_bench::report::{Measured, Report, Target, target_folder};
use lmlang_bench::rounds::{ROUNDS, Spread, orders};

use crate::peer::Inserter;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Clients that edit at the same time, and programs that they edit.
const MANY: usize = 64;
/// Edits of a larger request.
const BATCH: usize = 10;
/// How long each takes its turn.
const TURN: Duration = Duration::from_millis(1_500);

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [peer, folder] if peer == "peer" => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(peer::serve(Path::new(folder)))
        }
        [peer] if peer == "idle-peer" => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(peer::serve_nothing())
        }
        [] => measure(""),
        [text] => measure(text),
        _ => Err("usage: durable_edits [TEXT]".into()),
    }
}

/// What takes a turn in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// The handler that inserts, with so many clients.
    Peer { clients: usize },
    /// The handler that answers at once, with so many clients.
    IdlePeer { clients: usize },
    /// The server, with so many clients on so many programs and so many edits in a request.
    Server { clients: usize, programs: usize, edits: usize },
}

const TURNS: [Turn; 8] = [
    Turn::Peer { clients: 1 },
    Turn::Peer { clients: MANY },
    Turn::IdlePeer { clients: MANY },
    Turn::Server { clients: 1, programs: 1, edits: 1 },
    Turn::Server { clients: 1, programs: 1, edits: BATCH },
    Turn::Server { clients: MANY, programs: 1, edits: 1 },
    Turn::Server { clients: MANY, programs: MANY, edits: 1 },
    Turn::Server { clients: MANY, programs: 1, edits: BATCH },
];

impl Turn {
    fn name(self) -> String {
        let number =
            |clients| if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
        match self {
            Turn::Peer { clients } => format!("the handler, {}", number(clients)),
            Turn::IdlePeer { clients } => format!("a handler without database, {}", number(clients)),
            Turn::Server { clients, programs, edits } => {
                let clients = number(clients);
                let programs = if programs == 1 { "1 program" } else { "a program each" };
                let edits = if edits == 1 { String::new() } else { format!(", {edits} edits a request") };
                format!("{clients}, {programs}{edits}")
            }
        }
    }
}

/// What the rounds of a turn came to.
#[derive(Debug, Default)]
struct Found {
    /// Edits, or rows, in a second.
    rate: Vec<f64>,
    /// Processor time of the server for each, in microseconds.
    cpu: Vec<f64>,
    /// Processor time of the client for each, in microseconds.
    client: Vec<f64>,
    /// Milliseconds to the middle answer, and to that after 99 of 100.
    middle: Vec<f64>,
    late: Vec<f64>,
}

/// Everything that runs.
struct Bench {
    server: Server,
    peer: Server,
    idle_peer: Server,
    programs: Vec<Program>,
    row: peer::Row,
    next: Rc<Cell<u64>>,
    /// Requests that were acknowledged: of each program, and of the peer.
    acknowledged: Vec<u64>,
    inserted: u64,
}

fn measure(text: &str) -> Result<(), Failure> {
    let turns: Vec<Turn> = TURNS.into_iter().filter(|turn| turn.name().contains(text)).collect();
    let target = target_folder()?.join("bench");
    fs::create_dir_all(&target)?;
    // Beside the build, which is on a disk: a temporary folder may be memory.
    let folder = tempfile::Builder::new().prefix("durable-edits-").tempdir_in(target)?;
    let mut bench = Bench::start(folder.path())?;
    let before = bench.heads()?;
    let mut found: Vec<Found> = turns.iter().map(|_| Found::default()).collect();
    for turn in &turns {
        // Warms up caches, statements and documents.
        bench.take(*turn, Duration::from_millis(300), &mut Found::default())?;
    }
    for order in orders(turns.len(), ROUNDS, 1) {
        for at in order {
            bench.take(turns[at], TURN, &mut found[at])?;
        }
    }
    bench.check(&before)?;
    let rows = bench.stop(folder.path())?;
    println!("{rows} rows are there as they were acknowledged");
    report(&turns, &found).publish()?;
    Ok(())
}

impl Bench {
    fn start(folder: &Path) -> Result<Bench, Failure> {
        let server = start_lmlang(folder)?;
        let programs: Vec<Program> = (0..MANY)
            .map(|number| create(server.address, &format!("program{number}"), number as u64))
            .collect::<Result<_, _>>()?;
        for program in &programs {
            assert!(program.constants.len() >= MANY, "every client has a constant of its own");
        }
        // Values that the programs do not begin with, all of one length.
        let next = Rc::new(Cell::new(10_000_000));
        drive(server.address, vec![Editor::of(&programs[0], 0, 1, &next)], Duration::from_micros(1))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let row = runtime.block_on(peer::newest_row(&folder.join("lmlang.db")))?.ok_or("the log is empty")?;
        println!("a row: {} bytes of edits, {} of counts", row.edits.len(), row.counts.len());
        fs::write(folder.join("row.json"), serde_json::to_vec(&row)?)?;
        let peer = Server::start(Command::new(std::env::current_exe()?).arg("peer").arg(folder))?;
        let idle_peer = Server::start(Command::new(std::env::current_exe()?).arg("idle-peer"))?;
        let acknowledged = vec![0; programs.len()];
        Ok(Bench { server, peer, idle_peer, programs, row, next, acknowledged, inserted: 0 })
    }

    fn heads(&self) -> io::Result<Vec<u64>> {
        self.programs.iter().map(|program| head(self.server.address, program)).collect()
    }

    fn take(&mut self, turn: Turn, time: Duration, found: &mut Found) -> Result<(), Failure> {
        match turn {
            Turn::Peer { clients } => {
                let callers = run(&self.peer, self.inserters(clients)?, time, 1, found)?;
                self.inserted += callers.iter().map(|caller| caller.inserted).sum::<u64>();
            }
            Turn::IdlePeer { clients } => {
                run(&self.idle_peer, self.inserters(clients)?, time, 1, found)?;
            }
            Turn::Server { clients, programs, edits } => {
                let editor = |number: usize| {
                    Editor::of(&self.programs[number % programs], number / programs, edits, &self.next)
                };
                let callers: Vec<Editor> = (0..clients).map(editor).collect();
                for (number, editor) in run(&self.server, callers, time, edits, found)?.iter().enumerate() {
                    self.acknowledged[number % programs] += editor.applied;
                }
            }
        }
        Ok(())
    }

    fn inserters(&self, clients: usize) -> io::Result<Vec<Inserter>> {
        (0..clients).map(|_| Inserter::of(&self.row, &self.next)).collect()
    }

    /// Compares the heads with what was acknowledged.
    fn check(&self, before: &[u64]) -> io::Result<()> {
        let after = self.heads()?;
        for ((before, after), acknowledged) in before.iter().zip(after).zip(&self.acknowledged) {
            assert_eq!(after - before, *acknowledged, "a head is where its acknowledged edits led to");
        }
        Ok(())
    }

    /// Stops both, and counts the rows in both databases.
    fn stop(self, folder: &Path) -> Result<u64, Failure> {
        let heads: u64 = self.heads()?.iter().sum();
        self.server.stop()?;
        self.peer.stop()?;
        self.idle_peer.stop()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let stored = runtime.block_on(peer::rows(&folder.join("lmlang.db")))?;
        assert_eq!(stored, heads, "every revision is a row");
        let inserted = runtime.block_on(peer::rows(&folder.join("peer.db")))?;
        assert_eq!(inserted, self.inserted, "every insertion is a row");
        Ok(stored + inserted)
    }
}

/// Lets callers ask one of the servers, and takes down what it came to.
fn run<C: Caller + 'static>(
    server: &Server,
    callers: Vec<C>,
    time: Duration,
    edits: usize,
    found: &mut Found,
) -> Result<Vec<C>, Failure> {
    let idle = server.settle()?;
    let own = own_cpu();
    let (load, callers) = drive(server.address, callers, time)?;
    let own = own_cpu() - own;
    let busy = server.settle()? - idle;
    let count = (load.answered * edits as u64) as f64;
    found.rate.push(load.rate() * edits as f64);
    found.cpu.push(busy.as_secs_f64() * 1e6 / count);
    found.client.push(own.as_secs_f64() * 1e6 / count);
    found.middle.push(load.quantile(0.5));
    found.late.push(load.quantile(0.99));
    Ok(callers)
}

fn report(turns: &[Turn], found: &[Found]) -> Report {
    let mut report = Report::of("durable_edits");
    let handler = |many: usize| {
        turns.iter().position(|turn| *turn == Turn::Peer { clients: many }).map(|at| &found[at])
    };
    for (found, turn) in found.iter().zip(turns) {
        let name = turn.name();
        let comparable = match turn {
            Turn::Server { clients, edits: 1, .. } => handler(*clients),
            _ => None,
        };
        let mut rate = Measured::new(name.clone(), "edits/s", Spread::of(&found.rate));
        let mut cpu = Measured::new(format!("{name}: server CPU"), "us an edit", Spread::of(&found.cpu));
        if let Some(handler) = comparable {
            let ratio = Spread::of_ratio(&found.rate, &handler.rate);
            rate = rate.beside("the handler", ratio);
            // With many, the target is one of the time itself.
            if matches!(turn, Turn::Server { clients: 1, .. }) {
                rate = rate.target(Target::AtLeast(0.8));
                cpu = cpu.beside("the handler", Spread::of_ratio(&found.cpu, &handler.cpu));
            }
        }
        if matches!(turn, Turn::Server { clients: MANY, edits: 1, .. }) {
            cpu = cpu.target(Target::AtMost(100.0));
        }
        report.add(rate);
        report.add(cpu);
        report.add(Measured::new(format!("{name}: client CPU"), "us an edit", Spread::of(&found.client)));
        report.add(Measured::new(format!("{name}: median answer"), "ms", Spread::of(&found.middle)));
        report.add(Measured::new(format!("{name}: 99 %"), "ms", Spread::of(&found.late)));
    }
    report
}
