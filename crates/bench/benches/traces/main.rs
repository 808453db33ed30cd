//! Traces of runs over a subscription: a client of `lmlang serve` subscribes to a run over a WebSocket and reads every step of it,
//! a hundred in a message and one by one.
//!
//! Beside it is an axum server that has the same steps as structs and sends the same JSON, a message a write. It runs nothing, and
//! reads no values out of a run. Both serve one client on the same processors.
//!
//! `cargo xtask bench traces`

mod peer;

use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use lmlang_bench::http::number;
use lmlang_bench::load::once;
use lmlang_bench::process::{Server, start_lmlang};
use lmlang_bench::report::{Measured, Report, Target, target_folder};
use lmlang_bench::rounds::{ROUNDS, Spread, orders};
use lmlang_bench::socket::Socket;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::peer::{STEPS, Step};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Steps in a message.
const BATCHES: [usize; 2] = [100, 1];
/// The least part of what the peer sends in a second: of steps in batches; and of single ones, as much as three times those of
/// node's `ws`, of which axum sent 3.6 times as many.
const LEAST: [f64; BATCHES.len()] = [0.5, 0.84];
/// How long each takes its turn, at least: what was begun is read to its end.
const TURN: Duration = Duration::from_millis(1_500);
/// What the function is run with, and the nodes that are executed then.
const ARGUMENT: usize = 20_000;
const EXECUTED: u64 = 6 * ARGUMENT as u64 + 6;

/// A function that executes six nodes for each number.
const PROGRAM: &str = "module m\n\npub func sum (n: i64) -> (i64) {\n  s = loop L (i: i64 = 0, acc: i64 = 0) -> (i64) {\n    \
                       break_if L (ge_u.i64 i, n) (acc)\n    continue L (add.i64 i, 1) (add.i64 acc, i)\n  }\n  \
                       return s\n}\n";

/// What a client asks for.
const STREAM: &str = "subscription($input: StartSimulationInput!, $batch: BatchInput!) { simulate(input: $input, batch: \
                      $batch) { cursor steps { seq node op inputs outputs } skipped status outcome { __typename } } }";

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [peer, folder] if peer == "peer" => {
            let runtime = Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(peer::serve(Path::new(folder)))
        }
        [] => measure(),
        _ => Err("usage: traces".into()),
    }
}

/// What the rounds of one server with one size of batches came to.
#[derive(Debug, Default)]
struct Found {
    /// Steps in a second.
    rate: Vec<f64>,
    /// Processor time of the server for each, in nanoseconds.
    cpu: Vec<f64>,
}

/// A client.
struct Client {
    runtime: Runtime,
    program: String,
    /// Makes each run another one.
    seed: u64,
}

fn measure() -> Result<(), Failure> {
    let target = target_folder()?.join("bench");
    fs::create_dir_all(&target)?;
    let folder = tempfile::Builder::new().prefix("traces-").tempdir_in(target)?;
    let server = start_lmlang(folder.path())?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let mut client = Client { runtime, program: create(&server)?, seed: 0 };
    let trace = client.whole(&server, BATCHES[0])?;
    assert_eq!(trace.0.len() as u64, EXECUTED, "every node is a step");
    fs::write(folder.path().join(STEPS), serde_json::to_vec(&trace.0)?)?;
    let peer = Server::start(Command::new(std::env::current_exe()?).arg("peer").arg(folder.path()))?;
    for (server, batch) in [(&peer, BATCHES[0]), (&peer, BATCHES[1]), (&server, BATCHES[1])] {
        assert!(client.whole(server, batch)? == trace, "both tell the same, however many steps at a time");
    }

    let turns = [(&peer, 0), (&server, 0), (&peer, 1), (&server, 1)];
    let mut found: [Found; 4] = Default::default();
    for (round, order) in orders(turns.len(), ROUNDS + 1, 3).into_iter().enumerate() {
        for at in order {
            let (server, batch) = turns[at];
            let (rate, cpu) = client.take(server, BATCHES[batch])?;
            // The first round warms up.
            if round > 0 {
                found[at].rate.push(rate);
                found[at].cpu.push(cpu);
            }
        }
    }
    server.stop()?;
    peer.stop()?;
    report(&found).publish()?;
    Ok(())
}

