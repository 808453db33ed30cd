//! What folds away: constants into operands, comparisons into the branches behind them.

use lmlang_ir::{Attr, NodeRef, Opcode as Op, Scalar, Source, Type};

use super::emit::Label;
use super::{Lower, Open, Then};
use crate::code::{Computed, Loc, Lowering, Opcode};

/// A comparison that the branch behind it makes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compare {
    pub(super) of: NodeRef,
    pub(super) op: Op,
    pub(super) scalar: Scalar,
    pub(super) a: Loc,
    pub(super) b: Loc,
    /// Whether the last instruction made an operand that nobody else wants.
    made: bool,
}

/// The test at the start of a loop's body: a round ends with a copy of it, which goes straight to what follows.
#[derive(Clone, Debug)]
pub(super) struct Rotation {
    pub(super) opcode: Opcode,
    pub(super) a: u16,
    pub(super) b: u16,
    pub(super) cost: u32,
    pub(super) stay: Label,
    leave: Label,
    /// What the test computes, by its first operator and by its second.
    pub(super) computed: [Option<Computed>; 2],
}

impl Lower<'_> {
    /// Notes a branch that was just emitted as the test at the start of a loop, if it is one.
    pub(super) fn note_rotation(&mut self, at: usize, stay: Label, leave: Label) {
        let Some(Open { then: Then::End(owner), .. }) = self.open.last() else { return };
        let owner = *owner;
        let (word, cost) = match self.emit.last() {
            Some((position, word, cost)) if position == at => (word, cost),
            Some(_) | None => return,
        };
        let computed = self.emit.computed_at(at);
        if let Some(scope) = self.scopes.get_mut(&owner)
            && scope.head.is_some()
            && scope.start == at
        {
            let [_, a, b, _] = word;
            scope.rotation = Some(Rotation { opcode: Opcode::of(word), a, b, cost, stay, leave, computed });
        }
    }

    /// Ends a round with the test of the next one; tells whether the loop has one to repeat.
    pub(super) fn repeat_test(&mut self, of: NodeRef) -> bool {
        let rotation = self.scopes.get(&of).and_then(|scope| scope.rotation.clone());
        let Some(rotation) = rotation else { return false };
        if !self.fuse_step(&rotation) {
            self.emit.charge(rotation.cost);
            self.emit.branch(rotation.opcode, rotation.a, rotation.b, rotation.stay);
            self.emit.computes_again(rotation.computed);
        }
        self.emit.jump(rotation.leave);
        true
    }

    /// Keeps slots for constants that stand in loops; those that are used from there are filled at entry.
    pub(super) fn pin_constants(&mut self) {
        /// Each costs a slot, and an instruction at entry if it is used.
        const MOST: usize = 32;
        if self.style == Lowering::Plain {
            return;
        }
        let body = self.function.body();
        let loops = body.regions().map(|(region, _)| region).filter(|region| self.is_loop_body(*region));
        let loops = self.positions.outermost(loops);
        if loops.is_empty() {
            return;
        }
        let mut found: Vec<u64> = Vec::new();
        for (of, node) in body.nodes() {
            if let Attr::Const(value) = node.op().attr()
                && let Some(bits) = crate::value::scalar_bits(value)
                && !found.contains(&bits)
                && self.positions.lies_in(of, &loops)
            {
                found.push(bits);
                if found.len() == MOST {
                    break;
                }
            }
        }
        for bits in found {
            let (slot, _) = self.claim(1, 0);
            self.pinned.insert(bits, (slot, false));
        }
    }

    /// Tells whether a comparison's only use is the condition of the node right behind it, and notes it if so.
    pub(super) fn defer_compare(&mut self, node: NodeRef, op: Op, scalar: Scalar, a: Loc, b: Loc) -> bool {
        if self.style == Lowering::Plain || self.reuse || scalar == Scalar::F32 {
            return false;
        }
        if matches!(op, Op::Eq | Op::Ne) && scalar == Scalar::F64 {
            return false;
        }
        let body = self.function.body();
        let mut uses = body.users_of(node.number());
        let (Some(only), None) = (uses.next(), uses.next()) else { return false };
        if only.input != Some(0) || self.stale.contains(&only.node) {
            return false;
        }
        let Some(user) = body.node(only.node) else { return false };
        if !matches!(user.op().code(), Op::If | Op::BreakIf | Op::ContinueIf) {
            return false;
        }
        // Between the two only constants may stand, which take no time.
        let mut next = body.next(node);
        while let Some(between) = next.filter(|next| *next != only.node) {
            match body.node(between).map(|node| node.op().attr()) {
                Some(Attr::Const(value)) if crate::value::scalar_bits(value).is_some() => {
                    next = body.next(between);
                }
                Some(_) | None => return false,
            }
        }
        if next.is_none() {
            return false;
        }
        let made = self.just_made(node, 0).is_some();
        self.compares.insert(node, Compare { of: node, op, scalar, a, b, made });
        true
    }

    /// The branch on some bits of a slot, in place of that on the result of the last instruction, which masks it.
    fn test_of_bits(
        &mut self,
        made: bool,
        branch: Opcode,
        masked: u16,
        k: u16,
    ) -> Option<(Opcode, u16, u16, Option<Computed>)> {
        let (_, [word, to, slot, mask], _) = self.emit.last().filter(|_| made)?;
        if Opcode::of([word, to, slot, mask]) != Opcode::AndK || to != masked {
            return None;
        }
        let opcode = match (branch, k) {
            (Opcode::BrEqK, 0) => Opcode::BrNoneK,
            (Opcode::BrNeK, 0) => Opcode::BrAnyK,
            // Of a single bit.
            (Opcode::BrEqK, k) if k == mask && k.is_power_of_two() => Opcode::BrAnyK,
            (Opcode::BrNeK, k) if k == mask && k.is_power_of_two() => Opcode::BrNoneK,
            _ => return None,
        };
        Some((opcode, slot, mask, self.emit.take_back()))
    }

    /// Branches if the condition of a node is as given.
    pub(super) fn branch_on(&mut self, node: NodeRef, source: Source, when: bool, to: Label) {
        if let Source::Node(condition, 0) = source
            && let Some(compare) = self.compares.get(&condition).copied()
        {
            self.fused(compare, when, to);
            if self.style == Lowering::Recorded {
                self.emit.computes(Computed { node: compare.of, ty: Type::BOOL, inverted: !when });
            }
            return;
        }
        let slot = self.num(node, 0);
        self.emit.branch(if when { Opcode::BrIf } else { Opcode::BrIfNot }, slot, 0, to);
    }

    fn fused(&mut self, compare: Compare, when: bool, to: Label) {
        let Compare { of: _, op, scalar, a, b, made } = compare;
        let wide = scalar == Scalar::I64;
        let float = scalar == Scalar::F64;
        // Everything is brought to `<`, `<=`, `==`, `!=`, and their negations to these by swapping.
        let (op, a, b) = match op {
            Op::GtS => (Op::LtS, b, a),
            Op::GeS => (Op::LeS, b, a),
            Op::GtU => (Op::LtU, b, a),
            Op::GeU => (Op::LeU, b, a),
            Op::Gt => (Op::Lt, b, a),
            Op::Ge => (Op::Le, b, a),
            Op::Eqz => (Op::Eq, a, Loc::Known(0)),
            other => (other, a, b),
        };
        let (op, a, b) = match (op, when) {
            (op, true) => (op, a, b),
            (Op::Eq, false) => (Op::Ne, a, b),
            (Op::Ne, false) => (Op::Eq, a, b),
            (Op::LtS, false) => (Op::LeS, b, a),
            (Op::LeS, false) => (Op::LtS, b, a),
            (Op::LtU, false) => (Op::LeU, b, a),
            (Op::LeU, false) => (Op::LtU, b, a),
            (op, false) => (op, a, b),
        };
        if let Some((opcode, slot, k)) = self.immediate(op, wide, a, b) {
            match self.test_of_bits(made, opcode, slot, k) {
                Some((opcode, slot, k, masked)) => {
                    self.emit.branch(opcode, slot, k, to);
                    self.emit.computes_first(masked);
                }
                None => self.emit.branch(opcode, slot, k, to),
            }
            return;
        }
        let opcode = match (op, when) {
            (Op::Eq, _) => Opcode::BrEq,
            (Op::Ne, _) => Opcode::BrNe,
            (Op::LtU, _) => Opcode::BrLtU,
            (Op::LeU, _) => Opcode::BrLeU,
            (Op::LtS, _) if wide => Opcode::BrLtS64,
            (Op::LeS, _) if wide => Opcode::BrLeS64,
            (Op::LtS, _) => Opcode::BrLtS32,
            (Op::LeS, _) => Opcode::BrLeS32,
            (Op::Lt, true) => Opcode::BrLtF64,
            (Op::Le, true) => Opcode::BrLeF64,
            (Op::Lt, false) => Opcode::BrNotLtF64,
            (_, _) => {
                debug_assert!(float, "{op:?} is no comparison that branches fuse");
                Opcode::BrNotLeF64
            }
        };
        let (a, b) = (self.slot_of(a), self.slot_of(b));
        self.emit.branch(opcode, a, b, to);
    }

    /// The form with an immediate operand, if there is one.
    fn immediate(&self, op: Op, wide: bool, a: Loc, b: Loc) -> Option<(Opcode, u16, u16)> {
        let signed = |bits: u64| if wide { bits as i64 } else { i64::from(bits as i32) };
        let small = |value: i64| i16::try_from(value).ok().map(|value| value as u16);
        let natural = |bits: u64| (bits < 1 << 15).then_some(bits as u16);
        Some(match (op, a, b) {
            (Op::Eq, Loc::Num(x), Loc::Known(k)) | (Op::Eq, Loc::Known(k), Loc::Num(x)) => {
                (Opcode::BrEqK, x, natural(k)?)
            }
            (Op::Ne, Loc::Num(x), Loc::Known(k)) | (Op::Ne, Loc::Known(k), Loc::Num(x)) => {
                (Opcode::BrNeK, x, natural(k)?)
            }
            (Op::LtS, Loc::Num(x), Loc::Known(k)) => {
                (if wide { Opcode::BrLtSK64 } else { Opcode::BrLtSK32 }, x, small(signed(k))?)
            }
            (Op::LeS, Loc::Num(x), Loc::Known(k)) => {
                (if wide { Opcode::BrLtSK64 } else { Opcode::BrLtSK32 }, x, small(signed(k).checked_add(1)?)?)
            }
            (Op::LeS, Loc::Known(k), Loc::Num(x)) => {
                (if wide { Opcode::BrGeSK64 } else { Opcode::BrGeSK32 }, x, small(signed(k))?)
            }
            (Op::LtS, Loc::Known(k), Loc::Num(x)) => {
                (if wide { Opcode::BrGeSK64 } else { Opcode::BrGeSK32 }, x, small(signed(k).checked_add(1)?)?)
            }
            (Op::LtU, Loc::Num(x), Loc::Known(k)) => (Opcode::BrLtUK, x, natural(k)?),
            (Op::LeU, Loc::Num(x), Loc::Known(k)) => (Opcode::BrLtUK, x, natural(k.checked_add(1)?)?),
            (Op::LeU, Loc::Known(k), Loc::Num(x)) => (Opcode::BrGeUK, x, natural(k)?),
            (Op::LtU, Loc::Known(k), Loc::Num(x)) => (Opcode::BrGeUK, x, natural(k.checked_add(1)?)?),
            _ => return None,
        })
    }

    /// The slot of a scalar; a constant is put into one.
    pub(super) fn slot_of(&mut self, loc: Loc) -> u16 {
        match loc {
            Loc::Num(slot) => slot,
            Loc::Known(bits) => match self.pinned_slot(bits) {
                Some(slot) => slot,
                None => {
                    let (slot, _) = self.claim(1, 0);
                    // What folded code counts belongs to the instruction that wants it: that may be refused.
                    let counted = self.emit.set_aside();
                    self.constant(slot, bits);
                    self.emit.charge(counted);
                    slot
                }
            },
            Loc::Ref(_) => 0,
        }
    }

    /// The slot that holds a constant in loops, if one does.
    pub(super) fn pinned_slot(&mut self, bits: u64) -> Option<u16> {
        let (slot, used) = self.pinned.get_mut(&bits).filter(|_| self.loops > 0)?;
        *used = true;
        Some(*slot)
    }
}
