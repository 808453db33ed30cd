//! `lmlang run`: a function of a file or of a program, with its trace.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use lmlang_interp::{
    Cache, Environment, Fault, LimitKind, Limits, Note, Options, Outcome, Place, Progress, Run, Shown, Step,
    Trace, TraceLevel, limit_message,
};
use lmlang_ir::graph::calls::{Mentions, components_from};
use lmlang_ir::text::{Detail, nearest, parse_value, print_node, print_signature, print_value};
use lmlang_ir::{Const, FuncRef, FunctionHead, Opcode, Program, Type, Value};
use serde_json::{Value as Json, json};

use crate::commands::export;
use crate::diagnostics::{Read, sound};
use crate::error::Error;
use crate::exit::Exit;
use crate::folder::Folder;
use crate::output::{Form, Output, say};
use crate::session::block_on;
use crate::settings::Layers;
use crate::source::{Source, input};
use crate::view::View;

/// Which function, with what.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file, in the text form or a WebAssembly module (`.wasm`, `.wat`); `-` for standard input; with `--at` or
    /// `--branch` a program, by name or id.
    file: PathBuf,
    /// The function, by name, path (`module::name`), ref or the name of an export [default: the export `_start`, else
    /// `main`].
    function: Option<String>,
    /// Its arguments, in the text form: `5`, `f64:0.1`, `text` or `"text"`, `[i32: 1, 2]`, `Point{x: 1, y: 2}`.
    #[arg(allow_negative_numbers = true)]
    args: Vec<String>,
    /// Print what the run did, one step a line.
    #[arg(long, value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "nodes")]
    trace: Option<Level>,
    /// How many nodes may be executed.
    #[arg(long, value_name = "NODES", default_value_t = Limits::default().fuel)]
    fuel: u64,
    /// How long it may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
    /// What the program reads from its standard input; `-` for that of this command [default: what is piped into it].
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// A folder whose files the program reads and writes, and no others; what it wrote is there when it returns.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// What random bytes follow from.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    view: View,
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

/// What an executable module begins with, and a program in the text form.
const START: &str = "_start";
const MAIN: &str = "main";

/// Fuel between two looks at the clock.
const SLICE: u64 = 1 << 20;

/// Steps of a trace that are made at a time.
const PAGE: usize = 1_000;

pub(crate) fn run(args: &Args, layers: &Layers, output: Output) -> Result<Exit, Error> {
    let source = match args.view.at {
        None => Source::read(&args.file)?,
        Some(_) => export::source(&args.file.to_string_lossy(), &args.view, &layers.settings()?)?,
    };
    let read = match sound(&source) {
        Ok(read) => read,
        Err(exit) => return Ok(exit),
    };
    let program = read.checked.program();
    let function = match &args.function {
        Some(given) => find(program, given, &args.file)?,
        None => find(program, START, &args.file).or_else(|_| find(program, MAIN, &args.file))?,
    };
    let values = arguments(program, function, &args.args)?;
    let piped =
        || args.file != Path::new("-") && !std::io::stdin().is_terminal() && reads_lines(program, function);
    let stdin: Arc<str> = match &args.stdin {
        Some(path) => input(path)?.into(),
        None if piped() => input(Path::new("-"))?.into(),
        None => Arc::from(""),
    };
    let limits = Limits { fuel: args.fuel, ..Limits::default() };
    let folder = args.dir.as_deref().map(Folder::open).transpose()?;
    let files = folder.as_ref().map(|folder| folder.read(limits.memory_bytes)).transpose()?;
    let environment = Environment { stdin, files: Arc::new(files.unwrap_or_default()), seed: args.seed };
    let options = Options { limits, environment, ..Options::default() };
    let (level, deadline) = (args.trace, Instant::now() + Duration::from_secs(args.timeout));
    let name = source.name();
    block_on(async move {
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                flag.store(true, Ordering::Relaxed);
            }
        });
        let work = move || {
            let watch = Watch { stopped, deadline };
            let what = (function, &values[..], folder.as_ref());
            execute(&read, &name, what, &options, level, &watch, output)
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|source| Error::Io { what: "the run", source: source.into() })?
    })
}

/// What ends a run from outside.
struct Watch {
    stopped: Arc<AtomicBool>,
    deadline: Instant,
}

