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
    /// The global of what bulk operators cost beyond their nodes; those of [`GLOBALS`] come behind it.
    pub(super) extra: u32,
    /// The function that is run.
    pub(super) run: u32,
    /// The one that is run before.
    pub(super) start: Option<u32>,
    /// The first function that is brought along: it does not count nodes.
    pub(super) brought: u32,
}

/// What is counted, in the order of the globals: what is left, what was paid beyond nodes, bytes of values that are held and
/// the most of them, places for values in the functions that run and the most of them.
pub(super) const GLOBALS: [&str; 6] = ["left", "extra", "live", "peak", "places", "most_places"];

impl Meter {
    /// The index of the global of a name.
    pub(super) fn global(&self, name: &str) -> Option<u32> {
        let at = GLOBALS.iter().position(|global| *global == name)?;
        Some(self.left + at as u32)
    }

    pub(super) fn places(&self) -> u32 {
        self.left + 4
    }

    pub(super) fn most_places(&self) -> u32 {
        self.left + 5
    }
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
        pays: &impl Fn(u32) -> bool,
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
            Call(callee) if callee != self.meter.more && (callee < self.meter.brought || pays(callee)) => {
                self.hand_over(instruction, put);
            }
            CallIndirect { .. } => self.hand_over(instruction, put),
            _ => put(instruction),
        }
    }

    fn pay(&mut self, put: &mut impl FnMut(Instruction<'static>)) {
        if self.owed > 0 {
            self.paid(put);
            put(Instruction::LocalSet(self.local));
        }
    }

    /// What is left once all is paid.
    fn paid(&mut self, put: &mut impl FnMut(Instruction<'static>)) {
        let owed = std::mem::take(&mut self.owed);
        put(Instruction::LocalGet(self.local));
        if owed > 0 {
            put(Instruction::I64Const(owed << DEPTH_BITS));
            put(Instruction::I64Sub);
        }
    }

    /// Whoever is called finds what is left, and may end the run.
    fn hand_over(&mut self, call: Instruction<'static>, put: &mut impl FnMut(Instruction<'static>)) {
        self.paid(put);
        put(Instruction::GlobalSet(self.meter.left));
        put(call);
        put(Instruction::GlobalGet(self.meter.left));
        put(Instruction::LocalSet(self.local));
    }
}
