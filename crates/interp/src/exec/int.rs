//! Integer arithmetic, bits and comparisons.
//!
//! 32-bit values are zero-extended, so that bitwise operators, equality and unsigned order serve both widths.

use lmlang_ir::Trap;

use super::{Cx, Regs, Window, next, note, note_two, trap};

macro_rules! two {
    ($($name:ident($x:ident, $y:ident) = $value:expr;)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, c] = code[pc as u16 as usize];
            let ($x, $y) = (regs[b as usize].get(), regs[c as usize].get());
            let value: u64 = $value;
            regs[a as usize].set(value);
            note::<M>(cx, code, pc, fuel, value);
            next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
        }
    )*};
}

macro_rules! immediate {
    ($($name:ident($x:ident, $k:ident) = $value:expr;)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, c] = code[pc as u16 as usize];
            let ($x, $k) = (regs[b as usize].get(), c as i16);
            let value: u64 = $value;
            regs[a as usize].set(value);
            note::<M>(cx, code, pc, fuel, value);
            next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
        }
    )*};
}

/// Two operators in one, the value of each of which is told, with a second word for the third operand.
macro_rules! three {
    ($($name:ident($x:ident, $y:ident, $z:ident) = $first:expr, $value:expr;)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, c] = code[pc as u16 as usize];
            let [d, ..] = code[pc.wrapping_add(1) as u16 as usize];
            let ($x, $y, $z) = (regs[b as usize].get(), regs[c as usize].get(), regs[d as usize].get());
            let value: u64 = $value;
            regs[a as usize].set(value);
            note_two::<M>(cx, code, pc, fuel, || $first, value);
            next::<M>(cx, code, pc.wrapping_add(2), regs, fuel)
        }
    )*};
}
pub(super) use three;

/// `a = b * k + d`, with the constant in place of `c`.
macro_rules! scaled {
    ($($name:ident($x:ident, $k:ident, $z:ident) = $first:expr, $value:expr;)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, c] = code[pc as u16 as usize];
            let [d, ..] = code[pc.wrapping_add(1) as u16 as usize];
            let ($x, $k, $z) = (regs[b as usize].get(), c as i16, regs[d as usize].get());
            let value: u64 = $value;
            regs[a as usize].set(value);
            note_two::<M>(cx, code, pc, fuel, || $first, value);
            next::<M>(cx, code, pc.wrapping_add(2), regs, fuel)
        }
    )*};
}

macro_rules! trapping {
    ($($name:ident($x:ident, $y:ident) = $value:expr;)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, c] = code[pc as u16 as usize];
            let ($x, $y) = (regs[b as usize].get(), regs[c as usize].get());
            let value: Result<u64, Trap> = $value;
            match value {
                Ok(value) => {
                    regs[a as usize].set(value);
                    note::<M>(cx, code, pc, fuel, value);
                }
                Err(why) => return trap(cx, pc, fuel, why),
            }
            next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
        }
    )*};
}

#[inline(always)]
fn w(value: i32) -> u64 {
    u64::from(value as u32)
}

two! {
    add_i32(x, y) = w((x as i32).wrapping_add(y as i32));
    sub_i32(x, y) = w((x as i32).wrapping_sub(y as i32));
    mul_i32(x, y) = w((x as i32).wrapping_mul(y as i32));
    add_i64(x, y) = x.wrapping_add(y);
    sub_i64(x, y) = x.wrapping_sub(y);
    mul_i64(x, y) = x.wrapping_mul(y);
    and(x, y) = x & y;
    or(x, y) = x | y;
    xor(x, y) = x ^ y;
    shl_i32(x, y) = w((x as i32).wrapping_shl(y as u32));
    shl_i64(x, y) = x.wrapping_shl(y as u32);
    shr_s_i32(x, y) = w((x as i32).wrapping_shr(y as u32));
    shr_s_i64(x, y) = (x as i64).wrapping_shr(y as u32) as u64;
    shr_u_i32(x, y) = u64::from((x as u32).wrapping_shr(y as u32));
    shr_u_i64(x, y) = x.wrapping_shr(y as u32);
    rotl_i32(x, y) = u64::from((x as u32).rotate_left(y as u32 & 31));
    rotl_i64(x, y) = x.rotate_left(y as u32 & 63);
    rotr_i32(x, y) = u64::from((x as u32).rotate_right(y as u32 & 31));
    rotr_i64(x, y) = x.rotate_right(y as u32 & 63);
    eq(x, y) = u64::from(x == y);
    ne(x, y) = u64::from(x != y);
    lt_u(x, y) = u64::from(x < y);
    le_u(x, y) = u64::from(x <= y);
    lt_s32(x, y) = u64::from((x as i32) < y as i32);
    le_s32(x, y) = u64::from(x as i32 <= y as i32);
    lt_s64(x, y) = u64::from((x as i64) < y as i64);
    le_s64(x, y) = u64::from(x as i64 <= y as i64);
}

