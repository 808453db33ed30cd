//! Operators to instructions, one by one.

use lmlang_ir::layout::{self, Layout};
use lmlang_ir::{Attr, Const, NodeRef, Op, Opcode, Scalar, Source};
use wasm_encoder::{HeapType, Ieee32, Ieee64, Instruction, ValType};

use super::super::ExportError;
use super::{Done, Emitter, Input, Uses};
use crate::plain;

impl Emitter<'_, '_> {
    /// The instructions of an operator that takes its inputs in their order.
    pub(super) fn instructions(
        &mut self,
        of: NodeRef,
        op: &Op,
    ) -> Result<Vec<Instruction<'static>>, ExportError> {
        let memory = self.writing.memory();
        let indices = &self.writing.indices;
        let one = |instruction| Ok(vec![instruction]);
        match (op.code(), op.attr()) {
            (Opcode::Call, Attr::Function(callee)) => {
                one(Instruction::Call(self.writing.function_index(*callee)))
            }
            (Opcode::FuncRef, Attr::Function(function)) => {
                let index = self.writing.referred(*function);
                self.writing.declared.insert(index);
                one(Instruction::RefFunc(index))
            }
            (Opcode::GlobalGet, Attr::Variable(of)) => {
                one(Instruction::GlobalGet(self.writing.global_index(*of)))
            }
            (Opcode::GlobalSet, Attr::Variable(of)) => {
                one(Instruction::GlobalSet(self.writing.global_index(*of)))
            }
            (Opcode::MemorySize, _) => one(Instruction::MemorySize(memory)),
            (Opcode::MemoryGrow, _) => one(Instruction::MemoryGrow(memory)),
            (Opcode::MemoryCopy, _) => one(Instruction::MemoryCopy { src_mem: memory, dst_mem: memory }),
            (Opcode::MemoryFill, _) => one(Instruction::MemoryFill(memory)),
            (Opcode::MemoryInit, Attr::Variable(of)) => {
                self.writing.names_data = true;
                one(Instruction::MemoryInit { mem: memory, data_index: indices.data[of] })
            }
            (Opcode::DataDrop, Attr::Variable(of)) => {
                self.writing.names_data = true;
                one(Instruction::DataDrop(indices.data[of]))
            }
            (Opcode::TableGet, Attr::Variable(of)) => one(Instruction::TableGet(indices.tables[of])),
            (Opcode::TableSet, Attr::Variable(of)) => one(Instruction::TableSet(indices.tables[of])),
            (Opcode::TableSize, Attr::Variable(of)) => one(Instruction::TableSize(indices.tables[of])),
            (Opcode::TableGrow, Attr::Variable(of)) => one(Instruction::TableGrow(indices.tables[of])),
            (Opcode::TableFill, Attr::Variable(of)) => one(Instruction::TableFill(indices.tables[of])),
            (Opcode::TableInit, Attr::Entries(table, from)) => one(Instruction::TableInit {
                table: indices.tables[table],
                elem_index: indices.elements[from],
            }),
            (Opcode::TableCopy, Attr::Entries(table, from)) => one(Instruction::TableCopy {
                dst_table: indices.tables[table],
                src_table: indices.tables[from],
            }),
            (Opcode::ElemDrop, Attr::Variable(of)) => one(Instruction::ElemDrop(indices.elements[of])),
            (Opcode::RefNullExtern, _) => one(Instruction::RefNull(HeapType::EXTERN)),
            (Opcode::RefNull, _) => one(Instruction::RefNull(HeapType::FUNC)),
            (Opcode::RefIsNull, _) => one(Instruction::RefIsNull),
            (Opcode::FieldAddr, Attr::Field(ty, member)) => {
                match layout::field_offset(self.writing.program, *ty, *member) {
                    Some(0) => Ok(Vec::new()),
                    Some(offset) => {
                        Ok(vec![Instruction::I32Const(offset.cast_signed()), Instruction::I32Add])
                    }
                    None => Err(self.unsupported(of, "the address of a field of this type")),
                }
            }
            (Opcode::ElemAddr, Attr::Type(ty)) => match layout::layout(self.writing.program, ty) {
                Some(Layout { size: 1, .. }) => one(Instruction::I32Add),
                Some(Layout { size, .. }) => Ok(vec![
                    Instruction::I32Const(size.cast_signed()),
                    Instruction::I32Mul,
                    Instruction::I32Add,
                ]),
                None => Err(self.unsupported(of, "the address of an element of this type")),
            },
            (Opcode::PtrFromI32 | Opcode::PtrToI32, _) => Ok(Vec::new()),
            (Opcode::Not, Attr::Scalar(Scalar::Bool)) => one(Instruction::I32Eqz),
            (Opcode::Not, Attr::Scalar(Scalar::I32)) => {
                Ok(vec![Instruction::I32Const(-1), Instruction::I32Xor])
            }
            (Opcode::Not, Attr::Scalar(Scalar::I64)) => {
                Ok(vec![Instruction::I64Const(-1), Instruction::I64Xor])
            }
            (code, Attr::Memory(arg)) => access(code, *arg, memory)
                .ok_or_else(|| self.unsupported(of, format!("the operator `{}`", code.mnemonic()))),
            (code, Attr::Scalar(scalar)) => {
                let found =
                    Op::new(code, Attr::Scalar(register(*scalar))).and_then(|op| plain::instruction(&op));
                found
                    .map(|instruction| vec![instruction])
                    .ok_or_else(|| self.unsupported(of, format!("the operator `{}`", code.mnemonic())))
            }
            (code, _) => match plain::instruction(op) {
                Some(instruction) => one(instruction),
                None => Err(self.unsupported(of, format!("the operator `{}`", code.mnemonic()))),
            },
        }
    }

    /// Puts the canonical NaN in the place of any other that an operator computes.
    pub(super) fn canonical(&mut self, op: &Op) -> Vec<Instruction<'static>> {
        use Instruction::*;
        let of = match (op.code(), op.attr()) {
            (
                Opcode::Add
                | Opcode::Sub
                | Opcode::Mul
                | Opcode::Div
                | Opcode::Min
                | Opcode::Max
                | Opcode::Sqrt
                | Opcode::Ceil
                | Opcode::Floor
                | Opcode::TruncFloat
                | Opcode::Nearest,
                Attr::Scalar(of),
            )
            | (Opcode::Promote | Opcode::Demote, Attr::Convert(_, of)) => *of,
            _ => return Vec::new(),
        };
        let (ty, nan, equal) = match of {
            Scalar::F32 => (ValType::F32, F32Const(Ieee32::new(0x7fc0_0000)), F32Eq),
            Scalar::F64 => (ValType::F64, F64Const(Ieee64::new(0x7ff8 << 48)), F64Eq),
            _ => return Vec::new(),
        };
        let value = self.local(ty);
        vec![LocalTee(value), nan, LocalGet(value), LocalGet(value), equal, Select]
    }

    /// Widths: narrow integers and truth values are 32 bits wide, with the sign or zeros above.
    pub(super) fn widen(
        &mut self,
        of: NodeRef,
        op: &Op,
        (from, to): (Scalar, Scalar),
        inputs: &[Input],
    ) -> Done {
        use Instruction::*;
        let mask = |bits: i32| [I32Const(bits), I32And];
        let mut out: Vec<Instruction<'static>> = Vec::new();
        match op.code() {
            Opcode::Wrap => {
                if self.extended(of, from, to).is_some() {
                    // Both together are one instruction, which the second puts.
                    return self.emit(of, inputs.iter().copied(), []);
                }
                if from == Scalar::I64 {
                    out.push(I32WrapI64);
                }
                match to {
                    Scalar::I8 => out.push(I32Extend8S),
                    Scalar::I16 => out.push(I32Extend16S),
                    Scalar::Bool => out.extend(mask(1)),
                    _ => {}
                }
            }
            Opcode::ExtendS => {
                let narrowed = inputs.first().and_then(|(_, source)| match source {
                    Source::Node(node, _) => {
                        let inner = self.body.node(*node)?;
                        (inner.op().code() == Opcode::Wrap).then_some(())?;
                        let Attr::Convert(wide, part) = inner.op().attr() else { return None };
                        self.extended(*node, *wide, *part)
                    }
                    Source::Param(..) | Source::RegionParam(..) => None,
                });
                match (narrowed, to) {
                    (Some(instruction), _) => out.push(instruction),
                    (None, Scalar::I64) => out.push(I64ExtendI32S),
                    (None, _) => {}
                }
            }
            _ => {
                // The number is the truth value, which may lie below others that were found since.
                if (from, to) == (Scalar::Bool, Scalar::I32)
                    && let Some((_, value)) = inputs.first()
                    && self.body.node(of).is_some_and(|node| self.uses(of, node.region(), 0) == Uses::Near)
                    && self.code.rename(*value, Source::Node(of, 0))
                {
                    return Ok(());
                }
                match from {
                    Scalar::I8 => out.extend(mask(0xff)),
                    Scalar::I16 => out.extend(mask(0xffff)),
                    _ => {}
                }
                if to == Scalar::I64 {
                    out.push(I64ExtendI32U);
                }
            }
        }
        self.emit(of, inputs.iter().copied(), out)
    }

    /// The instruction that keeps the lower part of a number and copies its sign, if a node and the only one that uses it
    /// do just that.
    pub(super) fn extended(&self, wrap: NodeRef, wide: Scalar, part: Scalar) -> Option<Instruction<'static>> {
        let node = self.body.node(wrap)?;
        (self.uses(wrap, node.region(), 0) == Uses::Near).then_some(())?;
        let user = self.body.uses_of(wrap.number()).next()?;
        let user = self.body.node(user.node)?.op();
        (user.code() == Opcode::ExtendS && *user.attr() == Attr::Convert(part, wide)).then_some(())?;
        match (wide, part) {
            (Scalar::I32, Scalar::I8) => Some(Instruction::I32Extend8S),
            (Scalar::I32, Scalar::I16) => Some(Instruction::I32Extend16S),
            (Scalar::I64, Scalar::I8) => Some(Instruction::I64Extend8S),
            (Scalar::I64, Scalar::I16) => Some(Instruction::I64Extend16S),
            (Scalar::I64, Scalar::I32) => Some(Instruction::I64Extend32S),
            (_, _) => None,
        }
    }
}

