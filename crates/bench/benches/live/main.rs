//! Live edits: a thousand subscribers of `lmlang serve` over loopback hear of each edit of a program while it is edited.
//!
//! Edits come one by one, or from many agents at the same moment now and then, or as fast as many agents can ask. What counts is
//! the server's processor time for a delivery, how long after its commit an edit is delivered, and deliveries in a second when
//! there is a burst of them. An axum server beside it tells the same thousand of as many edits by the same bytes, which it has
//! ready, stores nothing and resolves nothing.
//!
//! Then nothing happens for a while: what the subscribers cost meanwhile, and what memory each has taken.
//!
//! `cargo xtask bench live`

mod audience;
mod peer;

use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use lmlang_bench::editor::{Program, create, head};
use lmlang_bench::load::Load;
use lmlang_bench::process::{Server, open_many, start_lmlang};
use lmlang_bench::report::{Measured, Report, Target, target_folder};
use lmlang_bench::rounds::{ROUNDS, Spread, orders};
use serde_json::json;

use crate::audience::{Audience, Editing, deliveries, edit, revision};
use crate::peer::{EVENT, Event};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SUBSCRIBERS: usize = 1_000;
/// So many of them come at a time, after each of which memory is measured.
const JOINING: usize = 200;
/// Files and connections of this process: the subscribers of both servers, and some more.
const FILES: u64 = 2_600;
/// How long nothing happens.
const IDLE: Duration = Duration::from_secs(2);

/// Microseconds of a processor for a delivery, at most, when edits come one by one.
const CPU: f64 = 8.0;
/// Milliseconds from the commit to 99 of 100 deliveries, at most: one by one, and with many agents at the same moment.
const LATE: f64 = 25.0;
const LATE_BESIDE_AGENTS: f64 = 100.0;
/// The least part of the peer's deliveries in a burst: as much as twenty times those of Mercurius, of which axum made 54 times
/// as many.
const BURST: f64 = 0.37;
/// Kilobytes that a subscriber takes at most.
const MEMORY: f64 = 10.0;
/// Bytes read and written in files for each subscriber in a second, at most, when nothing happens. A look into the database
/// would be a page of 4,096.
const IDLE_BYTES: f64 = 16.0;

/// What a subscriber asks for.
const FOLLOW: &str = "subscription($id: ID!, $after: String) { programEvents(programId: $id, after: $after) \
                      { __typename cursor at actor { name } ... on RevisionCommitted { touched } } }";

type Failure = Box<dyn Error + Send + Sync>;

/// How edits come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Single,
    Agents,
    Burst,
}

const PACES: [Pace; 3] = [Pace::Single, Pace::Agents, Pace::Burst];

impl Pace {
    fn editing(self) -> Editing {
        match self {
            Pace::Single => {
                Editing { connections: 1, editors: 1, times: 75, pause: Duration::from_millis(20) }
            }
            // Their answers come together, and so do their next edits.
            Pace::Agents => {
                Editing { connections: 8, editors: 8, times: 3, pause: Duration::from_millis(500) }
            }
            Pace::Burst => Editing { connections: 8, editors: 8, times: 4, pause: Duration::ZERO },
        }
    }

    fn name(self) -> &'static str {
        match self {
            Pace::Single => "50 edits a second at most",
            Pace::Agents => "64 agents at once, twice a second",
            Pace::Burst => "a burst of 256 edits of 64 agents",
        }
    }
}

/// What the rounds of a pace came to.
#[derive(Debug, Default)]
struct Found {
    /// Deliveries in a second.
    rate: Vec<f64>,
    /// Processor time of the server for each, in microseconds, the edits included.
    cpu: Vec<f64>,
    /// Milliseconds from the commit to the middle delivery, and to that after 99 of 100.
    middle: Vec<f64>,
    late: Vec<f64>,
}

