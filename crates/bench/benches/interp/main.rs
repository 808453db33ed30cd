//! The trace tier beside wasmi on the same kernels: engines interleaved, answers compared first.
//!
//! Ours counts fuel and bounds memory and depth, wasmi here none of it. A run keeps no trace: it is deterministic, and
//! what somebody wants to see of it is executed again. Measured beside the plain run are: a run that notes every scalar
//! which a node computes, with what node it is; looking at a page of a hundred steps in the middle of a run afterwards;
//! the trace of calls and regions alone; and the whole price of showing everything, which is the run and then every step
//! of it once, with the values that each node read and made, in pages as a subscription takes them.
//!
//! `cargo xtask bench interp`

use std::hint::black_box;
use std::io;
use std::num::NonZeroUsize;

use lmlang_bench::process::own_cpu;
use lmlang_bench::report::{Measured, Report, Target};
use lmlang_bench::rounds::{ROUNDS, Spread, orders};
use lmlang_interp::{Cache, Limits, Options, Outcome, Progress, Recorder, Run, Trace, TraceLevel};
use lmlang_ir::text::parse_program;
use lmlang_ir::{Const, FuncRef, RefAllocator, Value};
use lmlang_verify::Checked;

/// Each with the argument that it is run with, and a smaller one for its whole trace, which takes longer.
const KERNELS: [(&str, [i64; 2]); 6] = [
    ("fib", [27, 22]),
    ("sum", [3_000_000, 300_000]),
    ("collatz", [30_000, 3_000]),
    ("sieve", [1_000_000, 100_000]),
    ("mandel", [160, 50]),
    ("body", [300_000, 30_000]),
];
/// Steps of a page of the whole trace, and of a page in the middle.
const PAGE: usize = 1_000;
const LOOK: usize = 100;

/// What takes a turn on each kernel.
const WAYS: [&str; 6] = [
    "wasmi",
    "run",
    "run that records its values",
    "run and a page of its trace",
    "run and its trace of regions",
    "run and all of its trace",
];
const RECORDED: usize = 2;
const LOOKED: usize = 3;
const REGIONS: usize = 4;
const ALL: usize = 5;

struct Ours {
    checked: Checked,
    cache: Cache,
    options: Options,
}

impl Ours {
    fn run(&self, function: FuncRef, argument: i64) -> Run {
        let args = [Value::Const(Const::I64(argument))];
        let mut run =
            Run::new(&self.checked, function, &args, &self.options, &self.cache).expect("it starts");
        while run.resume(10_000_000) == Progress::Paused {}
        run
    }

    /// Runs a kernel once while what its nodes compute is recorded, shows each piece of the record to a reader, and
    /// returns the kernel's answer.
    fn recorded(&self, function: FuncRef, argument: i64, mut reader: impl FnMut(&Recorder)) -> i64 {
        let args = [Value::Const(Const::I64(argument))];
        let run = Run::new(&self.checked, function, &args, &self.options, &self.cache).expect("it starts");
        let mut recorder = Recorder::of(&run, None).expect("it started before");
        loop {
            let progress = recorder.advance();
            reader(&recorder);
            if progress == Progress::Done {
                return number(recorder.outcome().expect("it is done"));
            }
        }
    }

    /// How many values a record of a kernel has, by its trace.
    fn values(&self, function: FuncRef, argument: i64) -> u64 {
        let run = self.run(function, argument);
        let mut trace = Trace::of(&run, TraceLevel::Nodes, None).expect("it started before");
        let program = self.checked.program();
        let (mut next, mut count) = (Some(0), 0);
        while let Some(from) = next {
            let page = trace.page(from, PAGE, u64::MAX);
            let noted = page.steps.iter().filter(|step| {
                let node =
                    program.function(step.function).and_then(|function| function.body().node(step.node));
                let op = node.expect("it was executed").op().code();
                Recorder::notes(op) && step.outputs.iter().any(|shown| matches!(shown.value, Value::Const(_)))
            });
            count += noted.count() as u64;
            next = page.next;
        }
        count
    }

    /// Runs a kernel, looks at as many steps as are wanted, and returns its answer and its length.
    fn answer(&self, function: FuncRef, argument: i64, way: usize) -> (i64, u64) {
        let run = self.run(function, argument);
        if way >= LOOKED {
            let level = if way == REGIONS { TraceLevel::Regions } else { TraceLevel::Nodes };
            let mut trace = Trace::of(&run, level, None).expect("it started before");
            if way == LOOKED {
                let page = trace.page(run.steps() / 2, LOOK, u64::MAX);
                assert_eq!(black_box(page).steps.len(), LOOK, "there is that much in the middle");
            } else {
                let (mut next, mut seen) = (Some(0), 0);
                while let Some(from) = next {
                    let page = trace.page(from, PAGE, u64::MAX);
                    seen += page.steps.len() as u64;
                    next = black_box(page).next;
                }
                assert!(seen == run.steps() || way == REGIONS, "every node is a step");
                assert_eq!(trace.outcome(), run.outcome(), "the trace ends as the run did");
            }
        }
        let result = run.into_result();
        (number(&result.outcome), result.steps)
    }
}

fn number(outcome: &Outcome) -> i64 {
    match outcome {
        Outcome::Returned { values } => match values[..] {
            [Value::Const(Const::I64(value))] => value,
            _ => panic!("a kernel returns one number"),
        },
        other => panic!("{other:?}"),
    }
}

