//! `lmlang debug`: a run that stands still where one wants to look, and goes on and back.

mod absence;
mod values;

use std::io::{BufRead, IsTerminal, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lmlang_interp::{
    Breakpoint, Cache, Debugger, Environment, Limits, Options, Run, Spot, Step, Stopped, Trace, TraceLevel,
    why, why_not,
};
use lmlang_ir::text::{Detail, nearest, print_function, print_node};
use lmlang_ir::{FuncRef, NodeRef, Program, RefKind};
use serde_json::{Value as Json, json};

use crate::callee::{arguments, find, start};
use crate::commands::export::file_or_program;
use crate::commands::run::LimitArgs;
use crate::diagnostics::{Read, sound};
use crate::error::Error;
use crate::exit::Exit;
use crate::output::{Form, Output, counted};
use crate::report;
use crate::session::block_on;
use crate::settings::Layers;
use crate::source::{Origin, bytes};
use crate::told::{self, StepLines, step_json};
use crate::view::View;

/// Which function, with what, and what is done with it.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Args {
    /// The file, in the text form (`.lm`) or a WebAssembly module (`.wasm`, `.wat`); without such an ending, or with
    /// `--at`, a program, by name or id.
    file: PathBuf,
    /// The function, by name, path (`module::name`), ref or the name of an export [default: the export `_start`, else
    /// `main`].
    function: Option<String>,
    /// Its arguments, in the text form, as for `lmlang run`.
    #[arg(allow_negative_numbers = true)]
    args: Vec<String>,
    /// A command; may be repeated. With one, none are read from standard input.
    #[arg(long = "command", short = 'c', value_name = "COMMAND")]
    commands: Vec<String>,
    #[command(flatten)]
    limits: LimitArgs,
    /// What the program reads from its standard input.
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    #[command(flatten)]
    view: View,
}

const HELP: &str = "\
Commands, one a line; with the first letter where it is in brackets. Numbers are decimal, or hexadecimal behind `0x`:
  [s]tep [N]        N nodes forward, into calls and regions
  [n]ext [N]        past the next node with all that it calls or owns
  [o]ut [N]         out of the call
  [r]un             to the next breakpoint, or to the end
  [b]ack [N]        N nodes back
  runback           back to where a breakpoint was met last, or to the start
  seek N            to step N, forward or back
  break PLACE [if CONDITION]   stop before a node (`n12`, a name), at a line of the file (`8`) or in a function
  watch WHAT        stop behind a change of a variable or a global (`v5`, a name) or of `memory[16..24]`
  breaks            the breakpoints;  delete [N] removes one, or all
  ignore N COUNT    have breakpoint N stop only after it was met COUNT times more on the way forward
  [w]here           the calls;  list the function
  [l]ocals [CALL]   the values of a call, by its number [default: of the innermost]
  [p]rint EXPRESSION           what it comes to: a name, `array.get names, 70`, `add.i64 (var.get n), 1`
  [g]lobals         the values of the globals
  [m]emory ADDRESS [BYTES]     bytes of linear memory [default: 64]
  trace [N]         the last N steps
  why [STEP [PORT]] the steps that a value follows from [default: of the last step]
  whynot PLACE      what kept a node, or a function, from running, or that it did run
  printed           what was printed so far
  [q]uit";

