//! Tournaments: many change sets for one place, each tried on a copy, and ranked. Nothing is stored until one of them is
//! proposed for itself.
//!
//! A candidate takes the way of a dry run. Then the test cases that its changes may concern are run at the state that it
//! led to (what is known of their runs costs none), and inputs are looked for that break the contracts of what it changed
//! and of what calls that.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lmlang_check::{subjects_among, subjects_calling};
use lmlang_history::diff;
use lmlang_history::request::EditRequest;
use lmlang_history::revision::MAIN;
use lmlang_ir::FuncRef;
use lmlang_verify::Delta;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;
use uuid::Uuid;

use crate::case_runner::{Concerned, concerned};
use crate::catalog::Selector;
use crate::checking::{CheckRequest, MOST_CASES};
use crate::edits::{Applied, Outcome, Proposal};
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::request::Call;
use crate::standing::{CaseStatus, Effort, MOST_RUNS, Stored};
use crate::timeline::Revision;

/// Candidates of one tournament at most.
pub const MOST_CANDIDATES: usize = 256;

/// Tournaments that are remembered.
const REMEMBERED: usize = 16;

/// Functions that one candidate changes, and those that call them, for whose contracts inputs are looked for.
const MOST_CHECKED: usize = 20;

/// Functions calling those that one candidate changes among which they are looked for.
const MOST_CALLERS: usize = 10_000;

/// How long who wants to look at a tournament waits for it to begin: both may have been asked for at the same time.
const TO_BEGIN: Duration = Duration::from_secs(2);

/// Inputs for each of them at most.
const INPUTS: u64 = 500;

/// What a candidate has to meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// Nothing that it touches is left incomplete.
    Complete,
    /// No test case that it may concern fails.
    Cases,
    /// No input was found that breaks what it changes.
    Contracts,
}

impl Gate {
    /// All gates.
    pub const ALL: [Gate; 3] = [Gate::Complete, Gate::Cases, Gate::Contracts];

    /// Its name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Gate::Complete => "complete",
            Gate::Cases => "cases",
            Gate::Contracts => "contracts",
        }
    }
}

/// Change sets that are to be compared.
#[derive(Clone, Debug)]
pub struct TournamentRequest {
    /// The program.
    pub program: Selector,
    /// The revision that the candidates are made on; `None`: the head.
    pub base: Option<String>,
    /// The candidates.
    pub candidates: Vec<Vec<EditRequest>>,
    /// What they have to meet, besides that they can be applied.
    pub gates: BTreeSet<Gate>,
    /// The time for all of them.
    pub timeout: Duration,
    /// What the test cases of one candidate may use of fuel together; more misses all gates.
    pub fuel: Option<u64>,
}

/// What became of a candidate.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its place in the request, from 0.
    pub index: usize,
    /// Its place among all, from 1, once all are known.
    pub rank: Option<usize>,
    /// What became of it as a dry run.
    pub outcome: Arc<Outcome>,
    /// Test cases that hold, of those that it may concern.
    pub passed: usize,
    /// Test cases that do not, or do not fit any more.
    pub failed: usize,
    /// Test cases of which nobody knows, as there was no time.
    pub undecided: usize,
    /// Functions for which an input was found that breaks them. Of those that it changes it is not asked what broke them
    /// before; of those that call them it is.
    pub broken: Vec<FuncRef>,
    /// What the runs of its test cases used.
    pub fuel_used: u64,
    /// Gates that it does not meet.
    pub missed: Vec<Gate>,
    /// Whether the time was over before all was known of it.
    pub late: bool,
}

/// A tournament, as those who look at it share it.
#[derive(Debug)]
pub struct Tournament {
    /// What it is called.
    pub id: Uuid,
    /// The id of the program, which it does not keep open.
    pub program: Uuid,
    key: Option<(String, Vec<u8>)>,
    told: Mutex<Told>,
    more: Notify,
}

