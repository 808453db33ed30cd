//! Values between the outside and the machine.

use std::sync::Arc;

use lmlang_ir::ops::signature::payload_type;
use lmlang_ir::{Const, FuncRef, Program, Scalar, Shape, Type, Value, Variant};

use crate::heap::{Chunks, Heap, Obj};

pub(crate) use crate::heap::Word;

/// How a type's values are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// In a slot.
    Num,
    /// On the value heap.
    Ref,
}

pub(crate) fn class(ty: &Type) -> Class {
    if ty.on_heap() { Class::Ref } else { Class::Num }
}

/// A value as it is shown: what would be too long or too deep is cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The value, or its beginning.
    pub value: Value,
    /// Whether something was left out: elements at the end, or parts too deep, which are `unit` then.
    pub cut: bool,
}

/// How much of a value is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Elements, bytes and parts in all.
    pub(crate) parts: usize,
    pub(crate) depth: usize,
}

impl Budget {
    /// For results, which are wanted whole.
    pub(crate) const WHOLE: Budget = Budget { parts: 4 << 20, depth: 200 };
    /// For a value that somebody asks for.
    pub(crate) const ASKED: Budget = Budget { parts: 4 << 10, depth: 32 };
    /// For steps of a trace.
    pub(crate) const STEP: Budget = Budget { parts: 64, depth: 8 };
}

pub(crate) fn constant(value: &Const) -> Word {
    match value {
        Const::String(text) => Word::Ref(Obj::text(&**text)),
        Const::Bytes(bytes) => Word::Ref(Obj::new(Heap::Bytes(bytes.to_vec()))),
        other => Word::Num(scalar_bits(other).unwrap_or(0)),
    }
}

/// A scalar constant as a slot holds it.
pub(crate) fn scalar_bits(value: &Const) -> Option<u64> {
    let narrow = |value: i32| u64::from(value as u32);
    Some(match value {
        Const::Bool(value) => u64::from(*value),
        Const::I8(value) => narrow(i32::from(*value)),
        Const::I16(value) => narrow(i32::from(*value)),
        Const::I32(value) => narrow(*value),
        Const::I64(value) => *value as u64,
        Const::F32(bits) => u64::from(*bits),
        Const::F64(bits) => *bits,
        Const::Unit => 0,
        Const::String(_) | Const::Bytes(_) => return None,
    })
}

fn scalar_const(scalar: Scalar, raw: u64) -> Const {
    match scalar {
        Scalar::Bool => Const::Bool(raw != 0),
        Scalar::I8 => Const::I8(raw as i8),
        Scalar::I16 => Const::I16(raw as i16),
        Scalar::I32 => Const::I32(raw as i32),
        Scalar::I64 => Const::I64(raw as i64),
        Scalar::F32 => Const::F32(raw as u32),
        Scalar::F64 => Const::F64(raw),
    }
}

/// How deep the zero of a type goes: a first variant that contains itself has none.
const ZERO_DEPTH: usize = 32;

/// What a variable of a type holds at the start.
pub(crate) fn zero(program: &Program, ty: &Type) -> Word {
    zero_at(program, ty, 0)
}

/// About how many bytes [`zero`] takes for a type, counted up to where they are more than `most`.
///
/// Goes the same way: what it leaves out would be allocated before anybody asks for room.
pub(crate) fn zero_bytes(program: &Program, ty: &Type, most: u64) -> u64 {
    let (mut bytes, mut types) = (0u64, vec![(ty.clone(), 0)]);
    while let Some((ty, depth)) = types.pop() {
        if depth > ZERO_DEPTH || class(&ty) == Class::Num {
            continue;
        }
        bytes = bytes.saturating_add(64);
        if bytes > most {
            return bytes;
        }
        match ty {
            Type::FixedArray(of, length) => {
                // The elements share one value.
                bytes = bytes.saturating_add(8 * u64::from(length));
                types.push(((*of).clone(), depth + 1));
            }
            Type::Result(of) => types.push((of.0.clone(), depth + 1)),
            Type::Box(of) => types.push(((*of).clone(), depth + 1)),
            Type::Named(of) => match program.type_def(of).map(|def| &def.shape) {
                Some(Shape::Struct(fields)) => {
                    bytes = bytes.saturating_add(16 * fields.len() as u64);
                    types.extend(fields.iter().map(|field| (field.ty.clone(), depth + 1)));
                }
                Some(Shape::Enum(variants)) => {
                    let payload = variants.first().and_then(|first| first.payload.clone());
                    types.extend(payload.map(|payload| (payload, depth + 1)));
                }
                None => {}
            },
            Type::Scalar(_)
            | Type::Unit
            | Type::Never
            | Type::String
            | Type::Bytes
            | Type::Ptr(_)
            | Type::Option(_)
            | Type::Array(_)
            | Type::Closure(_)
            | Type::FuncRef
            | Type::ExternRef => {}
        }
    }
    bytes
}

