//! Streams of a trace: a run that sends its steps in batches while somebody reads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lmlang_interp::{Control, Outcome, StartError, Step, Trace, TraceLevel};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_util::sync::CancellationToken;

use crate::engine::{Engine, OpenProgram};
use crate::error::{Error, joined};
use crate::simulate::{PAGE, Report, RunRequest, Simulation, timed_out};
use crate::timeline::Revision;

/// Part of a trace as it streams.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// The number of the step after these.
    pub cursor: u64,
    /// Steps from there on that are left out, since the bound of trace bytes was met; in the last batch.
    pub skipped: u64,
    /// How the run ended, in the last batch. A stream without it was cut short: the run goes on for the next reader.
    pub report: Option<Arc<Report>>,
}

/// How a trace is cut into batches.
#[derive(Clone, Copy, Debug)]
pub struct Batching {
    /// Steps in one batch at most.
    pub steps: usize,
    /// How long a step may wait for others.
    pub latency: Duration,
}

/// Batches that wait for a slow reader before the run waits.
const BATCHES: usize = 4;

impl Engine {
    /// Runs a function and streams its trace; the last batch says how it ended. Pauses when the receiver is dropped, and
    /// ends at the bound of time, whether the run or the reader took it.
    pub async fn stream(
        &self,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        request: RunRequest,
        batching: Batching,
    ) -> Result<(Arc<Simulation>, mpsc::Receiver<Batch>), Error> {
        let slot = self.slot().await?;
        let simulation = self.begin(open, revision, request);
        // Wrong arguments are an error of the request, not the end of a stream.
        let checked = Arc::clone(&simulation);
        let engine = self.clone();
        let start = tokio::task::spawn_blocking(move || engine.start(&checked).map(drop));
        joined(start.await)?.map_err(|error| Error::bad_request(error.to_string()))?;
        // Its id is given out: it is stored before anyone sees it.
        self.record(&simulation).await?;
        self.0.simulations.kept().keep(&simulation, self.oldest_kept());
        let batches = self.pump(&simulation, 0, batching, slot);
        Ok((simulation, batches))
    }

    /// Streams the trace of a simulation again, from a step on.
    pub async fn stream_again(
        &self,
        simulation: &Arc<Simulation>,
        from: u64,
        batching: Batching,
    ) -> Result<mpsc::Receiver<Batch>, Error> {
        let slot = self.slot().await?;
        Ok(self.pump(simulation, from, batching, slot))
    }

    /// Streams a trace from a thread of its own.
    fn pump(
        &self,
        simulation: &Arc<Simulation>,
        from: u64,
        batching: Batching,
        slot: OwnedSemaphorePermit,
    ) -> mpsc::Receiver<Batch> {
        let (sender, receiver) = mpsc::channel(BATCHES);
        let (engine, simulation) = (self.clone(), Arc::clone(simulation));
        let runtime = Handle::current();
        tokio::task::spawn_blocking(move || {
            let deadline = Instant::now() + simulation.request.bounds.timeout(engine.limits());
            let reader = Reader { sender, runtime, deadline, closing: engine.closing().clone() };
            let streaming = simulation.streaming();
            if let Err(error) = engine.run_for(reader, &simulation, from, batching) {
                tracing::error!(simulation = %simulation.id, %error, "a simulation could not be run again");
            }
            drop((streaming, slot));
        });
        receiver
    }

    fn run_for(
        &self,
        reader: Reader,
        simulation: &Arc<Simulation>,
        from: u64,
        batching: Batching,
    ) -> Result<(), StartError> {
        let start = Instant::now();
        let known = simulation.report();
        let run = self.start(simulation)?;
        let fuel = known.as_ref().map(|report| report.result.fuel_used);
        let level = simulation.request.trace;
        let mut shown = Shown { cursor: from, ended: Control::Continue, cut: false };
        let mut spent = 0;
        if level != TraceLevel::None
            && let Some(mut trace) = Trace::of(&run, level, fuel)
        {
            shown = self.show(&reader, simulation, &mut trace, from, batching);
            spent = trace.run().steps();
        }
        let report = match (known, shown.ended) {
            (Some(report), _) => Some(report),
            (None, Control::Continue) => Some(self.run_to_end(simulation, &|| reader.sender.is_closed())?)
                .filter(|report| !matches!(report.result.outcome, Outcome::Cancelled { .. }))
                .map(|report| self.conclude(simulation, report)),
            (None, Control::TimeOut) => {
                timed_out(run, spent, start.elapsed(), &|| self.closing().is_cancelled())
                    .map(|report| self.conclude(simulation, report))
            }
            // It waits for the next reader.
            (None, Control::Cancel) => None,
        };
        if let Some(report) = report {
            let skipped = if shown.cut { report.result.steps.saturating_sub(shown.cursor) } else { 0 };
            let last = Batch { steps: Vec::new(), cursor: shown.cursor, skipped, report: Some(report) };
            reader.give_last(last);
        }
        Ok(())
    }

