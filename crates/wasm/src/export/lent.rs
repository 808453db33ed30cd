//! The front of the program's own memory, lent to the world outside.
//!
//! A host looks into what is exported as `memory`. Where that is a memory of the program's own, what is handed over passes
//! through its first bytes, and what lies there is put back when the host has answered.

use lmlang_ir::FuncRef;
use wasm_encoder::{Instruction, MemArg, MemArgTarget, ValType};

use super::Writing;
use crate::heap::HEADER;
use crate::runtime::RUNTIME;

/// Bytes that are lent: with its header a value holds them that takes a power of two.
const LENT: i32 = 8192 - HEADER.cast_signed();

/// Where the answer stands in them, behind the address and the length of the buffer.
const ANSWER: u64 = 8;

/// Where the buffer stands.
const BUFFER: i32 = 16;

/// Bytes of the longest buffer. Of more the host is asked again; no path is as long.
const LONGEST: i32 = LENT - BUFFER;

/// A place in a memory behind the address on the stack.
fn place(memory: u32, offset: u64) -> MemArg {
    MemArg { offset, align: 0, target: MemArgTarget::Memory(memory), ordering: None }
}

impl Writing<'_> {
    /// Does what a function of the world outside does, which the index is of, with addresses in the heap.
    pub(super) fn lending(&mut self, of: FuncRef, asked: u32) -> (u32, wasm_encoder::Function) {
        use Instruction::*;
        let function = RUNTIME.program.function(of).expect("the runtime has it");
        let head = function.head();
        let (opens, reads) = (*head.name == *"path_open", *head.name == *"fd_read");
        let ty = self.signature(function);
        let (alloc, release, heap) = (self.runtime("alloc"), self.runtime("release"), self.heap_memory());
        let params = head.params.len() as u32;
        let (answer, at, length, held, error) = (params - 1, params, params + 1, params + 2, params + 3);
        let to_front = MemoryCopy { src_mem: heap, dst_mem: 0 };
        let from_front = MemoryCopy { src_mem: 0, dst_mem: heap };
        let mut body = match opens {
            true => vec![LocalGet(2), LocalSet(at), LocalGet(3), LocalSet(length)],
            false => vec![
                LocalGet(1),
                I32Load(place(heap, 0)),
                LocalSet(at),
                LocalGet(1),
                I32Load(place(heap, 4)),
                LocalTee(length),
                I32Const(LONGEST),
                LocalGet(length),
                I32Const(LONGEST),
                I32LtU,
                Select,
                LocalSet(length),
            ],
        };
        let inner = I32Const(HEADER.cast_signed());
        body.extend([I32Const(LENT), I32Const(0), I32Const(LENT), alloc, LocalTee(held)]);
        body.extend([inner.clone(), I32Add, I32Const(0), I32Const(LENT), from_front.clone()]);
        body.extend([I32Const(BUFFER), LocalGet(at), LocalGet(length), to_front.clone()]);
        body.extend([I32Const(0), I32Const(BUFFER), I32Store(place(0, 0))]);
        body.extend([I32Const(0), LocalGet(length), I32Store(place(0, 4))]);
        body.extend([I32Const(0), LocalGet(answer), I32Load(place(heap, 0)), I32Store(place(0, ANSWER))]);
        match opens {
            true => {
                body.extend([LocalGet(0), LocalGet(1), I32Const(BUFFER), LocalGet(length)]);
                body.extend((4..answer).map(LocalGet));
            }
            false => body.extend([LocalGet(0), I32Const(0), LocalGet(2)]),
        }
        body.extend([I32Const(ANSWER as i32), Call(asked), LocalSet(error)]);
        body.extend([LocalGet(answer), I32Const(0), I32Load(place(0, ANSWER)), I32Store(place(heap, 0))]);
        if reads {
            body.extend([LocalGet(at), I32Const(BUFFER), LocalGet(length), from_front]);
        }
        body.extend([I32Const(0), LocalGet(held), inner, I32Add, I32Const(LENT), to_front]);
        body.extend([LocalGet(held), release, LocalGet(error), End]);
        let mut function = wasm_encoder::Function::new([(4, ValType::I32)]);
        body.iter().for_each(|instruction| {
            function.instruction(instruction);
        });
        (ty, function)
    }
}
