//! Programs as WebAssembly modules.

use std::sync::Arc;

use lmlang_ir::FuncRef;
use lmlang_wasm::{ExportError, ExportOptions, export, export_alone};

use crate::engine::Engine;
use crate::error::Error;
use crate::timeline::Revision;

/// What a module is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleOptions {
    /// Whether contracts are evaluated: one that does not hold ends in `unreachable`.
    pub contracts: bool,
    /// Whether every NaN that is computed is the canonical one, as in a simulation.
    pub canonical_nans: bool,
}

impl Default for ModuleOptions {
    fn default() -> ModuleOptions {
        ModuleOptions { contracts: true, canonical_nans: false }
    }
}

impl Engine {
    /// The binary module that a revision is.
    pub async fn module(&self, revision: &Arc<Revision>, options: ModuleOptions) -> Result<Vec<u8>, Error> {
        let ModuleOptions { contracts, canonical_nans } = options;
        let options = ExportOptions { contracts, canonical_nans, main: None };
        let revision = Arc::clone(revision);
        Ok(self.compute(move || export(&revision.checked, options)).await??)
    }

    /// A function as a module of its own, which imports what it calls, in the text form of WebAssembly.
    pub async fn function_wat(&self, revision: &Arc<Revision>, function: FuncRef) -> Result<String, Error> {
        let revision = Arc::clone(revision);
        let print = move || {
            let module = export_alone(&revision.checked, function)?;
            lmlang_wasm::print(&module)
                .map_err(|error| Error::Unsupported { what: format!("this text ({error})") })
        };
        self.compute(print).await?
    }
}

impl From<ExportError> for Error {
    fn from(error: ExportError) -> Error {
        match error {
            ExportError::Unsupported { of, path, what } => {
                Error::Unsupported { what: format!("{what} (`{of}` in `{path}`) in a module") }
            }
            ExportError::Incomplete { .. } | ExportError::NoMain { .. } => {
                Error::bad_request(error.to_string())
            }
        }
    }
}
