//! Inputs that break the functions of a file: how they are looked for, and told.

use std::time::{Duration, Instant};

use lmlang_check::{Checker, Counterexample, Ending, Options, Progress, Refusal, State, subjects};
use lmlang_interp::Cache;
use lmlang_ir::FuncRef;
use lmlang_ir::text::print_value;
use serde::Serialize;
use serde_json::Value as Json;

use crate::diagnostics::{Problem, Read, Weight, show};
use crate::output::{bar, counted, say};
use crate::source::Source;
use crate::told::tell;

/// How long to look, and where.
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    /// Also look for inputs that break functions: those that have contracts, return values with invariants or
    /// call one that demands something; where there are none, the public ones.
    #[arg(long)]
    pub(crate) contracts: bool,
    /// Inputs for each function at most.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 1_000,
        requires = "contracts",
        value_parser = clap::value_parser!(u64).range(1..=1_000_000_000)
    )]
    pub(crate) cases: u64,
    /// What all chance follows from: the same finds the same.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, requires = "contracts")]
    pub(crate) seed: u64,
    /// How long to look in each file or program, in seconds.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10,
        requires = "contracts",
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    pub(crate) timeout: u64,
}

/// What came of the search for one function.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Attempt {
    function: String,
    #[serde(rename = "ref")]
    of: String,
    /// Inputs that it took.
    tried: u64,
    /// Inputs that do not meet what it demands.
    discarded: u64,
    /// Inputs of which nothing follows.
    undecided: u64,
    /// Why nothing follows from these.
    undecided_why: Vec<String>,
    ending: &'static str,
    /// Why there are no inputs.
    message: Option<String>,
    counterexample: Option<Broken>,
}

/// An input that breaks a function.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Broken {
    args: Vec<String>,
    outcome: Json,
    /// How the run ends, for people.
    #[serde(skip)]
    lines: Vec<String>,
    #[serde(skip)]
    problem: Problem,
}

/// Fuel between two looks at the clock.
const SLICE: u64 = 1 << 20;

/// Looks for inputs that break the functions of a file; `name` is the file's.
pub(crate) fn search(read: &Read, name: &str, args: &SearchArgs) -> Vec<Attempt> {
    let functions = subjects(read.checked.program());
    let end = Instant::now() + Duration::from_secs(args.timeout);
    let options = Options { cases: args.cases, seed: args.seed, ..Options::default() };
    let (cache, shown) = (Cache::new(), bar("looking for inputs", functions.len() as u64));
    let mut attempts = Vec::with_capacity(functions.len());
    for (at, function) in functions.iter().enumerate() {
        // What is left is shared by those that are.
        let rest = u32::try_from(functions.len() - at).unwrap_or(u32::MAX);
        let until = Instant::now() + end.saturating_duration_since(Instant::now()) / rest;
        let found =
            Checker::new(&read.checked, *function, &options, &cache).and_then(|checker| look(checker, until));
        attempts.push(attempt(read, name, *function, found));
        shown.inc(1);
    }
    shown.finish_and_clear();
    attempts
}

fn look(mut checker: Checker, until: Instant) -> Result<Progress, Refusal> {
    while !matches!(checker.progress().state, State::Over(_)) && Instant::now() < until {
        checker.advance(SLICE)?;
    }
    Ok(checker.progress().clone())
}

fn attempt(read: &Read, name: &str, function: FuncRef, found: Result<Progress, Refusal>) -> Attempt {
    let program = read.checked.program();
    let path = program.path(function.into());
    let (ending, progress, message) = match found {
        Ok(progress) => (ending(&progress), Some(progress), None),
        Err(refusal) => ("REFUSED", None, Some(refusal.message(program))),
    };
    let (tried, discarded) = progress.as_ref().map_or((0, 0), |found| (found.tried, found.discarded));
    let undecided = progress.iter().flat_map(|found| found.undecided.values()).sum();
    let undecided_why = progress
        .as_ref()
        .map(|found| lmlang_check::undecided(&found.undecided, &Options::default().limits))
        .unwrap_or_default();
    let counterexample = progress.and_then(|found| found.counterexample);
    let counterexample = counterexample.map(|found| Broken::of(read, name, function, &found));
    let of = function.to_string();
    Attempt {
        function: path,
        of,
        tried,
        discarded,
        undecided,
        undecided_why,
        ending,
        message,
        counterexample,
    }
}

