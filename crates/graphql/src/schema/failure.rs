//! Errors of the engine as clients see them: the one place where they are mapped.

use lmlang_engine::{BisectError, Error, Fault};
use lmlang_entities::cypher::CypherError;
use lmlang_entities::{ConstraintViolation, Place, ValidationError};
use lmlang_interp::{BreakpointError, ExpressionError};

use crate::error::{ApiError, Code, cut};
use crate::schema::cursor::List;

/// When a caller who has too much under way may ask again: a good part of it has ended by then.
const RETRY_AFTER_MS: u64 = 1_000;

/// The client's view of an engine error. Messages of the database, and what is wrong with damaged data, stay in the log.
pub fn fail(error: Error) -> ApiError {
    let message = error.to_string();
    match error {
        Error::NotFound { what, given, candidates, retired } => {
            let given = cut(&given);
            ApiError::new(Code::NotFound, format!("there is no {what} `{given}`"))
                .data(serde_json::json!({ "given": given, "candidates": candidates, "retired": retired }))
        }
        Error::BadRequest { .. } => ApiError::new(Code::BadRequest, message),
        Error::Breakpoint { index, error } => breakpoint(index, &error),
        Error::Argument { place, .. } => ApiError::new(Code::BadRequest, message).at(&place),
        Error::Bisect(error) => {
            let (place, reason) = match error {
                BisectError::NotGreen { .. } => ("input.good", "NOT_GREEN"),
                BisectError::NotRed { .. } => ("input.bad", "NOT_RED"),
                BisectError::NotBefore { .. } => ("input.good", "NOT_BEFORE"),
            };
            ApiError::new(Code::BadRequest, message).data(serde_json::json!({ "reason": reason })).at(place)
        }
        Error::EntityValue(error) => entity_value(&error, message, &in_ops(&error.place)),
        Error::EntityConstraint(error) => entity_conflict(&error, message, &in_ops(&error.place)),
        Error::Cypher(error) => cypher(&error),
        Error::NameTaken { what: _, name } => {
            ApiError::new(Code::BadRequest, message).data(serde_json::json!({ "given": name, "taken": true }))
        }
        Error::Limit { which, limit, actual } => ApiError::limit(which, limit, actual),
        Error::ModuleEntries { limit, count, .. } => ApiError::new(Code::LimitExceeded, message)
            .data(serde_json::json!({ "which": "moduleEntries", "limit": limit, "actual": count })),
        Error::ModuleNodes { limit, count, .. } => ApiError::new(Code::LimitExceeded, message)
            .data(serde_json::json!({ "which": "moduleNodes", "limit": limit, "actual": count })),
        Error::IdempotencyMismatch => ApiError::new(Code::IdempotencyMismatch, message),
        Error::CursorInvalid { given, of, why } => {
            let list = List::of(&given).map(|list| format!("it is one of `{}`", list.field()));
            let (given, why) = (cut(&given), list.unwrap_or(why));
            ApiError::new(Code::CursorInvalid, format!("`{given}` is not a cursor of {of}: {why}"))
                .data(serde_json::json!({ "given": given }))
        }
        Error::Late => ApiError::new(Code::Timeout, message),
        Error::Overloaded { .. } => ApiError::new(Code::Overloaded, message),
        Error::TooMany { which, limit, .. } => ApiError::new(Code::RateLimited, message)
            .data(serde_json::json!({ "retryAfterMs": RETRY_AFTER_MS, "which": which, "limit": limit })),
        Error::Unsupported { .. } => ApiError::new(Code::Unsupported, message),
        Error::Unmergeable { .. } => {
            tracing::error!(error = message, "a merge failed");
            ApiError::new(Code::Internal, "the merged changes could not be applied")
        }
        Error::Storage(fault) => {
            tracing::error!(error = %fault, "storage failed");
            storage(&fault)
        }
        Error::Damaged { entry, .. } => {
            tracing::error!(error = message, "stored data is damaged");
            ApiError::new(
                Code::StorageUnavailable,
                format!(
                    "what is stored of the program cannot be read at r{entry}; `lmlang doctor` says what is damaged"
                ),
            )
            .lasting()
        }
        Error::Closed => ApiError::new(Code::StorageUnavailable, "the server is shutting down"),
    }
}

/// What the database could not do: who is waited for, whether anything was stored, and whether it may go well later.
fn storage(fault: &Fault) -> ApiError {
    let (code, message) = match fault {
        Fault::Held => (
            Code::Overloaded,
            "another server has held the log of the program, or the turn to write, for longer than a change waits; nothing was stored",
        ),
        Fault::Busy => (
            Code::StorageUnavailable,
            "another process has kept the database locked for longer than a change waits; nothing was stored",
        ),
        Fault::NoConnection => (
            Code::StorageUnavailable,
            "no connection to the database could be had in time: it is away, or takes no more; nothing was stored",
        ),
        Fault::Device(_) | Fault::ConnectionLost => (
            Code::StorageUnavailable,
            "the database cannot be reached; whether a change that was on its way is stored is not known",
        ),
        Fault::DiskFull => (Code::StorageUnavailable, "the disk of the database is full; nothing was stored"),
        Fault::ReadOnly => (Code::StorageUnavailable, "the database can only be read; nothing was stored"),
        Fault::Closed => (Code::StorageUnavailable, "the server is shutting down"),
        Fault::Moved => (
            Code::StorageUnavailable,
            "the file of the database was moved, removed or replaced; nothing was stored",
        ),
        Fault::Damaged(_) | Fault::Row { .. } => {
            (Code::StorageUnavailable, "what is stored cannot be read; `lmlang doctor` says what is damaged")
        }
        Fault::Denied(_) | Fault::Tls(_) => {
            (Code::StorageUnavailable, "the database does not let the server in")
        }
        Fault::Refused(_) => (Code::StorageUnavailable, "the database refused what it was asked to do"),
    };
    let error = ApiError::new(code, message);
    if fault.may_pass() { error } else { error.lasting() }
}

