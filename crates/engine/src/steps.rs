//! Steps of a simulation, found out by running it again.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lmlang_interp::{StartError, Step, Trace, TraceLevel};
use lmlang_ir::{FuncRef, NodeRef, Value};

use crate::engine::Engine;
use crate::error::{Error, joined};
use crate::simulate::{Abandoned, Simulation};

/// Nodes that one page of a trace may execute: a level with few steps comes back too.
pub(crate) const PAGE: u64 = 1 << 16;

/// Which steps of a trace are wanted; all that its level shows, where nothing is said.
#[derive(Clone, Debug, Default)]
pub struct WantedSteps {
    /// Those of these nodes.
    pub nodes: Vec<NodeRef>,
    /// Those of these functions too.
    pub functions: Vec<FuncRef>,
    /// Only those that read or made this value.
    pub value: Option<Value>,
}

impl WantedSteps {
    /// What is shown at least, for the value to be among it.
    fn level(&self, level: TraceLevel) -> TraceLevel {
        if self.value.is_some() { TraceLevel::Nodes } else { level }
    }

    fn has(&self, step: &Step) -> bool {
        let mut values = step.inputs.iter().chain(&step.outputs);
        self.value.as_ref().is_none_or(|wanted| values.any(|shown| !shown.cut && shown.value == *wanted))
    }
}

/// Some steps of a trace.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// The steps in order.
    pub steps: Vec<Step>,
    /// Where the next page starts; `None` at the end.
    pub next: Option<u64>,
    /// The first step that is not shown because the bytes of the trace were used up; nothing follows it.
    pub cut: Option<u64>,
    /// Nodes that had been executed by then.
    pub executed: u64,
}

impl Engine {
    /// A reader of the steps of a simulation, for who begins with one of them; `fuel` bounds it. The run of an interactive
    /// simulation that nobody moves just now has it begin near that step.
    pub(crate) fn trace(
        &self,
        simulation: &Simulation,
        from: u64,
        level: TraceLevel,
        fuel: Option<u64>,
    ) -> Result<Option<Trace>, StartError> {
        match simulation.near(|debugger| debugger.trace(from, level, fuel)) {
            Some(near) => Ok(near),
            None => Ok(Trace::of(&self.start(simulation)?, level, fuel)),
        }
    }

    /// Steps of a simulation, from a number on: those that the level of its trace shows, or those that are wanted. Stops
    /// when the caller does not wait any more, and where it takes longer than the bound of time.
    pub async fn steps(
        &self,
        simulation: &Arc<Simulation>,
        wanted: WantedSteps,
        from: u64,
        count: usize,
    ) -> Result<Steps, Error> {
        let mut place = self.place().await?;
        let abandoned = Abandoned::default();
        let (engine, simulation, stop) = (self.clone(), Arc::clone(simulation), Arc::clone(&abandoned.0));
        let read = tokio::task::spawn_blocking(move || {
            let gone = || stop.load(Ordering::Relaxed) || engine.closing().is_cancelled();
            let fuel = simulation.fuel();
            let level = wanted.level(simulation.request.trace);
            let Some(mut trace) = engine.trace(&simulation, from, level, fuel)? else {
                return Ok(Steps::default());
            };
            if !(wanted.nodes.is_empty() && wanted.functions.is_empty()) {
                trace = trace.only(&wanted.nodes, &wanted.functions);
            }
            let bounds = simulation.request.bounds;
            let (mut left, time) = (bounds.trace_bytes(engine.limits()), bounds.timeout(engine.limits()));
            let mut found = Steps { next: Some(from), ..Steps::default() };
            trace.seek(from, &mut || {
                place.take_turn();
                gone()
            });
            while let Some(next) = found.next
                && found.steps.len() < count
                && !gone()
                && place.busy() < time
            {
                place.take_turn();
                let page = trace.page(next, count - found.steps.len(), PAGE);
                found.next = page.next;
                found.executed = page.next.unwrap_or_else(|| trace.run().steps());
                let steps = page.steps.into_iter().filter(|step| wanted.has(step));
                found.cut = within(steps, &mut left, &mut found.steps);
                if found.cut.is_some() {
                    found.next = None;
                }
            }
            Ok(found)
        });
        let read: Result<Steps, StartError> = joined(read.await)?;
        drop(abandoned);
        read.map_err(|error| Error::bad_request(error.to_string()))
    }
}

/// Takes steps as long as there are bytes left for them; answers the number of the first one that is not taken.
pub(crate) fn within(
    steps: impl IntoIterator<Item = Step>,
    left: &mut u64,
    taken: &mut Vec<Step>,
) -> Option<u64> {
    for step in steps {
        match left.checked_sub(step.size() as u64) {
            Some(rest) => *left = rest,
            None => return Some(step.seq),
        }
        taken.push(step);
    }
    None
}
