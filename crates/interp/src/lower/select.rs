//! Which instruction does a scalar operator.

use std::collections::HashMap;
use std::sync::LazyLock;

use lmlang_ir::Opcode as Op;
use lmlang_ir::Scalar::{self, Bool, F32, F64, I8, I16, I32, I64};

use crate::code::{Ins, Opcode};
use crate::exec::{BINARY, UNARY};

/// The instruction for two operands, and whether they are swapped.
pub(super) fn binary(op: Op, scalar: Scalar) -> Option<(Opcode, bool)> {
    let found = match (op, scalar) {
        (Op::Add, I32) => Opcode::AddI32,
        (Op::Add, I64) => Opcode::AddI64,
        (Op::Add, F32) => Opcode::AddF32,
        (Op::Add, F64) => Opcode::AddF64,
        (Op::Sub, I32) => Opcode::SubI32,
        (Op::Sub, I64) => Opcode::SubI64,
        (Op::Sub, F32) => Opcode::SubF32,
        (Op::Sub, F64) => Opcode::SubF64,
        (Op::Mul, I32) => Opcode::MulI32,
        (Op::Mul, I64) => Opcode::MulI64,
        (Op::Mul, F32) => Opcode::MulF32,
        (Op::Mul, F64) => Opcode::MulF64,
        (Op::Div, F32) => Opcode::DivF32,
        (Op::Div, F64) => Opcode::DivF64,
        (Op::DivS, I32) => Opcode::DivSI32,
        (Op::DivS, I64) => Opcode::DivSI64,
        (Op::DivU, I32) => Opcode::DivUI32,
        (Op::DivU, I64) => Opcode::DivUI64,
        (Op::RemS, I32) => Opcode::RemSI32,
        (Op::RemS, I64) => Opcode::RemSI64,
        (Op::RemU, I32) => Opcode::RemUI32,
        (Op::RemU, I64) => Opcode::RemUI64,
        (Op::And, _) => Opcode::And,
        (Op::Or, _) => Opcode::Or,
        (Op::Xor, _) => Opcode::Xor,
        (Op::Shl, I32) => Opcode::ShlI32,
        (Op::Shl, I64) => Opcode::ShlI64,
        (Op::ShrS, I32) => Opcode::ShrSI32,
        (Op::ShrS, I64) => Opcode::ShrSI64,
        (Op::ShrU, I32) => Opcode::ShrUI32,
        (Op::ShrU, I64) => Opcode::ShrUI64,
        (Op::Rotl, I32) => Opcode::RotlI32,
        (Op::Rotl, I64) => Opcode::RotlI64,
        (Op::Rotr, I32) => Opcode::RotrI32,
        (Op::Rotr, I64) => Opcode::RotrI64,
        (Op::Eq, F32) => Opcode::EqF32,
        (Op::Eq, F64) => Opcode::EqF64,
        (Op::Eq, Bool | I8 | I16 | I32 | I64) => Opcode::Eq,
        (Op::Ne, F32) => Opcode::NeF32,
        (Op::Ne, F64) => Opcode::NeF64,
        (Op::Ne, Bool | I8 | I16 | I32 | I64) => Opcode::Ne,
        (Op::LtU, _) => Opcode::LtU,
        (Op::LeU, _) => Opcode::LeU,
        (Op::LtS, I64) => Opcode::LtS64,
        (Op::LtS, _) => Opcode::LtS32,
        (Op::LeS, I64) => Opcode::LeS64,
        (Op::LeS, _) => Opcode::LeS32,
        (Op::Lt, F32) => Opcode::LtF32,
        (Op::Lt, _) => Opcode::LtF64,
        (Op::Le, F32) => Opcode::LeF32,
        (Op::Le, _) => Opcode::LeF64,
        (Op::GtU, _) => return Some((Opcode::LtU, true)),
        (Op::GeU, _) => return Some((Opcode::LeU, true)),
        (Op::GtS, I64) => return Some((Opcode::LtS64, true)),
        (Op::GtS, _) => return Some((Opcode::LtS32, true)),
        (Op::GeS, I64) => return Some((Opcode::LeS64, true)),
        (Op::GeS, _) => return Some((Opcode::LeS32, true)),
        (Op::Gt, F32) => return Some((Opcode::LtF32, true)),
        (Op::Gt, _) => return Some((Opcode::LtF64, true)),
        (Op::Ge, F32) => return Some((Opcode::LeF32, true)),
        (Op::Ge, _) => return Some((Opcode::LeF64, true)),
        _ => return None,
    };
    Some((found, false))
}

