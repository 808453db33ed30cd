//! Instructions to nodes: the operand stack is followed, each instruction becomes a node where it stands.

mod control;
mod visit;

use std::ops::Deref;
use std::sync::Arc;

use lmlang_ir::builder::FunctionBuilder;
use lmlang_ir::draft::{Draft, End};
use lmlang_ir::ops::PortType;
use lmlang_ir::{Attr, Const, Inputs, MemArg, NodeContent, NodeRef, Op, Opcode, RegionRef, Scalar, Source};
use smallvec::SmallVec;
use wasmparser::{HeapType, Operator};

use super::locals::{Cell, Locals};
use super::mnemonic::mnemonic;
use super::names::Labels;
use super::operand::{OperandType, Operands};
use super::{ImportError, Indices};
use crate::plain;
use crate::raw::{Carried, Known};

pub(super) use self::visit::Step;

/// What a block, a branch or a call by a reference takes from the operand stack.
type Values = SmallVec<[Source; 4]>;

/// What a block takes or leaves: one value that it names itself, or what one of the module's signatures has.
#[derive(Clone, Copy, Debug)]
enum Types<'m> {
    One([OperandType; 1]),
    Of(&'m [OperandType]),
}

impl Deref for Types<'_> {
    type Target = [OperandType];

    fn deref(&self) -> &[OperandType] {
        match self {
            Types::One(one) => one,
            Types::Of(types) => types,
        }
    }
}

/// A value on the operand stack.
#[derive(Clone, Copy, Debug)]
struct Operand {
    source: Source,
    ty: OperandType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Function,
    Block,
    Loop,
    /// The first region of an `if`; the second is not there yet.
    Then(RegionRef),
    Else,
}

/// A block that is open.
#[derive(Debug)]
struct Frame<'m> {
    kind: Kind,
    /// The node that owns the region; `None` for the function.
    node: Option<NodeRef>,
    /// What the block takes: for the second region of an `if`.
    params: Vec<Operand>,
    param_types: Types<'m>,
    results: Types<'m>,
    /// Operands below the block.
    height: usize,
    /// Where the builder goes on after it.
    outside: End,
}

/// What bodies are read with, one after another, so that the lists need no new room for each.
#[derive(Debug, Default)]
pub(super) struct Lists<'m> {
    pub(super) locals: Locals<'m>,
    stack: Vec<Operand>,
    frames: Vec<Frame<'m>>,
}

pub(super) struct Body<'m, 'b> {
    indices: &'m Indices,
    build: FunctionBuilder<'b, &'b mut Draft>,
    locals: Locals<'m>,
    labels: Labels,
    stack: Vec<Operand>,
    frames: Vec<Frame<'m>>,
    /// Blocks that were opened since the code cannot be reached; `None` where it can.
    dead: Option<u32>,
    /// Values that the last instruction took and gave.
    values: usize,
    /// The byte where the next instruction begins.
    offset: u64,
    /// Why the last instruction is not taken in.
    refused: Option<ImportError>,
}

impl<'m, 'b> Body<'m, 'b> {
    pub(super) fn new(
        indices: &'m Indices,
        build: FunctionBuilder<'b, &'b mut Draft>,
        lists: Lists<'m>,
        labels: Labels,
        results: &'m [OperandType],
    ) -> Body<'m, 'b> {
        let Lists { locals, stack, mut frames } = lists;
        let outside = build.place();
        let function = Frame {
            kind: Kind::Function,
            node: None,
            params: Vec::new(),
            param_types: Types::Of(&[]),
            results: Types::Of(results),
            height: 0,
            outside,
        };
        frames.push(function);
        let (dead, values, offset, refused) = (None, 0, 0, None);
        Body { indices, build, locals, labels, stack, frames, dead, values, offset, refused }
    }

