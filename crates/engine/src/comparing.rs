//! Where the runs of a function at two revisions part.
//!
//! Refs are stable across revisions, so a step of the one run can be compared with that of the other by its node. Both traces
//! are walked side by side, a page of each in memory at a time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lmlang_interp::{Note, Outcome, StartError, Step, Trace, TraceLevel};
use lmlang_ir::Ref;
use lmlang_ir::graph::{closure_hash, world_hash};
use serde::{Deserialize, Serialize};

use crate::engine::{Engine, OpenProgram};
use crate::error::{Error, joined};
use crate::request::Call;
use crate::simulate::{Abandoned, Report, RunRequest, Simulation};
use crate::steps::PAGE;
use crate::timeline::Revision;

/// A function run at two revisions.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// How the two runs ended, that at the first revision before that at the second.
    pub reports: [Arc<Report>; 2],
    /// Steps at the start of both that are the same.
    pub same_steps: u64,
    /// The first steps that are not, of each run that has one there; both missing where there is no such step.
    pub steps: [Option<Step>; 2],
    /// The number of the last revision between the two that changed what runs there.
    pub caused_by: Option<u64>,
}

impl Comparison {
    /// Whether the runs did the same and ended the same way.
    pub fn is_same(&self) -> bool {
        let [before, after] = &self.reports;
        self.steps.iter().all(Option::is_none) && ends_alike(&before.result.outcome, &after.result.outcome)
    }
}

/// Steps of each trace that are in memory at a time.
const STEPS: usize = 1 << 12;

/// The revisions that a request was answered of: what they do does not change.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    from: u64,
    to: u64,
}

/// What the walk found.
#[derive(Default)]
struct Parting {
    same_steps: u64,
    steps: [Option<Step>; 2],
    /// Whether it took too long.
    cut: bool,
}

impl Engine {
    /// The revisions that a comparison is of: those that a request with the same key was answered of, else those with the
    /// names.
    pub async fn compared(
        &self,
        open: &OpenProgram,
        (from, to): (&str, &str),
        call: &Call,
    ) -> Result<[Arc<Revision>; 2], Error> {
        let record = match self.answered::<Record>(call).await? {
            Some(record) => record,
            None => {
                self.hear_of(open, from).await?;
                self.hear_of(open, to).await?;
                let (from, to) = (self.named(open, from).await?, self.named(open, to).await?);
                let record = Record { from: from.number, to: to.number };
                self.answer(open, call, &record).await?;
                record
            }
        };
        let find = async |number: u64| {
            let missing = || Error::not_found("revision", format!("r{number}"));
            self.state(open, number).await?.ok_or_else(missing)
        };
        Ok([find(record.from).await?, find(record.to).await?])
    }

    /// Runs a function at two revisions and finds where the runs part.
    ///
    /// A step parts from its counterpart when it is of another node or function, in another depth of calls, reads or makes
    /// other values, or when the run ends there. Values are compared as traces show them: long ones by their beginning. Takes
    /// as long as walking both traces to there, which is bounded like a run. Stops when the caller does not wait any more.
    pub async fn compare_runs(
        &self,
        open: &OpenProgram,
        revisions: &[Arc<Revision>; 2],
        requests: [RunRequest; 2],
    ) -> Result<Comparison, Error> {
        let mut place = self.place().await?;
        let abandoned = Abandoned::default();
        let (engine, stop) = (self.clone(), Arc::clone(&abandoned.0));
        let [before, after] = revisions;
        let function = requests[1].function;
        let [one, other] = requests;
        let runs = [self.begin(open, before, one), self.begin(open, after, other)];
        let longest = self.limits().max_timeout;
        let work = tokio::task::spawn_blocking(move || {
            let gone = || stop.load(Ordering::Relaxed) || engine.closing().is_cancelled();
            let mut reports = Vec::with_capacity(2);
            for run in &runs {
                engine.can_run(run, &mut place)?;
                let timeout = run.request.bounds.timeout(engine.limits());
                let ended = engine.run_to_end(run, &mut place, timeout, &mut |_| gone());
                reports.push(Arc::new(ended.map_err(refused)?));
            }
            let alike = same_code(&runs);
            let [before, after]: [Arc<Report>; 2] = reports.try_into().map_err(|_| Error::Closed)?;
            let reports = [before, after];
            if alike && ends_alike(&reports[0].result.outcome, &reports[1].result.outcome) {
                let same_steps = reports[1].result.steps;
                return Ok::<_, Error>((reports, Parting { same_steps, ..Parting::default() }));
            }
            let mut traces = Vec::with_capacity(2);
            for (run, report) in runs.iter().zip(&reports) {
                let run = engine.start(run).map_err(refused)?;
                traces.push(Trace::of(&run, TraceLevel::Nodes, Some(report.result.fuel_used)));
            }
            let since = place.busy();
            let mut goes_on = || {
                place.take_turn();
                !gone() && place.busy().saturating_sub(since) < longest
            };
            let parting = match &mut traces[..] {
                [Some(before), Some(after)] => part([before, after], &mut goes_on),
                // One that did not begin has no steps.
                _ => Parting::default(),
            };
            Ok((reports, parting))
        });
        let (reports, parting) = joined(work.await)??;
        drop(abandoned);
        if self.closing().is_cancelled() {
            return Err(Error::Closed);
        }
        if parting.cut {
            return Err(Error::Limit {
                which: "timeoutMs",
                limit: millis(longest),
                actual: millis(longest).saturating_add(1),
            });
        }
        let Parting { same_steps, steps, cut: _ } = parting;
        let mut found = Comparison { reports, same_steps, steps, caused_by: None };
        if !found.is_same() {
            let at = found.steps[1].as_ref().or(found.steps[0].as_ref());
            let at = at.map(|step| (Ref::from(step.node), Ref::from(step.function)));
            found.caused_by = self.cause(open, [before, after], at, function.into()).await?;
        }
        Ok(found)
    }