/// Tells whether an operator compares two scalars.
pub(super) fn compares(op: Op) -> bool {
    matches!(
        op,
        Op::Eq
            | Op::Ne
            | Op::LtS
            | Op::LtU
            | Op::Lt
            | Op::LeS
            | Op::LeU
            | Op::Le
            | Op::GtS
            | Op::GtU
            | Op::Gt
            | Op::GeS
            | Op::GeU
            | Op::Ge
    )
}

/// The instruction with a constant as second operand, and how the constant is written.
pub(super) fn with_constant(op: Op, scalar: Scalar, bits: u64) -> Option<(Opcode, u16)> {
    let value = if scalar == I32 { i64::from(bits as i32) } else { bits as i64 };
    let small = |value: i64| i16::try_from(value).ok().map(|value| value as u16);
    let natural = || (bits < 1 << 15).then_some(bits as u16);
    let amount = || Some(bits as u16 & if scalar == I32 { 31 } else { 63 });
    Some(match (op, scalar) {
        (Op::Add, I32) => (Opcode::AddI32K, small(value)?),
        (Op::Add, I64) => (Opcode::AddI64K, small(value)?),
        (Op::Sub, I32) => (Opcode::AddI32K, small(value.checked_neg()?)?),
        (Op::Sub, I64) => (Opcode::AddI64K, small(value.checked_neg()?)?),
        (Op::Mul, I32) => (Opcode::MulI32K, small(value)?),
        (Op::Mul, I64) => (Opcode::MulI64K, small(value)?),
        (Op::And, I32 | I64) => (Opcode::AndK, natural()?),
        (Op::Shl, I32) => (Opcode::ShlI32K, amount()?),
        (Op::Shl, I64) => (Opcode::ShlI64K, amount()?),
        (Op::ShrS, I32) => (Opcode::ShrSI32K, amount()?),
        (Op::ShrS, I64) => (Opcode::ShrSI64K, amount()?),
        (Op::ShrU, I32 | I64) => (Opcode::ShrUK, amount()?),
        (Op::Eq, Bool | I8 | I16 | I32 | I64) => (Opcode::EqK, natural()?),
        (Op::Ne, Bool | I8 | I16 | I32 | I64) => (Opcode::NeK, natural()?),
        _ => return None,
    })
}

/// The instruction for two operators, of which the result of the first is an operand of the second: `(x first y) second z`
/// with `x`, `y`, `z` as its operands, or `z second (x first y)` where that is another value.
pub(super) fn pair(first: Op, second: Op, scalar: Scalar, operand: usize) -> Option<Opcode> {
    Some(match (first, second, scalar, operand) {
        (Op::Mul, Op::Add, F64, _) => Opcode::MulAddF64,
        (Op::Mul, Op::Sub, F64, 0) => Opcode::MulSubF64,
        (Op::Mul, Op::Sub, F64, _) => Opcode::SubMulF64,
        (Op::Sub, Op::Add, F64, _) => Opcode::SubAddF64,
        (Op::Mul, Op::Add, I32, _) => Opcode::MulAddI32,
        (Op::Mul, Op::Add, I64, _) => Opcode::MulAddI64,
        _ => return None,
    })
}

/// The instruction that adds to what another one scaled by a constant, and that constant.
pub(super) fn scaled([word, a, b, k]: Ins) -> Option<(Opcode, u16)> {
    match Opcode::of([word, a, b, k]) {
        Opcode::MulI32K => Some((Opcode::MulKAddI32, k)),
        Opcode::MulI64K => Some((Opcode::MulKAddI64, k)),
        Opcode::ShlI32K if k < 15 => Some((Opcode::MulKAddI32, 1 << k)),
        Opcode::ShlI64K if k < 15 => Some((Opcode::MulKAddI64, 1 << k)),
        _ => None,
    }
}

/// The instruction that adds the address up for a load.
pub(super) fn load_at(load: Opcode) -> Option<Opcode> {
    Some(match load {
        Opcode::Load8U => Opcode::LoadAt8U,
        Opcode::Load32U => Opcode::LoadAt32U,
        Opcode::Load64 => Opcode::LoadAt64,
        _ => return None,
    })
}

