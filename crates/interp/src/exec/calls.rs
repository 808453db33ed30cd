//! Calls and returns: frames overlap, so that arguments and results stay where they are.

use lmlang_ir::Trap;

use super::{Cx, Exit, Regs, Window, code_at, go, next, regs_at, stop, trap};
use crate::code::WINDOW;
use crate::heap::{Heap, Obj, Word};
use crate::machine::{Frame, Limit, Stop};

/// Enters a function whose arguments lie from slot `a` and reference `r` of the frame on.
#[inline(always)]
fn invoke<'s, const M: u8>(cx: &mut Cx<'s>, at: usize, after: usize, func: u32, a: u16, r: u16, fuel: i64) {
    let callee = &cx.funcs[func as usize];
    let base = cx.m.base + usize::from(a);
    if cx.m.frames.len() >= cx.m.depth_limit {
        return stop(cx, at, fuel, Stop::Limit(Limit::Depth));
    }
    if base + callee.frame as usize + WINDOW > cx.stack.len() {
        return grow(cx, at, fuel);
    }
    cx.m.frames.push(Frame {
        func: cx.m.func,
        window: cx.m.window,
        pc: after as u32,
        base: cx.m.base as u32,
        rbase: cx.m.rbase as u32,
    });
    let window = callee.window;
    cx.m.func = func;
    cx.m.window = window;
    cx.m.base = base;
    cx.m.rbase += usize::from(r);
    let (code, regs) = (code_at(cx.arena, window), regs_at(cx.stack, base));
    go::<M>(cx, code, 0, regs, fuel)
}

#[cold]
#[inline(never)]
fn grow(cx: &mut Cx<'_>, pc: usize, fuel: i64) {
    cx.m.pc = pc;
    cx.m.fuel = fuel;
    cx.m.charged = true;
    cx.exit = Exit::Grow;
}

pub(super) fn call<'s, const M: u8>(cx: &mut Cx<'s>, code: &'s Window, pc: usize, _: &'s Regs, fuel: i64) {
    let [_, a, low, high] = code[pc as u16 as usize];
    invoke::<M>(cx, pc, pc.wrapping_add(1), u32::from(low) | u32::from(high) << 16, a, 0, fuel)
}

/// A call out of a function that holds references.
pub(super) fn call_r<'s, const M: u8>(cx: &mut Cx<'s>, code: &'s Window, pc: usize, _: &'s Regs, fuel: i64) {
    let [_, a, low, high] = code[pc as u16 as usize];
    let [r, ..] = code[pc.wrapping_add(1) as u16 as usize];
    invoke::<M>(cx, pc, pc.wrapping_add(2), u32::from(low) | u32::from(high) << 16, a, r, fuel)
}

/// `a` arguments, `b` index, `c` table; then the signature in two fields, and the reference base.
pub(super) fn call_indirect<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    let [_, a, b, c] = code[pc as u16 as usize];
    let [low, high, r, _] = code[pc.wrapping_add(1) as u16 as usize];
    let index = regs[b as usize].get() as usize;
    let Some(entry) = cx.m.table(c).and_then(|table| table.entries.get(index).copied()) else {
        return trap(cx, pc, fuel, Trap::TableOutOfBounds);
    };
    if entry == 0 {
        return trap(cx, pc, fuel, Trap::UninitializedElement);
    }
    let func = (entry - 1) as u32;
    if cx.funcs[func as usize].signature != (u32::from(low) | u32::from(high) << 16) {
        return trap(cx, pc, fuel, Trap::SignatureMismatch);
    }
    invoke::<M>(cx, pc, pc.wrapping_add(2), func, a, r, fuel)
}

/// `a` arguments, `b` the closure; then the reference base and the numbers of slots and references of arguments.
pub(super) fn call_closure<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    let func = unpack_closure(cx, code, pc, regs);
    if func == NO_CLOSURE {
        return trap(cx, pc, fuel, Trap::UninitializedElement);
    }
    let [_, a, ..] = code[pc as u16 as usize];
    let [r, ..] = code[pc.wrapping_add(1) as u16 as usize];
    invoke::<M>(cx, pc, pc.wrapping_add(2), func, a, r, fuel)
}

/// What stands for a closure that is not there.
const NO_CLOSURE: u32 = u32::MAX;

/// Puts what a closure captured behind the arguments; returns its function.
#[inline(never)]
fn unpack_closure(cx: &mut Cx<'_>, code: &Window, pc: usize, regs: &Regs) -> u32 {
    let [_, a, b, _] = code[pc as u16 as usize];
    let [r, slots, references, _] = code[pc.wrapping_add(1) as u16 as usize];
    let closure = cx.m.obj(b).clone();
    let Some(Heap::Closure(func, captures)) = closure.get() else { return NO_CLOSURE };
    let (mut slot, mut reference) =
        (usize::from(a) + usize::from(slots), cx.m.rbase + usize::from(r) + usize::from(references));
    for capture in captures {
        match capture {
            Word::Num(value) => {
                // The frame's window reaches far beyond its own slots, where the callee's begin.
                regs[slot as u16 as usize].set(*value);
                slot += 1;
            }
            Word::Ref(obj) => {
                if cx.m.refs.len() <= reference {
                    cx.m.refs.resize(reference + 1, Obj::default());
                }
                cx.m.refs[reference] = obj.clone();
                reference += 1;
            }
        }
    }
    *func
}

pub(super) fn ret<'s, const M: u8>(cx: &mut Cx<'s>, _: &'s Window, pc: usize, _: &'s Regs, fuel: i64) {
    match cx.pop() {
        Some(frame) => {
            cx.m.func = frame.func;
            cx.m.window = frame.window;
            cx.m.base = frame.base as usize;
            cx.m.rbase = frame.rbase as usize;
            let (code, regs) = (code_at(cx.arena, frame.window), regs_at(cx.stack, frame.base as usize));
            go::<M>(cx, code, frame.pc as usize, regs, fuel)
        }
        None => stop(cx, pc, fuel, Stop::Broken),
    }
}

/// Returns from a function that holds references: releases all but its results.
pub(super) fn leave<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    cx.release_references();
    ret::<M>(cx, code, pc, regs, fuel)
}

/// Makes room for the references of the function.
pub(super) fn enter<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    if !cx.reserve_references() {
        return stop(cx, pc, fuel, Stop::Limit(Limit::Memory));
    }
    next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
}

/// References that a run may have whatever its limit is.
const LEAST_REFERENCES: usize = 1 << 14;

impl Cx<'_> {
    #[inline(never)]
    fn release_references(&mut self) {
        let callee = &self.funcs[self.m.func as usize];
        let results = callee.code.as_ref().map_or(0, |code| usize::from(code.ref_results));
        let (from, to) = (self.m.rbase + results, self.m.rbase + callee.refs as usize);
        if let Some(references) = self.m.refs.get_mut(from..to) {
            references.fill(Obj::default());
        }
    }

    /// Tells whether there is room: like the slots, references of all frames together take no more than the limit.
    #[inline(never)]
    fn reserve_references(&mut self) -> bool {
        let needed = self.m.rbase + self.funcs[self.m.func as usize].refs as usize;
        if self.m.refs.len() < needed {
            let most = (self.m.memory_limit / size_of::<Obj>() as u64).max(LEAST_REFERENCES as u64);
            if needed as u64 > most {
                return false;
            }
            self.m.refs.resize(needed.next_power_of_two(), Obj::default());
        }
        true
    }
}
