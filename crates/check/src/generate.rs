//! Values of types that are known at run time only.
//!
//! Sizes grow from input to input as in QuickCheck (Claessen, Hughes, ICFP 2000); what is made of several parts makes
//! them resemble each other on purpose, since equal and sorted elements are what programs trip over.

use std::cell::Cell;
use std::sync::Arc;

use lmlang_ir::{Const, Scalar, Shape, Type, Value};

use crate::parts;
use crate::pool::Pool;
use crate::random::Random;
use crate::scalars::{self, TEXTS, float_bounds, float_of, int_bounds, int_const};
use crate::shapes::{MOST_PARTS, Shapes, bits_of};

/// How deep a value that is made nests: less than what runs take and values in texts have.
pub(crate) const MOST_DEPTH: u32 = 80;

/// What values are made from.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) shapes: Shapes,
    pub(crate) pool: Pool,
}

/// Which variants of recursive types are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lean {
    /// Each as likely.
    Even,
    /// Those that contain another value of the type: long lists, deep trees.
    Deep,
}

/// What makes one input.
#[derive(Debug)]
pub(crate) struct Maker<'a> {
    source: &'a Source,
    random: &'a mut Random,
    /// How large numbers, texts and arrays become.
    size: usize,
    /// Parts that are left to be made beyond the smallest.
    budget: usize,
    /// Parts that there is room for, the smallest ones and copies included.
    room: u64,
    /// How deep it may become.
    deep: u32,
    lean: Lean,
    /// Scalars and texts that were made before, which may come again.
    made: Vec<Const>,
}

impl<'a> Maker<'a> {
    pub(crate) fn new(source: &'a Source, random: &'a mut Random, size: usize) -> Maker<'a> {
        let lean = if random.chance(35) { Lean::Deep } else { Lean::Even };
        let deep = (3 + size as u32 / 2).min(MOST_DEPTH);
        Maker { source, random, size, budget: 16 + 4 * size, room: MOST_PARTS, deep, lean, made: Vec::new() }
    }

    /// A value of a type that has some.
    pub(crate) fn value(&mut self, ty: &Type) -> Value {
        self.at(ty, 0)
    }

    fn at(&mut self, ty: &Type, depth: u32) -> Value {
        if self.budget == 0 || depth >= self.deep {
            return self.smallest(ty);
        }
        self.budget -= 1;
        self.room = self.room.saturating_sub(1);
        let Source { shapes, pool } = self.source;
        match ty {
            Type::Scalar(_) | Type::Unit | Type::String | Type::Bytes => Value::Const(self.constant(ty)),
            Type::Ptr(of) => {
                let address = scalars::int(self.random, pool, 32, 8 * self.size) as u32;
                Value::Ptr(Arc::clone(of), if self.random.chance(50) { address & !7 } else { address })
            }
            Type::Array(of) => {
                let fit = self.room / shapes.least_parts(of);
                let length = self.length().min(fit as usize);
                Value::Array(Arc::clone(of), self.elements(of, length, depth))
            }
            Type::FixedArray(of, length) => {
                let made = (*length as usize).min(self.budget.max(1));
                let mut parts = self.elements(of, made, depth);
                parts.truncate(*length as usize);
                // What there is no budget for is as small as it can be.
                let missing = u64::from(*length) - parts.len() as u64;
                self.room = self.room.saturating_sub(shapes.least_parts(of).saturating_mul(missing));
                parts.resize(*length as usize, shapes.smallest(of));
                Value::FixedArray(Arc::clone(of), parts)
            }
            Type::Box(of) => Value::Box(Arc::clone(of), Box::new(self.at(of, depth + 1))),
            Type::Option(_) | Type::Result(_) => self.variant(ty, depth),
            Type::Named(of) => match shapes.program().type_def(*of).map(|def| &def.shape) {
                Some(Shape::Struct(fields)) => {
                    Value::Struct(*of, fields.iter().map(|field| self.at(&field.ty, depth + 1)).collect())
                }
                Some(Shape::Enum(_)) | None => self.variant(ty, depth),
            },
            Type::Never | Type::Closure(_) | Type::FuncRef | Type::ExternRef => shapes.smallest(ty),
        }
    }

    /// A constant of a type that has constants; now and then one that was made before.
    fn constant(&mut self, ty: &Type) -> Const {
        if self.random.chance(20) {
            let before: Vec<&Const> = self.made.iter().filter(|made| made.ty() == *ty).collect();
            if let Some(again) = self.random.pick(&before) {
                return (*again).clone();
            }
        }
        let pool = &self.source.pool;
        let made = match ty {
            Type::Scalar(scalar) => scalars::scalar(self.random, pool, *scalar, self.size),
            Type::String => Const::String(scalars::text(self.random, pool, self.size)),
            Type::Bytes => Const::Bytes(scalars::bytes(self.random, pool, self.size)),
            Type::Unit
            | Type::Never
            | Type::Named(_)
            | Type::Ptr(_)
            | Type::Option(_)
            | Type::Result(_)
            | Type::Array(_)
            | Type::FixedArray(..)
            | Type::Box(_)
            | Type::Closure(_)
            | Type::FuncRef
            | Type::ExternRef => Const::Unit,
        };
        if self.made.len() < 16 {
            self.made.push(made.clone());
        }
        made
    }

    fn length(&mut self) -> usize {
        let known = |value: &&i64| (0..=self.size as i64 * 2 + 16).contains(*value);
        match self.random.below(10) {
            0 => self.random.below(2),
            1 => {
                let lengths: Vec<&i64> = self.source.pool.ints.iter().filter(known).collect();
                self.random.pick(&lengths).map_or(2, |length| **length as usize)
            }
            2..6 => self.random.below(4),
            _ => self.random.low(self.size + 3),
        }
    }

    fn elements(&mut self, of: &Type, length: usize, depth: u32) -> Vec<Value> {
        let mut made: Vec<Value> = Vec::with_capacity(length.min(1024));
        if length == 0 {
            return made;
        }
        match self.random.below(10) {
            // All the same, or of few different ones; not as many as wanted where they are large.
            different @ 0..3 => {
                let few: Vec<Value> = (0..different.clamp(1, 2)).map(|_| self.at(of, depth + 1)).collect();
                let largest = few.iter().map(parts::count).max().unwrap_or(1);
                let length = length.min((self.room / largest) as usize + 1);
                made.extend((0..length).map_while(|_| self.random.pick(&few).cloned()));
                self.room = self.room.saturating_sub(largest * length as u64);
            }
            kind => {
                made.extend((0..length).map(|_| self.at(of, depth + 1)));
                match kind {
                    3 | 4 => sort(&mut made),
                    5 => {
                        sort(&mut made);
                        made.reverse();
                    }
                    _ => {}
                }
            }
        }
        made
    }

    fn variant(&mut self, ty: &Type, depth: u32) -> Value {
        let shapes = &self.source.shapes;
        let variants = shapes.variants(ty);
        let again: Vec<usize> = match ty {
            Type::Named(of) if self.lean == Lean::Deep => (0..variants.len())
                .filter(|at| variants[*at].1.as_ref().is_some_and(|payload| shapes.may_contain(payload, *of)))
                .collect(),
            _ => Vec::new(),
        };
        let deeper = if self.random.chance(90) { self.random.pick(&again).copied() } else { None };
        let at = deeper.unwrap_or_else(|| self.random.below(variants.len()));
        match variants.into_iter().nth(at) {
            Some((variant, payload)) => {
                Value::Enum(variant, payload.map(|payload| Box::new(self.at(&payload, depth + 1))))
            }
            None => self.smallest(ty),
        }
    }

    fn smallest(&mut self, ty: &Type) -> Value {
        let shapes = &self.source.shapes;
        self.room = self.room.saturating_sub(shapes.least_parts(ty));
        shapes.smallest(ty)
    }
}

