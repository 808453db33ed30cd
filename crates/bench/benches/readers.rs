//! Readers beside writers: how long a reader of a program waits while many agents change it, beside how long without them.
//!
//! All of them are clients of one `lmlang serve` over loopback, and so is the load generator on the same processors. Agents
//! come in two kinds: those that ask again at once, which leaves no processor idle, and those that think in between.
//!
//! `cargo xtask bench readers`

use std::cell::Cell;
use std::fs;
use std::rc::Rc;
use std::time::Duration;

use lmlang_bench::editor::{Editor, Program, create};
use lmlang_bench::http::find;
use lmlang_bench::load::{Caller, Load, drive};
use lmlang_bench::process::{Server, start_lmlang};
use lmlang_bench::report::{Measured, Report, Target, target_folder};
use lmlang_bench::rounds::{ROUNDS, Spread, orders};
use serde_json::json;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const READERS: usize = 8;
const WRITERS: usize = 32;
/// How long an agent thinks, of those that do: far shorter than a model.
const THOUGHT: Duration = Duration::from_millis(100);
/// How long each takes its turn.
const TURN: Duration = Duration::from_secs(2);
/// Before readers are measured, and after.
const MARGIN: Duration = Duration::from_millis(200);
/// The most that readers may wait, beside what they wait without writers.
const LONGER: f64 = 3.0;

/// Fifty nodes of a function, as an agent looks at them.
const READ: &str = "query($id: ID!) { program(id: $id) { revision { number } functions(first: 1) { nodes { path \
                    nodes(first: 50) { nodes { ref op label } } } } } }";

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Who writes meanwhile.
#[derive(Clone, Copy, Debug)]
enum Beside {
    Nobody,
    Thinking,
    Restless,
}

const TURNS: [Beside; 3] = [Beside::Nobody, Beside::Thinking, Beside::Restless];

/// One who reads again and again.
struct Reader(String);

impl Caller for Reader {
    fn request(&mut self, body: &mut String) {
        body.push_str(&self.0);
    }

    fn answered(&mut self, answer: &[u8]) -> Result<(), String> {
        match find(answer, br#""op":"const.i64"#) {
            Some(_) => Ok(()),
            None => Err(format!("not the nodes: {}", String::from_utf8_lossy(answer))),
        }
    }
}

/// One who edits, and thinks in between.
struct Agent {
    editor: Editor,
    pause: Duration,
}

impl Caller for Agent {
    fn request(&mut self, body: &mut String) {
        self.editor.request(body);
    }

    fn answered(&mut self, answer: &[u8]) -> Result<(), String> {
        self.editor.answered(answer)
    }

    fn pause(&self) -> Duration {
        self.pause
    }
}

/// What the rounds of a turn came to: milliseconds to the middle answer, and to that after 99 of 100.
#[derive(Debug, Default)]
struct Found {
    middle: Vec<f64>,
    late: Vec<f64>,
    /// Answers to readers, and to writers, in a second.
    read: Vec<f64>,
    written: Vec<f64>,
}

fn main() -> Result<(), Failure> {
    let target = target_folder()?.join("bench");
    fs::create_dir_all(&target)?;
    let folder = tempfile::Builder::new().prefix("readers-").tempdir_in(target)?;
    let server = start_lmlang(folder.path())?;
    let program = create(server.address, "program", 1)?;
    let mut found: [Found; TURNS.len()] = Default::default();
    let mut next = 10_000_000;
    for (round, order) in orders(TURNS.len(), ROUNDS + 1, 1).into_iter().enumerate() {
        for at in order {
            let (read, written) = turn(&server, &program, TURNS[at], &mut next)?;
            // The first round warms up.
            if round > 0 {
                found[at].middle.push(read.quantile(0.5));
                found[at].late.push(read.quantile(0.99));
                found[at].read.push(read.rate());
                found[at].written.push(written);
            }
        }
    }
    server.stop()?;
    report(&found).publish()?;
    Ok(())
}

/// What readers wait, and how many edits are made in a second.
fn turn(server: &Server, program: &Program, beside: Beside, next: &mut u64) -> Result<(Load, f64), Failure> {
    let address = server.address;
    let pause = match beside {
        Beside::Nobody => None,
        Beside::Thinking => Some(THOUGHT),
        Beside::Restless => Some(Duration::ZERO),
    };
    let first = *next;
    std::thread::scope(|scope| {
        let writing = pause.map(|pause| {
            scope.spawn(move || {
                let next = Rc::new(Cell::new(first));
                let agent = |number| Agent { editor: Editor::of(program, number, 1, &next), pause };
                let load = drive(address, (0..WRITERS).map(agent).collect(), TURN + 2 * MARGIN);
                load.map(|(load, _)| (load.rate(), next.get()))
            })
        });
        std::thread::sleep(MARGIN);
        let body = json!({ "query": READ, "variables": { "id": program.id } }).to_string();
        let (read, _) = drive(address, (0..READERS).map(|_| Reader(body.clone())).collect(), TURN)?;
        let written = match writing.map(|writing| writing.join()) {
            None => 0.0,
            Some(Ok(written)) => {
                let (rate, last) = written?;
                *next = last;
                rate
            }
            Some(Err(_)) => return Err("the writers ended by a panic".into()),
        };
        Ok((read, written))
    })
}

fn report(found: &[Found; TURNS.len()]) -> Report {
    let mut report = Report::of("readers");
    let [alone, ..] = found;
    for (beside, found) in TURNS.iter().zip(found) {
        let name = match beside {
            Beside::Nobody => format!("{READERS} readers"),
            Beside::Thinking => {
                format!("beside {WRITERS} agents that think for {} ms", THOUGHT.as_millis())
            }
            Beside::Restless => format!("beside {WRITERS} agents that do not"),
        };
        report.add(Measured::new(format!("{name}: median answer"), "ms", Spread::of(&found.middle)));
        let late = Measured::new(format!("{name}: 99 %"), "ms", Spread::of(&found.late));
        report.add(match beside {
            Beside::Nobody => late,
            Beside::Thinking | Beside::Restless => {
                let ratio = Spread::of_ratio(&found.late, &alone.late);
                late.beside("without writers", ratio).target(Target::AtMost(LONGER))
            }
        });
        report.add(Measured::new(format!("{name}: answers"), "/s", Spread::of(&found.read)));
        if !matches!(beside, Beside::Nobody) {
            report.add(Measured::new(format!("{name}: their edits"), "/s", Spread::of(&found.written)));
        }
    }
    report
}
