//! What values a type has: whether there are any that can be made outside of a run, and which is the smallest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lmlang_ir::ops::signature::payload_type;
use lmlang_ir::{Const, Program, Scalar, Shape, Type, TypeRef, Value, Variant};
use thiserror::Error;

/// The most parts that the smallest value of a type may have: of those of `array<T, N>`, each element is one.
pub const MOST_PARTS: u64 = 1 << 16;

/// Why no value of a type can be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoValue {
    /// Functions cannot be made up.
    #[error("a value of `{0}` refers to a function, which cannot be made up")]
    Function(Type),
    /// Only the host has such values.
    #[error("a value of `{0}` comes from the host")]
    Host(Type),
    /// There is none.
    #[error("`{0}` has no values")]
    Never(Type),
    /// Every value contains another one of the type, without an end.
    #[error("every value of `{0}` contains another one")]
    Endless(Type),
    /// Even the smallest has more parts than [`MOST_PARTS`].
    #[error("the smallest value of `{0}` is too large")]
    TooLarge(Type),
}

/// What is known of the types that values are made of.
#[derive(Clone, Debug)]
pub(crate) struct Shapes {
    program: Program,
    /// How deep the smallest value of a nominal type nests; absent where there is none.
    heights: BTreeMap<TypeRef, u32>,
    /// The parts of the smallest value of a nominal type that has one.
    least: BTreeMap<TypeRef, u64>,
    /// Nominal types that values of a nominal type may contain.
    contents: BTreeMap<TypeRef, BTreeSet<TypeRef>>,
}

