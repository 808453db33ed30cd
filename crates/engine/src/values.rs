//! What one node computed in the course of a run.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lmlang_interp::{Progress, Recorder, Run, Shown, StartError, Trace, TraceLevel};
use lmlang_ir::{FuncRef, NodeRef};

use crate::engine::Engine;
use crate::error::{Error, joined};
use crate::places::Place;
use crate::simulate::{Abandoned, Simulation};
use crate::steps::PAGE;

/// Pieces of a record between two looks at whether others are to have their turn.
const PIECES: usize = 512;

/// Steps of a trace that are looked at in one go.
const STEPS: usize = 1 << 12;

/// Some of the values of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// In the order in which they were computed.
    pub values: Vec<Shown>,
    /// The position of the first that is not among them; `None` where there are no more.
    pub next: Option<u64>,
}

impl Values {
    /// At most `count` of some values, behind `from` others.
    pub fn page(values: impl Iterator<Item = Shown>, from: u64, count: usize) -> Values {
        let mut page = Page { from, count, seen: 0, found: Values::default() };
        for value in values {
            if !page.take(value) {
                break;
            }
        }
        page.found
    }
}

/// Picks a page out of what a node computes.
struct Page {
    from: u64,
    count: usize,
    seen: u64,
    found: Values,
}

impl Page {
    /// Takes the next value; returns whether the page goes on.
    fn take(&mut self, value: Shown) -> bool {
        let at = self.seen;
        self.seen += 1;
        if at < self.from {
            return true;
        }
        if self.found.values.len() == self.count {
            self.found.next = Some(at);
            return false;
        }
        self.found.values.push(value);
        true
    }
}

impl Engine {
    /// The values that a node computed in a simulation that has ended, from the one at a position on.
    ///
    /// The run is executed again, with its values recorded where the node makes scalars, step by step otherwise. Stops when
    /// the caller does not wait any more.
    pub async fn values(
        &self,
        simulation: &Arc<Simulation>,
        (function, node): (FuncRef, NodeRef),
        from: u64,
        count: usize,
    ) -> Result<Values, Error> {
        let mut place = self.place().await?;
        let abandoned = Abandoned::default();
        let (engine, simulation, stop) = (self.clone(), Arc::clone(simulation), Arc::clone(&abandoned.0));
        let read = tokio::task::spawn_blocking(move || {
            let mut gone = || stop.load(Ordering::Relaxed) || engine.closing().is_cancelled();
            let fuel = simulation.fuel();
            let run = engine.start(&simulation)?;
            let mut page = Page { from, count, seen: 0, found: Values::default() };
            let of = (function, node);
            if !recorded(&run, fuel, of, &mut page, &mut place, &mut gone) {
                traced(&run, fuel, of, &mut page, &mut place, &mut gone);
            }
            Ok(page.found)
        });
        let read: Result<Values, StartError> = joined(read.await)?;
        drop(abandoned);
        read.map_err(|error| Error::bad_request(error.to_string()))
    }
}

/// Reads a record; returns whether the node is in it.
fn recorded(
    run: &Run,
    fuel: Option<u64>,
    (function, node): (FuncRef, NodeRef),
    page: &mut Page,
    place: &mut Place,
    gone: &mut dyn FnMut() -> bool,
) -> bool {
    if !Recorder::has(run.checked().program(), function, node) {
        return false;
    }
    let Some(mut recorder) = Recorder::of(run, fuel) else { return true };
    let mut progress = Progress::Paused;
    while progress == Progress::Paused && !gone() {
        place.take_turn();
        for _ in 0..PIECES {
            progress = recorder.advance();
            for value in recorder.values_of(function, node) {
                if !page.take(Shown { value, cut: false }) {
                    return true;
                }
            }
            if progress != Progress::Paused {
                break;
            }
        }
    }
    true
}

/// Reads a trace.
fn traced(
    run: &Run,
    fuel: Option<u64>,
    (function, node): (FuncRef, NodeRef),
    page: &mut Page,
    place: &mut Place,
    gone: &mut dyn FnMut() -> bool,
) {
    let Some(mut trace) = Trace::of(run, TraceLevel::Nodes, fuel) else { return };
    let mut next = Some(0);
    while let Some(from) = next.filter(|_| !gone()) {
        place.take_turn();
        let steps = trace.page(from, STEPS, PAGE);
        let of_node = steps.steps.into_iter().filter(|step| (step.function, step.node) == (function, node));
        for value in of_node.filter_map(|step| step.outputs.into_iter().next()) {
            if !page.take(value) {
                return;
            }
        }
        next = steps.next;
    }
}
