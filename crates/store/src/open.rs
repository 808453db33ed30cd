//! Opening a database, whichever it is.

use std::fmt;
use std::io;
use std::path::PathBuf;

use sea_orm::DatabaseConnection;
use sea_orm::sqlx::Database;
use sea_orm::sqlx::pool::PoolOptions;

use crate::aside::Aside;
use crate::fault::Fault;
use crate::location::Location;
use crate::lock::{Holder, Lock};
use crate::writer::Access;

/// A database with the newest schema.
pub(crate) struct Ready {
    /// How the one connection that writes reaches it.
    pub(crate) access: Access,
    /// The other way to a file, for one who writes alone.
    pub(crate) aside: Option<Aside>,
    /// The connections that read.
    pub(crate) reader: DatabaseConnection,
    /// Keeps other processes from a file.
    pub(crate) lock: Option<Lock>,
    /// Where it is, by its real name.
    pub(crate) location: Location,
    /// Whether it had no tables before.
    pub(crate) is_new: bool,
}

/// What is to be done to a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schema {
    /// There is none.
    Missing,
    /// It is an older one.
    Old,
    /// It is the newest.
    Current,
}

/// Connections that stay open. The upkeep that a pool does by itself otherwise reads a count that may be below zero for a
/// moment, and then goes round for ever: a thread is busy, and a command does not end.
pub(crate) fn without_upkeep<D: Database>(pool: PoolOptions<D>) -> PoolOptions<D> {
    pool.idle_timeout(None).max_lifetime(None)
}

/// Why a store was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder, a file in it, or one that a URL names cannot be used.
    #[error("`{}` cannot be used", path.display())]
    Path {
        /// The folder or file.
        path: PathBuf,
        /// What the operating system says.
        #[source]
        source: io::Error,
    },
    /// Another process, or another store in this one, has the database open.
    #[error("`{}` is in use by {}", path.display(), Name(holder.as_ref()))]
    Held {
        /// The database.
        path: PathBuf,
        /// Who has it, if that could be read.
        holder: Option<Holder>,
    },
    /// A newer lmlang has changed the schema.
    #[error("`{location}` was written by a newer version (its schema has `{migration}`)")]
    NewerSchema {
        /// The database.
        location: Location,
        /// The first migration that this binary does not know.
        migration: String,
    },
    /// The database is another application's.
    #[error("`{location}` is not an lmlang database")]
    Foreign {
        /// The database.
        location: Location,
    },
    /// The database failed, or the file is none.
    #[error("`{location}` could not be opened")]
    Database {
        /// The database.
        location: Location,
        /// What failed.
        #[source]
        source: Fault,
    },
}

struct Name<'a>(Option<&'a Holder>);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(holder) => holder.fmt(f),
            None => f.write_str("another process"),
        }
    }
}

/// Judges the schema of a database that has the migrations of a list.
pub(crate) fn judge(location: &Location, applied: &[String]) -> Result<Schema, OpenError> {
    let known = lmlang_migrations::known();
    match applied.iter().find(|migration| !known.contains(migration)) {
        Some(migration) => {
            Err(OpenError::NewerSchema { location: location.clone(), migration: migration.clone() })
        }
        None if applied.is_empty() => Ok(Schema::Missing),
        None if applied.len() < known.len() => Ok(Schema::Old),
        None => Ok(Schema::Current),
    }
}
