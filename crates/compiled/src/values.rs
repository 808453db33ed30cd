//! Values on their way into compiled code and out of it.

use lmlang_ir::{Program, Scalar, Type, Value};
use lmlang_wasm::values::{Heap, Measure, get, put};
use wasmtime::{AsContextMut, Global, Memory, TypedFunc, Val};

/// What a module has for its values.
#[derive(Clone)]
pub(crate) struct Values {
    pub(crate) memory: Memory,
    /// Takes bytes, references, word and measure.
    pub(crate) new: TypedFunc<(i32, i32, i32, i32), i32>,
    pub(crate) live: Global,
    pub(crate) peak: Global,
    pub(crate) places: Global,
}

/// Bytes before what a value holds, the last four of them its word.
const HEADER: usize = 16;

/// What a text or bytes hold.
pub(crate) fn content(memory: &[u8], at: u32) -> wasmtime::Result<&[u8]> {
    let found = || {
        let (header, held) = memory.get(at as usize..)?.split_at_checked(HEADER)?;
        let length = u32::from_le_bytes(*header.last_chunk()?);
        held.get(..length as usize)
    };
    found().ok_or_else(|| wasmtime::format_err!("a value outside of memory"))
}

impl Values {
    /// The bits of a value, which is put into the memory where it belongs there; nothing for what has no meaning there.
    pub(crate) fn put(
        &self,
        program: &Program,
        context: impl AsContextMut,
        value: &Value,
    ) -> wasmtime::Result<Option<u64>> {
        put(program, &mut There { values: Some(self), context }, value)
    }
}

/// An argument as a machine word.
pub(crate) fn argument(
    program: &Program,
    values: Option<&Values>,
    context: impl AsContextMut,
    (ty, value): (&Type, &Value),
) -> wasmtime::Result<Option<Val>> {
    let bits = put(program, &mut There { values, context }, value)?;
    Ok(bits.map(|bits| match ty {
        Type::Scalar(Scalar::I64) => Val::I64(bits.cast_signed()),
        Type::Scalar(Scalar::F32) => Val::F32(bits as u32),
        Type::Scalar(Scalar::F64) => Val::F64(bits),
        _ => Val::I32(bits as i32),
    }))
}

/// The value of a type that a machine word is.
pub(crate) fn result(
    program: &Program,
    values: Option<&Values>,
    context: impl AsContextMut,
    (ty, word): (&Type, &Val),
) -> wasmtime::Result<Option<Value>> {
    let bits = match word {
        Val::I32(word) => word.cast_unsigned().into(),
        Val::I64(word) => word.cast_unsigned(),
        Val::F32(bits) => (*bits).into(),
        Val::F64(bits) => *bits,
        _ => return Ok(None),
    };
    get(program, &There { values, context }, ty, bits)
}

/// The heap of an instance.
struct There<'v, C> {
    values: Option<&'v Values>,
    context: C,
}

impl<C> There<'_, C> {
    fn values(&self) -> wasmtime::Result<&Values> {
        self.values.ok_or_else(|| wasmtime::format_err!("there is no heap"))
    }
}

impl<C: AsContextMut> Heap for There<'_, C> {
    type Error = wasmtime::Error;

    fn room(&mut self, bytes: u32, refs: u32, word: u32, measure: Measure) -> wasmtime::Result<u32> {
        let new = self.values()?.new.clone();
        let given = [bytes, refs, word, measure.bits()].map(u32::cast_signed);
        Ok(new.call(&mut self.context, given.into())?.cast_unsigned())
    }

    fn write(&mut self, address: u32, bytes: &[u8]) -> wasmtime::Result<()> {
        let memory = self.values()?.memory;
        Ok(memory.write(&mut self.context, address as usize, bytes)?)
    }

    fn read(&self, address: u32, bytes: &mut [u8]) -> wasmtime::Result<()> {
        Ok(self.values()?.memory.read(self.context.as_context(), address as usize, bytes)?)
    }
}