#[derive(Debug, Default)]
struct Told {
    /// The candidates as they came to an end, and then all once more by rank.
    rows: Vec<Candidate>,
    over: bool,
}

/// The tournaments that were begun last.
#[derive(Debug, Default)]
pub(crate) struct Tournaments {
    known: Mutex<VecDeque<Arc<Tournament>>>,
    begun: Notify,
}

impl Tournament {
    /// The row at a place, as soon as there is one; `None` after the last.
    pub async fn row(&self, at: usize) -> Option<Candidate> {
        loop {
            let more = self.more.notified();
            tokio::pin!(more);
            more.as_mut().enable();
            {
                let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(row) = told.rows.get(at) {
                    return Some(row.clone());
                }
                if told.over {
                    return None;
                }
            }
            more.await;
        }
    }

    fn tell(&self, rows: impl IntoIterator<Item = Candidate>, over: bool) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.rows.extend(rows);
        told.over = over;
        drop(told);
        self.more.notify_waiters();
    }
}

/// Says that a tournament is over, however its work ends.
struct Over(Arc<Tournament>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.tell([], true);
    }
}

impl Engine {
    /// Tries candidates and ranks them: by what they miss, by the test cases that fail and hold, by fuel and by size. Ends
    /// with the time that the request gives; what is not known by then counts as missed. Answers with the program, too.
    pub async fn tournament(
        &self,
        request: TournamentRequest,
        call: &Call,
    ) -> Result<(Arc<Tournament>, OpenProgram, Vec<Candidate>), Error> {
        let count = request.candidates.len();
        if count == 0 {
            return Err(Error::bad_request("`candidates` must not be empty"));
        }
        if let Some(index) = request.candidates.iter().position(Vec::is_empty) {
            return Err(Error::bad_request(format!("`candidates[{index}]` has no edits")));
        }
        if count > MOST_CANDIDATES {
            let (limit, actual) = (MOST_CANDIDATES as u64, count as u64);
            return Err(Error::Limit { which: "candidates", limit, actual });
        }
        let until = Instant::now() + request.timeout.min(self.limits().max_timeout);
        let open = self.find(&request.program).await?;
        // All of them are about one state, whoever else changes the program meanwhile.
        let base = self.revision(&open, request.base.as_deref()).await?.entry.number;
        let key = call.idempotency.as_ref().map(|given| (call.actor.name.clone(), given.key.clone()));
        let told = Mutex::default();
        let tournament = Arc::new(Tournament {
            id: Uuid::new_v4(),
            program: open.info().id,
            key,
            told,
            more: Notify::new(),
        });
        self.remember_tournament(&tournament);
        let over = Over(Arc::clone(&tournament));
        let mut pending: VecDeque<(usize, Vec<EditRequest>)> =
            request.candidates.into_iter().enumerate().collect();
        let gates = Arc::new(request.gates);
        let mut running = JoinSet::new();
        let mut all: Vec<Candidate> = Vec::with_capacity(count);
        let side_by_side = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        loop {
            while running.len() < side_by_side
                && let Some((index, edits)) = pending.pop_front()
            {
                let proposal = Proposal {
                    program: Selector::Id(open.info().id),
                    branch: MAIN.to_owned(),
                    base: Some(format!("r{base}")),
                    edits,
                    dry_run: true,
                    require_complete: gates.contains(&Gate::Complete),
                    verify_all: false,
                };
                // What is left of the time is shared by those that are left.
                let left = until.saturating_duration_since(Instant::now());
                let rounds = (pending.len() + running.len() + 1).div_ceil(side_by_side);
                let share = left / u32::try_from(rounds).unwrap_or(u32::MAX);
                let (engine, call, open) = (self.clone(), Call::by(call.actor.clone()), open.clone());
                let (gates, fuel) = (Arc::clone(&gates), request.fuel);
                running.spawn(async move {
                    let trial = Trial { engine: &engine, open: &open, gates: &gates, fuel };
                    trial.candidate(index, proposal, &call, Instant::now() + share).await
                });
            }
            let Some(done) = running.join_next().await else { break };
            let candidate = crate::error::joined(done)??;
            tournament.tell([candidate.clone()], false);
            all.push(candidate);
        }
        rank(&mut all);
        tournament.tell(all.iter().cloned(), true);
        drop(over);
        Ok((tournament, open, all))
    }