    /// Keeps how a simulation ended.
    fn conclude(&self, simulation: &Arc<Simulation>, report: Report) -> Arc<Report> {
        let report = simulation.ended(Arc::new(report));
        self.0.simulations.kept().weigh(simulation.id);
        let (engine, simulation) = (self.clone(), Arc::clone(simulation));
        self.spawn_to_end(async move {
            // Without it, the next reader after a restart runs it to its end again.
            if let Err(error) = engine.record(&simulation).await {
                tracing::warn!(simulation = %simulation.id, %error, "the end of a simulation was not stored");
            }
        });
        report
    }

    /// Sends the steps of a trace, as long as somebody reads and no bound is met.
    fn show(
        &self,
        reader: &Reader,
        simulation: &Simulation,
        trace: &mut Trace,
        from: u64,
        batching: Batching,
    ) -> Shown {
        let mut left = simulation.request.bounds.trace_bytes(self.limits());
        let mut shown = Shown { cursor: from, ended: Control::Continue, cut: false };
        let mut steps = Vec::new();
        let mut oldest = Instant::now();
        trace.seek(from, &|| reader.waits() != Control::Continue);
        shown.ended = reader.waits();
        while shown.ended == Control::Continue {
            let page = trace.page(shown.cursor, batching.steps - steps.len(), PAGE);
            if steps.is_empty() {
                oldest = Instant::now();
            }
            shown.cursor = page.next.unwrap_or_else(|| trace.run().steps());
            for step in page.steps {
                let Some(rest) = left.checked_sub(step.size() as u64) else {
                    (shown.cursor, shown.cut) = (step.seq, true);
                    break;
                };
                left = rest;
                steps.push(step);
            }
            let last = page.next.is_none() || shown.cut;
            let full = steps.len() >= batching.steps || oldest.elapsed() >= batching.latency;
            if (full || last) && !steps.is_empty() {
                let steps = std::mem::take(&mut steps);
                shown.ended = reader.give(Batch { steps, cursor: shown.cursor, skipped: 0, report: None });
            } else {
                shown.ended = reader.waits();
            }
            if last {
                break;
            }
        }
        shown
    }
}

/// How far a trace was shown.
struct Shown {
    /// The number of the step after those.
    cursor: u64,
    /// Why it went no further, if not for the bound of bytes.
    ended: Control,
    /// Whether that bound was met.
    cut: bool,
}

/// Who reads a stream, and until when.
struct Reader {
    sender: mpsc::Sender<Batch>,
    runtime: Handle,
    deadline: Instant,
    closing: CancellationToken,
}

/// How long the last batch waits for a reader whose time is up.
const GRACE: Duration = Duration::from_secs(5);

impl Reader {
    /// Whether the run goes on.
    fn waits(&self) -> Control {
        if self.sender.is_closed() || self.closing.is_cancelled() {
            Control::Cancel
        } else if Instant::now() >= self.deadline {
            Control::TimeOut
        } else {
            Control::Continue
        }
    }

    /// Hands a batch over. A reader that does not take it uses up the time of the run.
    fn give(&self, batch: Batch) -> Control {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.runtime.block_on(async {
            match tokio::time::timeout(left, self.sender.send(batch)).await {
                Ok(Ok(())) => self.waits(),
                Ok(Err(_)) => Control::Cancel,
                Err(_) => Control::TimeOut,
            }
        })
    }

    /// Hands the last batch over, unless nobody takes it. The run is over: neither its slot nor its thread waits.
    fn give_last(self, batch: Batch) {
        let left = self.deadline.saturating_duration_since(Instant::now()).max(GRACE);
        let Reader { sender, runtime, .. } = self;
        runtime.spawn(async move {
            // An error means that the reader has gone.
            tokio::time::timeout(left, sender.send(batch)).await.ok();
        });
    }
}
