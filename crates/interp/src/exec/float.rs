//! Float arithmetic and comparisons. What can make a NaN makes the canonical one.

use super::int::three;
use super::{Cx, Regs, Window, next, note, note_two};

const NAN64: u64 = 0x7ff8_0000_0000_0000;
const NAN32: u64 = 0x7fc0_0000;

/// Keeps the optimiser from turning the test into a conditional move, which doubles the time of a loop that carries a
/// float.
#[cold]
#[inline(never)]
fn quiet(bits: u64) -> u64 {
    bits
}

/// The bits of a result, any NaN as the canonical one.
#[inline(always)]
pub(super) fn canon64(value: f64) -> u64 {
    if value.is_nan() { quiet(NAN64) } else { value.to_bits() }
}

/// The bits of a result, any NaN as the canonical one.
#[inline(always)]
pub(super) fn canon32(value: f32) -> u64 {
    if value.is_nan() { quiet(NAN32) } else { u64::from(value.to_bits()) }
}

macro_rules! floats {
    ($($name:ident($x:ident, $y:ident: $read:ident) = $value:expr;)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, c] = code[pc as u16 as usize];
            let ($x, $y) = ($read(regs[b as usize].get()), $read(regs[c as usize].get()));
            let value: u64 = $value;
            regs[a as usize].set(value);
            note::<M>(cx, code, pc, fuel, value);
            next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
        }
    )*};
}

#[inline(always)]
fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

#[inline(always)]
fn s(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

floats! {
    add_f64(x, y: d) = canon64(x + y);
    sub_f64(x, y: d) = canon64(x - y);
    mul_f64(x, y: d) = canon64(x * y);
    div_f64(x, y: d) = canon64(x / y);
    add_f32(x, y: s) = canon32(x + y);
    sub_f32(x, y: s) = canon32(x - y);
    mul_f32(x, y: s) = canon32(x * y);
    div_f32(x, y: s) = canon32(x / y);
    eq_f64(x, y: d) = u64::from(x == y);
    ne_f64(x, y: d) = u64::from(x != y);
    lt_f64(x, y: d) = u64::from(x < y);
    le_f64(x, y: d) = u64::from(x <= y);
    eq_f32(x, y: s) = u64::from(x == y);
    ne_f32(x, y: s) = u64::from(x != y);
    lt_f32(x, y: s) = u64::from(x < y);
    le_f32(x, y: s) = u64::from(x <= y);
}

// A NaN in between makes one at the end.
three! {
    mul_add_f64(x, y, z) = canon64(d(x) * d(y)), canon64(d(x) * d(y) + d(z));
    mul_sub_f64(x, y, z) = canon64(d(x) * d(y)), canon64(d(x) * d(y) - d(z));
    sub_mul_f64(x, y, z) = canon64(d(x) * d(y)), canon64(d(z) - d(x) * d(y));
    sub_add_f64(x, y, z) = canon64(d(x) - d(y)), canon64(d(x) - d(y) + d(z));
}

/// `a = f(b)`
macro_rules! single {
    ($($name:ident($x:ident) = $value:expr;)*) => {$(
        pub(super) fn $name<'s, const M: u8>(
            cx: &mut Cx<'s>,
            code: &'s Window,
            pc: usize,
            regs: &'s Regs,
            fuel: i64,
        ) {
            let [_, a, b, _] = code[pc as u16 as usize];
            let $x = regs[b as usize].get();
            let value: u64 = $value;
            regs[a as usize].set(value);
            note::<M>(cx, code, pc, fuel, value);
            next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
        }
    )*};
}

single! {
    sqrt_f64(x) = canon64(d(x).sqrt());
    neg_f64(x) = x ^ (1 << 63);
    abs_f64(x) = x & !(1 << 63);
    convert_s_i32(x) = f64::from(x as i32).to_bits();
    convert_s_i64(x) = (x as i64 as f64).to_bits();
}
