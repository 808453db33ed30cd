//! Control that is not a call: jumps, switches, stops, contracts.

use super::{
    Cx, Exit, Regs, STEP, Window, code_at, go, next, note, note_start, out_of_fuel, pause, rest, trap,
};
use crate::code::StopSite;
use crate::exec::heap as heap_ops;
use crate::heap;
use crate::machine::Stop;
use lmlang_ir::Trap;

pub(super) fn bad<'s, const M: u8>(cx: &mut Cx<'s>, _: &'s Window, pc: usize, _: &'s Regs, fuel: i64) {
    super::stop(cx, pc, fuel, Stop::Broken)
}

pub(super) fn link<'s, const M: u8>(cx: &mut Cx<'s>, _: &'s Window, pc: usize, _: &'s Regs, fuel: i64) {
    cx.m.pc = pc;
    cx.m.fuel = fuel;
    cx.m.charged = false;
    cx.exit = Exit::Link;
}

pub(super) fn halt<'s, const M: u8>(cx: &mut Cx<'s>, _: &'s Window, pc: usize, _: &'s Regs, fuel: i64) {
    pause(cx, pc, fuel, Exit::Halt);
}

/// Stands in the run's copy of the code for an instruction that somebody wants to see before it is executed.
pub(super) fn mark<'s, const M: u8>(cx: &mut Cx<'s>, _: &'s Window, pc: usize, _: &'s Regs, fuel: i64) {
    pause(cx, pc, fuel, Exit::Mark);
}

pub(super) fn nop<'s, const M: u8>(cx: &mut Cx<'s>, code: &'s Window, pc: usize, regs: &'s Regs, fuel: i64) {
    next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
}

pub(super) fn charge<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    go::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
}

pub(super) fn jmp<'s, const M: u8>(cx: &mut Cx<'s>, code: &'s Window, pc: usize, regs: &'s Regs, fuel: i64) {
    let [_, _, _, c] = code[pc as u16 as usize];
    go::<M>(cx, code, pc.wrapping_add_signed(isize::from(c as i16)), regs, fuel)
}

/// A jump within a function that is longer than a window: the target counts from the start of the function.
pub(super) fn far<'s, const M: u8>(cx: &mut Cx<'s>, code: &'s Window, pc: usize, regs: &'s Regs, fuel: i64) {
    let [_, low, high, _] = code[pc as u16 as usize];
    let target = u32::from(low) | u32::from(high) << 16;
    let start = cx.funcs[cx.m.func as usize].window;
    let (window, pc) = (start + (target & !0x7fff), (target & 0x7fff) as usize);
    cx.m.window = window;
    let code = code_at(cx.arena, window);
    go::<M>(cx, code, pc, regs, fuel)
}

pub(super) fn switch<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    let [_, a, b, c] = code[pc as u16 as usize];
    let raw = regs[a as usize].get();
    // `c` tells a signed 32-bit value from a 64-bit or unsigned one.
    let value = if c == 1 { i64::from(raw as i32) } else { raw as i64 };
    let target = cx.switch_target(b, value);
    go::<M>(cx, code, pc.wrapping_add(1 + usize::from(target)), regs, fuel)
}

pub(super) fn stop<'s, const M: u8>(cx: &mut Cx<'s>, code: &'s Window, pc: usize, _: &'s Regs, fuel: i64) {
    let [_, a, b, _] = code[pc as u16 as usize];
    let site = cx.code().map(|code| code.stops[usize::from(a) | usize::from(b) << 16]);
    match site {
        Some(StopSite::Unreachable) => trap(cx, pc, fuel, Trap::Unreachable),
        Some(StopSite::Hole(node, port)) => super::stop(cx, pc, fuel, Stop::Hole(node, port)),
        Some(StopSite::Open(region)) => super::stop(cx, pc, fuel, Stop::Open(region)),
        Some(StopSite::Unsupported(node)) => super::stop(cx, pc, fuel, Stop::Unsupported(node)),
        None => super::stop(cx, pc, fuel, Stop::Broken),
    }
}

/// Bytes that a slice copies without fuel before it ends: a millisecond or so.
const MOST_WORK: u64 = 4 << 20;

pub(super) fn heap<'s, const M: u8>(cx: &mut Cx<'s>, code: &'s Window, pc: usize, regs: &'s Regs, fuel: i64) {
    let first = code[pc as u16 as usize];
    let second = code[pc.wrapping_add(1) as u16 as usize];
    let left = heap_ops::run(cx, regs, first, second, fuel);
    if left < 0 {
        return heap_stop(cx, pc, fuel, i64::from(first[0] >> 8));
    }
    // Whether the operator makes a scalar, and so leaves one in that slot, is known to who reads the log.
    let [_, a, ..] = first;
    note::<M>(cx, code, pc, fuel, regs[a as usize].get());
    // What it cost besides moves the places of what comes after it.
    let behind = pc.wrapping_add(2);
    note_start::<M>(cx, code, behind, left + rest(code, behind));
    if M != STEP && heap::work() > MOST_WORK {
        return pause(cx, pc.wrapping_add(2), left, Exit::Rest);
    }
    next::<M>(cx, code, pc.wrapping_add(2), regs, left)
}

#[cold]
#[inline(never)]
fn heap_stop(cx: &mut Cx<'_>, pc: usize, fuel: i64, segment: i64) {
    match cx.m.stop.take() {
        Some(Stop::Fuel) => out_of_fuel(cx, pc, fuel + segment),
        Some(Stop::Input) => {
            out_of_fuel(cx, pc, fuel + segment);
            cx.exit = Exit::Input;
        }
        other => super::stop(cx, pc, fuel, other.unwrap_or(Stop::Broken)),
    }
}

/// Starts the evaluation of a contract, or skips it when one is being evaluated.
pub(super) fn contract_begin<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    let [_, a, _, c] = code[pc as u16 as usize];
    let to = if cx.m.contract_depth != 0 {
        pc.wrapping_add_signed(isize::from(c as i16))
    } else {
        cx.m.contract_depth = cx.m.frames.len() + 1;
        cx.m.contract = a;
        pc.wrapping_add(1)
    };
    go::<M>(cx, code, to, regs, fuel)
}

pub(super) fn contract_check<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    let [_, a, b, _] = code[pc as u16 as usize];
    cx.m.contract_depth = 0;
    if regs[a as usize].get() == 0 {
        let why = cx.code().map_or(Stop::Broken, |code| Stop::Violated(code.contracts[usize::from(b)]));
        return super::stop(cx, pc, fuel, why);
    }
    go::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
}
