//! What modules may have that are taken in.

use lmlang_ir::Type;
use wasmparser::{ValType, WasmFeatures};

/// What modules may have: all of core 2.0 but vectors, and what is carried.
pub(crate) fn features() -> WasmFeatures {
    WasmFeatures::WASM2.difference(WasmFeatures::SIMD) | carried()
}

/// The proposals whose operators are carried: those take and give numbers, and name nothing but memory 0.
fn carried() -> WasmFeatures {
    WasmFeatures::THREADS | WasmFeatures::WIDE_ARITHMETIC | WasmFeatures::MEMORY_CONTROL
}

/// The type of values of a module's type; nothing for vectors and references that programs do not have.
pub(crate) fn value_type(of: ValType) -> Option<Type> {
    Some(match of {
        ValType::I32 => Type::I32,
        ValType::I64 => Type::I64,
        ValType::F32 => Type::F32,
        ValType::F64 => Type::F64,
        ValType::Ref(of) if of == wasmparser::RefType::FUNCREF => Type::FuncRef,
        ValType::Ref(of) if of == wasmparser::RefType::EXTERNREF => Type::ExternRef,
        ValType::V128 | ValType::Ref(_) => return None,
    })
}
