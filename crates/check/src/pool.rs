//! The constants that stand in a function, in its contracts, and in what it calls: an input that matters often has them.
//!
//! The dictionary of fuzzers, read from the program (Zalewski, *afl-fuzz*, `dictionaries/README`).

use std::collections::BTreeSet;
use std::sync::Arc;

use lmlang_ir::{Attr, Case, Const, FuncRef, Program};

/// The most constants of a kind.
const MOST: usize = 512;

/// Constants and their neighbours, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    pub(crate) ints: Vec<i64>,
    pub(crate) floats: Vec<f64>,
    pub(crate) texts: Vec<Arc<str>>,
    pub(crate) bytes: Vec<Arc<[u8]>>,
    /// Characters of the texts, and those whose numbers stand there.
    pub(crate) chars: Vec<char>,
}

impl Pool {
    /// Collects from functions, those first that matter most: where there are very many constants, the rest is left out.
    pub(crate) fn of(program: &Program, functions: &[FuncRef]) -> Pool {
        let (mut ints, mut floats) = (BTreeSet::new(), BTreeSet::new());
        let (mut texts, mut bytes) = (BTreeSet::new(), BTreeSet::new());
        for function in functions.iter().filter_map(|of| program.function(*of)) {
            for (_, node) in function.body().nodes() {
                match node.op().attr() {
                    Attr::Const(value) => match value {
                        Const::I8(value) => note(&mut ints, i64::from(*value)),
                        Const::I16(value) => note(&mut ints, i64::from(*value)),
                        Const::I32(value) => note(&mut ints, i64::from(*value)),
                        Const::I64(value) => note(&mut ints, *value),
                        Const::F32(bits) => note(&mut floats, f64::from(f32::from_bits(*bits)).to_bits()),
                        Const::F64(bits) => note(&mut floats, *bits),
                        Const::String(text) => note(&mut texts, Arc::clone(text)),
                        Const::Bytes(of) => note(&mut bytes, Arc::clone(of)),
                        Const::Bool(_) | Const::Unit => {}
                    },
                    Attr::Match(cases) => {
                        let cases = cases.cases.iter();
                        cases.for_each(|case| match case {
                            Case::Int(value) => note(&mut ints, *value),
                            Case::Variant(_) => {}
                        });
                    }
                    Attr::None
                    | Attr::Scalar(_)
                    | Attr::Convert(..)
                    | Attr::Type(_)
                    | Attr::Named(_)
                    | Attr::Field(..)
                    | Attr::Variant(_)
                    | Attr::Function(_)
                    | Attr::Variable(_)
                    | Attr::Index(_)
                    | Attr::Signature(_)
                    | Attr::Indirect(..)
                    | Attr::Entries(..)
                    | Attr::Memory(_)
                    | Attr::Control(_)
                    | Attr::Exit(_)
                    | Attr::Switch(_)
                    | Attr::Raw(_) => {}
                }
            }
        }
        let chars = texts.iter().flat_map(|text| text.chars().take(MOST));
        let numbers = ints.iter().filter_map(|value| char::from_u32(u32::try_from(*value).ok()?));
        let chars: BTreeSet<char> = chars.chain(numbers).take(MOST).collect();
        let whole: Vec<f64> = ints.iter().map(|value| *value as f64).collect();
        let near = |value: i64| [value, value.wrapping_add(1), value.wrapping_sub(1)];
        let ints: BTreeSet<i64> = ints.into_iter().flat_map(near).collect();
        let mut all: Vec<f64> = Vec::new();
        for value in floats.into_iter().map(f64::from_bits).chain(whole) {
            all.extend([value, value.next_up(), value.next_down(), value + 1.0, value - 1.0, -value]);
        }
        Pool {
            ints: ints.into_iter().collect(),
            floats: all,
            texts: texts.into_iter().collect(),
            bytes: bytes.into_iter().collect(),
            chars: chars.into_iter().collect(),
        }
    }

    /// Adds what another one has.
    pub(crate) fn join(&mut self, other: Pool) {
        let Pool { ints, floats, texts, bytes, chars } = other;
        join(&mut self.ints, ints);
        join(&mut self.texts, texts);
        join(&mut self.bytes, bytes);
        join(&mut self.chars, chars);
        let mut bits: Vec<u64> = self.floats.iter().map(|value| value.to_bits()).collect();
        join(&mut bits, floats.into_iter().map(f64::to_bits).collect());
        self.floats = bits.into_iter().map(f64::from_bits).collect();
    }
}

fn join<T: PartialEq>(into: &mut Vec<T>, from: Vec<T>) {
    for value in from {
        if !into.contains(&value) {
            into.push(value);
        }
    }
}

fn note<T: Ord>(into: &mut BTreeSet<T>, value: T) {
    if into.len() < MOST {
        into.insert(value);
    }
}
