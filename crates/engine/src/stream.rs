//! Streams of a trace: a run that sends its steps in batches while somebody reads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lmlang_interp::{Outcome, StartError, Step, Trace, TraceLevel};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio_util::sync::CancellationToken;

use crate::engine::{Engine, OpenProgram};
use crate::error::{Error, joined};
use crate::places::Place;
use crate::simulate::{Report, RunRequest, Simulation, Status};
use crate::steps::PAGE;
use crate::tiers::Tier;
use crate::timeline::Revision;

/// Part of a trace as it streams.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The steps in order; none, when the run goes on without any to show.
    pub steps: Vec<Step>,
    /// The number of the step after these.
    pub cursor: u64,
    /// Steps from there on that are left out, since a bound of trace bytes or time was met: those so far, in the last
    /// batch all.
    pub skipped: u64,
    /// How the run stands.
    pub status: Status,
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
    /// After how long without a batch the stream says that the run goes on.
    pub pulse: Duration,
}

/// Batches that wait for a slow reader before the run waits.
const BATCHES: usize = 4;

/// Steps that are asked for before the clock is looked at.
const STEPS: usize = 256;

impl Engine {
    /// Runs a function and streams its trace; the last batch says how it ended. Pauses when the receiver is dropped or
    /// takes nothing for a while, and for good when the program is deleted.
    pub async fn stream(
        &self,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        request: RunRequest,
        batching: Batching,
    ) -> Result<(Arc<Simulation>, mpsc::Receiver<Batch>), Error> {
        let mut place = self.stream_place().await?;
        let simulation = self.begin(open, revision, request);
        // Wrong arguments are an error of the request, not the end of a stream.
        let asked = Arc::clone(&simulation);
        let engine = self.clone();
        let start = tokio::task::spawn_blocking(move || {
            engine.start(&asked).map_err(|error| Error::bad_request(error.to_string()))?;
            engine.can_run(&asked, &mut place)?;
            place.rest();
            Ok::<_, Error>(place)
        });
        let place = joined(start.await)??;
        // Its id is given out: it is stored before anyone sees it.
        let simulation = self.record_once(simulation).await?;
        let batches = self.pump(&simulation, 0, batching, place);
        Ok((simulation, batches))
    }

    /// Streams the trace of a simulation again, from a step on.
    pub async fn stream_again(
        &self,
        simulation: &Arc<Simulation>,
        from: u64,
        batching: Batching,
    ) -> Result<mpsc::Receiver<Batch>, Error> {
        let place = self.stream_place().await?;
        Ok(self.pump(simulation, from, batching, place))
    }

    /// Cancels a simulation that streams, for all who read it: it ends where it is, or where its readers had come if none
    /// reads it. One that has ended stays as it ended.
    pub(crate) async fn cancel_stream(&self, simulation: &Arc<Simulation>) -> Result<(), Error> {
        simulation.ask(self.0.clock.now());
        if simulation.cancel() {
            // Those that run it say where it ends.
            tokio::time::timeout(self.limits().control_wait, simulation.wait()).await.ok();
        }
        if simulation.report().is_some() {
            return Ok(());
        }
        let mut place = self.place().await?;
        let (engine, simulation) = (self.clone(), Arc::clone(simulation));
        let ended = tokio::task::spawn_blocking(move || {
            let steps = simulation.position();
            let report = engine.cancelled_at(&simulation, steps, &mut place);
            let report = report.map_err(|error| Error::bad_request(error.to_string()))?;
            if engine.closing().is_cancelled() {
                return Err(Error::Closed);
            }
            engine.conclude(&simulation, report);
            Ok(())
        });
        joined(ended.await)?
    }

    /// How a run ends that is cancelled after so many steps.
    fn cancelled_at(
        &self,
        simulation: &Simulation,
        steps: u64,
        place: &mut Place,
    ) -> Result<Report, StartError> {
        let since = place.busy();
        let mut run = self.start(simulation)?;
        run.go_to(steps, &mut || {
            place.take_turn();
            self.closing().is_cancelled()
        });
        run.cancel();
        let (result, elapsed) = (run.into_result(), place.busy().saturating_sub(since));
        Ok(Report { result, elapsed, compiling: Duration::ZERO, tier: Tier::Interpreter })
    }

    /// Streams a trace from a thread of its own.
    fn pump(
        &self,
        simulation: &Arc<Simulation>,
        from: u64,
        batching: Batching,
        place: Place,
    ) -> mpsc::Receiver<Batch> {
        let (sender, receiver) = mpsc::channel(BATCHES);
        let (engine, simulation) = (self.clone(), Arc::clone(simulation));
        let reader = Reader::new(self, sender, place, batching.pulse);
        self.spawn_blocking_to_end(move || {
            let streaming = simulation.streaming();
            if let Err(error) = engine.run_for(reader, &simulation, from, batching) {
                tracing::error!(simulation = %simulation.id, %error, "a simulation could not be run again");
            }
            drop(streaming);
        });
        receiver
    }

