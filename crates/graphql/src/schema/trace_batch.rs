//! Batches of a trace as they are sent.
//!
//! To print what a step shows can take longer than to execute it. So a batch whose first steps would wait for too long
//! meanwhile is sent in parts.

use std::iter::Peekable;
use std::time::{Duration, Instant};

use async_graphql::{ComplexObject, Context, ID, InputObject, Result, SimpleObject};
use futures_util::{Stream, stream};
use lmlang_engine::{self as engine, Batching};
use lmlang_interp::Step;
use tokio::sync::mpsc::Receiver;

use crate::direct::{Direct, Rows, Selected, Writer, leaf, object, rows, word};
use crate::error::{ApiError, Code};
use crate::schema::defaults::{Int, Or};
use crate::schema::failure::fail;
use crate::schema::ids::GlobalId;
use crate::schema::natural::natural;
use crate::schema::run_outcome::{Outcome, ended};
use crate::schema::scalars::Count;
use crate::schema::simulation::Simulation;
use crate::schema::simulation_status::SimulationStatus;
use crate::schema::trace_page::{Operators, TraceStep, trace_step};
use crate::schema::view::nullable;
use crate::transport::budget;

/// How a trace is cut into batches.
#[derive(Clone, Debug, InputObject)]
pub struct BatchInput {
    /// Steps in one batch at most.
    #[graphql(default)]
    max_events: Or<Int<256>>,
    /// How long a step may wait for others, in milliseconds, until it is printed. With 0 it waits for as few as can be.
    #[graphql(default)]
    max_latency_ms: Or<Int<50>>,
}

/// Part of a trace.
#[derive(Clone, SimpleObject)]
#[graphql(complex)]
pub struct TraceBatch {
    /// The simulation: `simulation(id:, after:)` resumes it.
    simulation_id: ID,
    /// The number of the step after these: where to resume.
    cursor: Count,
    /// The steps in order; none in a batch that only says that the run goes on, which comes every second when nothing
    /// else does.
    steps: Rows<TraceStep>,
    /// Steps from `cursor` on that this stream leaves out, since it met the bound of trace bytes or of time: those so far
    /// while the run goes on, all of them in the last batch. `simulation(id:, after:)` shows them.
    skipped: Count,
    /// How the run stands.
    status: SimulationStatus,
    #[graphql(skip)]
    outcome: Option<Outcome>,
}

/// Part of a trace.
#[ComplexObject]
impl TraceBatch {
    /// How it ended; null while it runs.
    async fn outcome(&self, context: &Context<'_>) -> Option<Result<&Outcome>> {
        let outcome = self.outcome.as_ref()?;
        nullable(budget::count(context, outcome.text_bytes()).map(|()| outcome))
    }
}

/// Of few steps: many are written in turns. The last batch has more to tell.
impl Direct for TraceBatch {
    fn writer(selected: Selected<'_>) -> Option<Writer<TraceBatch>> {
        let writer = object(selected, &["TraceBatch"], |name, inner| match name {
            "simulationId" => leaf(|batch: &TraceBatch, out| out.text(&batch.simulation_id)),
            "cursor" => leaf(|batch: &TraceBatch, out| out.number(batch.cursor.0)),
            "steps" => rows(inner, |batch: &TraceBatch| &batch.steps.0[..]),
            "skipped" => leaf(|batch: &TraceBatch, out| out.number(batch.skipped.0)),
            "status" => leaf(|batch: &TraceBatch, out| out.plain(word(batch.status))),
            "outcome" => leaf(|_: &TraceBatch, out| out.null()),
            _ => None,
        })?;
        Some(Box::new(move |batch, out| {
            if batch.outcome.is_none() && batch.steps.0.len() < TURN {
                writer(batch, out);
            } else {
                out.give_up();
            }
        }))
    }
}

/// The most steps of one batch.
pub(crate) const MOST_EVENTS: usize = 10_000;

/// How often a stream says that its run goes on when it has nothing else to say.
const PULSE: Duration = Duration::from_secs(1);

/// What printing may take at least, so that a step is not sent alone while others are there.
const LEAST: Duration = Duration::from_millis(1);

/// Steps that are printed, or written, before others get their turn.
const TURN: usize = 64;

/// How a client wants its batches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    steps: usize,
    latency: Duration,
}

impl Wanted {
    pub(crate) fn new(given: Option<BatchInput>) -> std::result::Result<Wanted, ApiError> {
        let given = given.unwrap_or(BatchInput { max_events: Or::default(), max_latency_ms: Or::default() });
        let steps = usize::try_from(given.max_events.0).ok().filter(|steps| *steps > 0);
        let steps = steps.ok_or_else(|| ApiError::new(Code::BadRequest, "`maxEvents` must be positive"))?;
        if steps > MOST_EVENTS {
            return Err(ApiError::limit("maxEvents", MOST_EVENTS as u64, steps as u64));
        }
        let latency: u64 = natural("maxLatencyMs", given.max_latency_ms.0)?;
        Ok(Wanted { steps, latency: Duration::from_millis(latency.min(10_000)) })
    }

