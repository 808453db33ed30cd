//! What verification costs as programs grow: FULL in nodes per second, LOCAL per edit, for both shapes of program.
//!
//! FULL on one thread is in CPU time, so that other load does not count; the rest is wall time.
//! Prints a table, with whether what is wanted is met; `cargo bench -p lmlang-verify --bench verify [nodes..]`.

use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use lmlang_ir::FuncRef;
use lmlang_testkit::Choices;
use lmlang_testkit::shapes::{self, Shape};
use lmlang_verify::{full, full_on, local};

const EDITS: usize = 400;
const ROUNDS: usize = 5;

/// Nodes in a second that FULL checks at least, by all threads, of programs of so many nodes or more.
const LEAST: (f64, usize) = (20e6, 100_000);
/// Milliseconds of LOCAL after 95 of 100 edits, at most, in programs of so many nodes or fewer.
const MOST: [(Shape, f64, usize); 2] = [(Shape::ManySmall, 0.2, 100_000), (Shape::FewLarge, 1.0, 100_000)];

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 10_000, 100_000, 1_000_000] } else { sizes };
    println!(
        "| shape | nodes | FULL, 1 thread (CPU) | FULL, all threads (wall) | LOCAL median | LOCAL 95 % | LOCAL most | met |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for shape in [Shape::ManySmall, Shape::FewLarge] {
        for nodes in &sizes {
            measure(shape, *nodes);
        }
    }
}

fn measure(shape: Shape, nodes: usize) {
    let mut generated = shapes::program(shape, nodes, 1);
    let functions: Vec<FuncRef> = generated.program.functions().map(|(of, _)| of).collect();
    let count = generated.program.totals().counts.nodes as f64;
    let rate = |time: Duration| format!("{:.1} M/s", count / time.as_secs_f64() / 1e6);
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let alone = best(|| drop(full(&generated.program)), cpu);
    let together = best(|| drop(full_on(&generated.program, threads)), wall);

    let mut choices = Choices::seeded(7);
    let mut findings = full(&generated.program);
    let mut times = Vec::new();
    for _ in 0..EDITS {
        let before = generated.program.clone();
        shapes::edit(&mut generated, &functions, &mut choices);
        let start = wall();
        findings = local(&before, &findings, &generated.program);
        times.push(wall().saturating_sub(start));
    }
    assert_eq!(findings, full(&generated.program), "LOCAL finds what FULL finds");
    times.sort();
    let micros = |at: usize| format!("{:.1} µs", times[at].as_secs_f64() * 1e6);
    let mut met = Vec::new();
    let (least, from) = LEAST;
    if nodes >= from {
        let is = count / together.as_secs_f64() >= least;
        met.push(format!("FULL >= {:.0} M/s: {}", least / 1e6, verdict(is)));
    }
    for (_, most, _) in MOST.into_iter().filter(|(of, _, up_to)| *of == shape && nodes <= *up_to) {
        let is = times[EDITS * 95 / 100].as_secs_f64() * 1e3 <= most;
        met.push(format!("LOCAL 95 % <= {most} ms: {}", verdict(is)));
    }
    println!(
        "| {shape:?} | {nodes} | {} | {} | {} | {} | {} | {} |",
        rate(alone),
        rate(together),
        micros(EDITS / 2),
        micros(EDITS * 95 / 100),
        micros(EDITS - 1),
        met.join(", "),
    );
}

fn verdict(met: bool) -> &'static str {
    if met { "yes" } else { "no" }
}

fn best(work: impl FnMut(), mut clock: impl FnMut() -> Duration) -> Duration {
    let mut work = work;
    let once = |_| {
        let start = clock();
        work();
        clock().saturating_sub(start)
    };
    (0..ROUNDS).map(once).min().unwrap_or_default()
}

/// CPU time of this thread, where the system tells; wall time elsewhere.
fn cpu() -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanos.map_or_else(wall, Duration::from_nanos)
}

fn wall() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
