//! Traces: what a run did, node by node, found out by executing it again.

use lmlang_ir::{FuncRef, NodeRef, Opcode as Op, RegionRef};

use std::sync::Arc;

use crate::code::{Code, Loc, Lowering, NO_START};
use crate::marks::Marks;
use crate::outcome::Outcome;
use crate::run::Run;
use crate::value::{Budget, Shown, show};

/// How much of a run is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceLevel {
    /// Nothing.
    #[default]
    None,
    /// Calls and returns.
    Calls,
    /// Also what opens and leaves regions.
    Regions,
    /// Every node.
    Nodes,
}

impl TraceLevel {
    /// Whether it shows nodes of an operator.
    pub fn shows(self, op: Op) -> bool {
        let calls = matches!(op, Op::Call | Op::CallIndirect | Op::ClosureCall | Op::Return);
        let regions = matches!(
            op,
            Op::Block
                | Op::Loop
                | Op::If
                | Op::Match
                | Op::Yield
                | Op::Break
                | Op::Continue
                | Op::BreakIf
                | Op::ContinueIf
                | Op::BrSwitch
                | Op::Unreachable
        );
        match self {
            TraceLevel::None => false,
            TraceLevel::Calls => calls,
            TraceLevel::Regions => calls || regions,
            TraceLevel::Nodes => true,
        }
    }
}

/// An executed node.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Nodes that had been executed before.
    pub seq: u64,
    /// Calls around the function, from 0.
    pub frame: u32,
    /// The function.
    pub function: FuncRef,
    /// The region that the node stands in.
    pub region: RegionRef,
    /// The node; its operator is the program's.
    pub node: NodeRef,
    /// What it read.
    pub inputs: Vec<Shown>,
    /// What it made. A node that calls or owns regions shows nothing: the `return` or exit behind it does.
    pub outputs: Vec<Shown>,
    /// What else there is to say.
    pub note: Option<Note>,
}

impl Step {
    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        let values = self
            .inputs
            .iter()
            .chain(&self.outputs)
            .map(|shown| size_of::<Shown>() + shown.value.heap_bytes());
        size_of::<Step>() + values.sum::<usize>()
    }
}

/// A remark on a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The node belongs to the evaluation of a contract.
    InContract,
    /// The run ended at this node.
    Stopped,
}

/// Some steps of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TracePage {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Where the next page starts; `None` at the end of the run.
    pub next: Option<u64>,
}

/// A reader of the steps of a run.
///
/// It executes the run again, at full speed up to what is wanted and between what the level shows. Pages in order cost
/// what they show; going back starts over.
#[derive(Debug)]
pub struct Trace {
    run: Run,
    /// What is shown.
    shown: Marks,
    /// The step that is in progress.
    open: Option<Pending>,
}

/// A step whose outputs are not known yet.
#[derive(Debug)]
struct Pending {
    step: Step,
    depth: usize,
    /// Where its node is among the slots of its code.
    code: Arc<Code>,
    slots: usize,
}

impl Trace {
    /// Reads the steps of a run, which itself is left as it is. The trace ends where the fuel limit of the run is.
    ///
    /// A run that was cancelled or timed out would go on in its trace: `fuel` bounds it to what was executed.
    pub fn of(run: &Run, level: TraceLevel, fuel: Option<u64>) -> Option<Trace> {
        let mut limits = run.options().limits;
        if let Some(fuel) = fuel {
            limits.fuel = limits.fuel.min(fuel);
        }
        run.again(Lowering::Plain, limits).map(|again| Trace::with(again, level))
    }

    /// Reads the steps that a run is about to execute; it goes back to the start for others.
    pub(crate) fn with(run: Run, level: TraceLevel) -> Trace {
        Trace { run, shown: Marks::of_level(level), open: None }
    }

    /// Shows the steps of some nodes, and all those of some functions, whatever the level.
    pub fn only(self, nodes: &[NodeRef], functions: &[FuncRef]) -> Trace {
        let (nodes, functions) = (nodes.iter().copied().collect(), functions.iter().copied().collect());
        Trace { shown: Marks { nodes, functions, ..Marks::default() }, ..self }
    }

