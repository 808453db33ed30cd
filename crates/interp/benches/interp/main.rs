//! The trace tier beside wasmi on the same kernels: engines interleaved, answers compared first, median of five.

use std::num::NonZeroUsize;
use std::time::Instant;

use lmlang_interp::{Cache, Limits, Options, Outcome, Progress, Run};
use lmlang_ir::text::parse_program;
use lmlang_ir::{Const, FuncRef, RefAllocator, Value};
use lmlang_verify::Checked;

const KERNELS: [(&str, i64); 6] = [
    ("fib", 27),
    ("sum", 3_000_000),
    ("collatz", 30_000),
    ("sieve", 1_000_000),
    ("mandel", 160),
    ("body", 300_000),
];
const ROUNDS: usize = 5;

struct Ours {
    checked: Checked,
    cache: Cache,
    options: Options,
}

impl Ours {
    fn time(&self, function: FuncRef, argument: i64) -> (f64, i64, u64) {
        let args = [Value::Const(Const::I64(argument))];
        let start = Instant::now();
        let mut run =
            Run::new(&self.checked, function, &args, &self.options, &self.cache).expect("it starts");
        while run.resume(10_000_000) == Progress::Paused {}
        let millis = start.elapsed().as_secs_f64() * 1e3;
        let result = run.into_result();
        match result.outcome {
            Outcome::Returned { values } => match values[..] {
                [Value::Const(Const::I64(value))] => (millis, value, result.fuel_used),
                _ => panic!("a kernel returns one number"),
            },
            other => panic!("{other:?}"),
        }
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
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

    println!("| kernel | wasmi ms | ours ms | ratio | ns a node |");
    println!("| --- | --- | --- | --- | --- |");
    let mut product = 1.0;
    for ((name, argument), function) in KERNELS.iter().zip(functions) {
        let theirs = instance.get_typed_func::<i64, i64>(&store, name).expect("it is exported");
        let (mut wasmi_times, mut our_times, mut fuel) = (Vec::new(), Vec::new(), 0);
        for round in 0..=ROUNDS {
            let start = Instant::now();
            let answer = theirs.call(&mut store, *argument).expect("it runs");
            let millis = start.elapsed().as_secs_f64() * 1e3;
            let (own, value, used) = ours.time(function, *argument);
            assert_eq!(answer, value, "{name}");
            fuel = used;
            // The first round warms up.
            if round > 0 {
                wasmi_times.push(millis);
                our_times.push(own);
            }
        }
        let (theirs, own) = (median(wasmi_times), median(our_times));
        let ratio = own / theirs;
        product *= ratio;
        let nanos = own * 1e6 / fuel as f64;
        println!("| {name} | {theirs:.1} | {own:.1} | {ratio:.2} | {nanos:.2} |");
    }
    println!("geometric mean: {:.2}", product.powf(1.0 / KERNELS.len() as f64));
}
