//! How many small changes of a function some inputs notice.

use std::collections::BTreeSet;

use lmlang_interp::{Cache, Limits, Reach, Reached};
use lmlang_ir::{FuncRef, NodeRef};
use lmlang_verify::Checked;

use crate::behaviour::{Behaviour, behaviour};
use crate::mutants::{Change, Mutant, mutants, mutated};
use crate::probe::Probe;
use crate::random::Random;
use crate::refusal::Refusal;
use crate::uncovered::Given;

/// How many changes are tried, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MutationOptions {
    /// Changes that are tried at most; of more, as many are chosen.
    pub most: usize,
    /// What the choice follows from.
    pub seed: u64,
    /// Bounds of the runs of the function as it is.
    pub limits: Limits,
    /// How often as much fuel as that a run with a change may use, beyond which it counts as noticed.
    pub factor: u64,
}

impl Default for MutationOptions {
    /// 200 changes, ten times the fuel; a million fuel and 64 MiB for the function as it is.
    fn default() -> MutationOptions {
        let limits = Limits { fuel: 1_000_000, memory_bytes: 64 << 20, ..Limits::default() };
        MutationOptions { most: 200, seed: 0, limits, factor: 10 }
    }
}

/// A change that no input notices: a case is missing, or the change changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survivor {
    /// Where.
    pub node: NodeRef,
    /// What.
    pub change: Change,
    /// Whether any input reaches the node.
    pub reached: bool,
}

/// What became of the changes so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Changes that are possible.
    pub possible: usize,
    /// Changes that an input noticed: the run ended otherwise, wrote something else, or took far longer.
    pub killed: usize,
    /// Changes that none did, in the order of their places.
    pub survived: Vec<Survivor>,
    /// Changes after which the program is wrong in a way that verification sees.
    pub skipped: usize,
    /// Inputs that cannot notice anything: they are none of their function, or come to no end within the limits.
    pub unfit: usize,
}

impl Score {
    /// The share of the changes that was noticed, from 0 to 1; none of no changes. Changes that change nothing count as
    /// not noticed: they cannot be told from others.
    pub fn ratio(&self) -> Option<f64> {
        let tried = self.killed + self.survived.len();
        (tried > 0).then(|| self.killed as f64 / tried as f64)
    }
}

/// An input with what the program does on it.
#[derive(Debug)]
struct Known {
    given: Given,
    behaviour: Behaviour,
    fuel: u64,
    reached: BTreeSet<NodeRef>,
}

/// Makes small changes of a function, one at a time, and looks whether inputs notice.
///
/// A change is noticed where a run of an input does something else than the program as it is: it returns other values,
/// writes something else, traps, violates a contract, or exceeds a multiple of the fuel. What is run may be the function
/// or others that call it.
#[derive(Debug)]
pub struct Mutation {
    checked: Checked,
    function: FuncRef,
    options: MutationOptions,
    cache: Cache,
    /// Inputs that were not run yet, the next one last.
    given: Vec<Given>,
    known: Vec<Known>,
    /// Changes that were not made yet, the next one last.
    left: Vec<Mutant>,
    now: Now,
    score: Score,
}

#[derive(Debug)]
enum Now {
    Choosing,
    /// The program as it is runs.
    Original(Given, Box<Probe>),
    /// A changed one runs an input, by its position among those that are known.
    Changed(Box<Changed>, usize, Box<Probe>),
    Over,
}

/// A change with the program that it leads to.
#[derive(Debug)]
struct Changed {
    mutant: Mutant,
    program: Checked,
}

/// What a slice pays for a change: the program has to be made and verified.
const CHANGE_FUEL: u64 = 20_000;

impl Mutation {
    /// Prepares the runs.
    pub fn new(
        checked: &Checked,
        function: FuncRef,
        mut given: Vec<Given>,
        options: &MutationOptions,
        cache: &Cache,
    ) -> Result<Mutation, Refusal> {
        let found = checked.program().function(function).ok_or(Refusal::NoFunction(function))?;
        checked.function(function).ok_or(Refusal::NotVerified(function))?;
        let all = mutants(checked.program(), found);
        let possible = all.len();
        let mut left = chosen(all, options);
        left.reverse();
        given.sort_by_key(|given| given.function);
        given.reverse();
        Ok(Mutation {
            checked: checked.clone(),
            function,
            options: *options,
            cache: cache.clone(),
            given,
            known: Vec::new(),
            left,
            now: Now::Choosing,
            score: Score { possible, ..Score::default() },
        })
    }

    /// What became of the changes so far.
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// Goes on for about so much fuel; tells whether all changes were tried.
    pub fn advance(&mut self, fuel: u64) -> bool {
        let mut fuel = fuel.max(1);
        while fuel > 0 && !matches!(self.now, Now::Over) {
            self.step(&mut fuel);
        }
        matches!(self.now, Now::Over)
    }