pub(crate) fn run(args: &Args, layers: &Layers, output: Output) -> Result<Exit, Error> {
    let source = file_or_program(&args.file, &args.view, layers)?;
    let read = match sound(&source, output) {
        Ok(read) => read,
        Err(exit) => return Ok(exit),
    };
    let name = source.name();
    let function = match &args.function {
        Some(given) => find(&read.checked, given, &name)?,
        None => start(&read.checked, &name)?,
    };
    let values = arguments(read.checked.program(), function, &args.args)?;
    let stdin = args.stdin.as_deref().map(bytes).transpose()?.unwrap_or_default();
    let environment = Environment { stdin: stdin.into(), ..Environment::default() };
    let options = Options { limits: Limits::from(&args.limits), environment, ..Options::default() };
    let refused = |reason: String| Error::CannotRun { reason };
    let run = Run::new(&read.checked, function, &values, &options, &Cache::new())
        .map_err(|error| refused(error.to_string()))?;
    let debugger = Debugger::of(&run, None).ok_or_else(|| refused("it does not start".to_owned()))?;
    let file = (source.origin == Origin::Read).then_some(name);
    let (commands, stopped) = (args.commands.clone(), Arc::new(AtomicBool::new(false)));
    block_on(async move {
        let flag = Arc::clone(&stopped);
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                flag.store(true, Ordering::Relaxed);
            }
        });
        let work = move || {
            let (breakpoints, halt) = (Vec::new(), None);
            Session { read, file, run, debugger, breakpoints, stopped, halt, output }.run(commands)
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|source| Error::Io { what: "the run", source: source.into() })?
    })
}

/// A run with what is told about it.
struct Session {
    read: Read,
    file: Option<String>,
    /// The run as it was before its first step.
    run: Run,
    debugger: Debugger,
    breakpoints: Vec<(String, Breakpoint)>,
    stopped: Arc<AtomicBool>,
    /// Why it stands where it stands, once it was moved.
    halt: Option<Stopped>,
    output: Output,
}

/// What a command answers.
struct Answer {
    text: String,
    json: Json,
}

impl Session {
    fn run(mut self, commands: Vec<String>) -> Result<Exit, Error> {
        let here = self.here(None);
        self.tell("start", here)?;
        if !commands.is_empty() {
            for command in &commands {
                if !self.command(command)? {
                    break;
                }
            }
            return Ok(Exit::Success);
        }
        let stdin = std::io::stdin();
        let asks = stdin.is_terminal();
        let mut lines = stdin.lock().lines();
        loop {
            if asks {
                eprint!("(debug) ");
                std::io::stderr().flush().map_err(|source| Error::Io { what: "standard error", source })?;
            }
            let Some(line) = lines.next() else { return Ok(Exit::Success) };
            let line = line.map_err(|source| Error::Io { what: "standard input", source })?;
            match self.command(&line) {
                Ok(true) => {}
                Ok(false) => return Ok(Exit::Success),
                // Who types sees it and goes on; a script ends.
                Err(error @ Error::Command { .. }) if asks => report(&error, self.output),
                Err(error) => return Err(error),
            }
        }
    }

