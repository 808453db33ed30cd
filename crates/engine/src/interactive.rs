//! Interactive simulations: runs that stand still where somebody wants to look, and go on and back as they are told.
//!
//! One caller at a time moves a run, any number watch it. What is stored is where it stands, with its breakpoints: the rest
//! follows from running again. The run itself is kept in memory while it is in use, and made again when it is needed.

mod halt_reason;
mod held;
mod inspecting;
mod spots;
mod stops;
mod watching;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lmlang_interp::{
    BreakpointError, Debugger, Location, Outcome, RunResult, SourceValue, Stopped, VariableValue,
};
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedMutexGuard, watch};
use uuid::Uuid;

pub use halt_reason::HaltReason;
pub use held::HeldRuns;
pub use spots::BreakpointText;

use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::interactive::stops::Stops;
use crate::places::Place;
use crate::request::Call;
use crate::simulate::{Report, RunRequest, Simulation, Status};
use crate::tiers::{self, Tier};
use crate::timeline::Revision;

/// Breakpoints of one simulation at most.
pub(crate) const MOST_BREAKPOINTS: usize = 64;

/// Keys of actions that are remembered.
const KEYS: usize = 32;

/// Where an interactive simulation stands.
#[derive(Clone, Debug)]
pub struct InteractiveState {
    /// How it stands.
    pub status: Status,
    /// Executed nodes: the number of the step that comes next.
    pub position: u64,
    /// The calls, the outermost first.
    pub stack: Vec<Location>,
    /// Values that are alive in the innermost call.
    pub values: Vec<SourceValue>,
    /// The variables of the innermost call.
    pub variables: Vec<VariableValue>,
    /// What was printed so far.
    pub stdout: Arc<[u8]>,
    /// The places where it stops.
    pub breakpoints: Vec<BreakpointState>,
    /// Why it stands there; nothing before it has been moved.
    pub halt: Option<HaltReason>,
    /// How it ended, while it stands at its end.
    pub report: Option<Arc<Report>>,
    /// Fuel that was used.
    pub(crate) fuel: u64,
}

/// A place to stop at, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakpointState {
    /// Where, and when.
    pub text: BreakpointText,
    /// How often it was met on the way forward since it was set.
    pub hits: u64,
    /// Why its condition could not be told when it was last met.
    pub trouble: Option<String>,
}

/// What is to be done with an interactive simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// So many nodes forward.
    Step(u64),
    /// Past the next node with what it calls or owns, so many times.
    StepOver(u64),
    /// Out of the innermost call, so many times.
    StepOut(u64),
    /// To the next breakpoint, or to the end.
    Run,
    /// Stop at once.
    Pause,
    /// To a step.
    Seek(u64),
    /// So many nodes back.
    StepBack(u64),
    /// Back to where a breakpoint was met last, or to the start.
    RunBack,
    /// The end: nothing can be done with it after.
    Cancel,
    /// Other breakpoints.
    SetBreakpoints(Vec<BreakpointText>),
}

/// What is begun.
#[derive(Clone, Debug)]
pub struct InteractiveRequest {
    /// The run.
    pub run: RunRequest,
    /// Where it stops.
    pub breakpoints: Vec<BreakpointText>,
    /// Whether it stands before its first step, instead of running to the first breakpoint.
    pub pause_at_start: bool,
}

/// What makes a simulation interactive.
#[derive(Debug)]
pub(crate) struct Interactive {
    standing: watch::Sender<Arc<InteractiveState>>,
    /// Held by whoever moves it, from the decision to the end of the move.
    moving: Arc<tokio::sync::Mutex<()>>,
    /// The run, for who moves it or looks at it. Taken behind `moving` and a place.
    hand: Arc<tokio::sync::Mutex<Option<Debugger>>>,
    stops: Stops,
    /// Actions so far.
    moves: AtomicU64,
    /// The digest of the request that began it, if that had a key.
    begun: Option<Vec<u8>>,
    keys: Mutex<VecDeque<Key>>,
}

/// The key of an action that was taken, and the digest of its request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Key {
    key: [u8; 16],
    digest: Vec<u8>,
}