    fn step(&mut self, fuel: &mut u64) {
        self.now = match std::mem::replace(&mut self.now, Now::Over) {
            Now::Choosing => self.choose(fuel),
            Now::Original(given, mut probe) => match probe.run_on(fuel) {
                true => self.learn(given, &mut probe),
                false => Now::Original(given, probe),
            },
            Now::Changed(changed, at, mut probe) => match probe.run_on(fuel) {
                true if behaviour(&probe).as_ref() != Some(&self.known[at].behaviour) => {
                    self.score.killed += 1;
                    Now::Choosing
                }
                true => self.run_changed(changed, at + 1, Some((at, probe)), fuel),
                false => Now::Changed(changed, at, probe),
            },
            Now::Over => Now::Over,
        };
    }

    fn choose(&mut self, fuel: &mut u64) -> Now {
        if let Some(given) = self.given.pop() {
            let (limits, environment) = (self.options.limits, &given.environment);
            let mut probe = Probe::new(&self.checked, given.function, limits, environment, &self.cache);
            return match probe.begin(&given.args, fuel) {
                Ok(()) => Now::Original(given, Box::new(probe)),
                Err(_) => {
                    self.score.unfit += 1;
                    Now::Choosing
                }
            };
        }
        let Some(mutant) = self.left.pop() else { return Now::Over };
        *fuel = fuel.saturating_sub(CHANGE_FUEL);
        let changed = mutated(self.checked.program(), self.function, &mutant);
        let changed = changed.map(|program| self.checked.update(program));
        match changed.filter(|changed| self.is_sound(changed)) {
            Some(program) => self.run_changed(Box::new(Changed { mutant, program }), 0, None, fuel),
            None => {
                self.score.skipped += 1;
                Now::Choosing
            }
        }
    }

    /// Whether verification finds no more wrong than in the program as it is.
    fn is_sound(&self, changed: &Checked) -> bool {
        let [before, after] = [&self.checked, changed].map(|of| of.findings().tally_of(self.function));
        after.errors == 0 && after.stale <= before.stale && after.incomplete <= before.incomplete
    }

    fn learn(&mut self, given: Given, probe: &mut Probe) -> Now {
        let node = |reached: Reached| match reached.reach {
            Reach::Node(node) if reached.function == self.function => Some(node),
            Reach::Node(_) | Reach::Exit(..) => None,
        };
        let reached = probe.take_reached().into_iter().filter_map(node).collect();
        match behaviour(probe) {
            Some(behaviour) => {
                self.known.push(Known { given, behaviour, fuel: probe.fuel_used(), reached });
            }
            None => self.score.unfit += 1,
        }
        Now::Choosing
    }

    /// Begins the first run from a position on that reaches the place of a change; it survives where there is none.
    fn run_changed(
        &mut self,
        changed: Box<Changed>,
        from: usize,
        before: Option<(usize, Box<Probe>)>,
        fuel: &mut u64,
    ) -> Now {
        let reaches = |known: &Known| known.reached.contains(&changed.mutant.node);
        let next = self.known[from..].iter().position(reaches).map(|at| from + at);
        let Some(at) = next else {
            let reached = self.known.iter().any(reaches);
            let Mutant { node, change } = changed.mutant;
            self.score.survived.push(Survivor { node, change, reached });
            return Now::Choosing;
        };
        let Known { given, fuel: used, .. } = &self.known[at];
        // Room for changes that only cost a little more where there was little to do.
        let most = used.saturating_mul(self.options.factor).saturating_add(10_000);
        let again = before.filter(|(before, _)| {
            let known = &self.known[*before];
            known.given.function == given.function
                && known.given.environment == given.environment
                && known.fuel >= *used
        });
        let mut probe = again.map_or_else(
            || {
                let limits = Limits { fuel: most, ..self.options.limits };
                Box::new(Probe::new(
                    &changed.program,
                    given.function,
                    limits,
                    &given.environment,
                    &self.cache,
                ))
            },
            |(_, probe)| probe,
        );
        match probe.begin(&given.args, fuel) {
            Ok(()) => Now::Changed(changed, at, probe),
            // The same arguments fit the same parameters.
            Err(_) => self.run_changed(changed, at + 1, None, fuel),
        }
    }
}

/// As many as are wanted, in their order: selection sampling (Knuth, *The Art of Computer Programming* 2, algorithm 3.4.2S).
fn chosen(mut all: Vec<Mutant>, options: &MutationOptions) -> Vec<Mutant> {
    let mut random = Random::new(options.seed);
    let (mut left, mut wanted) = (all.len(), options.most);
    all.retain(|_| {
        let taken = random.below(left) < wanted;
        left -= 1;
        wanted -= usize::from(taken);
        taken
    });
    all
}
