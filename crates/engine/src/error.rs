//! Why a use case did not get as far as an outcome.
//!
//! What the domain expects (rejected, conflict, trap, nothing to undo) is an outcome, not an error.

use lmlang_entities::cypher::CypherError;
use lmlang_entities::{ConstraintViolation, ValidationError};
use lmlang_store::Fault;
use lmlang_wasm::{ImportError, MOST_NODES, MOST_OF_A_KIND};
use thiserror::Error;
use tokio::task::JoinError;

use crate::bisect::BisectError;

/// Why a request was not carried out.
#[derive(Clone, Debug, Error)]
pub enum Error {
    /// Nothing has the given id, ref, name or revision.
    #[error("there is no {what} `{given}`")]
    NotFound {
        /// The kind of thing that was looked for.
        what: &'static str,
        /// What the caller named.
        given: String,
        /// Near names that exist.
        candidates: Vec<String>,
        /// Tells whether it existed and was removed.
        retired: bool,
    },
    /// An argument that cannot be right whatever the state is.
    #[error("{message}")]
    BadRequest {
        /// What is wrong with which argument.
        message: String,
    },
    /// An argument that cannot be right, by its place in the input.
    #[error("{message}")]
    Argument {
        /// Where: `input.args[1]`.
        place: String,
        /// What is wrong with it.
        message: String,
    },
    /// There is nothing to search for between two revisions.
    #[error(transparent)]
    Bisect(#[from] BisectError),
    /// A breakpoint that cannot be set.
    #[error("{error}")]
    Breakpoint {
        /// Its position in the list.
        index: usize,
        /// Why.
        error: lmlang_interp::BreakpointError,
    },
    /// A value that no entity can have, whatever there is.
    #[error(transparent)]
    EntityValue(#[from] ValidationError),
    /// An operation that the entities that there are do not allow.
    #[error(transparent)]
    EntityConstraint(#[from] ConstraintViolation),
    /// A query about entities that cannot be answered.
    #[error(transparent)]
    Cypher(#[from] CypherError),
    /// A name that is taken.
    #[error("a {what} named `{name}` exists")]
    NameTaken {
        /// The kind of thing.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// More than a limit allows.
    #[error("`{which}` is limited to {limit}, found {actual}")]
    Limit {
        /// The limit, as `serverInfo` lists it.
        which: &'static str,
        /// Its value.
        limit: u64,
        /// What the request asked for.
        actual: u64,
    },
    /// A module has more of one kind than is taken in.
    #[error("`moduleEntries` is limited to {limit}, found {count} {kind} (byte {offset} of the module)")]
    ModuleEntries {
        /// The limit.
        limit: u64,
        /// What it has so many of.
        kind: &'static str,
        /// How many.
        count: u64,
        /// The byte where they begin.
        offset: u64,
    },
    /// A module has more nodes than are taken in.
    #[error("`moduleNodes` is limited to {limit}, found {count} by function {function} ({at} of the module)")]
    ModuleNodes {
        /// The limit.
        limit: u64,
        /// How many had been made.
        count: u64,
        /// The index of the function that has one too many.
        function: u32,
        /// The place of the instruction, in words.
        at: String,
    },
    /// The key was used before with another request.
    #[error("the idempotency key was used before with another request")]
    IdempotencyMismatch,
    /// The cursor was not issued for these events.
    #[error("`{given}` is not a cursor of {of}: {why}")]
    CursorInvalid {
        /// What the caller gave.
        given: String,
        /// The events that were asked for.
        of: &'static str,
        /// What is known of the cursor, or what would be one.
        why: String,
    },
    /// It took longer than its bound of time.
    #[error("it takes longer than `timeoutMs`")]
    Late,
    /// More work is queued than the engine accepts.
    #[error("too many {what} are waiting")]
    Overloaded {
        /// The kind of work.
        what: &'static str,
    },
    /// One caller has more under way than it may.
    #[error("too many {what} of this caller are waiting: `{which}` is {limit}")]
    TooMany {
        /// The kind of work.
        what: &'static str,
        /// The name of the limit.
        which: &'static str,
        /// How many may wait.
        limit: u64,
    },
    /// The request makes sense and this version does not do it.
    #[error("{what} is not supported")]
    Unsupported {
        /// What was asked for.
        what: String,
    },
    /// Changes that could be merged do not fit together: a fault of ours.
    #[error("the merged changes cannot be applied: {cause}")]
    Unmergeable {
        /// What does not fit.
        cause: lmlang_ir::StructureError,
    },
    /// The database did not do its part.
    #[error(transparent)]
    Storage(#[from] Fault),
    /// Stored data that this version cannot read, or that does not fit together.
    #[error("stored data of program {program} at entry {entry} is damaged: {reason}")]
    Damaged {
        /// The program.
        program: String,
        /// The log entry.
        entry: u64,
        /// What does not fit.
        reason: String,
    },
    /// The engine is shutting down.
    #[error("the engine is shutting down")]
    Closed,
}

/// The answer of a task. A panic in it goes on in whoever waits, where it is contained and reported as one.
pub(crate) fn joined<T>(answer: Result<T, JoinError>) -> Result<T, Error> {
    answer.map_err(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => Error::Closed,
    })
}

impl From<ImportError> for Error {
    fn from(error: ImportError) -> Error {
        match error {
            ImportError::Invalid { .. } | ImportError::Text { .. } => Error::bad_request(error.to_string()),
            ImportError::Unsupported { what, at } => {
                Error::Unsupported { what: format!("{what} ({at} of the module)") }
            }
            ImportError::TooMany { kind, count, offset } => {
                Error::ModuleEntries { limit: MOST_OF_A_KIND.into(), kind, count, offset }
            }
            ImportError::TooManyNodes { count, function, at } => {
                Error::ModuleNodes { limit: MOST_NODES, count, function, at: at.to_string() }
            }
        }
    }
}

impl Error {
    /// The error of a name that nothing of its kind has, with near ones, or else some of those that there are.
    pub(crate) fn unnamed<'n, N: Iterator<Item = &'n str>>(
        what: &'static str,
        given: &str,
        names: impl Fn() -> N,
    ) -> Error {
        const SOME: usize = 10;
        let mut candidates = lmlang_ir::text::nearest(given, names());
        if candidates.is_empty() {
            candidates.extend(names().take(SOME).map(str::to_owned));
        }
        Error::NotFound { what, given: given.to_owned(), candidates, retired: false }
    }

    /// Whether the same may be read a while later: the database is away.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Error::Storage(fault) if fault.may_pass())
    }

    pub(crate) fn not_found(what: &'static str, given: impl Into<String>) -> Error {
        Error::NotFound { what, given: given.into(), candidates: Vec::new(), retired: false }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Error {
        Error::BadRequest { message: message.into() }
    }
}