    /// How the engine is to cut the trace: half of the time is for printing and sending.
    pub(crate) fn batching(self) -> Batching {
        Batching { steps: self.steps, latency: self.latency / 2, pulse: PULSE }
    }

    /// The batches of a simulation as they are sent, each with as much text as an answer may hold.
    pub(crate) fn printed(
        self,
        simulation: Simulation,
        batches: Receiver<engine::Batch>,
        most: u64,
    ) -> impl Stream<Item = Result<TraceBatch>> {
        let patience = (self.latency / 4).max(LEAST);
        let operators = Operators::default();
        let printer = Printer { simulation, batches, operators, rest: None, over: false, patience, most };
        stream::unfold(printer, |mut printer| async move {
            let batch = printer.next().await?;
            Some((batch, printer))
        })
    }
}

struct Printer {
    simulation: Simulation,
    batches: Receiver<engine::Batch>,
    operators: Operators,
    /// What is left of the batch that is being sent.
    rest: Option<Rest>,
    /// Whether it was told how the run ended, or why it is told no further.
    over: bool,
    /// How long the steps of one part are printed.
    patience: Duration,
    /// Bytes of text in one part, about.
    most: u64,
}

struct Rest {
    steps: Peekable<std::vec::IntoIter<Step>>,
    /// The batch without its steps, which are sent by the time that it is.
    last: engine::Batch,
}

impl Printer {
    async fn next(&mut self) -> Option<Result<TraceBatch>> {
        let mut rest = match self.rest.take() {
            Some(rest) => rest,
            None => {
                let Some(mut last) = self.batches.recv().await else { return self.cut_short() };
                Rest { steps: std::mem::take(&mut last.steps).into_iter().peekable(), last }
            }
        };
        let (view, began) = (self.simulation.view(), Instant::now());
        let mut text = 0;
        let full = |step: &TraceStep| {
            text += step.bytes();
            text >= self.most || began.elapsed() >= self.patience
        };
        let operators = &mut self.operators;
        let steps = part(&mut rest.steps, |step| trace_step(view, operators, &step), full).await;
        let batch = match rest.steps.peek() {
            Some(next) => {
                let cursor = next.seq;
                self.rest = Some(rest);
                let status = engine::Status::Running;
                engine::Batch { steps: Vec::new(), cursor, skipped: 0, status, report: None }
            }
            None => rest.last,
        };
        if !steps.is_empty() {
            self.simulation.inner().read_to(batch.cursor);
        }
        Some(self.shown(batch, steps))
    }

    /// Why a run is told no further, if its program is gone. What somebody moves has no end that could be missing.
    fn cut_short(&mut self) -> Option<Result<TraceBatch>> {
        if self.over || self.simulation.standing().is_some() {
            return None;
        }
        let error = self.simulation.inner().open.deleted()?;
        self.over = true;
        Some(Err(fail(error).into()))
    }

    fn shown(&mut self, batch: engine::Batch, steps: Vec<TraceStep>) -> Result<TraceBatch> {
        let report = batch.report.as_deref();
        self.over = report.is_some();
        Ok(TraceBatch {
            simulation_id: GlobalId::Simulation(self.simulation.inner().id).to_string().into(),
            cursor: Count(batch.cursor),
            steps: Rows(steps),
            skipped: Count(batch.skipped),
            status: batch.status.into(),
            outcome: report.map(|report| ended(self.simulation.view(), report)).transpose()?,
        })
    }
}

/// Prints steps until it is late or they are enough, one at least.
async fn part<S, T>(
    steps: &mut impl Iterator<Item = S>,
    mut print: impl FnMut(S) -> T,
    mut full: impl FnMut(&T) -> bool,
) -> Vec<T> {
    let mut printed = Vec::new();
    for step in steps.by_ref() {
        printed.push(print(step));
        if printed.last().is_some_and(&mut full) {
            break;
        }
        if printed.len().is_multiple_of(TURN) {
            budget::breathe().await;
        }
    }
    printed
}

#[cfg(test)]
mod tests {
    use super::part;

    /// The parts of ten steps, when it is late after so many looks at the clock.
    async fn check(looks: usize, expect: &[&[u32]]) {
        let (mut steps, mut parts) = ((0..10).peekable(), Vec::new());
        while steps.peek().is_some() {
            let mut looked = 0;
            let late = |_: &u32| {
                looked += 1;
                looked >= looks
            };
            parts.push(part(&mut steps, |step| step, late).await);
        }
        assert_eq!(parts, expect);
    }

    #[tokio::test]
    async fn steps_are_sent_as_soon_as_it_is_late() {
        check(20, &[&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]).await;
        check(4, &[&[0, 1, 2, 3], &[4, 5, 6, 7], &[8, 9]]).await;
        check(0, &[&[0], &[1], &[2], &[3], &[4], &[5], &[6], &[7], &[8], &[9]]).await;
    }
}