    /// The lists, for the next body: this one has come to its end.
    pub(super) fn close(self) -> Lists<'m> {
        let Body { locals, mut stack, mut frames, .. } = self;
        stack.clear();
        frames.clear();
        Lists { locals, stack, frames }
    }

    /// How many values were taken and given since somebody asked.
    pub(super) fn values(&mut self) -> usize {
        std::mem::take(&mut self.values)
    }

    /// How many nodes there are.
    pub(super) fn nodes(&self) -> usize {
        self.build.nodes()
    }

    /// Takes the next instruction in. The module is valid.
    fn take(&mut self, operator: &Operator<'_>, offset: u64) -> Result<(), ImportError> {
        if self.dead.is_some() {
            self.pass_over(operator);
            return Ok(());
        }
        match *operator {
            // More than half of all instructions are one of these.
            Operator::LocalGet { local_index } => self.get(local_index),
            Operator::LocalSet { local_index } => self.set(local_index),
            Operator::LocalTee { local_index } => {
                self.set(local_index);
                self.get(local_index);
            }
            Operator::I32Const { value } => self.constant(Const::I32(value), Scalar::I32),
            _ => return self.look_up(operator, offset),
        }
        Ok(())
    }

    /// Takes an instruction in that is in one of the tables, or has its own way.
    fn look_up(&mut self, operator: &Operator<'_>, offset: u64) -> Result<(), ImportError> {
        if let Some((code, (of, to))) = plain::of_operator(operator) {
            self.plain(code, of, to);
            return Ok(());
        }
        if let Some((code, ty, memarg)) = plain::of_access(operator) {
            return self.access(code, ty, memarg, offset);
        }
        self.other(operator, offset)
    }

    /// Takes in an operator that is carried as its bytes.
    pub(super) fn carry(&mut self, bytes: &[u8], known: &mut Known, offset: u64) -> Result<(), ImportError> {
        if self.dead.is_some() {
            return Ok(());
        }
        let top = &self.stack[self.stack.len().saturating_sub(MOST_CARRIED)..];
        let carried = known.of(bytes, top.iter().map(|operand| operand.ty.value()));
        let Carried { op, signature, text } =
            carried.map_err(|what| ImportError::unsupported(format!("an instruction ({what})"), offset))?;
        let Operands { params, results } = Operands::of(signature);
        let inputs = self.pop_inputs(params.into_iter());
        let content = NodeContent { inputs, doc: Some(Arc::clone(text)), ..NodeContent::new(op.clone(), []) };
        let node = self.build.insert(content);
        self.push_all(node, &results);
        Ok(())
    }

    /// Nothing comes here: only blocks are counted.
    fn pass_over(&mut self, operator: &Operator<'_>) {
        let Some(depth) = &mut self.dead else { return };
        match operator {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => {
                *depth += 1;
                self.labels.next();
            }
            Operator::End if *depth > 0 => *depth -= 1,
            Operator::End => self.end(),
            Operator::Else if *depth == 0 => self.otherwise(),
            _ => {}
        }
    }

    fn other(&mut self, operator: &Operator<'_>, offset: u64) -> Result<(), ImportError> {
        let unsupported =
            || ImportError::unsupported(format!("the instruction `{}`", mnemonic(operator)), offset);
        match *operator {
            Operator::Nop => {}
            Operator::Unreachable => {
                self.build.unreachable();
                self.die();
            }
            Operator::Block { blockty } => self.open(Kind::Block, blockty, offset)?,
            Operator::Loop { blockty } => self.open(Kind::Loop, blockty, offset)?,
            Operator::If { blockty } => self.open_if(blockty, offset)?,
            Operator::Else => self.otherwise(),
            Operator::End => self.end(),
            Operator::Br { relative_depth } => {
                let (exit, types) = self.label(relative_depth);
                let values = self.pop_typed(&types);
                self.build.exit(exit, values);
                self.die();
            }
            Operator::BrIf { relative_depth } => self.branch_if(relative_depth),
            Operator::BrTable { ref targets } => self.switch(targets)?,
            Operator::Return => {
                let types = self.frames[0].results;
                let values = self.pop_typed(&types);
                self.build.ret(values);
                self.die();
            }
            Operator::Call { function_index } => {
                let (of, Operands { params, results }) = self.indices.function(function_index);
                let arguments = self.pop_inputs(params.iter().copied());
                let call = self.build.plain(Op::call(of), arguments);
                self.push_all(call, results);
            }
            Operator::CallIndirect { type_index, table_index } => {
                let Operands { params, results } = self.indices.operands(type_index);
                let index = self.pop_as(OperandType::I32);
                let arguments = self.pop_typed(params);
                let signature = Arc::clone(self.indices.signature(type_index));
                let attr = Attr::Indirect(self.indices.table(table_index).0, signature);
                let inputs = std::iter::once(index).chain(arguments);
                let call = self.build.op(Opcode::CallIndirect, attr, inputs);
                self.push_all(call, results);
            }
            Operator::Drop => {
                self.pop();
            }
            Operator::Select => {
                let condition = self.pop_condition();
                let (b, a) = (self.pop(), self.pop());
                // Two truth values stay such.
                let ty = if a.ty == b.ty { a.ty } else { OperandType::I32 };
                self.select(condition, a, b, ty);
            }
            Operator::TypedSelect { ty } => {
                let ty = OperandType::of_value(ty).ok_or_else(unsupported)?;
                let condition = self.pop_condition();
                let (b, a) = (self.pop(), self.pop());
                self.select(condition, a, b, ty);
            }
            Operator::GlobalGet { global_index } => {
                let (of, ty) = self.indices.global(global_index);
                let node = self.build.op(Opcode::GlobalGet, Attr::Variable(of), [None::<Source>; 0]);
                self.push(node.into(), ty);
            }
            Operator::GlobalSet { global_index } => {
                let (of, ty) = self.indices.global(global_index);
                let value = self.pop_as(ty);
                self.build.op(Opcode::GlobalSet, Attr::Variable(of), [value]);
            }
            Operator::I64Const { value } => self.constant(Const::I64(value), Scalar::I64),
            Operator::F32Const { value } => self.constant(Const::F32(value.bits()), Scalar::F32),
            Operator::F64Const { value } => self.constant(Const::F64(value.bits()), Scalar::F64),
            Operator::I32Extend8S => self.extend(Scalar::I32, Scalar::I8),
            Operator::I32Extend16S => self.extend(Scalar::I32, Scalar::I16),
            Operator::I64Extend8S => self.extend(Scalar::I64, Scalar::I8),
            Operator::I64Extend16S => self.extend(Scalar::I64, Scalar::I16),
            Operator::I64Extend32S => self.extend(Scalar::I64, Scalar::I32),
            Operator::MemorySize { .. } => {
                self.special(Opcode::MemorySize, Attr::None, &[], Some(OperandType::I32));
            }
            Operator::MemoryGrow { .. } => {
                self.special(Opcode::MemoryGrow, Attr::None, &[OperandType::I32], Some(OperandType::I32));
            }
            Operator::MemoryCopy { .. } => self.special(Opcode::MemoryCopy, Attr::None, THREE, None),
            Operator::MemoryFill { .. } => self.special(Opcode::MemoryFill, Attr::None, THREE, None),
            Operator::MemoryInit { data_index, .. } => {
                let data = self.indices.data(data_index);
                self.special(Opcode::MemoryInit, Attr::Variable(data), THREE, None);
            }
            Operator::DataDrop { data_index } => {
                let data = self.indices.data(data_index);
                self.special(Opcode::DataDrop, Attr::Variable(data), &[], None);
            }
            _ => return self.reference(operator, offset),
        }
        Ok(())
    }

    /// What works on references and tables.
    fn reference(&mut self, operator: &Operator<'_>, offset: u64) -> Result<(), ImportError> {
        let unsupported =
            || ImportError::unsupported(format!("the instruction `{}`", mnemonic(operator)), offset);
        match *operator {
            Operator::RefNull { hty } => {
                let code = match hty {
                    HeapType::FUNC => Opcode::RefNull,
                    HeapType::EXTERN => Opcode::RefNullExtern,
                    _ => return Err(unsupported()),
                };
                let ty = if code == Opcode::RefNull { OperandType::FuncRef } else { OperandType::ExternRef };
                self.special(code, Attr::None, &[], Some(ty));
            }
            Operator::RefIsNull => {
                let value = self.pop();
                let node = self.build.op(Opcode::RefIsNull, Attr::None, [value.source]);
                self.push(node.into(), OperandType::BOOL);
            }
            Operator::RefFunc { function_index } => {
                let (of, _) = self.indices.function(function_index);
                self.special(Opcode::FuncRef, Attr::Function(of), &[], Some(OperandType::FuncRef));
            }
            Operator::TableGet { table } => {
                let (of, ty) = self.indices.table(table);
                self.special(Opcode::TableGet, Attr::Variable(of), &[OperandType::I32], Some(ty));
            }
            Operator::TableSet { table } => {
                let (of, ty) = self.indices.table(table);
                self.special(Opcode::TableSet, Attr::Variable(of), &[OperandType::I32, ty], None);
            }
            Operator::TableSize { table } => {
                let (of, _) = self.indices.table(table);
                self.special(Opcode::TableSize, Attr::Variable(of), &[], Some(OperandType::I32));
            }
            Operator::TableGrow { table } => {
                let (of, ty) = self.indices.table(table);
                let (inputs, output) = ([ty, OperandType::I32], Some(OperandType::I32));
                self.special(Opcode::TableGrow, Attr::Variable(of), &inputs, output);
            }
            Operator::TableFill { table } => {
                let (of, ty) = self.indices.table(table);
                let inputs = [OperandType::I32, ty, OperandType::I32];
                self.special(Opcode::TableFill, Attr::Variable(of), &inputs, None);
            }
            Operator::TableInit { elem_index, table } => {
                let attr = Attr::Entries(self.indices.table(table).0, self.indices.elements(elem_index));
                self.special(Opcode::TableInit, attr, THREE, None);
            }
            Operator::TableCopy { dst_table, src_table } => {
                let attr = Attr::Entries(self.indices.table(dst_table).0, self.indices.table(src_table).0);
                self.special(Opcode::TableCopy, attr, THREE, None);
            }
            Operator::ElemDrop { elem_index } => {
                let of = self.indices.elements(elem_index);
                self.special(Opcode::ElemDrop, Attr::Variable(of), &[], None);
            }
            _ => return Err(unsupported()),
        }
        Ok(())
    }

    fn push(&mut self, source: Source, ty: OperandType) {
        self.stack.push(Operand { source, ty });
    }

    fn push_all(&mut self, node: NodeRef, types: &[OperandType]) {
        self.values += types.len();
        let outputs =
            (0u16..).zip(types).map(|(port, ty)| Operand { source: Source::Node(node, port), ty: *ty });
        self.stack.extend(outputs);
    }

    fn pop(&mut self) -> Operand {
        self.stack.pop().expect("a valid module has the operands of its instructions")
    }

    /// The topmost operand as a value of a type: a truth value becomes a number.
    fn pop_as(&mut self, ty: OperandType) -> Source {
        let operand = self.pop();
        self.convert(operand, ty)
    }

    /// The topmost operands as inputs of the next node, of some types.
    fn pop_inputs(&mut self, types: impl ExactSizeIterator<Item = OperandType>) -> Inputs {
        self.values += types.len();
        let from = self.stack.len() - types.len();
        let inputs = (from..).zip(types).map(|(at, ty)| Some(self.operand_as(at, ty))).collect();
        self.stack.truncate(from);
        inputs
    }

    /// The topmost operands as values of some types, for what does more with them than to take them as they are.
    fn pop_typed(&mut self, types: &[OperandType]) -> Values {
        self.values += types.len();
        let from = self.stack.len() - types.len();
        let mut values = Values::new();
        for (at, ty) in (from..).zip(types) {
            values.push(self.operand_as(at, *ty));
        }
        self.stack.truncate(from);
        values
    }

    /// The two topmost operands as the inputs of the next node.
    fn pop_two(&mut self, first: OperandType, second: OperandType) -> Inputs {
        let from = self.stack.len() - 2;
        let (first, second) = (self.operand_as(from, first), self.operand_as(from + 1, second));
        self.stack.truncate(from);
        Inputs::two(first, second)
    }

    /// An operand that stays where it is as a value of a type: a truth value becomes a number.
    fn operand_as(&mut self, at: usize, ty: OperandType) -> Source {
        self.convert(self.stack[at], ty)
    }

    /// Adds a node with inputs that were on the stack.
    fn node(&mut self, code: Opcode, attr: Attr, inputs: Inputs) -> NodeRef {
        self.build.plain(Op::new(code, attr).expect(TAKEN), inputs)
    }

    fn convert(&mut self, operand: Operand, ty: OperandType) -> Source {
        if is_widened(operand.ty, ty) { self.number(operand.source) } else { operand.source }
    }

    /// A truth value as a number.
    fn number(&mut self, value: Source) -> Source {
        self.widen(Opcode::ExtendU, Scalar::Bool, Scalar::I32, value)
    }

    fn widen(&mut self, code: Opcode, from: Scalar, to: Scalar, value: Source) -> Source {
        let op = Op::conversion(code, from, to).expect(TAKEN);
        self.build.plain(op, Inputs::one(value)).into()
    }

    fn pop_condition(&mut self) -> Source {
        let operand = self.pop();
        if operand.ty == OperandType::BOOL {
            return operand.source;
        }
        let zero = self.build.i32(0);
        self.build.scalar(Opcode::Ne, Scalar::I32, [operand.source, zero])
    }

    fn constant(&mut self, value: Const, ty: Scalar) {
        let source = self.build.constant(value);
        self.push(source, ty.into());
    }

    /// An operator that takes one or two scalars and gives one, as the op table says.
    fn plain(&mut self, code: Opcode, of: Scalar, to: Option<Scalar>) {
        let (spec, operand) = (code.spec(), OperandType::from(of));
        self.values += spec.inputs.len();
        let inputs = match spec.inputs.len() {
            1 => Inputs::one(self.pop_as(operand)),
            _ => self.pop_two(operand, operand),
        };
        let result = match spec.outputs[0].ty {
            PortType::Is(scalar) => scalar,
            _ => to.unwrap_or(of),
        };
        // One after the other, and not the operator first: it is written where it stays.
        let node = match to {
            None => self.build.plain(Op::scalar(code, of).expect(TAKEN), inputs),
            Some(to) => self.build.plain(Op::conversion(code, of, to).expect(TAKEN), inputs),
        };
        self.push(node.into(), result.into());
    }

    fn access(
        &mut self,
        code: Opcode,
        ty: Scalar,
        memarg: wasmparser::MemArg,
        offset: u64,
    ) -> Result<(), ImportError> {
        let Ok(constant) = u32::try_from(memarg.offset) else {
            return Err(ImportError::unsupported("an offset of more than 32 bits".to_owned(), offset));
        };
        let arg = MemArg { ty, offset: constant, align_log2: memarg.align };
        if code.spec().outputs.is_empty() {
            self.values += 2;
            let inputs = self.pop_two(OperandType::I32, ty.into());
            self.build.plain(Op::access(code, arg).expect(TAKEN), inputs);
        } else {
            self.values += 1;
            let inputs = Inputs::one(self.pop_as(OperandType::I32));
            let node = self.build.plain(Op::access(code, arg).expect(TAKEN), inputs);
            self.push(node.into(), ty.into());
        }
        Ok(())
    }

    fn special(&mut self, code: Opcode, attr: Attr, inputs: &[OperandType], output: Option<OperandType>) {
        let inputs = self.pop_inputs(inputs.iter().copied());
        let node = self.node(code, attr, inputs);
        if let Some(ty) = output {
            self.push(node.into(), ty);
        }
    }

    /// Keeps the lower part of an integer and copies its sign.
    fn extend(&mut self, of: Scalar, part: Scalar) {
        let value = self.pop_as(of.into());
        let lower = self.widen(Opcode::Wrap, of, part, value);
        let wide = self.widen(Opcode::ExtendS, part, of, lower);
        self.push(wide, of.into());
    }

    fn select(&mut self, condition: Source, a: Operand, b: Operand, ty: OperandType) {
        let inputs = [condition, self.convert(a, ty), self.convert(b, ty)];
        let node = self.build.op(Opcode::Select, Attr::Type(ty.into()), inputs);
        self.push(node.into(), ty);
    }

    fn get(&mut self, local: u32) {
        let (cell, ty) = self.locals.cell(local, &mut self.build);
        let source = match cell {
            Cell::Param(index) => self.build.param(index),
            Cell::Variable(of) => self.build.var_get(of),
        };
        self.push(source, ty);
    }

    fn set(&mut self, local: u32) {
        let (cell, ty) = self.locals.cell(local, &mut self.build);
        let value = self.pop_as(ty);
        if let Cell::Variable(of) = cell {
            self.build.var_set(of, value);
        }
    }
}

const TAKEN: &str = "the opcode takes this attribute";

/// Operands that no instruction exceeds that is carried.
const MOST_CARRIED: usize = 8;

/// Tells whether a truth value stands where a number is wanted.
fn is_widened(given: OperandType, wanted: OperandType) -> bool {
    given == OperandType::BOOL && wanted == OperandType::I32
}

const THREE: &[OperandType] = &[OperandType::I32; 3];