/// A server with its subscribers.
struct Subject {
    server: Server,
    audience: Audience,
    found: [Found; PACES.len()],
    /// Kilobytes of each subscriber, for those who came at a time.
    memory: Vec<f64>,
    /// When nothing happens: milliseconds of processor time in a second, and bytes in files for each subscriber.
    idle_cpu: Vec<f64>,
    idle_bytes: Vec<f64>,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [peer, folder] if peer == "peer" => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(peer::serve(Path::new(folder)))
        }
        [] => measure(),
        _ => Err("usage: live".into()),
    }
}

fn measure() -> Result<(), Failure> {
    open_many(FILES)?;
    let target = target_folder()?.join("bench");
    fs::create_dir_all(&target)?;
    let folder = tempfile::Builder::new().prefix("live-").tempdir_in(target)?;
    let server = start_lmlang(folder.path())?;
    let program = create(server.address, "program", 1)?;
    // Values that the program does not begin with, all of one length.
    let mut next = 10_000_000;
    let newest = head(server.address, &program)?;
    let payload = |after: u64| {
        let variables = json!({ "id": program.id, "after": format!("r{after}") });
        json!({ "query": FOLLOW, "variables": variables }).to_string()
    };
    let text = first(&server, &program, newest, &payload(newest), &mut next)?;
    let number = revision(text.as_bytes()).ok_or_else(|| format!("no event of an edit: {text}"))?;
    fs::write(folder.path().join(EVENT), serde_json::to_vec(&Event { text: text.clone(), number })?)?;
    let peer = Server::start(Command::new(std::env::current_exe()?).arg("peer").arg(folder.path()))?;
    let told = first(&peer, &program, newest, &payload(newest), &mut next)?;
    assert_eq!(told, text, "both tell the same");

    let mut subjects =
        [Subject::of(peer, number, &payload(number))?, Subject::of(server, number, &payload(number))?];
    for (round, order) in orders(subjects.len() * PACES.len(), ROUNDS + 1, 5).into_iter().enumerate() {
        for at in order {
            let (subject, pace) = (&mut subjects[at % 2], at / 2);
            let (load, cpu) = subject.take(&program, PACES[pace].editing(), &mut next)?;
            // The first round warms up.
            if round > 0 {
                let found = &mut subject.found[pace];
                found.rate.push(load.rate());
                found.cpu.push(cpu);
                found.middle.push(load.quantile(0.5));
                found.late.push(load.quantile(0.99));
            }
        }
        let [_, server] = &mut subjects;
        server.rest()?;
    }
    let report = report(&subjects);
    for Subject { server, audience, .. } in subjects {
        // A server waits for those who are to say goodbye.
        drop(audience);
        server.stop()?;
    }
    report.publish()?;
    Ok(())
}

/// What a subscriber is told of one edit.
fn first(
    server: &Server,
    program: &Program,
    newest: u64,
    payload: &str,
    next: &mut u64,
) -> io::Result<String> {
    let mut audience = Audience::after(newest)?;
    audience.join(server.address, payload, 1)?;
    let once = Editing { connections: 1, editors: 1, times: 1, pause: Duration::ZERO };
    edit(server.address, program, once, *next)?;
    *next += once.edits();
    audience.told()
}

impl Subject {
    /// Lets all subscribers come, and measures what memory they take.
    fn of(server: Server, newest: u64, payload: &str) -> Result<Subject, Failure> {
        let held = |server: &Server| -> Result<f64, Failure> {
            server.settle()?;
            let bytes = server.memory().ok_or("the system does not tell memory")?;
            Ok(bytes as f64 / 1_000.0)
        };
        let mut audience = Audience::after(newest)?;
        let (mut before, mut memory) = (held(&server)?, Vec::new());
        for _ in 0..SUBSCRIBERS / JOINING {
            audience.join(server.address, payload, JOINING)?;
            let after = held(&server)?;
            memory.push((after - before) / JOINING as f64);
            before = after;
        }
        let (idle_cpu, idle_bytes) = (Vec::new(), Vec::new());
        Ok(Subject { server, audience, found: Default::default(), memory, idle_cpu, idle_bytes })
    }

