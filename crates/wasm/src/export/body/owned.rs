//! Who holds values of the heap: a local holds what it has until somebody takes it for the last time, and lets go of it at
//! the end. Operators that only look at a value leave it where it is; others are handed it over, or one more holds it.

use lmlang_ir::{Const, NodeRef, Opcode, Type, VarRef};
use wasm_encoder::{Ieee32, Ieee64, Instruction, ValType};

use super::super::brought::Brought;
use super::super::stack::Operand;
use super::super::{ExportError, types};
use super::{Done, Emitter, Input};
use crate::heap::Part;

/// How far a value may be from the one that takes it, to wait on the operand stack.
const NEAR: usize = 32;

impl Emitter<'_, '_> {
    /// Whether it is counted who holds values of a type.
    pub(super) fn counts(&self, ty: &Type) -> bool {
        self.writing.heap && !self.writing.bringing.inside && ty.on_heap()
    }

    /// Whether it is counted who holds what a variable has.
    pub(super) fn counts_variable(&self, of: VarRef) -> bool {
        self.body.variable(of).is_some_and(|variable| self.counts(&variable.ty))
    }

    /// Whether a node is handed over a value of the heap; else it only looks at it.
    pub(super) fn consumes(&self, of: NodeRef, input: u16) -> bool {
        let Some(node) = self.body.node(of) else { return false };
        match node.op().code() {
            Opcode::StructGet
            | Opcode::ArrayGet
            | Opcode::ArrayLen
            | Opcode::ArraySlice
            | Opcode::EnumTag
            | Opcode::Match
            | Opcode::Select
            | Opcode::StringLen
            | Opcode::StringSlice
            | Opcode::StringByte
            | Opcode::StringEq
            | Opcode::StringCompare
            | Opcode::StringChars
            | Opcode::StringFromChars
            | Opcode::StringToBytes
            | Opcode::StringFromBytes
            | Opcode::StringParse
            | Opcode::BytesLen
            | Opcode::BytesGet
            | Opcode::BytesSlice
            | Opcode::BytesEq
            | Opcode::BytesStore
            | Opcode::Print
            | Opcode::FileOpen
            | Opcode::FileWrite => false,
            Opcode::StringConcat | Opcode::BytesConcat => input == 0,
            Opcode::ClosureCall => input != 0,
            // The last one who opens it gets what is in it.
            Opcode::BoxGet | Opcode::EnumPayload => {
                self.payload_of(node.op()) == Some(Part::Ref) && self.last_uses.is_last(of, input)
            }
            _ => true,
        }
    }

    /// A value that a local has, for somebody who is handed it over.
    pub(super) fn handed_over(&mut self, of: NodeRef, input: u16, local: u32, since: usize) -> Operand {
        // Nothing may come between that still wants a value that is taken.
        let since = if self.last_uses.is_last(of, input) { usize::MAX } else { since };
        Operand::Several(self.got(of, input, local), since)
    }

