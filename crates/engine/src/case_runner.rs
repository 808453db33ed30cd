//! Runs the cases that a change may concern, after it, while nobody else wants to run anything.
//!
//! What a change concerns is found from what differs between the states before and after it, backwards along mentions: so
//! its cost follows the change, and not how many cases there are.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lmlang_history::diff;
use lmlang_ir::graph::reaching;
use lmlang_ir::{FuncRef, Program, Ref, RefKind};
use lmlang_store::ProgramKey;
use tokio::sync::Notify;

use crate::cases::{Case, MOST};
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::standing::{CaseStatus, Effort, Results, Standing, Stored, sighting};
use crate::timeline::Revision;

/// What runs of cases share.
#[derive(Debug, Default)]
pub(crate) struct CaseRuns {
    pub(crate) results: Results,
    /// Runs that were made.
    runs: AtomicU64,
    waiting: Mutex<Waiting>,
    /// Notified when something waits.
    come: Notify,
    /// Notified when something was looked at.
    done: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Changes by program and branch; those of one branch are looked at together.
    changes: BTreeMap<(ProgramKey, u32), Changed>,
    /// Cases that were added.
    added: Vec<(OpenProgram, Arc<Case>)>,
    /// The program of what is being looked at.
    busy: Option<ProgramKey>,
    /// Programs that have no cases, where nobody else could add one.
    without: HashSet<ProgramKey>,
}

#[derive(Debug)]
struct Changed {
    open: OpenProgram,
    before: Arc<Revision>,
    after: Arc<Revision>,
}

impl Waiting {
    /// Whether something waits, or is being looked at: of a program, or of any.
    fn has(&self, program: Option<ProgramKey>) -> bool {
        let is_it = |of: ProgramKey| program.is_none_or(|program| program == of);
        self.busy.is_some_and(is_it)
            || self.changes.keys().any(|(of, _)| is_it(*of))
            || self.added.iter().any(|(open, _)| is_it(open.timeline.key()))
    }
}

/// Cases that are run before what they gave is stored.
const CHUNK: usize = 64;

/// Cases that wait to be run the first time, at most: others are run when somebody asks.
const ADDED: usize = 1_000;