/// A value that no entity can have, at a place of the input.
pub(crate) fn entity_value(error: &ValidationError, message: String, path: &str) -> ApiError {
    ApiError::new(Code::BadRequest, message).data(serde_json::json!({ "reason": error.code() })).at(path)
}

/// An operation that the entities that there are do not allow, at a place of the input.
pub(crate) fn entity_conflict(error: &ConstraintViolation, message: String, path: &str) -> ApiError {
    ApiError::new(Code::BadRequest, message).data(serde_json::json!({ "reason": error.code() })).at(path)
}

/// A place in the operations of a patch.
fn in_ops(place: &Place) -> String {
    match (place.op, place.field.as_str()) {
        (None, _) => "input.ops".to_owned(),
        (Some(op), "") => format!("input.ops[{op}]"),
        (Some(op), field) => format!("input.ops[{op}].{field}"),
    }
}

/// A query that cannot be answered, with its place in the text.
fn cypher(error: &CypherError) -> ApiError {
    ApiError::new(Code::BadRequest, error.to_string()).data(serde_json::json!({
        "path": "query", "reason": error.code(), "line": error.position.line, "column": error.position.column,
        "nearest": error.nearest,
    }))
}

/// A breakpoint that cannot be set, with its place in the list and in the text of its condition.
fn breakpoint(index: usize, error: &BreakpointError) -> ApiError {
    let field = match error {
        BreakpointError::NoNode(..) => "node",
        BreakpointError::NoFunction(_) => "function",
        BreakpointError::NoVariable(..) | BreakpointError::NoGlobal(_) | BreakpointError::Bytes(_) => "watch",
        BreakpointError::WatchWithCondition | BreakpointError::Condition(_) => "condition",
    };
    let path = format!("breakpoints[{index}].{field}");
    let data = match error {
        BreakpointError::Condition(error) => wrong_expression(&path, error),
        BreakpointError::NoNode(..)
        | BreakpointError::NoFunction(_)
        | BreakpointError::NoVariable(..)
        | BreakpointError::NoGlobal(_)
        | BreakpointError::Bytes(_)
        | BreakpointError::WatchWithCondition => serde_json::json!({ "path": path }),
    };
    ApiError::new(Code::BadRequest, error.to_string()).data(data)
}

/// An expression without a value, with the places in its text.
pub(crate) fn expression(path: &str, error: &ExpressionError) -> ApiError {
    ApiError::new(Code::BadRequest, error.to_string()).data(wrong_expression(path, error))
}

fn wrong_expression(path: &str, error: &ExpressionError) -> serde_json::Value {
    let ExpressionError::Text(errors) = error else { return serde_json::json!({ "path": path }) };
    let errors: Vec<_> = errors
        .iter()
        .map(|error| {
            serde_json::json!({
                "code": error.code, "message": error.message, "line": error.line, "column": error.column,
                "expected": error.expected, "found": error.found, "candidates": error.candidates,
            })
        })
        .collect();
    serde_json::json!({ "path": path, "errors": errors })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_database_could_not_do_is_told_apart() {
        let told = |fault: Fault| {
            let ApiError { code, message, retriable, .. } = fail(Error::Storage(fault));
            (code, message, retriable)
        };
        let (code, message, retriable) = told(Fault::Held);
        assert_eq!((code, retriable), (Code::Overloaded, true));
        assert!(message.contains("another server has held the log"), "{message}");
        let (code, message, retriable) = told(Fault::Row { table: "log", column: "kind" });
        assert_eq!((code, retriable), (Code::StorageUnavailable, false));
        assert!(message.contains("cannot be read"), "{message}");
        let (code, message, retriable) = told(Fault::ConnectionLost);
        assert_eq!((code, retriable), (Code::StorageUnavailable, true));
        assert!(message.contains("cannot be reached"), "{message}");
        let damaged =
            fail(Error::Damaged { program: "p".to_owned(), entry: 3, reason: "no record".to_owned() });
        assert_eq!((damaged.code, damaged.retriable), (Code::StorageUnavailable, false));
    }

    #[test]
    fn a_module_of_too_many_nodes_is_told_with_its_function() {
        let at = "byte 9".to_owned();
        let error = fail(Error::ModuleNodes { limit: 50, count: 51, function: 3, at });
        let message = "`moduleNodes` is limited to 50, found 51 by function 3 (byte 9 of the module)";
        assert_eq!((error.code, error.message.as_str()), (Code::LimitExceeded, message));
        let data = serde_json::json!({ "which": "moduleNodes", "limit": 50, "actual": 51 });
        assert_eq!(error.data, Some(data));
    }

    #[test]
    fn who_has_too_much_under_way_is_told_when_to_ask_again() {
        let which = "waitingSimulationsPerCaller";
        let error = fail(Error::TooMany { what: "simulations", which, limit: 64 });
        assert_eq!(error.code, Code::RateLimited);
        assert_eq!(
            error.data,
            Some(serde_json::json!({ "retryAfterMs": 1000, "which": which, "limit": 64 }))
        );
    }
}
