//! Searches for inputs: those that break a function, those on which two revisions differ, and what cases leave out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lmlang_check::{
    Checker, Counterexample, Coverage, Difference, Differing, Ending, Given, Mutation, MutationOptions,
    Options, Refusal, Score, State, Uncovered,
};
pub use lmlang_check::{Distinction, subjects};
use lmlang_interp::{Environment, Limits};
use lmlang_ir::text::print_value;
use lmlang_ir::{FuncRef, NodeRef, Program, Value};
use tokio::sync::mpsc;

use crate::cases::{Case, NewCase};
use crate::engine::{Engine, OpenProgram};
use crate::error::{Error, joined};
use crate::places::Place;
use crate::request::Call;
use crate::simulate::{Abandoned, Bounds};
use crate::timeline::Revision;

/// Cases that are tried for one function at most.
pub const MOST_TRIES: u64 = 1_000_000;

/// Functions that are checked by one request at most.
pub const MOST_FUNCTIONS: usize = 1_000;

/// Small changes of a function that are tried for its mutation score.
pub const MOST_MUTANTS: usize = 500;

/// Test cases that a tournament runs.
pub const MOST_CASES: usize = 2_000;

/// Test cases that are read at a time.
const STRETCH: usize = 500;

/// Fuel of one input.
const FUEL: u64 = 1_000_000;

/// Bytes of linear memory and values of one input.
const MEMORY: u64 = 64 << 20;

/// How often as much fuel as before a change may be used.
const FACTOR: u64 = 10;

/// Fuel between two looks at the clock.
const SLICE: u64 = 1 << 20;

/// How often a search says how far it has come.
const PULSE: Duration = Duration::from_millis(200);

/// What is searched.
#[derive(Clone, Debug)]
pub struct CheckRequest {
    /// The functions, in the order in which they are checked.
    pub functions: Vec<FuncRef>,
    /// The time for all of them; what one does not use is for those behind it.
    pub timeout: Duration,
    /// Inputs for each at most.
    pub cases: u64,
    /// What all chance follows from.
    pub seed: u64,
}

/// How far the search for an input that breaks a function has come.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The function.
    pub function: FuncRef,
    /// Inputs that it took.
    pub tried: u64,
    /// Inputs that do not meet what it demands.
    pub discarded: u64,
    /// Inputs of which nothing follows, as their runs met a bound or something that is missing.
    pub undecided: u64,
    /// Why nothing follows, each reason with how many inputs it is that of.
    pub undecided_why: Vec<String>,
    /// Branches that were reached, of the function and what it calls.
    pub coverage: Coverage,
    /// How the search ended; `None` while it goes on.
    pub ending: Option<SearchEnding>,
    /// The input, the smallest that was found.
    pub counterexample: Option<Counterexample>,
}

/// How the search for an input ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchEnding {
    /// With an input that breaks the function.
    Found,
    /// All inputs that were wanted were tried, or all that there are.
    Tried,
    /// Too few inputs meet what the function demands.
    GaveUp,
    /// The time was over.
    OutOfTime,
    /// There are no inputs for it, or it cannot be run.
    Refused(String),
}

/// A search that gives way to other runs, and ends with its time or its caller.
struct Watch {
    engine: Engine,
    place: Place,
    until: Duration,
    stop: Arc<AtomicBool>,
}

impl Watch {
    /// Whether it goes on.
    fn goes_on(&mut self) -> bool {
        self.place.take_turn();
        self.place.busy() < self.until && !self.is_left()
    }

    fn is_left(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.engine.closing().is_cancelled()
    }
}

fn limits() -> Limits {
    Limits { fuel: FUEL, memory_bytes: MEMORY, ..Limits::default() }
}

impl Engine {
    /// Looks for inputs that break functions; tells how far it has come, and of each function how the search ended. Ends
    /// when the receiver is dropped.
    pub async fn check_contracts(
        &self,
        revision: &Arc<Revision>,
        request: CheckRequest,
    ) -> Result<mpsc::Receiver<Attempt>, Error> {
        let place = self.place().await?;
        let (sender, receiver) = mpsc::channel(16);
        let (engine, revision) = (self.clone(), Arc::clone(revision));
        let timeout = request.timeout.min(self.limits().max_timeout);
        self.spawn_blocking_to_end(move || {
            let mut watch = Watch { engine, place, until: Duration::ZERO, stop: Arc::default() };
            let count = request.functions.len();
            for (index, function) in request.functions.iter().enumerate() {
                // What is left is shared by those that are.
                let left = timeout.saturating_sub(watch.place.busy());
                let share = u32::try_from(count - index).map_or(Duration::ZERO, |rest| left / rest);
                watch.until = watch.place.busy() + share;
                if watch.check(&revision, *function, &request, &sender).is_none() {
                    return;
                }
            }
        });
        Ok(receiver)
    }