/// What is stored of it beside the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InteractiveRecord {
    position: u64,
    moves: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cancelled: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    breakpoints: Vec<(BreakpointText, u64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    halt: Option<HaltReason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    begun: Option<Vec<u8>>,
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    keys: VecDeque<Key>,
}

impl InteractiveState {
    /// The breakpoint that it stands at, by its position among them.
    pub fn stopped_at(&self) -> Option<usize> {
        match self.halt {
            Some(HaltReason::Breakpoint(at)) => Some(at),
            Some(HaltReason::Arrived | HaltReason::End | HaltReason::Paused | HaltReason::Late { .. })
            | None => None,
        }
    }

    /// The same, ended where it stands.
    fn cancelled(&self) -> InteractiveState {
        let place = lmlang_interp::Place { stack: self.stack.clone(), values: self.values.clone() };
        let result = tiers::result(Outcome::Cancelled { place }, self.position, self.fuel, 0);
        let result = RunResult { stdout: self.stdout.to_vec(), ..result };
        let (elapsed, compiling, tier) = (Duration::ZERO, Duration::ZERO, Tier::Interpreter);
        let report = Some(Arc::new(Report { result, elapsed, compiling, tier }));
        InteractiveState { status: Status::Cancelled, halt: Some(HaltReason::End), report, ..self.clone() }
    }

    /// What is known of it without the run.
    fn of(record: &InteractiveRecord) -> InteractiveState {
        let state = |(text, hits): &(BreakpointText, u64)| BreakpointState {
            text: text.clone(),
            hits: *hits,
            trouble: None,
        };
        InteractiveState {
            status: if record.cancelled { Status::Cancelled } else { Status::Paused },
            position: record.position,
            stack: Vec::new(),
            values: Vec::new(),
            variables: Vec::new(),
            stdout: Arc::from([]),
            breakpoints: record.breakpoints.iter().map(state).collect(),
            halt: record.halt,
            report: None,
            fuel: 0,
        }
    }
}

impl Interactive {
    fn new(breakpoints: Vec<BreakpointText>, begun: Option<Vec<u8>>) -> Interactive {
        let record = InteractiveRecord {
            position: 0,
            moves: 0,
            cancelled: false,
            breakpoints: breakpoints.into_iter().map(|text| (text, 0)).collect(),
            halt: None,
            begun,
            keys: VecDeque::new(),
        };
        Interactive::of(record)
    }

    /// As it was stored; where it stands is not looked at yet.
    pub(crate) fn of(record: InteractiveRecord) -> Interactive {
        Interactive {
            standing: watch::Sender::new(Arc::new(InteractiveState::of(&record))),
            moving: Arc::default(),
            hand: Arc::default(),
            stops: Stops::default(),
            moves: record.moves.into(),
            begun: record.begun,
            keys: Mutex::new(record.keys),
        }
    }

    /// Stands where another process has moved it; the run is made again when it is needed.
    fn take_over(&self, record: InteractiveRecord) {
        self.stand(InteractiveState::of(&record));
        self.moves.store(record.moves, Ordering::Relaxed);
        *self.keys() = record.keys;
    }

    pub(crate) fn record(&self) -> InteractiveRecord {
        let standing = self.standing();
        InteractiveRecord {
            position: standing.position,
            moves: self.moves.load(Ordering::Relaxed),
            cancelled: standing.status == Status::Cancelled,
            breakpoints: standing.breakpoints.iter().map(|state| (state.text.clone(), state.hits)).collect(),
            halt: standing.halt,
            begun: self.begun.clone(),
            keys: self.keys().clone(),
        }
    }

    /// Where it stands, or stood before somebody moved it.
    pub(crate) fn standing(&self) -> Arc<InteractiveState> {
        Arc::clone(&self.standing.borrow())
    }

    fn keys(&self) -> std::sync::MutexGuard<'_, VecDeque<Key>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody else moves it.
    pub(crate) async fn moving(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.moving).lock_owned().await
    }

    /// Whether what is asked for has been done already.
    fn knows(&self, call: &Call) -> Result<bool, Error> {
        let Some(given) = &call.idempotency else { return Ok(false) };
        let key = short(&[&given.key]);
        match self.keys().iter().find(|known| known.key == key) {
            Some(known) if known.digest == given.digest => Ok(true),
            Some(_) => Err(Error::IdempotencyMismatch),
            None => Ok(false),
        }
    }

    /// Whether somebody moves or watches it.
    pub(crate) fn is_in_use(&self) -> bool {
        self.standing.receiver_count() > 0 || self.moving.try_lock().is_err() || self.hand.try_lock().is_err()
    }

    fn stand(&self, standing: InteractiveState) {
        self.standing.send_replace(Arc::new(standing));
    }
}