/// Makes the program.
fn create(server: &Server) -> Result<String, Failure> {
    let made = once(
        server.address,
        &json!({
            "query": "mutation($input: CreateProgramInput!) { createProgram(input: $input) \
                      { errors { message } program { programId } } }",
            "variables": { "input": { "name": "trace", "text": PROGRAM } },
        }),
    )?;
    let id = made["data"]["createProgram"]["program"]["programId"].as_str();
    Ok(id.ok_or_else(|| format!("no program was made: {made}"))?.to_owned())
}

impl Client {
    /// What is sent to subscribe to one more run.
    fn payload(&mut self, batch: usize) -> String {
        self.seed += 1;
        let run = json!({ "args": [ARGUMENT], "seed": self.seed });
        let input = json!({ "programId": self.program, "function": "m::sum", "run": run });
        // Whoever wants steps one by one does not want them to wait.
        let latency = if batch == 1 { 0 } else { 50 };
        let batch = json!({ "maxEvents": batch, "maxLatencyMs": latency });
        json!({ "query": STREAM, "variables": { "input": input, "batch": batch } }).to_string()
    }

    /// The steps of a run, and the last message.
    fn whole(&mut self, server: &Server, batch: usize) -> Result<(Vec<Step>, Value), Failure> {
        let payload = self.payload(batch);
        self.runtime.block_on(async {
            let mut socket = Socket::open(server.address).await?;
            socket.subscribe(&payload).await?;
            let (mut steps, mut last) = (Vec::new(), Value::Null);
            loop {
                let message: Value = serde_json::from_slice(socket.next().await?)?;
                if message["type"] == "complete" {
                    return Ok((steps, last));
                }
                last = message;
                let some = last["payload"]["data"]["simulate"]["steps"].take();
                steps.extend(serde_json::from_value::<Vec<Step>>(some)?);
            }
        })
    }

    /// Reads traces for a while; answers steps in a second, and the server's processor time for each in nanoseconds.
    fn take(&mut self, server: &Server, batch: usize) -> Result<(f64, f64), Failure> {
        let idle = server.settle()?;
        let start = Instant::now();
        let mut runs = 0;
        let mut socket = self.runtime.block_on(Socket::open(server.address))?;
        while start.elapsed() < TURN {
            let payload = self.payload(batch);
            self.runtime.block_on(read(&mut socket, &payload))?;
            runs += 1;
        }
        let took = start.elapsed();
        let busy = server.settle()? - idle;
        let steps = (runs * EXECUTED) as f64;
        Ok((steps / took.as_secs_f64(), busy.as_secs_f64() * 1e9 / steps))
    }
}

/// Reads a trace to its end.
async fn read(socket: &mut Socket, payload: &str) -> io::Result<()> {
    socket.subscribe(payload).await?;
    let mut cursor = None;
    loop {
        let message = socket.next().await?;
        if message.starts_with(br#"{"type":"complete""#) {
            break;
        }
        cursor = number(message, br#""data":{"simulate":{"cursor":"#);
        if cursor.is_none() {
            return Err(io::Error::other(format!("no steps: {}", String::from_utf8_lossy(message))));
        }
    }
    match cursor {
        Some(EXECUTED) => Ok(()),
        other => Err(io::Error::other(format!("a trace ended at {other:?}"))),
    }
}

fn report(found: &[Found; 4]) -> Report {
    let mut report = Report::of("traces");
    for ((turns, batch), least) in found.chunks(2).zip(BATCHES).zip(LEAST) {
        let [peer, server] = turns else { continue };
        let name = match batch {
            1 => "steps one by one".to_owned(),
            _ => format!("steps in batches of {batch}"),
        };
        let rate = Measured::new(name.clone(), "steps/s", Spread::of(&server.rate));
        let ratio = Spread::of_ratio(&server.rate, &peer.rate);
        report.add(rate.beside("the axum server", ratio).target(Target::AtLeast(least)));
        let cpu = Measured::new(format!("{name}: server CPU"), "ns a step", Spread::of(&server.cpu));
        report.add(cpu.beside("the axum server", Spread::of_ratio(&server.cpu, &peer.cpu)));
    }
    report
}