/// The type of a number in a register.
pub(super) fn register(of: Scalar) -> Scalar {
    match of {
        Scalar::Bool | Scalar::I8 | Scalar::I16 | Scalar::I32 => Scalar::I32,
        Scalar::I64 | Scalar::F32 | Scalar::F64 => of,
    }
}

pub(super) fn constant(value: &Const) -> Option<Instruction<'static>> {
    Some(match value {
        Const::Bool(value) => Instruction::I32Const((*value).into()),
        Const::I8(value) => Instruction::I32Const((*value).into()),
        Const::I16(value) => Instruction::I32Const((*value).into()),
        Const::I32(value) => Instruction::I32Const(*value),
        Const::I64(value) => Instruction::I64Const(*value),
        Const::F32(bits) => Instruction::F32Const(Ieee32::new(*bits)),
        Const::F64(bits) => Instruction::F64Const(Ieee64::new(*bits)),
        Const::Unit => Instruction::I32Const(0),
        Const::String(_) | Const::Bytes(_) => return None,
    })
}

/// What reads or writes memory; narrow types are those of their width.
pub(super) fn access(code: Opcode, arg: lmlang_ir::MemArg, memory: u32) -> Option<Vec<Instruction<'static>>> {
    let wide = lmlang_ir::MemArg { ty: register(arg.ty), ..arg };
    Some(match (code, arg.ty) {
        (Opcode::Load, Scalar::Bool) => {
            let load = plain::access(Opcode::Load8U, wide, memory)?;
            vec![load, Instruction::I32Const(0), Instruction::I32Ne]
        }
        (Opcode::Load, Scalar::I8) => vec![plain::access(Opcode::Load8S, wide, memory)?],
        (Opcode::Load, Scalar::I16) => vec![plain::access(Opcode::Load16S, wide, memory)?],
        (Opcode::Store, Scalar::Bool | Scalar::I8) => vec![plain::access(Opcode::Store8, wide, memory)?],
        (Opcode::Store, Scalar::I16) => vec![plain::access(Opcode::Store16, wide, memory)?],
        (_, _) => vec![plain::access(code, arg, memory)?],
    })
}
