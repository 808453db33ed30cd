//! Codes of errors, and how the process ends on them.

use lmlang_engine::{Error as EngineError, Fault};
use lmlang_store::backup::Refusal;

use crate::exit::Exit;

/// How the process ends on a refusal with a code of the API.
pub(crate) fn refused_exit(code: &str) -> Exit {
    match code {
        "NOT_FOUND" => Exit::NotFound,
        "BAD_REQUEST" => Exit::Usage,
        "NAME_TAKEN" | "IDEMPOTENCY_MISMATCH" | "ALREADY_ANSWERED" | "STALE_INTERRUPT" => Exit::Conflict,
        "UNAUTHENTICATED" | "FORBIDDEN" => Exit::Denied,
        "TIMEOUT" => Exit::TimeOut,
        // A newer server may have codes of its own.
        _ => Exit::Failure,
    }
}

/// The code of a backup that cannot be loaded.
pub(crate) fn refusal_code(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Diverged { .. }
        | Refusal::Changed { .. }
        | Refusal::Deleted { .. }
        | Refusal::PartDiverged { .. } => "DIVERGED",
        Refusal::NameTaken { .. } => "NAME_TAKEN",
        Refusal::KeyTaken { .. } => "IDEMPOTENCY_MISMATCH",
    }
}

/// The code of an error of the engine.
pub(crate) fn engine_code(error: &EngineError) -> &'static str {
    match error {
        EngineError::NotFound { .. } => "NOT_FOUND",
        EngineError::BadRequest { .. }
        | EngineError::Argument { .. }
        | EngineError::Breakpoint { .. }
        | EngineError::Bisect(_)
        | EngineError::EntityValue(_)
        | EngineError::EntityConstraint(_)
        | EngineError::Cypher(_) => "BAD_REQUEST",
        EngineError::NameTaken { .. } => "NAME_TAKEN",
        EngineError::Limit { .. } | EngineError::ModuleEntries { .. } | EngineError::ModuleNodes { .. } => {
            "LIMIT_EXCEEDED"
        }
        EngineError::IdempotencyMismatch => "IDEMPOTENCY_MISMATCH",
        EngineError::CursorInvalid { .. } => "CURSOR_INVALID",
        EngineError::Late => "TIMEOUT",
        EngineError::Overloaded { .. } => "OVERLOADED",
        EngineError::TooMany { .. } => "RATE_LIMITED",
        EngineError::Unsupported { .. } => "UNSUPPORTED",
        EngineError::Storage(Fault::Held) => "OVERLOADED",
        EngineError::Storage(_) => "STORAGE_UNAVAILABLE",
        EngineError::Unmergeable { .. } => "INTERNAL",
        EngineError::Damaged { .. } => "DAMAGED",
        EngineError::Closed => "CLOSED",
    }
}
