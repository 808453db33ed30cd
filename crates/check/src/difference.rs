//! Looking for an input on which two programs do not do the same.

use std::collections::{BTreeMap, BTreeSet};

use lmlang_interp::{Cache, Outcome};
use lmlang_ir::{FuncRef, Program, Shape, Storage, StorageKind, Type, TypeRef, Value, VarRef};
use lmlang_verify::Checked;

use crate::behaviour::{Distinction, Divergence, divergence};
use crate::branches::{Branches, Coverage, callees};
use crate::checker::{Ending, MOST_FUNCTIONS, Options, State, ending};
use crate::probe::Probe;
use crate::refusal::{Refusal, source};
use crate::search::{Lesson, Search};
use crate::shrink::Shrink;
use crate::stdin::Reading;
use crate::verdict::{Undecided, Verdict};

/// An input on which two programs do not do the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Differing {
    /// The arguments; as long as they are being made smaller, the smallest so far.
    pub args: Vec<Value>,
    /// What it reads of standard input, where either reads any.
    pub stdin: Option<Vec<u8>>,
    /// How the run of the first program ends.
    pub before: Outcome,
    /// How that of the second one does.
    pub after: Outcome,
    /// In what they are not the same, what weighs most first.
    pub distinctions: Vec<Distinction>,
    /// How often the input was made smaller.
    pub shrink_steps: u32,
}

/// How far a search for a difference has come.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferenceProgress {
    /// Whether it goes on.
    pub state: State,
    /// Inputs that either took.
    pub tried: u64,
    /// Inputs that neither takes.
    pub discarded: u64,
    /// Inputs of which nothing follows since one of the two runs came to no end, by the reason.
    pub undecided: BTreeMap<Undecided, u64>,
    /// What was reached of both.
    pub coverage: Coverage,
    /// What was found.
    pub differing: Option<Differing>,
}

/// A search for an input on which a function of two programs, two revisions of one most often, does not do the same.
///
/// They do the same where they return the same values, of which NaNs are all alike, or trap with the same code, or violate
/// the same contract, write the same to standard output, standard error and files, and, where they return, leave the same in
/// globals that both have and in linear memory. The way to the end is not compared. What either reads of standard input is
/// made as arguments are, unless the options give some. A difference in memory alone is what is told where no other one is
/// found soon. As of a [`crate::Checker`], what comes of it does not depend on where slices end.
#[derive(Debug)]
pub struct Difference {
    before: Probe,
    after: Probe,
    search: Search,
    branches: [Branches; 2],
    cases: u64,
    now: Now,
    reading: Reading,
    /// Globals that both programs have.
    globals: Vec<VarRef>,
    /// What the input shows that is being made smaller.
    wanted: Option<Divergence>,
    slight: Option<Slight>,
    progress: DifferenceProgress,
}

/// Inputs that are tried behind one on which the programs differ in memory alone.
const MORE: u64 = 1_000;

/// An input on which the programs differ in memory alone, for the case that no other is found.
#[derive(Debug)]
struct Slight {
    args: Vec<Value>,
    divergence: Divergence,
    /// After how many inputs it is the one that is told.
    until: u64,
}

/// What is being done.
#[derive(Debug)]
enum Now {
    Choosing,
    /// An input is being run: whether it is to make another one smaller, and which of the programs runs.
    Running(Vec<Value>, Option<Box<Shrink>>, Side),
    Simplifying(Box<Shrink>),
    Over,
}

#[derive(Clone, Copy, Debug)]
enum Side {
    Before,
    After,
}

impl Difference {
    /// Prepares a search.
    pub fn new(
        before: &Checked,
        after: &Checked,
        function: FuncRef,
        options: &Options,
        cache: &Cache,
    ) -> Result<Difference, Refusal> {
        let (mut made, mut types) = source(before, function)?;
        let (other, others) = source(after, function)?;
        if types != others || !same_types(before.program(), after.program(), &types) {
            return Err(Refusal::OtherParameters(function));
        }
        made.pool.join(other.pool);
        let probe = |checked| Probe::new(checked, function, options.limits, &options.environment, cache);
        let both = [before, after].map(|checked| (checked, callees(checked, function, MOST_FUNCTIONS)));
        let branches = both.each_ref().map(|(checked, functions)| Branches::of(checked, functions));
        let reading = match options.environment.stdin.bytes() {
            [] => {
                let [one, other] =
                    both.each_ref().map(|(checked, functions)| Reading::of(checked, functions));
                one.max(other)
            }
            _ => Reading::Nothing,
        };
        types.extend(reading.ty());
        let progress = DifferenceProgress {
            state: State::Trying,
            tried: 0,
            discarded: 0,
            undecided: BTreeMap::new(),
            coverage: sum(&branches),
            differing: None,
        };
        Ok(Difference {
            before: probe(before),
            after: probe(after),
            search: Search::new(made, types, options.seed),
            branches,
            cases: options.cases,
            now: Now::Choosing,
            reading,
            globals: shared_globals(before.program(), after.program()),
            wanted: None,
            slight: None,
            progress,
        })
    }