fn zero_at(program: &Program, ty: &Type, depth: usize) -> Word {
    if depth > ZERO_DEPTH {
        return Word::Ref(Obj::default());
    }
    let part = |ty: &Type| zero_at(program, ty, depth + 1);
    let payload = |variant: &Variant| match payload_type(program, variant) {
        Some(Some(ty)) => zero_at(program, &ty, depth + 1),
        Some(None) | None => Word::Num(0),
    };
    let heap = match ty {
        Type::Scalar(_) | Type::Unit | Type::Never | Type::Ptr(_) | Type::FuncRef | Type::ExternRef => {
            return Word::Num(0);
        }
        Type::String => Heap::Text(String::new()),
        Type::Bytes => Heap::Bytes(Vec::new()),
        Type::Array(of) => match class(of) {
            Class::Num => Heap::Nums(Chunks::new()),
            Class::Ref => Heap::Objs(Chunks::new()),
        },
        Type::FixedArray(of, length) => match part(of) {
            Word::Num(_) => Heap::Nums(std::iter::repeat_n(0, *length as usize).collect()),
            Word::Ref(obj) => Heap::Objs(std::iter::repeat_n(obj, *length as usize).collect()),
        },
        Type::Option(_) => Heap::Enum(0, Word::Num(0)),
        Type::Result(of) => Heap::Enum(0, payload(&Variant::Ok(Arc::clone(of)))),
        Type::Box(of) => Heap::Box(part(of)),
        Type::Closure(_) => return Word::Ref(Obj::default()),
        Type::Named(of) => match program.type_def(*of).map(|def| &def.shape) {
            Some(Shape::Struct(fields)) => Heap::Struct(fields.iter().map(|field| part(&field.ty)).collect()),
            Some(Shape::Enum(variants)) => match variants.first() {
                Some(first) => Heap::Enum(0, payload(&Variant::Member(*of, first.member))),
                None => return Word::Ref(Obj::default()),
            },
            None => return Word::Ref(Obj::default()),
        },
    };
    Word::Ref(Obj::new(heap))
}

/// How deep a value that is given may be.
const GIVEN_DEPTH: usize = 400;

/// Takes a value into the machine; `None` when it is not of the type.
pub(crate) fn take_in(
    program: &Program,
    ty: &Type,
    value: &Value,
    intern: &mut dyn FnMut(FuncRef) -> u32,
) -> Option<Word> {
    take_at(program, ty, value, intern, 0)
}