impl Engine {
    /// Begins an interactive simulation. The same key and request begin the same one once.
    ///
    /// Answers when it stands still, or after `controlWaitMs`.
    pub async fn start_interactive(
        &self,
        open: &OpenProgram,
        revision: &Arc<Revision>,
        request: InteractiveRequest,
        call: &Call,
    ) -> Result<Arc<Simulation>, Error> {
        bounded(&request.breakpoints)?;
        let id = match &call.idempotency {
            Some(given) => Uuid::from_bytes(short(&[open.timeline.id().as_bytes(), &given.key])),
            None => self.0.clock.id(),
        };
        let digest = call.idempotency.as_ref().map(|given| given.digest.to_vec());
        if digest.is_some()
            && let Some(begun) = self.simulation(id).await?
        {
            let same = begun.interactive().is_some_and(|of| of.begun == digest);
            return if same { Ok(begun) } else { Err(Error::IdempotencyMismatch) };
        }
        let InteractiveRequest { run, breakpoints, pause_at_start } = request;
        let interactive = Interactive::new(breakpoints, digest.clone());
        let now = self.0.clock.now();
        let begun = Arc::new(Simulation::new(id, open, revision, run, now).interactively(interactive));
        let of = begun.interactive().ok_or(Error::Closed)?;
        // Held before anybody can find it.
        let moving = of.moving().await;
        let simulation = self.0.simulations.kept().keep(&begun, self.oldest_kept());
        if !Arc::ptr_eq(&simulation, &begun) {
            // The same request came at the same moment.
            let same = simulation.interactive().is_some_and(|of| of.begun == digest);
            return if same { Ok(simulation) } else { Err(Error::IdempotencyMismatch) };
        }
        // What cannot begin leaves nothing behind.
        if let Err(error) = self.look(&simulation, moving).await {
            self.0.simulations.kept().forget(id);
            return Err(error);
        }
        self.record(&simulation).await?;
        if !pause_at_start {
            self.control_interactive(&simulation, Action::Run, &Call::by(call.actor.clone())).await?;
        }
        Ok(simulation)
    }

    /// Does something with an interactive simulation. Answers when it stands still again, or after `controlWaitMs`: then it
    /// runs on.
    pub async fn control_interactive(
        &self,
        simulation: &Arc<Simulation>,
        action: Action,
        call: &Call,
    ) -> Result<(), Error> {
        let Some(of) = simulation.interactive() else {
            let message = "the simulation is a stream: only `CANCEL` is possible";
            let is_possible = action == Action::Cancel;
            return if is_possible {
                self.cancel_stream(simulation).await
            } else {
                Err(Error::bad_request(message))
            };
        };
        if let Action::SetBreakpoints(breakpoints) = &action {
            bounded(breakpoints)?;
        }
        if of.knows(call)? {
            return Ok(());
        }
        simulation.ask(self.0.clock.now());
        let moving = match action {
            Action::Pause | Action::Cancel => {
                let _waiting = of.stops.ask();
                of.moving().await
            }
            Action::Step(_)
            | Action::StepOver(_)
            | Action::StepOut(_)
            | Action::Run
            | Action::Seek(_)
            | Action::StepBack(_)
            | Action::RunBack
            | Action::SetBreakpoints(_) => Arc::clone(&of.moving)
                .try_lock_owned()
                .map_err(|_| Error::bad_request("the simulation runs: `PAUSE` it first"))?,
        };
        // The same may have been done meanwhile.
        if of.knows(call)? {
            return Ok(());
        }
        if of.standing().status == Status::Cancelled {
            return Err(Error::bad_request("the simulation was cancelled"));
        }
        if action == Action::Pause {
            return Ok(());
        }
        if let Some(given) = &call.idempotency {
            let mut keys = of.keys();
            if keys.len() >= KEYS {
                keys.pop_front();
            }
            keys.push_back(Key { key: short(&[&given.key]), digest: given.digest.to_vec() });
        }
        let key = call.idempotency.as_ref().map(|given| short(&[&given.key]));
        of.moves.fetch_add(1, Ordering::Relaxed);
        let moves_on = !matches!(action, Action::Cancel | Action::SetBreakpoints(_));
        let moved = self.spawn_to_end({
            let (engine, simulation) = (self.clone(), Arc::clone(simulation));
            async move {
                let moved = engine.moved(&simulation, action, moving).await;
                // What failed may be tried again.
                if let (Err(_), Some(key), Some(of)) = (&moved, key, simulation.interactive()) {
                    of.keys().retain(|known| known.key != key);
                }
                engine.record(&simulation).await.and(moved)
            }
        });
        if !moves_on {
            return crate::error::joined(moved.await)?;
        }
        match tokio::time::timeout(self.limits().control_wait, moved).await {
            Ok(moved) => crate::error::joined(moved)?,
            Err(_) => Ok(()),
        }
    }

