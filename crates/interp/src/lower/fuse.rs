//! Two operators in one instruction: where the second comes right behind the first and nobody else wants its result.

use lmlang_ir::{Attr, NodeRef, Opcode as Op, Scalar, Source};

use super::fold::Rotation;
use super::{Lower, select};
use crate::code::{Loc, Lowering, Opcode};

impl Lower<'_> {
    /// Emits an operator together with the one that made an operand of it, if there is an instruction for both.
    pub(super) fn fuse(&mut self, of: NodeRef, op: Op, scalar: Scalar, to: u16) -> bool {
        for operand in [1, 0] {
            let Some((made, first)) = self.just_made(of, operand) else { continue };
            let scaled = self.emit.last().and_then(|(_, word, _)| Some((word[2], select::scaled(word)?)));
            if let (Op::Add, Some((x, (opcode, k)))) = (op, scaled)
                && let Some([z]) = self.held([(of, 1 - operand)])
            {
                let first = self.emit.take_back();
                self.emit.op2(opcode, to, x, k, [z, 0, 0, 0]);
                self.emit.computes_first(first);
                return true;
            }
            let Some(opcode) = select::pair(first, op, scalar, operand) else { continue };
            let operands = [(made, 0), (made, 1), (of, 1 - operand)];
            if let Some([x, y, z]) = self.held(operands) {
                let first = self.emit.take_back();
                self.emit.op2(opcode, to, x, y, [z, 0, 0, 0]);
                self.emit.computes_first(first);
                return true;
            }
        }
        false
    }

    /// Emits a load together with the addition that made its address.
    pub(super) fn fuse_load(&mut self, of: NodeRef, load: Opcode, offset: u16, to: u16) -> bool {
        let Some((made, Op::Add)) = self.just_made(of, 0) else { return false };
        let Some(opcode) = select::load_at(load) else { return false };
        let Some([x, y]) = self.held([(made, 0), (made, 1)]) else { return false };
        let first = self.emit.take_back();
        self.emit.op2(opcode, to, x, y, [offset, 0, 0, 0]);
        self.emit.computes_first(first);
        true
    }

    /// Emits the test at the end of a round together with the step of the counter that it looks at.
    pub(super) fn fuse_step(&mut self, rotation: &Rotation) -> bool {
        let Some((_, [word, to, x, y], _)) = self.emit.last() else { return false };
        let add = Opcode::of([word, to, x, y]);
        let Some((opcode, limit)) = select::step(add, rotation.opcode, rotation.b) else { return false };
        let by = match add {
            Opcode::AddI64K if x == to => self.pinned_slot(i64::from(y as i16) as u64),
            Opcode::AddI32K if x == to => self.pinned_slot(u64::from(i32::from(y as i16) as u32)),
            Opcode::AddI32 | Opcode::AddI64 if x == to => Some(y),
            Opcode::AddI32 | Opcode::AddI64 if y == to => Some(x),
            _ => None,
        };
        let limit = limit.map_or(Some(rotation.b), |bits| self.pinned_slot(bits));
        let (Some(by), Some(limit), true) = (by, limit, to == rotation.a) else { return false };
        let first = self.emit.take_back();
        self.emit.charge(rotation.cost);
        self.emit.branch2(opcode, to, limit, [by, 0, 0, 0], rotation.stay);
        self.emit.computes_first(first);
        let [test, _] = rotation.computed.clone();
        test.into_iter().for_each(|test| self.emit.computes(test));
        true
    }

    /// The node that made an operand by the last instruction, and its operator, if nobody else wants the value.
    pub(super) fn just_made(&self, of: NodeRef, operand: usize) -> Option<(NodeRef, Op)> {
        if self.style == Lowering::Plain || self.reuse {
            return None;
        }
        let body = self.function.body();
        let Source::Node(made, 0) = body.node(of)?.inputs().get(operand)? else { return None };
        let last = *self.nodes.get(self.emit.last_owner()? as usize)?;
        let alone = body.users_of(made.number()).nth(1).is_none();
        let node = body.node(made).filter(|_| made == last && alone)?;
        self.emit.last()?;
        matches!(node.op().attr(), Attr::Scalar(_)).then_some((made, node.op().code()))
    }

    /// The slots of inputs, if no instruction is needed for them to be there.
    fn held<const N: usize>(&mut self, inputs: [(NodeRef, usize); N]) -> Option<[u16; N]> {
        let mut slots = [0; N];
        for (slot, (of, index)) in slots.iter_mut().zip(inputs) {
            *slot = match self.input(of, index)?.0 {
                Loc::Num(slot) => slot,
                Loc::Known(bits) => self.pinned_slot(bits)?,
                Loc::Ref(_) => return None,
            };
        }
        Some(slots)
    }
}
