//! `lmlang run`: a function of a file or of a program, with its trace.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use clap::ValueEnum;
use lmlang_compiled::Tier;
use lmlang_interp::{Cache, Environment, Fault, Input, Limits, Options, Outcome, Run, Trace, TraceLevel};
use lmlang_ir::text::print_value;
use lmlang_ir::{FuncRef, Value};

use crate::callee::{arguments, find, start};
use crate::commands::export::file_or_program;
use crate::diagnostics::{Read, sound};
use crate::error::Error;
use crate::exit::Exit;
use crate::folder::Folder;
use crate::output::{Form, Output, say};
use crate::report;
use crate::running::{Execution, Watch, tier_name};
use crate::session::block_on;
use crate::settings::Layers;
use crate::source::Origin;
use crate::stdio::{Passed, Pieces};
use crate::told::{StepLines, step_json, tell};
use crate::view::View;

/// Which function, with what.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file, in the text form (`.lm`) or a WebAssembly module (`.wasm`, `.wat`); `-` for standard input; without such
    /// an ending, or with `--at`, a program, by name or id.
    file: PathBuf,
    /// The function, by name, path (`module::name`), ref or the name of an export [default: the export `_start`, else
    /// `main`].
    function: Option<String>,
    /// Its arguments, in the text form: `5`, `f64:0.1`, `text` or `"text"`, `[i32: 1, 2]`, `Point{x: 1, y: 2}`.
    #[arg(allow_negative_numbers = true)]
    args: Vec<String>,
    /// What executes it.
    #[arg(long, value_name = "TIER", value_enum, default_value_t)]
    tier: Execution,
    /// Print what the run did, one step a line.
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "nodes")]
    trace: Option<Level>,
    #[command(flatten)]
    limits: LimitArgs,
    /// How long it may take, in seconds; waiting for its input does not count.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
    /// What the program reads from its standard input; `-` for that of this command [default: `-`, unless the program
    /// itself comes from there].
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// A folder whose files and folders the program reads and writes, and no others; what it made of them is there when
    /// it returns.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// An environment variable that WASI gives the program; may be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(Arc<str>, Arc<str>)>,
    /// What random bytes follow from.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    view: View,
    /// The command line that WASI gives the program, behind its name.
    #[arg(last = true, value_name = "WORDS")]
    command_line: Vec<String>,
}

/// Bounds of a run.
#[derive(Debug, clap::Args)]
pub(crate) struct LimitArgs {
    /// How many nodes may be executed.
    #[arg(long, value_name = "NODES", default_value_t = Limits::default().fuel)]
    fuel: u64,
    /// How many bytes linear memory, the value heap and written files may take, and how many its input.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().memory_bytes)]
    memory_bytes: u64,
    /// How many calls there may be inside calls.
    #[arg(long, value_name = "CALLS", default_value_t = Limits::default().call_depth)]
    call_depth: u32,
    /// How many bytes may be written to standard output and standard error.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().output_bytes)]
    output_bytes: u64,
}

impl From<&LimitArgs> for Limits {
    fn from(args: &LimitArgs) -> Limits {
        let LimitArgs { fuel, memory_bytes, call_depth, output_bytes } = *args;
        Limits { fuel, memory_bytes, call_depth, output_bytes }
    }
}

/// Reads an environment variable.
fn variable(given: &str) -> Result<(Arc<str>, Arc<str>), &'static str> {
    match given.split_once('=') {
        Some(("", _)) | None => Err("expected `NAME=VALUE`"),
        Some((name, value)) => Ok((name.into(), value.into())),
    }
}

/// How much of a run is shown.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    /// Calls and returns.
    Calls,
    /// Also what opens and leaves regions.
    Regions,
    /// Every node.
    Nodes,
}

/// Steps of a trace that are made at a time.
const PAGE: usize = 1_000;

/// Nodes that are executed for them at most, so that a trace with few steps looks whether it is to go on, too.
const PAGE_NODES: u64 = 1 << 20;

pub(crate) fn run(args: &Args, layers: &Layers, output: Output) -> Result<Exit, Error> {
    let source = file_or_program(&args.file, &args.view, layers)?;
    let read = match sound(&source, output) {
        Ok(read) => read,
        Err(exit) => return Ok(exit),
    };
    let program = read.checked.program();
    let name = source.name();
    let function = match &args.function {
        Some(given) => find(&read.checked, given, &name)?,
        None => start(&read.checked, &name)?,
    };
    let values = arguments(program, function, &args.args)?;
    let stdin = match &args.stdin {
        Some(path) => Some(Pieces::open(path)?),
        None if args.file != Path::new("-") => Some(Pieces::open(Path::new("-"))?),
        None => None,
    };
    // Lines of what a module says are none of its file.
    let lines = (source.origin == Origin::Read).then(|| name.clone());
    let limits = Limits::from(&args.limits);
    let folder = args.dir.as_deref().map(Folder::open).transpose()?;
    let files = folder.as_ref().map(|folder| folder.read(limits.memory_bytes)).transpose()?;
    let (files, nameless) = files.unwrap_or_default();
    for path in nameless {
        say(format_args!("`{}` is left out: its name is not UTF-8", path.display()));
    }
    let environment = Environment {
        stdin: if stdin.is_some() { Input::open() } else { Input::default() },
        files: Arc::new(files),
        command_line: args.command_line.iter().map(|word| word.as_str().into()).collect(),
        variables: args.env.as_slice().into(),
        seed: args.seed,
    };
    let options = Options { limits, environment, ..Options::default() };
    let timeout = Duration::from_secs(args.timeout);
    let how = How { tier: args.tier, level: args.trace, timeout, output };
    block_on(async move {
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                flag.store(true, Ordering::Relaxed);
            }
        });
        let work = move || {
            let watch = Watch::new(stopped, timeout, stdin);
            let what = (function, &values[..], folder.as_ref());
            execute(&read, lines.as_deref(), what, &options, how, watch)
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|source| Error::Io { what: "the run", source: source.into() })?
    })
}

