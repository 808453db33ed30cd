//! Nodes that own regions, exits, and calls.

use lmlang_ir::ops::Ports;
use lmlang_ir::{Attr, Case, Exit, FuncRef, Node, NodeRef, Opcode as Op, RegionOwner, Source, Type, Variant};

use super::emit::Label;
use super::{Arm, Lower, MAX_TARGETS, Open, Scope, Then};
use crate::code::{HeapOp, Loc, Lowering, Opcode, StopSite, SwitchTable, TAKE, Target};
use crate::value::{Class, class, variant_tag};

/// Where an exit leads: what takes the values, and where to jump.
enum Goal {
    Jump(Label, Vec<Loc>),
    Leave,
}

impl Lower<'_> {
    /// A node that owns regions: its results get places, its regions are opened.
    pub(super) fn control(&mut self, of: NodeRef, node: &Node, ports: &Ports) {
        let results: Vec<Loc> =
            ports.outputs.iter().enumerate().map(|(port, ty)| self.output(of, port as u16, ty)).collect();
        let end = self.emit.label();
        let guards = self.guards(of, node.op().code(), results.len());
        let (mark, free) = (self.top, self.free.clone());
        let mut scope =
            Scope { end, head: None, results, guards, params: Vec::new(), start: 0, rotation: None };
        let mut arms = Vec::new();
        match node.op().code() {
            Op::Loop => {
                let Some(region) = node.regions().first() else { return };
                let params = self.function.body().region(*region).map_or(&[][..], |region| &region.params);
                let params: Vec<_> = params.iter().map(|param| param.ty.clone()).collect();
                let mut pairs = Vec::new();
                for (port, ty) in params.iter().enumerate() {
                    let loc = self.fresh(ty);
                    self.locs.insert(Source::RegionParam(*region, port as u16), (loc, ty.clone()));
                    pairs.push((loc, self.moved(of, port)));
                    scope.params.push(loc);
                }
                self.moves(&pairs);
                let head = self.emit.label();
                self.emit.bind(head);
                scope.head = Some(head);
                scope.start = self.emit.words.len();
            }
            Op::If => {
                let arm = self.emit.label();
                if let Some(condition) = node.inputs().get(0) {
                    let mark = self.top;
                    self.branch_on(of, condition, false, arm);
                    self.top = mark;
                }
                if let Some(region) = node.regions().get(1) {
                    arms.push(Arm { region: *region, label: arm, payload: None });
                }
            }
            Op::Match => {
                self.scopes.insert(of, scope);
                self.choose(of, node);
                return;
            }
            _ => {}
        }
        self.scopes.insert(of, scope);
        let Some(region) = node.regions().first() else { return };
        let then = if arms.is_empty() { Then::End(of) } else { Then::Next(of, arms) };
        self.enter(*region, then);
        // Places of parameters are free again behind the loop, with everything inside.
        if let Some(open) = self.open.last_mut() {
            (open.mark, open.free) = (mark, free);
        }
    }

    fn choose(&mut self, of: NodeRef, node: &Node) {
        let Attr::Match(cases) = node.op().attr() else { return };
        self.too_wide |= cases.cases.len() >= MAX_TARGETS;
        let mark = self.top;
        let (value, signed) = match self.input(of, 0) {
            Some((Loc::Ref(slot), _)) => {
                let (tag, _) = self.claim(1, 0);
                self.heap(HeapOp::EnumTag, [tag, slot, 0, 0, 0, 0]);
                (tag, 0)
            }
            Some((loc, ty)) => (self.slot_of(loc), u16::from(ty == Type::I32)),
            None => (0, 0),
        };
        let scrutinee = self.obj(of, 0);
        self.top = mark;
        let mut values = Vec::new();
        let mut arms = Vec::new();
        for (case, region) in cases.cases.iter().zip(node.regions()) {
            let label = self.emit.label();
            let (value, payload) = match case {
                Case::Int(value) if signed == 1 => (Case::met_by(*value).map(i64::from), None),
                Case::Int(value) => (Some(*value), None),
                Case::Variant(variant) => {
                    let tag = variant_tag(self.program, variant).unwrap_or(u32::MAX);
                    (Some(i64::from(tag)), self.has_payload(variant).then_some((scrutinee, tag)))
                }
            };
            values.extend(value.map(|value| (value, arms.len() as u16)));
            arms.push(Arm { region: *region, label, payload });
        }
        let default = arms.len() as u16;
        if cases.default
            && let Some(region) = node.regions().get(cases.cases.len())
        {
            let label = self.emit.label();
            arms.push(Arm { region: *region, label, payload: None });
        }
        let table = self.switch_table(values, default);
        self.emit.op(Opcode::Switch, value, table, signed);
        for arm in &arms {
            self.emit.jump(arm.label);
        }
        if !cases.default {
            self.stop(StopSite::Hole(of, None));
        }
        self.arms(of, arms);
    }

    fn has_payload(&self, variant: &Variant) -> bool {
        lmlang_ir::ops::signature::payload_type(self.program, variant).flatten().is_some()
    }

    /// Takes the payload of a case into its region's parameter.
    pub(super) fn payload(&mut self, to: Loc, scrutinee: u16, tag: u32) {
        if let Loc::Num(slot) | Loc::Ref(slot) = to {
            let tag = self.narrow(tag as usize);
            self.heap(HeapOp::EnumPayload, [slot, scrutinee, tag, 0, 0, 0]);
        }
    }

    fn switch_table(&mut self, mut cases: Vec<(i64, u16)>, default: u16) -> u16 {
        // The first of equal cases wins.
        cases.sort_by_key(|case| *case);
        cases.dedup_by_key(|case| case.0);
        let base = cases.first().map_or(0, |case| case.0);
        let span = cases.last().map_or(0, |last| last.0.wrapping_sub(base) as u64);
        let dense = span < 4 * cases.len() as u64 + 16;
        let table = if dense && !cases.is_empty() {
            let mut dense = vec![default; span as usize + 1];
            cases.iter().for_each(|(value, target)| dense[value.wrapping_sub(base) as usize] = *target);
            SwitchTable { base, dense: dense.into(), sparse: Box::default(), default }
        } else {
            SwitchTable { base: 0, dense: Box::default(), sparse: cases.into(), default }
        };
        self.switches.push(table);
        (self.switches.len() - 1) as u16
    }

    fn goal(&self, exit: Exit) -> Option<Goal> {
        match exit {
            Exit::Return => Some(match &self.epilogue {
                Some((label, results)) => Goal::Jump(*label, results.clone()),
                None => Goal::Leave,
            }),
            Exit::Break(node) => {
                let scope = self.scopes.get(&node)?;
                Some(Goal::Jump(scope.end, scope.results.clone()))
            }
            Exit::Continue(node) => {
                let scope = self.scopes.get(&node)?;
                Some(Goal::Jump(scope.head?, scope.params.clone()))
            }
        }
    }

    /// Takes an exit with the inputs from `first` on; without a jump if the target comes next anyway.
    fn take_exit(&mut self, of: NodeRef, node: &Node, first: usize, goal: Goal, jump: bool) {
        let tested = match node.op().attr() {
            Attr::Exit(target) => {
                self.scopes.get(target).and_then(|scope| scope.rotation.as_ref()).map(|test| test.a)
            }
            _ => None,
        };
        self.compute_sunk(of, node, tested);
        let values: Vec<Loc> = (first..node.inputs().len()).map(|index| self.moved(of, index)).collect();
        match goal {
            Goal::Jump(label, places) => {
                let pairs: Vec<_> = places.into_iter().zip(values).collect();
                self.moves(&pairs);
                if jump {
                    self.emit.jump(label);
                }
            }
            Goal::Leave => self.leave(&values),
        }
    }

    /// Exits and what stops a run; tells whether the node was one.
    pub(super) fn transfer(&mut self, of: NodeRef, node: &Node) -> bool {
        match (node.op().code(), node.op().attr()) {
            (Op::Yield, _) => {
                if let Some(RegionOwner::Contract(_)) =
                    self.function.body().region(node.region()).map(|region| region.owner)
                {
                    let answer = self.num(of, 0);
                    let index = self.contract.unwrap_or(0);
                    self.emit.op(Opcode::ContractCheck, answer, index, 0);
                    return true;
                }
                let owner = self.function.body().region(node.region()).map(|region| region.owner);
                let goal = match owner {
                    Some(RegionOwner::Node(owner)) => self.goal(Exit::Break(owner)),
                    Some(RegionOwner::Function | RegionOwner::Contract(_)) | None => None,
                };
                // The last region of a node runs into what follows it.
                let jump = !matches!(self.open.last(), Some(Open { then: Then::End(_), .. }));
                self.take_or_stop(of, node, 0, goal, jump);
            }
            (Op::Break, Attr::Exit(target)) => {
                self.take_or_stop(of, node, 0, self.goal(Exit::Break(*target)), true);
            }
            (Op::Continue, Attr::Exit(target)) => {
                let goal = self.goal(Exit::Continue(*target));
                let repeats = self.scopes.get(target).is_some_and(|scope| scope.rotation.is_some());
                self.take_or_stop(of, node, 0, goal, !repeats);
                if repeats {
                    self.repeat_test(*target);
                }
            }
            (Op::Return, _) => self.take_or_stop(of, node, 0, self.goal(Exit::Return), true),
            (Op::BreakIf, Attr::Exit(target)) => self.exit_if(of, node, self.goal(Exit::Break(*target))),
            (Op::ContinueIf, Attr::Exit(target)) => {
                self.exit_if(of, node, self.goal(Exit::Continue(*target)))
            }
            (Op::Unreachable, _) => self.stop(StopSite::Unreachable),
            (Op::BrSwitch, Attr::Switch(targets)) => self.switch(of, node, targets),
            _ => return false,
        }
        true
    }

    fn take_or_stop(&mut self, of: NodeRef, node: &Node, first: usize, goal: Option<Goal>, jump: bool) {
        match goal {
            Some(goal) => self.take_exit(of, node, first, goal, jump),
            None => self.stop(StopSite::Hole(of, None)),
        }
    }

    fn exit_if(&mut self, of: NodeRef, node: &Node, goal: Option<Goal>) {
        let (Some(goal), Some(condition)) = (goal, node.inputs().get(0)) else {
            return self.stop(StopSite::Hole(of, None));
        };
        let at = self.emit.words.len();
        let starts_loop = self.style.folds()
            && matches!(self.open.last(), Some(Open { then: Then::End(owner), .. })
                if self.scopes.get(owner).is_some_and(|scope| scope.head.is_some() && scope.start == at));
        match goal {
            // Unfolded code has an instruction for the exit alone, so that it is known when it is taken.
            Goal::Jump(label, places) if places.is_empty() && !starts_loop && self.style.folds() => {
                self.branch_on(of, condition, true, label);
            }
            goal @ (Goal::Jump(..) | Goal::Leave) => {
                let stay = self.emit.label();
                self.branch_on(of, condition, false, stay);
                if starts_loop {
                    let leave = self.emit.label();
                    self.note_rotation(at, stay, leave);
                    self.emit.bind(leave);
                }
                self.take_exit(of, node, 1, goal, true);
                self.emit.bind(stay);
            }
        }
    }

    fn switch(&mut self, of: NodeRef, node: &Node, targets: &[Exit]) {
        self.too_wide |= targets.len() > MAX_TARGETS;
        let index = self.num(of, 0);
        let default = targets.len().saturating_sub(1) as u16;
        let table = self.switch_table((0..default).map(|at| (i64::from(at), at)).collect(), default);
        self.emit.op(Opcode::Switch, index, table, 0);
        let stubs: Vec<Label> = targets.iter().map(|_| self.emit.label()).collect();
        stubs.iter().for_each(|stub| self.emit.jump(*stub));
        for (exit, stub) in targets.iter().zip(stubs) {
            self.emit.bind(stub);
            self.take_or_stop(of, node, 1, self.goal(*exit), true);
        }
    }

    /// Calls; tells whether the node was one.
    pub(super) fn calls(&mut self, of: NodeRef, node: &Node, ports: &Ports) -> bool {
        match (node.op().code(), node.op().attr()) {
            (Op::Call, Attr::Function(function)) => self.call(of, node, *function, ports),
            (Op::CallIndirect, Attr::Indirect(table, signature)) => {
                let before = self.top;
                let index = self.num(of, 0);
                let (a, r, ..) = self.arguments(of, node, 1);
                let at = self.emit.op2(Opcode::CallIndirect, a, index, 0, [0, 0, r, 0]);
                self.patch(at, 3, Target::Storage(*table));
                self.patch(at + 1, 0, Target::Signature((**signature).clone()));
                self.results(of, ports, (a, r), before);
            }
            (Op::ClosureCall, _) => {
                let before = self.top;
                let closure = self.obj(of, 0) & !TAKE;
                let (a, r, slots, references) = self.arguments(of, node, 1);
                self.emit.op2(Opcode::CallClosure, a, closure, 0, [r, slots, references, 0]);
                self.results(of, ports, (a, r), before);
            }
            _ => return false,
        }
        true
    }

    fn call(&mut self, of: NodeRef, node: &Node, function: FuncRef, ports: &Ports) {
        self.top.0 -= self.arguments_in_place(node);
        let before = self.top;
        let (a, r, ..) = self.arguments(of, node, 0);
        let at = match r {
            0 => self.emit.op(Opcode::Call, a, 0, 0),
            r => self.emit.op2(Opcode::CallR, a, 0, 0, [r, 0, 0, 0]),
        };
        self.patch(at, 2, Target::Function(function));
        self.results(of, ports, (a, r), before);
    }

    /// How many of the first scalar arguments lie, in order, in the slots that were given out last, and are not used
    /// again: the callee's frame starts with them.
    fn arguments_in_place(&self, node: &Node) -> u32 {
        if self.style == Lowering::Plain || self.reuse {
            return 0;
        }
        let body = self.function.body();
        let fits = |source: Source, slot: u32| {
            let Source::Node(made, _) = source else { return false };
            let Some((Loc::Num(found), _)) = self.locs.get(&source) else { return false };
            let alone = body.users_of(made.number()).nth(1).is_none();
            let here = body
                .node(made)
                .is_some_and(|made| made.region() == node.region() && !made.op().owns_regions());
            u32::from(*found) == slot && alone && here && !self.placed.contains_key(&source)
        };
        let scalars: Vec<Source> = node
            .inputs()
            .iter()
            .flatten()
            .filter(|source| !matches!(self.locs.get(source), Some((Loc::Ref(_), _))))
            .collect();
        let most = (scalars.len() as u32).min(self.top.0);
        let starts = (1..=most).rev();
        for count in starts {
            let first = self.top.0 - count;
            if scalars.iter().take(count as usize).zip(first..).all(|(source, slot)| fits(*source, slot)) {
                return count;
            }
        }
        0
    }

    /// Puts arguments where the callee's frame will start; returns that place, and how many there are of each kind.
    fn arguments(&mut self, of: NodeRef, node: &Node, first: usize) -> (u16, u16, u16, u16) {
        let mut slots = 0;
        let mut references = 0;
        let values: Vec<Loc> = (first..node.inputs().len()).map(|index| self.moved(of, index)).collect();
        for value in &values {
            match value {
                Loc::Num(_) | Loc::Known(_) => slots += 1,
                Loc::Ref(_) => references += 1,
            }
        }
        let (a, r) = self.claim(slots, references);
        let (mut slot, mut reference) = (a, r);
        let pairs: Vec<_> = values
            .into_iter()
            .map(|value| match value {
                Loc::Num(_) | Loc::Known(_) => {
                    slot += 1;
                    (Loc::Num(slot - 1), value)
                }
                Loc::Ref(_) => {
                    reference += 1;
                    (Loc::Ref(reference - 1), value)
                }
            })
            .collect();
        self.moves(&pairs);
        (a, r, slots as u16, references as u16)
    }

    /// Results stay where the callee left them, or move down over what only the call needed.
    fn results(&mut self, of: NodeRef, ports: &Ports, (a, r): (u16, u16), before: (u32, u32)) {
        self.top = (u32::from(a), u32::from(r));
        let left: Vec<Loc> = ports
            .outputs
            .iter()
            .map(|ty| match class(ty) {
                Class::Num => Loc::Num(self.claim(1, 0).0),
                Class::Ref => Loc::Ref(self.claim(0, 1).1),
            })
            .collect();
        self.top = before;
        let mut pairs = Vec::new();
        for (port, (ty, from)) in ports.outputs.iter().zip(left).enumerate() {
            let to = self.output(of, port as u16, ty);
            let from = match from {
                Loc::Ref(slot) => Loc::Ref(slot | TAKE),
                other @ (Loc::Num(_) | Loc::Known(_)) => other,
            };
            pairs.push((to, from));
        }
        self.moves(&pairs);
    }
}
