//! What a function does about fuel besides counting its nodes.

use lmlang_ir::ops::signature;
use lmlang_ir::{Op, Opcode, RegionRef, Type};
use wasm_encoder::{BlockType, Instruction, ValType};

use super::super::meter::{BELOW, Counting, DEPTH_BITS, Meter};
use super::super::stack::Code;
use super::Emitter;

impl Emitter<'_, '_> {
    /// One call more is nested from here on, with places for values of the heap.
    pub(super) fn begin_counting(&mut self, meter: Meter) {
        let local = self.local(ValType::I64);
        self.fuel = Some((meter, local));
        self.code = Code::counting(Some(Counting::new(meter, local)));
        self.code.push(Instruction::GlobalGet(meter.left));
        self.code.push(Instruction::I64Const(1));
        self.code.push(Instruction::I64Sub);
        self.code.push(Instruction::LocalTee(local));
        self.code.push(Instruction::I64Const(BELOW));
        self.code.push(Instruction::I64And);
        self.code.push(Instruction::I64Const(0));
        self.code.push(Instruction::I64Ne);
        self.ask(meter, local);
        self.value_places = if self.writing.heap { self.count_places() } else { 0 };
        if self.value_places > 0 {
            let now = self.local(ValType::I64);
            let (places, most) = (meter.places(), meter.most_places());
            self.code.push(Instruction::GlobalGet(places));
            self.code.push(Instruction::I64Const(self.value_places.into()));
            self.code.push(Instruction::I64Add);
            self.code.push(Instruction::LocalTee(now));
            self.code.push(Instruction::GlobalSet(places));
            self.code.push(Instruction::LocalGet(now));
            self.code.push(Instruction::GlobalGet(most));
            self.code.push(Instruction::I64GtU);
            self.code.push(Instruction::If(BlockType::Empty));
            self.code.push(Instruction::LocalGet(now));
            self.code.push(Instruction::GlobalSet(most));
            self.code.push(Instruction::End);
        }
    }

    /// More than the places that the interpreter gives values of the heap in a call of this function: each value that comes
    /// up has one, and one more wherever it is passed on to.
    fn count_places(&self) -> u32 {
        let on_heap = |types: &[Type]| types.iter().filter(|ty| ty.on_heap()).count();
        let head = self.function.head();
        let params = head.params.iter().chain(&head.captures).filter(|param| param.ty.on_heap()).count();
        let variables = self.body.variables().filter(|(_, variable)| variable.ty.on_heap()).count();
        let region = |of: RegionRef| {
            let params = self.body.region(of).map_or(&[][..], |region| &region.params);
            params.iter().filter(|param| param.ty.on_heap()).count()
        };
        let nodes = self.body.nodes().map(|(_, node)| {
            let outputs = signature::outputs(self.writing.program, self.function, node).unwrap_or_default();
            let inputs = node.inputs().iter().flatten().filter(|of| self.last_uses.is_on_heap(*of)).count();
            let inner: usize = node.regions().iter().map(|of| region(*of)).sum();
            on_heap(&outputs) + inputs + inner
        });
        let contracts = self.body.contracts().map(|(_, contract)| region(contract.region));
        let all =
            params + variables + on_heap(&head.results) + nodes.sum::<usize>() + contracts.sum::<usize>();
        2 * all as u32
    }

    /// Asks for fuel where none is left.
    pub(super) fn ask_for_more(&mut self) {
        let Some((meter, local)) = self.fuel else { return };
        self.code.push(Instruction::LocalGet(local));
        self.code.push(Instruction::I64Const(0));
        self.code.push(Instruction::I64LtS);
        self.ask(meter, local);
    }

    fn ask(&mut self, meter: Meter, local: u32) {
        self.code.push(Instruction::If(BlockType::Empty));
        self.code.push(Instruction::LocalGet(local));
        self.code.push(Instruction::Call(meter.more));
        self.code.push(Instruction::LocalSet(local));
        self.code.push(Instruction::End);
    }

    /// All nodes are paid for; the caller goes on with what is left.
    pub(super) fn end_counting(&mut self) {
        let Some((meter, local)) = self.fuel else { return };
        self.code.push(Instruction::LocalGet(local));
        self.code.push(Instruction::I64Const(1));
        self.code.push(Instruction::I64Add);
        self.code.push(Instruction::GlobalSet(meter.left));
        if self.value_places > 0 {
            self.code.push(Instruction::GlobalGet(meter.places()));
            self.code.push(Instruction::I64Const(self.value_places.into()));
            self.code.push(Instruction::I64Sub);
            self.code.push(Instruction::GlobalSet(meter.places()));
        }
    }

    /// Pays for what a bulk operator costs beyond its node: one for each 64 bytes, where an entry of a table counts as 8.
    /// The last of what it takes says how many.
    pub(super) fn spend(&mut self, op: &Op, instructions: &mut Vec<Instruction<'static>>) {
        use Instruction::*;
        let Some((meter, fuel)) = self.fuel else { return };
        let per_unit = match op.code() {
            Opcode::MemoryCopy | Opcode::MemoryFill | Opcode::MemoryInit => 6,
            Opcode::TableGrow | Opcode::TableFill | Opcode::TableInit | Opcode::TableCopy => 3,
            _ => return,
        };
        let (count, units) = (self.local(ValType::I32), self.local(ValType::I64));
        instructions.insert(0, LocalTee(count));
        if op.code() == Opcode::TableGrow {
            // One that does not grow costs nothing.
            let before = self.local(ValType::I32);
            instructions.push(LocalTee(before));
            instructions.extend([
                LocalGet(count),
                I32Const(0),
                LocalGet(before),
                I32Const(-1),
                I32Ne,
                Select,
            ]);
        } else {
            instructions.push(LocalGet(count));
        }
        instructions.extend([I64ExtendI32U, I64Const(per_unit), I64ShrU, LocalTee(units)]);
        instructions.extend([GlobalGet(meter.extra), I64Add, GlobalSet(meter.extra)]);
        instructions.extend([LocalGet(fuel), LocalGet(units), I64Const(DEPTH_BITS.into()), I64Shl, I64Sub]);
        instructions.push(LocalSet(fuel));
    }
}
