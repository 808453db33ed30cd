//! Simulations: bounded runs of one revision, on threads of their own.
//!
//! A run is a function of the revision, the arguments, standard input and its bounds, so what is kept of one is the
//! request: its trace is found out again by running it again, as far as somebody looks. A run has a place from its first
//! step to its last batch, whoever waits for it, and ends with its bounds or with its caller.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lmlang_compiled::{Change, Compiler};
use lmlang_interp::{
    Cache, Control, Environment, LimitKind, NodesError, NodesTrace, OpenPort, Options, Outcome, Progress,
    Run, RunResult, StartError, Step, TraceLevel,
};
use lmlang_ir::{FuncRef, NodeRef, Value};
use lmlang_store::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, OnceCell};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::config::Limits;
use crate::engine::{Engine, OpenProgram};
use crate::error::{Error, joined};
use crate::interactive::Interactive;
use crate::kept::{Kept, request_bytes, result_bytes};
use crate::places::{Place, Places, Slices};
use crate::steps::within;
use crate::tiers::{self, Tier};
use crate::timeline::Revision;

/// What is run, and within what bounds.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// The function.
    pub function: FuncRef,
    /// Its arguments, of the types that it takes.
    pub args: Vec<Value>,
    /// The bounds that the caller wants.
    pub bounds: Bounds,
    /// What it is given besides arguments.
    pub environment: Environment,
    /// How much of the run is shown.
    pub trace: TraceLevel,
    /// How it is executed; `None` is as the engine sees fit.
    pub tier: Option<Tier>,
}

/// Bounds of a run; what is `None` is the server's default, what is above the server's bound is the bound.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// Nodes, and what bulk operators cost beyond.
    pub fuel: Option<u64>,
    /// Bytes of linear memory and value heap.
    pub memory_bytes: Option<u64>,
    /// Calls inside calls.
    pub call_depth: Option<u32>,
    /// Wall time.
    pub timeout: Option<Duration>,
    /// Bytes of standard output.
    pub output_bytes: Option<u64>,
    /// Bytes of steps that one stream of the trace shows, or one page of it.
    pub trace_bytes: Option<u64>,
}

impl Bounds {
    pub(crate) fn options(&self, limits: &Limits, environment: &Environment) -> Options {
        Options {
            limits: lmlang_interp::Limits {
                fuel: self.fuel.unwrap_or(limits.default_fuel).min(limits.max_fuel),
                memory_bytes: self.memory_bytes.unwrap_or(u64::MAX).min(limits.max_memory_bytes),
                call_depth: self.call_depth.unwrap_or(u32::MAX).min(limits.max_call_depth),
                output_bytes: self.output_bytes.unwrap_or(u64::MAX).min(limits.max_output_bytes),
            },
            environment: environment.clone(),
            ..Options::default()
        }
    }

    /// How much of a trace one stream or page shows.
    pub(crate) fn trace_bytes(&self, limits: &Limits) -> u64 {
        self.trace_bytes.unwrap_or(u64::MAX).min(limits.max_trace_bytes)
    }

    pub(crate) fn timeout(&self, limits: &Limits) -> Duration {
        self.timeout.unwrap_or(limits.default_timeout).min(limits.max_timeout)
    }
}

/// Nodes of one region to run by themselves.
#[derive(Clone, Debug)]
pub struct NodesRequest {
    /// The function that they are part of.
    pub function: FuncRef,
    /// The nodes; they run in the order of their region.
    pub nodes: Vec<NodeRef>,
    /// Values for what they take from elsewhere, and for holes.
    pub inputs: Vec<(OpenPort, Value)>,
    /// The bounds that the caller wants.
    pub bounds: Bounds,
    /// What it is given besides arguments.
    pub environment: Environment,
    /// Which steps to show.
    pub trace: NodesTrace,
}

/// What running single nodes gave.
#[derive(Clone, Debug)]
pub struct NodesRun {
    /// How it ended.
    pub report: Report,
    /// The steps, as many as were wanted.
    pub steps: Vec<Step>,
    /// Nodes that were executed by the first step that is not shown, or by the end.
    pub covered: u64,
}

/// A simulation that is running or was run lately.
#[derive(Debug)]
pub struct Simulation {
    /// Its id.
    pub id: Uuid,
    /// The program.
    pub open: OpenProgram,
    /// The revision that is run.
    pub revision: Arc<Revision>,
    /// What is run.
    pub request: RunRequest,
    /// When it was asked for last, in microseconds of UTC; its retention counts from here.
    asked: AtomicI64,
    result: Mutex<Option<Arc<Report>>>,
    /// Woken when it ends.
    ended: Notify,
    /// Cancelled by whoever wants its streams to end.
    cancelled: CancellationToken,
    /// Streams that run it.
    streams: AtomicUsize,
    /// The cursor behind the furthest step that a reader was given.
    position: AtomicU64,
    /// Microseconds that it was compiled.
    compiling: AtomicU64,
    /// What there is besides where somebody moves it.
    interactive: Option<Interactive>,
}

