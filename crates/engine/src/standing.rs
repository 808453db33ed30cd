//! How test cases stand at a revision: green, red, or stale. What a run gave is kept by the digest of all that it follows
//! from, so that a revision that leaves what a function reaches alone costs no run.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lmlang_interp::{LimitKind, Outcome, limit_message};
use lmlang_ir::graph::{closure_hashes, reaching, world_hash};
use lmlang_ir::text::{print_value, print_value_by_refs};
use lmlang_ir::{FuncRef, Hash, NodeRef, Program, Ref, Type, Value};
use lmlang_store::{CaseResult, Sighting};
use lmlang_verify::{Checked, Class};
use uuid::Uuid;

use crate::case_record::RunRecord;
use crate::cases::{Case, Fitted};
use crate::engine::{Engine, OpenProgram};
use crate::error::{Error, joined};
use crate::places::Place;
use crate::recall::EnvironmentRecord;
use crate::simulate::{Abandoned, Report, RunRequest};
use crate::timeline::Revision;

/// Digest of all that a run of a case follows from.
pub(crate) type Digest = [u8; 32];

/// How a case stands at a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseStatus {
    /// Its function returned what is expected.
    Green,
    /// It did not.
    Red,
    /// Nobody knows: it does not fit its function here, or was not run.
    Stale,
}

/// How a case stands at a revision, and why.
#[derive(Clone, Debug)]
pub struct Standing {
    /// How it stands.
    pub status: CaseStatus,
    /// What is the matter, in words; nothing for one that is green.
    pub why: Option<String>,
    /// What its run gave; nothing where it was not run.
    pub run: Option<Arc<CaseRun>>,
    /// Whether it was run for this answer.
    pub fresh: bool,
    /// Whether it cannot be run here, whatever is done about it.
    pub unfit: bool,
    digest: Option<Digest>,
}

/// What a run of a case gave.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseRun {
    /// Executed nodes.
    pub steps: u64,
    /// Executed nodes, and what bulk operators cost beyond.
    pub fuel_used: u64,
    /// How it ended.
    pub end: End,
    /// Whether the clock ended it: it may go further another time.
    pub by_time: bool,
}

/// How a run of a case ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The function returned.
    Returned {
        /// A digest of the values.
        digest: [u8; 32],
        /// The values in the text form, with refs in place of names; nothing where they are long.
        values: Option<Vec<String>>,
    },
    /// It did not return.
    Stopped {
        /// The code of the trap, else what the outcome is called.
        code: String,
        /// What happened, in words.
        message: String,
        /// Where.
        node: Option<NodeRef>,
    },
}

/// How much may be done to find out how cases stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Nothing is run: what is known is told.
    Known,
    /// So many are run at most, for somebody who waits.
    Runs(usize),
    /// All are run, while nobody else wants to run anything.
    Behind,
}

/// Runs that one answer may start.
pub const MOST_RUNS: usize = 200;

/// For how long one answer starts runs.
const PATIENCE: Duration = Duration::from_secs(10);

/// Results in memory at most.
const IN_MEMORY: usize = 10_000;

/// Results of one program that are stored at most.
const STORED: u64 = 20_000;

/// Bytes of values that are kept with a result.
const SHOWN: usize = 4 << 10;

/// The results of runs that were needed last, by their digests.
#[derive(Debug, Default)]
pub(crate) struct Results(Mutex<ByDigest>);

#[derive(Debug, Default)]
struct ByDigest {
    known: HashMap<Digest, Arc<CaseRun>>,
    order: VecDeque<Digest>,
}

impl Results {
    fn get(&self, digest: &Digest) -> Option<Arc<CaseRun>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).known.get(digest).cloned()
    }

    fn keep(&self, digest: Digest, run: Arc<CaseRun>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.known.insert(digest, run).is_none() {
            all.order.push_back(digest);
        }
        while all.order.len() > IN_MEMORY
            && let Some(first) = all.order.pop_front()
        {
            all.known.remove(&first);
        }
    }
}

