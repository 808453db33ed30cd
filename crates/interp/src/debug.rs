//! A run that one can hold in the hand: it stands before a step, and goes on and back.
//!
//! A run follows from what it is given, so going back is running again up to an earlier step, from the last snapshot before
//! it: at full speed, with the code that tells steps apart. Between the steps where somebody wants to stop, it runs as fast
//! as it does to show a trace.

mod breakpoint;
mod expression;
mod snapshots;
mod why;
mod why_not;

use std::ops::Range;

use lmlang_ir::{FuncRef, RegionRef};

pub use breakpoint::{Breakpoint, BreakpointError, Spot};
pub use expression::ExpressionError;
pub use why::{Why, why};
pub use why_not::{Absence, MissedCall, WhyNot, why_not};

use crate::code::Lowering;
use crate::marks::Marks;
use crate::outcome::{Location, Outcome, SourceValue, VariableValue};
use crate::run::{Progress, Run, Snapshot};
use crate::trace::{Trace, TraceLevel, started};
use crate::value::Shown;
use breakpoint::{Armed, Before};
use expression::Expression;
use snapshots::Snapshots;

/// Fuel between two looks at whether to stop.
const SLICE: u64 = 1 << 18;

/// Marked nodes between two looks at whether to stop.
const LOOK: u64 = 64;

/// How far from a step single instructions begin: segments are shorter than half of it.
const NEAR: u64 = 512;

/// Why a debugger stands where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It came to where it was sent.
    There,
    /// A breakpoint, by its position in the list.
    At(usize),
    /// The run is over, or, on the way back, it stands at its start.
    End,
    /// Whoever sent it did not want to wait any longer.
    Interrupted,
}

/// Tells, between slices, whether a debugger is to stop at once.
pub type Interrupt<'a> = &'a mut dyn FnMut() -> bool;

/// A run that stands before one of its steps, or at its end.
#[derive(Debug)]
pub struct Debugger {
    run: Run,
    snapshots: Snapshots,
    armed: Vec<Armed>,
    /// Nodes that were executed one by one, since they are marked.
    passed: u64,
}

impl Debugger {
    /// Stands before the first step of a run, which itself is left as it is. `fuel` bounds it further, as for
    /// [`crate::Trace::of`].
    pub fn of(run: &Run, fuel: Option<u64>) -> Option<Debugger> {
        let mut limits = run.options().limits;
        if let Some(fuel) = fuel {
            limits.fuel = limits.fuel.min(fuel);
        }
        let run = run.again(Lowering::Plain, limits)?;
        let mut debugger = Debugger { run, snapshots: Snapshots::default(), armed: Vec::new(), passed: 0 };
        debugger.settle();
        Some(debugger)
    }

    /// Ends the run where it stands.
    pub fn cancel(&mut self) {
        self.run.cancel();
    }

    /// Executed nodes: the number of the step that comes next.
    pub fn position(&self) -> u64 {
        self.run.steps()
    }

