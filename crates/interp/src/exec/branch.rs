//! Conditional branches: on a value, or on a comparison fused into them.

use super::{Cx, Regs, Window, go, note, note_two};

/// Operands `a` and `b`, target `c`.
macro_rules! branches {
    ($($name:ident($x:ident, $y:ident) = $taken:expr;)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, c] = code[pc as u16 as usize];
            let ($x, $y) = (regs[a as usize].get(), regs[b as usize].get());
            let taken = $taken;
            note::<M>(cx, code, pc, fuel, u64::from(taken));
            if taken {
                go::<M>(cx, code, pc.wrapping_add_signed(isize::from(c as i16)), regs, fuel)
            } else {
                go::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
            }
        }
    )*};
}

/// Operand `a`, immediate `b`, target `c`.
macro_rules! immediate {
    ($($name:ident($x:ident, $k:ident) = $taken:expr;)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, c] = code[pc as u16 as usize];
            let ($x, $k) = (regs[a as usize].get(), b as i16);
            let taken = $taken;
            note::<M>(cx, code, pc, fuel, u64::from(taken));
            if taken {
                go::<M>(cx, code, pc.wrapping_add_signed(isize::from(c as i16)), regs, fuel)
            } else {
                go::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
            }
        }
    )*};
}

/// Operand `a`, of which `b` masks the bits, target `c`.
macro_rules! masked {
    ($($name:ident($x:ident) = $taken:expr;)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, c] = code[pc as u16 as usize];
            let $x = regs[a as usize].get() & u64::from(b);
            let taken = $taken;
            note_two::<M>(cx, code, pc, fuel, || $x, u64::from(taken));
            if taken {
                go::<M>(cx, code, pc.wrapping_add_signed(isize::from(c as i16)), regs, fuel)
            } else {
                go::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
            }
        }
    )*};
}

/// Adds slot `d` to slot `a`, and branches to `c` as it compares to slot `b`.
macro_rules! steps {
    ($($name:ident($x:ident, $y:ident) = $sum:expr, $taken:expr;)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, c] = code[pc as u16 as usize];
            let [step, ..] = code[pc.wrapping_add(1) as u16 as usize];
            let ($x, $y) = (regs[a as usize].get(), regs[step as usize].get());
            let $x: u64 = $sum;
            regs[a as usize].set($x);
            let $y = regs[b as usize].get();
            let taken = $taken;
            note_two::<M>(cx, code, pc, fuel, || $x, u64::from(taken));
            if taken {
                go::<M>(cx, code, pc.wrapping_add_signed(isize::from(c as i16)), regs, fuel)
            } else {
                go::<M>(cx, code, pc.wrapping_add(2), regs, fuel)
            }
        }
    )*};
}

#[inline(always)]
fn add32(x: u64, y: u64) -> u64 {
    u64::from((x as u32).wrapping_add(y as u32))
}

#[inline(always)]
fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

branches! {
    br_eq(x, y) = x == y;
    br_ne(x, y) = x != y;
    br_lt_u(x, y) = x < y;
    br_le_u(x, y) = x <= y;
    br_lt_s32(x, y) = (x as i32) < y as i32;
    br_le_s32(x, y) = x as i32 <= y as i32;
    br_lt_s64(x, y) = (x as i64) < y as i64;
    br_le_s64(x, y) = x as i64 <= y as i64;
    br_lt_f64(x, y) = d(x) < d(y);
    br_le_f64(x, y) = d(x) <= d(y);
    br_not_lt_f64(x, y) = !matches!(d(x).partial_cmp(&d(y)), Some(std::cmp::Ordering::Less));
    br_not_le_f64(x, y) =
        !matches!(d(x).partial_cmp(&d(y)), Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal));
}

immediate! {
    br_if(x, _k) = x != 0;
    br_if_not(x, _k) = x == 0;
    br_eq_k(x, k) = x == u64::from(k as u16);
    br_ne_k(x, k) = x != u64::from(k as u16);
    br_lt_u_k(x, k) = x < u64::from(k as u16);
    br_ge_u_k(x, k) = x >= u64::from(k as u16);
    br_lt_s_k32(x, k) = (x as i32) < i32::from(k);
    br_ge_s_k32(x, k) = x as i32 >= i32::from(k);
    br_lt_s_k64(x, k) = (x as i64) < i64::from(k);
    br_ge_s_k64(x, k) = x as i64 >= i64::from(k);
}

masked! {
    br_any_k(x) = x != 0;
    br_none_k(x) = x == 0;
}

steps! {
    next_ne32(x, y) = add32(x, y), x != y;
    next_lt_u32(x, y) = add32(x, y), x < y;
    next_lt_s32(x, y) = add32(x, y), (x as i32) < y as i32;
    next_le_s32(x, y) = add32(x, y), x as i32 <= y as i32;
    next_ne64(x, y) = x.wrapping_add(y), x != y;
    next_lt_u64(x, y) = x.wrapping_add(y), x < y;
    next_lt_s64(x, y) = x.wrapping_add(y), (x as i64) < y as i64;
    next_le_s64(x, y) = x.wrapping_add(y), x as i64 <= y as i64;
}
