//! Where values are computed: right in the place that the end of their region would move them to.
//!
//! A place may hold another value until then (a parameter of a loop, which the next round overwrites): that one's uses
//! must not come later on the path. Places are given from the outside in, so each region only has to look at what
//! stands in it behind the node, and, where an exit leaves it on the way, at all that stands behind it; an arm of an
//! `if` does not mind the other arm.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use lmlang_ir::ops::Ports;
use lmlang_ir::{Attr, Body, Exit, Node, NodeRef, Opcode as Op, RegionOwner, RegionRef, Scalar, Source};

use super::{Lower, select};
use crate::code::{Loc, Lowering};
use crate::value::{Class, class};

/// Values of regions inside of each other that one place is given to: each is looked at for the next.
const MOST_HOLDERS: usize = 64;

/// What a place holds before the value that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// Nothing.
    Free,
    /// A value that may not be overwritten before its last use.
    Holds(Source),
    /// A value that is needed again and again: only moves at the end may overwrite it.
    Closed,
}

/// Nodes and regions in the order of the text, each with the interval of what is inside.
#[derive(Debug, Default)]
pub(super) struct Positions {
    nodes: HashMap<NodeRef, (u32, u32)>,
    regions: HashMap<RegionRef, (u32, u32)>,
    /// Where the innermost body of a loop begins that a region is or lies in.
    rounds: HashMap<RegionRef, u32>,
    /// Where exits stand, with what they leave.
    exits: Vec<(u32, NodeRef)>,
    /// Where values are used, in order, for those that were asked for: some have a use in each of thousands of regions.
    uses: RefCell<HashMap<Source, Rc<[u32]>>>,
}

impl Positions {
    pub(super) fn of(body: &Body, roots: impl Iterator<Item = RegionRef>) -> Positions {
        let mut positions = Positions::default();
        let mut clock = 0;
        for root in roots {
            positions.walk(body, root, &mut clock);
        }
        positions
    }

    fn walk(&mut self, body: &Body, root: RegionRef, clock: &mut u32) {
        enum Task {
            Node(NodeRef),
            NodeEnd(NodeRef),
            Region(RegionRef),
            RegionEnd(RegionRef),
        }
        let mut tasks = vec![Task::Region(root)];
        let mut rounds: Vec<u32> = Vec::new();
        while let Some(task) = tasks.pop() {
            *clock += 1;
            match task {
                Task::Region(region) => {
                    self.regions.insert(region, (*clock, *clock));
                    if is_loop_body(body, region) {
                        rounds.push(*clock);
                    }
                    self.rounds.extend(rounds.last().map(|round| (region, *round)));
                    tasks.push(Task::RegionEnd(region));
                    let nodes: Vec<NodeRef> = body.nodes_in(region).collect();
                    tasks.extend(nodes.into_iter().rev().map(Task::Node));
                }
                Task::RegionEnd(region) => {
                    self.regions.entry(region).and_modify(|interval| interval.1 = *clock);
                    if is_loop_body(body, region) {
                        rounds.pop();
                    }
                }
                Task::Node(node) => {
                    self.nodes.insert(node, (*clock, *clock));
                    tasks.push(Task::NodeEnd(node));
                    let content = body.node(node);
                    match content.map(|content| content.op().attr()) {
                        Some(Attr::Exit(target)) => self.exits.push((*clock, *target)),
                        Some(Attr::Switch(targets)) => {
                            let targets = targets.iter().filter_map(|exit: &Exit| exit.target());
                            self.exits.extend(targets.map(|target| (*clock, target)));
                        }
                        Some(_) | None => {}
                    }
                    let regions = content.map_or(&[][..], |content| content.regions());
                    tasks.extend(regions.iter().rev().map(|region| Task::Region(*region)));
                }
                Task::NodeEnd(node) => {
                    self.nodes.entry(node).and_modify(|interval| interval.1 = *clock);
                }
            }
        }
    }
}

