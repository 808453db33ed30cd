//! Why a value is what it is: the steps of a run that it follows from.
//!
//! This is dynamic backward slicing over data (Korel and Laski, "Dynamic program slicing", 1988). A run is executed again up to
//! the step in question; for each step of a window before it is noted which earlier steps made what it read. What was made
//! before the window is not followed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use lmlang_ir::{Attr, Body, Exit, FuncRef, NodeRef, Opcode as Op, RegionOwner, RegionRef, Source, VarRef};

use super::Interrupt;
use crate::code::{Code, Lowering};
use crate::heap::Heap;
use crate::run::{Progress, Run};
use crate::trace::started;
use crate::value::Word;

/// Steps before the one in question that are looked at.
const WINDOW: u64 = 2_000_000;

/// Steps between two looks at whether to stop.
const LOOK: u64 = 1 << 14;

/// The steps that a value follows from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// Their numbers, ascending; the last one is the step in question.
    pub steps: Vec<u64>,
    /// Whether there are no others: nothing was made before what was looked at, and they are not too many.
    pub is_complete: bool,
}

/// Finds the steps that a value follows from: output `port` of a step, or, of one without outputs, that input.
///
/// At most `most` steps, those that are nearest. `None` where there is no such step or port, or `interrupt` says so.
pub fn why(run: &Run, step: u64, port: usize, most: usize, interrupt: Interrupt<'_>) -> Option<Why> {
    let limits = run.options().limits;
    let mut run = run.again(Lowering::Plain, limits)?;
    let first = step.saturating_sub(WINDOW);
    run.go_to(first, interrupt);
    let mut walk = Walk {
        tables: HashMap::new(),
        frames: Vec::new(),
        globals: HashMap::new(),
        memory: Memory::default(),
        log: Log::default(),
    };
    loop {
        while run.outcome().is_none() && started(&run).is_none() {
            if run.instruction() == Progress::Waiting {
                return None;
            }
        }
        if run.outcome().is_some() {
            return None;
        }
        let at = run.steps();
        if at.is_multiple_of(LOOK) && interrupt() {
            return None;
        }
        let (outputs, inputs) = walk.step(&run)?;
        if at == step {
            let root = match (outputs, inputs) {
                (0, inputs) if port < inputs => Made { by: walk.log.last(), part: Part::Input(port as u16) },
                (outputs, _) if port < outputs => Made { by: walk.log.last(), part: Part::All },
                (..) => return None,
            };
            return Some(walk.log.slice(first, root, most));
        }
        run.instruction();
        if run.steps() == at && run.outcome().is_none() {
            // A step that there is no fuel for.
            return None;
        }
    }
}

/// What made a value: a step of the window, by its position behind the first one plus one. Zero is nothing that is known.
#[derive(Clone, Copy, Debug, Default)]
struct Made {
    by: u32,
    part: Part,
}

/// What of a step a value is.
#[derive(Clone, Copy, Debug, Default)]
enum Part {
    /// Its output, which all that it read went into.
    #[default]
    All,
    /// What it read as an input, and passed on.
    Input(u16),
}

impl Made {
    /// That of the next ports, if it is something passed on.
    fn port(self, port: u16) -> Made {
        match self.part {
            Part::All => self,
            Part::Input(first) => Made { part: Part::Input(first.saturating_add(port)), ..self },
        }
    }
}

/// Of each step, what made its inputs, and what else it read.
#[derive(Debug, Default)]
struct Log {
    /// Where those of a step begin.
    starts: Vec<u32>,
    made: Vec<Made>,
}

impl Log {
    fn last(&self) -> u32 {
        self.starts.len() as u32
    }

    fn of(&self, step: u32) -> &[Made] {
        let at = step as usize - 1;
        let end = self.starts.get(at + 1).map_or(self.made.len(), |end| *end as usize);
        &self.made[self.starts[at] as usize..end]
    }