    fn remember_tournament(&self, tournament: &Arc<Tournament>) {
        let tournaments = &self.0.tournaments;
        let mut known = tournaments.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.push_back(Arc::clone(tournament));
        while known.len() > REMEMBERED {
            known.pop_front();
        }
        drop(known);
        tournaments.begun.notify_waiters();
    }

    /// A tournament that was begun not long ago, or begins within two seconds: by its id, or for the caller who began it
    /// by the key of the request.
    pub async fn tournament_of(&self, id: &str, actor: &str) -> Option<Arc<Tournament>> {
        let tournaments = &self.0.tournaments;
        let by_id = id.parse::<Uuid>().ok();
        let called = |one: &&Arc<Tournament>| {
            Some(one.id) == by_id
                || one.key.as_ref().is_some_and(|(name, key)| *name == *actor && key == id.as_bytes())
        };
        let begins = async {
            loop {
                let begun = tournaments.begun.notified();
                tokio::pin!(begun);
                begun.as_mut().enable();
                {
                    let known = tournaments.known.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(found) = known.iter().rev().find(called) {
                        return Arc::clone(found);
                    }
                }
                begun.await;
            }
        };
        tokio::time::timeout(TO_BEGIN, begins).await.ok()
    }
}

/// What one candidate is measured by.
struct Trial<'e> {
    engine: &'e Engine,
    open: &'e OpenProgram,
    gates: &'e BTreeSet<Gate>,
    fuel: Option<u64>,
}