immediate! {
    add_i32_k(x, k) = w((x as i32).wrapping_add(i32::from(k)));
    add_i64_k(x, k) = x.wrapping_add(i64::from(k) as u64);
    mul_i32_k(x, k) = w((x as i32).wrapping_mul(i32::from(k)));
    mul_i64_k(x, k) = x.wrapping_mul(i64::from(k) as u64);
    and_k(x, k) = x & u64::from(k as u16);
    shl_i32_k(x, k) = w((x as i32).wrapping_shl(k as u32));
    shl_i64_k(x, k) = x.wrapping_shl(k as u32);
    shr_s_i32_k(x, k) = w((x as i32).wrapping_shr(k as u32));
    shr_s_i64_k(x, k) = (x as i64).wrapping_shr(k as u32) as u64;
    shr_u_k(x, k) = x.wrapping_shr(k as u32);
    eq_k(x, k) = u64::from(x == u64::from(k as u16));
    ne_k(x, k) = u64::from(x != u64::from(k as u16));
    eqz(x, _k) = u64::from(x == 0);
    low32(x, _k) = x & 0xffff_ffff;
    extend_s32(x, _k) = i64::from(x as i32) as u64;
}

three! {
    mul_add_i32(x, y, z) =
        w((x as i32).wrapping_mul(y as i32)),
        w((x as i32).wrapping_mul(y as i32).wrapping_add(z as i32));
    mul_add_i64(x, y, z) = x.wrapping_mul(y), x.wrapping_mul(y).wrapping_add(z);
}

scaled! {
    mul_k_add_i32(x, k, z) =
        w((x as i32).wrapping_mul(i32::from(k))),
        w((x as i32).wrapping_mul(i32::from(k)).wrapping_add(z as i32));
    mul_k_add_i64(x, k, z) =
        x.wrapping_mul(i64::from(k) as u64),
        x.wrapping_mul(i64::from(k) as u64).wrapping_add(z);
}

trapping! {
    div_s_i32(x, y) = match (x as i32, y as i32) {
        (_, 0) => Err(Trap::DivisionByZero),
        (x, y) => x.checked_div(y).map(w).ok_or(Trap::IntegerOverflow),
    };
    div_s_i64(x, y) = match (x as i64, y as i64) {
        (_, 0) => Err(Trap::DivisionByZero),
        (x, y) => x.checked_div(y).map(|value| value as u64).ok_or(Trap::IntegerOverflow),
    };
    div_u_i32(x, y) = (x as u32).checked_div(y as u32).map(u64::from).ok_or(Trap::DivisionByZero);
    div_u_i64(x, y) = x.checked_div(y).ok_or(Trap::DivisionByZero);
    rem_s_i32(x, y) = match (x as i32, y as i32) {
        (_, 0) => Err(Trap::DivisionByZero),
        (x, y) => Ok(w(x.wrapping_rem(y))),
    };
    rem_s_i64(x, y) = match (x as i64, y as i64) {
        (_, 0) => Err(Trap::DivisionByZero),
        (x, y) => Ok(x.wrapping_rem(y) as u64),
    };
    rem_u_i32(x, y) = (x as u32).checked_rem(y as u32).map(u64::from).ok_or(Trap::DivisionByZero);
    rem_u_i64(x, y) = x.checked_rem(y).ok_or(Trap::DivisionByZero);
}
