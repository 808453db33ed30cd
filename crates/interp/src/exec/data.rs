//! Moves, constants, globals, and the rare operators on scalars, which share an instruction.

use lmlang_ir::Trap;

use super::float::{canon32, canon64};
use super::{Cx, Regs, Window, next, note, trap};

pub(super) fn mov<'s, const M: u8>(cx: &mut Cx<'s>, code: &'s Window, pc: usize, regs: &'s Regs, fuel: i64) {
    let [_, a, b, _] = code[pc as u16 as usize];
    regs[a as usize].set(regs[b as usize].get());
    next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
}

/// Swaps two slots: what breaks a cycle of moves.
pub(super) fn mov2<'s, const M: u8>(cx: &mut Cx<'s>, code: &'s Window, pc: usize, regs: &'s Regs, fuel: i64) {
    let [_, a, b, _] = code[pc as u16 as usize];
    regs[a as usize].swap(&regs[b as usize]);
    next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
}

/// A constant that fits 16 bits and a sign.
pub(super) fn const16<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    let [_, a, b, _] = code[pc as u16 as usize];
    regs[a as usize].set(i64::from(b as i16) as u64);
    next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
}

pub(super) fn const64<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    let [_, a, _, _] = code[pc as u16 as usize];
    let [w, x, y, z] = code[pc.wrapping_add(1) as u16 as usize];
    let value = u64::from(w) | u64::from(x) << 16 | u64::from(y) << 32 | u64::from(z) << 48;
    regs[a as usize].set(value);
    next::<M>(cx, code, pc.wrapping_add(2), regs, fuel)
}

pub(super) fn select<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    let [_, a, b, c] = code[pc as u16 as usize];
    let [condition, ..] = code[pc.wrapping_add(1) as u16 as usize];
    let (x, y) = (regs[b as usize].get(), regs[c as usize].get());
    let value = if regs[condition as usize].get() != 0 { x } else { y };
    regs[a as usize].set(value);
    note::<M>(cx, code, pc, fuel, value);
    next::<M>(cx, code, pc.wrapping_add(2), regs, fuel)
}

pub(super) fn global_get<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    let [_, a, b, _] = code[pc as u16 as usize];
    let value = cx.m.globals[b as usize];
    regs[a as usize].set(value);
    note::<M>(cx, code, pc, fuel, value);
    next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
}

pub(super) fn global_set<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    let [_, a, b, _] = code[pc as u16 as usize];
    cx.m.globals[b as usize] = regs[a as usize].get();
    next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
}

/// `a = UNARY[c](b)`
pub(super) fn unary<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    let [_, a, b, c] = code[pc as u16 as usize];
    let (value, failed) = UNARY[usize::from(c)].1(regs[b as usize].get());
    if let Some(why) = failed {
        return trap(cx, pc, fuel, why);
    }
    regs[a as usize].set(value);
    note::<M>(cx, code, pc, fuel, value);
    next::<M>(cx, code, pc.wrapping_add(1), regs, fuel)
}

/// `a = BINARY[d](b, c)`
pub(super) fn binary<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) {
    let [_, a, b, c] = code[pc as u16 as usize];
    let [which, ..] = code[pc.wrapping_add(1) as u16 as usize];
    let value = BINARY[usize::from(which)].1(regs[b as usize].get(), regs[c as usize].get());
    regs[a as usize].set(value);
    note::<M>(cx, code, pc, fuel, value);
    next::<M>(cx, code, pc.wrapping_add(2), regs, fuel)
}

