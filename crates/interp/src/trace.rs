//! Traces: what a run did, node by node, found out by executing it again.

use lmlang_ir::{Const, FuncRef, NodeRef, Opcode as Op, RegionRef, Value};

use crate::code::{Loc, Lowering};
use crate::outcome::Outcome;
use crate::run::{Progress, Run};
use crate::value::{Budget, Shown, show};

/// How much of a run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceLevel {
    /// Nothing.
    None,
    /// Calls and returns.
    Calls,
    /// Also what opens and leaves regions.
    Regions,
    /// Every node.
    Nodes,
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
        let values =
            self.inputs.iter().chain(&self.outputs).map(|shown| size_of::<Shown>() + heap_of(&shown.value));
        size_of::<Step>() + values.sum::<usize>()
    }
}

/// About how many bytes a shown value takes beside itself; what is shown is never deep.
fn heap_of(value: &Value) -> usize {
    match value {
        Value::Const(Const::String(text)) => text.len(),
        Value::Const(Const::Bytes(bytes)) => bytes.len(),
        Value::Const(_) | Value::Ptr(..) | Value::FuncRef(_) | Value::Enum(_, None) => 0,
        Value::Enum(_, Some(part)) | Value::Box(_, part) => size_of::<Value>() + heap_of(part),
        Value::Struct(_, parts)
        | Value::Array(_, parts)
        | Value::FixedArray(_, parts)
        | Value::Closure(_, _, parts) => parts.iter().map(|part| size_of::<Value>() + heap_of(part)).sum(),
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
/// It executes the run again, without trace up to what is wanted and node by node from there. Pages in order cost what
/// they show; going back starts over.
#[derive(Debug)]
pub struct Trace {
    run: Run,
    level: TraceLevel,
    /// The step that is in progress.
    open: Option<Pending>,
}

#[derive(Debug)]
struct Pending {
    step: Step,
    depth: usize,
    outputs: Vec<(Loc, lmlang_ir::Type)>,
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
        Some(Trace { run: run.again(Lowering::Plain, limits)?, level, open: None })
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
        if from < self.run.steps() {
            let limits = self.run.options().limits;
            match self.run.again(Lowering::Plain, limits) {
                Some(again) => self.run = again,
                None => return TracePage::default(),
            }
            self.open = None;
        }
        self.skip(from);
        let mut page = TracePage::default();
        let end = from.saturating_add(most);
        while page.steps.len() < count && self.run.steps() < end {
            match self.next() {
                Some(step) if self.wants(step.node, step.function) => page.steps.push(step),
                Some(_) => {}
                None => return page,
            }
        }
        page.next = self.run.outcome().is_none().then(|| self.run.steps());
        page
    }

    /// Executes without looking, up to a step.
    fn skip(&mut self, to: u64) {
        loop {
            let (steps, fuel) = (self.run.steps(), self.run.fuel_used());
            if steps >= to || self.run.outcome().is_some() {
                return;
            }
            // Whole segments first, which are shorter than this; the rest by instructions.
            let far = to - steps;
            if far > 512 {
                if self.run.resume(far - 256) == Progress::Done {
                    return;
                }
                if self.run.fuel_used() == fuel {
                    self.run.instruction();
                }
            } else {
                self.run.instruction();
            }
        }
    }

    fn wants(&self, node: NodeRef, function: FuncRef) -> bool {
        let program = self.run.checked().program();
        let op = program.function(function).and_then(|f| f.body().node(node)).map(|node| node.op().code());
        let Some(op) = op else { return false };
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
        match self.level {
            TraceLevel::None => false,
            TraceLevel::Calls => calls,
            TraceLevel::Regions => calls || regions,
            TraceLevel::Nodes => true,
        }
    }

    /// The next step: executes up to the start of the node after it.
    fn next(&mut self) -> Option<Step> {
        loop {
            if let Some(started) = self.started() {
                let done = self.open.replace(started);
                let done = done.map(|pending| self.close(pending));
                self.run.instruction();
                if done.is_some() {
                    return done;
                }
            } else if self.run.outcome().is_some() {
                let mut pending = self.open.take()?;
                let returned = matches!(self.run.outcome(), Some(Outcome::Returned { .. }));
                let unfinished = match self.run.outcome() {
                    Some(Outcome::LimitReached { place, .. } | Outcome::Cancelled { place }) => {
                        place.at().and_then(|at| at.node) != Some(pending.step.node)
                    }
                    Some(_) | None => false,
                };
                if !returned {
                    pending.outputs.clear();
                    if !unfinished {
                        pending.step.note = Some(Note::Stopped);
                    }
                }
                return Some(self.close(pending));
            } else {
                self.run.instruction();
            }
        }
    }

    /// The node that starts at the next instruction.
    fn started(&self) -> Option<Pending> {
        if self.run.outcome().is_some() {
            return None;
        }
        let (code, at) = self.run.code()?;
        let found = code.marks.binary_search_by_key(&(at as u32), |mark| mark.0).ok()?;
        let slots = &code.slots[code.marks[found].1 as usize];
        let function = self.run.name(self.run.machine.func)?;
        let region = self.run.checked().program().function(function)?.body().node(slots.node)?.region();
        let inputs = slots.inputs.iter().filter_map(|(loc, ty)| self.show(*loc, ty)).collect();
        let depth = self.run.machine.frames.len();
        let note = (self.run.machine.contract_depth != 0).then_some(Note::InContract);
        Some(Pending {
            step: Step {
                seq: self.run.steps(),
                frame: depth.saturating_sub(1) as u32,
                function,
                region,
                node: slots.node,
                inputs,
                outputs: Vec::new(),
                note,
            },
            depth,
            outputs: slots.outputs.to_vec(),
        })
    }

    fn show(&self, loc: Loc, ty: &lmlang_ir::Type) -> Option<Shown> {
        let program = self.run.checked().program();
        show(program, ty, &self.run.read(loc), &|index| self.run.name(index), Budget::STEP)
    }

    /// Completes a step with what it made; a call that has not returned has made nothing.
    fn close(&self, mut pending: Pending) -> Step {
        if pending.depth == self.run.machine.frames.len() {
            pending.step.outputs =
                pending.outputs.iter().filter_map(|(loc, ty)| self.show(*loc, ty)).collect();
        }
        pending.step
    }
}