fn execute(
    read: &Read,
    file: &str,
    (function, values, folder): (FuncRef, &[Value], Option<&Folder>),
    options: &Options,
    level: Option<Level>,
    watch: &Watch,
    output: Output,
) -> Result<Exit, Error> {
    let program = read.checked.program();
    // The arguments were read as values of the parameters' types.
    let mut run = Run::new(&read.checked, function, values, options, &Cache::new())
        .map_err(|error| Error::CannotRun { reason: error.to_string() })?;
    while run.resume(SLICE) == Progress::Paused {
        if watch.stopped.load(Ordering::Relaxed) {
            run.cancel();
        } else if Instant::now() >= watch.deadline {
            run.time_out();
        }
    }
    if let Some(level) = level {
        trace(&run, level.into(), output)?;
    }
    let result = run.into_result();
    let told = tell(&result.outcome, read, file);
    match output.form {
        Form::Text => {
            let mut text = result.stdout.clone();
            if let Outcome::Returned { values } = &result.outcome
                && !values.is_empty()
            {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                values.iter().for_each(|value| text.push_str(&format!("{}\n", print_value(program, value))));
            }
            // As it is: what is for a terminal stays in it.
            pass_on(std::io::stdout().lock(), "standard output", &text)?;
            pass_on(std::io::stderr().lock(), "standard error", &result.stderr)?;
            told.lines.iter().for_each(say);
        }
        Form::Json => {
            let mut json = told.json;
            json["steps"] = result.steps.into();
            json["fuelUsed"] = result.fuel_used.into();
            json["memoryPeak"] = result.memory_peak.into();
            json["stdout"] = result.stdout.into();
            json["stderr"] = result.stderr.into();
            if level.is_some() { output.json_line(&json)? } else { output.json(&json)? }
        }
    }
    // A program that ends itself has done what it wanted, whatever its status.
    let ended = match &result.outcome {
        Outcome::Returned { .. } => true,
        Outcome::Trapped { fault, .. } => matches!(fault, Fault::Exit(_)),
        _ => false,
    };
    if let Some(folder) = folder.filter(|_| ended) {
        folder.write(&result.written)?;
    }
    Ok(told.exit)
}

/// What the program wrote goes to the streams of this command. Nobody has to read it to its end.
fn pass_on(mut to: impl Write, what: &'static str, text: &str) -> Result<(), Error> {
    match to.write_all(text.as_bytes()).and_then(|()| to.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        done => done.map_err(|source| Error::Io { what, source }),
    }
}

/// A run's end, told.
struct Told {
    exit: Exit,
    json: Json,
    lines: Vec<String>,
}

fn tell(outcome: &Outcome, read: &Read, file: &str) -> Told {
    let program = read.checked.program();
    let (kind, code, message, exit) = match outcome {
        Outcome::Returned { values } => {
            let values: Vec<String> = values.iter().map(|value| print_value(program, value)).collect();
            return Told {
                exit: Exit::Success,
                json: json!({ "outcome": "returned", "values": values }),
                lines: Vec::new(),
            };
        }
        Outcome::Trapped { fault, .. } => ("trapped", fault.code(), fault.to_string(), Exit::Failure),
        Outcome::ContractViolated { contract, message, .. } => {
            let told = format!("`{message}` ({contract}) does not hold");
            ("contractViolated", "CONTRACT_VIOLATED", told, Exit::Failure)
        }
        Outcome::LimitReached { limit: LimitKind::Time, .. } => {
            ("limitReached", "TIME", "the time ran out".to_owned(), Exit::TimeOut)
        }
        Outcome::LimitReached { limit, bound, .. } => {
            ("limitReached", "LIMIT_REACHED", limit_message(*limit, *bound), Exit::Failure)
        }
        Outcome::ReachedHole { node, port, .. } => {
            let told = match (node, port) {
                (Some(node), Some(port)) => format!("input {port} of `{node}` has no source"),
                (Some(node), None) => format!("`{node}` does not fit any more"),
                (None, _) => "a region ends without saying how".to_owned(),
            };
            ("reachedHole", "HOLE", told, Exit::Failure)
        }
        Outcome::NotVerified { function } => {
            let told = format!("`{}` has errors", program.path((*function).into()));
            ("notVerified", "NOT_VERIFIED", told, Exit::Verification)
        }
        Outcome::Cancelled { .. } => ("cancelled", "CANCELLED", "interrupted".to_owned(), Exit::Interrupted),
    };
    let stack = outcome.place().map(|place| stack(place, read, file)).unwrap_or_default();
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let mut lines = vec![format!("{red}{kind}[{code}]{red:#}: {message}")];
    lines.extend(stack.iter().map(|call| format!("  {call}")));
    Told { exit, json: json!({ "outcome": kind, "code": code, "message": message, "stack": stack }), lines }
}

/// The calls, the innermost first, each with its line in the file. Of deep recursion the ends are shown.
fn stack(place: &Place, read: &Read, file: &str) -> Vec<String> {
    const ENDS: usize = 8;
    let calls = place.stack.iter().rev().map(|at| {
        let function = read.checked.program().path(at.function.into());
        let found = at.node.and_then(|node| read.places.get(node.number()));
        let found = found.or_else(|| read.places.get(at.function.number()));
        let line = found.map(|(line, column)| format!("{file}:{line}:{column}")).unwrap_or_default();
        let node = at.node.map(|node| format!(" {node}")).unwrap_or_default();
        format!("in {function}{node} at {line}")
    });
    let mut calls: Vec<String> = calls.collect();
    if calls.len() > 2 * ENDS {
        let left_out = calls.len() - 2 * ENDS;
        calls.splice(ENDS..ENDS + left_out, [format!("… {left_out} calls")]);
    }
    calls
}