    /// How the run ended, once it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.run.outcome()
    }

    /// The run as far as it has come.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Has snapshots stand so many steps from each other at least; the more there are, the shorter ways back are.
    pub fn set_snapshot_spacing(&mut self, steps: u64) {
        self.snapshots.set_spacing(steps);
    }

    /// Reads the steps of the run, as [`Trace::of`] does; it begins at the last snapshot before a step.
    pub fn trace(&self, from: u64, level: TraceLevel, fuel: Option<u64>) -> Option<Trace> {
        let nearest = self.snapshots.before(from);
        match nearest.filter(|nearest| fuel.is_none_or(|fuel| nearest.fuel() <= fuel)) {
            Some(nearest) => Some(Trace::with(self.run.at(nearest, fuel), level)),
            None => Trace::of(&self.run, level, fuel),
        }
    }

    /// Bytes that the run and its snapshots hold.
    pub fn held(&self) -> u64 {
        let (linear, values) = self.run.held();
        linear + values + self.snapshots.bytes()
    }

    /// The calls, the outermost first; where it ended, once it has.
    pub fn stack(&self) -> Vec<Location> {
        if let Some(outcome) = self.run.outcome() {
            return outcome.place().map_or_else(Vec::new, |place| place.stack.clone());
        }
        let (mut stack, step) = (self.run.calls_now(), self.position());
        stack.iter_mut().for_each(|location| location.step = step);
        stack
    }

    /// The values that are alive in the innermost call: of nodes before the next step, and of parameters.
    pub fn values(&self) -> Vec<SourceValue> {
        match self.run.outcome() {
            Some(outcome) => outcome.place().map_or_else(Vec::new, |place| place.values.clone()),
            None => self.run.values_now(),
        }
    }

    /// The variables of the innermost call, or of the one that the run ended in.
    pub fn variables(&self) -> Vec<VariableValue> {
        let innermost = self.depth().checked_sub(1);
        innermost.and_then(|frame| self.variables_at(frame as u32)).unwrap_or_default()
    }

    /// As [`Debugger::values`], of any call by its position in the stack, without references that it has handed on for
    /// good, which may be used up by now; `None` where there is no such call.
    pub fn values_at(&self, frame: u32) -> Option<Vec<SourceValue>> {
        self.run.values_at(frame).filter(|_| self.stands())
    }

    /// As [`Debugger::variables`], of any call by its position in the stack; `None` where there is none.
    pub fn variables_at(&self, frame: u32) -> Option<Vec<VariableValue>> {
        self.run.variables_at(frame).filter(|_| self.stands())
    }

    /// The globals of the program that have a value, by ref; the first 500.
    pub fn globals(&self) -> Vec<VariableValue> {
        self.run.globals_now()
    }

    /// The bytes of linear memory at some addresses, as far as there are any; `None` where the program has no memory.
    pub fn memory(&self, addresses: Range<u64>) -> Option<&[u8]> {
        self.run.memory().map(|_| self.run.bytes_at(&addresses))
    }

    /// What an expression in the text form comes to in a call, by its position in the stack; it sees what is in scope before
    /// the node that the call stands at, and may read variables, globals and linear memory, and call what only reads. `None`
    /// where there is no such call.
    ///
    /// # Errors
    ///
    /// Why it has no value.
    pub fn evaluate(&mut self, frame: u32, text: &str) -> Option<Result<Shown, ExpressionError>> {
        let place = self.run.place_at(frame).filter(|_| self.stands())?;
        let found = Expression::new(&self.run, place, text);
        Some(found.and_then(|mut expression| {
            expression.evaluate(&mut self.run, frame).map_err(ExpressionError::NoValue)
        }))
    }

    /// How many bytes linear memory has; `None` where the program has none.
    pub fn memory_size(&self) -> Option<u64> {
        self.run.memory().map(|memory| memory.len() as u64)
    }

    /// Whether there are calls that have not returned.
    fn stands(&self) -> bool {
        self.run.outcome().is_none_or(|outcome| outcome.place().is_some())
    }

    /// Sets the places to stop at; what they counted begins anew.
    ///
    /// # Errors
    ///
    /// Which one cannot be set, by its position, and why. None is changed then.
    pub fn set_breakpoints(&mut self, wanted: &[Breakpoint]) -> Result<(), (usize, BreakpointError)> {
        let armed = wanted.iter().enumerate();
        let armed = armed.map(|(at, wanted)| Armed::new(&self.run, wanted).map_err(|error| (at, error)));
        self.armed = armed.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// How often each breakpoint was met on the way forward since it was set.
    pub fn hits(&self) -> impl Iterator<Item = u64> {
        self.armed.iter().map(|armed| armed.hits)
    }

    /// Takes up counts of an earlier debugger with the same breakpoints.
    pub fn set_hits(&mut self, hits: impl IntoIterator<Item = u64>) {
        self.armed.iter_mut().zip(hits).for_each(|(armed, hits)| armed.hits = hits);
    }

    /// Why the condition of a breakpoint could not be told when it was last met.
    pub fn trouble(&self, breakpoint: usize) -> Option<&str> {
        self.armed.get(breakpoint)?.trouble.as_deref()
    }

    /// Executes so many nodes, into calls and regions; breakpoints are passed.
    pub fn step(&mut self, count: u64, interrupt: Interrupt<'_>) -> Stopped {
        self.seek(self.position().saturating_add(count), interrupt)
    }

    /// Goes to a step, forward or back, or to the end where that is before it; breakpoints are passed.
    pub fn seek(&mut self, to: u64, interrupt: Interrupt<'_>) -> Stopped {
        if !self.approach(to) {
            return Stopped::End;
        }
        self.run.mark(Marks::default());
        while self.position() < to && self.run.outcome().is_none() {
            let next = self.snapshots.due(&self.run).clamp(self.position() + 1, to);
            self.run.go_to(next, interrupt);
            self.settle();
            if self.position() < next {
                break;
            }
            self.snapshots.look_at(&mut self.run);
        }
        self.settle();
        match self.position() {
            _ if self.run.outcome().is_some() => Stopped::End,
            position if position < to => Stopped::Interrupted,
            _ => Stopped::There,
        }
    }

    /// Executes the next node with what it calls or owns, and stops before the one behind it, in the same region or one
    /// around, or in a caller; so many times. Stops at breakpoints on the way.
    pub fn step_over(&mut self, count: u64, interrupt: Interrupt<'_>) -> Stopped {
        self.times(count, interrupt, |debugger, interrupt| {
            let Some((function, region)) = debugger.here() else { return Stopped::End };
            let body = debugger.run.checked().program().function(function).map(|found| found.body());
            let around = body.into_iter().flat_map(|body| body.chain(region));
            // Behind the contracts of a function comes its body.
            let regions = around.chain(body.and_then(|body| body.root())).collect();
            let marks = Marks { regions, ..debugger.behind() };
            let goal = Goal { marks, depth: debugger.depth() };
            debugger.go(&goal, u64::MAX, interrupt)
        })
    }

    /// Runs to where the function has returned to its caller, or to the end; so many times. Stops at breakpoints on the
    /// way.
    pub fn step_out(&mut self, count: u64, interrupt: Interrupt<'_>) -> Stopped {
        self.times(count, interrupt, |debugger, interrupt| {
            let goal = Goal { marks: debugger.behind(), depth: debugger.depth() };
            debugger.go(&goal, u64::MAX, interrupt)
        })
    }

    /// Runs to the next breakpoint, which may be before the next step, or to the end.
    pub fn begin(&mut self, interrupt: Interrupt<'_>) -> Stopped {
        self.met().map_or_else(|| self.resume(interrupt), Stopped::At)
    }

    /// Goes on to the next breakpoint, or to the end.
    pub fn resume(&mut self, interrupt: Interrupt<'_>) -> Stopped {
        self.go(&Goal::never(), u64::MAX, interrupt)
    }

    /// Goes back so many steps.
    pub fn step_back(&mut self, count: u64, interrupt: Interrupt<'_>) -> Stopped {
        let to = self.position().saturating_sub(count);
        self.seek(to, interrupt)
    }

    /// Goes back to where a breakpoint was met last before here, or to the start: then the answer is the end of that way.
    /// Interrupted, it stands where it stood.
    pub fn run_back(&mut self, interrupt: Interrupt<'_>) -> Stopped {
        let (here, hits) =
            (self.run.snapshot(self.snapshots.before(u64::MAX)), self.hits().collect::<Vec<u64>>());
        // What was passed on the way forward is met on the way back.
        let ignored: Vec<u64> =
            self.armed.iter_mut().map(|armed| std::mem::take(&mut armed.ignore)).collect();
        let met = self.last_met(here.steps(), interrupt);
        self.armed.iter_mut().zip(ignored).for_each(|(armed, ignore)| armed.ignore = ignore);
        self.set_hits(hits);
        let to = met.map(|met| met.map_or(0, |(position, _)| position));
        if to.is_none_or(|to| self.seek(to, interrupt) == Stopped::Interrupted) {
            self.run.restore(&here);
            return Stopped::Interrupted;
        }
        met.flatten().map_or(Stopped::End, |(_, at)| Stopped::At(at))
    }

    /// Where before a step a breakpoint is met last, and which it is; nothing at all where it was interrupted.
    ///
    /// From the snapshots before the step, the last one first, each up to where the way before it began.
    #[expect(clippy::option_option, reason = "it may not be known whether there is one")]
    fn last_met(&mut self, here: u64, interrupt: Interrupt<'_>) -> Option<Option<(u64, usize)>> {
        let (mut end, mut last) = (here, None);
        while end > 0 && last.is_none() {
            let start = self.snapshots.before(end - 1).map_or(0, Snapshot::steps);
            if self.seek(start, interrupt) == Stopped::Interrupted {
                return None;
            }
            last = self.met().map(|at| (start, at));
            while self.position() < end {
                match self.go(&Goal::never(), end, interrupt) {
                    // A watch that sees the last of these steps is met at their end, which the way from there did not tell.
                    Stopped::At(at) if self.position() <= end && self.position() < here => {
                        last = Some((self.position(), at));
                    }
                    Stopped::Interrupted => return None,
                    Stopped::At(_) | Stopped::There | Stopped::End => break,
                }
            }
            end = start;
        }
        Some(last)
    }

    fn times(
        &mut self,
        count: u64,
        interrupt: Interrupt<'_>,
        mut step: impl FnMut(&mut Debugger, Interrupt<'_>) -> Stopped,
    ) -> Stopped {
        for _ in 1..count {
            let stopped = step(self, interrupt);
            if stopped != Stopped::There {
                return stopped;
            }
        }
        if count == 0 { Stopped::There } else { step(self, interrupt) }
    }

    /// Goes on to the goal, a breakpoint, the end of the run, or a step.
    fn go(&mut self, goal: &Goal, end: u64, interrupt: Interrupt<'_>) -> Stopped {
        let mut marks = goal.marks.clone();
        self.armed.iter().for_each(|armed| armed.mark(&mut marks));
        self.run.mark(marks);
        loop {
            if self.run.outcome().is_some() {
                return Stopped::End;
            }
            if self.position() >= end {
                return Stopped::There;
            }
            self.passed += 1;
            if self.passed.is_multiple_of(LOOK) && interrupt() {
                return Stopped::Interrupted;
            }
            if let Some(at) = self.pass() {
                // What comes next may be a place to stop at as well.
                self.met();
                return Stopped::At(at);
            }
            if self.race(end, interrupt) {
                return Stopped::Interrupted;
            }
            if let Some(at) = self.met() {
                return Stopped::At(at);
            }
            if self.run.outcome().is_none() && goal.is_met(self) {
                return Stopped::There;
            }
        }
    }

    /// Executes the next node, and tells which watch saw its value change.
    fn pass(&mut self) -> Option<usize> {
        let before: Vec<Before> = self.armed.iter().map(|armed| armed.before(&self.run)).collect();
        self.run.instruction();
        self.settle();
        let mut changed = None;
        for (at, (armed, before)) in self.armed.iter_mut().zip(before).enumerate() {
            if armed.has_changed(&self.run, &before) && armed.count() {
                changed = changed.or(Some(at));
            }
        }
        changed
    }

    /// Runs to the next mark, to near a step, or to the end; tells whether it was interrupted.
    fn race(&mut self, end: u64, interrupt: Interrupt<'_>) -> bool {
        while self.run.outcome().is_none() && !self.run.is_marked() {
            let far = end.saturating_sub(self.position());
            if far <= NEAR {
                break;
            }
            let due = self.snapshots.due(&self.run).saturating_sub(self.position());
            let slice = (far - NEAR / 2).min(SLICE).min(due.max(1));
            let interrupted = self.run.resume(slice) == Progress::Waiting || interrupt();
            if interrupted && self.run.outcome().is_none() && !self.run.is_marked() {
                self.settle();
                return true;
            }
            if self.position() >= self.snapshots.due(&self.run) {
                self.settle();
                self.snapshots.look_at(&mut self.run);
            }
        }
        self.settle();
        false
    }

    /// Which breakpoint the next step is one to stop for; each that is met counts it.
    fn met(&mut self) -> Option<usize> {
        let Debugger { run, armed, .. } = self;
        let mut met = None;
        for (at, armed) in armed.iter_mut().enumerate() {
            if armed.is_met(run) && armed.count() {
                met = met.or(Some(at));
            }
        }
        met
    }

    /// Goes on to where the next instruction is the first one of a node that there is fuel for.
    fn settle(&mut self) {
        while self.run.outcome().is_none() && (started(&self.run).is_none() || self.run.is_dry()) {
            if self.run.instruction() == Progress::Waiting {
                break;
            }
        }
    }

    /// Goes to the last snapshot before a step, or to the start, where the way to the step is shorter from there.
    fn approach(&mut self, to: u64) -> bool {
        let from = self.position();
        let nearest = self.snapshots.before(to).filter(|nearest| to < from || nearest.steps() > from);
        if let Some(nearest) = nearest {
            self.run.restore(nearest);
            return true;
        }
        to >= from || self.restart()
    }

    fn restart(&mut self) -> bool {
        let args = self.run.args().to_vec();
        let started = self.run.start(&args).is_ok();
        self.settle();
        started
    }

    /// Where the next step stands.
    fn here(&self) -> Option<(FuncRef, RegionRef)> {
        let (code, slots) = started(&self.run).filter(|_| self.run.outcome().is_none())?;
        Some((self.run.name(self.run.machine.func)?, code.slots[slots].region))
    }

    /// Calls that have not returned.
    fn depth(&self) -> usize {
        self.run.machine.frames.len()
    }

    /// Marks for what comes behind the innermost call.
    fn behind(&self) -> Marks {
        let frames = &self.run.machine.frames;
        let caller = frames.last().filter(|_| frames.len() > 1).and_then(|frame| self.run.name(frame.func));
        Marks { functions: caller.into_iter().collect(), ..Marks::default() }
    }
}

/// Where to stop besides breakpoints.
struct Goal {
    /// The nodes that it can be met before.
    marks: Marks,
    /// Calls at most: where there are as many, only in the regions that are marked.
    depth: usize,
}

impl Goal {
    fn never() -> Goal {
        Goal { marks: Marks::default(), depth: 0 }
    }

    fn is_met(&self, debugger: &Debugger) -> bool {
        let depth = debugger.depth();
        depth < self.depth
            || depth == self.depth
                && debugger.here().is_some_and(|(_, region)| self.marks.regions.contains(&region))
    }
}
