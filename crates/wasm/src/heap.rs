//! How values of the heap lie in the memory of an exported module.
//!
//! A value is the address of four words, and of what it holds behind them: how many hold it (negative: a constant, which
//! stays), how many references to other values come first, the power of two that its room is, and a word of its own: the
//! length of a text, of bytes or of an array, the position of a variant, the place of a closure's function in the table.

use lmlang_ir::ops::signature::payload_type;
use lmlang_ir::{Program, Scalar, Type, Variant};

/// Bytes before what a value holds.
pub(crate) const HEADER: u32 = 16;

/// Where in the header the value's own word stands.
pub(crate) const WORD: u32 = 12;

/// What a constant's first word says: nobody frees it.
pub(crate) const FOREVER: i32 = i32::MIN;

/// What a value counts for where somebody bounds a run: 48 bytes, and more by its kind, as the interpreter counts them. It
/// stands in the third word above the power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// A byte for each unit of its word: texts and bytes.
    Bytes,
    /// Eight for each: arrays.
    Elements,
    /// Sixteen for each of so many parts.
    Parts(u32),
}

impl Measure {
    /// As modules have it.
    pub fn bits(self) -> u32 {
        const COUNTED: u32 = 1 << 8;
        COUNTED
            | match self {
                Measure::Bytes => 1 << 9,
                Measure::Elements => 8 << 9,
                Measure::Parts(count) => count << 16,
            }
    }
}

/// A part of a value: another value, or a number of some width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    Ref,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl Part {
    /// How a value of a type is a part of another one; `None` for references that only an engine understands.
    pub(crate) fn of(ty: &Type) -> Option<Part> {
        Some(match ty {
            Type::Scalar(Scalar::Bool | Scalar::I8) => Part::I8,
            Type::Scalar(Scalar::I16) => Part::I16,
            Type::Scalar(Scalar::I32) | Type::Ptr(_) | Type::Unit | Type::Never => Part::I32,
            Type::Scalar(Scalar::I64) => Part::I64,
            Type::Scalar(Scalar::F32) => Part::F32,
            Type::Scalar(Scalar::F64) => Part::F64,
            Type::FuncRef | Type::ExternRef => return None,
            Type::String
            | Type::Bytes
            | Type::Named(_)
            | Type::Option(_)
            | Type::Result(_)
            | Type::Array(_)
            | Type::FixedArray(..)
            | Type::Box(_)
            | Type::Closure(_) => Part::Ref,
        })
    }

    /// The power of two of its bytes.
    pub(crate) fn shift(self) -> u32 {
        match self {
            Part::I8 => 0,
            Part::I16 => 1,
            Part::Ref | Part::I32 | Part::F32 => 2,
            Part::I64 | Part::F64 => 3,
        }
    }

    pub(crate) fn bytes(self) -> u32 {
        1 << self.shift()
    }
}

/// Where the parts of a value lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    /// From the address of the value on, in the order of the parts.
    pub(crate) offsets: Vec<u32>,
    /// Bytes behind the header.
    pub(crate) bytes: u32,
    /// How many parts are references.
    pub(crate) refs: u32,
}

/// Places parts: references first, then the others, wide ones before narrow ones.
pub(crate) fn places(parts: &[Part]) -> Places {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| (parts[*at] != Part::Ref, std::cmp::Reverse(parts[*at].bytes())));
    let (mut offsets, mut end) = (vec![0; parts.len()], HEADER);
    for at in order {
        end = end.next_multiple_of(parts[at].bytes());
        offsets[at] = end;
        end += parts[at].bytes();
    }
    let refs = parts.iter().filter(|part| **part == Part::Ref).count() as u32;
    Places { offsets, bytes: end - HEADER, refs }
}

/// The position of a variant in its enum.
pub(crate) fn position(program: &Program, variant: &Variant) -> Option<u32> {
    Some(match variant {
        Variant::None(_) | Variant::Ok(_) => 0,
        Variant::Some(_) | Variant::Err(_) => 1,
        Variant::Member(of, member) => program.type_def(*of)?.variant(*member)?.0 as u32,
    })
}

/// What a variant carries as a part: `Some(None)` for one that carries nothing.
pub(crate) fn payload(program: &Program, variant: &Variant) -> Option<Option<Part>> {
    match payload_type(program, variant)? {
        Some(ty) => Some(Some(Part::of(&ty)?)),
        None => Some(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_come_first_and_numbers_lie_at_multiples_of_their_width() {
        let placed = places(&[Part::I8, Part::F64, Part::Ref, Part::I16, Part::Ref, Part::Ref]);
        assert_eq!(placed, Places { offsets: vec![42, 32, 16, 40, 20, 24], bytes: 27, refs: 3 });
        assert_eq!(places(&[]), Places { offsets: vec![], bytes: 0, refs: 0 });
    }
}