    /// Carries a command out; tells whether more are to come.
    fn command(&mut self, line: &str) -> Result<bool, Error> {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let bad = |reason: String| Error::Command { line: line.to_owned(), reason, candidates: Vec::new() };
        let number = |default: u64| match rest {
            "" => Ok(default),
            text => whole_number(text).map_err(bad),
        };
        self.stopped.store(false, Ordering::Relaxed);
        let flag = Arc::clone(&self.stopped);
        let mut interrupt = move || flag.load(Ordering::Relaxed);
        let debugger = &mut self.debugger;
        let moved = match word {
            "" => return Ok(true),
            "quit" | "q" => return Ok(false),
            "step" | "s" => Some(debugger.step(number(1)?, &mut interrupt)),
            "next" | "n" => Some(debugger.step_over(number(1)?, &mut interrupt)),
            "out" | "o" => Some(debugger.step_out(number(1)?, &mut interrupt)),
            // A breakpoint at the first step is met there.
            "run" | "r" if debugger.position() == 0 && !matches!(self.halt, Some(Stopped::At(_))) => {
                Some(debugger.begin(&mut interrupt))
            }
            "run" | "r" => Some(debugger.resume(&mut interrupt)),
            "back" | "b" => Some(debugger.step_back(number(1)?, &mut interrupt)),
            "runback" => Some(debugger.run_back(&mut interrupt)),
            "seek" if rest.is_empty() => return Err(bad("expected the number of a step".to_owned())),
            "seek" => Some(debugger.seek(number(0)?, &mut interrupt)),
            _ => None,
        };
        self.halt = moved.or(self.halt);
        let answer = match (moved, word) {
            (Some(stopped), _) => self.here(Some(stopped)),
            (None, "break") => self.set(rest, line)?,
            (None, "watch") => self.set(rest, line)?,
            (None, "breaks") => self.breaks(),
            (None, "ignore") => self.ignore(rest).map_err(bad)?,
            (None, "delete") => {
                let mut hits = self.hits();
                match number(0)? {
                    0 => self.breakpoints.clear(),
                    at if at <= self.breakpoints.len() as u64 => {
                        drop(self.breakpoints.remove(at as usize - 1));
                        hits.remove(at as usize - 1);
                    }
                    at => return Err(bad(format!("there is no breakpoint {at}"))),
                }
                self.arm(hits).map_err(bad)?;
                self.breaks()
            }
            (None, "where" | "w") => self.calls(),
            (None, "locals" | "l") if rest.is_empty() => self.locals(),
            (None, "locals" | "l") => {
                let frame = number(0)?;
                self.locals_of(frame)
                    .ok_or_else(|| bad(format!("there is no call {frame}: `where` lists them")))?
            }
            (None, "print" | "p") => self.evaluated(rest).map_err(|(reason, candidates)| Error::Command {
                line: line.to_owned(),
                reason,
                candidates,
            })?,
            (None, "globals" | "g") => self.globals(),
            (None, "memory" | "m") => self.memory(rest).map_err(bad)?,
            (None, "list") => self.list(),
            (None, "trace") => {
                let (at, count) = (self.debugger.position(), number(10)?.min(10_000));
                let from = at.saturating_sub(count);
                self.steps((from..at).collect())
            }
            (None, "why") => {
                let last = self.debugger.position().checked_sub(1);
                let mut words = rest.split_whitespace();
                let mut numbers = || {
                    let word = words.next()?;
                    Some(whole_number(word).map_err(bad))
                };
                let step =
                    numbers().transpose()?.or(last).ok_or_else(|| bad("no step was made yet".to_owned()))?;
                let port = numbers().transpose()?.unwrap_or(0);
                let port = usize::try_from(port).unwrap_or(usize::MAX);
                let found = why(&self.run, step, port, MOST_STEPS, &mut interrupt);
                let found = found.ok_or_else(|| bad(format!("there is no value {port} of a step {step}")))?;
                self.steps(found.steps)
            }
            (None, "whynot") => {
                let (of, node) =
                    self.node(rest).or_else(|| self.first_of(rest)).ok_or_else(|| Error::Command {
                        line: line.to_owned(),
                        reason: format!("there is no node `{rest}`"),
                        candidates: nearest(rest, self.labels().into_iter()),
                    })?;
                let fuel = Some(self.debugger.run().fuel_used());
                let found = why_not(&self.run, fuel, of, node, &mut interrupt);
                let found = found.ok_or_else(|| bad("it was interrupted".to_owned()))?;
                self.absence(node, &found)
            }
            (None, "printed") => {
                let mut text = String::from_utf8_lossy(self.debugger.run().stdout()).into_owned();
                let json = json!({ "stdout": text });
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                Answer { json, text }
            }
            (None, "help" | "h") => Answer { text: format!("{HELP}\n"), json: json!({ "help": HELP }) },
            (None, _) => return Err(bad(format!("there is no command `{word}`: `help` lists them"))),
        };
        self.tell(line, answer)?;
        Ok(true)
    }

    fn tell(&self, command: &str, answer: Answer) -> Result<(), Error> {
        match self.output.form {
            Form::Text => self.output.item(&answer.text),
            Form::Json => {
                let mut json = json!({ "command": command });
                if let (Some(all), Json::Object(of)) = (json.as_object_mut(), answer.json) {
                    all.extend(of);
                }
                self.output.json_line(&json)
            }
        }
    }