/// How a search ended, in the words of the API.
fn ending(of: &Progress) -> &'static str {
    match (&of.state, &of.counterexample) {
        // Perhaps there are smaller ones.
        (State::Over(Ending::Found), _) | (State::Trying | State::Shrinking, Some(_)) => "FOUND",
        (State::Over(Ending::Cases | Ending::Exhausted), _) => "TRIED",
        (State::Over(Ending::GaveUp), _) => "GAVE_UP",
        (State::Trying | State::Shrinking, None) => "OUT_OF_TIME",
    }
}

impl Broken {
    fn of(read: &Read, name: &str, function: FuncRef, found: &Counterexample) -> Broken {
        let program = read.checked.program();
        let args: Vec<String> = found.args.iter().map(|value| print_value(program, value)).collect();
        let (line, column) = read.places.get(function.number()).unwrap_or((1, 1));
        let problem = Problem {
            code: "COUNTEREXAMPLE",
            severity: Weight::Error,
            message: format!("`{}({})` breaks", program.path(function.into()), args.join(", ")),
            line,
            column,
            of: Some(function.to_string()),
            expected: Vec::new(),
            candidates: Vec::new(),
        };
        let told = tell(&found.outcome, read, Some(name));
        Broken { args, outcome: told.json, lines: told.lines, problem }
    }
}

impl Attempt {
    /// What was found, as something that is wrong with the file.
    pub(crate) fn problem(&self) -> Option<&Problem> {
        self.counterexample.as_ref().map(|broken| &broken.problem)
    }

    /// Tells people what was found, or why nothing was.
    pub(crate) fn show(&self, source: &Source) {
        if let Some(broken) = &self.counterexample {
            show(source, std::slice::from_ref(&broken.problem));
            broken.lines.iter().for_each(say);
            return;
        }
        let Attempt { ending, message, tried, discarded, undecided, undecided_why, .. } = self;
        let counts =
            Counts { tried: *tried, discarded: *discarded, undecided: *undecided, why: undecided_why };
        if let Some(why) = inconclusive(&self.function, Some(ending), message.as_deref(), counts) {
            say(why);
        }
    }
}

/// How many inputs were looked at.
#[derive(Clone, Copy)]
pub(crate) struct Counts<'a> {
    /// With which the function was run.
    pub(crate) tried: u64,
    /// Which did not meet what it demands.
    pub(crate) discarded: u64,
    /// Of which nothing follows, among those that were tried.
    pub(crate) undecided: u64,
    /// Why nothing follows from these.
    pub(crate) why: &'a [String],
}

/// Why nothing follows from a search that found nothing, or less than it seems; its ending in the words of the API.
pub(crate) fn inconclusive(
    function: &str,
    ending: Option<&str>,
    message: Option<&str>,
    counts: Counts<'_>,
) -> Option<String> {
    let Counts { tried, discarded, undecided, why } = counts;
    let inputs = counted(tried, "input", "inputs");
    match (ending, message) {
        (_, Some(message)) => Some(format!("`{function}` is not tried: {message}")),
        (Some("OUT_OF_TIME"), None) => Some(format!("`{function}`: the time ran out after {inputs}")),
        (Some("GAVE_UP"), None) => {
            let all = tried + discarded;
            Some(format!("`{function}`: too few inputs meet what it demands: {tried} of {all}"))
        }
        (_, None) if undecided > 0 => {
            Some(format!("`{function}`: nothing follows from {undecided} of {inputs}: {}", why.join(", ")))
        }
        (_, None) => None,
    }
}

/// What was tried, in words.
pub(crate) fn summary(attempts: &[&Attempt]) -> String {
    let tried = attempts.iter().filter(|attempt| attempt.message.is_none()).count();
    let functions = counted(tried as u64, "function", "functions");
    let inputs = counted(attempts.iter().map(|attempt| attempt.tried).sum(), "input", "inputs");
    let broken = attempts.iter().filter(|attempt| attempt.counterexample.is_some()).count();
    format!("{functions} tried with {inputs}, {broken} broken")
}