    fn slice(&self, first: u64, root: Made, most: usize) -> Why {
        let mut why = Why { steps: Vec::new(), is_complete: true };
        let mut seen: BTreeSet<u32> = BTreeSet::new();
        // All of a step, or single inputs of it, from the newest step back.
        let mut open: BTreeSet<(u32, Option<u16>)> = BTreeSet::new();
        let key = |made: Made| match made.part {
            Part::All => (made.by, None),
            Part::Input(input) => (made.by, Some(input)),
        };
        open.insert(key(root));
        while let Some((by, input)) = open.pop_last() {
            if !seen.contains(&by) && seen.len() == most {
                why.is_complete = false;
                break;
            }
            seen.insert(by);
            let all = self.of(by);
            let wanted = match input {
                None => all,
                Some(input) => all.get(usize::from(input)).map_or(&[][..], std::slice::from_ref),
            };
            for made in wanted {
                match made.by {
                    0 if first > 0 => why.is_complete = false,
                    0 => {}
                    _ => drop(open.insert(key(*made))),
                }
            }
        }
        why.steps = seen.into_iter().map(|by| first + u64::from(by) - 1).collect();
        why
    }
}

/// Who wrote bytes of linear memory last.
#[derive(Debug, Default)]
struct Memory {
    bytes: HashMap<u64, u32>,
    /// Larger pieces: from, to, by whom.
    pieces: Vec<(u64, u64, u32)>,
}

/// Bytes of a piece whose writers are looked for.
const MOST_READ: u64 = 1 << 16;

/// Bytes of a piece that is noted as one.
const PIECE: u64 = 64;

impl Memory {
    fn write(&mut self, from: u64, length: u64, by: u32) {
        if length > PIECE {
            self.pieces.retain(|(start, end, _)| *start < from || *end > from + length);
            self.pieces.push((from, from + length, by));
        } else {
            self.bytes.extend((from..from + length).map(|at| (at, by)));
        }
    }

    fn read(&self, from: u64, length: u64) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for at in from..from.saturating_add(length.min(MOST_READ)) {
            let one = self.bytes.get(&at).copied().unwrap_or(0);
            let pieces = self.pieces.iter().filter(|(start, end, _)| (*start..*end).contains(&at));
            let by = pieces.map(|(_, _, by)| *by).max().unwrap_or(0).max(one);
            found.insert(by);
        }
        found
    }
}

/// What is known of a function.
#[derive(Debug)]
struct Table {
    of: FuncRef,
    code: Arc<Code>,
    nodes: HashMap<NodeRef, usize>,
    regions: HashMap<RegionRef, usize>,
    variables: HashMap<VarRef, usize>,
}

/// A call.
#[derive(Debug)]
struct Frame {
    table: Arc<Table>,
    /// What its parameters are inputs of.
    params: Made,
    /// What a closure that is called captured.
    captures: Made,
    outputs: Vec<Made>,
    regions: Vec<Made>,
    variables: Vec<Made>,
    /// The call that is being made.
    calling: Option<usize>,
    /// What was returned from it last.
    returned: Made,
}

/// The way through the window.
struct Walk {
    tables: HashMap<u32, Arc<Table>>,
    frames: Vec<Frame>,
    globals: HashMap<VarRef, Made>,
    memory: Memory,
    log: Log,
}

impl Walk {
    fn table(&mut self, run: &Run, func: u32) -> Option<Arc<Table>> {
        if let Some(table) = self.tables.get(&func) {
            return Some(Arc::clone(table));
        }
        let (of, code) = run.linked(func)?;
        let body = run.checked().program().function(of)?.body();
        let nodes = code.slots.iter().enumerate().map(|(at, slots)| (slots.node, at)).collect();
        let regions = body.regions().enumerate().map(|(at, (of, _))| (of, at)).collect();
        let variables = body.variables().enumerate().map(|(at, (of, _))| (of, at)).collect();
        let table = Arc::new(Table { of, code: Arc::clone(code), nodes, regions, variables });
        self.tables.insert(func, Arc::clone(&table));
        Some(table)
    }

