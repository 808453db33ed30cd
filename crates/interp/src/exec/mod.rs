//! Execution: handlers that jump to one another through a table.
//!
//! A handler does one instruction and ends with a call of the next handler in tail position, which an optimising build
//! turns into a jump. The stepping tables return after each instruction instead: they serve the debugger, the last
//! nodes before a fuel limit, and builds without optimisation, where the calls would pile up.

mod branch;
mod calls;
mod data;
mod float;
mod heap;
mod int;
mod io;
mod memory;
mod system;
mod text;

use std::cell::Cell;
use std::sync::Arc;

use lmlang_ir::{Program, Trap};

use crate::code::{Code, Ins, Opcode, WINDOW, each_opcode};
use crate::machine::{Frame, Machine, Stop};
use crate::record::Log;

pub(crate) use data::{BINARY, UNARY};

/// Code as handlers see it.
pub(crate) type Window = [Ins; WINDOW];
/// The slots of a frame as handlers see them; frames overlap, hence the cells.
pub(crate) type Regs = [Cell<u64>; WINDOW];

/// A function of a run.
#[derive(Clone, Debug)]
pub(crate) struct Linked {
    pub(crate) of: lmlang_ir::FuncRef,
    /// Set when it has been decoded; until then `window` is that of the instruction that asks for it.
    pub(crate) code: Option<Arc<Code>>,
    /// Where its code starts in the arena.
    pub(crate) window: u32,
    pub(crate) frame: u32,
    pub(crate) refs: u32,
    pub(crate) signature: u32,
}

/// What handlers share.
pub(crate) struct Cx<'s> {
    pub(crate) m: &'s mut Machine,
    pub(crate) arena: &'s [Ins],
    pub(crate) stack: &'s [Cell<u64>],
    pub(crate) funcs: &'s [Linked],
    pub(crate) program: &'s Program,
    /// Where values are noted.
    pub(crate) log: Log<'s>,
    /// Why handlers returned. They do not return it: a call that is followed by a constant is no jump.
    pub(crate) exit: Exit,
}

/// Why handlers returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// One instruction was done.
    Step,
    /// The next instruction, which has been charged, is marked.
    Mark,
    /// So much was copied without fuel that others are to have their turn; the next instruction has been charged.
    Rest,
    /// The outermost function returned.
    Halt,
    /// The fuel does not reach to the end of the segment that starts here; nothing of it was charged.
    Fuel,
    /// The program waits for input; nothing of the segment that starts here was charged.
    Input,
    /// The stack is too short for a call, which is to be tried again.
    Grow,
    /// The function that was entered has not been decoded.
    Link,
    /// The machine says why.
    Stop,
}

/// Runs from one instruction: context, code, position, slots, fuel.
pub(crate) type Handler = for<'a, 's> fn(&'a mut Cx<'s>, &'s Window, usize, &'s Regs, i64);

/// Runs until something stops it.
pub(crate) const RUN: u8 = 0;
/// Runs one instruction.
pub(crate) const STEP: u8 = 1;
/// Runs until something stops it, and notes the values that are computed.
pub(crate) const RECORD: u8 = 2;

macro_rules! table {
    ($($name:ident $module:ident::$handler:ident,)*) => {
        const fn table<const M: u8>() -> [Handler; 256] {
            let mut table: [Handler; 256] = [system::bad::<M>; 256];
            $(table[Opcode::$name as usize] = $module::$handler::<M>;)*
            table
        }
    };
}
each_opcode!(table);

static RUN_TABLE: [Handler; 256] = table::<RUN>();
static STEP_TABLE: [Handler; 256] = table::<STEP>();
static RECORD_TABLE: [Handler; 256] = table::<RECORD>();

/// Goes on with the instruction at `pc`, which has been charged.
#[inline(always)]
fn next<'s, const M: u8>(cx: &mut Cx<'s>, code: &'s Window, pc: usize, regs: &'s Regs, fuel: i64) {
    if M == STEP {
        return pause(cx, pc, fuel, Exit::Step);
    }
    let op = code[pc as u16 as usize][0] as u8;
    let table = if M == RECORD { &RECORD_TABLE } else { &RUN_TABLE };
    table[op as usize](cx, code, pc, regs, fuel)
}

/// Notes what the instruction at `pc` computed; what the first of its two operators did, if it does two.
#[inline(always)]
fn note<const M: u8>(cx: &Cx<'_>, code: &Window, pc: usize, fuel: i64, value: u64) {
    if M == RECORD || M == STEP && cx.log.is_on() {
        cx.log.note(fuel + rest(code, pc), value);
    }
}

/// Notes what the second operator of the instruction at `pc` computed.
#[inline(always)]
fn note_second<const M: u8>(cx: &Cx<'_>, code: &Window, pc: usize, fuel: i64, value: u64) {
    if M == RECORD || M == STEP && cx.log.is_on() {
        cx.log.note(fuel + rest(code, pc) - 1, value);
    }
}

/// Notes what both operators of the instruction at `pc` computed; that of the first is not at hand otherwise.
#[inline(always)]
fn note_two<const M: u8>(
    cx: &Cx<'_>,
    code: &Window,
    pc: usize,
    fuel: i64,
    first: impl FnOnce() -> u64,
    second: u64,
) {
    if M != RUN {
        note::<M>(cx, code, pc, fuel, first());
        note_second::<M>(cx, code, pc, fuel, second);
    }
}