    fn run_for(
        &self,
        mut reader: Reader,
        simulation: &Arc<Simulation>,
        from: u64,
        batching: Batching,
    ) -> Result<(), StartError> {
        let known = simulation.report();
        // The trace of what has ended is shown however it did.
        if known.is_none() {
            reader.cancelled = simulation.cancelled().clone();
        }
        let fuel = known.as_ref().map(|report| report.result.fuel_used);
        let level = simulation.request.trace;
        let gone = simulation.open.timeline.gone();
        reader.gone = gone.clone();
        let mut shown = Shown { cursor: from, end: End::All };
        if level != TraceLevel::None
            && let Some(mut trace) = Trace::of(&self.start(simulation)?, level, fuel)
        {
            shown = self.show(&mut reader, simulation, &mut trace, from, batching);
        }
        let report = match (known, shown.end) {
            (None, End::Left) if simulation.is_cancelled() => {
                let report = self.cancelled_at(simulation, shown.cursor, &mut reader.place)?;
                self.conclude(simulation, report)
            }
            (_, End::Left) => {
                self.pause(simulation);
                return Ok(());
            }
            (Some(report), End::All | End::Bound) => report,
            (None, End::All | End::Bound) => {
                let Reader { sender, place, pulse, .. } = &mut reader;
                let mut left = |steps: u64| {
                    pulse.beat(sender, || shown.silent(steps));
                    sender.is_closed() || simulation.is_cancelled() || gone.is_cancelled()
                };
                let timeout = simulation.request.bounds.timeout(self.limits());
                let report = self.run_to_end(simulation, place, timeout, &mut left)?;
                if matches!(report.result.outcome, Outcome::Cancelled { .. }) && !simulation.is_cancelled() {
                    self.pause(simulation);
                    return Ok(());
                }
                self.conclude(simulation, report)
            }
        };
        let status = Status::of(&report.result.outcome);
        let last = shown.silent(report.result.steps);
        reader.give_last(Batch { report: Some(report), status, ..last });
        Ok(())
    }

    /// Keeps how a simulation ended.
    fn conclude(&self, simulation: &Arc<Simulation>, report: Report) -> Arc<Report> {
        let report = simulation.ended(Arc::new(report));
        self.0.simulations.kept().weigh(simulation.id);
        self.record_later(simulation);
        report
    }

    /// Leaves a simulation to its next reader, unless it has ended or nobody finds it any more.
    fn pause(&self, simulation: &Arc<Simulation>) {
        if simulation.report().is_none() && !simulation.open.timeline.gone().is_cancelled() {
            self.record_later(simulation);
        }
    }

    /// Stores how far a simulation has come.
    fn record_later(&self, simulation: &Arc<Simulation>) {
        let (engine, simulation) = (self.clone(), Arc::clone(simulation));
        self.spawn_to_end(async move {
            // Without it, the next reader after a restart finds it as it was stored before.
            if let Err(error) = engine.record(&simulation).await {
                tracing::warn!(simulation = %simulation.id, %error, "how far a simulation has come was not stored");
            }
        });
    }

    /// Sends the steps of a trace, as long as somebody reads and no bound of bytes or time is met.
    pub(crate) fn show(
        &self,
        reader: &mut Reader,
        simulation: &Simulation,
        trace: &mut Trace,
        from: u64,
        batching: Batching,
    ) -> Shown {
        let bounds = &simulation.request.bounds;
        let (mut left, time) = (bounds.trace_bytes(self.limits()), bounds.timeout(self.limits()));
        let mut shown = Shown { cursor: from, end: End::All };
        let mut steps = Vec::new();
        let mut oldest = Instant::now();
        trace.seek(from, &mut || {
            reader.place.take_turn();
            reader.beat(&shown, from);
            reader.has_gone() || reader.place.busy() >= time
        });
        loop {
            reader.place.take_turn();
            if reader.has_gone() {
                return Shown { end: End::Left, ..shown };
            }
            if shown.end == End::All && reader.place.busy() >= time {
                shown.end = End::Bound;
            }
            let mut last = shown.end == End::Bound;
            if !last {
                let page = trace.page(shown.cursor, STEPS.min(batching.steps - steps.len()), PAGE);
                if steps.is_empty() {
                    oldest = Instant::now();
                }
                shown.cursor = page.next.unwrap_or_else(|| trace.run().steps());
                for step in page.steps {
                    let Some(rest) = left.checked_sub(step.size() as u64) else {
                        shown = Shown { cursor: step.seq, end: End::Bound };
                        break;
                    };
                    left = rest;
                    steps.push(step);
                }
                last = page.next.is_none() || shown.end == End::Bound;
            }
            let full = steps.len() >= batching.steps || oldest.elapsed() >= batching.latency;
            if (full || last) && !steps.is_empty() {
                let steps = std::mem::take(&mut steps);
                let silent = Shown { end: End::All, ..shown }.silent(0);
                if !reader.give(Batch { steps, ..silent }) {
                    return Shown { end: End::Left, ..shown };
                }
            }
            if last {
                // Its end can be long in coming.
                let told = shown.end == End::All
                    || simulation.report().is_some()
                    || reader.give(shown.silent(trace.run().steps()));
                return if told { shown } else { Shown { end: End::Left, ..shown } };
            }
            if steps.is_empty() {
                reader.beat(&shown, shown.cursor);
            }
        }
    }
}