/// Sorts numbers as such, anything else as constants are; leaves the rest as it is.
pub(crate) fn sort(parts: &mut [Value]) {
    parts.sort_by(|a, b| match (a, b) {
        (Value::Const(Const::F64(a)), Value::Const(Const::F64(b))) => {
            f64::from_bits(*a).total_cmp(&f64::from_bits(*b))
        }
        (Value::Const(a), Value::Const(b)) => a.cmp(b),
        (_, _) => std::cmp::Ordering::Equal,
    });
}

/// The values of a type that are tried before any is made up, the smallest first.
pub(crate) fn firsts(source: &Source, ty: &Type) -> Vec<Value> {
    const MOST: usize = 48;
    /// Types that are looked into: those that contain each other in many ways would take for ever.
    const LOOKS: usize = 2_000;
    let mut all = firsts_at(source, ty, 0, &Cell::new(LOOKS));
    let mut seen: Vec<Value> = Vec::new();
    all.retain(|value| {
        let fresh = !seen.contains(value);
        if fresh {
            seen.push(value.clone());
        }
        fresh
    });
    // Of bytes, there are not more than are tried.
    all.truncate(if *ty == Type::Scalar(Scalar::I8) { 256 } else { MOST });
    all
}

fn firsts_at(source: &Source, ty: &Type, depth: u32, looks: &Cell<usize>) -> Vec<Value> {
    /// Beyond this only the smallest is tried.
    const DEEP: u32 = 4;
    let Source { shapes, pool } = source;
    let mut all = vec![shapes.smallest(ty)];
    if depth > DEEP || looks.get() == 0 {
        return all;
    }
    looks.set(looks.get() - 1);
    // Of each of which several may be part of one value; what comes behind the smallest is left out where it is large.
    let inner = |ty: &Type, times: u64| {
        let mut inner = firsts_at(source, ty, depth + 1, looks);
        inner.truncate(16);
        let mut room = 4 * MOST_PARTS;
        let mut rest = inner.split_off(inner.len().min(1));
        rest.retain(|value| {
            let parts = parts::count(value).saturating_mul(times);
            let fits = parts <= MOST_PARTS.min(room);
            room -= if fits { parts } else { 0 };
            fits
        });
        inner.append(&mut rest);
        inner
    };
    match ty {
        Type::Scalar(scalar) => match bits_of(*scalar) {
            _ if *scalar == Scalar::Bool => all.push(Value::Const(Const::Bool(true))),
            Some(bits) => {
                let bounds = int_bounds(bits);
                let (first, rest) = bounds.split_at(bounds.len().min(7));
                let ints = first.iter().chain(pool.ints.iter().take(24)).chain(rest);
                all.extend(ints.map(|value| Value::Const(int_const(*scalar, *value))));
                if *scalar == Scalar::I8 && depth == 0 {
                    all.extend((-128..=127).map(|value| Value::Const(int_const(*scalar, value))));
                }
            }
            None => {
                let floats = float_bounds(*scalar == Scalar::F32);
                let floats = floats.iter().chain(pool.floats.iter().take(24));
                all.extend(floats.map(|value| Value::Const(float_of(*scalar, *value))));
            }
        },
        Type::String => {
            let texts = TEXTS.iter().map(|text| Arc::from(*text)).chain(pool.texts.iter().cloned());
            all.extend(texts.map(|text| Value::Const(Const::String(text))));
        }
        Type::Bytes => {
            let plain: [&[u8]; 4] = [&[0], &[0xff], b"a", &[0, 1]];
            let bytes = plain.into_iter().map(Arc::from).chain(pool.bytes.iter().cloned());
            all.extend(bytes.map(|bytes| Value::Const(Const::Bytes(bytes))));
        }
        Type::Ptr(of) => {
            all.extend([1, 8, 65_528, 65_535, 65_536, u32::MAX].map(|to| Value::Ptr(Arc::clone(of), to)));
        }
        Type::Array(of) if shapes.fits(of) => {
            let inner = inner(of, 3);
            let array = |parts: Vec<Value>| Value::Array(Arc::clone(of), parts);
            all.extend(inner.iter().map(|one| array(vec![one.clone()])));
            if let [first, second, ..] = &inner[..] {
                all.push(array(vec![first.clone(), first.clone()]));
                all.push(array(vec![first.clone(), second.clone()]));
                all.push(array(vec![second.clone(), first.clone()]));
                all.push(array(vec![first.clone(), second.clone(), first.clone()]));
            }
        }
        Type::FixedArray(of, length) => {
            all.extend(
                inner(of, u64::from(*length))
                    .into_iter()
                    .map(|one| Value::FixedArray(Arc::clone(of), vec![one; *length as usize])),
            );
        }
        Type::Box(of) => {
            all.extend(inner(of, 1).into_iter().map(|one| Value::Box(Arc::clone(of), Box::new(one))));
        }
        Type::Option(_) | Type::Result(_) => all.extend(first_variants(source, ty, &inner)),
        Type::Named(of) => match shapes.program().type_def(*of).map(|def| &def.shape) {
            Some(Shape::Struct(fields)) => {
                let Some(Value::Struct(_, smallest)) = all.first().cloned() else { return all };
                for (at, field) in fields.iter().enumerate() {
                    all.extend(inner(&field.ty, 1).into_iter().map(|one| {
                        let mut parts = smallest.clone();
                        parts[at] = one;
                        Value::Struct(*of, parts)
                    }));
                }
            }
            Some(Shape::Enum(_)) | None => all.extend(first_variants(source, ty, &inner)),
        },
        Type::Unit | Type::Never | Type::Array(_) | Type::Closure(_) | Type::FuncRef | Type::ExternRef => {}
    }
    all
}

/// Each variant with each of the first payloads, those with the first payload first.
fn first_variants(source: &Source, ty: &Type, inner: &dyn Fn(&Type, u64) -> Vec<Value>) -> Vec<Value> {
    let variants = source.shapes.variants(ty);
    let smallest = variants
        .iter()
        .map(|(variant, payload)| source.shapes.smallest_of(variant.clone(), payload.as_ref()));
    let mut all: Vec<Value> = smallest.collect();
    for (variant, payload) in &variants {
        let payloads = payload.iter().flat_map(|payload| inner(payload, 1));
        all.extend(payloads.map(|payload| Value::Enum(variant.clone(), Some(Box::new(payload)))));
    }
    all
}
