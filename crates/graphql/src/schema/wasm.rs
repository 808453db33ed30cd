//! Programs as WebAssembly modules, for what carries files.

use lmlang_engine::{Arrival, Engine, Given, Grant, ModuleOptions};
pub use lmlang_engine::{GivenModule, Progress, Watch};
use serde::{Deserialize, Serialize};

use crate::error::{ApiError, Code};
use crate::schema::access;
use crate::schema::call::call_by;
use crate::schema::failure::fail;
use crate::schema::mutation::selector;
use crate::schema::view::View;
use crate::transport::Caller;

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

/// A module that is to become the content of a program.
#[derive(Clone, Debug)]
pub struct ImportRequest {
    /// The program, by id or name.
    pub program: String,
    /// The branch; `main` if none is named.
    pub branch: Option<String>,
    /// The revision that the caller saw as the head; another one now is a conflict.
    pub expected_head: Option<String>,
    /// Why, for the history.
    pub message: Option<String>,
    /// Makes a repetition harmless.
    pub idempotency_key: Option<String>,
    /// The module.
    pub module: GivenModule,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", untagged)]
pub enum Imported {
    /// The program has its content.
    Made {
        /// The program's name.
        program: String,
        /// The revision that was made.
        revision: String,
        /// Functions in the program.
        functions: u64,
        /// Nodes in them.
        nodes: u64,
    },
    /// The head is another one than the caller saw; nothing has changed.
    Conflict {
        /// In words.
        conflict: String,
        /// The head.
        head: String,
    },
}

/// Makes a module the content of a program.
///
/// # Errors
///
/// What the caller may not do or is not there, what is no module, and what programs do not have.
pub async fn import(
    engine: &Engine,
    caller: &Caller,
    request: ImportRequest,
    watch: Watch,
) -> Result<Imported, ApiError> {
    access::may_import(&caller.grant)?;
    let engine = caller.grant.engine().unwrap_or(engine);
    let ImportRequest { program, branch, expected_head, message, idempotency_key, module } = request;
    let branch = branch.unwrap_or_else(|| "main".to_owned());
    let said = format!("import {program:?} {branch:?} {expected_head:?} {message:?} ");
    let whole = || {
        let module: &[u8] = match &module {
            GivenModule::Wasm(module) => module,
            GivenModule::Wat(text) => text.as_bytes(),
        };
        [said.as_bytes(), module].concat()
    };
    let call = call_by(Some(caller), caller.actor.clone(), message, idempotency_key.as_deref(), whole)?;
    let given = Given { module, branch, expected_head };
    let open = engine.find(&selector(&program)).await.map_err(fail)?;
    match engine.import(&open, given, &call, watch).await.map_err(fail)? {
        Arrival::Made { after, .. } => {
            let totals = after.checked.program().totals();
            Ok(Imported::Made {
                program: open.info().name.clone(),
                revision: format!("r{}", after.entry.number),
                functions: totals.functions,
                nodes: totals.counts.nodes,
            })
        }
        Arrival::Conflict(found) => Ok(Imported::Conflict {
            conflict: found.conflicts.first().map_or_else(String::new, |first| first.message.clone()),
            head: format!("r{}", found.head.number),
        }),
        Arrival::Nothing(reason) => Err(ApiError::new(Code::BadRequest, reason)),
    }
}