    fn enter(&mut self, run: &Run, func: u32, params: Made, captures: Made) -> Option<()> {
        let table = self.table(run, func)?;
        let (outputs, regions) = (table.code.slots.len(), table.regions.len());
        let variables = table.variables.len();
        self.frames.push(Frame {
            table,
            params,
            captures,
            outputs: vec![Made::default(); outputs],
            regions: vec![Made::default(); regions],
            variables: vec![Made::default(); variables],
            calling: None,
            returned: Made::default(),
        });
        Some(())
    }

    /// Brings the calls in step with those of the run.
    fn follow(&mut self, run: &Run) -> Option<()> {
        let frames = &run.machine.frames;
        while self.frames.len() > frames.len() {
            let done = self.frames.pop()?;
            if let Some(caller) = self.frames.last_mut()
                && let Some(call) = caller.calling.take()
            {
                caller.outputs[call] = done.returned;
            }
        }
        let current = run.machine.func;
        if self.frames.len() == frames.len()
            && run.name(current) != self.frames.last().map(|frame| frame.table.of)
        {
            // One that nobody called follows another one.
            self.frames.pop();
        }
        while self.frames.len() < frames.len() {
            let depth = self.frames.len();
            let func = frames.get(depth + 1).map_or(current, |above| above.func);
            let (mut params, mut captures) = (Made::default(), Made::default());
            match self.frames.last().map(|caller| (caller, caller.calling)) {
                Some((caller, Some(call))) => {
                    let by = caller.outputs[call].by;
                    let first = u16::from(caller.table.code.slots[call].op != Op::Call);
                    params = Made { by, part: Part::Input(first) };
                    captures = Made { by, part: Part::Input(0) };
                }
                // An invariant is looked at, of what is returned or else of what was given.
                Some((caller, None)) => {
                    let of = if caller.returned.by > 0 { caller.returned } else { caller.params };
                    params = Made { part: Part::All, ..of };
                }
                None => {}
            }
            self.enter(run, func, params, captures)?;
        }
        Some(())
    }