/// How far a trace was shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    /// The number of the step after those.
    pub(crate) cursor: u64,
    /// Why it went no further.
    pub(crate) end: End,
}

impl Shown {
    /// What is told of a run that has executed so many nodes, when no step is shown.
    fn silent(&self, executed: u64) -> Batch {
        let skipped = match self.end {
            End::Bound => executed.saturating_sub(self.cursor),
            End::All | End::Left => 0,
        };
        Batch { steps: Vec::new(), cursor: self.cursor, skipped, status: Status::Running, report: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// There is no more.
    All,
    /// A bound of bytes or of time was met.
    Bound,
    /// The reader has gone, or takes nothing, or the run is cancelled.
    Left,
}

/// Who reads a stream, and the place of the run meanwhile.
pub(crate) struct Reader {
    sender: mpsc::Sender<Batch>,
    place: Place,
    runtime: Handle,
    closing: CancellationToken,
    /// Ends what it reads before its time.
    cancelled: CancellationToken,
    /// Cancelled when the program of what it reads is deleted.
    gone: CancellationToken,
    pulse: Pulse,
}

/// When a stream was last heard of.
struct Pulse {
    every: Duration,
    last: Instant,
}

impl Pulse {
    /// Says that the run goes on, if nothing has been said for a while; not to a reader who has enough to read.
    fn beat(&mut self, sender: &mpsc::Sender<Batch>, batch: impl FnOnce() -> Batch) {
        if self.last.elapsed() >= self.every {
            self.last = Instant::now();
            // An error means that the reader is busy, or gone.
            sender.try_send(batch()).ok();
        }
    }
}

/// How long a batch waits for a reader who does not take it.
const PATIENCE: Duration = Duration::from_secs(10);

impl Reader {
    pub(crate) fn new(engine: &Engine, sender: mpsc::Sender<Batch>, place: Place, pulse: Duration) -> Reader {
        let pulse = Pulse { every: pulse, last: Instant::now() };
        let (runtime, closing) = (Handle::current(), engine.closing().clone());
        let (cancelled, gone) = (CancellationToken::new(), CancellationToken::new());
        Reader { sender, place, runtime, closing, cancelled, gone, pulse }
    }

    fn has_gone(&self) -> bool {
        let over = [&self.closing, &self.cancelled, &self.gone];
        self.sender.is_closed() || over.into_iter().any(CancellationToken::is_cancelled)
    }

    /// Says that the run goes on, if nothing has been said for a while.
    fn beat(&mut self, shown: &Shown, executed: u64) {
        self.pulse.beat(&self.sender, || shown.silent(executed));
    }

    /// Hands a batch over; others run while the reader is waited for. Tells whether it was taken.
    fn give(&mut self, batch: Batch) -> bool {
        self.pulse.last = Instant::now();
        let batch = match self.sender.try_send(batch) {
            Ok(()) => return true,
            Err(TrySendError::Closed(_)) => return false,
            Err(TrySendError::Full(batch)) => batch,
        };
        self.place.rest();
        let Reader { sender, runtime, closing, cancelled, gone, .. } = self;
        runtime.block_on(async {
            tokio::select! {
                sent = tokio::time::timeout(PATIENCE, sender.send(batch)) => matches!(sent, Ok(Ok(()))),
                () = closing.cancelled() => false,
                () = cancelled.cancelled() => false,
                () = gone.cancelled() => false,
            }
        })
    }

    /// Hands the last batch over, unless nobody takes it. The run is over: neither its place nor its thread waits.
    fn give_last(self, batch: Batch) {
        let Reader { sender, runtime, .. } = self;
        runtime.spawn(async move {
            // An error means that the reader has gone.
            tokio::time::timeout(PATIENCE, sender.send(batch)).await.ok();
        });
    }
}
