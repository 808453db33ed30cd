//! Functions that copy bytes between the heap and the memory of the program.

use wasm_encoder::{BlockType, Instruction, ValType};

use super::Writing;
use crate::heap::{HEADER, Measure};

impl Writing<'_> {
    /// From an address and a length to bytes.
    pub(super) fn load_bytes(&mut self) -> (u32, wasm_encoder::Function) {
        use Instruction::*;
        let ty = self.types.index(vec![ValType::I32; 2], vec![ValType::I32]);
        let (alloc, memory) = (self.runtime("alloc"), self.heap_memory());
        let counts = match self.meter {
            Some(_) => {
                let kind = I32Const(Measure::Bytes.bits().cast_signed());
                vec![LocalGet(2), kind, self.runtime("made"), LocalGet(2), self.runtime("spend")]
            }
            None => Vec::new(),
        };
        let mut function = wasm_encoder::Function::new([(1, ValType::I32)]);
        let body = [
            // What lies outside of the memory must not be asked room for.
            LocalGet(0),
            I64ExtendI32U,
            LocalGet(1),
            I64ExtendI32U,
            I64Add,
            MemorySize(0),
            I64ExtendI32U,
            I64Const(16),
            I64Shl,
            I64GtU,
            If(BlockType::Empty),
            Unreachable,
            End,
            LocalGet(1),
            I32Const(0),
            LocalGet(1),
            alloc,
            LocalTee(2),
            I32Const(HEADER.cast_signed()),
            I32Add,
            LocalGet(0),
            LocalGet(1),
            MemoryCopy { src_mem: 0, dst_mem: memory },
        ];
        for instruction in body.iter().chain(&counts).chain(&[LocalGet(2), End]) {
            function.instruction(instruction);
        }
        (ty, function)
    }

    /// From an address and bytes to nothing.
    pub(super) fn store_bytes(&mut self) -> (u32, wasm_encoder::Function) {
        use Instruction::*;
        let ty = self.types.index(vec![ValType::I32; 2], Vec::new());
        let mut function = wasm_encoder::Function::new([]);
        let body = [
            LocalGet(0),
            LocalGet(1),
            I32Const(HEADER.cast_signed()),
            I32Add,
            LocalGet(1),
            self.load_word(),
            MemoryCopy { src_mem: self.heap_memory(), dst_mem: 0 },
        ];
        let pays = match self.meter {
            Some(_) => vec![LocalGet(1), self.runtime("spend")],
            None => Vec::new(),
        };
        for instruction in body.iter().chain(&pays).chain(&[End]) {
            function.instruction(instruction);
        }
        (ty, function)
    }
}
