//! Programs as WebAssembly modules, for what carries files.

use lmlang_engine::{Engine, Grant, ModuleOptions};

use crate::error::ApiError;
use crate::schema::access;
use crate::schema::failure::fail;
use crate::schema::view::View;

/// Which module is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleRequest {
    /// The program, by the id of any view of it, or by name.
    pub program: String,
    /// The revision, as `at` names one everywhere; without it that of the id.
    pub at: Option<String>,
    /// Whether contracts are evaluated: one that does not hold ends in `unreachable`.
    pub contracts: bool,
    /// Whether every NaN that is computed is the canonical one, as in a simulation.
    pub canonical_nans: bool,
}

/// The binary module that a program is at a revision.
///
/// # Errors
///
/// What the caller may not see or is not there, what is not complete, and what modules cannot have.
pub async fn module(engine: &Engine, grant: &Grant, request: &ModuleRequest) -> Result<Vec<u8>, ApiError> {
    access::may_read(grant, "wasm")?;
    let engine = grant.engine().unwrap_or(engine);
    let view = View::find(engine, &request.program, request.at.as_deref()).await?;
    let ModuleRequest { contracts, canonical_nans, .. } = *request;
    let options = ModuleOptions { contracts, canonical_nans };
    engine.module(view.revision(), options).await.map_err(fail)
}