    /// The function.
    pub fn function(&self) -> FuncRef {
        self.before.function()
    }

    /// How far the search has come.
    pub fn progress(&self) -> &DifferenceProgress {
        &self.progress
    }

    /// Goes on for about so much fuel; does nothing at the end.
    pub fn advance(&mut self, fuel: u64) -> Result<&DifferenceProgress, Refusal> {
        let mut fuel = fuel.max(1);
        while fuel > 0 && !matches!(self.now, Now::Over) {
            self.step(&mut fuel)?;
        }
        Ok(&self.progress)
    }

    fn step(&mut self, fuel: &mut u64) -> Result<(), Refusal> {
        self.now = match std::mem::replace(&mut self.now, Now::Over) {
            Now::Choosing => {
                let DifferenceProgress { tried, discarded, .. } = self.progress;
                let waited = self.slight.as_ref().is_some_and(|slight| tried + discarded >= slight.until);
                match ending(self.cases, tried, discarded) {
                    _ if waited => self.close(Ending::Found),
                    Some(ending) => self.close(ending),
                    None => match self.search.next() {
                        Some(args) => self.begin(args, None, fuel)?,
                        None => self.close(if tried == 0 { Ending::GaveUp } else { Ending::Exhausted }),
                    },
                }
            }
            Now::Simplifying(mut shrink) => match shrink.next(&self.search.source().shapes) {
                Some(args) => self.begin(args, Some(shrink), fuel)?,
                None => self.over(Ending::Found),
            },
            Now::Running(args, shrink, Side::Before) => match self.before.run_on(fuel) {
                true => {
                    let (given, stdin) = self.reading.split(&args);
                    stdin.into_iter().for_each(|stdin| self.after.give(stdin.into()));
                    self.after.begin(given, fuel)?;
                    Now::Running(args, shrink, Side::After)
                }
                false => Now::Running(args, shrink, Side::Before),
            },
            Now::Running(args, shrink, Side::After) => match self.after.run_on(fuel) {
                true => self.compare(args, shrink),
                false => Now::Running(args, shrink, Side::After),
            },
            Now::Over => Now::Over,
        };
        Ok(())
    }

    fn over(&mut self, ending: Ending) -> Now {
        self.progress.state = State::Over(ending);
        Now::Over
    }

    /// No further input is tried: what was found aside is made smaller, if anything was.
    fn close(&mut self, ending: Ending) -> Now {
        match self.slight.take() {
            Some(Slight { args, divergence, .. }) => self.narrow(args, divergence),
            None => self.over(ending),
        }
    }

    /// Begins to make an input smaller.
    fn narrow(&mut self, args: Vec<Value>, divergence: Divergence) -> Now {
        self.progress.state = State::Shrinking;
        self.wanted = Some(divergence);
        Now::Simplifying(Box::new(Shrink::new(&self.search.source().shapes, args)))
    }

    fn begin(
        &mut self,
        args: Vec<Value>,
        shrink: Option<Box<Shrink>>,
        fuel: &mut u64,
    ) -> Result<Now, Refusal> {
        let (given, stdin) = self.reading.split(&args);
        stdin.into_iter().for_each(|stdin| self.before.give(stdin.into()));
        self.before.begin(given, fuel)?;
        Ok(Now::Running(args, shrink, Side::Before))
    }

