//! Why a value of a simulation is what it is, and why a node of it did not run.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lmlang_interp::{Run, Step, Trace, TraceLevel, WhyNot};
use lmlang_ir::{FuncRef, NodeRef};

use crate::engine::Engine;
use crate::error::{Error, joined};
use crate::simulate::{Abandoned, Simulation};

/// Steps that one explanation tells at most.
pub const MOST_STEPS: usize = 200;

impl Engine {
    /// The steps that a value follows from, in order, the last one being the step in question: its output `port`, or, where it
    /// has no outputs, that input. The nearest ones, where they are more than [`MOST_STEPS`]. `None` where the run has no such
    /// step or port.
    ///
    /// The run is executed again up to there. Stops when the caller does not wait any more.
    pub async fn why(
        &self,
        simulation: &Arc<Simulation>,
        step: u64,
        port: usize,
    ) -> Result<Option<Vec<Step>>, Error> {
        // What an interactive one has not come to is not looked into.
        if simulation.interactive().is_some() && step >= simulation.position() {
            return Ok(None);
        }
        let explain = move |run: &Run, interrupt: &mut dyn FnMut() -> bool| {
            lmlang_interp::why(run, step, port, MOST_STEPS, interrupt).map(|why| ((), why.steps))
        };
        Ok(self.explain(simulation, explain).await?.map(|((), steps)| steps))
    }

    /// Why a node did not run, with the steps where the run went another way, in order: for each place that the node, or a
    /// call of its function, stands at, the last one. `None` where the caller does not wait any more.
    pub async fn why_not(
        &self,
        simulation: &Arc<Simulation>,
        (function, node): (FuncRef, NodeRef),
    ) -> Result<Option<(WhyNot, Vec<Step>)>, Error> {
        let fuel = simulation.fuel();
        let explain = move |run: &Run, interrupt: &mut dyn FnMut() -> bool| {
            let found = lmlang_interp::why_not(run, fuel, function, node, interrupt)?;
            let steps = found.steps.clone();
            Some((found, steps))
        };
        self.explain(simulation, explain).await
    }

    async fn explain<T: Send + 'static>(
        &self,
        simulation: &Arc<Simulation>,
        explain: impl FnOnce(&Run, &mut dyn FnMut() -> bool) -> Option<(T, Vec<u64>)> + Send + 'static,
    ) -> Result<Option<(T, Vec<Step>)>, Error> {
        let mut place = self.place().await?;
        let abandoned = Abandoned::default();
        let (engine, simulation, stop) = (self.clone(), Arc::clone(simulation), Arc::clone(&abandoned.0));
        let read = tokio::task::spawn_blocking(move || {
            let run = engine.start(&simulation).map_err(|error| Error::bad_request(error.to_string()))?;
            let timeout = simulation.request.bounds.timeout(engine.limits());
            let mut late = false;
            let mut interrupt = || {
                place.take_turn();
                late |= place.busy() >= timeout;
                late || stop.load(Ordering::Relaxed) || engine.closing().is_cancelled()
            };
            let found = explain(&run, &mut interrupt);
            let steps = found.and_then(|(told, numbers)| {
                let mut trace = Trace::of(&run, TraceLevel::Nodes, None)?;
                let step = |number: u64| {
                    trace.seek(number, &mut interrupt);
                    trace.page(number, 1, 1).steps
                };
                Some((told, numbers.into_iter().flat_map(step).collect::<Vec<Step>>()))
            });
            match steps {
                None if late => Err(Error::Late),
                steps => Ok(steps),
            }
        });
        let read: Result<Option<(T, Vec<Step>)>, Error> = joined(read.await)?;
        drop(abandoned);
        read
    }
}
