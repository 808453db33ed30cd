//! Values as they travel into and out of runs.

use std::sync::Arc;

use crate::entities::Shape;
use crate::program::Program;
use crate::refs::{FuncRef, TypeRef};
use crate::types::{Const, Scalar, Type, Variant};

/// How many parts an example has at most.
const MOST_PARTS: usize = 64;

/// A value, apart from any run. Floats are bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A scalar, `unit`, a text or bytes.
    Const(Const),
    /// All fields of a struct, in the order of the type.
    Struct(TypeRef, Vec<Value>),
    /// A variant with its payload, if it has one.
    Enum(Variant, Option<Box<Value>>),
    /// The elements of an `array<T>`, with `T`.
    Array(Arc<Type>, Vec<Value>),
    /// The elements of an `array<T, N>`, with `T`.
    FixedArray(Arc<Type>, Vec<Value>),
    /// The value in a box, with its type.
    Box(Arc<Type>, Box<Value>),
    /// An address, with the type of what lies there.
    Ptr(Arc<Type>, u32),
    /// A function reference, or the empty one.
    FuncRef(Option<FuncRef>),
    /// The empty reference to something of the host: there is no other.
    ExternRef,
    /// A closure with what it captured, and its type.
    Closure(Type, FuncRef, Vec<Value>),
}

impl Value {
    /// The type of the value.
    pub fn ty(&self) -> Type {
        match self {
            Value::Const(value) => value.ty(),
            Value::Struct(of, _) => Type::Named(*of),
            Value::Enum(variant, _) => variant.owner(),
            Value::Array(of, _) => Type::Array(Arc::clone(of)),
            Value::FixedArray(of, elements) => Type::FixedArray(Arc::clone(of), elements.len() as u32),
            Value::Box(of, _) => Type::Box(Arc::clone(of)),
            Value::Ptr(of, _) => Type::Ptr(Arc::clone(of)),
            Value::FuncRef(_) => Type::FuncRef,
            Value::ExternRef => Type::ExternRef,
            Value::Closure(ty, _, _) => ty.clone(),
        }
    }

    /// The scalar type of a value that fits a machine word.
    pub fn scalar(&self) -> Option<Scalar> {
        match self.ty() {
            Type::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// About how many bytes it takes outside of itself. The recursion is as deep as the value, which is bounded where
    /// values are made.
    pub fn heap_bytes(&self) -> usize {
        let of_parts =
            |parts: &[Value]| parts.iter().map(|part| size_of::<Value>() + part.heap_bytes()).sum();
        match self {
            Value::Const(Const::String(text)) => text.len(),
            Value::Const(Const::Bytes(bytes)) => bytes.len(),
            Value::Const(_)
            | Value::Enum(_, None)
            | Value::Ptr(..)
            | Value::FuncRef(_)
            | Value::ExternRef => 0,
            Value::Enum(_, Some(part)) | Value::Box(_, part) => size_of::<Value>() + part.heap_bytes(),
            Value::Struct(_, parts)
            | Value::Array(_, parts)
            | Value::FixedArray(_, parts)
            | Value::Closure(_, _, parts) => of_parts(parts),
        }
    }

    /// Some value of a type, to show how one is written; `None` where it would be large, or there is none that can be
    /// written without a function.
    pub fn example(program: &Program, ty: &Type) -> Option<Value> {
        let mut left = MOST_PARTS;
        example(program, ty, &mut left)
    }
}

/// Each type takes a part, so that the recursion ends.
fn example(program: &Program, ty: &Type, left: &mut usize) -> Option<Value> {
    *left = left.checked_sub(1)?;
    let mut part = |ty: &Type| example(program, ty, left);
    Some(match ty {
        Type::Scalar(scalar) => Value::Const(match scalar {
            Scalar::Bool => Const::Bool(true),
            Scalar::I8 => Const::I8(1),
            Scalar::I16 => Const::I16(1),
            Scalar::I32 => Const::I32(1),
            Scalar::I64 => Const::I64(1),
            Scalar::F32 => Const::F32(1.5f32.to_bits()),
            Scalar::F64 => Const::F64(1.5f64.to_bits()),
        }),
        Type::Unit => Value::Const(Const::Unit),
        Type::String => Value::Const(Const::String("text".into())),
        Type::Bytes => Value::Const(Const::Bytes(b"ab".as_slice().into())),
        Type::Named(of) => match &program.type_def(*of)?.shape {
            Shape::Struct(fields) => {
                let fields: Option<Vec<Value>> = fields.iter().map(|field| part(&field.ty)).collect();
                Value::Struct(*of, fields?)
            }
            Shape::Enum(variants) => {
                // What carries nothing ends a type that contains itself.
                let plain = variants.iter().find(|variant| variant.payload.is_none());
                let variant = plain.or_else(|| variants.first())?;
                let payload = match &variant.payload {
                    Some(ty) => Some(Box::new(part(ty)?)),
                    None => None,
                };
                Value::Enum(Variant::Member(*of, variant.member), payload)
            }
        },
        Type::Ptr(of) => Value::Ptr(Arc::clone(of), 0),
        Type::Option(of) => match part(of) {
            Some(value) => Value::Enum(Variant::Some(Arc::clone(of)), Some(Box::new(value))),
            None => Value::Enum(Variant::None(Arc::clone(of)), None),
        },
        Type::Result(of) => Value::Enum(Variant::Ok(Arc::clone(of)), Some(Box::new(part(&of.0)?))),
        Type::Array(of) => Value::Array(Arc::clone(of), part(of).into_iter().collect()),
        Type::FixedArray(of, length) => {
            let elements: Option<Vec<Value>> = (0..*length).map(|_| part(of)).collect();
            Value::FixedArray(Arc::clone(of), elements?)
        }
        Type::Box(of) => Value::Box(Arc::clone(of), Box::new(part(of)?)),
        Type::FuncRef => Value::FuncRef(None),
        Type::ExternRef => Value::ExternRef,
        Type::Never | Type::Closure(_) => return None,
    })
}
