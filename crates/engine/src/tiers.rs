//! Tiers: the interpreter, which can show every step, and compiled code, which is faster and costs something first.

use std::time::{Duration, Instant};

use lmlang_compiled::{Ending, Refusal, Start, Unit};
use lmlang_interp::{Control, LimitKind, Outcome, Place, Run, RunResult};
use lmlang_wasm::ExportError;

use crate::engine::Engine;
use crate::error::Error;
use crate::places::{self, Slices};
use crate::simulate::Simulation;

pub use lmlang_compiled::Tier;

impl Engine {
    /// Refuses what is asked for as compiled code and cannot be compiled. The simulation notes how long that took.
    pub(crate) fn can_run(&self, simulation: &Simulation, place: &mut places::Place) -> Result<(), Error> {
        if simulation.request.tier == Some(Tier::Compiled) {
            place.take_turn();
            let (compiler, since) = (&self.0.simulations.compiler, place.busy());
            compiler.compile(&simulation.revision.checked, simulation.request.function)?;
            simulation.was_compiled(place.busy() - since);
        }
        Ok(())
    }

    /// Runs a function anew as compiled code, and asks after each slice whether it goes on. `None` leaves the run in the
    /// interpreter to go on: the code stopped.
    pub(crate) fn run_compiled(
        &self,
        unit: &Unit,
        (run, start): (&Run, Start),
        control: &mut dyn FnMut(u64) -> Control,
    ) -> Option<RunResult> {
        let (mut slices, mut since, mut said) = (Slices::new(), None::<Instant>, Control::Continue);
        let ending = unit.run(run, start, &mut |used: u64| {
            if let Some(since) = since {
                slices.took(since.elapsed());
            }
            said = control(used);
            since = Some(Instant::now());
            (said == Control::Continue).then(|| slices.next())
        });
        match ending {
            Ending::Returned(result) => Some(*result),
            Ending::Interrupted(result) if said == Control::TimeOut => {
                Some(RunResult { outcome: timed_out(), ..*result })
            }
            Ending::Interrupted(result) => Some(*result),
            Ending::Stopped | Ending::Missing { .. } => None,
        }
    }
}

/// The same, with how long it might take, where that is what ended it.
pub(crate) fn within(timeout: Duration, mut result: RunResult) -> RunResult {
    result.outcome.tell_time(timeout);
    result
}

/// How compiled code ends whose time is over. Nobody knows where it was.
pub(crate) fn timed_out() -> Outcome {
    Outcome::LimitReached { limit: LimitKind::Time, bound: None, place: Place::default() }
}

/// What a run did that ended before, of which no more is known.
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
