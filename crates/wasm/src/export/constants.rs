//! Constants of the heap: what lies in its memory at the start, and is never freed.

use std::collections::HashMap;
use std::sync::Arc;

use lmlang_ir::{Attr, Const, Program, Shape, Type};

use super::Writing;
use super::scope::Scope;
use crate::heap::{FOREVER, HEADER, Measure, Part, places};

/// Where they begin: before are the lists of free room.
const START: u32 = 192;

/// How much a first value may hold that a variable begins with.
const MOST_ZEROS: usize = 1 << 16;

/// How deep first values go.
const ZERO_DEPTH: usize = 64;

/// Bytes of the texts and bytes that nodes give, each with the header that a run here counts.
pub(super) fn counted_bytes(program: &Program, scope: &Scope) -> u64 {
    const COUNTED: u64 = 48;
    let nodes = scope.functions(program).flat_map(|(_, function)| function.body().nodes());
    let bytes = nodes.map(|(_, node)| match node.op().attr() {
        Attr::Const(Const::String(text)) => COUNTED + text.len() as u64,
        Attr::Const(Const::Bytes(bytes)) => COUNTED + bytes.len() as u64,
        _ => 0,
    });
    bytes.sum()
}

/// Constants, each once.
#[derive(Debug, Default)]
pub(super) struct Constants {
    bytes: Vec<u8>,
    known: HashMap<Vec<u8>, u32>,
    /// First values that were made, as parts of a value: a type may contain another one in many places.
    zeros: HashMap<Type, Vec<u8>>,
    /// Whether it is counted what they take.
    pub(super) counted: bool,
}

impl Constants {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Where they begin, and what lies there.
    pub(super) fn laid_out(&self) -> (u32, &[u8]) {
        (START, &self.bytes)
    }

    /// Where they end.
    pub(super) fn end(&self) -> u32 {
        (START + self.bytes.len() as u32).next_multiple_of(HEADER)
    }

    /// The address of a constant: its word, and what it holds, references first.
    pub(super) fn add(&mut self, word: u32, refs: u32, measure: Measure, held: &[u8]) -> u32 {
        let mut bytes = Vec::with_capacity(HEADER as usize + held.len());
        let kind = if self.counted { measure.bits() } else { 0 };
        for part in [FOREVER.cast_unsigned(), refs, kind, word] {
            bytes.extend_from_slice(&part.to_le_bytes());
        }
        bytes.extend_from_slice(held);
        let constants = &mut self.bytes;
        *self.known.entry(bytes).or_insert_with_key(|bytes| {
            let at = START + constants.len() as u32;
            constants.extend_from_slice(bytes);
            constants.resize(constants.len().next_multiple_of(8), 0);
            at
        })
    }

    /// The address of a text or bytes.
    pub(super) fn text(&mut self, held: &[u8]) -> u32 {
        self.add(held.len() as u32, 0, Measure::Bytes, held)
    }

    /// The address of an array.
    pub(super) fn array(&mut self, part: Part, elements: &[Vec<u8>]) -> u32 {
        let refs = if part == Part::Ref { elements.len() as u32 } else { 0 };
        self.add(elements.len() as u32, refs, Measure::Elements, &elements.concat())
    }
}

/// The bytes of a constant that is no text and no bytes, as a part of a value.
fn number(value: &Const) -> Option<Vec<u8>> {
    Some(match value {
        Const::Bool(value) => vec![(*value).into()],
        Const::I8(value) => value.to_le_bytes().to_vec(),
        Const::I16(value) => value.to_le_bytes().to_vec(),
        Const::I32(value) => value.to_le_bytes().to_vec(),
        Const::I64(value) => value.to_le_bytes().to_vec(),
        Const::F32(bits) => bits.to_le_bytes().to_vec(),
        Const::F64(bits) => bits.to_le_bytes().to_vec(),
        Const::Unit => vec![0; 4],
        Const::String(_) | Const::Bytes(_) => return None,
    })
}

impl Writing<'_> {
    /// The address of a constant that is a text or bytes.
    pub(super) fn text(&mut self, value: &Const) -> Option<u32> {
        match value {
            Const::String(text) => Some(self.bringing.constants.text(text.as_bytes())),
            Const::Bytes(bytes) => Some(self.bringing.constants.text(bytes)),
            _ => None,
        }
    }

    /// A constant as a part of a value.
    pub(super) fn constant_part(&mut self, value: &Const) -> Vec<u8> {
        match self.text(value) {
            Some(address) => address.to_le_bytes().to_vec(),
            None => number(value).unwrap_or_default(),
        }
    }

    /// The address of what a variable or global of a type of the heap begins with, which says more only of texts and bytes.
    /// `None` for a type that has no first value, or one that is too long.
    pub(super) fn first_value(&mut self, ty: &Type, initial: &Const) -> Option<i32> {
        if let Some(address) = self.text(initial) {
            return Some(address.cast_signed());
        }
        self.zero_at(ty, 0).and_then(|zero| zero.try_into().ok()).map(i32::from_le_bytes)
    }

    fn zero_at(&mut self, ty: &Type, depth: usize) -> Option<Vec<u8>> {
        if depth > ZERO_DEPTH {
            return None;
        }
        if let Some(made) = self.bringing.constants.zeros.get(ty) {
            return Some(made.clone());
        }
        let part = Part::of(ty)?;
        let address = match ty {
            Type::String | Type::Bytes => self.bringing.constants.text(&[]),
            Type::Array(of) => self.bringing.constants.array(Part::of(of)?, &[]),
            Type::Option(_) => self.bringing.constants.add(0, 0, Measure::Parts(1), &[]),
            Type::Closure(_) => self.bringing.constants.add(0, 0, Measure::Parts(0), &[]),
            Type::FixedArray(of, length) => {
                let element = self.zero_at(of, depth + 1)?;
                if element.len().saturating_mul(*length as usize) > MOST_ZEROS {
                    return None;
                }
                self.bringing.constants.array(Part::of(of)?, &vec![element; *length as usize])
            }
            Type::Result(of) => self.zero_of(&[Type::clone(&of.0)], Measure::Parts(1), depth)?,
            Type::Box(of) => self.zero_of(&[Type::clone(of)], Measure::Parts(1), depth)?,
            Type::Named(of) => match &Arc::clone(self.program.type_def(*of)?).shape {
                Shape::Struct(fields) => {
                    let types: Vec<Type> = fields.iter().map(|field| field.ty.clone()).collect();
                    self.zero_of(&types, Measure::Parts(types.len() as u32), depth)?
                }
                Shape::Enum(variants) => {
                    let payload = variants.first()?.payload.clone();
                    self.zero_of(payload.as_slice(), Measure::Parts(1), depth)?
                }
            },
            _ => return Some(vec![0; part.bytes() as usize]),
        };
        let made = address.to_le_bytes().to_vec();
        self.bringing.constants.zeros.insert(ty.clone(), made.clone());
        Some(made)
    }

    fn zero_of(&mut self, types: &[Type], measure: Measure, depth: usize) -> Option<u32> {
        let parts: Vec<Part> = types.iter().map(Part::of).collect::<Option<_>>()?;
        let placed = places(&parts);
        let mut held = vec![0; placed.bytes as usize];
        for (ty, offset) in types.iter().zip(&placed.offsets) {
            let zero = self.zero_at(ty, depth + 1)?;
            let at = (offset - HEADER) as usize;
            held[at..at + zero.len()].copy_from_slice(&zero);
        }
        Some(self.bringing.constants.add(0, placed.refs, measure, &held))
    }
}