    /// Adds a test case of which a search found that it breaks its function: it says that the function returns. The same input
    /// is the same case. `None` where the input, or the number of cases, is too large for one more.
    pub async fn add_counterexample(
        &self,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        function: FuncRef,
        args: Vec<Value>,
        call: &Call,
    ) -> Result<Option<Arc<Case>>, Error> {
        let program = revision.checked.program();
        let printed: Vec<String> = args.iter().map(|arg| print_value(program, arg)).collect();
        let digest = blake3::hash(printed.join(", ").as_bytes()).to_hex();
        let name = format!("counterexample {}", &digest[..8]);
        let (bounds, environment) = (Bounds::default(), Environment::default());
        let new = NewCase { function, name: name.clone(), args, expected: None, bounds, environment };
        match self.add_case(open, revision, new, call).await {
            Ok(case) => Ok(Some(case)),
            Err(Error::NameTaken { .. }) => {
                let page = self.cases(open, Some(function), None, MOST_CASES).await?;
                Ok(page.cases.into_iter().find(|case| case.name == name))
            }
            Err(Error::Limit { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Looks for an input on which a function does not do the same at two revisions, and makes it smaller. `None` where none
    /// was found.
    pub async fn behaviour_difference(
        &self,
        [before, after]: [&Arc<Revision>; 2],
        function: FuncRef,
        timeout: Duration,
    ) -> Result<Option<Differing>, Error> {
        let options = Options { cases: MOST_TRIES, limits: limits(), ..Options::default() };
        let cache = self.0.simulations.cache().clone();
        let (before, after) = (Arc::clone(before), Arc::clone(after));
        let search = move |watch: &mut Watch| {
            let refused = |refusal| refused(after.checked.program(), &refusal);
            let mut difference = Difference::new(&before.checked, &after.checked, function, &options, &cache)
                .map_err(refused)?;
            while watch.goes_on() {
                let progress = difference.advance(SLICE).map_err(refused)?;
                if matches!(progress.state, State::Over(_)) {
                    break;
                }
            }
            Ok(difference.progress().differing.clone())
        };
        self.searched(timeout, search).await
    }

    /// The nodes of some functions that no run of their program's test cases reaches, in order.
    pub async fn uncovered(
        &self,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        functions: Vec<FuncRef>,
        timeout: Duration,
    ) -> Result<Vec<(FuncRef, NodeRef)>, Error> {
        let given = self.given(open, revision, None).await?;
        let (cache, revision) = (self.0.simulations.cache().clone(), Arc::clone(revision));
        let search = move |watch: &mut Watch| {
            let mut uncovered = Uncovered::new(&revision.checked, given, limits(), &cache);
            while !uncovered.advance(SLICE) {
                if !watch.goes_on() {
                    return Err(Error::Late);
                }
            }
            let nodes =
                functions.iter().flat_map(|of| uncovered.nodes(*of).into_iter().map(|node| (*of, node)));
            Ok(nodes.collect())
        };
        self.searched(timeout, search).await
    }

    /// How many small changes of a function its test cases, and contracts, notice.
    pub async fn mutation_score(
        &self,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        function: FuncRef,
        timeout: Duration,
    ) -> Result<Score, Error> {
        let given = self.given(open, revision, None).await?;
        let (cache, revision) = (self.0.simulations.cache().clone(), Arc::clone(revision));
        let options = MutationOptions { most: MOST_MUTANTS, seed: 0, limits: limits(), factor: FACTOR };
        let search = move |watch: &mut Watch| {
            let mut mutation = Mutation::new(&revision.checked, function, given, &options, &cache)
                .map_err(|refusal| refused(revision.checked.program(), &refusal))?;
            while !mutation.advance(SLICE) {
                if !watch.goes_on() {
                    return Err(Error::Late);
                }
            }
            Ok(mutation.score().clone())
        };
        self.searched(timeout, search).await
    }

    /// The test cases of a program as inputs, as far as they fit a revision.
    async fn given(
        &self,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        function: Option<FuncRef>,
    ) -> Result<Vec<Given>, Error> {
        let program = revision.checked.program();
        let given = |case: &Arc<Case>| {
            let fitted = case.fit(program).ok()?;
            let environment: Environment = case.environment.clone();
            Some(Given { function: case.function, args: fitted.args, environment })
        };
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = self.cases(open, function, after.as_ref(), STRETCH).await?;
            all.extend(page.cases.iter().filter_map(given));
            match page.cases.last().filter(|_| page.more) {
                Some(last) => after = Some(last.place()),
                None => return Ok(all),
            }
        }
    }

    /// Carries a search out, with a place of its own.
    async fn searched<T: Send + 'static>(
        &self,
        timeout: Duration,
        search: impl FnOnce(&mut Watch) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let place = self.place().await?;
        let abandoned = Abandoned::default();
        let until = timeout.min(self.limits().max_timeout);
        let mut watch = Watch { engine: self.clone(), place, until, stop: Arc::clone(&abandoned.0) };
        let found = tokio::task::spawn_blocking(move || {
            watch.place.take_turn();
            search(&mut watch)
        });
        let found = joined(found.await)?;
        drop(abandoned);
        found
    }
}

impl Watch {
    /// Looks for an input that breaks a function. `None` where nobody waits any more.
    fn check(
        &mut self,
        revision: &Revision,
        function: FuncRef,
        request: &CheckRequest,
        sender: &mpsc::Sender<Attempt>,
    ) -> Option<()> {
        let options = Options {
            cases: request.cases.min(MOST_TRIES),
            seed: request.seed,
            limits: limits(),
            ..Options::default()
        };
        self.place.take_turn();
        let cache = self.engine.0.simulations.cache().clone();
        let (program, mut told) = (revision.checked.program(), Instant::now());
        let mut checker = match Checker::new(&revision.checked, function, &options, &cache) {
            Ok(checker) => checker,
            Err(refusal) => return self.tell(sender, nothing(program, function, &refusal)),
        };
        loop {
            let goes_on = self.goes_on();
            if self.is_left() || sender.is_closed() {
                return None;
            }
            if goes_on && let Err(refusal) = checker.advance(SLICE) {
                return self.tell(sender, nothing(program, function, &refusal));
            }
            let progress = checker.progress();
            let ending = match (&progress.state, &progress.counterexample) {
                (State::Over(Ending::Found), _) => Some(SearchEnding::Found),
                (State::Over(Ending::Cases | Ending::Exhausted), _) => Some(SearchEnding::Tried),
                (State::Over(Ending::GaveUp), _) => Some(SearchEnding::GaveUp),
                // The smallest so far.
                (State::Trying | State::Shrinking, Some(_)) if !goes_on => Some(SearchEnding::Found),
                (State::Trying | State::Shrinking, None) if !goes_on => Some(SearchEnding::OutOfTime),
                (State::Trying | State::Shrinking, _) => None,
            };
            if ending.is_none() && told.elapsed() < PULSE {
                continue;
            }
            told = Instant::now();
            let over = ending.is_some();
            let attempt = Attempt {
                function,
                tried: progress.tried,
                discarded: progress.discarded,
                undecided: progress.undecided.values().sum(),
                undecided_why: lmlang_check::undecided(&progress.undecided, &options.limits),
                coverage: progress.coverage,
                counterexample: progress.counterexample.clone().filter(|_| over),
                ending,
            };
            self.tell(sender, attempt)?;
            if over {
                return Some(());
            }
        }
    }

    /// Says how far it has come; others run while the reader is waited for.
    fn tell(&mut self, sender: &mpsc::Sender<Attempt>, attempt: Attempt) -> Option<()> {
        self.place.rest();
        sender.blocking_send(attempt).ok()
    }
}

/// The attempt of a function for which there are no inputs.
fn nothing(program: &Program, function: FuncRef, refusal: &Refusal) -> Attempt {
    Attempt {
        function,
        tried: 0,
        discarded: 0,
        undecided: 0,
        undecided_why: Vec::new(),
        coverage: Coverage::default(),
        ending: Some(SearchEnding::Refused(refusal.message(program))),
        counterexample: None,
    }
}

fn refused(program: &Program, refusal: &Refusal) -> Error {
    Error::bad_request(refusal.message(program))
}