impl Simulation {
    pub(crate) fn new(
        id: Uuid,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        request: RunRequest,
        asked: Timestamp,
    ) -> Simulation {
        Simulation {
            id,
            open: open.clone(),
            revision: Arc::clone(revision),
            request,
            asked: AtomicI64::new(asked.0),
            result: Mutex::new(None),
            ended: Notify::new(),
            cancelled: CancellationToken::new(),
            streams: AtomicUsize::new(0),
            position: AtomicU64::new(0),
            compiling: AtomicU64::new(0),
            interactive: None,
        }
    }

    /// The same, to be moved by callers.
    pub(crate) fn interactively(self, interactive: Interactive) -> Simulation {
        Simulation { interactive: Some(interactive), ..self }
    }

    pub(crate) fn interactive(&self) -> Option<&Interactive> {
        self.interactive.as_ref()
    }

    /// When it was asked for last.
    pub(crate) fn asked(&self) -> Timestamp {
        Timestamp(self.asked.load(Ordering::Relaxed))
    }

    /// Asks for it again.
    pub(crate) fn ask(&self, at: Timestamp) {
        self.asked.fetch_max(at.0, Ordering::Relaxed);
    }

    /// How it ended; `None` before that, and while somebody has moved it back.
    pub fn report(&self) -> Option<Arc<Report>> {
        if let Some(interactive) = &self.interactive {
            return interactive.standing().report.clone();
        }
        self.result.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How far its readers have come: the cursor behind the furthest step that one of them was given. All executed nodes
    /// once it has ended. It never goes back. Of an interactive one: where it stands.
    pub fn position(&self) -> u64 {
        if let Some(interactive) = &self.interactive {
            return interactive.standing().position;
        }
        let read = || self.position.load(Ordering::Relaxed);
        self.report().map_or_else(read, |report| report.result.steps)
    }

    /// Notes that a reader was given the steps before a cursor.
    pub fn read_to(&self, cursor: u64) {
        self.position.fetch_max(cursor, Ordering::Relaxed);
    }

    /// Notes that compiling it took so long.
    pub(crate) fn was_compiled(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.compiling.fetch_add(micros, Ordering::Relaxed);
    }

    /// How long it was compiled.
    pub(crate) fn compiling(&self) -> Duration {
        Duration::from_micros(self.compiling.load(Ordering::Relaxed))
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        if let Some(interactive) = &self.interactive {
            return interactive.standing().status;
        }
        match self.report() {
            Some(report) => Status::of(&report.result.outcome),
            None if self.streams.load(Ordering::Relaxed) > 0 => Status::Running,
            None => Status::Paused,
        }
    }

    /// The fuel that its trace ends with, where that is known.
    pub(crate) fn fuel(&self) -> Option<u64> {
        match &self.interactive {
            Some(interactive) => Some(interactive.standing().fuel),
            None => self.report().map(|report| report.result.fuel_used),
        }
    }

    /// Bytes that it holds, about.
    pub(crate) fn bytes(&self) -> usize {
        request_bytes(&self.request) + self.report().map_or(0, |report| result_bytes(&report.result))
    }

    /// Keeps how it ended, unless it has ended before, and answers how it did.
    pub(crate) fn ended(&self, report: Arc<Report>) -> Arc<Report> {
        let report = {
            let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(result.get_or_insert(report))
        };
        self.ended.notify_waiters();
        report
    }

    /// Has the streams that run it come to an end, unless it has ended; tells whether there are any.
    pub(crate) fn cancel(&self) -> bool {
        if self.report().is_some() {
            return false;
        }
        self.cancelled.cancel();
        self.streams.load(Ordering::SeqCst) > 0
    }

    /// Whether somebody has cancelled it before it ended.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    /// What ends the streams that run it.
    pub(crate) fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// Waits for its end.
    pub(crate) async fn wait(&self) {
        let mut ended = pin!(self.ended.notified());
        // From here on no end is missed.
        ended.as_mut().enable();
        if self.report().is_none() {
            ended.await;
        }
    }

    /// Counts a stream that runs it, until what is returned is dropped.
    pub(crate) fn streaming(self: &Arc<Self>) -> Streaming {
        self.streams.fetch_add(1, Ordering::SeqCst);
        Streaming(Arc::clone(self))
    }
}

/// A stream that runs a simulation.
#[derive(Debug)]
pub(crate) struct Streaming(Arc<Simulation>);

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::SeqCst);
    }
}