impl CaseRuns {
    /// Counts a run.
    pub(crate) fn count(&self) {
        self.runs.fetch_add(1, Ordering::Relaxed);
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For how long an answer waits for what is about to be known.
const SETTLE: Duration = Duration::from_secs(1);

/// Revisions that are looked at, backwards, for the last one at which a case held.
const BACK: usize = 64;

/// Something to look at.
enum Work {
    Changed(Changed),
    Added(OpenProgram, Arc<Case>),
}

impl Engine {
    /// How many runs of cases were made since the engine was opened.
    pub fn case_runs(&self) -> u64 {
        self.0.case_runs.runs.load(Ordering::Relaxed)
    }

    /// Waits until no case waits to be run in the background.
    pub async fn cases_at_rest(&self) {
        self.at_rest(None).await;
    }

    /// Waits a moment for the cases of a program that are run in the background.
    pub(crate) async fn settle_cases(&self, open: &OpenProgram) {
        // Where that takes longer, what is known is told.
        tokio::time::timeout(SETTLE, self.at_rest(Some(open.timeline.key()))).await.ok();
    }

    async fn at_rest(&self, program: Option<ProgramKey>) {
        let runs = &self.0.case_runs;
        loop {
            let done = runs.done.notified();
            if !runs.waiting().has(program) {
                return;
            }
            done.await;
        }
    }

    /// Has the cases run that a change of a branch may concern.
    pub(crate) fn cases_may_change(&self, open: &OpenProgram, before: Arc<Revision>, after: Arc<Revision>) {
        let key = open.timeline.key();
        let mut waiting = self.0.case_runs.waiting();
        if before.entry.root_hash == after.entry.root_hash || waiting.without.contains(&key) {
            return;
        }
        let branch = after.entry.branch;
        let changed = waiting.changes.entry((key, branch));
        let changed =
            changed.or_insert_with(|| Changed { open: open.clone(), before, after: Arc::clone(&after) });
        changed.after = after;
        drop(waiting);
        self.0.case_runs.come.notify_one();
    }

    /// Has a case run that was added.
    pub(crate) fn case_added(&self, open: &OpenProgram, case: &Arc<Case>) {
        let mut waiting = self.0.case_runs.waiting();
        waiting.without.remove(&open.timeline.key());
        if waiting.added.len() < ADDED {
            waiting.added.push((open.clone(), Arc::clone(case)));
        }
        drop(waiting);
        self.0.case_runs.come.notify_one();
    }

    /// Runs cases in the background for as long as the engine is open.
    pub(crate) fn run_cases_behind(&self) {
        let engine = self.clone();
        self.spawn(async move {
            loop {
                let Some(work) = engine.next_work() else {
                    engine.0.case_runs.come.notified().await;
                    continue;
                };
                let done = match work {
                    Work::Changed(changed) => engine.look_at_change(changed).await,
                    Work::Added(open, case) => {
                        let main = Arc::clone(&open.timeline.head().main.revision);
                        engine.run_behind(&open, &main, &[case]).await.map(drop)
                    }
                };
                engine.0.case_runs.waiting().busy = None;
                engine.0.case_runs.done.notify_waiters();
                if let Err(error) = done {
                    // They are run when somebody asks.
                    tracing::warn!(%error, "cases could not be run after a change");
                }
            }
        });
    }

    fn next_work(&self) -> Option<Work> {
        let mut waiting = self.0.case_runs.waiting();
        let changed = waiting.changes.pop_first().map(|(_, changed)| Work::Changed(changed));
        let work = changed.or_else(|| waiting.added.pop().map(|(open, case)| Work::Added(open, case)));
        waiting.busy = work.as_ref().map(|work| match work {
            Work::Changed(Changed { open, .. }) | Work::Added(open, _) => open.timeline.key(),
        });
        work
    }

    async fn look_at_change(&self, changed: Changed) -> Result<(), Error> {
        let Changed { open, before, after } = changed;
        let key = open.timeline.key();
        if !self.store().has_cases(key).await? {
            if self.store().is_alone() {
                let mut waiting = self.0.case_runs.waiting();
                // One may have been added since.
                let added = &waiting.added;
                if added.len() < ADDED && added.iter().all(|(other, _)| other.timeline.key() != key) {
                    waiting.without.insert(key);
                }
            }
            return Ok(());
        }
        let (one, other) = (Arc::clone(&before), Arc::clone(&after));
        let concerned =
            self.compute(move || concerned(one.checked.program(), other.checked.program())).await?;
        let cases = match concerned {
            Concerned::All => self.cases(&open, None, None, MOST as usize).await?.cases,
            Concerned::Functions(functions) => self.cases_of(&open, &functions).await?,
        };
        for some in cases.chunks(CHUNK) {
            // What held up to here is noted: it may not any more.
            let known = self.standings(&open, &before, some, (Effort::Known, Stored::Yes)).await?;
            let held = some.iter().zip(&known).filter(|(_, standing)| standing.status == CaseStatus::Green);
            let held = held.filter_map(|(case, standing)| sighting(case, &before, standing)).collect();
            self.keep_results(&open, Vec::new(), held).await?;
            let now = self.run_behind(&open, &after, some).await?;
            let held = |standing: &Standing| standing.status == CaseStatus::Green;
            let broke = known.iter().zip(&now).map(|(then, now)| held(then) && !held(now));
            let broke = some.iter().zip(broke).filter(|(_, broke)| *broke).map(|(case, _)| Arc::clone(case));
            self.note_last_green(&open, (&before, &after), broke.collect()).await?;
        }
        Ok(())
    }

    /// Notes the last revisions before one at which cases held, as far as that is known: several changes may have been looked
    /// at together.
    async fn note_last_green(
        &self,
        open: &OpenProgram,
        (before, after): (&Revision, &Revision),
        mut cases: Vec<Arc<Case>>,
    ) -> Result<(), Error> {
        let mut next = after.entry.parents.first().copied();
        for _ in 0..BACK {
            let Some(number) = next.filter(|number| *number > before.entry.number && !cases.is_empty())
            else {
                return Ok(());
            };
            let Some(revision) = self.state(open, number).await? else { return Ok(()) };
            let standings = self.standings(open, &revision, &cases, (Effort::Known, Stored::Yes)).await?;
            let mut seen = Vec::new();
            let mut rest = Vec::new();
            for (case, standing) in cases.into_iter().zip(&standings) {
                match standing.status {
                    CaseStatus::Green => seen.extend(sighting(&case, &revision, standing)),
                    CaseStatus::Red | CaseStatus::Stale => rest.push(case),
                }
            }
            self.keep_results(open, Vec::new(), seen).await?;
            cases = rest;
            next = revision.entry.parents.first().copied();
        }
        Ok(())
    }

    /// Runs cases at a revision, and notes how they stand.
    async fn run_behind(
        &self,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        cases: &[Arc<Case>],
    ) -> Result<Vec<Standing>, Error> {
        let standings = self.standings(open, revision, cases, (Effort::Behind, Stored::No)).await?;
        let seen = cases.iter().zip(&standings);
        let seen = seen.filter_map(|(case, standing)| sighting(case, revision, standing)).collect();
        self.keep_results(open, Vec::new(), seen).await?;
        Ok(standings)
    }
}

/// The functions whose runs a change may concern.
pub(crate) enum Concerned {
    /// Of all.
    All,
    /// Of these, by number.
    Functions(Vec<u64>),
}

pub(crate) fn concerned(before: &Program, after: &Program) -> Concerned {
    let diff = diff(before, after);
    let others = diff.others.iter().map(|change| change.of);
    if others.clone().any(|of| of.kind == RefKind::Variable) {
        return Concerned::All;
    }
    let changed: Vec<Ref> =
        others.chain(diff.functions.iter().map(|change| change.function.into())).collect();
    let mut functions = reaching(before, changed.iter().copied());
    functions.extend(reaching(after, changed));
    // What is called at the start surrounds every run.
    let starts = |program: &Program, of: FuncRef| program.function(of).is_some_and(|of| of.head().start);
    if functions.iter().any(|of| starts(before, *of) || starts(after, *of)) {
        return Concerned::All;
    }
    let mut numbers: Vec<u64> = functions.into_iter().map(|of| of.number()).collect();
    numbers.sort_unstable();
    Concerned::Functions(numbers)
}