    /// How the run ended, once the trace has come there.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.run.outcome()
    }

    /// The run as far as the trace has come.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// At most `count` steps from number `from` on, by executed nodes.
    ///
    /// `most` bounds the nodes that are executed for it, so that a level with few steps comes back too; the page then
    /// says where to go on.
    pub fn page(&mut self, from: u64, count: usize, most: u64) -> TracePage {
        self.seek(from, &mut || false);
        let mut page = TracePage::default();
        let end = from.saturating_add(most);
        while page.steps.len() < count && self.position() < end {
            match self.next(end) {
                Some(step) => page.steps.push(step),
                None if self.is_over() => return page,
                None => break,
            }
        }
        page.next = (!self.is_over()).then(|| self.position());
        page
    }

    /// Goes to the step with a number, or to the first one after it that the level shows; less far when `stop` says so.
    pub fn seek(&mut self, from: u64, stop: &mut dyn FnMut() -> bool) {
        let at = self.position();
        if from < at {
            let limits = self.run.options().limits;
            match self.run.again(Lowering::Plain, limits) {
                Some(again) => self.run = again,
                None => return,
            }
        }
        if from != at {
            self.open = None;
            self.run.mark(Marks::default());
            self.run.go_to(from, stop);
        }
        self.run.mark(self.shown.clone());
    }

    /// The number of the next step.
    fn position(&self) -> u64 {
        self.open.as_ref().map_or_else(|| self.run.steps(), |open| open.step.seq)
    }

    fn is_over(&self) -> bool {
        self.open.is_none() && self.run.outcome().is_some()
    }

    /// Whether a node of the innermost call is shown.
    fn shows(&self, code: &Code, slots: usize) -> bool {
        let function = || self.run.name(self.run.machine.func);
        self.shown.has(&code.slots[slots]) || function().is_some_and(|of| self.shown.has_function(of))
    }

    /// The next step: executes up to the start of the node after it. `None` when the run is over, or at a step without
    /// one that is wanted before.
    fn next(&mut self, end: u64) -> Option<Step> {
        while self.run.outcome().is_none() {
            if let Some((code, slots)) = started(&self.run)
                && (self.open.is_some() || self.shows(code, slots))
            {
                let shown = self.shows(code, slots);
                let pending = if shown { begin(&self.run, code, slots) } else { None };
                let done = self.open.take().map(|pending| close(&self.run, pending));
                self.run.instruction();
                // What there was no fuel for has not been executed.
                self.open = pending.filter(|pending| pending.step.seq < self.run.steps());
                if done.is_some() {
                    return done;
                }
            } else if self.open.is_some() {
                self.run.instruction();
            } else {
                self.run.resume(end.saturating_sub(self.run.steps()));
            }
            if self.open.is_none() && self.run.steps() >= end {
                return None;
            }
        }
        let mut pending = self.open.take()?;
        let stopped = match self.run.outcome() {
            Some(Outcome::Returned { .. }) | None => false,
            // What the run stops at may be behind the last node that was executed.
            Some(
                Outcome::ReachedHole { place, .. }
                | Outcome::LimitReached { place, .. }
                | Outcome::Cancelled { place },
            ) => place.at().and_then(|at| at.node) == Some(pending.step.node),
            Some(
                Outcome::Trapped { .. } | Outcome::ContractViolated { .. } | Outcome::NotVerified { .. },
            ) => true,
        };
        if stopped {
            pending.step.note = Some(Note::Stopped);
            return Some(pending.step);
        }
        Some(close(&self.run, pending))
    }
}

/// The node that starts at the next instruction, by its code and where it is among the slots.
pub(crate) fn started(run: &Run) -> Option<(&Arc<Code>, usize)> {
    let (code, at) = run.code()?;
    let slots = *code.starts.get(at)?;
    (slots != NO_START).then_some((code, slots as usize))
}

fn begin(run: &Run, code: &Arc<Code>, slots: usize) -> Option<Pending> {
    let found = &code.slots[slots];
    let depth = run.machine.frames.len();
    let step = Step {
        seq: run.steps(),
        frame: depth.saturating_sub(1) as u32,
        function: run.name(run.machine.func)?,
        region: found.region,
        node: found.node,
        inputs: found.inputs.iter().filter_map(|(loc, ty)| shown(run, *loc, ty)).collect(),
        outputs: Vec::new(),
        note: (run.machine.contract_depth != 0).then_some(Note::InContract),
    };
    Some(Pending { step, depth, code: Arc::clone(code), slots })
}

/// Completes a step with what it made; a call that has not returned has made nothing.
fn close(run: &Run, pending: Pending) -> Step {
    let Pending { mut step, depth, code, slots } = pending;
    if depth == run.machine.frames.len() {
        let outputs = code.slots[slots].outputs.iter();
        step.outputs = outputs.filter_map(|(loc, ty)| shown(run, *loc, ty)).collect();
    }
    step
}

fn shown(run: &Run, loc: Loc, ty: &lmlang_ir::Type) -> Option<Shown> {
    show(run.checked().program(), ty, &run.read(loc), &|index| run.name(index), Budget::STEP)
}