    /// Where an interactive simulation stands; `None` for one that streams.
    pub fn interactive_state(&self, simulation: &Simulation) -> Option<Arc<InteractiveState>> {
        simulation.interactive().map(Interactive::standing)
    }

    /// Brings a simulation to where another process has moved it, unless it is being moved here.
    pub(crate) async fn follow_moves(&self, simulation: &Arc<Simulation>) -> Result<(), Error> {
        let Some(of) = simulation.interactive().filter(|_| !self.store().is_alone()) else { return Ok(()) };
        let Some(record) = self.stored_interactive(simulation.id).await? else { return Ok(()) };
        let Ok(moving) = Arc::clone(&of.moving).try_lock_owned() else { return Ok(()) };
        if record.moves <= of.moves.load(Ordering::Relaxed) {
            return Ok(());
        }
        *of.hand.lock().await = None;
        of.take_over(record);
        self.look(simulation, moving).await
    }

    /// Finds out where a simulation stands.
    pub(crate) async fn look(
        &self,
        simulation: &Arc<Simulation>,
        moving: OwnedMutexGuard<()>,
    ) -> Result<(), Error> {
        let cancelled = simulation.interactive().is_some_and(|of| of.standing().status == Status::Cancelled);
        let action = if cancelled { Action::Cancel } else { Action::Step(0) };
        self.moved(simulation, action, moving).await
    }

    async fn moved(
        &self,
        simulation: &Arc<Simulation>,
        action: Action,
        moving: OwnedMutexGuard<()>,
    ) -> Result<(), Error> {
        let Some(of) = simulation.interactive() else { return Ok(()) };
        let mut place = self.shared_place().await?;
        let mut hand = Arc::clone(&of.hand).lock_owned().await;
        let (engine, simulation) = (self.clone(), Arc::clone(simulation));
        let moved = tokio::task::spawn_blocking(move || {
            let moved = engine.act(&simulation, action, &mut hand, &mut place);
            drop((hand, moving));
            engine.let_go_of_runs();
            moved
        });
        crate::error::joined(moved.await)?
    }

    /// Moves a run. It stands where it stood if that cannot be.
    fn act(
        &self,
        simulation: &Arc<Simulation>,
        action: Action,
        hand: &mut Option<Debugger>,
        place: &mut Place,
    ) -> Result<(), Error> {
        let Some(of) = simulation.interactive() else { return Ok(()) };
        let before = of.standing();
        of.stand(InteractiveState { status: Status::Running, ..InteractiveState::clone(&before) });
        let (standing, moved) = match self.act_on(simulation, of, &before, action, hand, place) {
            Ok(standing) => (standing, Ok(())),
            Err(error) => (InteractiveState::clone(&before), Err(error)),
        };
        of.stand(standing);
        moved
    }

