//! Moves, constants, globals, and the rare operators on scalars, which share an instruction.

use lmlang_ir::Trap;

use super::float::{canon32, canon64};
use super::{Cx, Exit, Regs, Window, next, trap};

pub(super) fn mov<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) -> Exit {
    let [_, a, b, _] = code[pc as u16 as usize];
    regs[a as usize].set(regs[b as usize].get());
    next::<M>(cx, code, pc + 1, regs, fuel)
}

/// Swaps two slots: what breaks a cycle of moves.
pub(super) fn mov2<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) -> Exit {
    let [_, a, b, _] = code[pc as u16 as usize];
    regs[a as usize].swap(&regs[b as usize]);
    next::<M>(cx, code, pc + 1, regs, fuel)
}

/// A constant that fits 16 bits and a sign.
pub(super) fn const16<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) -> Exit {
    let [_, a, b, _] = code[pc as u16 as usize];
    regs[a as usize].set(i64::from(b as i16) as u64);
    next::<M>(cx, code, pc + 1, regs, fuel)
}

pub(super) fn const64<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) -> Exit {
    let [_, a, _, _] = code[pc as u16 as usize];
    let [w, x, y, z] = code[(pc + 1) as u16 as usize];
    let value = u64::from(w) | u64::from(x) << 16 | u64::from(y) << 32 | u64::from(z) << 48;
    regs[a as usize].set(value);
    next::<M>(cx, code, pc + 2, regs, fuel)
}

pub(super) fn select<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) -> Exit {
    let [_, a, b, c] = code[pc as u16 as usize];
    let [condition, ..] = code[(pc + 1) as u16 as usize];
    let (x, y) = (regs[b as usize].get(), regs[c as usize].get());
    regs[a as usize].set(if regs[condition as usize].get() != 0 { x } else { y });
    next::<M>(cx, code, pc + 2, regs, fuel)
}

pub(super) fn global_get<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) -> Exit {
    let [_, a, b, _] = code[pc as u16 as usize];
    let value = cx.m.globals[b as usize];
    regs[a as usize].set(value);
    next::<M>(cx, code, pc + 1, regs, fuel)
}

pub(super) fn global_set<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) -> Exit {
    let [_, a, b, _] = code[pc as u16 as usize];
    cx.m.globals[b as usize] = regs[a as usize].get();
    next::<M>(cx, code, pc + 1, regs, fuel)
}

/// `a = UNARY[c](b)`
pub(super) fn unary<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) -> Exit {
    let [_, a, b, c] = code[pc as u16 as usize];
    match UNARY[usize::from(c)].1(regs[b as usize].get()) {
        Ok(value) => regs[a as usize].set(value),
        Err(why) => return trap(cx, pc, fuel, why),
    }
    next::<M>(cx, code, pc + 1, regs, fuel)
}

/// `a = BINARY[d](b, c)`
pub(super) fn binary<'s, const M: u8>(
    cx: &mut Cx<'s>,
    code: &'s Window,
    pc: usize,
    regs: &'s Regs,
    fuel: i64,
) -> Exit {
    let [_, a, b, c] = code[pc as u16 as usize];
    let [which, ..] = code[(pc + 1) as u16 as usize];
    regs[a as usize].set(BINARY[usize::from(which)].1(regs[b as usize].get(), regs[c as usize].get()));
    next::<M>(cx, code, pc + 2, regs, fuel)
}