    /// Both runs have ended.
    fn compare(&mut self, args: Vec<Value>, shrink: Option<Box<Shrink>>) -> Now {
        let reached = [self.before.take_reached(), self.after.take_reached()];
        let fresh = reached.iter().any(|reached| !reached.is_empty());
        for (branches, reached) in self.branches.iter_mut().zip(&reached) {
            branches.note(reached);
        }
        self.progress.coverage = sum(&self.branches);
        match (shrink, divergence(&self.before, &self.after, &self.globals)) {
            (Some(mut shrink), found) => {
                let is_wanted =
                    |found: &Divergence| self.wanted.as_ref().is_some_and(|wanted| found.is_like(wanted));
                if let Some(found) = found.filter(is_wanted) {
                    shrink.take(&self.search.source().shapes, args);
                    self.found(shrink.best(), shrink.steps(), &found);
                } else if let Verdict::Unwanted(unmet) = self.before.verdict() {
                    shrink.repair(&args, &unmet.distance.steps);
                }
                Now::Simplifying(shrink)
            }
            (None, Some(found)) if found.is_slight() => {
                if self.slight.is_none() {
                    self.found(&args, 0, &found);
                    let until = self.progress.tried + self.progress.discarded + MORE;
                    self.slight = Some(Slight { args: args.clone(), divergence: found, until });
                }
                self.learn(&args, fresh);
                Now::Choosing
            }
            (None, Some(found)) => {
                self.progress.tried += 1;
                self.slight = None;
                self.found(&args, 0, &found);
                self.narrow(args, found)
            }
            (None, None) => {
                self.learn(&args, fresh);
                Now::Choosing
            }
        }
    }

    /// Counts an input on which both do the same, or of which nothing follows.
    fn learn(&mut self, args: &[Value], fresh: bool) {
        let mut lesson = Lesson { fresh, unmet: None };
        match (self.before.verdict(), self.after.verdict()) {
            (Verdict::Undecided(why), _) | (_, Verdict::Undecided(why)) => {
                self.progress.tried += 1;
                *self.progress.undecided.entry(why).or_default() += 1;
            }
            (Verdict::Unwanted(unmet), _) => {
                self.progress.discarded += 1;
                lesson.unmet = Some(unmet);
            }
            (Verdict::Held | Verdict::Failed(_), _) => self.progress.tried += 1,
        }
        self.search.learn(args, lesson);
    }

    /// Keeps an input whose runs have just ended.
    fn found(&mut self, args: &[Value], shrink_steps: u32, divergence: &Divergence) {
        let outcomes = self.before.outcome().cloned().zip(self.after.outcome().cloned());
        let Some((before, after)) = outcomes else { return };
        let (args, stdin) = self.reading.split(args);
        let (args, distinctions) = (args.to_vec(), divergence.distinctions.clone());
        self.progress.differing = Some(Differing { args, stdin, before, after, distinctions, shrink_steps });
    }
}

/// The globals that may be written and that have the same values in both programs.
fn shared_globals(before: &Program, after: &Program) -> Vec<VarRef> {
    let global = |(of, storage): (VarRef, &Storage)| {
        let StorageKind::Global { ty, mutable: true, .. } = &storage.kind else { return None };
        let StorageKind::Global { ty: other, .. } = &after.storage(of)?.kind else { return None };
        (ty == other && same_types(before, after, std::slice::from_ref(ty))).then_some(of)
    };
    before.storage_from(0).filter_map(global).collect()
}

fn sum(branches: &[Branches; 2]) -> Coverage {
    let [a, b] = [branches[0].coverage(), branches[1].coverage()];
    Coverage { branches: a.branches + b.branches, reached: a.reached + b.reached }
}

/// Whether nominal types that occur in some have the same values in two programs.
fn same_types(before: &Program, after: &Program, types: &[Type]) -> bool {
    let mut seen = BTreeSet::new();
    let mut open: Vec<TypeRef> = Vec::new();
    types.iter().for_each(|ty| ty.each_named(&mut |of| open.push(of)));
    while let Some(of) = open.pop() {
        if !seen.insert(of) {
            continue;
        }
        let [Some(a), Some(b)] = [before, after].map(|program| program.type_def(of)) else { return false };
        let same = match (&a.shape, &b.shape) {
            (Shape::Struct(a), Shape::Struct(b)) => a
                .iter()
                .map(|field| (field.member, &field.ty))
                .eq(b.iter().map(|field| (field.member, &field.ty))),
            (Shape::Enum(a), Shape::Enum(b)) => a
                .iter()
                .map(|variant| (variant.member, &variant.payload))
                .eq(b.iter().map(|variant| (variant.member, &variant.payload))),
            (Shape::Struct(_), Shape::Enum(_)) | (Shape::Enum(_), Shape::Struct(_)) => false,
        };
        if !same {
            return false;
        }
        a.part_types().into_iter().for_each(|part| part.each_named(&mut |inner| open.push(inner)));
    }
    true
}