/// How a simulation ended.
#[derive(Clone, Debug)]
pub struct Report {
    /// Outcome, steps, fuel, memory, output.
    pub result: RunResult,
    /// How long it ran, in all tiers that it ran in, and not how long it was compiled.
    pub elapsed: Duration,
    /// How long it was compiled; next to nothing where what was compiled before is kept.
    pub compiling: Duration,
    /// What executed it to where it ended.
    pub tier: Tier,
}

impl Report {
    /// What ended it before its own end, if anything did: the run itself would go on.
    pub(crate) fn cut(&self) -> Option<Cut> {
        match self.result.outcome {
            Outcome::LimitReached { limit: LimitKind::Time, .. } => Some(Cut::Time),
            Outcome::Cancelled { .. } => Some(Cut::Cancelled),
            _ => None,
        }
    }
}

/// What ends a run before its own end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Cut {
    /// The clock.
    Time,
    /// Somebody who has cancelled it.
    Cancelled,
}

type Beginning = HashMap<[u8; 32], Arc<OnceCell<Arc<Simulation>>>>;
type Recalls = HashMap<Uuid, Arc<OnceCell<Option<Arc<Simulation>>>>>;

/// What simulations share.
#[derive(Debug)]
pub(crate) struct Simulations {
    cache: Cache,
    pub(crate) compiler: Compiler,
    pub(crate) places: Places,
    kept: Mutex<Kept>,
    recalls: Mutex<Recalls>,
    beginning: Mutex<Beginning>,
    records: AtomicU64,
}

impl Simulations {
    pub(crate) fn new(limits: &Limits) -> Simulations {
        Simulations {
            cache: Cache::new(),
            compiler: Compiler::new(),
            places: Places::new(limits),
            kept: Mutex::default(),
            recalls: Mutex::default(),
            beginning: Mutex::default(),
            records: AtomicU64::new(0),
        }
    }

    /// What was decoded before.
    pub(crate) fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Simulations that were recorded before.
    pub(crate) fn count_record(&self) -> u64 {
        self.records.fetch_add(1, Ordering::Relaxed)
    }