/// The geometric mean of the ratios of all kernels, round by round.
fn geometric(ratios: &[Vec<f64>]) -> Spread {
    let rounds = ratios.iter().map(Vec::len).min().unwrap_or_default();
    let mean = |round: usize| {
        let product: f64 = ratios.iter().map(|kernel| kernel[round]).product();
        product.powf(1.0 / ratios.len() as f64)
    };
    Spread::of(&(0..rounds).map(mean).collect::<Vec<_>>())
}

fn main() -> io::Result<()> {
    let mut config = wasmi::Config::default();
    config.consume_fuel(false);
    let engine = wasmi::Engine::new(&config);
    let module = wasmi::Module::new(&engine, include_str!("kernels.wat")).expect("the module is valid");
    let mut store = wasmi::Store::new(&engine, ());
    let linker = wasmi::Linker::new(&engine);
    let instance = linker.instantiate_and_start(&mut store, &module).expect("it instantiates");

    let program =
        parse_program(include_str!("kernels.lm"), &mut RefAllocator::starting_at(1)).expect("it parses");
    let find = |name: &str| {
        program.functions().find(|(_, f)| &*f.head().name == name).expect("a kernel of that name").0
    };
    let functions: Vec<FuncRef> = KERNELS.iter().map(|(name, _)| find(name)).collect();
    let limits = Limits { fuel: 1 << 40, ..Limits::default() };
    let ours = Ours {
        checked: Checked::full(program.clone(), NonZeroUsize::MIN),
        cache: Cache::new(),
        options: Options { limits, ..Options::default() },
    };

    // The answers of both arguments, and the nodes that are executed for them, which are the measure of a kernel.
    let answers = KERNELS.map(|(name, arguments)| {
        let answers = arguments.map(|argument| {
            let theirs = instance.get_typed_func::<i64, i64>(&store, name).expect("it is exported");
            let answer = theirs.call(&mut store, argument).expect("it runs");
            let (own, nodes) = ours.answer(find(name), argument, 1);
            assert_eq!(own, answer, "{name}");
            (answer, nodes)
        });
        let (function, short) = (find(name), arguments[1]);
        let mut values = 0;
        let answer = ours.recorded(function, short, |recorder| values += recorder.values().count() as u64);
        assert_eq!((answer, values), (answers[1].0, ours.values(function, short)), "{name}");
        (answers[0], answers[1])
    });
    // Nanoseconds a node, by kernel and way.
    let mut found = vec![[const { Vec::new() }; WAYS.len()]; KERNELS.len()];
    for (round, order) in orders(KERNELS.len() * WAYS.len(), ROUNDS + 1, 7).into_iter().enumerate() {
        for turn in order {
            let (kernel, way) = (turn / WAYS.len(), turn % WAYS.len());
            let (name, [long, short]) = KERNELS[kernel];
            let (argument, (expected, nodes)) =
                if way >= REGIONS { (short, answers[kernel].1) } else { (long, answers[kernel].0) };
            let start = own_cpu();
            let answer = if way == 0 {
                let theirs = instance.get_typed_func::<i64, i64>(&store, name).expect("it is exported");
                theirs.call(&mut store, argument).expect("it runs")
            } else if way == RECORDED {
                ours.recorded(functions[kernel], argument, |recorder| _ = black_box(recorder))
            } else {
                ours.answer(functions[kernel], argument, way).0
            };
            let took = own_cpu() - start;
            assert_eq!(answer, expected, "{name}");
            // The first round warms up.
            if round > 0 {
                found[kernel][way].push(took.as_secs_f64() * 1e9 / nodes as f64);
            }
        }
    }

    let mut report = Report::of("interp");
    let ratios = |way: usize, beside: usize| -> Vec<Vec<f64>> {
        let of = |kernel: &[Vec<f64>; WAYS.len()]| {
            kernel[way].iter().zip(&kernel[beside]).map(|(one, other)| one / other).collect()
        };
        found.iter().map(of).collect()
    };
    let plain = ratios(1, 0);
    for (at, (name, _)) in KERNELS.iter().enumerate() {
        let measured = Measured::new(format!("run: {name}"), "ns CPU a node", Spread::of(&found[at][1]));
        report.add(measured.beside("wasmi", Spread::of(&plain[at])).target(Target::AtMost(2.5)));
    }
    for way in [RECORDED, ALL] {
        let traced = ratios(way, 0);
        for (at, (name, _)) in KERNELS.iter().enumerate() {
            let of = Spread::of(&found[at][way]);
            let measured = Measured::new(format!("{}: {name}", WAYS[way]), "ns CPU a node", of);
            let measured = measured.beside("wasmi", Spread::of(&traced[at]));
            report.add(if way == RECORDED { measured.target(Target::AtMost(2.5)) } else { measured });
        }
    }
    for (way, beside, target) in [
        (1, 0, Some(1.5)),
        (RECORDED, 0, Some(1.75)),
        (RECORDED, 1, Some(1.3)),
        (LOOKED, 1, None),
        (REGIONS, 1, None),
        (ALL, 1, None),
        (ALL, 0, None),
    ] {
        let mean = geometric(&ratios(way, beside));
        let measured = Measured::new(format!("{}: geometric mean", WAYS[way]), "times", mean);
        let measured = measured.beside(WAYS[beside], mean);
        report.add(match target {
            Some(most) => measured.target(Target::AtMost(most)),
            None => measured,
        });
    }
    report.publish()
}