    /// Gets a value out of a local that keeps it, unless this is the last use.
    pub(super) fn got(&mut self, of: NodeRef, input: u16, local: u32) -> Vec<Instruction<'static>> {
        let get = Instruction::LocalGet(local);
        match self.last_uses.is_last(of, input) {
            true => vec![get, Instruction::I32Const(0), Instruction::LocalSet(local)],
            false => vec![get, self.writing.runtime("share")],
        }
    }

    /// The first value of a variable.
    pub(super) fn first(&mut self, of: VarRef) -> Result<Instruction<'static>, ExportError> {
        let Some(variable) = self.body.variable(of) else {
            return Err(self.unsupported(of, "a variable that is not there"));
        };
        let ty = &variable.ty;
        Ok(match types::value(ty) {
            ValType::I32 if self.counts(ty) && self.writing.meter.is_some() => {
                if self.writing.first_value(ty, &Const::Unit).is_none() {
                    return Err(self.unsupported(of, format!("the first value of a `{ty}`")));
                }
                Instruction::Call(self.writing.brought(Brought::Zero(ty.clone())))
            }
            ValType::I32 if self.counts(ty) => {
                let first = self.writing.first_value(ty, &Const::Unit);
                let what = || self.unsupported(of, format!("the first value of a `{ty}`"));
                Instruction::I32Const(first.ok_or_else(what)?)
            }
            ValType::I64 => Instruction::I64Const(0),
            ValType::F32 => Instruction::F32Const(Ieee32::new(0)),
            ValType::F64 => Instruction::F64Const(Ieee64::new(0)),
            ValType::Ref(of) => Instruction::RefNull(of.heap_type),
            ValType::I32 | ValType::V128 => Instruction::I32Const(0),
        })
    }

    /// Gives a variable the first value of its type.
    pub(super) fn begin(&mut self, of: VarRef, local: u32) -> Done {
        let first = self.first(of)?;
        self.code.push(first);
        self.code.push(Instruction::LocalSet(local));
        self.owned.push(local);
        Ok(())
    }

    /// Puts the value on the stack into a local of its own.
    pub(super) fn keep(&mut self, local: u32) {
        self.owned.push(local);
        match self.rounds {
            0 => self.code.push(Instruction::LocalSet(local)),
            // What it had in the round before.
            _ => self.replace(local),
        }
    }

    /// Puts the value on the stack into a local, which lets go of the one that it has.
    pub(super) fn replace(&mut self, local: u32) {
        self.release(local);
        self.code.push(Instruction::LocalSet(local));
    }

    fn release(&mut self, local: u32) {
        let release = self.writing.runtime("release");
        self.code.push(Instruction::LocalGet(local));
        self.code.push(release);
    }

    /// Lets go of what a node has looked at for the last time.
    pub(super) fn let_go(&mut self, of: NodeRef, inputs: impl IntoIterator<Item = Input>) {
        if self.last_uses.is_empty() {
            return;
        }
        for (index, source) in inputs {
            let last = self.last_uses.is_last(of, index) && !self.consumes(of, index);
            if let (true, Some(local)) = (last, self.local_of(source)) {
                self.drop_local(local);
            }
        }
    }

    pub(super) fn drop_local(&mut self, local: u32) {
        self.release(local);
        self.code.push(Instruction::I32Const(0));
        self.code.push(Instruction::LocalSet(local));
    }

    /// Lets go of all that the locals still have.
    pub(super) fn release_all(&mut self) {
        for local in std::mem::take(&mut self.owned) {
            self.release(local);
        }
    }

    /// Whether a value that is used once and nearby can stay on the operand stack until then.
    pub(super) fn may_wait(&self, of: NodeRef, counts: bool) -> bool {
        let Some(one) = self.body.uses_of(of.number()).next() else { return false };
        let Some((user, input)) = self.body.node(one.node).zip(one.input) else { return false };
        match user.op().code() {
            // These begin a block, or put instructions between their operands.
            Opcode::BreakIf | Opcode::ContinueIf
                if input > 0 && user.inputs().iter().flatten().any(|of| self.last_uses.is_on_heap(of)) =>
            {
                return false;
            }
            Opcode::ArrayNew if user.inputs().len() > super::values::MOST_AT_ONCE => return false,
            _ => {}
        }
        // wasmi 2.0.0 loses what a local had when it waits beneath a loop.
        let gets = self.body.node(of).is_some_and(|node| node.op().code() == Opcode::VarGet);
        if !counts && !gets {
            return true;
        }
        // Whoever leaves in between would leave it behind.
        let mut at = of;
        for _ in 0..NEAR {
            match self.body.next(at) {
                Some(next) if next == one.node => return self.consumes(one.node, input),
                Some(next) => at = next,
                None => return false,
            }
            let leaves = self.body.node(at).is_none_or(|node| {
                let code = node.op().code();
                !node.regions().is_empty() || matches!(code, Opcode::BreakIf | Opcode::ContinueIf)
            });
            if leaves {
                return false;
            }
        }
        false
    }
}
