//! Types and constants.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::refs::{MemberRef, TypeRef};

/// A type whose values fit a machine word: what arithmetic, loads and stores work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// `false` or `true`; one byte in memory.
    Bool,
    /// 8 bits; held normalised (sign-extended) in a register.
    I8,
    /// 16 bits; held normalised (sign-extended) in a register.
    I16,
    /// 32 bits.
    I32,
    /// 64 bits.
    I64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl Scalar {
    /// All scalars, in the order of the declaration.
    pub const ALL: [Scalar; 7] =
        [Scalar::Bool, Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::F32, Scalar::F64];

    /// The name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// Size in linear memory, in bytes; also the natural alignment.
    pub const fn size(self) -> u32 {
        match self {
            Scalar::Bool | Scalar::I8 => 1,
            Scalar::I16 => 2,
            Scalar::I32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::F64 => 8,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scalar {
    type Err = ();

    fn from_str(text: &str) -> Result<Scalar, ()> {
        Scalar::ALL.into_iter().find(|scalar| scalar.name() == text).ok_or(())
    }
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// A machine word.
    Scalar(Scalar),
    /// The type with one value.
    Unit,
    /// The type without values.
    Never,
    /// UTF-8 text, immutable.
    String,
    /// Bytes, immutable.
    Bytes,
    /// A nominal struct or enum.
    Named(TypeRef),
    /// An address in linear memory at which a value of the given type lies.
    Ptr(Arc<Type>),
    /// `none` or `some` of a value.
    Option(Arc<Type>),
    /// `ok` or `err`, each with a value.
    Result(Arc<(Type, Type)>),
    /// Immutable elements, their number known at run time.
    Array(Arc<Type>),
    /// Immutable elements, their number part of the type.
    FixedArray(Arc<Type>, u32),
    /// An immutable value held apart, so that a type may contain itself.
    Box(Arc<Type>),
    /// A function with the values that it captured.
    Closure(Arc<Signature>),
    /// A reference to any function.
    FuncRef,
    /// A reference that only the host understands.
    ExternRef,
}

/// Parameters and results of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature {
    /// Types of the parameters.
    pub params: Vec<Type>,
    /// Types of the results.
    pub results: Vec<Type>,
}

impl Type {
    /// `bool`.
    pub const BOOL: Type = Type::Scalar(Scalar::Bool);
    /// `i32`.
    pub const I32: Type = Type::Scalar(Scalar::I32);
    /// `i64`.
    pub const I64: Type = Type::Scalar(Scalar::I64);
    /// `f32`.
    pub const F32: Type = Type::Scalar(Scalar::F32);
    /// `f64`.
    pub const F64: Type = Type::Scalar(Scalar::F64);

    /// Whether its values lie on the value heap; the others fit a machine word.
    pub fn on_heap(&self) -> bool {
        match self {
            Type::Scalar(_) | Type::Unit | Type::Never | Type::Ptr(_) | Type::FuncRef | Type::ExternRef => {
                false
            }
            Type::String
            | Type::Bytes
            | Type::Named(_)
            | Type::Option(_)
            | Type::Result(_)
            | Type::Array(_)
            | Type::FixedArray(..)
            | Type::Box(_)
            | Type::Closure(_) => true,
        }
    }

    /// The types that this one is made of, one level down; the nominal ones are not opened.
    pub fn parts(&self) -> Vec<&Type> {
        match self {
            Type::Scalar(_)
            | Type::Unit
            | Type::Never
            | Type::String
            | Type::Bytes
            | Type::Named(_)
            | Type::FuncRef
            | Type::ExternRef => Vec::new(),
            Type::Ptr(of) | Type::Option(of) | Type::Array(of) | Type::FixedArray(of, _) | Type::Box(of) => {
                vec![of]
            }
            Type::Result(of) => vec![&of.0, &of.1],
            Type::Closure(signature) => signature.params.iter().chain(&signature.results).collect(),
        }
    }

    /// The types of the values that a value of this one contains, besides those of a nominal type's definition: what lies
    /// behind a `ptr` or is captured by a closure is not contained.
    pub fn contained(&self) -> Vec<&Type> {
        match self {
            Type::Ptr(_) | Type::Closure(_) => Vec::new(),
            _ => self.parts(),
        }
    }

    /// Calls `visit` with each nominal type that occurs in this one.
    pub fn each_named(&self, visit: &mut impl FnMut(TypeRef)) {
        // Most are made of nothing.
        if let Type::Scalar(_) = self {
            return;
        }
        let mut stack = vec![self];
        while let Some(part) = stack.pop() {
            if let Type::Named(of) = part {
                visit(*of);
            }
            stack.extend(part.parts());
        }
    }
}

impl From<Scalar> for Type {
    fn from(of: Scalar) -> Type {
        Type::Scalar(of)
    }
}

/// Prints a type with refs for the nominal ones: the form of operators and of stored records. The text form prints
/// names instead.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_type(f, self, &|f, of| write!(f, "{of}"))
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_signature(f, self, &|f, of| write!(f, "{of}"))
    }
}