type Unary = fn(u64) -> Result<u64, Trap>;
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
    ("not.bool", |x| Ok(x ^ 1)),
    ("not.i32", |x| Ok(x ^ 0xffff_ffff)),
    ("not.i64", |x| Ok(!x)),
    ("clz.i32", |x| Ok(u64::from((x as u32).leading_zeros()))),
    ("clz.i64", |x| Ok(u64::from(x.leading_zeros()))),
    ("ctz.i32", |x| Ok(u64::from((x as u32).trailing_zeros()))),
    ("ctz.i64", |x| Ok(u64::from(x.trailing_zeros()))),
    ("popcnt.i32", |x| Ok(u64::from(x.count_ones()))),
    ("popcnt.i64", |x| Ok(u64::from(x.count_ones()))),
    ("abs.f32", |x| Ok(x & 0x7fff_ffff)),
    ("abs.f64", |x| Ok(x & !(1 << 63))),
    ("neg.f32", |x| Ok(x ^ 0x8000_0000)),
    ("neg.f64", |x| Ok(x ^ (1 << 63))),
    ("sqrt.f32", |x| Ok(canon32(f32_of(x).sqrt()))),
    ("sqrt.f64", |x| Ok(canon64(f64_of(x).sqrt()))),
    ("ceil.f32", |x| Ok(canon32(f32_of(x).ceil()))),
    ("ceil.f64", |x| Ok(canon64(f64_of(x).ceil()))),
    ("floor.f32", |x| Ok(canon32(f32_of(x).floor()))),
    ("floor.f64", |x| Ok(canon64(f64_of(x).floor()))),
    ("trunc.f32", |x| Ok(canon32(f32_of(x).trunc()))),
    ("trunc.f64", |x| Ok(canon64(f64_of(x).trunc()))),
    ("nearest.f32", |x| Ok(canon32(f32_of(x).round_ties_even()))),
    ("nearest.f64", |x| Ok(canon64(f64_of(x).round_ties_even()))),
    ("wrap.i64.i32", |x| Ok(x & 0xffff_ffff)),
    ("wrap.i64.i16", |x| Ok(narrow(i32::from(x as i16)))),
    ("wrap.i64.i8", |x| Ok(narrow(i32::from(x as i8)))),
    ("wrap.i32.i16", |x| Ok(narrow(i32::from(x as i16)))),
    ("wrap.i32.i8", |x| Ok(narrow(i32::from(x as i8)))),
    ("wrap.i32.bool", |x| Ok(x & 1)),
    ("extend_s.i32.i64", |x| Ok(i64::from(x as i32) as u64)),
    ("extend_s.i16.i64", |x| Ok(i64::from(x as i16) as u64)),
    ("extend_s.i8.i64", |x| Ok(i64::from(x as i8) as u64)),
    ("extend_s.i16.i32", |x| Ok(narrow(i32::from(x as i16)))),
    ("extend_s.i8.i32", |x| Ok(narrow(i32::from(x as i8)))),
    ("extend_u.i32.i64", |x| Ok(x & 0xffff_ffff)),
    ("extend_u.i16.i64", |x| Ok(x & 0xffff)),
    ("extend_u.i8.i64", |x| Ok(x & 0xff)),
    ("extend_u.bool.i64", |x| Ok(x & 1)),
    ("extend_u.i16.i32", |x| Ok(x & 0xffff)),
    ("extend_u.i8.i32", |x| Ok(x & 0xff)),
    ("extend_u.bool.i32", |x| Ok(x & 1)),
    ("trunc_s.f32.i32", |x| trunc_s32(f64::from(f32_of(x)))),
    ("trunc_s.f64.i32", |x| trunc_s32(f64_of(x))),
    ("trunc_s.f32.i64", |x| trunc_s64(f64::from(f32_of(x)))),
    ("trunc_s.f64.i64", |x| trunc_s64(f64_of(x))),
    ("trunc_u.f32.i32", |x| trunc_u32(f64::from(f32_of(x)))),
    ("trunc_u.f64.i32", |x| trunc_u32(f64_of(x))),
    ("trunc_u.f32.i64", |x| trunc_u64(f64::from(f32_of(x)))),
    ("trunc_u.f64.i64", |x| trunc_u64(f64_of(x))),
    ("trunc_sat_s.f32.i32", |x| Ok(narrow(f32_of(x) as i32))),
    ("trunc_sat_s.f64.i32", |x| Ok(narrow(f64_of(x) as i32))),
    ("trunc_sat_s.f32.i64", |x| Ok(f32_of(x) as i64 as u64)),
    ("trunc_sat_s.f64.i64", |x| Ok(f64_of(x) as i64 as u64)),
    ("trunc_sat_u.f32.i32", |x| Ok(u64::from(f32_of(x) as u32))),
    ("trunc_sat_u.f64.i32", |x| Ok(u64::from(f64_of(x) as u32))),
    ("trunc_sat_u.f32.i64", |x| Ok(f32_of(x) as u64)),
    ("trunc_sat_u.f64.i64", |x| Ok(f64_of(x) as u64)),
    ("convert_s.i32.f32", |x| Ok(u64::from((x as i32 as f32).to_bits()))),
    ("convert_s.i32.f64", |x| Ok(f64::from(x as i32).to_bits())),
    ("convert_s.i64.f32", |x| Ok(u64::from((x as i64 as f32).to_bits()))),
    ("convert_s.i64.f64", |x| Ok((x as i64 as f64).to_bits())),
    ("convert_u.i32.f32", |x| Ok(u64::from((x as u32 as f32).to_bits()))),
    ("convert_u.i32.f64", |x| Ok(f64::from(x as u32).to_bits())),
    ("convert_u.i64.f32", |x| Ok(u64::from((x as f32).to_bits()))),
    ("convert_u.i64.f64", |x| Ok((x as f64).to_bits())),
    ("promote.f32.f64", |x| Ok(canon64(f64::from(f32_of(x))))),
    ("demote.f64.f32", |x| Ok(canon32(f64_of(x) as f32))),
];

/// Scalar operators with two operands that have no instruction of their own.
pub(crate) static BINARY: &[(&str, Binary)] = &[
    ("rotl.i32", |x, y| u64::from((x as u32).rotate_left(y as u32 & 31))),
    ("rotl.i64", |x, y| x.rotate_left(y as u32 & 63)),
    ("rotr.i32", |x, y| u64::from((x as u32).rotate_right(y as u32 & 31))),
    ("rotr.i64", |x, y| x.rotate_right(y as u32 & 63)),
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