    /// Where it stands.
    fn here(&self, stopped: Option<Stopped>) -> Answer {
        let (debugger, program) = (&self.debugger, self.program());
        let position = debugger.position();
        let mut text = String::new();
        let at = match stopped {
            Some(Stopped::At(at)) => {
                let hits = debugger.hits().nth(at).unwrap_or(0);
                let trouble =
                    debugger.trouble(at).map(|why| format!(": its condition cannot be told: {why}"));
                text += &format!(
                    "breakpoint {} ({}){}\n",
                    at + 1,
                    counted(hits, "time", "times"),
                    trouble.unwrap_or_default()
                );
                Some(at + 1)
            }
            Some(Stopped::Interrupted) => {
                text += "interrupted\n";
                None
            }
            Some(Stopped::There | Stopped::End) | None => None,
        };
        if let Some(outcome) = debugger.outcome() {
            let told = told::tell(outcome, &self.read, self.file.as_deref());
            let values = told.json["values"].as_array();
            let values = values.map(|values| {
                let values: Vec<&str> = values.iter().filter_map(Json::as_str).collect();
                format!("returned {}", values.join(", "))
            });
            text += &format!("{position:>6}  the end\n");
            text += &values.map_or_else(
                || format!("{}\n", told.lines.join("\n")),
                |line| format!("{}\n", line.trim_end()),
            );
            return Answer {
                text,
                json: json!({ "position": position, "breakpoint": at, "end": told.json }),
            };
        }
        let stack = debugger.stack();
        let Some(here) = stack.last() else { return Answer { text, json: json!({ "position": position }) } };
        let node = here.node.map(|node| line_of(program, node)).unwrap_or_default();
        let path = program.path(here.function.into());
        let indent = "  ".repeat((here.frame as usize).min(16));
        text += &format!("{position:>6}  {indent}{path}  {node}{}\n", self.place(here.node));
        let json = json!({
            "position": position, "breakpoint": at, "frame": here.frame, "function": here.function.to_string(),
            "region": here.region.to_string(), "node": here.node.map(|node| node.to_string()), "text": node,
            "interrupted": stopped == Some(Stopped::Interrupted),
        });
        Answer { text, json }
    }

    /// Where a node stands in the file.
    fn place(&self, node: Option<NodeRef>) -> String {
        let found = node.and_then(|node| self.read.places.get(node.number()));
        let place = self.file.as_ref().zip(found);
        place.map(|(file, (line, column))| format!("  ({file}:{line}:{column})")).unwrap_or_default()
    }

    fn calls(&self) -> Answer {
        let program = self.program();
        let stack = self.debugger.stack();
        let line = |at: &lmlang_interp::Location| {
            let node = at.node.map(|node| line_of(program, node)).unwrap_or_default();
            format!("{:>4}  {}  {node}{}\n", at.frame, program.path(at.function.into()), self.place(at.node))
        };
        let json = stack.iter().map(|at| {
            json!({
                "frame": at.frame, "function": at.function.to_string(),
                "node": at.node.map(|node| node.to_string()),
            })
        });
        Answer {
            json: json!({ "stack": json.collect::<Vec<Json>>() }),
            text: stack.iter().rev().map(line).collect(),
        }
    }

    /// The function, with a mark before the line of the next step.
    fn list(&self) -> Answer {
        let program = self.program();
        let stack = self.debugger.stack();
        let Some(here) = stack.last() else {
            return Answer { text: "the run is over\n".to_owned(), json: json!({ "text": null }) };
        };
        let text = print_function(program, here.function, Detail::Full);
        let mark = here.node.map(|node| format!("#{node}"));
        let is_here = |line: &str| {
            mark.as_ref().is_some_and(|mark| {
                line.match_indices(mark.as_str())
                    .any(|(at, _)| !line[at + mark.len()..].starts_with(|next: char| next.is_ascii_digit()))
            })
        };
        let lines = text.lines().map(|line| format!("{} {line}\n", if is_here(line) { '>' } else { ' ' }));
        Answer {
            json: json!({ "text": text, "node": here.node.map(|node| node.to_string()) }),
            text: lines.collect(),
        }
    }