impl Positions {
    /// Where a value is used, in order.
    fn uses(&self, body: &Body, source: Source) -> Rc<[u32]> {
        if let Some(known) = self.uses.borrow().get(&source) {
            return Rc::clone(known);
        }
        let of_it = body.uses_of(source.number()).filter(|one| body.source_of(*one) == Some(source));
        let mut found: Vec<u32> = of_it.filter_map(|one| Some(self.nodes.get(&one.node)?.0)).collect();
        found.sort_unstable();
        let found: Rc<[u32]> = found.into();
        self.uses.borrow_mut().insert(source, Rc::clone(&found));
        found
    }

    /// The intervals of those of some regions that lie in none of the others, in order.
    pub(super) fn outermost(&self, regions: impl Iterator<Item = RegionRef>) -> Vec<(u32, u32)> {
        let mut all: Vec<_> = regions.filter_map(|region| self.regions.get(&region).copied()).collect();
        all.sort_unstable();
        let mut outermost: Vec<(u32, u32)> = Vec::new();
        for interval in all {
            if outermost.last().is_none_or(|last| last.1 < interval.0) {
                outermost.push(interval);
            }
        }
        outermost
    }

    /// Tells whether a node lies in one of these intervals, which stand in order beside each other.
    pub(super) fn lies_in(&self, node: NodeRef, intervals: &[(u32, u32)]) -> bool {
        let Some((at, _)) = self.nodes.get(&node) else { return false };
        let behind = intervals.partition_point(|(start, _)| start <= at);
        behind > 0 && intervals[behind - 1].1 >= *at
    }

    /// Tells whether something between two nodes may leave what is around both.
    fn may_leave(&self, start: (u32, u32), last: u32) -> bool {
        let first = self.exits.partition_point(|(at, _)| *at <= start.1);
        let between = self.exits[first..].iter().take_while(|(at, _)| *at < last);
        between.into_iter().any(|(_, target)| self.nodes.get(target).is_none_or(|target| target.0 < start.0))
    }
}

