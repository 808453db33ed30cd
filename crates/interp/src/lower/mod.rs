//! Lowering: from the region tree of a function to register code.
//!
//! Regions nest without bound, so the tree is walked with an explicit stack. Values get slots by lexical scope: what a
//! region defines is free again behind it.

mod contracts;
mod control;
mod emit;
mod fold;
mod fuse;
mod heap;
mod node;
mod place;
mod select;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use lmlang_ir::graph::{LastUses, last_uses};
use lmlang_ir::{
    ContractKind, ContractRef, FuncRef, Function, NodeRef, Program, Ref, RegionRef, Source, Type, VarRef,
};

use lmlang_verify::{Checked, Verified};

use crate::code::{
    Code, HeapOp, Loc, Lowering, NO_START, NodeSlots, Opcode, Patch, StopSite, SwitchTable, TAKE, Target,
};
use crate::contained::Finder;
use crate::heap::Obj;
use crate::value::{Class, class};
use emit::{Emit, Label};
use fold::{Compare, Rotation};
use place::{Guard, Positions};

/// The most slots or references of a frame; the upper bit of a reference says that it is moved.
const MAX_SLOTS: u32 = 65_000;
const MAX_REFS: u32 = 32_000;

/// The most tables of switches, and contracts, that an operand tells apart.
const MAX_TABLES: usize = 1 << 16;

/// The most targets of a switch: their jumps stand together, within a window of code that may be half used.
const MAX_TARGETS: usize = 30_000;

/// Nodes of a function above which places are given out again: before, every value stays to be looked at.
const REUSE_FROM: u64 = 20_000;

/// A node that owns regions, while they are lowered.
#[derive(Clone, Debug)]
struct Scope {
    end: Label,
    /// Where the next round of a loop starts.
    head: Option<Label>,
    results: Vec<Loc>,
    /// What the places of the results hold before.
    guards: Vec<Guard>,
    params: Vec<Loc>,
    /// Where the code of the body starts.
    start: usize,
    /// The test at the start of a loop's body, which the end of the body repeats.
    rotation: Option<Rotation>,
}

/// A region that is being lowered.
#[derive(Debug)]
struct Open {
    region: RegionRef,
    nodes: std::vec::IntoIter<NodeRef>,
    last: Option<NodeRef>,
    /// Slots and references in use before it.
    mark: (u32, u32),
    then: Then,
    /// What was free before it.
    free: (Vec<u16>, Vec<u16>),
}

/// What follows a region.
#[derive(Debug)]
enum Then {
    /// The code of its owner is complete.
    End(NodeRef),
    /// The other regions of its owner, each with where it starts and what it does first.
    Next(NodeRef, Vec<Arm>),
    /// Nothing: the body of a function, or a contract.
    Nothing,
}

/// A region of a node that is entered by a jump.
#[derive(Debug)]
struct Arm {
    region: RegionRef,
    label: Label,
    /// The reference that holds the enum whose payload the region takes, and the tag.
    payload: Option<(u16, u32)>,
}

struct Lower<'a> {
    program: &'a Program,
    of: FuncRef,
    function: &'a Function,
    stale: HashSet<NodeRef>,
    stale_regions: HashSet<RegionRef>,
    style: Lowering,
    last_uses: LastUses,
    emit: Emit,
    locs: HashMap<Source, (Loc, Type)>,
    vars: HashMap<VarRef, (Loc, Type)>,
    scopes: HashMap<NodeRef, Scope>,
    compares: HashMap<NodeRef, Compare>,
    open: Vec<Open>,
    /// Slots and references in use.
    top: (u32, u32),
    /// The most that were in use.
    most: (u32, u32),
    /// Where `return` goes when there are promises to check, and where it leaves the results.
    epilogue: Option<(Label, Vec<Loc>)>,
    /// The contract whose region is being lowered, by position.
    contract: Option<u16>,
    nodes: Vec<NodeRef>,
    patches: Vec<Patch>,
    objs: Vec<Obj>,
    types: Vec<Type>,
    lists: Vec<Box<[Loc]>>,
    finders: Vec<Finder>,
    switches: Vec<SwitchTable>,
    /// Whether a switch has more targets than there is room for, or a type more parts than an operand tells apart.
    too_wide: bool,
    stops: Vec<StopSite>,
    contracts: Vec<ContractRef>,
    marks: Vec<(u32, u32)>,
    slots: Vec<NodeSlots>,
    /// Constants of loops with the slots that are kept for them, and whether they are used.
    pinned: HashMap<u64, (u16, bool)>,
    /// Loops around the region that is being lowered.
    loops: u32,
    placed: HashMap<Source, (Loc, Guard)>,
    /// The values of open regions that were given a place, by place; and which region gave which, in order.
    holders: HashMap<Loc, Vec<Source>>,
    given: Vec<(RegionRef, Loc)>,
    /// Whether places are given out again behind the last use of a value: in functions with more values than places.
    reuse: bool,
    /// Places that may be given out again, and how many uses of values are left.
    free: (Vec<u16>, Vec<u16>),
    uses: HashMap<Source, u32>,
    /// Nodes that the exit at the end of their region computes.
    sunk: HashSet<NodeRef>,
    positions: Positions,
}