/// A pair and no `Result`, which would be returned through memory: that keeps the next handler from being a jump.
type Unary = fn(u64) -> (u64, Option<Trap>);
type Binary = fn(u64, u64) -> u64;

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn f64_of(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn narrow(value: i32) -> u64 {
    u64::from(value as u32)
}

/// Truncates to an integer that lies strictly between two floats, which are exact.
fn trunc(value: f64, above: f64, below: f64) -> Result<f64, Trap> {
    if value.is_nan() {
        return Err(Trap::InvalidConversion);
    }
    let whole = value.trunc();
    if whole > above && whole < below { Ok(whole) } else { Err(Trap::IntegerOverflow) }
}

fn pair(result: Result<u64, Trap>) -> (u64, Option<Trap>) {
    match result {
        Ok(value) => (value, None),
        Err(why) => (0, Some(why)),
    }
}

const TWO31: f64 = 2147483648.0;
const TWO32: f64 = 4294967296.0;
const TWO63: f64 = 9223372036854775808.0;
const TWO64: f64 = 18446744073709551616.0;

fn trunc_s32(value: f64) -> Result<u64, Trap> {
    trunc(value, -TWO31 - 1.0, TWO31).map(|whole| narrow(whole as i32))
}

fn trunc_u32(value: f64) -> Result<u64, Trap> {
    trunc(value, -1.0, TWO32).map(|whole| u64::from(whole as u32))
}

fn trunc_s64(value: f64) -> Result<u64, Trap> {
    // -2^63 itself is in range, and no float lies between it and the bound given here.
    trunc(value, -9223372036854777856.0, TWO63).map(|whole| whole as i64 as u64)
}

fn trunc_u64(value: f64) -> Result<u64, Trap> {
    trunc(value, -1.0, TWO64).map(|whole| whole as u64)
}

/// Scalar operators with one operand that have no instruction of their own: name with attributes, meaning.
pub(crate) static UNARY: &[(&str, Unary)] = &[
    ("not.bool", |x| (x ^ 1, None)),
    ("not.i32", |x| (x ^ 0xffff_ffff, None)),
    ("not.i64", |x| (!x, None)),
    ("clz.i32", |x| (u64::from((x as u32).leading_zeros()), None)),
    ("clz.i64", |x| (u64::from(x.leading_zeros()), None)),
    ("ctz.i32", |x| (u64::from((x as u32).trailing_zeros()), None)),
    ("ctz.i64", |x| (u64::from(x.trailing_zeros()), None)),
    ("popcnt.i32", |x| (u64::from(x.count_ones()), None)),
    ("popcnt.i64", |x| (u64::from(x.count_ones()), None)),
    ("abs.f32", |x| (x & 0x7fff_ffff, None)),
    ("abs.f64", |x| (x & !(1 << 63), None)),
    ("neg.f32", |x| (x ^ 0x8000_0000, None)),
    ("neg.f64", |x| (x ^ (1 << 63), None)),
    ("sqrt.f32", |x| (canon32(f32_of(x).sqrt()), None)),
    ("sqrt.f64", |x| (canon64(f64_of(x).sqrt()), None)),
    ("ceil.f32", |x| (canon32(f32_of(x).ceil()), None)),
    ("ceil.f64", |x| (canon64(f64_of(x).ceil()), None)),
    ("floor.f32", |x| (canon32(f32_of(x).floor()), None)),
    ("floor.f64", |x| (canon64(f64_of(x).floor()), None)),
    ("trunc.f32", |x| (canon32(f32_of(x).trunc()), None)),
    ("trunc.f64", |x| (canon64(f64_of(x).trunc()), None)),
    ("nearest.f32", |x| (canon32(f32_of(x).round_ties_even()), None)),
    ("nearest.f64", |x| (canon64(f64_of(x).round_ties_even()), None)),
    ("wrap.i64.i32", |x| (x & 0xffff_ffff, None)),
    ("wrap.i64.i16", |x| (narrow(i32::from(x as i16)), None)),
    ("wrap.i64.i8", |x| (narrow(i32::from(x as i8)), None)),
    ("wrap.i32.i16", |x| (narrow(i32::from(x as i16)), None)),
    ("wrap.i32.i8", |x| (narrow(i32::from(x as i8)), None)),
    ("wrap.i32.bool", |x| (x & 1, None)),
    ("extend_s.i32.i64", |x| (i64::from(x as i32) as u64, None)),
    ("extend_s.i16.i64", |x| (i64::from(x as i16) as u64, None)),
    ("extend_s.i8.i64", |x| (i64::from(x as i8) as u64, None)),
    ("extend_s.i16.i32", |x| (narrow(i32::from(x as i16)), None)),
    ("extend_s.i8.i32", |x| (narrow(i32::from(x as i8)), None)),
    ("extend_u.i32.i64", |x| (x & 0xffff_ffff, None)),
    ("extend_u.i16.i64", |x| (x & 0xffff, None)),
    ("extend_u.i8.i64", |x| (x & 0xff, None)),
    ("extend_u.bool.i64", |x| (x & 1, None)),
    ("extend_u.i16.i32", |x| (x & 0xffff, None)),
    ("extend_u.i8.i32", |x| (x & 0xff, None)),
    ("extend_u.bool.i32", |x| (x & 1, None)),
    ("trunc_s.f32.i32", |x| pair(trunc_s32(f64::from(f32_of(x))))),
    ("trunc_s.f64.i32", |x| pair(trunc_s32(f64_of(x)))),
    ("trunc_s.f32.i64", |x| pair(trunc_s64(f64::from(f32_of(x))))),
    ("trunc_s.f64.i64", |x| pair(trunc_s64(f64_of(x)))),
    ("trunc_u.f32.i32", |x| pair(trunc_u32(f64::from(f32_of(x))))),
    ("trunc_u.f64.i32", |x| pair(trunc_u32(f64_of(x)))),
    ("trunc_u.f32.i64", |x| pair(trunc_u64(f64::from(f32_of(x))))),
    ("trunc_u.f64.i64", |x| pair(trunc_u64(f64_of(x)))),
    ("trunc_sat_s.f32.i32", |x| (narrow(f32_of(x) as i32), None)),
    ("trunc_sat_s.f64.i32", |x| (narrow(f64_of(x) as i32), None)),
    ("trunc_sat_s.f32.i64", |x| (f32_of(x) as i64 as u64, None)),
    ("trunc_sat_s.f64.i64", |x| (f64_of(x) as i64 as u64, None)),
    ("trunc_sat_u.f32.i32", |x| (u64::from(f32_of(x) as u32), None)),
    ("trunc_sat_u.f64.i32", |x| (u64::from(f64_of(x) as u32), None)),
    ("trunc_sat_u.f32.i64", |x| (f32_of(x) as u64, None)),
    ("trunc_sat_u.f64.i64", |x| (f64_of(x) as u64, None)),
    ("convert_s.i32.f32", |x| (u64::from((x as i32 as f32).to_bits()), None)),
    ("convert_s.i32.f64", |x| (f64::from(x as i32).to_bits(), None)),
    ("convert_s.i64.f32", |x| (u64::from((x as i64 as f32).to_bits()), None)),
    ("convert_s.i64.f64", |x| ((x as i64 as f64).to_bits(), None)),
    ("convert_u.i32.f32", |x| (u64::from((x as u32 as f32).to_bits()), None)),
    ("convert_u.i32.f64", |x| (f64::from(x as u32).to_bits(), None)),
    ("convert_u.i64.f32", |x| (u64::from((x as f32).to_bits()), None)),
    ("convert_u.i64.f64", |x| ((x as f64).to_bits(), None)),
    ("promote.f32.f64", |x| (canon64(f64::from(f32_of(x))), None)),
    ("demote.f64.f32", |x| (canon32(f64_of(x) as f32), None)),
];

/// Scalar operators with two operands that have no instruction of their own.
pub(crate) static BINARY: &[(&str, Binary)] = &[
    ("min.f32", |x, y| canon32(min32(f32_of(x), f32_of(y)))),
    ("min.f64", |x, y| canon64(min64(f64_of(x), f64_of(y)))),
    ("max.f32", |x, y| canon32(-min32(-f32_of(x), -f32_of(y)))),
    ("max.f64", |x, y| canon64(-min64(-f64_of(x), -f64_of(y)))),
    ("copysign.f32", |x, y| x & 0x7fff_ffff | y & 0x8000_0000),
    ("copysign.f64", |x, y| x & !(1 << 63) | y & (1 << 63)),
];

fn min32(x: f32, y: f32) -> f32 {
    if x.is_nan() || y.is_nan() {
        return f32::NAN;
    }
    // Of two zeros the negative one.
    if x == y {
        f32::from_bits(x.to_bits() | y.to_bits())
    } else if x < y {
        x
    } else {
        y
    }
}

fn min64(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x == y {
        f64::from_bits(x.to_bits() | y.to_bits())
    } else if x < y {
        x
    } else {
        y
    }
}
