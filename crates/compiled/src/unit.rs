//! A compiled function.

use lmlang_ir::{FuncRef, Type};
use lmlang_verify::Checked;
use lmlang_wasm::{Metered, metered};
use wasmtime::{Engine, InstancePre, Linker, Module};

use crate::compiler::Refusal;
use crate::run::{Host, more};

/// A compiled function with all that it reaches, independent of any run.
pub struct Unit {
    pub(crate) prepared: InstancePre<Host>,
    pub(crate) results: Vec<Type>,
    pub(crate) starts: bool,
    bytes: usize,
}

impl std::fmt::Debug for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unit").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Unit {
    pub(crate) fn new(engine: &Engine, checked: &Checked, function: FuncRef) -> Result<Unit, Refusal> {
        let Metered { module, starts } = metered(checked, function)?;
        let found = checked.program().function(function).ok_or(Refusal::NotCallable(function))?;
        let results = found.head().results.clone();
        let prepare = || -> wasmtime::Result<Unit> {
            let module = Module::new(engine, &module)?;
            let mut linker = Linker::new(engine);
            let (from, name) = Metered::MORE;
            linker.func_wrap(from, name, more)?;
            // What only the host has stops the run, here as in the interpreter.
            linker.define_unknown_imports_as_traps(&module)?;
            let range = module.image_range();
            let bytes = range.end.addr() - range.start.addr();
            Ok(Unit { prepared: linker.instantiate_pre(&module)?, results, starts, bytes })
        };
        prepare().map_err(|error| Refusal::Compiler(format!("{error:#}")))
    }

    /// Bytes of its machine code.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