impl Shapes {
    /// Looks at all types that occur in some, or says which of them has no values.
    pub(crate) fn of<'t>(
        program: &Program,
        types: impl IntoIterator<Item = &'t Type>,
    ) -> Result<Shapes, NoValue> {
        let mut shapes = Shapes {
            program: program.clone(),
            heights: BTreeMap::new(),
            least: BTreeMap::new(),
            contents: BTreeMap::new(),
        };
        let types: Vec<&Type> = types.into_iter().collect();
        types.iter().for_each(|ty| shapes.collect(ty));
        shapes.measure();
        shapes.weigh();
        for ty in types {
            if shapes.height(ty).is_none() {
                return Err(shapes.why(ty, &mut BTreeSet::new()));
            }
            if !shapes.fits(ty) {
                return Err(NoValue::TooLarge(ty.clone()));
            }
        }
        Ok(shapes)
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    fn collect(&mut self, ty: &Type) {
        let mut open = Vec::new();
        ty.each_named(&mut |of| open.push(of));
        while let Some(of) = open.pop() {
            if self.contents.contains_key(&of) {
                continue;
            }
            let mut direct = BTreeSet::new();
            if let Some(def) = self.program.type_def(of) {
                for part in def.part_types() {
                    part.each_named(&mut |inner| {
                        direct.insert(inner);
                        open.push(inner);
                    });
                }
            }
            self.contents.insert(of, direct);
        }
        // Whatever is contained in what is contained is contained.
        loop {
            let before: usize = self.contents.values().map(BTreeSet::len).sum();
            for of in self.contents.keys().copied().collect::<Vec<_>>() {
                let inner = self.contents[&of].iter().filter_map(|inner| self.contents.get(inner));
                let all: BTreeSet<TypeRef> = inner.flatten().copied().collect();
                self.contents.entry(of).or_default().extend(all);
            }
            if self.contents.values().map(BTreeSet::len).sum::<usize>() == before {
                return;
            }
        }
    }

    /// Finds the heights of all nominal types, the least first.
    fn measure(&mut self) {
        loop {
            let mut changed = false;
            for of in self.contents.keys().copied().collect::<Vec<_>>() {
                let height = self.program.type_def(of).and_then(|def| match &def.shape {
                    Shape::Struct(fields) => self.all(fields.iter().map(|field| &field.ty)),
                    Shape::Enum(variants) => {
                        let payloads = variants.iter().map(|variant| self.all(variant.payload.iter()));
                        payloads.flatten().min()
                    }
                });
                let before = self.heights.get(&of).copied();
                if let Some(height) = height
                    && before.is_none_or(|before| height < before)
                {
                    self.heights.insert(of, height);
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// One more than the largest height; none where one has no value.
    fn all<'t>(&self, types: impl Iterator<Item = &'t Type>) -> Option<u32> {
        let mut most = 0;
        for ty in types {
            most = most.max(self.height(ty)?);
        }
        Some(most + 1)
    }

    /// How deep the smallest value of a type nests; none if no value can be made.
    pub(crate) fn height(&self, ty: &Type) -> Option<u32> {
        match ty {
            Type::Scalar(_) | Type::Unit | Type::String | Type::Bytes | Type::Ptr(_) => Some(0),
            Type::Option(_) | Type::Array(_) | Type::FixedArray(_, 0) => Some(1),
            Type::FixedArray(of, _) | Type::Box(of) => Some(self.height(of)? + 1),
            Type::Result(of) => {
                let least = [self.height(&of.0), self.height(&of.1)].into_iter().flatten().min();
                least.map(|height| height + 1)
            }
            Type::Named(of) => self.heights.get(of).copied(),
            Type::Never | Type::Closure(_) | Type::FuncRef | Type::ExternRef => None,
        }
    }

    fn why(&self, ty: &Type, seen: &mut BTreeSet<TypeRef>) -> NoValue {
        match ty {
            Type::Closure(_) | Type::FuncRef => NoValue::Function(ty.clone()),
            Type::ExternRef => NoValue::Host(ty.clone()),
            Type::Never => NoValue::Never(ty.clone()),
            Type::Named(of) if !seen.insert(*of) => NoValue::Endless(ty.clone()),
            Type::Named(of) => {
                let def = self.program.type_def(*of);
                let parts = def.iter().flat_map(|def| def.part_types());
                let parts: Vec<NoValue> = parts
                    .filter(|part| self.height(part).is_none())
                    .map(|part| self.why(part, seen))
                    .collect();
                let plain = parts.iter().find(|part| !matches!(part, NoValue::Endless(_)));
                plain.or(parts.first()).cloned().unwrap_or(NoValue::Never(ty.clone()))
            }
            Type::FixedArray(of, _) | Type::Box(of) => self.why(of, seen),
            Type::Result(of) => self.why(&of.0, seen),
            Type::Scalar(_)
            | Type::Unit
            | Type::String
            | Type::Bytes
            | Type::Ptr(_)
            | Type::Option(_)
            | Type::Array(_) => NoValue::Never(ty.clone()),
        }
    }

    /// Counts the parts of the smallest values of all nominal types: of those that nest less first, which others are of.
    fn weigh(&mut self) {
        let mut order: Vec<(u32, TypeRef)> = self.heights.iter().map(|(of, height)| (*height, *of)).collect();
        order.sort_unstable();
        for (_, of) in order {
            let inner = match self.program.type_def(of).map(|def| &def.shape) {
                Some(Shape::Struct(fields)) => {
                    fields.iter().fold(0, |sum: u64, field| sum.saturating_add(self.least_parts(&field.ty)))
                }
                Some(Shape::Enum(_)) => self.least_payload(&Type::Named(of)),
                None => 0,
            };
            self.least.insert(of, inner.saturating_add(1));
        }
    }

    /// The parts of the smallest value of a type that has one.
    pub(crate) fn least_parts(&self, ty: &Type) -> u64 {
        let inner = match ty {
            Type::FixedArray(of, length) => self.least_parts(of).saturating_mul(u64::from(*length)),
            Type::Box(of) => self.least_parts(of),
            Type::Result(_) | Type::Option(_) => self.least_payload(ty),
            Type::Named(of) => return self.least.get(of).copied().unwrap_or(1),
            Type::Scalar(_)
            | Type::Unit
            | Type::Never
            | Type::String
            | Type::Bytes
            | Type::Ptr(_)
            | Type::Array(_)
            | Type::Closure(_)
            | Type::FuncRef
            | Type::ExternRef => 0,
        };
        inner.saturating_add(1)
    }

    /// The parts of the payload of an enum's smallest value.
    fn least_payload(&self, ty: &Type) -> u64 {
        let payload = self.easiest(ty).and_then(|(_, payload)| payload);
        payload.map_or(0, |payload| self.least_parts(&payload))
    }

    /// Tells whether the smallest value of a type that has one is small enough to be made.
    pub(crate) fn fits(&self, ty: &Type) -> bool {
        self.least_parts(ty) <= MOST_PARTS
    }

    /// The variants of an enum of which values can be made, in their order, with the types of their payloads.
    pub(crate) fn variants(&self, ty: &Type) -> Vec<(Variant, Option<Type>)> {
        let mut variants = self.possible_variants(ty);
        variants.retain(|(_, payload)| payload.as_ref().is_none_or(|payload| self.fits(payload)));
        variants
    }

    /// The same with those whose values are too large.
    fn possible_variants(&self, ty: &Type) -> Vec<(Variant, Option<Type>)> {
        let all: Vec<Variant> = match ty {
            Type::Option(of) => vec![Variant::None(Arc::clone(of)), Variant::Some(Arc::clone(of))],
            Type::Result(of) => vec![Variant::Ok(Arc::clone(of)), Variant::Err(Arc::clone(of))],
            Type::Named(of) => {
                let def = self.program.type_def(*of);
                let variants = def.iter().flat_map(|def| def.variants());
                variants.map(|variant| Variant::Member(*of, variant.member)).collect()
            }
            Type::Scalar(_)
            | Type::Unit
            | Type::Never
            | Type::String
            | Type::Bytes
            | Type::Ptr(_)
            | Type::Array(_)
            | Type::FixedArray(..)
            | Type::Box(_)
            | Type::Closure(_)
            | Type::FuncRef
            | Type::ExternRef => Vec::new(),
        };
        let with_payload = all.into_iter().filter_map(|variant| {
            let payload = payload_type(&self.program, &variant)?;
            Some((variant, payload))
        });
        with_payload
            .filter(|(_, payload)| payload.as_ref().is_none_or(|payload| self.height(payload).is_some()))
            .collect()
    }

    /// The first of the variants whose smallest payload nests least.
    fn easiest(&self, ty: &Type) -> Option<(Variant, Option<Type>)> {
        let height = |payload: &Option<Type>| {
            payload.as_ref().map_or(Some(0), |payload| Some(self.height(payload)? + 1))
        };
        self.possible_variants(ty).into_iter().min_by_key(|(_, payload)| height(payload))
    }

    /// Whether a value of a type may contain another one of a nominal type.
    pub(crate) fn may_contain(&self, ty: &Type, inner: TypeRef) -> bool {
        let mut found = false;
        ty.each_named(&mut |of| {
            found |= of == inner || self.contents.get(&of).is_some_and(|contents| contents.contains(&inner));
        });
        found
    }

    /// The smallest value of a type: zeros, nothing, first variants, as few parts as there can be.
    pub(crate) fn smallest(&self, ty: &Type) -> Value {
        match ty {
            Type::Scalar(_) | Type::Unit | Type::String | Type::Bytes => Value::Const(Const::zero(ty)),
            Type::Ptr(of) => Value::Ptr(Arc::clone(of), 0),
            Type::Array(of) => Value::Array(Arc::clone(of), Vec::new()),
            Type::FixedArray(of, length) => {
                Value::FixedArray(Arc::clone(of), vec![self.smallest(of); *length as usize])
            }
            Type::Box(of) => Value::Box(Arc::clone(of), Box::new(self.smallest(of))),
            Type::Option(_) | Type::Result(_) => self.smallest_variant(ty),
            Type::Named(of) => match self.program.type_def(*of).map(|def| &def.shape) {
                Some(Shape::Struct(fields)) => {
                    Value::Struct(*of, fields.iter().map(|field| self.smallest(&field.ty)).collect())
                }
                Some(Shape::Enum(_)) | None => self.smallest_variant(ty),
            },
            Type::FuncRef => Value::FuncRef(None),
            Type::ExternRef => Value::ExternRef,
            // Nobody asks: there is no value that contains one.
            Type::Never | Type::Closure(_) => Value::Const(Const::Unit),
        }
    }

    fn smallest_variant(&self, ty: &Type) -> Value {
        match self.easiest(ty) {
            Some((variant, payload)) => self.smallest_of(variant, payload.as_ref()),
            None => Value::Const(Const::Unit),
        }
    }

    /// A variant with the smallest payload.
    pub(crate) fn smallest_of(&self, variant: Variant, payload: Option<&Type>) -> Value {
        Value::Enum(variant, payload.map(|payload| Box::new(self.smallest(payload))))
    }
}

/// The width of an integer type in bits.
pub(crate) fn bits_of(scalar: Scalar) -> Option<u32> {
    match scalar {
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => Some(8 * scalar.size()),
        Scalar::Bool | Scalar::F32 | Scalar::F64 => None,
    }
}

/// An integer constant as a number.
pub(crate) fn int_of(value: &Const) -> Option<i64> {
    match value {
        Const::I8(value) => Some(i64::from(*value)),
        Const::I16(value) => Some(i64::from(*value)),
        Const::I32(value) => Some(i64::from(*value)),
        Const::I64(value) => Some(*value),
        Const::Bool(_) | Const::F32(_) | Const::F64(_) | Const::Unit | Const::String(_) | Const::Bytes(_) => {
            None
        }
    }
}

/// The constant of the kind of another one that a number is, cut to its width; the same for what is no integer.
pub(crate) fn int_like(like: &Const, value: i64) -> Const {
    match like {
        Const::I8(_) => Const::I8(value as i8),
        Const::I16(_) => Const::I16(value as i16),
        Const::I32(_) => Const::I32(value as i32),
        Const::I64(_) => Const::I64(value),
        Const::Bool(_) | Const::F32(_) | Const::F64(_) | Const::Unit | Const::String(_) | Const::Bytes(_) => {
            like.clone()
        }
    }
}
