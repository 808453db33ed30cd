//! The fast tier beside wasmtime with its own fuel on the same programs, and beside the interpreter; and how long it takes
//! until a function of some size runs.
//!
//! `cargo xtask bench compiled`

use std::io;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use lmlang_bench::report::{Measured, Report, Target};
use lmlang_bench::rounds::{ROUNDS, Spread, orders};
use lmlang_compiled::{Compiler, Ending, Start};
use lmlang_interp::{Cache, Limits, Options, Outcome, Progress, Run};
use lmlang_ir::text::parse_program;
use lmlang_ir::{Const, FuncRef, FunctionHead, RefAllocator, Value};
use lmlang_verify::Checked;
use lmlang_wasm::{ExportOptions, export};
use wasmtime::{Config, Engine, Instance, Module, Store};

/// Each with its argument.
const KERNELS: [(&str, i64); 6] = [
    ("fib", 30),
    ("sum", 30_000_000),
    ("collatz", 200_000),
    ("sieve", 1_000_000),
    ("mandel", 400),
    ("body", 1_000_000),
];

const WAYS: usize = 3;

/// Nodes of the function that is compiled, about.
const NODES: usize = 100;
/// Milliseconds until it runs, at most.
const READY: f64 = 2.0;

fn program(text: &str) -> Checked {
    let mut program = parse_program(text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let heads: Vec<(FuncRef, FunctionHead)> =
        program.functions().map(|(of, function)| (of, function.head().clone())).collect();
    for (of, head) in heads {
        let head = FunctionHead { exports: vec![head.name.clone()], ..head };
        program.function_mut(of).expect("it is there").set_head(head);
    }
    Checked::full(program, NonZeroUsize::MIN)
}

fn number(values: &[Value]) -> i64 {
    match values {
        [Value::Const(Const::I64(value))] => *value,
        other => panic!("a kernel returns one number: {other:?}"),
    }
}

fn returned(outcome: &Outcome) -> i64 {
    match outcome {
        Outcome::Returned { values } => number(values),
        other => panic!("{other:?}"),
    }
}

fn main() -> io::Result<()> {
    let checked = program(include_str!("interp/kernels.lm"));
    let find = |name: &str| {
        let mut functions = checked.program().functions();
        functions.find(|(_, f)| &*f.head().name == name).expect("a kernel of that name").0
    };
    let (compiler, cache) = (Compiler::new(), Cache::new());
    let mut config = Config::new();
    config.consume_fuel(true);
    let engine = Engine::new(&config).expect("this machine has one");
    // Both canonicalise NaNs: what is compared is how fuel is counted.
    let options = ExportOptions { canonical_nans: true, ..ExportOptions::default() };
    let written = export(&checked, options).expect("kernels are complete");
    let module = Module::new(&engine, written).expect("it is valid");
    let limits = Limits { fuel: 1 << 40, ..Limits::default() };
    let ours = |name: &str, argument: i64| -> i64 {
        let unit = compiler.compile(&checked, find(name)).expect("kernels are compiled");
        let options = Options { limits, ..Options::default() };
        let args = [Value::Const(Const::I64(argument))];
        let run = Run::new(&checked, find(name), &args, &options, &cache).expect("it starts");
        match unit.run(&run, Start::of(&run), &mut |_: u64| Some(1 << 24)) {
            Ending::Returned(result) => returned(&result.outcome),
            other => panic!("{other:?}"),
        }
    };
    let theirs = |name: &str, argument: i64| -> i64 {
        let mut store = Store::new(&engine, ());
        store.set_fuel(u64::MAX >> 1).expect("fuel is on");
        let instance = Instance::new(&mut store, &module, &[]).expect("it instantiates");
        let function = instance.get_typed_func::<i64, i64>(&mut store, name).expect("it is exported");
        function.call(&mut store, argument).expect("it returns")
    };
    let interpreted = |name: &str, argument: i64| -> i64 {
        let options = Options { limits, ..Options::default() };
        let args = [Value::Const(Const::I64(argument))];
        let mut run = Run::new(&checked, find(name), &args, &options, &cache).expect("it starts");
        while run.resume(10_000_000) == Progress::Paused {}
        returned(&run.into_result().outcome)
    };

    let answers = KERNELS.map(|(name, argument)| interpreted(name, argument));
    let mut found = vec![[const { Vec::new() }; WAYS]; KERNELS.len()];
    for (round, order) in orders(KERNELS.len() * WAYS, ROUNDS + 1, 7).into_iter().enumerate() {
        for turn in order {
            let (kernel, way) = (turn / WAYS, turn % WAYS);
            let (name, argument) = KERNELS[kernel];
            // The run has a thread of its own: the clock, not this thread's processor time.
            let start = Instant::now();
            let answer = match way {
                0 => theirs(name, argument),
                1 => ours(name, argument),
                _ => interpreted(name, argument),
            };
            let took = start.elapsed();
            assert_eq!(answer, answers[kernel], "{name}");
            // The first round warms up.
            if round > 0 {
                found[kernel][way].push(took.as_secs_f64() * 1e3);
            }
        }
    }

    let mut report = Report::of("compiled");
    let ratios = |way: usize, kernel: usize| -> Vec<f64> {
        found[kernel][1].iter().zip(&found[kernel][way]).map(|(ours, other)| ours / other).collect()
    };
    for (at, (name, _)) in KERNELS.iter().enumerate() {
        let measured = Measured::new(format!("run: {name}"), "ms", Spread::of(&found[at][1]));
        report.add(measured.beside("wasmtime with fuel", Spread::of(&ratios(0, at))));
    }
    for (way, beside, target) in [(0, "wasmtime with fuel", Some(1.3)), (2, "the interpreter", None)] {
        let rounds = found[0][0].len();
        let mean = |round: usize| {
            let product: f64 = (0..KERNELS.len()).map(|kernel| ratios(way, kernel)[round]).product();
            product.powf(1.0 / KERNELS.len() as f64)
        };
        let mean = Spread::of(&(0..rounds).map(mean).collect::<Vec<_>>());
        let measured = Measured::new(format!("geometric mean beside {beside}"), "times", mean);
        let measured = measured.beside(beside, mean);
        report.add(match target {
            Some(most) => measured.target(Target::AtMost(most)),
            None => measured,
        });
    }
    report.add(ready());
    report.publish()
}

/// How long it takes until a function of some size has been compiled and has run, each a different one.
fn ready() -> Measured {
    let compiler = Compiler::new();
    let round = |round: usize| -> Duration {
        let lines: String = (0..NODES / 2)
            .map(|line| format!("  x{} = add.i64 (mul.i64 x{line}, n), {round}\n", line + 1))
            .collect();
        let text = format!(
            "module large\npub func f (n: i64) -> (i64) {{\n  x0 = add.i64 n, 1\n{lines}  return x{}\n}}\n",
            NODES / 2
        );
        let checked = program(&text);
        let (of, _) = checked.program().functions().next().expect("it has one");
        let start = Instant::now();
        let unit = compiler.compile(&checked, of).expect("it is compiled");
        let args = [Value::Const(Const::I64(3))];
        let run = Run::new(&checked, of, &args, &Options::default(), &Cache::new()).expect("it starts");
        let ending = unit.run(&run, Start::of(&run), &mut |_: u64| Some(1 << 20));
        assert!(matches!(ending, Ending::Returned(_)), "{ending:?}");
        start.elapsed()
    };
    // The first one also makes the compiler.
    round(0);
    let took: Vec<f64> = (1..=ROUNDS).map(|at| round(at).as_secs_f64() * 1e3).collect();
    Measured::new(format!("ready: {NODES} operators"), "ms", Spread::of(&took)).target(Target::AtMost(READY))
}
