//! Tiers: the interpreter, which can show every step, and compiled code, which is faster and costs something first.
//!
//! A run begins in the interpreter, unless compiled code is asked for. When it has taken as long as compiling might, it
//! begins anew as compiled code: whichever of both would have been better, the run takes no more than about twice as long.
//! Where compiled code stops, the interpreter goes on from where it was and finds out why.

use std::time::Instant;

use lmlang_compiled::{Bounds, Ending, Refusal, Returned, nodes};
use lmlang_interp::{Control, LimitKind, Outcome, Place, Run, RunResult};
use lmlang_wasm::ExportError;

use crate::engine::Engine;
use crate::error::Error;
use crate::places::{self, Slices};
use crate::simulate::{RunRequest, Simulation};

/// How a run is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// By the interpreter.
    Interpreter,
    /// As compiled code.
    Compiled,
}

/// Steps that a run takes in the interpreter in any case.
const FIRST: u64 = 1 << 22;

/// Steps in the interpreter that take as long as compiling one node.
const STEPS_A_NODE: u64 = 10_000;

/// When a run that has begun in the interpreter begins anew as compiled code.
#[derive(Debug)]
pub(crate) struct Change {
    /// After how many steps; `None` is never.
    after: Option<u64>,
    /// Whether that has to do with what there is to compile.
    weighed: bool,
    /// The most bytes of memory before the first step.
    memory: u64,
    tier: Tier,
}

impl Change {
    /// Of a run that has not begun.
    pub(crate) fn of(request: &RunRequest, run: &Run) -> Change {
        let after = match request.tier {
            Some(Tier::Compiled) => Some(0),
            Some(Tier::Interpreter) => None,
            None => Some(FIRST),
        };
        Change { after, weighed: after == Some(0), memory: run.memory_peak(), tier: Tier::Interpreter }
    }

    /// What has executed the run so far.
    pub(crate) fn tier(&self) -> Tier {
        self.tier
    }

    /// Whether it is time. A run may have ended before its first step, where its memory does not fit its bound.
    pub(crate) fn is_due(&mut self, run: &Run) -> bool {
        let runs = run.outcome().is_none();
        let due = |after: Option<u64>| runs && after.is_some_and(|after| run.steps() >= after);
        if !self.weighed && due(self.after) {
            self.weighed = true;
            let nodes = nodes(run.checked().program(), run.function());
            self.after = self.after.map(|after| after.max(nodes.saturating_mul(STEPS_A_NODE)));
        }
        due(self.after)
    }
}

impl Engine {
    /// Refuses what is asked for as compiled code and cannot be compiled.
    pub(crate) fn can_run(&self, simulation: &Simulation, place: &mut places::Place) -> Result<(), Error> {
        if simulation.request.tier == Some(Tier::Compiled) {
            place.take_turn();
            let compiler = &self.0.simulations.compiler;
            compiler.compile(&simulation.revision.checked, simulation.request.function)?;
        }
        Ok(())
    }

    /// Runs a function anew as compiled code, and asks after each slice whether it goes on. `None` leaves the run in the
    /// interpreter to go on: there is no such code, or it stopped.
    pub(crate) fn run_compiled(
        &self,
        run: &Run,
        change: &mut Change,
        control: &mut dyn FnMut(u64) -> Control,
    ) -> Option<RunResult> {
        change.after = None;
        let unit = self.0.simulations.compiler.compile(run.checked(), run.function()).ok()?;
        change.tier = Tier::Compiled;
        let limits = run.options().limits;
        let more_memory = limits.memory_bytes.saturating_sub(change.memory);
        let bounds = Bounds { fuel: limits.fuel, call_depth: limits.call_depth, more_memory };
        let (mut slices, mut since, mut said) = (Slices::new(), None::<Instant>, Control::Continue);
        let ending = unit.run(run.args(), bounds, &mut |used| {
            if let Some(since) = since {
                slices.took(since.elapsed());
            }
            said = control(used);
            since = Some(Instant::now());
            (said == Control::Continue).then(|| slices.next())
        });
        let (outcome, fuel, extra, grown) = match ending {
            Ending::Returned(Returned { values, fuel, extra, grown }) => {
                (Outcome::Returned { values }, fuel, extra, grown)
            }
            Ending::Interrupted { fuel, extra, grown } if said == Control::TimeOut => {
                (timed_out(), fuel, extra, grown)
            }
            Ending::Interrupted { fuel, extra, grown } => {
                (Outcome::Cancelled { place: Place::default() }, fuel, extra, grown)
            }
            Ending::Stopped => return None,
        };
        Some(result(outcome, fuel - extra, fuel, change.memory + grown))
    }
}

/// How compiled code ends whose time is over. Nobody knows where it was.
pub(crate) fn timed_out() -> Outcome {
    Outcome::LimitReached { limit: LimitKind::Time, bound: None, place: Place::default() }
}

/// What a run of compiled code did, which prints nothing.
pub(crate) fn result(outcome: Outcome, steps: u64, fuel_used: u64, memory_peak: u64) -> RunResult {
    let (stdout, stderr, written) = Default::default();
    RunResult { outcome, steps, fuel_used, memory_peak, stdout, stderr, written }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        match refusal {
            Refusal::Export(ExportError::Unsupported { of, path, what }) => {
                Error::Unsupported { what: format!("{what} (`{of}` in `{path}`) in compiled code") }
            }
            Refusal::Export(error) => error.into(),
            other => Error::Unsupported { what: format!("compiled code ({other})") },
        }
    }
}