/// A case that can be run at a revision.
struct Runnable {
    /// Its place among those that were asked about.
    index: usize,
    digest: Digest,
    request: RunRequest,
    expected: Option<Vec<Value>>,
}

impl Standing {
    /// One of which nothing is known, and why.
    pub fn unknown(why: String) -> Standing {
        Standing::stale(why)
    }

    fn stale(why: String) -> Standing {
        Standing {
            status: CaseStatus::Stale,
            why: Some(why),
            run: None,
            fresh: false,
            unfit: false,
            digest: None,
        }
    }

    fn unfit(why: String) -> Standing {
        Standing { unfit: true, ..Standing::stale(why) }
    }

    fn of(program: &Program, case: &Runnable, run: Arc<CaseRun>, fresh: bool) -> Standing {
        let (status, why) = judge(program, case, &run);
        Standing { status, why, run: Some(run), fresh, unfit: false, digest: Some(case.digest) }
    }
}

impl Engine {
    /// How cases of a program stand at a revision, each in its place.
    ///
    /// `stored` says that the revision is in the log: what is found out is noted of it then. Stops when the caller does not
    /// wait any more.
    pub async fn standings(
        &self,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        cases: &[Arc<Case>],
        (effort, stored): (Effort, Stored),
    ) -> Result<Vec<Standing>, Error> {
        if cases.is_empty() {
            return Ok(Vec::new());
        }
        let (engine, at, all) = (self.clone(), Arc::clone(revision), cases.to_vec());
        let (mut standings, runnable) = self.compute(move || engine.prepare(&at, &all)).await?;
        let program = revision.checked.program();
        let mut missing = Vec::new();
        for case in self.known(open, runnable).await? {
            match case {
                (case, Some(run)) => standings[case.index] = Standing::of(program, &case, run, false),
                (case, None) => missing.push(case),
            }
        }
        if missing.is_empty() || effort == Effort::Known {
            return Ok(standings);
        }
        let place = match effort {
            Effort::Behind => self.place_behind(),
            Effort::Known | Effort::Runs(_) => self.place().await?,
        };
        let most = match effort {
            Effort::Known => 0,
            Effort::Runs(most) => most,
            Effort::Behind => usize::MAX,
        };
        missing.truncate(most);
        let patience = if effort == Effort::Behind { Duration::MAX } else { PATIENCE };
        let abandoned = Abandoned::default();
        let (engine, open_again, at) = (self.clone(), open.clone(), Arc::clone(revision));
        let stop = Arc::clone(&abandoned.0);
        let work = tokio::task::spawn_blocking(move || {
            let stopped = || stop.load(Ordering::Relaxed) || engine.closing().is_cancelled();
            engine.run_cases(&open_again, &at, missing, (place, patience), &stopped)
        });
        let ran = joined(work.await)?;
        drop(abandoned);
        if self.closing().is_cancelled() {
            return Err(Error::Closed);
        }
        for (case, run) in &ran {
            standings[case.index] = Standing::of(program, case, Arc::clone(run), true);
        }
        let results = ran
            .iter()
            .filter(|(_, run)| !run.by_time)
            .map(|(case, run)| CaseResult { digest: case.digest, payload: RunRecord::of(run).bytes() });
        let results = results.collect();
        let sightings = match stored {
            Stored::Yes => {
                let fresh = cases.iter().zip(&standings).filter(|(_, standing)| standing.fresh);
                fresh.filter_map(|(case, standing)| sighting(case, revision, standing)).collect()
            }
            Stored::No => Vec::new(),
        };
        match effort {
            Effort::Behind => self.keep_results(open, results, sightings).await?,
            Effort::Known | Effort::Runs(_) => self.keep_results_later(open, results, sightings),
        }
        Ok(standings)
    }

