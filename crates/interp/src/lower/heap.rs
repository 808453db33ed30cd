//! Nodes that work on the value heap, on memory in bulk, on tables, and on the world.

use lmlang_ir::ops::Ports;
use lmlang_ir::{Attr, FuncRef, Node, NodeRef, Opcode as Op, Type};

use super::Lower;
use crate::code::{HeapOp, Loc, Target};
use crate::value::{Class, class, variant_tag};

/// What an operand of a heap operator is: a slot (0) or a reference (1).
fn kind(of: Class) -> u16 {
    match of {
        Class::Num => 0,
        Class::Ref => 1,
    }
}

impl Lower<'_> {
    /// The inputs as a list of operands; returns its position in two halves.
    fn list(&mut self, of: NodeRef, node: &Node) -> [u16; 2] {
        let list: Box<[Loc]> = (0..node.inputs().len()).map(|index| self.moved(of, index)).collect();
        let index = self.lists.len();
        self.lists.push(list);
        [index as u16, (index >> 16) as u16]
    }

    /// The position of the field that an operator names.
    fn member(&mut self, node: &Node) -> u16 {
        let position = match node.op().attr() {
            Attr::Field(ty, member) => self
                .program
                .type_def(*ty)
                .and_then(|def| def.field(*member))
                .map_or(0, |(position, _)| position),
            _ => 0,
        };
        self.narrow(position)
    }

    fn tag(&mut self, node: &Node) -> u16 {
        let tag = match node.op().attr() {
            Attr::Variant(variant) => variant_tag(self.program, variant).unwrap_or(0),
            _ => 0,
        };
        self.narrow(tag as usize)
    }

    /// A position among parts as an operand; beyond 16 bits it would be that of another part.
    pub(super) fn narrow(&mut self, position: usize) -> u16 {
        self.too_wide |= position > usize::from(u16::MAX);
        position as u16
    }

    fn function_of(node: &Node) -> Option<FuncRef> {
        match node.op().attr() {
            Attr::Function(function) => Some(*function),
            _ => None,
        }
    }

    pub(super) fn heap_node(&mut self, of: NodeRef, node: &Node, ports: &Ports, to: u16) {
        let element = match node.op().attr() {
            Attr::Type(Type::Array(of) | Type::FixedArray(of, _)) => kind(class(of)),
            _ => 0,
        };
        let op = node.op().code();
        match op {
            Op::MemorySize => {
                self.heap(HeapOp::MemorySize, [to, 0, 0, 0, 0, 0]);
            }
            Op::MemoryGrow => {
                let pages = self.num(of, 0);
                self.heap(HeapOp::MemoryGrow, [to, pages, 0, 0, 0, 0]);
            }
            Op::MemoryCopy | Op::MemoryFill => {
                let (x, y, z) = (self.num(of, 0), self.num(of, 1), self.num(of, 2));
                let op = if op == Op::MemoryCopy { HeapOp::MemoryCopy } else { HeapOp::MemoryFill };
                self.heap(op, [x, y, z, 0, 0, 0]);
            }
            Op::MemoryInit => {
                let (x, y, z) = (self.num(of, 0), self.num(of, 1), self.num(of, 2));
                let at = self.heap(HeapOp::MemoryInit, [x, y, z, 0, 0, 0]);
                self.patch_storage(at + 1, node);
            }
            Op::DataDrop => {
                let at = self.heap(HeapOp::DataDrop, [0; 6]);
                self.patch_storage(at + 1, node);
            }
            Op::StructNew => {
                let [d, e] = self.list(of, node);
                self.heap(HeapOp::StructNew, [to, 0, 0, d, e, 0]);
            }
            Op::StructGet => {
                let (value, member) = (self.obj(of, 0), self.member(node));
                self.heap(HeapOp::StructGet, [to, value, member, 0, 0, 0]);
            }
            Op::StructSet => {
                let (value, member) = (self.obj(of, 0), self.member(node));
                let (part, kind) = self.operand(of, 1);
                self.heap(HeapOp::StructSet, [to, value, member, part, kind, 0]);
            }
            Op::ArrayNew => {
                let [d, e] = self.list(of, node);
                self.heap(HeapOp::ArrayNew, [to, 0, element, d, e, 0]);
            }
            Op::ArrayGet => {
                let (array, index) = (self.obj(of, 0), self.num(of, 1));
                self.heap(HeapOp::ArrayGet, [to, array, index, 0, 0, 0]);
            }
            Op::ArraySet => {
                let (array, index) = (self.obj(of, 0), self.num(of, 1));
                let (part, kind) = self.operand(of, 2);
                self.heap(HeapOp::ArraySet, [to, array, index, part, kind, 0]);
            }
            Op::ArrayLen => {
                let array = self.obj(of, 0);
                self.heap(HeapOp::ArrayLen, [to, array, 0, 0, 0, 0]);
            }
            Op::ArrayPush => {
                let array = self.obj(of, 0);
                let (part, kind) = self.operand(of, 1);
                self.heap(HeapOp::ArrayPush, [to, array, part, kind, 0, 0]);
            }
            Op::ArraySlice => self.text3(HeapOp::ArraySlice, of, to),
            Op::EnumNew => {
                let (part, kind) = if node.inputs().is_empty() { (0, 2) } else { self.operand(of, 0) };
                let tag = self.tag(node);
                self.heap(HeapOp::EnumNew, [to, 0, tag, part, kind, 0]);
            }
            Op::EnumTag => {
                let value = self.obj(of, 0);
                self.heap(HeapOp::EnumTag, [to, value, 0, 0, 0, 0]);
            }
            Op::EnumPayload => {
                let (value, tag) = (self.obj(of, 0), self.tag(node));
                if ports.outputs.is_empty() {
                    // Nothing comes out, but another variant traps all the same.
                    let loc = self.fresh(&Type::I32);
                    let Loc::Num(slot) = loc else { return };
                    self.heap(HeapOp::EnumPayload, [slot, value, tag, 0, 0, 0]);
                } else {
                    self.heap(HeapOp::EnumPayload, [to, value, tag, 0, 0, 0]);
                }
            }
            Op::BoxNew => {
                let (part, kind) = self.operand(of, 0);
                self.heap(HeapOp::BoxNew, [to, part, 0, kind, 0, 0]);
            }
            Op::BoxGet => {
                let value = self.obj(of, 0);
                self.heap(HeapOp::BoxGet, [to, value, 0, 0, 0, 0]);
            }
            Op::ClosureNew => {
                let [d, e] = self.list(of, node);
                let at = self.heap(HeapOp::ClosureNew, [to, 0, 0, d, e, 0]);
                if let Some(function) = Self::function_of(node) {
                    self.patch(at, 2, Target::Function(function));
                }
            }
            Op::TableGet => {
                let index = self.num(of, 0);
                self.table(HeapOp::TableGet, node, [to, index, 0]);
            }
            Op::TableSet => {
                let (index, value) = (self.num(of, 0), self.num(of, 1));
                self.table(HeapOp::TableSet, node, [index, value, 0]);
            }
            Op::TableSize => self.table(HeapOp::TableSize, node, [to, 0, 0]),
            Op::TableGrow => {
                let (value, more) = (self.num(of, 0), self.num(of, 1));
                self.table(HeapOp::TableGrow, node, [to, value, more]);
            }
            Op::TableFill => {
                let operands = [self.num(of, 0), self.num(of, 1), self.num(of, 2)];
                self.table(HeapOp::TableFill, node, operands);
            }
            Op::TableInit | Op::TableCopy => {
                let [a, b, c] = [self.num(of, 0), self.num(of, 1), self.num(of, 2)];
                let op =
                    if node.op().code() == Op::TableInit { HeapOp::TableInit } else { HeapOp::TableCopy };
                let at = self.heap(op, [a, b, c, 0, 0, 0]);
                if let Attr::Entries(table, from) = node.op().attr() {
                    self.patch(at + 1, 1, Target::Storage(*table));
                    self.patch(at + 1, 2, Target::Storage(*from));
                }
            }
            Op::ElemDrop => self.table(HeapOp::ElemDrop, node, [0; 3]),
            Op::StringLen => self.text1(HeapOp::StringLen, of, to),
            Op::StringChars => self.text1(HeapOp::StringChars, of, to),
            Op::StringFromChars => self.text1(HeapOp::StringFromChars, of, to),
            Op::StringToBytes => self.text1(HeapOp::StringToBytes, of, to),
            Op::StringFromBytes => self.text1(HeapOp::StringFromBytes, of, to),
            Op::BytesLen => self.text1(HeapOp::BytesLen, of, to),
            Op::StringConcat => self.text2(HeapOp::StringConcat, of, to),
            Op::StringEq => self.text2(HeapOp::StringEq, of, to),
            Op::StringCompare => self.text2(HeapOp::StringCompare, of, to),
            Op::BytesConcat => self.text2(HeapOp::BytesConcat, of, to),
            Op::BytesEq => self.text2(HeapOp::BytesEq, of, to),
            Op::StringSlice => self.text3(HeapOp::StringSlice, of, to),
            Op::BytesSlice => self.text3(HeapOp::BytesSlice, of, to),
            Op::BytesSet => self.text3(HeapOp::BytesSet, of, to),
            Op::StringByte => self.indexed(HeapOp::StringByte, of, to),
            Op::BytesGet => self.indexed(HeapOp::BytesGet, of, to),
            Op::BytesPush => self.indexed(HeapOp::BytesPush, of, to),
            Op::BytesNew => {
                let length = self.num(of, 0);
                self.heap(HeapOp::BytesNew, [to, length, 0, 0, 0, 0]);
            }
            Op::BytesLoad => {
                let (address, length) = (self.num(of, 0), self.num(of, 1));
                self.heap(HeapOp::BytesLoad, [to, address, length, 0, 0, 0]);
            }
            Op::BytesStore => {
                let (address, bytes) = (self.num(of, 0), self.obj(of, 1));
                self.heap(HeapOp::BytesStore, [address, bytes, 0, 0, 0, 0]);
            }
            Op::Print => {
                let text = self.obj(of, 0);
                self.heap(HeapOp::Print, [text, 0, 0, 0, 0, 0]);
            }
            Op::ReadLine => {
                self.heap(HeapOp::ReadLine, [to, 0, 0, 0, 0, 0]);
            }
            Op::FileOpen => {
                let (path, write) = (self.obj(of, 0), self.num(of, 1));
                self.heap(HeapOp::FileOpen, [to, path, write, 0, 0, 0]);
            }
            Op::FileRead => {
                let (file, length) = (self.num(of, 0), self.num(of, 1));
                self.heap(HeapOp::FileRead, [to, file, length, 0, 0, 0]);
            }
            Op::FileWrite => {
                let (file, bytes) = (self.num(of, 0), self.obj(of, 1));
                self.heap(HeapOp::FileWrite, [to, file, bytes, 0, 0, 0]);
            }
            Op::FileClose => {
                let file = self.num(of, 0);
                self.heap(HeapOp::FileClose, [file, 0, 0, 0, 0, 0]);
            }
            _ => self.unsupported(of),
        }
    }

    fn text1(&mut self, op: HeapOp, of: NodeRef, to: u16) {
        let text = self.obj(of, 0);
        self.heap(op, [to, text, 0, 0, 0, 0]);
    }

    fn text2(&mut self, op: HeapOp, of: NodeRef, to: u16) {
        let (x, y) = (self.obj(of, 0), self.obj(of, 1));
        self.heap(op, [to, x, y, 0, 0, 0]);
    }

    fn text3(&mut self, op: HeapOp, of: NodeRef, to: u16) {
        let (text, x, y) = (self.obj(of, 0), self.num(of, 1), self.num(of, 2));
        self.heap(op, [to, text, x, y, 0, 0]);
    }

    fn indexed(&mut self, op: HeapOp, of: NodeRef, to: u16) {
        let (text, index) = (self.obj(of, 0), self.num(of, 1));
        self.heap(op, [to, text, index, 0, 0, 0]);
    }

    fn table(&mut self, op: HeapOp, node: &Node, [a, b, c]: [u16; 3]) {
        let at = self.heap(op, [a, b, c, 0, 0, 0]);
        self.patch_storage(at + 1, node);
    }

    fn patch_storage(&mut self, at: usize, node: &Node) {
        if let Attr::Variable(storage) = node.op().attr() {
            self.patch(at, 1, Target::Storage(*storage));
        }
    }
}
