//! Flat positions of everything in one function, for checks that visit all of it.
//!
//! A walk over the region tree gives each node and region an interval of a clock, so that "in scope" and "encloses"
//! are comparisons of numbers instead of climbs. The walk keeps its own stack: nesting costs no recursion.

use std::cell::Cell;
use std::collections::HashMap;

use lmlang_ir::{
    Attr, Body, Exit, Function, Node, NodeRef, Op, Opcode, Program, RegionOwner, RegionRef, Type, VarRef,
};

use crate::ports;

const NONE: u32 = u32::MAX;

/// Positions of all nodes and regions of one function.
#[derive(Debug)]
pub(crate) struct Layout<'a> {
    slots: Slots,
    nodes: Vec<PlacedNode<'a>>,
    regions: Vec<PlacedRegion>,
    variables: Vec<PlacedVariable>,
    outputs: Vec<Type>,
}

/// A node with its interval. The clock starts at 1; what stands in a cycle of regions has no interval.
#[derive(Debug)]
pub(crate) struct PlacedNode<'a> {
    pub(crate) of: NodeRef,
    pub(crate) node: &'a Node,
    pub(crate) enter: u32,
    pub(crate) exit: u32,
    region: u32,
    previous: u32,
    first_region: u32,
    outputs: u32,
    /// Number of outputs, or `NONE` when they are not known.
    output_count: u32,
    /// Set by whoever looks at an input that takes a value from here.
    pub(crate) used: Cell<bool>,
    /// Tells whether an exit leaves it.
    pub(crate) left: bool,
}

#[derive(Debug)]
pub(crate) struct PlacedRegion {
    pub(crate) of: RegionRef,
    pub(crate) enter: u32,
    pub(crate) exit: u32,
    /// Tells whether it is, or is inside of, the region of a contract.
    pub(crate) contract: bool,
    next: u32,
}

#[derive(Debug)]
struct PlacedVariable {
    of: VarRef,
    read: bool,
}

/// From a ref number to a position in the lists.
#[derive(Debug)]
enum Slots {
    /// Numbers that lie close together: from the first on.
    Dense(u64, Vec<u32>),
    Sparse(HashMap<u64, u32>),
}

impl Slots {
    fn new(range: Option<(u64, u64)>, count: usize) -> Slots {
        match range {
            Some((first, last)) if last - first < 16 * count as u64 + 1024 => {
                Slots::Dense(first, vec![NONE; (last - first + 1) as usize])
            }
            Some(_) | None => Slots::Sparse(HashMap::with_capacity(count)),
        }
    }

    fn set(&mut self, number: u64, at: usize) {
        match self {
            Slots::Dense(first, table) => table[(number - *first) as usize] = at as u32,
            Slots::Sparse(map) => {
                map.insert(number, at as u32);
            }
        }
    }

    fn get(&self, number: u64) -> Option<usize> {
        let at = match self {
            Slots::Dense(first, table) => *table.get(usize::try_from(number.checked_sub(*first)?).ok()?)?,
            Slots::Sparse(map) => *map.get(&number)?,
        };
        (at != NONE).then_some(at as usize)
    }
}

/// A region that is being walked: what is left of its nodes, and of the regions of the node before.
struct Frame {
    region: u32,
    next: usize,
    end: usize,
    previous: u32,
    /// The next region of the node that was entered last.
    inner: u32,
}