    /// Lets a program be edited; answers with the deliveries, and the server's processor time for each, in microseconds.
    fn take(&mut self, program: &Program, editing: Editing, next: &mut u64) -> Result<(Load, f64), Failure> {
        let Subject { server, audience, .. } = self;
        let (address, from) = (server.address, *next);
        *next += editing.edits();
        let idle = server.settle()?;
        let (edited, heard) = std::thread::scope(|scope| {
            let edited = scope.spawn(|| edit(address, program, editing, from));
            let heard = audience.listen(editing.edits());
            let edited = edited.join().map_err(|_| "the editors ended by a panic")??;
            Ok::<_, Failure>((edited, heard?))
        })?;
        let busy = server.settle()? - idle;
        let load = deliveries(edited, &heard);
        let cpu = busy.as_secs_f64() * 1e6 / load.answered as f64;
        Ok((load, cpu))
    }

    /// Does nothing for a while, and takes down what that costs the server.
    fn rest(&mut self) -> Result<(), Failure> {
        let told = "the system does not tell what a process reads";
        let cpu = self.server.settle()?;
        let bytes = self.server.file_bytes().ok_or(told)?;
        std::thread::sleep(IDLE);
        let used = self.server.cpu().ok_or(told)?.saturating_sub(cpu);
        let moved = self.server.file_bytes().ok_or(told)? - bytes;
        self.idle_cpu.push(used.as_secs_f64() * 1e3 / IDLE.as_secs_f64());
        self.idle_bytes.push(moved as f64 / IDLE.as_secs_f64() / SUBSCRIBERS as f64);
        Ok(())
    }
}

fn report([peer, server]: &[Subject; 2]) -> Report {
    let mut report = Report::of("live");
    for (at, pace) in PACES.into_iter().enumerate() {
        let (beside, found, name) = (&peer.found[at], &server.found[at], pace.name());
        let measured = |what: &str, unit: &'static str, values: &[f64]| {
            Measured::new(format!("{name}: {what}"), unit, Spread::of(values))
        };
        let ratio = |one: &[f64], other: &[f64]| Spread::of_ratio(one, other);
        let rate = measured("delivered", "deliveries/s", &found.rate);
        let rate = rate.beside("the axum server", ratio(&found.rate, &beside.rate));
        report.add(match pace {
            Pace::Burst => rate.target(Target::AtLeast(BURST)),
            Pace::Single | Pace::Agents => rate,
        });
        let cpu = measured("server CPU", "us a delivery", &found.cpu);
        report.add(cpu.clone().beside("the axum server", ratio(&found.cpu, &beside.cpu)));
        if pace == Pace::Single {
            let cpu = Measured { name: format!("{}, by itself", cpu.name), ..cpu };
            report.add(cpu.target(Target::AtMost(CPU)));
        }
        let middle = measured("commit to median delivery", "ms", &found.middle);
        report.add(middle.beside("the axum server", ratio(&found.middle, &beside.middle)));
        let late = measured("commit to 99 % of deliveries", "ms", &found.late);
        report.add(match pace {
            Pace::Single => late.target(Target::AtMost(LATE)),
            Pace::Agents => late.target(Target::AtMost(LATE_BESIDE_AGENTS)),
            Pace::Burst => late.beside("the axum server", ratio(&found.late, &beside.late)),
        });
    }
    let one = |what: &str, unit, values: &[f64]| Measured::new(what, unit, Spread::of(values));
    report.add(one("memory of a subscriber", "kB", &server.memory).target(Target::AtMost(MEMORY)));
    report.add(one("memory of a subscriber of the axum server", "kB", &peer.memory));
    let idle = one("nothing happens: files, for each subscriber", "bytes/s", &server.idle_bytes);
    report.add(idle.target(Target::AtMost(IDLE_BYTES)));
    let idle = one("nothing happens: CPU, for all subscribers", "ms/s", &server.idle_cpu);
    report.add(idle);
    report
}
