//! Fuel that a module counts: one for each node that is executed, as a run here counts it.
//!
//! What is left lies in a global between calls and in a local within a function, with the calls that may still be nested:
//! the upper 44 bits are the fuel, the lower 20 the calls. A run of straight code is paid for where it ends, before
//! control goes elsewhere or somebody else may come from elsewhere. Below zero, in either half, the host is asked, at the
//! start of a function and of each round of a loop.

use wasm_encoder::Instruction;

/// Bits of what is left that count calls. The uppermost of them is set once there were too many.
pub(super) const DEPTH_BITS: u32 = 20;

/// Set where fuel is below zero, or calls are.
pub(super) const BELOW: i64 = i64::MIN | 1 << (DEPTH_BITS - 1);

/// What fuel is counted with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    /// The function of the host that is asked for more.
    pub(super) more: u32,
    /// The global of what is left.
    pub(super) left: u32,
    /// The global of what bulk operators cost beyond their nodes.
    pub(super) extra: u32,
    /// The function that is run.
    pub(super) run: u32,
    /// The one that is run before.
    pub(super) start: Option<u32>,
}

/// The nodes of a function, where its instructions stand.
#[derive(Debug)]
pub(super) struct Counting {
    meter: Meter,
    local: u32,
    /// Where nodes are executed that no instruction written yet comes behind.
    counted: std::collections::VecDeque<usize>,
    /// Nodes of straight code that are not paid for.
    owed: i64,
}

impl Counting {
    pub(super) fn new(meter: Meter, local: u32) -> Counting {
        Counting { meter, local, counted: Default::default(), owed: 0 }
    }

    pub(super) fn count(&mut self, at: usize) {
        self.counted.push_back(at);
    }

    /// Writes the instruction at a position, with what is to be done around it.
    pub(super) fn write(
        &mut self,
        at: usize,
        instruction: Instruction<'static>,
        put: &mut impl FnMut(Instruction<'static>),
    ) {
        use Instruction::*;
        while self.counted.pop_front_if(|counted| *counted <= at).is_some() {
            self.owed += 1;
        }
        match instruction {
            Br(_) | BrIf(_) | BrTable(..) | If(_) | Else | End | Loop(_) | Return | Unreachable => {
                self.pay(put);
                put(instruction);
            }
            // The callee counts on, and we after it.
            Call(callee) if callee != self.meter.more => self.hand_over(instruction, put),
            CallIndirect { .. } => self.hand_over(instruction, put),
            _ => put(instruction),
        }
    }

    fn pay(&mut self, put: &mut impl FnMut(Instruction<'static>)) {
        let owed = std::mem::take(&mut self.owed);
        if owed > 0 {
            put(Instruction::LocalGet(self.local));
            put(Instruction::I64Const(owed << DEPTH_BITS));
            put(Instruction::I64Sub);
            put(Instruction::LocalSet(self.local));
        }
    }

    fn hand_over(&self, call: Instruction<'static>, put: &mut impl FnMut(Instruction<'static>)) {
        put(Instruction::LocalGet(self.local));
        put(Instruction::GlobalSet(self.meter.left));
        put(call);
        put(Instruction::GlobalGet(self.meter.left));
        put(Instruction::LocalSet(self.local));
    }
}
