//! Debugging runs of ten million steps and more: seeking to any of them, one step back from its end, the first page of its
//! trace, and what the snapshots cost that make it so.
//!
//! `cargo xtask bench debugger`

use std::hint::black_box;
use std::io;
use std::num::NonZeroUsize;
use std::time::Duration;

use lmlang_bench::process::own_cpu;
use lmlang_bench::report::{Measured, Report, Target};
use lmlang_bench::rounds::{ROUNDS, Spread};
use lmlang_interp::{Cache, Debugger, Limits, Options, Run, Trace, TraceLevel};
use lmlang_ir::text::parse_program;
use lmlang_ir::{Const, RefAllocator, Value};
use lmlang_verify::Checked;

/// Each with its argument: short steps, long ones, a linear memory that changes, deep calls.
const KERNELS: [(&str, i64); 4] =
    [("sum", 3_000_000), ("collatz", 200_000), ("sieve", 1_000_000), ("fib", 30)];

/// Steps that every kernel has at least.
const STEPS: u64 = 10_000_000;

/// Steps that are sought in a round.
const SOUGHT: u64 = 16;

/// Steps of the first page of a trace.
const PAGE: usize = 1_000;

/// What a kernel came to, in milliseconds of processor time, round by round.
#[derive(Default)]
struct Found {
    whole: Vec<f64>,
    with_snapshots: Vec<f64>,
    farthest: Vec<f64>,
    back: Vec<f64>,
    back_without: Vec<f64>,
    page: Vec<f64>,
    /// Megabytes that snapshots take at the end.
    held: Vec<f64>,
}

fn millis<T>(what: impl FnOnce() -> T) -> (f64, T) {
    let start = own_cpu();
    let made = what();
    let took: Duration = own_cpu() - start;
    (took.as_secs_f64() * 1e3, made)
}

fn seek(debugger: &mut Debugger, to: u64) {
    debugger.seek(to, &mut || false);
    assert_eq!(debugger.position(), to, "it comes there");
}

fn round(run: &Run, steps: u64, number: u64, found: &mut Found) {
    let debugger = || Debugger::of(run, None).expect("it starts");
    let mut without = debugger();
    without.set_snapshot_spacing(u64::MAX);
    let mut with = debugger();
    found.whole.push(millis(|| seek(&mut without, steps - 1)).0);
    found.with_snapshots.push(millis(|| seek(&mut with, steps - 1)).0);
    found.back_without.push(millis(|| seek(&mut without, steps - 2)).0);
    found.back.push(millis(|| seek(&mut with, steps - 2)).0);
    found.held.push((with.held() - without.held()) as f64 / 1e6);
    let any = (0..SOUGHT).map(|at| {
        // Spread by the golden ratio, each round elsewhere.
        let share = ((number * SOUGHT + at) as f64 * 0.618_033_988_749_895).fract();
        millis(|| seek(&mut with, (share * steps as f64) as u64)).0
    });
    found.farthest.push(any.fold(0.0, f64::max));
    assert_eq!(with.outcome(), None, "it stands somewhere");
    found.page.push(
        millis(|| {
            let mut trace = Trace::of(run, TraceLevel::Nodes, None).expect("it starts");
            assert_eq!(black_box(trace.page(0, PAGE, u64::MAX)).steps.len(), PAGE);
        })
        .0,
    );
}

fn main() -> io::Result<()> {
    let text = include_str!("interp/kernels.lm");
    let program = parse_program(text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let find = |name: &str| {
        program.functions().find(|(_, f)| &*f.head().name == name).expect("a kernel of that name").0
    };
    let checked = Checked::full(program.clone(), NonZeroUsize::MIN);
    let limits = Limits { fuel: 1 << 40, ..Limits::default() };
    let (options, cache) = (Options { limits, ..Options::default() }, Cache::new());
    let mut report = Report::of("debugger");
    for (name, argument) in KERNELS {
        let args = [Value::Const(Const::I64(argument))];
        let run = Run::new(&checked, find(name), &args, &options, &cache).expect("it starts");
        let mut end = Debugger::of(&run, None).expect("it starts");
        end.seek(u64::MAX, &mut || false);
        let steps = end.position();
        assert!(steps >= STEPS, "{name}: {steps} steps are too few");
        drop(end);
        let mut found = Found::default();
        for number in 0..=ROUNDS as u64 {
            // The first round warms up.
            if number == 1 {
                found = Found::default();
            }
            round(&run, steps, number, &mut found);
        }
        let of = |what: &str| format!("{name}, {:.1} million steps: {what}", steps as f64 / 1e6);
        let ms = |what: &str, values: &[f64]| Measured::new(of(what), "ms CPU", Spread::of(values));
        let beside = |one: &[f64], other: &[f64]| Spread::of_ratio(one, other);
        report.add(ms("to its end, without snapshots", &found.whole));
        report.add(
            ms("to its end, taking snapshots", &found.with_snapshots)
                .beside("without", beside(&found.with_snapshots, &found.whole))
                .target(Target::AtMost(1.2)),
        );
        report.add(
            ms("a step back from its end", &found.back)
                .beside("without", beside(&found.back, &found.back_without))
                .target(Target::AtMost(0.3)),
        );
        report.add(ms("the farthest of some steps sought", &found.farthest).target(Target::AtMost(500.0)));
        report.add(ms("the first page of its trace", &found.page).target(Target::AtMost(100.0)));
        report.add(Measured::new(of("snapshots"), "MB", Spread::of(&found.held)));
    }
    report.publish()
}
