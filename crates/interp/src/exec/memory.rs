//! Loads and stores: addresses are unsigned, offsets are added without wrapping, bounds are checked.

use lmlang_ir::Trap;

use super::{Cx, Regs, Window, next, note, note_second, trap};

/// `a = load(b + offset c)`
macro_rules! loads {
    ($($name:ident($bytes:ident: $size:literal) = $value:expr;)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, c] = code[pc as u16 as usize];
            let address = regs[b as usize].get() as usize + usize::from(c);
            let Some($bytes) = cx.m.memory.get(address..).and_then(|rest| rest.first_chunk::<$size>()) else {
                return trap(cx, pc, fuel, Trap::MemoryOutOfBounds);
            };
            let $bytes = *$bytes;
            let value = $value;
            regs[a as usize].set(value);
            note::<M>(cx, code, pc, fuel, value);
            next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
        }
    )*};
}

/// `a = load(b + c + offset d)`
macro_rules! loads_at {
    ($($name:ident($bytes:ident: $size:literal) = $value:expr;)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, c] = code[pc as u16 as usize];
            let [offset, ..] = code[pc.wrapping_add(1) as u16 as usize];
            let base = (regs[b as usize].get() as u32).wrapping_add(regs[c as usize].get() as u32);
            let address = base as usize + usize::from(offset);
            note::<M>(cx, code, pc, fuel, u64::from(base));
            let Some($bytes) = cx.m.memory.get(address..).and_then(|rest| rest.first_chunk::<$size>()) else {
                return trap(cx, pc, fuel, Trap::MemoryOutOfBounds);
            };
            let $bytes = *$bytes;
            let value = $value;
            regs[a as usize].set(value);
            note_second::<M>(cx, code, pc, fuel, value);
            next::<M>(cx, code, pc.wrapping_add(2), regs, fuel)
        }
    )*};
}

/// `store(a + offset c) = b`
macro_rules! stores {
    ($($name:ident($size:literal: $ty:ty);)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, c] = code[pc as u16 as usize];
            let address = regs[a as usize].get() as usize + usize::from(c);
            // Converted as a whole: a copy of part of a local array would keep the next handler from being a jump.
            let value = (regs[b as usize].get() as $ty).to_le_bytes();
            let Some(slot) = cx.m.memory.get_mut(address..).and_then(|rest| rest.first_chunk_mut::<$size>())
            else {
                return trap(cx, pc, fuel, Trap::MemoryOutOfBounds);
            };
            *slot = value;
            next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
        }
    )*};
}

#[inline(always)]
fn w(value: i32) -> u64 {
    u64::from(value as u32)
}

loads! {
    load8_u(bytes: 1) = u64::from(bytes[0]);
    load8_s32(bytes: 1) = w(i32::from(bytes[0] as i8));
    load8_s64(bytes: 1) = i64::from(bytes[0] as i8) as u64;
    load_bool(bytes: 1) = u64::from(bytes[0] != 0);
    load16_u(bytes: 2) = u64::from(u16::from_le_bytes(bytes));
    load16_s32(bytes: 2) = w(i32::from(i16::from_le_bytes(bytes)));
    load16_s64(bytes: 2) = i64::from(i16::from_le_bytes(bytes)) as u64;
    load32_u(bytes: 4) = u64::from(u32::from_le_bytes(bytes));
    load32_s64(bytes: 4) = i64::from(i32::from_le_bytes(bytes)) as u64;
    load64(bytes: 8) = u64::from_le_bytes(bytes);
}

loads_at! {
    load_at8_u(bytes: 1) = u64::from(bytes[0]);
    load_at32_u(bytes: 4) = u64::from(u32::from_le_bytes(bytes));
    load_at64(bytes: 8) = u64::from_le_bytes(bytes);
}

stores! {
    store8(1: u8);
    store16(2: u16);
    store32(4: u32);
    store64(8: u64);
}

/// `a = b + offset`, beyond 32 bits: for offsets that do not fit an operand. The offset stands in the next fields of
/// a constant that was put in slot `c`.
pub(super) fn address_of<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    let [_, a, b, c] = code[pc as u16 as usize];
    regs[a as usize].set(regs[b as usize].get() + regs[c as usize].get());
    next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
}
