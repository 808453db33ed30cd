//! Looking for an input that breaks a function.

use std::collections::BTreeMap;

use lmlang_interp::{Cache, Environment, Limits, Outcome};
use lmlang_ir::{FuncRef, Value};
use lmlang_verify::Checked;

use crate::branches::{Branches, Coverage, callees};
use crate::probe::Probe;
use crate::refusal::{Refusal, source};
use crate::search::{Lesson, Search};
use crate::shrink::Shrink;
use crate::verdict::{Failure, Undecided, Verdict};

/// How long to look, and how far.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Inputs that are tried, those apart that the function does not take.
    pub cases: u64,
    /// What all chance follows from.
    pub seed: u64,
    /// Bounds of each run.
    pub limits: Limits,
    /// What each run is given besides its arguments; all input has to be there.
    pub environment: Environment,
}

impl Default for Options {
    /// 1,000 inputs; a million fuel, 64 MiB, 10,000 calls and 1 MiB of output for each.
    fn default() -> Options {
        let limits = Limits { fuel: 1_000_000, memory_bytes: 64 << 20, ..Limits::default() };
        Options { cases: 1_000, seed: 0, limits, environment: Environment::default() }
    }
}

/// Functions whose branches count.
pub(crate) const MOST_FUNCTIONS: usize = 10_000;

/// How often a function may refuse inputs before it is given up: so many times for each case, and some more.
const REFUSED_PER_CASE: u64 = 20;
const REFUSED_BESIDES: u64 = 10_000;

/// Why no further input is tried after so many; none if one is.
pub(crate) fn ending(cases: u64, tried: u64, discarded: u64) -> Option<Ending> {
    let most = cases.saturating_mul(REFUSED_PER_CASE).saturating_add(REFUSED_BESIDES);
    match (tried >= cases, discarded >= most) {
        (true, _) => Some(Ending::Cases),
        (false, true) => Some(Ending::GaveUp),
        (false, false) => None,
    }
}

/// Whether a search goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Inputs are tried.
    Trying,
    /// An input was found and is being made smaller.
    Shrinking,
    /// It is over.
    Over(Ending),
}

/// Why nothing follows from some inputs, with the limits that their runs met, and how many they are.
pub fn undecided(counts: &BTreeMap<Undecided, u64>, limits: &Limits) -> Vec<String> {
    let inputs = |count: u64| if count == 1 { "input" } else { "inputs" };
    let words =
        |(why, count): (&Undecided, &u64)| format!("{} ({count} {})", why.told(limits), inputs(*count));
    counts.iter().map(words).collect()
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With an input that was looked for.
    Found,
    /// All cases were tried.
    Cases,
    /// There seem to be no more inputs than those that were tried.
    Exhausted,
    /// Too few inputs meet what the function demands.
    GaveUp,
}

/// An input on which a function fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Counterexample {
    /// The arguments; as long as they are being made smaller, the smallest so far.
    pub args: Vec<Value>,
    /// How it fails.
    pub failure: Failure,
    /// How the run ends, with the values at that place.
    pub outcome: Outcome,
    /// How often the input was made smaller.
    pub shrink_steps: u32,
}

/// How far a search has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Whether it goes on.
    pub state: State,
    /// Inputs that the function took, those among them of which nothing follows.
    pub tried: u64,
    /// Inputs that do not meet what the function demands.
    pub discarded: u64,
    /// Inputs of which nothing follows, by the reason.
    pub undecided: BTreeMap<Undecided, u64>,
    /// What was reached of the function and what it calls.
    pub coverage: Coverage,
    /// What was found.
    pub counterexample: Option<Counterexample>,
}

/// A search for an input on which a function fails.
///
/// It fails where it traps, where a promise (`ensure`) of its own or of a callee is not kept, where it does not meet a
/// demand (`require`) of a callee, and where calls go deeper than a run allows. What comes of a search follows from the
/// program, the function and the options; where slices end makes no difference.
#[derive(Debug)]
pub struct Checker {
    probe: Probe,
    search: Search,
    branches: Branches,
    cases: u64,
    now: Now,
    progress: Progress,
}

/// What is being done.
#[derive(Debug)]
enum Now {
    /// The next input is to be chosen.
    Choosing,
    /// An input is being run.
    Trying(Vec<Value>),
    /// A simpler one is to be chosen.
    Simplifying(Box<Shrink>),
    /// A simpler one is being run.
    Shrinking(Box<Shrink>, Vec<Value>),
    Over,
}

