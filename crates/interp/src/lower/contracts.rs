//! Contracts: conditions of a function, and invariants of types where values enter and leave a public or exported one.

use lmlang_ir::graph::{is_border, types_with_invariants};
use lmlang_ir::{ContractKind, ContractRef, FuncRef, NodeRef, Source, Type};

use super::{Lower, Then};
use crate::code::{HeapOp, Loc, Opcode, StopSite, TAKE, Target};
use crate::contained::Finder;

impl Lower<'_> {
    /// The contracts of a kind.
    pub(super) fn contracts_of(&self, kind: ContractKind) -> Vec<ContractRef> {
        let contracts = self.function.body().contracts();
        contracts.filter(|(_, contract)| contract.kind == kind).map(|(of, _)| of).collect()
    }

    /// Evaluates a contract, unless one is being evaluated.
    pub(super) fn check(&mut self, contract: ContractRef, results: &[Loc]) {
        let Some(content) = self.function.body().contract(contract) else { return };
        let region = content.region;
        let Some(found) = self.function.body().region(region) else { return };
        for (port, (param, loc)) in found.params.iter().zip(results).enumerate() {
            self.locs.insert(Source::RegionParam(region, port as u16), (*loc, param.ty.clone()));
        }
        let index = self.contracts.len() as u16;
        self.contracts.push(contract);
        self.contract = Some(index);
        let skip = self.emit.label();
        self.emit.branch(Opcode::ContractBegin, index, 0, skip);
        if self.stale_regions.contains(&region) {
            self.stop(StopSite::Open(region));
        }
        self.drive(region, Then::Nothing);
        self.contract = None;
        self.emit.bind(skip);
    }

    /// Tells whether there is anything to check on what leaves the function.
    pub(super) fn checks_results(&self) -> bool {
        let has = |ty: &Type| !types_with_invariants(self.program, ty).is_empty();
        is_border(self.function) && self.function.head().results.iter().any(has)
    }

    /// Checks the invariants of what enters the function: no node stands for it.
    pub(super) fn check_params(&mut self) {
        if !is_border(self.function) {
            return;
        }
        let node = std::mem::replace(&mut self.emit.node, u32::MAX);
        for port in 0..self.function.head().params.len() as u16 {
            if let Some((loc, ty)) = self.locs.get(&Source::Param(self.of, port)).cloned() {
                self.check_invariants(loc, &ty);
            }
        }
        self.emit.node = node;
    }

    /// Checks the invariants of what leaves it, at its last node.
    pub(super) fn check_results(&mut self, results: &[Loc]) {
        if !self.checks_results() {
            return;
        }
        let body = self.function.body();
        let last: Option<NodeRef> = body.root().and_then(|root| body.nodes_in(root).last());
        last.into_iter().for_each(|last| self.own(last));
        for (loc, ty) in results.iter().zip(&self.function.head().results) {
            self.check_invariants(*loc, ty);
        }
    }

    /// Calls the functions that state invariants with each value which a value contains. No node is executed for it but
    /// those of the functions.
    fn check_invariants(&mut self, value: Loc, ty: &Type) {
        let Loc::Ref(value) = value else { return };
        let wanted = types_with_invariants(self.program, ty);
        if wanted.is_empty() {
            return;
        }
        let (mark, finder) = (self.top, self.finders.len());
        self.finders.push(Finder::new(self.program, ty, &wanted));
        let [(_, found), (_, list)] = [self.claim(0, 1), self.claim(0, 1)];
        let [(at, _), (count, _)] = [self.claim(1, 0), self.claim(1, 0)];
        self.heap(HeapOp::Contained, [found, value, 0, finder as u16, (finder >> 16) as u16, 0]);
        for (number, ty) in wanted.iter().enumerate() {
            let is_last = number + 1 == wanted.len();
            self.constant(at, number as u64);
            self.heap(HeapOp::ArrayGet, [list, if is_last { found | TAKE } else { found }, at, 0, 0, 0]);
            for function in self.program.stating(*ty) {
                self.call_for_each(function, list, [at, count]);
            }
            // It would keep the values until the function is left.
            self.heap(HeapOp::ArrayLen, [count, list | TAKE, 0, 0, 0, 0]);
        }
        self.top = mark;
    }

    /// Calls a function with each value of a list; with a slot for the position, and one for the length.
    fn call_for_each(&mut self, function: FuncRef, list: u16, [at, count]: [u16; 2]) {
        let (head, end) = (self.emit.label(), self.emit.label());
        self.heap(HeapOp::ArrayLen, [count, list, 0, 0, 0, 0]);
        self.constant(at, 0);
        self.emit.bind(head);
        self.emit.branch(Opcode::BrLeU, count, at, end);
        let before = self.top;
        let (slots, argument) = self.claim(0, 1);
        self.heap(HeapOp::ArrayGet, [argument, list, at, 0, 0, 0]);
        let call = self.emit.op2(Opcode::CallR, slots, 0, 0, [argument, 0, 0, 0]);
        self.patch(call, 2, Target::Function(function));
        self.top = before;
        self.emit.op(Opcode::AddI64K, at, at, 1);
        self.emit.jump(head);
        self.emit.bind(end);
    }
}
