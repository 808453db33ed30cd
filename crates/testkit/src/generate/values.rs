//! Constants, and arguments for a run, of a given type.

use std::sync::Arc;

use lmlang_ir::ops::signature::payload_type;
use lmlang_ir::{Const, FuncRef, Program, Scalar, Shape, Type, Value, Variant};

use crate::choices::Choices;

const TEXTS: [&str; 8] = ["", "a", "lmlang", "12", "-7", "line\nbreak \"quoted\" \\", "é€😀", "\u{0}\t;"];

/// A constant of a type that has constants.
pub fn constant(choices: &mut Choices, ty: &Type) -> Option<Const> {
    Some(match ty {
        Type::Scalar(scalar) => match scalar {
            Scalar::Bool => Const::Bool(choices.chance(50)),
            Scalar::I8 => Const::I8(choices.bits() as i8),
            Scalar::I16 => Const::I16(choices.bits() as i16),
            Scalar::I32 => Const::I32(choices.bits() as i32),
            Scalar::I64 => Const::I64(choices.bits() as i64),
            Scalar::F32 => match choices.below(3) {
                0 => Const::F32((choices.below(20) as f32 / 4.0).to_bits()),
                _ => Const::F32(choices.bits() as u32),
            },
            Scalar::F64 => match choices.below(3) {
                0 => Const::F64((choices.below(20) as f64 / 4.0).to_bits()),
                _ => Const::F64(choices.bits()),
            },
        },
        Type::Unit => Const::Unit,
        Type::String => Const::String(TEXTS[choices.below(TEXTS.len())].into()),
        Type::Bytes => Const::Bytes((0..choices.below(6)).map(|_| choices.number() as u8).collect()),
        Type::Never
        | Type::Named(_)
        | Type::Ptr(_)
        | Type::Option(_)
        | Type::Result(_)
        | Type::Array(_)
        | Type::FixedArray(..)
        | Type::Box(_)
        | Type::Closure(_)
        | Type::FuncRef
        | Type::ExternRef => return None,
    })
}

/// The simplest constant of a type that has constants.
pub fn default_constant(ty: &Type) -> Option<Const> {
    constant(&mut Choices::given(Vec::new()), ty)
}

/// How deep a value nests before it is ended as soon as it can be.
const DEEP: u32 = 4;

/// A value of a type; `None` when there is none to be made outside of a run: of closures, of references of the host.
pub fn value(program: &Program, choices: &mut Choices, ty: &Type, depth: u32) -> Option<Value> {
    if let Some(value) = constant(choices, ty) {
        return Some(Value::Const(value));
    }
    if depth > 4 * DEEP {
        return None;
    }
    let deep = depth > DEEP;
    Some(match ty {
        Type::Named(of) => match &program.type_def(*of)?.shape {
            Shape::Struct(fields) => {
                let parts = fields.iter().map(|field| value(program, choices, &field.ty, depth + 1));
                Value::Struct(*of, parts.collect::<Option<Vec<_>>>()?)
            }
            Shape::Enum(variants) => {
                let variant = if deep { variants.first() } else { choices.pick(variants) }?;
                variant_value(program, choices, Variant::Member(*of, variant.member), depth)?
            }
        },
        Type::Option(of) => {
            let variant = if deep || choices.chance(30) {
                Variant::None(Arc::clone(of))
            } else {
                Variant::Some(Arc::clone(of))
            };
            variant_value(program, choices, variant, depth)?
        }
        Type::Result(of) => {
            let variant =
                if choices.chance(40) { Variant::Err(Arc::clone(of)) } else { Variant::Ok(Arc::clone(of)) };
            variant_value(program, choices, variant, depth)?
        }
        Type::Array(of) => {
            let length = if deep { 0 } else { choices.below(4) };
            let parts = (0..length).map(|_| value(program, choices, of, depth + 1));
            Value::Array(Arc::clone(of), parts.collect::<Option<Vec<_>>>()?)
        }
        Type::FixedArray(of, length) => {
            let parts = (0..*length).map(|_| value(program, choices, of, depth + 1));
            Value::FixedArray(Arc::clone(of), parts.collect::<Option<Vec<_>>>()?)
        }
        Type::Box(of) => Value::Box(Arc::clone(of), Box::new(value(program, choices, of, depth + 1)?)),
        Type::Ptr(of) => Value::Ptr(Arc::clone(of), 8 * choices.below(200) as u32),
        Type::FuncRef => Value::FuncRef(None),
        Type::ExternRef => Value::ExternRef,
        Type::Scalar(_) | Type::Unit | Type::String | Type::Bytes | Type::Never | Type::Closure(_) => {
            return None;
        }
    })
}

fn variant_value(program: &Program, choices: &mut Choices, variant: Variant, depth: u32) -> Option<Value> {
    let payload = match payload_type(program, &variant)? {
        None => None,
        Some(ty) => Some(Box::new(value(program, choices, &ty, depth + 1)?)),
    };
    Some(Value::Enum(variant, payload))
}

/// Arguments to run a function with; `None` when it cannot be run from outside.
pub fn arguments(program: &Program, function: FuncRef, choices: &mut Choices) -> Option<Vec<Value>> {
    let head = program.function(function)?.head();
    if head.import.is_some() || !head.captures.is_empty() {
        return None;
    }
    head.params.iter().map(|param| value(program, choices, &param.ty, 0)).collect()
}
