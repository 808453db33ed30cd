//! WebAssembly in and out.
//!
//! A module becomes a program of one lmlang module: its functions, globals, memory, tables and segments are entities, its
//! instructions nodes in the same order, its locals variables, its blocks regions. The way back keeps that order, so that
//! what was not changed comes out much as it went in.
//!
//! Values that fit no machine word lie in a memory of their own, the heap, and are freed when nobody holds them any more:
//! `heap` says how, `runtime` is what a module brings along for that, written in lmlang itself.
//!
//! Read `plain` (what is the same on both sides), `accepted`, `raw` (what is carried), `import` and its `body`, then `export` and its `body`.

#![forbid(unsafe_code)]

mod accepted;
mod export;
mod heap;
mod import;
mod plain;
mod raw;
mod runtime;
pub mod values;

pub use export::{Counted, ExportError, ExportOptions, Metered, export, export_alone, metered};
pub use import::{
    ImportError, MOST_NODES, MOST_OF_A_KIND, Place, Progress, binary, check, import, import_watched,
};

/// The text form of WebAssembly for a binary module.
///
/// # Errors
///
/// What is no module, in words.
pub fn print(module: &[u8]) -> Result<String, String> {
    wasmprinter::print_bytes(module).map_err(|error| format!("{error:#}"))
}