/// How a run is executed and shown.
#[derive(Clone, Copy, Debug)]
struct How {
    tier: Execution,
    level: Option<Level>,
    timeout: Duration,
    output: Output,
}

fn execute(
    read: &Read,
    file: Option<&str>,
    (function, values, folder): (FuncRef, &[Value], Option<&Folder>),
    options: &Options,
    How { tier, level, timeout, output }: How,
    watch: Watch,
) -> Result<Exit, Error> {
    let program = read.checked.program();
    // The arguments were read as values of the parameters' types.
    let mut run = Run::new(&read.checked, function, values, options, &Cache::new())
        .map_err(|error| Error::CannotRun { reason: error.to_string() })?;
    // The output of a run with a trace, or of one that is told in JSON, comes behind.
    let mut passed = Passed::default();
    let live = output.form == Form::Text && level.is_none();
    let stopped = watch.stopped();
    let compiled = watch.run(&mut run, tier, live.then_some(&mut passed))?;
    let tier = if compiled.is_some() { Tier::Compiled } else { Tier::Interpreter };
    if let Some(level) = level {
        let fuel = compiled.as_ref().map_or_else(|| run.fuel_used(), |result| result.fuel_used);
        // A run that was stopped shows what it did; who asks once more has seen enough.
        stopped.store(false, Ordering::Relaxed);
        if !trace(&run, level.into(), fuel, &stopped, output)? {
            return Ok(Exit::Interrupted);
        }
    }
    let mut result = compiled.unwrap_or_else(|| run.into_result());
    result.outcome.tell_time(timeout);
    let told = tell(&result.outcome, read, file);
    // A program that ends itself has done what it wanted, whatever its status.
    let ended = match &result.outcome {
        Outcome::Returned { .. } => true,
        Outcome::Trapped { fault, .. } => matches!(fault, Fault::Exit(_)),
        _ => false,
    };
    let unwritten = folder.filter(|_| ended).map(|folder| folder.write(&result.written)).unwrap_or_default();
    match output.form {
        Form::Text => {
            let mut stdout = result.stdout;
            if let Outcome::Returned { values } = &result.outcome
                && !values.is_empty()
            {
                if stdout.last().is_some_and(|last| *last != b'\n') {
                    stdout.push(b'\n');
                }
                let lines = values.iter().map(|value| format!("{}\n", print_value(program, value)));
                lines.for_each(|line| stdout.extend_from_slice(line.as_bytes()));
            }
            passed.rest(&stdout, &result.stderr)?;
            told.lines.iter().for_each(say);
        }
        Form::Json => {
            let mut json = told.json;
            json["tier"] = tier_name(tier).into();
            json["steps"] = result.steps.into();
            json["fuelUsed"] = result.fuel_used.into();
            json["memoryPeak"] = result.memory_peak.into();
            for (name, bytes) in [("stdout", &result.stdout), ("stderr", &result.stderr)] {
                // Where the text does not tell the bytes, base64 does.
                let exact = std::str::from_utf8(bytes).is_ok();
                json[name] = String::from_utf8_lossy(bytes).into();
                json[format!("{name}Base64")] = (!exact).then(|| BASE64_STANDARD.encode(bytes)).into();
            }
            // One more line behind those of its steps.
            if level.is_some() { output.text(&format!("{json}\n"))? } else { output.json(&json)? }
        }
    }
    unwritten.iter().for_each(|error| report(error, output));
    // What the program says of itself stands.
    Ok(if told.exit == Exit::Success && !unwritten.is_empty() { Exit::Failure } else { told.exit })
}

/// Shows the steps of a run that used so much fuel, as far as somebody reads them: one that was stopped does not go on here. Says
/// whether nobody has put an end to it.
fn trace(
    run: &Run,
    level: TraceLevel,
    fuel: u64,
    stopped: &AtomicBool,
    output: Output,
) -> Result<bool, Error> {
    let program = run.checked().program();
    let Some(mut trace) = Trace::of(run, level, Some(fuel)) else { return Ok(true) };
    let (mut lines, mut from) = (StepLines::default(), Some(0));
    while let Some(at) = from {
        if stopped.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let page = trace.page(at, PAGE, PAGE_NODES);
        let steps = page.steps.iter();
        let text: String = match output.form {
            Form::Json => steps.map(|step| format!("{}\n", step_json(step, program))).collect(),
            Form::Text => steps.map(|step| lines.line(step, program)).collect(),
        };
        match output.item(&text) {
            // The run ends as it does, whoever reads its steps.
            Err(error) if error.is_closed_output() => return Ok(true),
            shown => shown?,
        }
        from = page.next;
    }
    Ok(true)
}

impl From<Level> for TraceLevel {
    fn from(level: Level) -> TraceLevel {
        match level {
            Level::Calls => TraceLevel::Calls,
            Level::Regions => TraceLevel::Regions,
            Level::Nodes => TraceLevel::Nodes,
        }
    }
}