    fn steps(&self, numbers: Vec<u64>) -> Answer {
        let program = self.program();
        let Some(mut trace) = Trace::of(&self.run, TraceLevel::Nodes, None) else {
            return Answer { text: String::new(), json: json!({ "steps": [] }) };
        };
        let steps: Vec<Step> =
            numbers.into_iter().flat_map(|number| trace.page(number, 1, u64::MAX).steps).collect();
        let json: Vec<Json> = steps.iter().map(|step| step_json(step, program)).collect();
        let mut lines = StepLines::default();
        Answer {
            json: json!({ "steps": json }),
            text: steps.iter().map(|step| lines.line(step, program)).collect(),
        }
    }

    fn breaks(&self) -> Answer {
        let (mut text, mut json) = (String::new(), Vec::new());
        for (at, ((place, of), hits)) in self.breakpoints.iter().zip(self.debugger.hits()).enumerate() {
            let ignored = of.ignore.saturating_sub(hits);
            let passes = if ignored > 0 { format!(", passes the next {ignored}") } else { String::new() };
            text += &format!("{}  {place} ({}{passes})\n", at + 1, counted(hits, "time", "times"));
            json.push(json!({ "breakpoint": at + 1, "place": place, "hits": hits, "ignore": of.ignore }));
        }
        Answer { text, json: json!({ "breakpoints": json }) }
    }

    /// Has a breakpoint stop only after it was met so many times more.
    fn ignore(&mut self, given: &str) -> Result<Answer, String> {
        let (number, count) = given.split_once(char::is_whitespace).unwrap_or((given, ""));
        if count.trim().is_empty() {
            return Err("expected the number of a breakpoint, and how often it passes".to_owned());
        }
        let (number, count) = (whole_number(number)?, whole_number(count.trim())?);
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let hits = at.and_then(|at| self.debugger.hits().nth(at));
        let found = at.and_then(|at| self.breakpoints.get_mut(at)).zip(hits);
        let ((_, breakpoint), hits) = found.ok_or_else(|| format!("there is no breakpoint {number}"))?;
        breakpoint.ignore = hits.saturating_add(count);
        self.arm(self.hits())?;
        Ok(self.breaks())
    }

    /// Adds a breakpoint: `PLACE [if CONDITION]`, or what is watched.
    fn set(&mut self, given: &str, line: &str) -> Result<Answer, Error> {
        let refused = |reason, candidates| Error::Command { line: line.to_owned(), reason, candidates };
        let (place, condition) = match given.split_once(" if ") {
            Some((place, condition)) => (place.trim(), Some(condition.trim().to_owned())),
            None => (given, None),
        };
        let unknown = || format!("there is no `{place}` to stop at");
        let spot = if line.starts_with("watch") {
            self.watched(place).ok_or_else(|| match self.node(place) {
                Some(_) => {
                    let why =
                        format!("`{place}` is a value, which never changes: `break` stops where it is made");
                    refused(why, Vec::new())
                }
                None => refused(unknown(), nearest(place, self.variables().into_iter())),
            })?
        } else if let Ok(number) = place.parse::<u32>() {
            let found = self.at_line(number);
            let (of, node) =
                found.ok_or_else(|| refused(format!("there is no node in line {number}"), Vec::new()))?;
            Spot::Node(of, node)
        } else if let Some((of, node)) = self.node(place) {
            Spot::Node(of, node)
        } else {
            let found = find(&self.read.checked, place, "").map_err(|error| match error {
                Error::NoFunction { .. } => {
                    let functions = self.program().functions().map(|(_, function)| &*function.head().name);
                    refused(unknown(), nearest(place, self.labels().into_iter().chain(functions)))
                }
                error => refused(error.to_string(), error.candidates().to_vec()),
            });
            Spot::Function(found?)
        };
        self.breakpoints.push((given.to_owned(), Breakpoint { spot, condition, ignore: 0 }));
        if let Err(reason) = self.arm(self.hits()) {
            self.breakpoints.pop();
            return Err(refused(reason, Vec::new()));
        }
        Ok(self.breaks())
    }