fn trace(run: &Run, level: TraceLevel, output: Output) -> Result<(), Error> {
    let program = run.checked().program();
    // Bounded by what was executed, so that a run that was stopped does not go on here.
    let Some(mut trace) = Trace::of(run, level, Some(run.fuel_used())) else { return Ok(()) };
    let mut from = Some(0);
    while let Some(at) = from {
        let page = trace.page(at, PAGE, u64::MAX);
        let mut text = String::new();
        for step in &page.steps {
            match output.form {
                Form::Json => output.json_line(&step_json(step, program))?,
                Form::Text => text.push_str(&step_line(step, program)),
            }
        }
        output.text(&text)?;
        from = page.next;
    }
    Ok(())
}

fn shown(values: &[Shown], program: &Program) -> Vec<String> {
    let one = |shown: &Shown| {
        let value = print_value(program, &shown.value);
        if shown.cut { format!("{value}…") } else { value }
    };
    values.iter().map(one).collect()
}

fn note(note: Note) -> &'static str {
    match note {
        Note::InContract => "inContract",
        Note::Stopped => "stopped",
    }
}

fn step_json(step: &Step, program: &Program) -> Json {
    json!({
        "seq": step.seq,
        "frame": step.frame,
        "function": step.function.to_string(),
        "region": step.region.to_string(),
        "node": step.node.to_string(),
        "inputs": shown(&step.inputs, program),
        "outputs": shown(&step.outputs, program),
        "note": step.note.map(note),
    })
}

/// A step as a line: number, depth, node, and what it made.
fn step_line(step: &Step, program: &Program) -> String {
    let text = print_node(program, step.node, Detail::Summary);
    let text = text.lines().next().unwrap_or_default().trim();
    let indent = "  ".repeat((step.frame as usize).min(16));
    let outputs = shown(&step.outputs, program).join(", ");
    let arrow = if outputs.is_empty() { "" } else { "  => " };
    let note = step.note.map(|step| format!("  ({})", note(step))).unwrap_or_default();
    format!("{:>6}  {indent}{text}{arrow}{outputs}{note}\n", step.seq)
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

/// Tells whether a run of a function may read its standard input. What does not would wait for the end of a pipe in vain.
fn reads_lines(program: &Program, function: FuncRef) -> bool {
    let reached = components_from(Mentions::all(program), [function.into()]);
    let functions = reached.into_iter().flatten().filter_map(|of| FuncRef::try_from(of).ok());
    let reads = |code| matches!(code, Opcode::ReadLine | Opcode::FileRead);
    functions.filter_map(|of| program.function(of)).any(|found| {
        let import = found.head().import.as_ref();
        import.is_some_and(|import| matches!(&*import.name, "fd_read" | "fd_pread"))
            || found.body().nodes().any(|(_, node)| reads(node.op().code()))
    })
}

/// The function that a caller names.
pub(crate) fn find(program: &Program, given: &str, file: &Path) -> Result<FuncRef, Error> {
    let named = |(of, function): (FuncRef, &Arc<lmlang_ir::Function>)| {
        (*function.head().name == *given || program.path(of.into()) == given || of.to_string() == given)
            .then_some(of)
    };
    // Whoever comes with a module knows the names under which it exports; inside, another one may be called so.
    let exported = |head: &FunctionHead| head.exports.iter().any(|export| **export == *given);
    let exports = program.functions().filter(|(_, of)| exported(of.head()));
    let mut found: Vec<FuncRef> = exports.map(|(of, _)| of).collect();
    if found.is_empty() {
        found.extend(program.functions().filter_map(named));
    }
    match found[..] {
        [of] => Ok(of),
        [] => {
            let names: Vec<_> = program.functions().map(|(_, found)| found.head().name.clone()).collect();
            let candidates = nearest(given, names.iter().map(|name| &**name));
            Err(Error::NoFunction { path: file.to_owned(), given: given.to_owned(), candidates })
        }
        [_, ..] => {
            let candidates = found.iter().map(|of| program.path((*of).into())).collect();
            Err(Error::AmbiguousFunction { given: given.to_owned(), candidates })
        }
    }
}

/// Reads the arguments as values of the parameters' types.
fn arguments(program: &Program, function: FuncRef, given: &[String]) -> Result<Vec<Value>, Error> {
    let params = program.function(function).map(|found| found.head().params.clone()).unwrap_or_default();
    if params.len() != given.len() {
        return Err(Error::ArgumentCount {
            function: program.path(function.into()),
            expected: params.len(),
            found: given.len(),
            signature: print_signature(program, function),
        });
    }
    let read = |(index, (param, text)): (usize, (&lmlang_ir::Param, &String))| {
        // As in GraphQL, a text needs no quotes where nothing else can be meant.
        if param.ty == Type::String && !text.starts_with('"') {
            return Ok(Value::Const(Const::String(text.as_str().into())));
        }
        parse_value(program, &param.ty, text).map_err(|error| Error::Argument {
            number: index + 1,
            given: text.clone(),
            parameter: param.name.to_string(),
            ty: lmlang_ir::text::print_type_name(program, None, &param.ty),
            reason: error.message,
        })
    };
    params.iter().zip(given).enumerate().map(read).collect()
}