fn take_at(
    program: &Program,
    ty: &Type,
    value: &Value,
    intern: &mut dyn FnMut(FuncRef) -> u32,
    depth: usize,
) -> Option<Word> {
    if depth > GIVEN_DEPTH {
        return None;
    }
    let depth = depth + 1;
    let heap = match (ty, value) {
        (_, Value::Const(given)) => return (given.ty() == *ty).then(|| constant(given)),
        (Type::Ptr(of), Value::Ptr(given, address)) => {
            return (of == given).then(|| Word::Num(u64::from(*address)));
        }
        (Type::ExternRef, Value::ExternRef) => return Some(Word::Num(0)),
        (Type::FuncRef, Value::FuncRef(of)) => {
            return Some(Word::Num(match of {
                None => 0,
                Some(of) => {
                    // As in the program: one that captures values is called by closures alone.
                    program.function(*of).filter(|function| function.head().captures.is_empty())?;
                    u64::from(intern(*of)) + 1
                }
            }));
        }
        (Type::Named(of), Value::Struct(given, parts)) => {
            let def = program.type_def(*of)?;
            if of != given || def.fields().len() != parts.len() || matches!(def.shape, Shape::Enum(_)) {
                return None;
            }
            let parts = def
                .fields()
                .iter()
                .zip(parts)
                .map(|(field, part)| take_at(program, &field.ty, part, intern, depth));
            Heap::Struct(parts.collect::<Option<_>>()?)
        }
        (_, Value::Enum(variant, payload)) => {
            if variant.owner() != *ty {
                return None;
            }
            let tag = variant_tag(program, variant)?;
            let payload = match (payload_type(program, variant)?, payload) {
                (None, None) => Word::Num(0),
                (Some(ty), Some(payload)) => take_at(program, &ty, payload, intern, depth)?,
                (Some(_), None) | (None, Some(_)) => return None,
            };
            Heap::Enum(tag, payload)
        }
        (Type::Array(of), Value::Array(given, parts)) if of == given => {
            elements(program, of, parts, intern, depth)?
        }
        (Type::FixedArray(of, length), Value::FixedArray(given, parts))
            if of == given && *length as usize == parts.len() =>
        {
            elements(program, of, parts, intern, depth)?
        }
        (Type::Box(of), Value::Box(given, part)) if of == given => {
            Heap::Box(take_at(program, of, part, intern, depth)?)
        }
        (Type::Closure(signature), Value::Closure(given, function, captures)) => {
            let head = program.function(*function)?.head();
            let params = head.params.iter().map(|param| &param.ty);
            let fits = params.eq(&signature.params) && head.results == signature.results;
            if given != ty || !fits || head.captures.len() != captures.len() {
                return None;
            }
            let parts = head
                .captures
                .iter()
                .zip(captures)
                .map(|(capture, part)| take_at(program, &capture.ty, part, intern, depth))
                .collect::<Option<_>>()?;
            Heap::Closure(intern(*function), parts)
        }
        (
            Type::Scalar(_)
            | Type::Unit
            | Type::Never
            | Type::String
            | Type::Bytes
            | Type::Named(_)
            | Type::Ptr(_)
            | Type::Option(_)
            | Type::Result(_)
            | Type::Array(_)
            | Type::FixedArray(..)
            | Type::Box(_)
            | Type::Closure(_)
            | Type::FuncRef
            | Type::ExternRef,
            _,
        ) => return None,
    };
    Some(Word::Ref(Obj::new(heap)))
}

fn elements(
    program: &Program,
    of: &Type,
    parts: &[Value],
    intern: &mut dyn FnMut(FuncRef) -> u32,
    depth: usize,
) -> Option<Heap> {
    let mut nums = Chunks::new();
    let mut objs = Chunks::new();
    for part in parts {
        match take_at(program, of, part, intern, depth)? {
            Word::Num(value) => nums.push(value),
            Word::Ref(obj) => objs.push(obj),
        }
    }
    Some(match class(of) {
        Class::Num => Heap::Nums(nums),
        Class::Ref => Heap::Objs(objs),
    })
}

/// The position of a variant in its enum.
pub(crate) fn variant_tag(program: &Program, variant: &Variant) -> Option<u32> {
    Some(match variant {
        Variant::None(_) | Variant::Ok(_) => 0,
        Variant::Some(_) | Variant::Err(_) => 1,
        Variant::Member(of, member) => {
            let def = program.type_def(*of)?;
            def.variant(*member)?.0 as u32
        }
    })
}

fn variant_at(program: &Program, ty: &Type, tag: u32) -> Option<Variant> {
    match (ty, tag) {
        (Type::Option(of), 0) => Some(Variant::None(Arc::clone(of))),
        (Type::Option(of), 1) => Some(Variant::Some(Arc::clone(of))),
        (Type::Result(of), 0) => Some(Variant::Ok(Arc::clone(of))),
        (Type::Result(of), 1) => Some(Variant::Err(Arc::clone(of))),
        (Type::Named(of), tag) => {
            let member = program.type_def(*of)?.variants().get(tag as usize)?.member;
            Some(Variant::Member(*of, member))
        }
        _ => None,
    }
}

