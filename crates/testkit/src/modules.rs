//! Programs that come from WebAssembly.

use std::num::NonZeroUsize;

use lmlang_ir::{Program, RefAllocator};
use lmlang_verify::Checked;

/// What a program becomes as a module and back, with the runtime of its values: functions that call by index, tables,
/// memory, globals, and no names to speak of.
///
/// # Errors
///
/// Why it cannot be exported, in words.
pub fn there_and_back(program: Program) -> Result<Program, String> {
    let checked = Checked::full(program, NonZeroUsize::MIN);
    let module = lmlang_wasm::export(&checked, lmlang_wasm::ExportOptions::default());
    let module = module.map_err(|error| error.to_string())?;
    lmlang_wasm::import(&module, &mut RefAllocator::starting_at(1)).map_err(|error| error.to_string())
}