    /// Which of the cases can be run, and how the others stand.
    fn prepare(&self, revision: &Revision, cases: &[Arc<Case>]) -> (Vec<Standing>, Vec<Runnable>) {
        let checked = &revision.checked;
        let program = checked.program();
        let functions: HashSet<FuncRef> = cases.iter().map(|case| case.function).collect();
        let around = Around::of(checked, &functions);
        let (mut standings, mut runnable) = (Vec::with_capacity(cases.len()), Vec::new());
        for (index, case) in cases.iter().enumerate() {
            match case.fit(program) {
                Err(why) => standings.push(Standing::unfit(why)),
                Ok(Fitted { args, expected }) => {
                    standings.push(Standing::stale("it was not run at this revision".to_owned()));
                    let request = RunRequest {
                        function: case.function,
                        args,
                        bounds: case.bounds,
                        environment: case.environment.clone(),
                        trace: lmlang_interp::TraceLevel::None,
                        tier: None,
                    };
                    let digest = self.digest(program, &around, &request);
                    runnable.push(Runnable { index, digest, request, expected });
                }
            }
        }
        (standings, runnable)
    }

    /// The digest of all that a run follows from.
    fn digest(&self, program: &Program, around: &Around, request: &RunRequest) -> Digest {
        let mut hasher = blake3::Hasher::new();
        // What operators do, and what is found, are this version's.
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        hasher.update(&around.world.0);
        hasher.update(&around.closures.get(&request.function).unwrap_or(&Hash::ZERO).0);
        if let Some(obstacles) = around.obstacles.get(&request.function) {
            hasher.update(obstacles.as_bytes());
        }
        let args: Vec<String> = request.args.iter().map(|arg| print_value_by_refs(program, arg)).collect();
        let environment = EnvironmentRecord::of(&request.environment);
        let limits = request.bounds.options(self.limits(), &request.environment).limits;
        let timeout = request.bounds.timeout(self.limits());
        let stdin = request.environment.stdin.bytes();
        let words = format!("{args:?} {} {limits:?} {timeout:?} {stdin:?}", environment.words());
        hasher.update(words.as_bytes());
        *hasher.finalize().as_bytes()
    }

    /// What is known of the runs of some cases: in memory, else in the database.
    async fn known(
        &self,
        open: &OpenProgram,
        cases: Vec<Runnable>,
    ) -> Result<Vec<(Runnable, Option<Arc<CaseRun>>)>, Error> {
        let results = &self.0.case_runs.results;
        let mut found: HashMap<Digest, Option<Arc<CaseRun>>> =
            cases.iter().map(|case| (case.digest, results.get(&case.digest))).collect();
        let mut unknown: Vec<Digest> =
            found.iter().filter(|(_, run)| run.is_none()).map(|(digest, _)| *digest).collect();
        unknown.sort_unstable();
        for CaseResult { digest, payload } in self.store().case_results(open.timeline.key(), &unknown).await?
        {
            if let Some(run) = RunRecord::read(&payload).map(Arc::new) {
                results.keep(digest, Arc::clone(&run));
                found.insert(digest, Some(run));
            }
        }
        Ok(cases
            .into_iter()
            .map(|case| (found.get(&case.digest).cloned().flatten(), case))
            .map(|(run, case)| (case, run))
            .collect())
    }

    /// Runs cases one after the other; fewer when it is stopped or takes too long. Those that follow from the same are run
    /// once.
    fn run_cases(
        &self,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        cases: Vec<Runnable>,
        (mut place, patience): (Place, Duration),
        stopped: &dyn Fn() -> bool,
    ) -> Vec<(Runnable, Arc<CaseRun>)> {
        let results = &self.0.case_runs.results;
        let (mut ran, mut here) = (Vec::with_capacity(cases.len()), HashMap::new());
        for case in cases {
            if stopped() || place.busy() >= patience {
                break;
            }
            // One with an equal run may have come before.
            if let Some(run) = here.get(&case.digest) {
                ran.push((case, Arc::clone(run)));
                continue;
            }
            let simulation = self.begin(open, revision, case.request.clone());
            let timeout = case.request.bounds.timeout(self.limits());
            self.0.case_runs.count();
            let run = match self.run_to_end(&simulation, &mut place, timeout, &mut |_| stopped()) {
                Ok(report) if matches!(report.result.outcome, Outcome::Cancelled { .. }) => break,
                Ok(report) => CaseRun::of(revision.checked.program(), &report),
                Err(error) => CaseRun::refused(&error.to_string()),
            };
            let run = Arc::new(run);
            results.keep(case.digest, Arc::clone(&run));
            here.insert(case.digest, Arc::clone(&run));
            ran.push((case, run));
        }
        ran
    }