    /// The last revision between two that changed a node, else its function, else the function that was run.
    async fn cause(
        &self,
        open: &OpenProgram,
        [before, after]: [&Arc<Revision>; 2],
        at: Option<(Ref, Ref)>,
        entered: Ref,
    ) -> Result<Option<u64>, Error> {
        let common = self.common(open, before.entry.number, after.entry.number).await?;
        let oldest = common.into_iter().max().unwrap_or(0);
        let mut candidates: Vec<(Ref, Option<Ref>)> = Vec::new();
        if let Some((node, function)) = at {
            candidates.extend([(node, Some(function)), (function, None)]);
        }
        candidates.push((entered, None));
        for (of, owner) in candidates {
            // Where the second is the older one, what changed since then did it.
            for side in [after, before] {
                let program = side.checked.program();
                if program.place(of).is_none() {
                    continue;
                }
                let touched = self.provenance(open, side, of, owner).await?;
                if touched.modified > oldest {
                    return Ok(Some(touched.modified));
                }
            }
        }
        Ok(None)
    }
}

fn refused(error: StartError) -> Error {
    Error::bad_request(error.to_string())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Whether both runs are of the same code with the same arguments.
fn same_code([one, other]: &[Arc<Simulation>; 2]) -> bool {
    let (before, after) = (one.revision.checked.program(), other.revision.checked.program());
    let (one, other) = (&one.request, &other.request);
    let closure = closure_hash(before, one.function);
    one.function == other.function
        && one.args == other.args
        && closure.is_some()
        && closure == closure_hash(after, other.function)
        && world_hash(before) == world_hash(after)
}

/// Walks two traces to the first steps that differ.
fn part([before, after]: [&mut Trace; 2], goes_on: &mut dyn FnMut() -> bool) -> Parting {
    let mut at = Some(0);
    let mut same_steps = 0;
    while let Some(from) = at {
        if !goes_on() {
            return Parting { same_steps, cut: true, ..Parting::default() };
        }
        let (one, other) = (before.page(from, STEPS, PAGE), after.page(from, STEPS, PAGE));
        let (mut ours, mut theirs) = (one.steps.into_iter(), other.steps.into_iter());
        loop {
            match (ours.next(), theirs.next()) {
                (Some(step), Some(with)) if same_step(&step, &with) => same_steps += 1,
                (None, None) => break,
                (step, with) => return Parting { same_steps, steps: [step, with], cut: false },
            }
        }
        at = match (one.next, other.next) {
            (Some(next), Some(_)) => Some(next),
            // The one that ends here has no more, the other one may.
            (Some(next), None) => {
                let step = before.page(next, 1, PAGE).steps.pop();
                return Parting { same_steps, steps: [step, None], cut: false };
            }
            (None, Some(next)) => {
                let step = after.page(next, 1, PAGE).steps.pop();
                return Parting { same_steps, steps: [None, step], cut: false };
            }
            (None, None) => None,
        };
    }
    Parting { same_steps, ..Parting::default() }
}

/// Whether two steps did the same. Where a node stands is not what it does.
fn same_step(one: &Step, other: &Step) -> bool {
    let ended = |step: &Step| step.note == Some(Note::Stopped);
    (one.function, one.node, one.frame) == (other.function, other.node, other.frame)
        && one.inputs == other.inputs
        && one.outputs == other.outputs
        && ended(one) == ended(other)
}

/// Whether two runs ended the same way, wherever that was.
fn ends_alike(one: &Outcome, other: &Outcome) -> bool {
    let node = |of: &Outcome| of.place().and_then(|place| place.at()).map(|at| (at.function, at.node));
    match (one, other) {
        (Outcome::Returned { values: one }, Outcome::Returned { values: other }) => one == other,
        (Outcome::Trapped { fault: a, .. }, Outcome::Trapped { fault: b, .. }) => {
            a == b && node(one) == node(other)
        }
        (
            Outcome::ContractViolated { contract: a, message: one, .. },
            Outcome::ContractViolated { contract: b, message: other, .. },
        ) => a == b && one == other,
        (Outcome::LimitReached { limit: a, .. }, Outcome::LimitReached { limit: b, .. }) => {
            a == b && node(one) == node(other)
        }
        (
            Outcome::ReachedHole { node: a, port: one, .. },
            Outcome::ReachedHole { node: b, port: other, .. },
        ) => a == b && one == other,
        (Outcome::NotVerified { function: a }, Outcome::NotVerified { function: b }) => a == b,
        (Outcome::Cancelled { .. }, Outcome::Cancelled { .. }) => true,
        (
            Outcome::Returned { .. }
            | Outcome::Trapped { .. }
            | Outcome::ContractViolated { .. }
            | Outcome::LimitReached { .. }
            | Outcome::ReachedHole { .. }
            | Outcome::NotVerified { .. }
            | Outcome::Cancelled { .. },
            _,
        ) => false,
    }
}
