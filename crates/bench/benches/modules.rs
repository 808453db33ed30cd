//! WebAssembly modules in and out: taking one in beside wasmparser's validation of it, how much longer it comes out, and how long it
//! takes to open a program that was made of it.
//!
//! `cargo xtask bench modules`, with `LMLANG_BENCH_MODULE=lua.wasm` of a module of one's own.

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use lmlang_bench::report::{Measured, Report, Target, target_folder};
use lmlang_bench::rounds::{ROUNDS, Spread};
use lmlang_engine::{Call, Content, Creation, Engine, Limits, NewProgramRequest, Selector, SnapshotPolicy};
use lmlang_history::log::{Actor, ActorKind};
use lmlang_ir::RefAllocator;
use lmlang_ir::text::parse_program;
use lmlang_store::{Options, Store};
use lmlang_verify::Checked;
use lmlang_wasm::{ExportOptions, export, import};
use wasmparser::Validator;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How often the kernels stand in the module that is made: about 300,000 nodes.
const COPIES: usize = 1_200;
/// Milliseconds until a program of the module is open, at most.
const OPEN: f64 = 1_000.0;

type Failure = Box<dyn Error + Send + Sync>;

/// The kernels, many times: what a module of some size has, and no two functions in one place.
fn made() -> Vec<u8> {
    let kernels = include_str!("interp/kernels.lm");
    let (header, functions) = kernels.split_once('\n').expect("the first line is the module's");
    assert!(header.starts_with("module "), "{header}");
    // A program has one memory.
    let (memory, others): (Vec<&str>, Vec<&str>) =
        functions.lines().partition(|line| line.starts_with("memory "));
    let functions = others.join("\n");
    let copies: String = (0..COPIES).map(|copy| format!("module copy{copy}\n{functions}\n")).collect();
    let text = format!("module memory\npub {}\n{copies}", memory.join("\n"));
    let program = parse_program(&text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let checked = Checked::full(program, NonZeroUsize::MIN);
    export(&checked, ExportOptions::default()).expect("kernels are complete")
}

/// Milliseconds of each round.
fn rounds<T>(mut work: impl FnMut() -> T) -> Vec<f64> {
    // The first round warms up.
    let took = (0..=ROUNDS).map(|_| {
        let start = Instant::now();
        let done = work();
        let took = start.elapsed().as_secs_f64() * 1e3;
        drop(done);
        took
    });
    took.skip(1).collect()
}

async fn engine(database: &Path) -> Result<Engine, Failure> {
    let store = Store::open(Options::file(database)).await?;
    let limits = Limits { text_bytes: 64 << 20, ..Limits::default() };
    Ok(Engine::new(store, limits, SnapshotPolicy::default()))
}

/// Makes a program of a module, and opens it from its database in each round; answers with milliseconds.
async fn opened(database: &Path, module: Vec<u8>) -> Result<Vec<f64>, Failure> {
    let name = "module".to_owned();
    let content = Content::Wasm(module);
    let call = Call::by(Actor { name: "bench".to_owned(), kind: ActorKind::Tool, client: None });
    let first = engine(database).await?;
    let request = NewProgramRequest { name: name.clone(), doc: String::new(), content };
    match first.create_program(request, &call).await? {
        Creation::Created(_) => {}
        Creation::Rejected { .. } => return Err("what was imported has errors".into()),
    }
    first.close().await;
    let wanted = Selector::Name(name);
    let mut took = Vec::new();
    for round in 0..=ROUNDS {
        let engine = engine(database).await?;
        let start = Instant::now();
        engine.find(&wanted).await?;
        // The first round warms up.
        if round > 0 {
            took.push(start.elapsed().as_secs_f64() * 1e3);
        }
        engine.close().await;
    }
    Ok(took)
}

fn main() -> Result<(), Failure> {
    let module = match std::env::var_os("LMLANG_BENCH_MODULE") {
        Some(path) => std::fs::read(path)?,
        None => made(),
    };
    let take_in = || import(&module, &mut RefAllocator::starting_at(1)).expect("it is taken in");
    let program = take_in();
    let nodes = program.totals().counts.nodes as f64;
    let checked = Checked::full(program.clone(), NonZeroUsize::MIN);
    let put_out = || export(&checked, ExportOptions::default()).expect("it is complete");
    let written = put_out();

    let validated = rounds(|| Validator::new().validate_all(&module).expect("it is valid"));
    let taken_in = rounds(take_in);
    let verified = rounds(|| Checked::full(program.clone(), NonZeroUsize::MIN));
    let put_out = rounds(put_out);
    let target = target_folder()?.join("bench");
    std::fs::create_dir_all(&target)?;
    let folder = tempfile::Builder::new().prefix("modules-").tempdir_in(target)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let opened = runtime.block_on(opened(&folder.path().join("lmlang.db"), module.clone()))?;
    let beside = |of: &[f64]| -> Spread {
        Spread::of(&of.iter().zip(&validated).map(|(one, other)| one / other).collect::<Vec<_>>())
    };
    let a_node = |of: &[f64]| Spread::of(&of.iter().map(|took| took * 1e6 / nodes).collect::<Vec<_>>());

    let mut report = Report::of("modules");
    let shown = Spread::of(&[nodes]);
    report.add(Measured::new("nodes", "", shown));
    let taken_in =
        Measured::new("import: a node", "ns", a_node(&taken_in)).beside("validation", beside(&taken_in));
    report.add(taken_in.target(Target::AtMost(10.0)));
    report.add(
        Measured::new("verify: a node", "ns", a_node(&verified)).beside("validation", beside(&verified)),
    );
    report
        .add(Measured::new("export: a node", "ns", a_node(&put_out)).beside("validation", beside(&put_out)));
    let size = Spread::of(&[written.len() as f64 / module.len() as f64]);
    report.add(Measured::new("size", "times", size).beside("what came in", size).target(Target::AtMost(1.1)));
    report.add(Measured::new("open from storage", "ms", Spread::of(&opened)).target(Target::AtMost(OPEN)));
    Ok(report.publish()?)
}