    /// Stores what was found out. It can be found out again.
    pub(crate) async fn keep_results(
        &self,
        open: &OpenProgram,
        results: Vec<CaseResult>,
        sightings: Vec<Sighting>,
    ) -> Result<(), Error> {
        let now = self.0.clock.now();
        Ok(self.store().keep_case_results(open.timeline.key(), results, sightings, now, STORED).await?)
    }

    /// The same for somebody who does not wait for it.
    fn keep_results_later(&self, open: &OpenProgram, results: Vec<CaseResult>, sightings: Vec<Sighting>) {
        let (engine, open) = (self.clone(), open.clone());
        self.spawn_to_end(async move {
            if let Err(error) = engine.keep_results(&open, results, sightings).await {
                tracing::warn!(%error, "what runs of cases gave was not stored");
            }
        });
    }

    /// The newest revision, of those on the way to one, at which each case is known to hold.
    pub async fn last_green(
        &self,
        open: &OpenProgram,
        number: u64,
        cases: &[Uuid],
    ) -> Result<HashMap<Uuid, u64>, Error> {
        self.settle_cases(open).await;
        let mut newest: HashMap<Uuid, u64> = HashMap::new();
        let sightings = self.store().green_sightings(cases).await?;
        if sightings.is_empty() {
            return Ok(newest);
        }
        let way = self.way(open, number).await?;
        for sighting in sightings {
            let on_way = way.stretches().iter().any(|stretch| {
                stretch.branch == sighting.branch && stretch.entries.contains(&sighting.revision)
            });
            if on_way {
                let known = newest.entry(sighting.case).or_default();
                *known = sighting.revision.max(*known);
            }
        }
        Ok(newest)
    }
}

/// Whether a revision is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// It is.
    Yes,
    /// It is that of a dry run.
    No,
}

/// What is noted of a case at a revision; nothing while it is not known how it stands.
pub(crate) fn sighting(case: &Case, revision: &Revision, standing: &Standing) -> Option<Sighting> {
    let digest = match standing.digest {
        Some(digest) => digest,
        None if standing.unfit => [0; 32],
        None => return None,
    };
    if standing.run.as_ref().is_some_and(|run| run.by_time) {
        return None;
    }
    Some(Sighting {
        case: case.id,
        branch: revision.entry.branch,
        revision: revision.entry.number,
        digest,
        green: standing.status == CaseStatus::Green,
    })
}

/// What runs of some functions follow from besides what they are given.
struct Around {
    /// What surrounds every run.
    world: Hash,
    closures: HashMap<FuncRef, Hash>,
    /// What the verifier finds in what a function reaches, where runs may stop at it: that can depend on more than the closure,
    /// as on what is visible where.
    obstacles: HashMap<FuncRef, String>,
}

impl Around {
    fn of(checked: &Checked, functions: &HashSet<FuncRef>) -> Around {
        let program = checked.program();
        let mut sorted: Vec<FuncRef> = functions.iter().copied().collect();
        sorted.sort_unstable();
        let mut obstacles = HashMap::new();
        let tally = checked.findings().tally();
        if tally.errors + tally.stale + tally.incomplete > 0 {
            let stops = |found: &&lmlang_verify::Diagnostic| found.class() != Class::Warning;
            let found = checked.findings().iter().map(|(_, found)| found).filter(stops);
            let stopping: HashSet<FuncRef> = found.filter_map(|found| found.at.function).collect();
            let touched = reaching(program, stopping.iter().map(|of| Ref::from(*of)));
            for of in sorted.iter().filter(|of| touched.contains(of)) {
                let mut reached: Vec<FuncRef> = closure_hashes(program, [*of]).into_keys().collect();
                reached.sort_unstable();
                let mut words = String::new();
                for reached in reached.iter().filter(|reached| stopping.contains(reached)) {
                    for found in checked.findings().of_function(*reached).filter(stops) {
                        words.push_str(&format!(
                            "{:?} {:?} {:?};",
                            found.code, found.at.entity, found.at.port
                        ));
                    }
                }
                obstacles.insert(*of, words);
            }
        }
        Around { world: world_hash(program), closures: closure_hashes(program, sorted), obstacles }
    }
}

