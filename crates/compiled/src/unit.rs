//! A compiled function.

use lmlang_ir::FuncRef;
use lmlang_verify::Checked;
use lmlang_wasm::{Metered, metered};
use wasmtime::{Engine, InstancePre, Linker, Module};

use crate::host::{Host, link, link_imports};
use crate::refusal::Refusal;

/// A compiled function with all that it reaches, independent of any run.
pub struct Unit {
    pub(crate) prepared: InstancePre<Host>,
    pub(crate) starts: bool,
    /// Whether it has values of the heap.
    pub(crate) heap: bool,
    /// How many globals hold one.
    pub(crate) globals: u64,
    /// Bytes of its texts and bytes, which the interpreter counts where it decodes them.
    pub(crate) constants: u64,
    bytes: usize,
}

impl std::fmt::Debug for Unit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unit").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Unit {
    pub(crate) fn new(engine: &Engine, checked: &Checked, function: FuncRef) -> Result<Unit, Refusal> {
        let Metered { module, starts, heap, globals, constants } = metered(checked, function)?;
        let prepare = || -> wasmtime::Result<Unit> {
            let module = Module::new(engine, &module)?;
            let mut linker = Linker::new(engine);
            let (from, more) = Metered::MORE;
            link(&mut linker, from, more)?;
            link_imports(&mut linker, &module)?;
            let range = module.image_range();
            let bytes = range.end.addr() - range.start.addr();
            Ok(Unit { prepared: linker.instantiate_pre(&module)?, starts, heap, globals, constants, bytes })
        };
        prepare().map_err(|error| Refusal::Compiler(format!("{error:#}")))
    }

    /// Whether it may hold values of the heap: then memory is not what it is in the interpreter.
    pub fn holds_values(&self) -> bool {
        self.heap
    }

    /// Bytes of its machine code.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}