    /// Notes a step that comes next; answers how many outputs and inputs it has.
    fn step(&mut self, run: &Run) -> Option<(usize, usize)> {
        self.follow(run)?;
        let (_, at) = started(run)?;
        let frame = self.frames.last_mut()?;
        let table = Arc::clone(&frame.table);
        let slots = &table.code.slots[at];
        let body = run.checked().program().function(table.of)?.body();
        let node = body.node(slots.node)?;
        self.log.starts.push(self.log.made.len() as u32);
        let by = self.log.last();
        for source in node.inputs().iter() {
            self.log.made.push(source.map_or(Made::default(), |source| frame.made(body, source)));
        }
        let all = Made { by, part: Part::All };
        let passed = |input: u16| Made { by, part: Part::Input(input) };
        frame.outputs[at] = all;
        let number = |input: usize| match slots.inputs.get(input).map(|(loc, _)| run.read(*loc)) {
            Some(Word::Num(value)) => value,
            Some(Word::Ref(_)) | None => 0,
        };
        let address = |input: usize| u64::from(number(input) as u32);
        match (slots.op, node.op().attr()) {
            (Op::VarGet, Attr::Variable(of)) => {
                let at = table.variables.get(of)?;
                self.log.made.push(frame.variables[*at]);
            }
            (Op::VarSet, Attr::Variable(of)) => frame.variables[*table.variables.get(of)?] = passed(0),
            (Op::GlobalGet, Attr::Variable(of)) => {
                self.log.made.push(self.globals.get(of).copied().unwrap_or_default());
            }
            (Op::GlobalSet, Attr::Variable(of)) => drop(self.globals.insert(*of, passed(0))),
            (Op::CaptureGet, _) => self.log.made.push(frame.captures),
            (op, Attr::Memory(access)) => {
                let (from, length) =
                    (address(0) + u64::from(access.offset), u64::from(op.access_bytes(access.ty)));
                match op {
                    Op::Store | Op::Store8 | Op::Store16 | Op::Store32 => self.memory.write(from, length, by),
                    _ => {
                        let read = self.memory.read(from, length).into_iter();
                        self.log.made.extend(read.map(|by| Made { by, part: Part::All }));
                    }
                }
            }
            (Op::MemoryCopy, _) => {
                let (to, from, length) = (address(0), address(1), address(2));
                let read = self.memory.read(from, length).into_iter();
                self.log.made.extend(read.map(|by| Made { by, part: Part::All }));
                self.memory.write(to, length, by);
            }
            (Op::MemoryFill | Op::MemoryInit, _) => self.memory.write(address(0), address(2), by),
            (Op::BytesStore, _) => {
                let given = slots.inputs.get(1).map(|(loc, _)| run.read(*loc));
                if let Some(Word::Ref(given)) = given
                    && let Some(Heap::Bytes(bytes)) = given.get()
                {
                    self.memory.write(address(0), bytes.len() as u64, by);
                }
            }
            (Op::BytesLoad, _) => {
                let read = self.memory.read(address(0), address(1)).into_iter();
                self.log.made.extend(read.map(|by| Made { by, part: Part::All }));
            }
            (Op::Call | Op::CallIndirect | Op::ClosureCall, _) => frame.calling = Some(at),
            (Op::Return, _) => frame.returned = passed(0),
            (Op::Yield, _) => frame.give(body, node.region(), passed(0)),
            (Op::Break | Op::Continue, Attr::Exit(to)) => frame.leave(body, slots.op, *to, passed(0)),
            (Op::BreakIf | Op::ContinueIf, Attr::Exit(to)) if number(0) != 0 => {
                frame.leave(body, slots.op, *to, passed(1));
            }
            (Op::BrSwitch, Attr::Switch(exits)) => {
                // Which way it goes matters to nobody who is not on that way.
                for exit in exits.iter() {
                    match exit {
                        Exit::Break(to) => frame.leave(body, Op::Break, *to, passed(1)),
                        Exit::Continue(to) => frame.leave(body, Op::Continue, *to, passed(1)),
                        Exit::Return => frame.returned = passed(1),
                    }
                }
            }
            _ => {
                for region in node.regions() {
                    frame.regions[*table.regions.get(region)?] = passed(0);
                }
            }
        }
        Some((slots.outputs.len(), node.inputs().len()))
    }
}

impl Frame {
    /// What made a value.
    fn made(&self, body: &Body, source: Source) -> Made {
        match source {
            Source::Node(node, port) => {
                let made = self.table.nodes.get(&node).map(|at| self.outputs[*at]);
                made.map_or(Made::default(), |made| made.port(port))
            }
            Source::Param(_, port) => self.params.port(port),
            Source::RegionParam(region, port) => match body.region(region).map(|region| region.owner) {
                Some(RegionOwner::Contract(_)) => self.returned.port(port),
                Some(RegionOwner::Function | RegionOwner::Node(_)) | None => {
                    let made = self.table.regions.get(&region).map(|at| self.regions[*at]);
                    made.map_or(Made::default(), |made| made.port(port))
                }
            },
        }
    }

    /// Gives what a region yields to the node that owns it.
    fn give(&mut self, body: &Body, region: RegionRef, made: Made) {
        if let Some(RegionOwner::Node(owner)) = body.region(region).map(|region| region.owner)
            && let Some(at) = self.table.nodes.get(&owner)
        {
            self.outputs[*at] = made;
        }
    }

    /// Gives what an exit takes along to the node that it leaves, or to the regions of the loop that it continues.
    fn leave(&mut self, body: &Body, op: Op, to: NodeRef, made: Made) {
        if matches!(op, Op::Break | Op::BreakIf) {
            if let Some(at) = self.table.nodes.get(&to) {
                self.outputs[*at] = made;
            }
            return;
        }
        for region in body.node(to).map_or(&[][..], |node| node.regions()) {
            if let Some(at) = self.table.regions.get(region) {
                self.regions[*at] = made;
            }
        }
    }
}