/// Shows a value of the machine, within a budget; `None` for a reference that holds nothing.
pub(crate) fn show(
    program: &Program,
    ty: &Type,
    word: &Word,
    name: &dyn Fn(u32) -> Option<FuncRef>,
    mut budget: Budget,
) -> Option<Shown> {
    let mut shower = Shower { program, name, budget: &mut budget, cut: false };
    let value = shower.show(ty, word, 0)?;
    Some(Shown { value, cut: shower.cut })
}

struct Shower<'a> {
    program: &'a Program,
    name: &'a dyn Fn(u32) -> Option<FuncRef>,
    budget: &'a mut Budget,
    cut: bool,
}

impl Shower<'_> {
    fn take(&mut self, wanted: usize) -> usize {
        let got = wanted.min(self.budget.parts);
        self.cut |= got < wanted;
        self.budget.parts -= got;
        got
    }

    fn show(&mut self, ty: &Type, word: &Word, depth: usize) -> Option<Value> {
        let obj = match (ty, word) {
            (Type::Scalar(scalar), Word::Num(raw)) => return Some(Value::Const(scalar_const(*scalar, *raw))),
            (Type::Ptr(of), Word::Num(raw)) => return Some(Value::Ptr(Arc::clone(of), *raw as u32)),
            (Type::FuncRef, Word::Num(raw)) => {
                let index = raw.checked_sub(1).map(|index| index as u32);
                return Some(Value::FuncRef(index.and_then(self.name)));
            }
            (Type::ExternRef, Word::Num(_)) => return Some(Value::ExternRef),
            (_, Word::Num(_)) => return Some(Value::Const(Const::Unit)),
            (_, Word::Ref(obj)) => obj,
        };
        if depth >= self.budget.depth {
            self.cut = true;
            return Some(Value::Const(Const::Unit));
        }
        let depth = depth + 1;
        Some(match (ty, obj.get()?) {
            (Type::String, Heap::Text(text)) => {
                let mut end = self.take(text.len());
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                Value::Const(Const::String(Arc::from(&text[..end])))
            }
            (Type::Bytes, Heap::Bytes(bytes)) => {
                let end = self.take(bytes.len());
                Value::Const(Const::Bytes(Arc::from(&bytes[..end])))
            }
            (Type::Named(of), Heap::Struct(parts)) => {
                let def = Arc::clone(self.program.type_def(*of)?);
                self.take(parts.len());
                let mut shown = Vec::with_capacity(parts.len());
                for (field, part) in def.fields().iter().zip(parts) {
                    shown.push(self.show(&field.ty, part, depth)?);
                }
                Value::Struct(*of, shown)
            }
            (_, Heap::Enum(tag, payload)) => {
                let variant = variant_at(self.program, ty, *tag)?;
                let payload = match payload_type(self.program, &variant)? {
                    None => None,
                    Some(ty) => Some(Box::new(self.show(&ty, payload, depth)?)),
                };
                Value::Enum(variant, payload)
            }
            (Type::Array(of), heap) => Value::Array(Arc::clone(of), self.items(of, heap, depth)?),
            (Type::FixedArray(of, _), heap) => {
                Value::FixedArray(Arc::clone(of), self.items(of, heap, depth)?)
            }
            (Type::Box(of), Heap::Box(part)) => {
                Value::Box(Arc::clone(of), Box::new(self.show(of, part, depth)?))
            }
            (Type::Closure(_), Heap::Closure(index, captures)) => {
                let function = (self.name)(*index)?;
                let head = Arc::clone(self.program.function(function)?);
                let mut shown = Vec::with_capacity(captures.len());
                for (capture, part) in head.head().captures.iter().zip(captures) {
                    shown.push(self.show(&capture.ty, part, depth)?);
                }
                Value::Closure(ty.clone(), function, shown)
            }
            _ => return None,
        })
    }

    fn items(&mut self, of: &Type, heap: &Heap, depth: usize) -> Option<Vec<Value>> {
        match heap {
            Heap::Nums(items) => {
                let count = self.take(items.len());
                items.iter().take(count).map(|item| self.show(of, &Word::Num(*item), depth)).collect()
            }
            Heap::Objs(items) => {
                let count = self.take(items.len());
                items.iter().take(count).map(|item| self.show(of, &Word::Ref(item.clone()), depth)).collect()
            }
            _ => None,
        }
    }
}
