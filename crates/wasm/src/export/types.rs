//! Types of values, and the list of signatures.

use std::collections::HashMap;

use lmlang_ir::{Scalar, Type};
use wasm_encoder::{RefType, TypeSection, ValType};

/// The type that values have in a module: those of the heap are addresses.
pub(super) fn value(of: &Type) -> ValType {
    match of {
        Type::Scalar(Scalar::I64) => ValType::I64,
        Type::Scalar(Scalar::F32) => ValType::F32,
        Type::Scalar(Scalar::F64) => ValType::F64,
        Type::FuncRef => ValType::Ref(RefType::FUNCREF),
        Type::ExternRef => ValType::Ref(RefType::EXTERNREF),
        Type::Scalar(Scalar::Bool | Scalar::I8 | Scalar::I16 | Scalar::I32)
        | Type::Ptr(_)
        | Type::Unit
        | Type::Never
        | Type::String
        | Type::Bytes
        | Type::Named(_)
        | Type::Option(_)
        | Type::Result(_)
        | Type::Array(_)
        | Type::FixedArray(..)
        | Type::Box(_)
        | Type::Closure(_) => ValType::I32,
    }
}

pub(super) fn values(of: &[Type]) -> Vec<ValType> {
    of.iter().map(value).collect()
}

/// Signatures, each once.
#[derive(Debug, Default)]
pub(super) struct Types {
    indices: HashMap<(Vec<ValType>, Vec<ValType>), u32>,
    section: TypeSection,
}

impl Types {
    pub(super) fn index(&mut self, params: Vec<ValType>, results: Vec<ValType>) -> u32 {
        let next = self.indices.len() as u32;
        *self.indices.entry((params, results)).or_insert_with_key(|(params, results)| {
            self.section.ty().function(params.iter().copied(), results.iter().copied());
            next
        })
    }

    pub(super) fn section(&self) -> TypeSection {
        self.section.clone()
    }
}