/// The instruction for a step of a counter and the test of the next round, and the constant that the test compares to
/// if it is no slot.
pub(super) fn step(add: Opcode, test: Opcode, limit: u16) -> Option<(Opcode, Option<u64>)> {
    let wide = match add {
        Opcode::AddI64 | Opcode::AddI64K => true,
        Opcode::AddI32 | Opcode::AddI32K => false,
        _ => return None,
    };
    let signed = i64::from(limit as i16) as u64;
    let found = match (test, wide) {
        (Opcode::BrNe, false) => (Opcode::NextNe32, None),
        (Opcode::BrNe, true) => (Opcode::NextNe64, None),
        (Opcode::BrLtU, false) => (Opcode::NextLtU32, None),
        (Opcode::BrLtU, true) => (Opcode::NextLtU64, None),
        (Opcode::BrLtS32, false) => (Opcode::NextLtS32, None),
        (Opcode::BrLtS64, true) => (Opcode::NextLtS64, None),
        (Opcode::BrLeS32, false) => (Opcode::NextLeS32, None),
        (Opcode::BrLeS64, true) => (Opcode::NextLeS64, None),
        (Opcode::BrNeK, false) => (Opcode::NextNe32, Some(u64::from(limit))),
        (Opcode::BrNeK, true) => (Opcode::NextNe64, Some(u64::from(limit))),
        (Opcode::BrLtUK, false) => (Opcode::NextLtU32, Some(u64::from(limit))),
        (Opcode::BrLtUK, true) => (Opcode::NextLtU64, Some(u64::from(limit))),
        (Opcode::BrLtSK32, false) => (Opcode::NextLtS32, Some(signed & 0xffff_ffff)),
        (Opcode::BrLtSK64, true) => (Opcode::NextLtS64, Some(signed)),
        _ => return None,
    };
    Some(found)
}

/// Tells whether operands may change places.
pub(super) fn commutes(op: Op) -> bool {
    matches!(op, Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Eq | Op::Ne)
}

/// The instruction for one operand, by name with attributes.
pub(super) fn unary(key: &str) -> Option<Opcode> {
    Some(match key {
        "sqrt.f64" => Opcode::SqrtF64,
        "neg.f64" => Opcode::NegF64,
        "abs.f64" => Opcode::AbsF64,
        "convert_s.i32.f64" => Opcode::ConvertSI32,
        "convert_s.i64.f64" => Opcode::ConvertSI64,
        "wrap.i64.i32" | "extend_u.i32.i64" => Opcode::Low32,
        "extend_s.i32.i64" => Opcode::ExtendS32,
        _ => return None,
    })
}

fn index<T>(of: &'static [(&'static str, T)]) -> HashMap<&'static str, u16> {
    of.iter().enumerate().map(|(index, row)| (row.0, index as u16)).collect()
}

/// The position of a rare operator with one operand.
pub(super) fn rare_unary(key: &str) -> Option<u16> {
    static INDEX: LazyLock<HashMap<&str, u16>> = LazyLock::new(|| index(UNARY));
    INDEX.get(key).copied()
}

/// The position of a rare operator with two operands.
pub(super) fn rare_binary(key: &str) -> Option<u16> {
    static INDEX: LazyLock<HashMap<&str, u16>> = LazyLock::new(|| index(BINARY));
    INDEX.get(key).copied()
}

/// The instruction that loads a value.
pub(super) fn load(op: Op, ty: Scalar) -> Option<Opcode> {
    Some(match (op, ty) {
        (Op::Load, Bool) => Opcode::LoadBool,
        (Op::Load, I8) | (Op::Load8S, I32) => Opcode::Load8S32,
        (Op::Load, I16) | (Op::Load16S, I32) => Opcode::Load16S32,
        (Op::Load, I32 | F32) | (Op::Load32U, _) => Opcode::Load32U,
        (Op::Load, I64 | F64) => Opcode::Load64,
        (Op::Load8S, _) => Opcode::Load8S64,
        (Op::Load8U, _) => Opcode::Load8U,
        (Op::Load16S, _) => Opcode::Load16S64,
        (Op::Load16U, _) => Opcode::Load16U,
        (Op::Load32S, _) => Opcode::Load32S64,
        _ => return None,
    })
}

/// The instruction that stores a value.
pub(super) fn store(op: Op, ty: Scalar) -> Option<Opcode> {
    Some(match (op, ty) {
        (Op::Store, Bool | I8) | (Op::Store8, _) => Opcode::Store8,
        (Op::Store, I16) | (Op::Store16, _) => Opcode::Store16,
        (Op::Store, I32 | F32) | (Op::Store32, _) => Opcode::Store32,
        (Op::Store, I64 | F64) => Opcode::Store64,
        _ => return None,
    })
}