    /// Those that are being brought back.
    pub(crate) fn recalls(&self) -> MutexGuard<'_, Recalls> {
        self.recalls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that begin, by the digests of their requests.
    pub(crate) fn beginning(&self) -> MutexGuard<'_, Beginning> {
        self.beginning.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells a run on another thread that nobody waits for it any more.
#[derive(Debug, Default)]
pub(crate) struct Abandoned(pub(crate) Arc<AtomicBool>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Engine {
    /// Runs a function to its end. Stops when the caller does not wait any more; the simulation lives as long as the
    /// caller holds it.
    pub async fn simulate(
        &self,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        request: RunRequest,
    ) -> Result<Arc<Simulation>, Error> {
        let mut place = self.place().await?;
        let simulation = self.begin(open, revision, request);
        let abandoned = Abandoned::default();
        let (engine, running, stop) = (self.clone(), Arc::clone(&simulation), Arc::clone(&abandoned.0));
        let run = tokio::task::spawn_blocking(move || {
            engine.can_run(&running, &mut place)?;
            let timeout = running.request.bounds.timeout(engine.limits());
            let mut stop = |_| stop.load(Ordering::Relaxed);
            let ended = engine.run_to_end(&running, &mut place, timeout, &mut stop);
            ended.map_err(|error| Error::bad_request(error.to_string()))
        });
        let report = joined(run.await)??;
        drop(abandoned);
        simulation.ended(Arc::new(report));
        Ok(simulation)
    }

    /// Runs some nodes by themselves, unless something is wrong with them. Stops when the caller does not wait any more;
    /// nothing is kept.
    pub async fn simulate_nodes(
        &self,
        revision: &Arc<Revision>,
        request: NodesRequest,
    ) -> Result<Result<NodesRun, NodesError>, Error> {
        let mut place = self.place().await?;
        let abandoned = Abandoned::default();
        let (engine, revision, stop) = (self.clone(), Arc::clone(revision), Arc::clone(&abandoned.0));
        let run = tokio::task::spawn_blocking(move || {
            place.take_turn();
            let NodesRequest { function, nodes, inputs, bounds, environment, trace } = request;
            let (options, timeout) =
                (bounds.options(engine.limits(), &environment), bounds.timeout(engine.limits()));
            let mut control = |_: &Run| {
                place.take_turn();
                engine.control(stop.load(Ordering::Relaxed), place.busy(), timeout)
            };
            let (checked, cache) = (&revision.checked, &engine.0.simulations.cache);
            let found = lmlang_interp::run_nodes(
                checked,
                function,
                &nodes,
                &inputs,
                &options,
                cache,
                trace,
                &mut control,
            );
            found.map(|found| {
                let (mut left, mut steps) = (bounds.trace_bytes(engine.limits()), Vec::new());
                let cut = within(found.steps, &mut left, &mut steps);
                let covered = cut.or(found.next).unwrap_or(u64::MAX).min(found.result.steps);
                let (elapsed, compiling) = (place.busy(), Duration::ZERO);
                let result = tiers::within(timeout, found.result);
                let report = Report { result, elapsed, compiling, tier: Tier::Interpreter };
                NodesRun { report, steps, covered }
            })
        });
        let found = joined(run.await)?;
        drop(abandoned);
        Ok(found)
    }

    /// Whether a run goes on after a slice.
    fn control(&self, stop: bool, busy: Duration, timeout: Duration) -> Control {
        if stop || self.closing().is_cancelled() {
            Control::Cancel
        } else if busy >= timeout {
            Control::TimeOut
        } else {
            Control::Continue
        }
    }

    pub(crate) fn begin(
        &self,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        request: RunRequest,
    ) -> Arc<Simulation> {
        let simulation = Simulation::new(self.0.clock.id(), open, revision, request, self.0.clock.now());
        Arc::new(simulation)
    }

    pub(crate) fn start(&self, simulation: &Simulation) -> Result<Run, StartError> {
        let RunRequest { function, args, bounds, environment, trace: _, tier: _ } = &simulation.request;
        let options = bounds.options(self.limits(), environment);
        Run::new(&simulation.revision.checked, *function, args, &options, &self.0.simulations.cache)
    }

    pub(crate) fn run_to_end(
        &self,
        simulation: &Simulation,
        place: &mut Place,
        timeout: Duration,
        stop: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Report, StartError> {
        let mut before = place.busy();
        let mut run = self.start(simulation)?;
        let mut change = Change::of(&run, simulation.request.tier);
        let mut slices = Slices::new();
        loop {
            place.take_turn();
            if change.is_due(&run) {
                let since = place.busy();
                let unit = change.compile(&self.0.simulations.compiler, &run);
                // That is no time of the run: it would be less when the same is run again.
                let compiling = place.busy() - since;
                before += compiling;
                simulation.was_compiled(compiling);
                let result = unit.ok().and_then(|unit| {
                    self.run_compiled(&unit, (&run, change.start()), &mut |steps| {
                        place.take_turn();
                        self.control(stop(steps), place.busy() - before, timeout)
                    })
                });
                if let Some(result) = result {
                    let (elapsed, compiling) = (place.busy() - before, simulation.compiling());
                    let result = tiers::within(timeout, result);
                    return Ok(Report { result, elapsed, compiling, tier: Tier::Compiled });
                }
            }
            let start = Instant::now();
            if run.resume(slices.next()) == Progress::Done {
                // What is too large for the interpreter may be compiled.
                if change.is_due(&run) {
                    continue;
                }
                break;
            }
            slices.took(start.elapsed());
            match self.control(stop(run.steps()), place.busy() - before, timeout) {
                Control::Continue => {}
                Control::Cancel => run.cancel(),
                Control::TimeOut => run.time_out(),
            }
        }
        let (result, compiling) = (tiers::within(timeout, run.into_result()), simulation.compiling());
        Ok(Report { result, elapsed: place.busy() - before, compiling, tier: Tier::Interpreter })
    }
}

/// The status that an outcome stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It stands before its first step.
    Ready,
    /// It runs.
    Running,
    /// It has not ended, and nobody reads it: a reader who comes back goes on. An interactive one stands still.
    Paused,
    /// It returned.
    Completed,
    /// It trapped.
    Trapped,
    /// A contract did not hold.
    ContractViolated,
    /// A bound was met.
    LimitReached,
    /// It came to something that is not there yet, or not verified.
    ReachedHole,
    /// It was ended from outside.
    Cancelled,
}

impl Status {
    /// The status after an outcome.
    pub fn of(outcome: &Outcome) -> Status {
        match outcome {
            Outcome::Returned { .. } => Status::Completed,
            Outcome::Trapped { .. } => Status::Trapped,
            Outcome::ContractViolated { .. } => Status::ContractViolated,
            Outcome::LimitReached { .. } => Status::LimitReached,
            Outcome::ReachedHole { .. } | Outcome::NotVerified { .. } => Status::ReachedHole,
            Outcome::Cancelled { .. } => Status::Cancelled,
        }
    }
}