impl Trial<'_> {
    async fn candidate(
        &self,
        index: usize,
        proposal: Proposal,
        call: &Call,
        until: Instant,
    ) -> Result<Candidate, Error> {
        let outcome = self.engine.propose(proposal, call).await?;
        let mut candidate = Candidate {
            index,
            rank: None,
            outcome: Arc::new(outcome),
            passed: 0,
            failed: 0,
            undecided: 0,
            broken: Vec::new(),
            fuel_used: 0,
            missed: Vec::new(),
            late: false,
        };
        let outcome = Arc::clone(&candidate.outcome);
        if let Outcome::Applied(applied) = &*outcome {
            self.run(applied, &mut candidate, until).await?;
        }
        // What cannot be applied meets nothing.
        let over = !matches!(&*outcome, Outcome::Applied(_))
            || self.fuel.is_some_and(|most| candidate.fuel_used > most);
        for gate in self.gates {
            let missed = over
                || candidate.late
                || match gate {
                    // It is refused where it is not met.
                    Gate::Complete => false,
                    Gate::Cases => candidate.failed + candidate.undecided > 0,
                    Gate::Contracts => !candidate.broken.is_empty(),
                };
            candidate.missed.extend(missed.then_some(*gate));
        }
        Ok(candidate)
    }

    async fn run(&self, applied: &Applied, candidate: &mut Candidate, until: Instant) -> Result<(), Error> {
        let (before, after) = (Arc::clone(&applied.before), Arc::clone(&applied.after));
        let (one, other) = (Arc::clone(&before), Arc::clone(&after));
        let looked = self.engine.compute(move || {
            let (one, other) = (one.checked.program(), other.checked.program());
            let changed: Vec<FuncRef> = diff(one, other).functions.iter().map(|of| of.function).collect();
            (concerned(one, other), changed)
        });
        let (concerned, changed) = looked.await?;
        let mut cases = match concerned {
            Concerned::All => self.engine.cases(self.open, None, None, MOST_CASES).await?.cases,
            Concerned::Functions(functions) => self.engine.cases_of(self.open, &functions).await?,
        };
        cases.truncate(MOST_CASES);
        for some in cases.chunks(MOST_RUNS) {
            if Instant::now() >= until {
                candidate.late = true;
                candidate.undecided += some.len();
                continue;
            }
            let effort = (Effort::Runs(MOST_RUNS), Stored::No);
            let ran = tokio::time::timeout_at(until, self.engine.standings(self.open, &after, some, effort));
            let Ok(standings) = ran.await else {
                candidate.late = true;
                candidate.undecided += some.len();
                continue;
            };
            for standing in standings? {
                match standing.status {
                    CaseStatus::Green => candidate.passed += 1,
                    CaseStatus::Red => candidate.failed += 1,
                    CaseStatus::Stale if standing.unfit => candidate.failed += 1,
                    CaseStatus::Stale => candidate.undecided += 1,
                }
                candidate.fuel_used += standing.run.map_or(0, |run| run.fuel_used);
            }
        }
        if !self.gates.contains(&Gate::Contracts) {
            return Ok(());
        }
        let program = after.checked.program();
        let mut functions = subjects_among(program, &changed);
        functions.truncate(MOST_CHECKED);
        let most = MOST_CHECKED - functions.len();
        let mut callers = subjects_calling(program, &changed, most, MOST_CALLERS);
        callers.retain(|of| !functions.contains(of));
        candidate.broken = self.broken(&after, functions, until).await?;
        let through = self.broken(&after, callers, until).await?;
        // Whoever changes a function is not told of what was wrong with its callers.
        let already = self.broken(&before, through.clone(), until).await?;
        candidate.broken.extend(through.into_iter().filter(|of| !already.contains(of)));
        Ok(())
    }

    /// Those of some functions for which an input is found that breaks them.
    async fn broken(
        &self,
        revision: &Arc<Revision>,
        functions: Vec<FuncRef>,
        until: Instant,
    ) -> Result<Vec<FuncRef>, Error> {
        if functions.is_empty() {
            return Ok(Vec::new());
        }
        let timeout = until.saturating_duration_since(Instant::now());
        let request = CheckRequest { functions, timeout, cases: INPUTS, seed: 0 };
        let mut attempts = self.engine.check_contracts(revision, request).await?;
        let mut broken = Vec::new();
        while let Some(attempt) = attempts.recv().await {
            broken.extend(attempt.counterexample.map(|_| attempt.function));
        }
        Ok(broken)
    }
}

/// Puts candidates in order, the best first, and gives each its place.
fn rank(candidates: &mut [Candidate]) {
    let size = |outcome: &Outcome| match outcome {
        Outcome::Applied(applied) => {
            let counts =
                lmlang_history::counts(applied.before.checked.program(), applied.after.checked.program());
            (0, counts.added + counts.removed + counts.modified)
        }
        Outcome::Conflict(_) => (1, 0),
        Outcome::Rejected(rejected) => (2, (rejected.errors.len() + rejected.findings.len()) as u64),
    };
    let warnings = |outcome: &Outcome| match outcome {
        Outcome::Applied(applied) => {
            let found: Delta = applied.after.checked.findings().since(applied.before.checked.findings());
            found.added.len()
        }
        Outcome::Conflict(_) | Outcome::Rejected(_) => 0,
    };
    let keys: HashMap<usize, _> = candidates
        .iter()
        .map(|one| {
            let (kind, size) = size(&one.outcome);
            let key = (
                kind,
                one.missed.len(),
                (one.failed, one.undecided),
                one.broken.len(),
                std::cmp::Reverse(one.passed),
                warnings(&one.outcome),
                (one.fuel_used, size, one.index),
            );
            (one.index, key)
        })
        .collect();
    candidates.sort_by_key(|one| keys.get(&one.index).copied());
    for (rank, one) in (1..).zip(candidates) {
        one.rank = Some(rank);
    }
}