    fn act_on(
        &self,
        simulation: &Simulation,
        of: &Interactive,
        before: &InteractiveState,
        action: Action,
        hand: &mut Option<Debugger>,
        place: &mut Place,
    ) -> Result<InteractiveState, Error> {
        let refused = |(index, error): (usize, BreakpointError)| Error::Breakpoint { index, error };
        let program = simulation.revision.checked.program();
        place.take_turn();
        let timeout = simulation.request.bounds.timeout(self.limits());
        let mut texts: Vec<BreakpointText> =
            before.breakpoints.iter().map(|state| state.text.clone()).collect();
        // These do not move it, and nobody waits for them to stop.
        let stands = matches!(action, Action::Cancel | Action::SetBreakpoints(_));
        let mut given_up = || {
            place.take_turn();
            !stands && of.stops.are_wanted() || self.closing().is_cancelled()
        };
        let debugger = match hand {
            Some(debugger) => debugger,
            None if action == Action::Cancel && !before.stack.is_empty() => return Ok(before.cancelled()),
            None => match self.made_again(simulation, before, &mut given_up)? {
                Some(debugger) => hand.insert(debugger),
                // It stands where it stood, and is made again when it is needed.
                None => return Ok(InteractiveState::clone(before)),
            },
        };
        let since = place.busy();
        // Whoever only looks where it stands changes nothing about why.
        let stays = action == Action::Step(0);
        let mut interrupt = || {
            place.take_turn();
            of.stops.are_wanted() || self.closing().is_cancelled() || place.busy() - since >= timeout
        };
        let stopped = match action {
            Action::Step(count) => debugger.step(count, &mut interrupt),
            Action::StepOver(count) => debugger.step_over(count, &mut interrupt),
            Action::StepOut(count) => debugger.step_out(count, &mut interrupt),
            // A breakpoint at the first step is met there.
            Action::Run if before.status == Status::Ready && before.stopped_at().is_none() => {
                debugger.begin(&mut interrupt)
            }
            Action::Run => debugger.resume(&mut interrupt),
            Action::Seek(to) => debugger.seek(to, &mut interrupt),
            Action::StepBack(count) => debugger.step_back(count, &mut interrupt),
            Action::RunBack => debugger.run_back(&mut interrupt),
            Action::Pause => Stopped::There,
            Action::Cancel => {
                debugger.cancel();
                Stopped::End
            }
            Action::SetBreakpoints(wanted) => {
                debugger.set_breakpoints(&spots::all(program, &wanted)?).map_err(refused)?;
                texts = wanted;
                Stopped::There
            }
        };
        let elapsed = place.busy() - since;
        let interrupted = match of.stops.are_wanted() || self.closing().is_cancelled() {
            true => HaltReason::Paused,
            false => HaltReason::Late { bound: timeout, used: elapsed },
        };
        let halt = if stays { before.halt } else { Some(HaltReason::of(stopped, interrupted)) };
        Ok(standing(debugger, texts, halt, elapsed))
    }
}

/// Where a debugger stands.
fn standing(
    debugger: &Debugger,
    texts: Vec<BreakpointText>,
    halt: Option<HaltReason>,
    elapsed: Duration,
) -> InteractiveState {
    let report = debugger.run().result().map(|result| {
        Arc::new(Report { result, elapsed, compiling: Duration::ZERO, tier: Tier::Interpreter })
    });
    let status = match &report {
        Some(report) => Status::of(&report.result.outcome),
        None if debugger.position() == 0 => Status::Ready,
        None => Status::Paused,
    };
    let states = texts.into_iter().zip(debugger.hits()).enumerate();
    InteractiveState {
        status,
        position: debugger.position(),
        stack: debugger.stack(),
        values: debugger.values(),
        variables: debugger.variables(),
        stdout: debugger.run().stdout().into(),
        breakpoints: states
            .map(|(at, (text, hits))| BreakpointState {
                text,
                hits,
                trouble: debugger.trouble(at).map(str::to_owned),
            })
            .collect(),
        halt,
        report,
        fuel: debugger.run().fuel_used(),
    }
}

fn bounded(breakpoints: &[BreakpointText]) -> Result<(), Error> {
    let (limit, actual) = (MOST_BREAKPOINTS as u64, breakpoints.len() as u64);
    if actual > limit { Err(Error::Limit { which: "breakpoints", limit, actual }) } else { Ok(()) }
}

/// A short digest of some texts.
fn short(parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    let mut short = [0; 16];
    short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    short
}