impl Lower<'_> {
    /// Gives places to what the end of a region moves.
    pub(super) fn place_values(&mut self, region: RegionRef) {
        if self.style == Lowering::Plain {
            return;
        }
        let body = self.function.body();
        let Some(last) = body.last_in(region) else { return };
        let Some(end) = body.node(last) else { return };
        let places = match (end.op().code(), end.op().attr()) {
            (Op::Yield, _) => match body.region(region).map(|region| region.owner) {
                Some(RegionOwner::Node(owner)) => self.places(Exit::Break(owner)),
                Some(RegionOwner::Function | RegionOwner::Contract(_)) | None => return,
            },
            (Op::Break, Attr::Exit(target)) => self.places(Exit::Break(*target)),
            (Op::Continue, Attr::Exit(target)) => self.places(Exit::Continue(*target)),
            (Op::Return, _) => self.places(Exit::Return),
            _ => return,
        };
        let (mut held, mut late, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for (source, (loc, guard)) in end.inputs().iter().zip(places) {
            let Some(source @ Source::Node(node, _)) = source else { continue };
            let Some(home) = body.node(node).map(|node| node.region()) else { continue };
            if home != region || self.placed.contains_key(&source) {
                continue;
            }
            // What was placed in regions that have ended is used in them alone.
            let alone = |lower: &Self| {
                let others = lower.holders.get(&loc).map_or(&[][..], Vec::as_slice);
                others.len() < MOST_HOLDERS
                    && others
                        .iter()
                        .all(|other| lower.may_overwrite(node, last, region, Guard::Holds(*other)))
            };
            if self.may_overwrite(node, last, region, guard) && alone(self) {
                self.place(region, source, loc, guard);
                held.push(guard);
                if let (Guard::Holds(before), Op::Continue) = (guard, end.op().code()) {
                    steps.push((node, before));
                }
            } else if let (Guard::Holds(before), Op::Continue) = (guard, end.op().code()) {
                late.push((source, node, loc, before));
            }
        }
        let written = self.sink(region, last, late, &held);
        for (of, before) in steps {
            if self.may_come_late(of, last) {
                self.sink_step(of, before, &held, &written);
            }
        }
    }

    /// Gives a value of a region a place.
    fn place(&mut self, region: RegionRef, source: Source, loc: Loc, guard: Guard) {
        self.placed.insert(source, (loc, guard));
        self.holders.entry(loc).or_default().push(source);
        self.given.push((region, loc));
    }

    /// Forgets who holds a place, for values of a region that has ended.
    pub(super) fn end_places(&mut self, region: RegionRef) {
        while let Some((_, loc)) = self.given.pop_if(|(of, _)| *of == region) {
            if let Some(holders) = self.holders.get_mut(&loc) {
                holders.pop();
            }
        }
    }

    /// Lets the end of a region compute what would otherwise be computed, kept and moved: the next value of a counter
    /// that is still needed behind its increment. Returns what that overwrites.
    fn sink(
        &mut self,
        region: RegionRef,
        end: NodeRef,
        late: Vec<(Source, NodeRef, Loc, Source)>,
        held: &[Guard],
    ) -> Vec<Source> {
        let body = self.function.body();
        let taken: Vec<Source> =
            body.node(end).map_or_else(Vec::new, |end| end.inputs().iter().flatten().collect());
        let mut read: Vec<Source> = Vec::new();
        let mut written: Vec<Source> = Vec::new();
        for (source, of, loc, before) in late {
            let Some(inputs) = self.sinkable(of).filter(|_| self.may_come_late(of, end)) else { continue };
            // At the end its operands must still be there, and nobody else may want what it overwrites.
            let intact = |lower: &Self, inputs: &[Source]| {
                inputs.iter().all(|input| {
                    !held.contains(&Guard::Holds(*input)) && !written.contains(input) && {
                        !matches!(input, Source::Node(made, _) if lower.sunk.contains(made))
                    }
                })
            };
            let free = !taken.contains(&before) && !read.contains(&before);
            if !free || !intact(self, &inputs) {
                continue;
            }
            self.place(region, source, loc, Guard::Holds(before));
            // What one instruction computes together stays together.
            for (operand, input) in inputs.iter().enumerate() {
                let Some((along, operands)) = self.computed_with(of, operand, region) else { continue };
                if !operands.contains(&before) && intact(self, &operands) {
                    debug_assert_eq!(*input, Source::Node(along, 0));
                    self.sunk.insert(along);
                    read.extend(operands);
                    break;
                }
            }
            self.sunk.insert(of);
            read.extend(inputs);
            written.push(before);
        }
        written
    }

    /// Lets the end of a region take the step of a counter: the test of the next round does it too.
    fn sink_step(&mut self, of: NodeRef, before: Source, held: &[Guard], written: &[Source]) {
        let body = self.function.body();
        let Some(node) = body.node(of) else { return };
        let counts = matches!(node.op().attr(), Attr::Scalar(Scalar::I32 | Scalar::I64));
        let Some(inputs) = self.sinkable(of).filter(|_| counts && node.op().code() == Op::Add) else {
            return;
        };
        // What is added stays the same during the round.
        let constant =
            |made: NodeRef| matches!(body.node(made).map(|made| made.op().attr()), Some(Attr::Const(_)));
        let mut others = inputs.iter().filter(|input| **input != before);
        let stays = others.all(|input| match input {
            Source::Node(made, _) => constant(*made),
            Source::Param(..) | Source::RegionParam(..) => {
                !held.contains(&Guard::Holds(*input)) && !written.contains(input)
            }
        });
        if stays && inputs.contains(&before) {
            self.sunk.insert(of);
        }
    }

    /// Tells whether nobody misses what a node computes if the end of its region computes it: whoever records values does
    /// where something in between stops the run or leaves the region.
    fn may_come_late(&self, of: NodeRef, end: NodeRef) -> bool {
        let body = self.function.body();
        let between = std::iter::successors(body.next(of), |of| body.next(*of)).take_while(|of| *of != end);
        self.style != Lowering::Recorded
            || between.into_iter().filter_map(|of| body.node(of)).all(|node| match node.op().attr() {
                Attr::Scalar(_) => !matches!(node.op().code(), Op::DivS | Op::DivU | Op::RemS | Op::RemU),
                Attr::Const(_) | Attr::Variable(_) => true,
                _ => false,
            })
    }

    /// The operands of a node that can be computed at the end of its region, for that alone.
    fn sinkable(&self, of: NodeRef) -> Option<Vec<Source>> {
        let body = self.function.body();
        let node = body.node(of).filter(|_| !self.reuse && !self.stale.contains(&of))?;
        let Attr::Scalar(scalar) = node.op().attr() else { return None };
        let simple = matches!(
            node.op().code(),
            Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Shl | Op::ShrS | Op::ShrU
        ) && select::binary(node.op().code(), *scalar).is_some();
        let alone = body.users_of(of.number()).nth(1).is_none();
        let inputs: Vec<Source> = node.inputs().iter().flatten().collect();
        (simple && alone && inputs.len() == 2).then_some(inputs)
    }

    /// The node that makes an operand of another one and shares its instruction, with its own operands.
    fn computed_with(
        &self,
        of: NodeRef,
        operand: usize,
        region: RegionRef,
    ) -> Option<(NodeRef, Vec<Source>)> {
        let body = self.function.body();
        let node = body.node(of)?;
        let (Attr::Scalar(scalar), Source::Node(made, 0)) = (node.op().attr(), node.inputs().get(operand)?)
        else {
            return None;
        };
        let first = body
            .node(made)
            .filter(|first| first.region() == region && first.op().attr() == node.op().attr())?;
        select::pair(first.op().code(), node.op().code(), *scalar, operand)?;
        Some((made, self.sinkable(made)?))
    }

    /// Computes what was left for the end of a region: what the next round tests comes last.
    pub(super) fn compute_sunk(&mut self, end: NodeRef, node: &Node, tested: Option<u16>) {
        let body = self.function.body();
        let mut left = Vec::new();
        for source in node.inputs().iter().flatten() {
            let Source::Node(of, 0) = source else { continue };
            if let (true, Some((Loc::Num(to), _))) = (self.sunk.contains(&of), self.locs.get(&source)) {
                left.push((Some(*to) == tested, of, *to));
            }
        }
        left.sort_by_key(|(last, ..)| *last);
        for (_, of, to) in left {
            let along = body.node(of).into_iter().flat_map(|node| node.inputs().iter().flatten());
            let along: Vec<Source> = along.collect();
            for source in along {
                let Source::Node(made, 0) = source else { continue };
                if let (true, Some((Loc::Num(to), _))) = (self.sunk.contains(&made), self.locs.get(&source)) {
                    self.compute_late(made, *to);
                }
            }
            self.compute_late(of, to);
            self.own(end);
        }
    }

    fn compute_late(&mut self, of: NodeRef, to: u16) {
        let Some(node) = self.function.body().node(of) else { return };
        self.own(of);
        let mark = self.top;
        if self.style == Lowering::Recorded {
            self.emit.count();
        }
        self.compute(of, node, &Ports::default(), to);
        self.top = mark;
        self.note_computed(of, node);
    }

    /// Where the values of an exit go, and what is there before.
    fn places(&self, exit: Exit) -> Vec<(Loc, Guard)> {
        match exit {
            Exit::Break(node) => self.scopes.get(&node).map_or_else(Vec::new, |scope| {
                scope.results.iter().copied().zip(scope.guards.iter().copied()).collect()
            }),
            Exit::Continue(node) => {
                let region = self.function.body().node(node).and_then(|node| node.regions().first());
                let (Some(scope), Some(region)) = (self.scopes.get(&node), region) else { return Vec::new() };
                let guard = |port| Guard::Holds(Source::RegionParam(*region, port));
                (0u16..).zip(&scope.params).map(|(port, loc)| (*loc, guard(port))).collect()
            }
            Exit::Return => match &self.epilogue {
                Some((_, results)) => results.iter().map(|loc| (*loc, Guard::Free)).collect(),
                None => self.result_places(),
            },
        }
    }

    /// Results lie where the first parameters of their kind were; without such a parameter the place is not free.
    fn result_places(&self) -> Vec<(Loc, Guard)> {
        let head = self.function.head();
        let holder = |kind: Class, nth: usize| {
            let params = head.params.iter().enumerate().filter(|(_, param)| class(&param.ty) == kind);
            let found = params.map(|(port, _)| Source::Param(self.of, port as u16)).nth(nth);
            found.map_or(Guard::Closed, Guard::Holds)
        };
        let (mut slot, mut reference) = (0, 0);
        head.results
            .iter()
            .map(|ty| match class(ty) {
                Class::Num => {
                    slot += 1;
                    (Loc::Num(slot - 1), holder(Class::Num, usize::from(slot) - 1))
                }
                Class::Ref => {
                    reference += 1;
                    (Loc::Ref(reference - 1), holder(Class::Ref, usize::from(reference) - 1))
                }
            })
            .collect()
    }

    /// Tells whether what a place holds is not used behind a node: up to the end of its region, and further on where
    /// something leaves the region before its last node.
    fn may_overwrite(&self, node: NodeRef, last: NodeRef, region: RegionRef, guard: Guard) -> bool {
        let source = match guard {
            Guard::Free => return true,
            Guard::Closed => return false,
            Guard::Holds(source) => source,
        };
        let positions = &self.positions;
        let (Some(start), Some(last), Some(end)) =
            (positions.nodes.get(&node), positions.nodes.get(&last), positions.regions.get(&region))
        else {
            return false;
        };
        let leaves = positions.may_leave(*start, last.0);
        let body = self.function.body();
        // In a loop that starts over, what stands before the node comes after it too.
        let held = match source {
            Source::RegionParam(region, _) => Some(region),
            Source::Node(node, _) => body.node(node).map(|node| node.region()),
            Source::Param(..) => body.root(),
        };
        let held = held.and_then(|held| positions.regions.get(&held));
        if positions.rounds.get(&region).is_some_and(|round| held.is_none_or(|held| *round > held.0)) {
            return false;
        }
        let uses = positions.uses(body, source);
        let behind = uses.get(uses.partition_point(|at| *at <= start.1));
        behind.is_none_or(|at| !leaves && *at > end.1)
    }

    /// Tells whether a region is the body of a loop.
    pub(super) fn is_loop_body(&self, region: RegionRef) -> bool {
        is_loop_body(self.function.body(), region)
    }

    /// The place that was chosen for an output, with what its owner's exits have to know.
    pub(super) fn placed(&self, of: NodeRef, port: u16) -> Option<(Loc, Guard)> {
        self.placed.get(&Source::Node(of, port)).copied()
    }

    /// What exits to a node have to know about the places of its results.
    pub(super) fn guards(&self, of: NodeRef, code: Op, count: usize) -> Vec<Guard> {
        (0..count as u16)
            .map(|port| match (self.placed(of, port), code) {
                (None, _) => Guard::Free,
                (Some((_, Guard::Free)), _) => Guard::Free,
                // A round of the loop may come after the exit's value was computed.
                (Some(_), Op::Loop) => Guard::Closed,
                (Some((_, guard)), _) => guard,
            })
            .collect()
    }
}

fn is_loop_body(body: &Body, region: RegionRef) -> bool {
    match body.region(region).map(|region| region.owner) {
        Some(RegionOwner::Node(owner)) => body.node(owner).is_some_and(|node| node.op().code() == Op::Loop),
        Some(RegionOwner::Function | RegionOwner::Contract(_)) | None => false,
    }
}