impl CaseRun {
    fn of(program: &Program, report: &Report) -> CaseRun {
        let result = &report.result;
        let node = result.outcome.place().and_then(|place| place.at()).and_then(|at| at.node);
        let stopped = |code: &str, message: String| End::Stopped { code: code.to_owned(), message, node };
        let end = match &result.outcome {
            Outcome::Returned { values } => {
                let texts: Vec<String> =
                    values.iter().map(|value| print_value_by_refs(program, value)).collect();
                let short = texts.iter().map(String::len).sum::<usize>() <= SHOWN;
                End::Returned { digest: digest_of(&texts), values: short.then_some(texts) }
            }
            Outcome::Trapped { fault, .. } => stopped(fault.code(), fault.message(program)),
            Outcome::ContractViolated { contract, message, .. } => {
                stopped("CONTRACT_VIOLATED", format!("`{message}` ({contract}) does not hold"))
            }
            Outcome::LimitReached { limit, bound, .. } => {
                stopped("LIMIT_REACHED", limit_message(*limit, *bound))
            }
            Outcome::ReachedHole { .. } => stopped("HOLE", "something is missing".to_owned()),
            Outcome::NotVerified { function } => stopped("NOT_VERIFIED", format!("`{function}` has errors")),
            Outcome::Cancelled { .. } => stopped("CANCELLED", "it was stopped".to_owned()),
        };
        let by_time = matches!(result.outcome, Outcome::LimitReached { limit: LimitKind::Time, .. });
        CaseRun { steps: result.steps, fuel_used: result.fuel_used, end, by_time }
    }

    /// One that did not begin.
    fn refused(why: &str) -> CaseRun {
        let end = End::Stopped { code: "REFUSED".to_owned(), message: why.to_owned(), node: None };
        CaseRun { steps: 0, fuel_used: 0, end, by_time: false }
    }

    /// What it returned, as a program writes it; nothing where that is long, or where it did not return.
    pub fn shown(&self, program: &Program, results: &[Type]) -> Option<Vec<String>> {
        match &self.end {
            End::Returned { values, .. } => {
                values.as_ref().map(|values| Case::shown(program, values, results))
            }
            End::Stopped { .. } => None,
        }
    }
}

fn digest_of(texts: &[String]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// Whether a run gave what is expected, and what it gave otherwise. Floats are compared by their bits.
fn judge(program: &Program, case: &Runnable, run: &CaseRun) -> (CaseStatus, Option<String>) {
    match &run.end {
        End::Returned { digest, .. } => {
            let Some(expected) = &case.expected else { return (CaseStatus::Green, None) };
            let texts: Vec<String> =
                expected.iter().map(|value| print_value_by_refs(program, value)).collect();
            if digest_of(&texts) == *digest {
                return (CaseStatus::Green, None);
            }
            let results = program.function(case.request.function).map(|of| of.head().results.clone());
            let returned = run.shown(program, &results.unwrap_or_default());
            let returned = returned.map_or_else(|| "something long".to_owned(), |values| listed(&values));
            let expected: Vec<String> = expected.iter().map(|value| print_value(program, value)).collect();
            (CaseStatus::Red, Some(format!("expected {}, returned {returned}", listed(&expected))))
        }
        End::Stopped { code, message, node } => {
            let at = node.map(|node| format!(" at `{node}`")).unwrap_or_default();
            (CaseStatus::Red, Some(format!("{code}{at}: {message}")))
        }
    }
}

fn listed(values: &[String]) -> String {
    /// Characters of values in a message.
    const MOST: usize = 200;
    if values.is_empty() {
        return "nothing".to_owned();
    }
    let all = values.join(", ");
    match all.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &all[..at]),
        None => all,
    }
}