impl Checker {
    /// Prepares a search. Decoded functions are kept in the cache and taken from there.
    pub fn new(
        checked: &Checked,
        function: FuncRef,
        options: &Options,
        cache: &Cache,
    ) -> Result<Checker, Refusal> {
        let (source, types) = source(checked, function)?;
        let branches = Branches::of(checked, &callees(checked, function, MOST_FUNCTIONS));
        let progress = Progress {
            state: State::Trying,
            tried: 0,
            discarded: 0,
            undecided: BTreeMap::new(),
            coverage: branches.coverage(),
            counterexample: None,
        };
        Ok(Checker {
            probe: Probe::new(checked, function, options.limits, &options.environment, cache),
            search: Search::new(source, types, options.seed),
            branches,
            cases: options.cases,
            now: Now::Choosing,
            progress,
        })
    }

    /// The function.
    pub fn function(&self) -> FuncRef {
        self.probe.function()
    }

    /// How far the search has come.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Goes on for about so much fuel, which is that of runs and at least a thousand for each input; does nothing at the
    /// end.
    pub fn advance(&mut self, fuel: u64) -> Result<&Progress, Refusal> {
        let mut fuel = fuel.max(1);
        while fuel > 0 && !matches!(self.now, Now::Over) {
            self.step(&mut fuel)?;
        }
        Ok(&self.progress)
    }

    fn step(&mut self, fuel: &mut u64) -> Result<(), Refusal> {
        self.now = match std::mem::replace(&mut self.now, Now::Over) {
            Now::Choosing => match self.choose() {
                Ok(args) => {
                    self.probe.begin(&args, fuel)?;
                    Now::Trying(args)
                }
                Err(ending) => {
                    self.progress.state = State::Over(ending);
                    Now::Over
                }
            },
            Now::Trying(args) => match self.probe.run_on(fuel) {
                true => self.judge(args),
                false => Now::Trying(args),
            },
            Now::Simplifying(mut shrink) => match shrink.next(&self.search.source().shapes) {
                Some(args) => {
                    self.probe.begin(&args, fuel)?;
                    Now::Shrinking(shrink, args)
                }
                None => {
                    self.progress.state = State::Over(Ending::Found);
                    Now::Over
                }
            },
            Now::Shrinking(shrink, args) => match self.probe.run_on(fuel) {
                true => self.compare(shrink, args),
                false => Now::Shrinking(shrink, args),
            },
            Now::Over => Now::Over,
        };
        Ok(())
    }

    /// The next input, or why there is none.
    fn choose(&mut self) -> Result<Vec<Value>, Ending> {
        let Progress { tried, discarded, .. } = self.progress;
        if let Some(ending) = ending(self.cases, tried, discarded) {
            return Err(ending);
        }
        self.search.next().ok_or(if tried == 0 { Ending::GaveUp } else { Ending::Exhausted })
    }

    fn judge(&mut self, args: Vec<Value>) -> Now {
        let reached = self.probe.take_reached();
        self.branches.note(&reached);
        self.progress.coverage = self.branches.coverage();
        let mut lesson = Lesson { fresh: !reached.is_empty(), unmet: None };
        match self.probe.verdict() {
            Verdict::Held => self.progress.tried += 1,
            Verdict::Undecided(why) => {
                self.progress.tried += 1;
                *self.progress.undecided.entry(why).or_default() += 1;
            }
            Verdict::Unwanted(unmet) => {
                self.progress.discarded += 1;
                lesson.unmet = Some(unmet);
            }
            Verdict::Failed(failure) => {
                self.progress.tried += 1;
                self.progress.state = State::Shrinking;
                let shrink = Shrink::new(&self.search.source().shapes, args);
                self.found(&shrink, failure);
                return Now::Simplifying(Box::new(shrink));
            }
        }
        self.search.learn(&args, lesson);
        Now::Choosing
    }

    fn compare(&mut self, mut shrink: Box<Shrink>, args: Vec<Value>) -> Now {
        // What only smaller inputs reach was reached all the same.
        self.branches.note(&self.probe.take_reached());
        self.progress.coverage = self.branches.coverage();
        let known = self.progress.counterexample.as_ref().map(|found| &found.failure);
        match self.probe.verdict() {
            Verdict::Failed(failure) if Some(&failure) == known => {
                shrink.take(&self.search.source().shapes, args);
                self.found(&shrink, failure);
            }
            Verdict::Unwanted(unmet) => shrink.repair(&args, &unmet.distance.steps),
            Verdict::Failed(_) | Verdict::Held | Verdict::Undecided(_) => {}
        }
        Now::Simplifying(shrink)
    }

    fn found(&mut self, shrink: &Shrink, failure: Failure) {
        let Some(outcome) = self.probe.outcome().cloned() else { return };
        let (args, shrink_steps) = (shrink.best().to_vec(), shrink.steps());
        self.progress.counterexample = Some(Counterexample { args, failure, outcome, shrink_steps });
    }
}