/// What a run has to stop at because a change elsewhere left it behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stale {
    pub(crate) nodes: Vec<NodeRef>,
    /// Regions of contracts.
    pub(crate) regions: Vec<RegionRef>,
}

impl Stale {
    pub(crate) fn of(checked: &Checked, of: Verified<'_>) -> Stale {
        if checked.findings().tally_of(of.of()).is_complete() {
            return Stale::default();
        }
        let body = of.function().body();
        Stale {
            nodes: body.nodes().map(|(node, _)| node).filter(|node| of.stops_at(*node)).collect(),
            regions: body
                .contracts()
                .map(|(_, contract)| contract.region)
                .filter(|region| of.contract_obstacle(*region).is_some())
                .collect(),
        }
    }
}

/// Decodes a function; `None` when it is too large for a frame.
pub(crate) fn lower(
    program: &Program,
    of: FuncRef,
    function: &Function,
    stale: &Stale,
    style: Lowering,
) -> Option<Code> {
    let mut lower = Lower {
        program,
        of,
        function,
        stale: stale.nodes.iter().copied().collect(),
        stale_regions: stale.regions.iter().copied().collect(),
        style,
        last_uses: last_uses(program, of, function),
        emit: Emit::of(style),
        locs: HashMap::new(),
        vars: HashMap::new(),
        scopes: HashMap::new(),
        compares: HashMap::new(),
        open: Vec::new(),
        top: (0, 0),
        most: (0, 0),
        epilogue: None,
        contract: None,
        nodes: Vec::new(),
        patches: Vec::new(),
        objs: Vec::new(),
        types: Vec::new(),
        lists: Vec::new(),
        finders: Vec::new(),
        switches: Vec::new(),
        too_wide: false,
        stops: Vec::new(),
        contracts: Vec::new(),
        marks: Vec::new(),
        slots: Vec::new(),
        pinned: HashMap::new(),
        loops: 0,
        placed: HashMap::new(),
        holders: HashMap::new(),
        given: Vec::new(),
        reuse: function.body().counts().nodes > REUSE_FROM,
        free: (Vec::new(), Vec::new()),
        uses: HashMap::new(),
        sunk: HashSet::new(),
        positions: Positions::default(),
    };
    lower.function();
    lower.finish()
}