/// Notes that a segment starts at `pc`, before which so much fuel was left.
#[inline(always)]
fn note_start<const M: u8>(cx: &Cx<'_>, code: &Window, pc: usize, fuel: i64) {
    if M == RECORD || M == STEP && cx.log.is_on() {
        cx.log.start(fuel, cx.arena, &code[pc as u16 as usize]);
    }
}

/// The nodes from an instruction to the end of its segment.
#[inline(always)]
fn rest(code: &Window, pc: usize) -> i64 {
    i64::from(code[pc as u16 as usize][0] >> 8)
}

/// Goes on with the instruction at `pc` after charging the segment that starts there.
#[inline(always)]
fn go<'s, const M: u8>(cx: &mut Cx<'s>, code: &'s Window, pc: usize, regs: &'s Regs, fuel: i64) {
    let count = rest(code, pc);
    if fuel < count {
        return out_of_fuel(cx, pc, fuel);
    }
    // A step is taken from where the next one starts.
    if M == RECORD {
        note_start::<M>(cx, code, pc, fuel);
    }
    next::<M>(cx, code, pc, regs, fuel - count)
}

#[inline(always)]
fn pause(cx: &mut Cx<'_>, pc: usize, fuel: i64, why: Exit) {
    cx.m.pc = pc;
    cx.m.fuel = fuel;
    cx.m.charged = true;
    cx.exit = why;
}

#[cold]
#[inline(never)]
fn out_of_fuel(cx: &mut Cx<'_>, pc: usize, fuel: i64) {
    cx.m.pc = pc;
    cx.m.fuel = fuel;
    cx.m.charged = false;
    cx.exit = Exit::Fuel;
}

#[cold]
#[inline(never)]
fn stop(cx: &mut Cx<'_>, pc: usize, fuel: i64, why: Stop) {
    cx.m.pc = pc;
    cx.m.fuel = fuel;
    cx.m.charged = true;
    cx.m.stop = Some(why);
    cx.exit = Exit::Stop;
}

#[cold]
#[inline(never)]
fn trap(cx: &mut Cx<'_>, pc: usize, fuel: i64, why: Trap) {
    stop(cx, pc, fuel, Stop::Trap(why))
}

/// The code from a position of the arena on.
#[inline(always)]
fn code_at(arena: &[Ins], window: u32) -> &Window {
    arena[window as usize..].first_chunk().expect("the arena ends with a window of padding")
}

/// The slots from a position of the stack on.
#[inline(always)]
fn regs_at(stack: &[Cell<u64>], base: usize) -> &Regs {
    stack[base..].first_chunk().expect("the stack ends with a window of padding")
}

/// Runs from where the machine stands until something stops it.
pub(crate) fn run(cx: &mut Cx<'_>) -> Exit {
    if !THREADED {
        loop {
            match step::<false>(cx) {
                Exit::Step => {}
                other => return other,
            }
        }
    }
    let (code, regs) = (code_at(cx.arena, cx.m.window), regs_at(cx.stack, cx.m.base));
    let (pc, fuel) = (cx.m.pc, cx.m.fuel);
    match (cx.m.charged, cx.log.is_on()) {
        (true, false) => next::<RUN>(cx, code, pc, regs, fuel),
        (false, false) => go::<RUN>(cx, code, pc, regs, fuel),
        (true, true) => next::<RECORD>(cx, code, pc, regs, fuel),
        (false, true) => go::<RECORD>(cx, code, pc, regs, fuel),
    }
    cx.exit
}

/// Whether tail calls are known to become jumps; only a build without optimisation does not make them, which the
/// profiles of the workspace rule out for this crate.
const THREADED: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Runs one instruction from where the machine stands, a marked one as what it stands for.
pub(crate) fn instruction(cx: &mut Cx<'_>) -> Exit {
    step::<true>(cx)
}

fn step<const THROUGH: bool>(cx: &mut Cx<'_>) -> Exit {
    let (code, regs) = (code_at(cx.arena, cx.m.window), regs_at(cx.stack, cx.m.base));
    let (pc, mut fuel) = (cx.m.pc, cx.m.fuel);
    let word = code[pc as u16 as usize][0];
    if !cx.m.charged {
        let count = i64::from(word >> 8);
        if fuel < count {
            return Exit::Fuel;
        }
        note_start::<STEP>(cx, code, pc, fuel);
        fuel -= count;
    }
    cx.m.charged = true;
    let mut op = word as u8;
    if THROUGH && op == Opcode::Mark as u8 {
        op = cx.marked();
    }
    STEP_TABLE[op as usize](cx, code, pc, regs, fuel);
    cx.exit
}

impl<'s> Cx<'s> {
    /// The decoded form of the current function.
    #[inline(always)]
    fn code(&self) -> Option<&'s Code> {
        self.funcs.get(self.m.func as usize)?.code.as_deref()
    }

    /// The opcode that a mark at the current position stands for.
    fn marked(&self) -> u8 {
        let found = self.funcs.get(self.m.func as usize).and_then(|linked| {
            let at = (self.m.window as usize + self.m.pc).checked_sub(linked.window as usize)?;
            linked.code.as_ref()?.words.get(at)
        });
        found.map_or(Opcode::Bad as u8, |word| word[0] as u8)
    }

    #[inline(always)]
    fn switch_target(&self, table: u16, value: i64) -> u16 {
        self.code()
            .and_then(|code| code.switches.get(usize::from(table)))
            .map_or(0, |table| table.target(value))
    }

    /// Returns to the frame below the current one.
    #[inline(always)]
    fn pop(&mut self) -> Option<Frame> {
        self.m.frames.pop()
    }
}