    /// How often each breakpoint was met.
    fn hits(&self) -> Vec<u64> {
        self.debugger.hits().collect()
    }

    /// Sets the breakpoints that there are, and keeps what was counted.
    fn arm(&mut self, hits: Vec<u64>) -> Result<(), String> {
        let wanted: Vec<Breakpoint> = self.breakpoints.iter().map(|(_, of)| of.clone()).collect();
        self.debugger.set_breakpoints(&wanted).map_err(|(_, error)| error.to_string())?;
        self.debugger.set_hits(hits);
        Ok(())
    }

    /// What is watched: a variable by its name in the function where the run stands, or what a path names.
    fn watched(&self, given: &str) -> Option<Spot> {
        let program = self.program();
        let here = self.debugger.stack().last().map(|here| program.path(here.function.into()));
        let local = here.and_then(|function| Spot::watched(program, &format!("{function}::{given}")));
        local.or_else(|| Spot::watched(program, given))
    }

    /// The names of the variables there, and of the globals.
    fn variables(&self) -> Vec<&str> {
        let program = self.program();
        let here = self.debugger.stack().last().and_then(|here| program.function(here.function));
        let locals = here.into_iter().flat_map(|function| function.body().variables());
        let locals = locals.filter_map(|(_, variable)| variable.name.as_deref());
        locals.chain(program.storage_from(0).map(|(_, storage)| &*storage.name)).collect()
    }

    /// The node of the statement in a line of the file that is executed first.
    fn at_line(&self, line: u32) -> Option<(FuncRef, NodeRef)> {
        let place = |node: NodeRef| self.read.places.get(node.number()).filter(|(at, _)| *at == line);
        self.program().functions().find_map(|(of, function)| {
            let body = function.body();
            let there = body.nodes().filter_map(|(node, found)| Some((place(node)?, found.region())));
            let (_, region) = there.min_by_key(|(place, _)| *place)?;
            body.nodes_in(region).find(|node| place(*node).is_some()).map(|node| (of, node))
        })
    }

    /// A node by ref, or by its name in the function where the run stands.
    fn node(&self, given: &str) -> Option<(FuncRef, NodeRef)> {
        let program = self.program();
        if let Ok(node) = given.parse::<NodeRef>() {
            return Some((program.function_of(node.into())?, node));
        }
        let (function, name) = match given.rsplit_once("::") {
            Some((path, name)) => (find(&self.read.checked, path, "").ok()?, name),
            None => (self.debugger.stack().last()?.function, given),
        };
        let named = program.function(function)?.body().named(name).find(|of| of.kind == RefKind::Node)?;
        Some((function, NodeRef::try_from(named).ok()?))
    }

    /// The first node of a function.
    fn first_of(&self, given: &str) -> Option<(FuncRef, NodeRef)> {
        let function = find(&self.read.checked, given, "").ok()?;
        let body = self.program().function(function)?.body();
        Some((function, body.nodes_in(body.root()?).next()?))
    }

    /// The names of nodes in the function where the run stands.
    fn labels(&self) -> Vec<&str> {
        let program = self.program();
        let here = self.debugger.stack().last().and_then(|here| program.function(here.function));
        let nodes = here.into_iter().flat_map(|function| function.body().nodes());
        nodes.filter_map(|(_, node)| node.name()).flat_map(|label| label.split(", ")).collect()
    }

    fn program(&self) -> &Program {
        self.read.checked.program()
    }
}

/// A number as it is typed: decimal, or hexadecimal behind `0x`.
fn whole_number(word: &str) -> Result<u64, String> {
    let read = match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => word.parse(),
    };
    read.map_err(|_| format!("`{word}` is no number"))
}

/// Steps that are told of one explanation at most.
const MOST_STEPS: usize = 200;

/// A node as one line.
fn line_of(program: &Program, node: NodeRef) -> String {
    let text = print_node(program, node, Detail::Summary);
    text.lines().next().unwrap_or_default().trim().to_owned()
}