impl Lower<'_> {
    fn function(&mut self) {
        if self.style.folds() {
            let body = self.function.body();
            let roots = body.root().into_iter().chain(body.contracts().map(|(_, contract)| contract.region));
            self.positions = Positions::of(body, roots);
        }
        let head = self.function.head();
        for (port, param) in head.params.iter().enumerate() {
            let loc = self.fresh(&param.ty);
            self.locs.insert(Source::Param(self.of, port as u16), (loc, param.ty.clone()));
        }
        for (port, capture) in (head.params.len()..).zip(&head.captures) {
            // Behind the parameters, in order; `capture.get` finds them again.
            let loc = self.fresh(&capture.ty);
            self.locs.insert(Source::Param(self.of, port as u16), (loc, capture.ty.clone()));
        }
        let variables: Vec<_> = self.function.body().variables().map(|(of, v)| (of, v.ty.clone())).collect();
        for (of, ty) in variables {
            let loc = self.fresh(&ty);
            self.zero(loc, &ty);
            self.vars.insert(of, (loc, ty));
        }
        self.pin_constants();
        let ensures = self.contracts_of(ContractKind::Ensure);
        if !ensures.is_empty() || self.checks_results() {
            let results = head.results.iter().map(|ty| self.fresh(ty)).collect();
            self.epilogue = Some((self.emit.label(), results));
        }
        self.check_params();
        // Of those of a type, the function that states them is called.
        for kind in [ContractKind::Invariant, ContractKind::Require] {
            for contract in self.contracts_of(kind) {
                self.check(contract, &[]);
            }
        }
        match self.function.body().root() {
            Some(root) => self.drive(root, Then::Nothing),
            None => self.stop(StopSite::Unreachable),
        }
        if let Some((label, results)) = self.epilogue.clone() {
            self.emit.bind(label);
            self.check_results(&results);
            for contract in ensures {
                self.check(contract, &results);
            }
            self.leave(&results);
        }
    }

    /// Lowers a region with all that is inside.
    fn drive(&mut self, region: RegionRef, then: Then) {
        self.enter(region, then);
        while let Some(open) = self.open.last_mut() {
            match open.nodes.next() {
                Some(node) => self.node(node),
                None => self.exit(),
            }
        }
    }

    fn enter(&mut self, region: RegionRef, then: Then) {
        let nodes: Vec<NodeRef> = self.function.body().nodes_in(region).collect();
        let last = nodes.last().copied();
        self.loops += u32::from(self.is_loop_body(region));
        self.place_values(region);
        let free = self.free.clone();
        self.open.push(Open { region, nodes: nodes.into_iter(), last, mark: self.top, then, free });
    }

    fn exit(&mut self) {
        let Some(open) = self.open.pop() else { return };
        self.end_places(open.region);
        self.loops -= u32::from(self.is_loop_body(open.region));
        let ended = open
            .last
            .and_then(|last| self.function.body().node(last))
            .is_some_and(|last| last.op().is_terminator());
        if !ended {
            self.emit.flush();
            self.stop(StopSite::Open(open.region));
        }
        self.top = open.mark;
        self.free = open.free;
        match open.then {
            Then::Nothing => {}
            Then::End(owner) => {
                if let Some(scope) = self.scopes.get(&owner) {
                    let end = scope.end;
                    self.emit.bind(end);
                }
            }
            Then::Next(owner, arms) => self.arms(owner, arms),
        }
    }

    /// Starts the first of the arms that are left.
    fn arms(&mut self, owner: NodeRef, mut arms: Vec<Arm>) {
        if arms.is_empty() {
            return;
        }
        let arm = arms.remove(0);
        let then = if arms.is_empty() { Then::End(owner) } else { Then::Next(owner, arms) };
        self.emit.bind(arm.label);
        self.enter(arm.region, then);
        self.own(owner);
        let Some(region) = self.function.body().region(arm.region) else { return };
        let Some((scrutinee, tag)) = arm.payload else { return };
        if let Some(ty) = region.params.first().map(|param| param.ty.clone()) {
            let loc = self.fresh(&ty);
            self.locs.insert(Source::RegionParam(arm.region, 0), (loc, ty));
            self.payload(loc, scrutinee, tag);
        }
    }

    /// Words from here on belong to a node.
    fn own(&mut self, node: NodeRef) {
        self.emit.node = self.nodes.len() as u32;
        self.nodes.push(node);
    }

    fn claim(&mut self, slots: u32, refs: u32) -> (u16, u16) {
        let at = self.top;
        self.top = (at.0.saturating_add(slots), at.1.saturating_add(refs));
        self.most = (self.most.0.max(self.top.0), self.most.1.max(self.top.1));
        (at.0 as u16, at.1 as u16)
    }

    /// A place for a value of a type.
    fn fresh(&mut self, ty: &Type) -> Loc {
        match class(ty) {
            Class::Num => Loc::Num(self.free.0.pop().unwrap_or_else(|| self.claim(1, 0).0)),
            Class::Ref => Loc::Ref(self.free.1.pop().unwrap_or_else(|| self.claim(0, 1).1)),
        }
    }

    fn zero(&mut self, loc: Loc, ty: &Type) {
        match loc {
            Loc::Num(slot) => self.constant(slot, 0),
            Loc::Ref(slot) => {
                let index = self.types.len();
                self.types.push(ty.clone());
                self.heap(HeapOp::Zero, [slot, 0, 0, index as u16, (index >> 16) as u16, 0]);
            }
            Loc::Known(_) => {}
        }
    }

    /// Puts a constant into a slot.
    fn constant(&mut self, slot: u16, bits: u64) {
        match i16::try_from(bits as i64) {
            Ok(small) => {
                self.emit.op(Opcode::Const, slot, small as u16, 0);
            }
            Err(_) => {
                let second = [bits as u16, (bits >> 16) as u16, (bits >> 32) as u16, (bits >> 48) as u16];
                self.emit.op2(Opcode::ConstLong, slot, 0, 0, second);
            }
        }
    }

    /// Emits an operator on the heap; operands `a` to `f`.
    fn heap(&mut self, op: HeapOp, [a, b, c, d, e, f]: [u16; 6]) -> usize {
        self.emit.op2(Opcode::Heap, a, b, c, [op as u16, d, e, f])
    }

    fn stop(&mut self, site: StopSite) {
        let index = self.stops.len();
        self.stops.push(site);
        self.emit.op(Opcode::Stop, index as u16, (index >> 16) as u16, 0);
    }

    fn patch(&mut self, at: usize, field: u8, what: Target) {
        self.patches.push(Patch { at: at as u32, field, what });
    }

    /// Moves values to where they are wanted, all at once. References come with their taking bit.
    fn moves(&mut self, pairs: &[(Loc, Loc)]) {
        let mut nums: Vec<(u16, u16)> = Vec::new();
        let mut refs: Vec<(u16, u16)> = Vec::new();
        for pair in pairs {
            match *pair {
                (Loc::Num(to), Loc::Num(from)) if to != from => nums.push((to, from)),
                (Loc::Ref(to), Loc::Ref(from)) if to != from & !TAKE => refs.push((to, from)),
                _ => {}
            }
        }
        // What stays where it is must not be moved away by another use of it.
        for (_, from) in &mut refs {
            if pairs.iter().any(|pair| matches!(*pair, (Loc::Ref(to), Loc::Ref(source)) if to == source & !TAKE && to == *from & !TAKE)) {
                *from &= !TAKE;
            }
        }
        while !nums.is_empty() {
            let ready = nums.iter().position(|(to, _)| nums.iter().all(|(_, from)| from != to));
            match ready {
                Some(index) => {
                    let (to, from) = nums.swap_remove(index);
                    self.emit.op(Opcode::Mov, to, from, 0);
                }
                None => {
                    // Only cycles are left: a swap puts one value in place, and what read either reads the other.
                    let (to, from) = nums.swap_remove(0);
                    self.emit.op(Opcode::Mov2, to, from, 0);
                    for (_, source) in &mut nums {
                        if *source == to {
                            *source = from;
                        } else if *source == from {
                            *source = to;
                        }
                    }
                    nums.retain(|(to, from)| to != from);
                }
            }
        }
        let clash = refs
            .iter()
            .enumerate()
            .any(|(i, (to, _))| refs[i + 1..].iter().any(|(_, from)| from & !TAKE == *to));
        if clash {
            let mark = self.top;
            let (_, start) = self.claim(0, refs.len() as u32);
            for (offset, (_, from)) in refs.iter().enumerate() {
                self.heap(HeapOp::Mov, [start + offset as u16, *from, 0, 0, 0, 0]);
            }
            for (offset, (to, _)) in refs.iter().enumerate() {
                self.heap(HeapOp::Mov, [*to, (start + offset as u16) | TAKE, 0, 0, 0, 0]);
            }
            self.top = mark;
        } else {
            for (to, from) in refs {
                self.heap(HeapOp::Mov, [to, from, 0, 0, 0, 0]);
            }
        }
        for pair in pairs {
            if let (Loc::Num(to), Loc::Known(bits)) = *pair {
                self.constant(to, bits);
            }
        }
    }

    /// Leaves the function with results.
    fn leave(&mut self, results: &[Loc]) {
        let (mut slot, mut reference) = (0, 0);
        let mut pairs = Vec::with_capacity(results.len());
        for (ty, from) in self.function.head().results.iter().zip(results) {
            let to = match class(ty) {
                Class::Num => {
                    slot += 1;
                    Loc::Num(slot - 1)
                }
                Class::Ref => {
                    reference += 1;
                    Loc::Ref(reference - 1)
                }
            };
            pairs.push((to, *from));
        }
        self.most = (self.most.0.max(u32::from(slot)), self.most.1.max(u32::from(reference)));
        self.moves(&pairs);
        self.emit.op(Opcode::Ret, 0, 0, 0);
    }

    fn finish(self) -> Option<Code> {
        if self.most.0 > MAX_SLOTS || self.most.1 > MAX_REFS {
            return None;
        }
        if self.switches.len() > MAX_TABLES || self.contracts.len() > MAX_TABLES || self.too_wide {
            return None;
        }
        let references = self.function.head().results.iter().filter(|ty| class(ty) == Class::Ref).count();
        let mut prologue = Vec::new();
        if self.most.1 > 0 {
            prologue.push([Opcode::Enter as u16, 0, 0, 0]);
        }
        let mut pinned: Vec<_> =
            self.pinned.iter().filter(|pin| pin.1.1).map(|(bits, (slot, _))| (*slot, *bits)).collect();
        pinned.sort_unstable();
        for (slot, bits) in pinned {
            match i16::try_from(bits as i64) {
                Ok(small) => prologue.push([Opcode::Const as u16, slot, small as u16, 0]),
                Err(_) => {
                    prologue.push([Opcode::ConstLong as u16, slot, 0, 0]);
                    prologue.push([
                        bits as u16,
                        (bits >> 16) as u16,
                        (bits >> 32) as u16,
                        (bits >> 48) as u16,
                    ]);
                }
            }
        }
        let mut done = self.emit.finish(&prologue);
        if self.most.1 > 0 {
            let mut index = 0;
            while index < done.words.len() {
                let op = Opcode::of(done.words[index]);
                if op == Opcode::Ret {
                    done.words[index][0] = (done.words[index][0] & 0xff00) | Opcode::Leave as u16;
                }
                index += if op.is_long() { 2 } else { 1 };
            }
        }
        let mut patches = self.patches;
        patches.iter_mut().for_each(|patch| patch.at = done.moved[patch.at as usize]);
        let words = if self.marks.is_empty() { 0 } else { done.words.len() };
        let mut starts = vec![NO_START; words];
        for (word, slots) in self.marks {
            starts[done.moved[word as usize] as usize] = slots;
        }
        let mut nodes = self.nodes;
        if nodes.is_empty() {
            done.owner.fill(u32::MAX);
        }
        nodes.shrink_to_fit();
        let mut vars: Box<[_]> = self.vars.into_iter().map(|(of, (loc, ty))| (of, loc, ty)).collect();
        vars.sort_unstable_by_key(|(of, ..)| *of);
        Some(Code {
            words: done.words.into(),
            owner: done.owner.into(),
            cost: done.cost.into(),
            nodes: nodes.into(),
            frame: self.most.0,
            refs: self.most.1,
            ref_results: references as u16,
            patches: patches.into(),
            objs: self.objs.into(),
            types: self.types.into(),
            lists: self.lists.into(),
            finders: self.finders.into(),
            switches: self.switches.into(),
            stops: self.stops.into(),
            contracts: self.contracts.into(),
            starts: starts.into(),
            slots: self.slots.into(),
            computed: done.computed.into(),
            locs: self.locs,
            vars,
            depends: depends(self.function),
        })
    }
}

/// The entities outside of a function that its code depends on, by ref.
fn depends(function: &Function) -> Box<[Ref]> {
    let mut found = std::collections::BTreeSet::new();
    for (_, node) in function.body().nodes() {
        node.op().each_mention(&mut |of| {
            found.insert(of);
        });
    }
    found.into_iter().collect()
}