impl<'a> Layout<'a> {
    pub(crate) fn new(program: &Program, function: &'a Function) -> Layout<'a> {
        let body = function.body();
        let counts = body.counts();
        let mut nodes = Vec::with_capacity(counts.nodes as usize);
        let mut outputs = Vec::with_capacity(counts.nodes as usize);
        let (mut read, mut left) = (Vec::new(), Vec::new());
        for (of, node) in body.nodes() {
            let start = outputs.len();
            let known = ports::push_outputs(program, function, node, &mut outputs).is_some();
            if !known {
                outputs.truncate(start);
            }
            read.extend(read_by(node.op()));
            each_left(node.op(), |of| left.push(of));
            nodes.push(PlacedNode {
                of,
                node,
                enter: 0,
                exit: 0,
                region: NONE,
                previous: NONE,
                first_region: NONE,
                outputs: start as u32,
                output_count: if known { (outputs.len() - start) as u32 } else { NONE },
                used: Cell::new(false),
                left: false,
            });
        }
        let mut regions = Vec::with_capacity(counts.regions as usize);
        for (of, _) in body.regions() {
            regions.push(PlacedRegion { of, enter: 0, exit: 0, contract: false, next: NONE });
        }
        let variables: Vec<PlacedVariable> =
            body.variables().map(|(of, _)| PlacedVariable { of, read: false }).collect();
        let ends = [
            nodes.first().zip(nodes.last()).map(|(a, b)| (a.of.number(), b.of.number())),
            regions.first().zip(regions.last()).map(|(a, b)| (a.of.number(), b.of.number())),
            variables.first().zip(variables.last()).map(|(a, b)| (a.of.number(), b.of.number())),
        ];
        let range = ends.into_iter().flatten().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let mut slots = Slots::new(range, nodes.len() + regions.len() + variables.len());
        nodes.iter().enumerate().for_each(|(at, placed)| slots.set(placed.of.number(), at));
        regions.iter().enumerate().for_each(|(at, placed)| slots.set(placed.of.number(), at));
        variables.iter().enumerate().for_each(|(at, placed)| slots.set(placed.of.number(), at));
        let mut layout = Layout { slots, nodes, regions, variables, outputs };
        for of in left {
            if let Some(at) = layout.node_at(of) {
                layout.nodes[at].left = true;
            }
        }
        for of in read {
            if let Some(at) = layout.variable_at(of) {
                layout.variables[at].read = true;
            }
        }
        layout.walk(body);
        layout
    }

    /// Walks all trees of regions: from the function's, those of contracts, and those whose owner is gone.
    fn walk(&mut self, body: &Body) {
        let mut roots = Vec::new();
        for at in (0..self.regions.len()).rev() {
            let owner = body.region(self.regions[at].of).map(|region| region.owner);
            match owner {
                Some(RegionOwner::Node(node)) if self.node_at(node).is_some() => {
                    let owner = self.node_at(node).unwrap_or_default();
                    self.regions[at].next = self.nodes[owner].first_region;
                    self.nodes[owner].first_region = at as u32;
                }
                Some(RegionOwner::Contract(_)) => {
                    self.regions[at].contract = true;
                    roots.push(at as u32);
                }
                Some(RegionOwner::Function | RegionOwner::Node(_)) | None => roots.push(at as u32),
            }
        }
        let mut clock = 1;
        let (mut sequence, mut frames) = (Vec::new(), Vec::new());
        while let Some(root) = roots.pop() {
            self.open(body, root, clock, &mut sequence, &mut frames);
            while let Some(frame) = frames.last_mut() {
                if frame.inner != NONE {
                    let (inner, contract) = (frame.inner, self.regions[frame.region as usize].contract);
                    frame.inner = self.regions[inner as usize].next;
                    self.regions[inner as usize].contract |= contract;
                    self.open(body, inner, clock, &mut sequence, &mut frames);
                    continue;
                }
                if frame.previous != NONE {
                    self.nodes[frame.previous as usize].exit = clock;
                }
                if frame.next < frame.end {
                    let at = sequence[frame.next];
                    let placed = &mut self.nodes[at as usize];
                    (placed.enter, placed.region, placed.previous) = (clock, frame.region, frame.previous);
                    (frame.previous, frame.inner) = (at, placed.first_region);
                    frame.next += 1;
                    clock += 1;
                    continue;
                }
                self.regions[frame.region as usize].exit = clock;
                frames.pop();
                sequence.truncate(frames.last().map_or(0, |frame| frame.end));
            }
        }
    }

    fn open(&mut self, body: &Body, at: u32, clock: u32, sequence: &mut Vec<u32>, frames: &mut Vec<Frame>) {
        let region = &mut self.regions[at as usize];
        region.enter = clock;
        let start = sequence.len();
        let of = region.of;
        sequence
            .extend(body.nodes_in(of).filter_map(|node| self.slots.get(node.number())).map(|at| at as u32));
        frames.push(Frame { region: at, next: start, end: sequence.len(), previous: NONE, inner: NONE });
    }

    fn node_at(&self, of: NodeRef) -> Option<usize> {
        self.slots.get(of.number()).filter(|at| self.nodes.get(*at).is_some_and(|placed| placed.of == of))
    }

    fn variable_at(&self, of: VarRef) -> Option<usize> {
        let at = self.slots.get(of.number())?;
        self.variables.get(at).is_some_and(|placed| placed.of == of).then_some(at)
    }

    /// Tells whether a node reads a variable.
    pub(crate) fn is_read(&self, of: VarRef) -> bool {
        self.variable_at(of).is_some_and(|at| self.variables[at].read)
    }

    pub(crate) fn nodes(&self) -> &[PlacedNode<'a>] {
        &self.nodes
    }

    pub(crate) fn node(&self, of: NodeRef) -> Option<&PlacedNode<'a>> {
        self.nodes.get(self.slots.get(of.number())?).filter(|placed| placed.of == of)
    }

    pub(crate) fn region(&self, of: RegionRef) -> Option<&PlacedRegion> {
        self.regions.get(self.slots.get(of.number())?).filter(|placed| placed.of == of)
    }

    /// The region that a node stands in, when the node has an interval.
    pub(crate) fn region_around(&self, placed: &PlacedNode<'_>) -> Option<&PlacedRegion> {
        self.regions.get(placed.region as usize)
    }

    pub(crate) fn previous(&self, placed: &PlacedNode<'_>) -> Option<(NodeRef, &'a Node)> {
        self.nodes.get(placed.previous as usize).map(|previous| (previous.of, previous.node))
    }

    /// The types of a node's outputs, when they are known.
    pub(crate) fn outputs(&self, placed: &PlacedNode<'_>) -> Option<&[Type]> {
        let start = placed.outputs as usize;
        (placed.output_count != NONE).then(|| &self.outputs[start..start + placed.output_count as usize])
    }
}

/// The variable that an operator reads.
pub(crate) fn read_by(op: &Op) -> Option<VarRef> {
    match (op.code(), op.attr()) {
        (Opcode::VarGet, Attr::Variable(of)) => Some(*of),
        (_, _) => None,
    }
}

/// Calls `visit` with each node that an operator may leave.
pub(crate) fn each_left(op: &Op, mut visit: impl FnMut(NodeRef)) {
    match (op.code(), op.attr()) {
        (Opcode::Break | Opcode::BreakIf, Attr::Exit(of)) => visit(*of),
        (_, Attr::Switch(targets)) => targets.iter().for_each(|exit| match exit {
            Exit::Break(of) => visit(*of),
            Exit::Continue(_) | Exit::Return => {}
        }),
        (_, _) => {}
    }
}
