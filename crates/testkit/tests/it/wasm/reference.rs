//! What a module does in wasmtime.

use lmlang_ir::{Const, Trap, Type, Value};
use wasmtime::{Config, Engine, Extern, Func, Instance, Module, ResourceLimiter, Store, Val, ValType};

use super::oracle::{Ending, bits, some};
use super::world::{ENTRIES, MEMORY};

/// A module for wasmtime.
pub(super) struct Reference(Module);

impl Reference {
    /// Nothing for a module with references to what the host has: wasmtime has these with its collector of garbage only,
    /// which compiled code here is built without.
    pub(super) fn new(module: &[u8]) -> wasmtime::Result<Option<Reference>> {
        let mut config = Config::new();
        // As they are in a run here.
        config.cranelift_nan_canonicalization(true);
        let made = Module::new(&Engine::new(&config)?, module);
        let of_host = || lmlang_wasm::print(module).is_ok_and(|text| text.contains("extern"));
        match made {
            Err(_) if of_host() => Ok(None),
            made => Ok(Some(Reference(made?))),
        }
    }

    /// Calls what a fresh instance exports.
    pub(super) fn call(&self, export: &str, arguments: &[Value]) -> Ending {
        let mut store = Store::new(self.0.engine(), Bounds);
        store.limiter(|bounds| bounds);
        let called = Instance::new(&mut store, &self.0, &[]).and_then(|instance| {
            let function: Func = instance.get_func(&mut store, export).expect("the function is exported");
            let words: Vec<Val> = arguments.iter().map(word).collect();
            let mut results = vec![Val::I32(0); function.ty(&store).results().len()];
            function.call(&mut store, &words, &mut results).map(|()| results)
        });
        match called {
            Ok(results) => Ending::Returns(results.iter().map(bits_of).collect()),
            Err(error) => trapped(&error),
        }
    }

    /// Everything that a fresh instance shows: what its functions answer, one call after the other, its memory and globals.
    pub(super) fn behaviour(&self) -> Vec<String> {
        let mut store = Store::new(self.0.engine(), Bounds);
        store.limiter(|bounds| bounds);
        let instance = match Instance::new(&mut store, &self.0, &[]) {
            Ok(instance) => instance,
            Err(error) => return vec![format!("no instance: {:?}", trapped(&error))],
        };
        let mut names: Vec<String> = self.0.exports().map(|export| export.name().to_owned()).collect();
        names.sort();
        let mut seen = Vec::new();
        for name in names {
            match instance.get_export(&mut store, &name).expect("it is exported") {
                Extern::Func(function) => {
                    let ty = function.ty(&store);
                    let words: Vec<Val> = ty.params().enumerate().map(|(at, ty)| given(&ty, at)).collect();
                    let mut results = vec![Val::I32(0); ty.results().len()];
                    let called = function.call(&mut store, &words, &mut results);
                    let called = called.map(|()| results.iter().map(bits_of).collect());
                    let ending = called.map_or_else(|error| trapped(&error), Ending::Returns);
                    seen.push(format!("{name}: {ending:?}"));
                }
                Extern::Memory(memory) => {
                    let bytes = memory.data(&store);
                    let sum = bytes
                        .iter()
                        .fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add((*byte).into()));
                    seen.push(format!("{name}: {} bytes, {sum}", bytes.len()));
                }
                Extern::Global(global) => seen.push(format!("{name}: {}", bits_of(&global.get(&mut store)))),
                _ => {}
            }
        }
        seen
    }
}

/// An argument of a type, at a place.
fn given(ty: &ValType, at: usize) -> Val {
    let ty = match ty {
        ValType::I32 => Type::I32,
        ValType::I64 => Type::I64,
        ValType::F32 => Type::F32,
        ValType::F64 => Type::F64,
        ValType::Ref(of) if of.heap_type().is_extern() => Type::ExternRef,
        ValType::Ref(_) => Type::FuncRef,
        ValType::V128 => panic!("{ty:?}"),
    };
    word(&some(&ty, at).expect("there is one of each type"))
}

const TOO_MUCH: &str = "it grows by too much";

/// The bounds that [`super::world`] sets.
struct Bounds;

impl ResourceLimiter for Bounds {
    fn memory_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        wasmtime::ensure!(desired <= MEMORY, TOO_MUCH);
        Ok(maximum.is_none_or(|most| desired <= most))
    }

    fn table_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        wasmtime::ensure!(desired <= ENTRIES, TOO_MUCH);
        Ok(maximum.is_none_or(|most| desired <= most))
    }
}

fn word(of: &Value) -> Val {
    match of {
        Value::Const(Const::Bool(_) | Const::I8(_) | Const::I16(_) | Const::I32(_)) => {
            Val::I32((bits(of) as u32).cast_signed())
        }
        Value::Const(Const::I64(value)) => Val::I64(*value),
        Value::Const(Const::F32(bits)) => Val::F32(*bits),
        Value::Const(Const::F64(bits)) => Val::F64(*bits),
        Value::FuncRef(None) => Val::FuncRef(None),
        Value::ExternRef => Val::ExternRef(None),
        other => panic!("{other:?}"),
    }
}

/// As [`bits`] has them: every NaN has the same.
fn bits_of(of: &Val) -> u64 {
    match of {
        Val::I32(value) => value.cast_unsigned().into(),
        Val::I64(value) => value.cast_unsigned(),
        Val::F32(value) => bits(&Value::Const(Const::F32(*value))),
        Val::F64(value) => bits(&Value::Const(Const::F64(*value))),
        Val::FuncRef(of) => u64::from(of.is_some()),
        Val::ExternRef(of) => u64::from(of.is_some()),
        other => panic!("{other:?}"),
    }
}

fn trapped(error: &wasmtime::Error) -> Ending {
    let Some(trap) = error.downcast_ref::<wasmtime::Trap>() else {
        // Its bounds have no type of their own.
        assert_eq!(error.root_cause().to_string(), TOO_MUCH);
        return Ending::Exceeds;
    };
    match trap {
        wasmtime::Trap::UnreachableCodeReached => Ending::Traps(Trap::Unreachable),
        wasmtime::Trap::MemoryOutOfBounds => Ending::Traps(Trap::MemoryOutOfBounds),
        wasmtime::Trap::TableOutOfBounds => Ending::Traps(Trap::TableOutOfBounds),
        wasmtime::Trap::IndirectCallToNull => Ending::Traps(Trap::UninitializedElement),
        wasmtime::Trap::IntegerDivisionByZero => Ending::Traps(Trap::DivisionByZero),
        wasmtime::Trap::IntegerOverflow => Ending::Traps(Trap::IntegerOverflow),
        wasmtime::Trap::BadConversionToInteger => Ending::Traps(Trap::InvalidConversion),
        wasmtime::Trap::BadSignature => Ending::Traps(Trap::SignatureMismatch),
        _ => Ending::Exceeds,
    }
}
