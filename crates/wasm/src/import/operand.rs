//! Types of operands: few, and copied as they are, since every instruction takes and gives some.

use lmlang_ir::{Scalar, Signature, Type};
use wasmparser::ValType;

use crate::accepted::value_type;

/// The type of an operand. A truth value is one until somebody wants a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperandType {
    /// A number or a truth value.
    Scalar(Scalar),
    /// A reference to a function.
    FuncRef,
    /// A reference that only the host understands.
    ExternRef,
}

impl OperandType {
    pub(super) const BOOL: OperandType = OperandType::Scalar(Scalar::Bool);
    pub(super) const I32: OperandType = OperandType::Scalar(Scalar::I32);

    /// That of a value of WebAssembly; nothing for one that programs do not have.
    pub(super) fn of_value(ty: ValType) -> Option<OperandType> {
        value_type(ty).and_then(|ty| OperandType::of_type(&ty))
    }

    /// That of a value of this type; nothing where no operand has it.
    fn of_type(ty: &Type) -> Option<OperandType> {
        Some(match ty {
            Type::Scalar(scalar) => (*scalar).into(),
            Type::FuncRef => OperandType::FuncRef,
            Type::ExternRef => OperandType::ExternRef,
            _ => return None,
        })
    }

    /// What WebAssembly has for it.
    pub(super) fn value(self) -> ValType {
        match self {
            OperandType::Scalar(Scalar::Bool | Scalar::I8 | Scalar::I16 | Scalar::I32) => ValType::I32,
            OperandType::Scalar(Scalar::I64) => ValType::I64,
            OperandType::Scalar(Scalar::F32) => ValType::F32,
            OperandType::Scalar(Scalar::F64) => ValType::F64,
            OperandType::FuncRef => ValType::FUNCREF,
            OperandType::ExternRef => ValType::EXTERNREF,
        }
    }
}

impl From<Scalar> for OperandType {
    fn from(of: Scalar) -> OperandType {
        OperandType::Scalar(of)
    }
}

impl From<OperandType> for Type {
    fn from(of: OperandType) -> Type {
        match of {
            OperandType::Scalar(scalar) => scalar.into(),
            OperandType::FuncRef => Type::FuncRef,
            OperandType::ExternRef => Type::ExternRef,
        }
    }
}

/// The types of some operands, as programs have them.
pub(super) fn types(of: &[OperandType]) -> Vec<Type> {
    of.iter().copied().map(Type::from).collect()
}

/// What is taken from the operand stack, and what is left there.
#[derive(Debug)]
pub(super) struct Operands {
    pub(super) params: Vec<OperandType>,
    pub(super) results: Vec<OperandType>,
}

impl Operands {
    /// Those of a signature that a module has.
    pub(super) fn of(signature: &Signature) -> Operands {
        let operand = |ty| OperandType::of_type(ty).expect("a value of WebAssembly is an operand");
        Operands {
            params: signature.params.iter().map(operand).collect(),
            results: signature.results.iter().map(operand).collect(),
        }
    }
}
