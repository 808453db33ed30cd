//! Values as they travel into and out of runs.

use std::sync::Arc;

use crate::refs::{FuncRef, TypeRef};
use crate::types::{Const, Scalar, Type, Variant};

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
}
