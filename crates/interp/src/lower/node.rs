//! One node: its operands, its instructions, where its outputs go.

use lmlang_ir::layout;
use lmlang_ir::ops::{Expected, Ports, ports};
use lmlang_ir::{Attr, Node, NodeRef, Opcode as Op, Scalar, Source, StorageKind, Type, VarRef};

use super::{Lower, select};
use crate::code::{Computed, HeapOp, Loc, Lowering, NodeSlots, Opcode, StopSite, TAKE, Target};
use crate::record::is_noted;
use crate::value::{Class, class, constant, scalar_bits};

impl Lower<'_> {
    /// Lowers a node.
    pub(super) fn node(&mut self, of: NodeRef) {
        let function = self.function;
        let Some(node) = function.body().node(of) else { return };
        self.own(of);
        let ports = ports(self.program, function, node);
        if let Err(port) = self.check_inputs(of, node, ports.as_ref()) {
            self.emit.flush();
            self.stop(StopSite::Hole(of, port));
            // Nodes behind it are never reached, but their operands need a place.
            for (port, ty) in ports.into_iter().flat_map(|ports| ports.outputs).enumerate() {
                self.output(of, port as u16, &ty);
            }
            return;
        }
        let ports = ports.unwrap_or_default();
        if self.style == Lowering::Plain {
            self.emit.flush();
            self.mark(of, node);
        }
        // A value has the place of its node in a record: it is counted where it is computed.
        if self.style != Lowering::Recorded || !self.sunk.contains(&of) {
            self.emit.count();
        }
        if node.op().owns_regions() {
            self.control(of, node, &ports);
        } else {
            self.simple(of, node, &ports);
            if self.reuse {
                self.release(node);
            }
        }
        if self.style == Lowering::Plain {
            self.emit.flush();
            let outputs = (0..ports.outputs.len()).filter_map(|port| {
                self.locs.get(&Source::Node(of, port as u16)).cloned().filter(|_| !node.op().owns_regions())
            });
            let outputs = outputs.collect();
            if let Some(slots) = self.slots.iter_mut().rev().find(|slots| slots.node == of) {
                slots.outputs = outputs;
            }
        }
    }

    /// Notes where a node starts and what it reads.
    fn mark(&mut self, of: NodeRef, node: &Node) {
        // What is marked is the node's own instruction.
        self.emit.make_room(1);
        let inputs = node.inputs().iter().flatten();
        let inputs = inputs.filter_map(|source| self.locs.get(&source).cloned()).collect();
        self.marks.push((self.emit.words.len() as u32, self.slots.len() as u32));
        let (region, op) = (node.region(), node.op().code());
        self.slots.push(NodeSlots { node: of, region, op, inputs, outputs: Box::default() });
    }

    /// Checks that every input has a source of the right type; what has not stops the run.
    fn check_inputs(&self, of: NodeRef, node: &Node, ports: Option<&Ports>) -> Result<(), Option<u16>> {
        if let Some(hole) = node.inputs().iter().position(|source| source.is_none()) {
            return Err(Some(hole as u16));
        }
        let ports = ports.filter(|ports| ports.inputs.len() == node.inputs().len()).ok_or(None)?;
        if self.stale.contains(&of) {
            return Err(None);
        }
        for (port, (source, expected)) in node.inputs().iter().zip(&ports.inputs).enumerate() {
            let fits = source.is_some_and(|source| match self.locs.get(&source) {
                Some((_, ty)) => match expected {
                    Expected::Is(wanted) => wanted == ty,
                    Expected::Address | Expected::Integer | Expected::Reference => expected.accepts(ty),
                },
                None => matches!(source, Source::Node(node, 0) if self.compares.contains_key(&node)),
            });
            if !fits {
                return Err(Some(port as u16));
            }
        }
        Ok(())
    }

    /// Gives an output a place.
    pub(super) fn output(&mut self, of: NodeRef, port: u16, ty: &Type) -> Loc {
        let loc = match self.placed(of, port) {
            Some((loc, _)) => loc,
            None => self.fresh(ty),
        };
        self.locs.insert(Source::Node(of, port), (loc, ty.clone()));
        loc
    }

    /// Where an input is.
    pub(super) fn input(&self, of: NodeRef, index: usize) -> Option<(Loc, Type)> {
        let source = self.function.body().node(of)?.inputs().get(index)?;
        self.locs.get(&source).cloned()
    }

    /// The slot of an input; constants are put into one.
    pub(super) fn num(&mut self, of: NodeRef, index: usize) -> u16 {
        match self.input(of, index) {
            Some((loc, _)) => self.slot_of(loc),
            None => 0,
        }
    }

    /// The reference of an input, with the bit that says that this is its last use.
    pub(super) fn obj(&mut self, of: NodeRef, index: usize) -> u16 {
        match self.input(of, index) {
            Some((Loc::Ref(slot), _)) => {
                if self.last_uses.is_last(of, index as u16) {
                    slot | TAKE
                } else {
                    slot
                }
            }
            Some((Loc::Num(_) | Loc::Known(_), _)) | None => 0,
        }
    }

    /// An input as an operand of a heap operator, with its kind.
    pub(super) fn operand(&mut self, of: NodeRef, index: usize) -> (u16, u16) {
        match self.input(of, index) {
            Some((Loc::Ref(_), _)) => (self.obj(of, index), 1),
            Some((Loc::Num(_) | Loc::Known(_), _)) | None => (self.num(of, index), 0),
        }
    }

    /// An input with its taking bit, as a source of moves.
    pub(super) fn moved(&mut self, of: NodeRef, index: usize) -> Loc {
        match self.input(of, index) {
            Some((Loc::Ref(_), _)) => Loc::Ref(self.obj(of, index)),
            Some((loc, _)) => loc,
            None => Loc::Known(0),
        }
    }

    /// A node without regions. Behind it only its outputs are added to what is in use.
    fn simple(&mut self, of: NodeRef, node: &Node, ports: &Ports) {
        let mark = self.top;
        if self.transfer(of, node) {
            self.top = mark;
            return;
        }
        if self.sunk.contains(&of) {
            // The exit that it is for computes it.
            if let Some(ty) = ports.outputs.first() {
                self.output(of, 0, ty);
            }
            return;
        }
        if self.calls(of, node, ports) || self.folded(of, node, ports) {
            return;
        }
        let out: Vec<Loc> =
            ports.outputs.iter().enumerate().map(|(port, ty)| self.output(of, port as u16, ty)).collect();
        let to = match out.first() {
            Some(Loc::Num(slot) | Loc::Ref(slot)) => *slot,
            Some(Loc::Known(_)) | None => 0,
        };
        let mark = self.top;
        self.compute(of, node, ports, to);
        self.top = mark;
        self.note_computed(of, node);
    }

    /// Notes that the last instruction computes the output of a node, if it does.
    pub(super) fn note_computed(&mut self, of: NodeRef, node: &Node) {
        if self.style != Lowering::Recorded {
            return;
        }
        if let Some((_, ty)) = self.locs.get(&Source::Node(of, 0))
            && is_noted(node.op().code(), ty)
        {
            self.emit.computes(Computed { node: of, ty: ty.clone(), inverted: false });
        }
    }

    /// Gives the places of inputs free that were used for the last time, and only in their own region.
    fn release(&mut self, node: &Node) {
        let body = self.function.body();
        for source in node.inputs().iter().flatten() {
            let Source::Node(made, _) = source else { continue };
            let home = body.node(made).map(|made| made.region());
            let left = match self.uses.get(&source) {
                Some(left) => *left,
                None => {
                    let mut count = 0;
                    for one in body.uses_of(made.number()).filter(|one| body.source_of(*one) == Some(source))
                    {
                        let inside = body.node(one.node).map(|user| user.region()) == home;
                        // A use from an inner region may come again.
                        count = if inside && count != u32::MAX { count + 1 } else { u32::MAX };
                    }
                    count
                }
            };
            if left == u32::MAX {
                self.uses.insert(source, left);
                continue;
            }
            self.uses.insert(source, left.saturating_sub(1));
            if left != 1 || self.placed.contains_key(&source) {
                continue;
            }
            match self.locs.remove(&source) {
                Some((Loc::Num(slot), _)) => self.free.0.push(slot),
                Some((Loc::Ref(slot), _)) => self.free.1.push(slot),
                Some((Loc::Known(_), _)) | None => {}
            }
        }
    }

    /// Nodes that the fast lowering makes no instruction for.
    fn folded(&mut self, of: NodeRef, node: &Node, ports: &Ports) -> bool {
        if self.style == Lowering::Plain {
            return false;
        }
        match (node.op().code(), node.op().attr()) {
            (Op::Const, Attr::Const(value)) => match (scalar_bits(value), ports.outputs.first()) {
                (Some(bits), Some(ty)) => {
                    self.locs.insert(Source::Node(of, 0), (Loc::Known(bits), ty.clone()));
                    true
                }
                _ => false,
            },
            (op, Attr::Scalar(scalar)) if select::compares(op) || op == Op::Eqz => {
                let a = self.input(of, 0).map(|input| input.0);
                let b =
                    if op == Op::Eqz { Some(Loc::Known(0)) } else { self.input(of, 1).map(|input| input.0) };
                match (a, b) {
                    (Some(a), Some(b)) => self.defer_compare(of, op, *scalar, a, b),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Emits what computes the outputs of a node.
    pub(super) fn compute(&mut self, of: NodeRef, node: &Node, ports: &Ports, to: u16) {
        let op = node.op().code();
        match (op, node.op().attr()) {
            (Op::Const, Attr::Const(value)) => match scalar_bits(value) {
                Some(bits) => self.constant(to, bits),
                None => {
                    if let crate::value::Word::Ref(obj) = constant(value) {
                        let index = self.objs.len();
                        self.objs.push(obj);
                        self.heap(HeapOp::Const, [to, 0, 0, index as u16, (index >> 16) as u16, 0]);
                    }
                }
            },
            (Op::Select, Attr::Type(ty)) => match class(ty) {
                Class::Num => {
                    let condition = self.num(of, 0);
                    let (x, y) = (self.num(of, 1), self.num(of, 2));
                    self.emit.op2(Opcode::Select, to, x, y, [condition, 0, 0, 0]);
                }
                Class::Ref => {
                    let condition = self.num(of, 0);
                    let (x, y) = (self.obj(of, 1), self.obj(of, 2));
                    self.heap(HeapOp::Select, [to, x, y, condition, 0, 0]);
                }
            },
            (Op::StringFormat | Op::StringParse, Attr::Scalar(scalar)) => {
                let which = match scalar {
                    Scalar::I32 => 0,
                    Scalar::I64 => 1,
                    Scalar::F32 => 2,
                    _ => 3,
                };
                match op {
                    Op::StringFormat => {
                        let value = self.num(of, 0);
                        self.heap(HeapOp::StringFormat, [to, value, 0, which, 0, 0]);
                    }
                    _ => {
                        let text = self.obj(of, 0);
                        self.heap(HeapOp::StringParse, [to, text, 0, which, 0, 0]);
                    }
                }
            }
            (_, Attr::Scalar(scalar)) => self.scalar(of, op, *scalar, to),
            (_, Attr::Convert(from, into)) => self.convert(of, op, *from, *into, to),
            (Op::VarGet | Op::VarSet, Attr::Variable(variable)) => self.variable(of, op, *variable, to),
            (Op::GlobalGet | Op::GlobalSet, Attr::Variable(global)) => self.global(of, op, *global, to),
            (Op::CaptureGet, Attr::Index(index)) => self.capture(*index as usize, to),
            (_, Attr::Memory(arg)) => self.access(of, op, *arg, to),
            (Op::FieldAddr, Attr::Field(ty, member)) => {
                match layout::field_offset(self.program, *ty, *member) {
                    Some(offset) => self.add_constant(of, to, offset),
                    None => self.unsupported(of),
                }
            }
            (Op::ElemAddr, Attr::Type(ty)) => match layout::layout(self.program, ty) {
                Some(layout) => {
                    let (base, index) = (self.num(of, 0), self.num(of, 1));
                    if let (Lowering::Fast, Ok(size)) = (self.style, i16::try_from(layout.size)) {
                        self.emit.op2(Opcode::MulKAddI32, to, index, size.cast_unsigned(), [base, 0, 0, 0]);
                        return;
                    }
                    let size = self.slot_of(Loc::Known(u64::from(layout.size)));
                    let (scaled, _) = self.claim(1, 0);
                    let counted = self.emit.set_aside();
                    self.emit.op(Opcode::MulI32, scaled, index, size);
                    self.emit.charge(counted);
                    self.emit.op(Opcode::AddI32, to, base, scaled);
                }
                None => self.unsupported(of),
            },
            (Op::PtrFromI32 | Op::PtrToI32, _) => {
                let from = self.num(of, 0);
                self.emit.op(Opcode::Mov, to, from, 0);
            }
            (Op::FuncRef, Attr::Function(function)) => {
                let at = self.emit.op2(Opcode::ConstLong, to, 0, 0, [0; 4]);
                self.patch(at + 1, 0, Target::FunctionValue(*function));
            }
            (Op::RefNull | Op::RefNullExtern, _) => self.constant(to, 0),
            (Op::RefIsNull, _) => {
                let from = self.num(of, 0);
                self.emit.op(Opcode::Eqz, to, from, 0);
            }
            (Op::Raw, _) => self.unsupported(of),
            _ => self.heap_node(of, node, ports, to),
        }
    }

    pub(super) fn unsupported(&mut self, of: NodeRef) {
        self.stop(StopSite::Unsupported(of));
    }

    fn scalar(&mut self, of: NodeRef, op: Op, scalar: Scalar, to: u16) {
        if let Some((opcode, swap)) = select::binary(op, scalar) {
            if self.fuse(of, op, scalar, to) {
                return;
            }
            let (x, y) = (self.input(of, 0), self.input(of, 1));
            if self.style.folds()
                && let (Some((x, _)), Some((y, _))) = (x, y)
            {
                let forms = [(x, y), (y, x)];
                let forms = if select::commutes(op) { &forms[..] } else { &forms[..1] };
                for form in forms {
                    if let (Loc::Num(slot), Loc::Known(bits)) = form
                        && let Some((opcode, k)) = select::with_constant(op, scalar, *bits)
                    {
                        self.emit.op(opcode, to, *slot, k);
                        return;
                    }
                }
            }
            let (x, y) = (self.num(of, 0), self.num(of, 1));
            let (x, y) = if swap { (y, x) } else { (x, y) };
            self.emit.op(opcode, to, x, y);
            return;
        }
        if op == Op::Eqz {
            let x = self.num(of, 0);
            self.emit.op(Opcode::Eqz, to, x, 0);
            return;
        }
        let key = format!("{}.{}", op.mnemonic(), scalar.name());
        if let Some(opcode) = select::unary(&key) {
            let x = self.num(of, 0);
            self.emit.op(opcode, to, x, 0);
        } else if let Some(which) = select::rare_unary(&key) {
            let x = self.num(of, 0);
            self.emit.op(Opcode::Unary, to, x, which);
        } else if let Some(which) = select::rare_binary(&key) {
            let (x, y) = (self.num(of, 0), self.num(of, 1));
            self.emit.op2(Opcode::Binary, to, x, y, [which, 0, 0, 0]);
        } else {
            self.unsupported(of);
        }
    }

    fn convert(&mut self, of: NodeRef, op: Op, from: Scalar, into: Scalar, to: u16) {
        let x = self.num(of, 0);
        if op == Op::Reinterpret {
            self.emit.op(Opcode::Mov, to, x, 0);
            return;
        }
        let key = format!("{}.{}.{}", op.mnemonic(), from.name(), into.name());
        if let Some(opcode) = select::unary(&key) {
            self.emit.op(opcode, to, x, 0);
            return;
        }
        match select::rare_unary(&key) {
            Some(which) => {
                self.emit.op(Opcode::Unary, to, x, which);
            }
            None => self.unsupported(of),
        }
    }

    fn variable(&mut self, of: NodeRef, op: Op, variable: VarRef, to: u16) {
        let loc = self.vars.get(&variable).map(|found| found.0);
        match (op, loc) {
            (Op::VarGet, Some(Loc::Num(slot))) => {
                self.emit.op(Opcode::Mov, to, slot, 0);
            }
            (Op::VarGet, Some(Loc::Ref(slot))) => {
                let take = if self.last_uses.is_last(of, 0) { TAKE } else { 0 };
                self.heap(HeapOp::Mov, [to, slot | take, 0, 0, 0, 0]);
            }
            (_, Some(Loc::Num(slot))) => {
                let from = self.moved(of, 0);
                self.moves(&[(Loc::Num(slot), from)]);
            }
            (_, Some(Loc::Ref(slot))) => {
                let from = self.obj(of, 0);
                self.heap(HeapOp::Mov, [slot, from, 0, 0, 0, 0]);
            }
            (_, Some(Loc::Known(_)) | None) => self.unsupported(of),
        }
    }

    fn global(&mut self, of: NodeRef, op: Op, global: VarRef, to: u16) {
        let ty = match self.program.storage(global).map(|storage| &storage.kind) {
            Some(StorageKind::Global { ty, .. }) => ty.clone(),
            Some(_) | None => return self.unsupported(of),
        };
        let at = match (op, class(&ty)) {
            (Op::GlobalGet, Class::Num) => self.emit.op(Opcode::GlobalGet, to, 0, 0),
            (Op::GlobalGet, Class::Ref) => self.heap(HeapOp::GlobalGet, [to, 0, 0, 0, 0, 0]),
            (_, Class::Num) => {
                let from = self.num(of, 0);
                self.emit.op(Opcode::GlobalSet, from, 0, 0)
            }
            (_, Class::Ref) => {
                let from = self.obj(of, 0);
                self.heap(HeapOp::GlobalSet, [from, 0, 0, 0, 0, 0])
            }
        };
        self.patch(at, 2, Target::Storage(global));
    }

    fn capture(&mut self, index: usize, to: u16) {
        let head = self.function.head();
        let before = head.params.iter().map(|param| &param.ty);
        let before = before.chain(head.captures.iter().take(index).map(|capture| &capture.ty));
        let (mut slot, mut reference) = (0, 0);
        for ty in before {
            match class(ty) {
                Class::Num => slot += 1,
                Class::Ref => reference += 1,
            }
        }
        match head.captures.get(index).map(|capture| class(&capture.ty)) {
            Some(Class::Num) => {
                self.emit.op(Opcode::Mov, to, slot, 0);
            }
            Some(Class::Ref) => {
                self.heap(HeapOp::Mov, [to, reference, 0, 0, 0, 0]);
            }
            None => {}
        }
    }

    fn access(&mut self, of: NodeRef, op: Op, arg: lmlang_ir::MemArg, to: u16) {
        let load = select::load(op, arg.ty);
        if let (Some(load), Ok(offset)) = (load, u16::try_from(arg.offset))
            && self.fuse_load(of, load, offset, to)
        {
            return;
        }
        let mut address = self.num(of, 0);
        let offset = match u16::try_from(arg.offset) {
            Ok(offset) => offset,
            Err(_) => {
                let far = self.slot_of(Loc::Known(u64::from(arg.offset)));
                let (sum, _) = self.claim(1, 0);
                let counted = self.emit.set_aside();
                self.emit.op(Opcode::AddressOf, sum, address, far);
                self.emit.charge(counted);
                address = sum;
                0
            }
        };
        if let Some(opcode) = load {
            self.emit.op(opcode, to, address, offset);
        } else if let Some(opcode) = select::store(op, arg.ty) {
            let value = self.num(of, 1);
            self.emit.op(opcode, address, value, offset);
        } else {
            self.unsupported(of);
        }
    }

    fn add_constant(&mut self, of: NodeRef, to: u16, offset: u32) {
        let base = self.num(of, 0);
        match i16::try_from(offset) {
            Ok(offset) => {
                self.emit.op(Opcode::AddI32K, to, base, offset as u16);
            }
            Err(_) => {
                let offset = self.slot_of(Loc::Known(u64::from(offset)));
                self.emit.op(Opcode::AddI32, to, base, offset);
            }
        }
    }
}