/// Writes a type, naming nominal types as `name` says. The nesting is bounded where types are parsed.
pub fn write_type<W: fmt::Write>(
    out: &mut W,
    of: &Type,
    name: &dyn Fn(&mut W, TypeRef) -> fmt::Result,
) -> fmt::Result {
    let one = |out: &mut W, constructor: &str, part: &Type| {
        write!(out, "{constructor}<")?;
        write_type(out, part, name)?;
        out.write_str(">")
    };
    match of {
        Type::Scalar(scalar) => out.write_str(scalar.name()),
        Type::Unit => out.write_str("unit"),
        Type::Never => out.write_str("never"),
        Type::String => out.write_str("string"),
        Type::Bytes => out.write_str("bytes"),
        Type::FuncRef => out.write_str("funcref"),
        Type::ExternRef => out.write_str("externref"),
        Type::Named(of) => name(out, *of),
        Type::Ptr(part) => one(out, "ptr", part),
        Type::Option(part) => one(out, "option", part),
        Type::Array(part) => one(out, "array", part),
        Type::Box(part) => one(out, "box", part),
        Type::FixedArray(part, length) => {
            out.write_str("array<")?;
            write_type(out, part, name)?;
            write!(out, ", {length}>")
        }
        Type::Result(parts) => {
            out.write_str("result<")?;
            write_type(out, &parts.0, name)?;
            out.write_str(", ")?;
            write_type(out, &parts.1, name)?;
            out.write_str(">")
        }
        Type::Closure(signature) => {
            out.write_str("closure<")?;
            write_signature(out, signature, name)?;
            out.write_str(">")
        }
    }
}

fn write_signature<W: fmt::Write>(
    out: &mut W,
    of: &Signature,
    name: &dyn Fn(&mut W, TypeRef) -> fmt::Result,
) -> fmt::Result {
    write_list(out, &of.params, name)?;
    out.write_str(" -> ")?;
    write_list(out, &of.results, name)
}

fn write_list<W: fmt::Write>(
    out: &mut W,
    of: &[Type],
    name: &dyn Fn(&mut W, TypeRef) -> fmt::Result,
) -> fmt::Result {
    out.write_str("(")?;
    for (index, part) in of.iter().enumerate() {
        out.write_str(if index == 0 { "" } else { ", " })?;
        write_type(out, part, name)?;
    }
    out.write_str(")")
}

/// A constant. Floats are bits, so that a NaN keeps its payload and equality is that of bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Const {
    /// A truth value.
    Bool(bool),
    /// An 8-bit integer.
    I8(i8),
    /// A 16-bit integer.
    I16(i16),
    /// A 32-bit integer.
    I32(i32),
    /// A 64-bit integer.
    I64(i64),
    /// The bits of a binary32.
    F32(u32),
    /// The bits of a binary64.
    F64(u64),
    /// The value of `unit`.
    Unit,
    /// A text.
    String(Arc<str>),
    /// Bytes.
    Bytes(Arc<[u8]>),
}

impl Const {
    /// The type of the constant.
    pub fn ty(&self) -> Type {
        match self {
            Const::Bool(_) => Type::BOOL,
            Const::I8(_) => Type::Scalar(Scalar::I8),
            Const::I16(_) => Type::Scalar(Scalar::I16),
            Const::I32(_) => Type::I32,
            Const::I64(_) => Type::I64,
            Const::F32(_) => Type::F32,
            Const::F64(_) => Type::F64,
            Const::Unit => Type::Unit,
            Const::String(_) => Type::String,
            Const::Bytes(_) => Type::Bytes,
        }
    }

    /// What a global of a type begins with when nothing is said; `unit` for a type without constants.
    pub fn zero(of: &Type) -> Const {
        match of {
            Type::Scalar(Scalar::Bool) => Const::Bool(false),
            Type::Scalar(Scalar::I8) => Const::I8(0),
            Type::Scalar(Scalar::I16) => Const::I16(0),
            Type::Scalar(Scalar::I32) | Type::Ptr(_) => Const::I32(0),
            Type::Scalar(Scalar::I64) => Const::I64(0),
            Type::Scalar(Scalar::F32) => Const::F32(0),
            Type::Scalar(Scalar::F64) => Const::F64(0),
            Type::String => Const::String("".into()),
            Type::Bytes => Const::Bytes(Arc::from(&[][..])),
            Type::Unit
            | Type::Never
            | Type::Named(_)
            | Type::Option(_)
            | Type::Result(_)
            | Type::Array(_)
            | Type::FixedArray(..)
            | Type::Box(_)
            | Type::Closure(_)
            | Type::FuncRef
            | Type::ExternRef => Const::Unit,
        }
    }
}

/// Names a variant of an enum, nominal or built in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variant {
    /// A variant of a nominal enum.
    Member(TypeRef, MemberRef),
    /// `option<T>.none`; holds `T`.
    None(Arc<Type>),
    /// `option<T>.some`; holds `T`.
    Some(Arc<Type>),
    /// `result<T, E>.ok`; holds `T` and `E`.
    Ok(Arc<(Type, Type)>),
    /// `result<T, E>.err`; holds `T` and `E`.
    Err(Arc<(Type, Type)>),
}

impl Variant {
    /// The enum that the variant belongs to.
    pub fn owner(&self) -> Type {
        match self {
            Variant::Member(of, _) => Type::Named(*of),
            Variant::None(of) | Variant::Some(of) => Type::Option(Arc::clone(of)),
            Variant::Ok(of) | Variant::Err(of) => Type::Result(Arc::clone(of)),
        }
    }

    /// The name of a built-in variant; `None` for a nominal one, whose name stands in its type.
    pub fn built_in_name(&self) -> Option<&'static str> {
        match self {
            Variant::Member(..) => None,
            Variant::None(_) => Some("none"),
            Variant::Some(_) => Some("some"),
            Variant::Ok(_) => Some("ok"),
            Variant::Err(_) => Some("err"),
        }
    }
}
