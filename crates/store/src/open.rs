//! Finding a database, judging it and bringing it to the newest schema.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sea_orm::sqlx::{ConnectOptions, SqlitePool};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, SqliteTransactionMode, SqlxSqliteConnector, Statement,
    TransactionOptions, TransactionTrait,
};

use crate::fault::Fault;
use crate::lock::{Holder, Lock, LockError};

/// Why a store was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// This kind of database cannot be used yet.
    #[error("PostgreSQL is not supported yet")]
    Unsupported,
    /// The folder or a file in it cannot be used.
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
    #[error("`{}` was written by a newer version (its schema has `{migration}`)", path.display())]
    NewerSchema {
        /// The database.
        path: PathBuf,
        /// The first migration that this binary does not know.
        migration: String,
    },
    /// The file is a database of another application.
    #[error("`{}` is not an lmlang database", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The database failed, or the file is none.
    #[error("`{}` could not be opened", path.display())]
    Database {
        /// The database.
        path: PathBuf,
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

/// "lmlg": marks the file as ours, beside the names of the tables.
const APPLICATION_ID: i32 = 0x6c6d_6c67;

/// A multi-row insert has a statement for every number of rows up to 256, and there are others.
const CACHED_STATEMENTS: usize = 512;

/// A locked database file with the newest schema.
pub(crate) struct Ready {
    pub(crate) path: PathBuf,
    pub(crate) lock: Lock,
}

pub(crate) async fn prepare(path: &Path, address: Option<&str>) -> Result<Ready, OpenError> {
    let (path, folder) = locate(path)?;
    let lock = Lock::take(&path, address).map_err(|error| match error {
        LockError::Held(holder) => OpenError::Held { path: path.clone(), holder },
        LockError::Io(source) => OpenError::Path { path: path.clone(), source },
    })?;
    let pending = match fs::metadata(&path) {
        Ok(file) if file.len() > 0 => judge(&path).await?,
        Ok(_) => true,
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(source) => return Err(OpenError::Path { path, source }),
    };
    if pending {
        migrate(&path).await.map_err(|source| OpenError::Database { path: path.clone(), source })?;
        sync_folder(&folder).map_err(|source| OpenError::Path { path: folder, source })?;
    }
    Ok(Ready { path, lock })
}

/// Makes the folder, and names the file by its real folder so that two ways to it find one lock.
fn locate(path: &Path) -> Result<(PathBuf, PathBuf), OpenError> {
    let refused = |source| OpenError::Path { path: path.to_owned(), source };
    let name = path.file_name().ok_or_else(|| refused(io::ErrorKind::IsADirectory.into()))?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    fs::create_dir_all(folder).map_err(refused)?;
    let folder = folder.canonicalize().map_err(refused)?;
    match path.canonicalize() {
        // Follows a link to the file itself.
        Ok(real) => Ok((real, folder)),
        Err(_) => Ok((folder.join(name), folder)),
    }
}

/// Whether migrations are pending. Changes nothing in a file that is not ours or is newer.
async fn judge(path: &Path) -> Result<bool, OpenError> {
    let failed = |source: Fault| OpenError::Database { path: path.to_owned(), source };
    let db = connect_once(plain_options(path)).await.map_err(failed)?;
    let verdict = judge_content(path, &db).await;
    db.close().await.map_err(|error| failed(error.into()))?;
    verdict
}

async fn judge_content(path: &Path, db: &DatabaseConnection) -> Result<bool, OpenError> {
    let failed = |source: Fault| OpenError::Database { path: path.to_owned(), source };
    let application: i32 = number(db, "PRAGMA application_id").await.map_err(failed)?;
    let tables: i32 = number(db, "SELECT count(*) FROM sqlite_master").await.map_err(failed)?;
    if application != APPLICATION_ID {
        // A file without tables was being made when the process ended.
        return if application == 0 && tables == 0 {
            Ok(true)
        } else {
            Err(OpenError::Foreign { path: path.to_owned() })
        };
    }
    let known = lmlang_migrations::known();
    let applied = lmlang_migrations::applied(db).await.map_err(|error| failed(error.into()))?;
    match applied.iter().find(|migration| !known.contains(migration)) {
        Some(migration) => {
            Err(OpenError::NewerSchema { path: path.to_owned(), migration: migration.clone() })
        }
        None => Ok(applied.len() < known.len()),
    }
}

/// Runs what is pending in one transaction: a process that dies leaves the old schema.
async fn migrate(path: &Path) -> Result<(), Fault> {
    let db = connect_once(writer_options(path)).await?;
    let immediate = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    let transaction = db.begin_with_options(immediate).await?;
    lmlang_migrations::migrate(&transaction).await?;
    transaction.execute_unprepared(&format!("PRAGMA application_id = {APPLICATION_ID}")).await?;
    transaction.commit().await?;
    db.close().await?;
    Ok(())
}

/// A file's name is durable when its folder is.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be opened as a file, and the file system keeps names by itself.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

async fn connect_once(options: SqliteConnectOptions) -> Result<DatabaseConnection, Fault> {
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await?;
    Ok(SqlxSqliteConnector::from_sqlx_sqlite_pool(pool))
}

async fn number(db: &DatabaseConnection, sql: &str) -> Result<i32, Fault> {
    let row = db.query_one_raw(Statement::from_string(DbBackend::Sqlite, sql)).await?;
    let row = row.ok_or(Fault::Row { table: "sqlite_master", column: "name" })?;
    Ok(row.try_get_by_index(0)?)
}

fn plain_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(path).create_if_missing(false).disable_statement_logging()
}

/// How the one writing connection is opened.
pub(crate) fn writer_options(path: &Path) -> SqliteConnectOptions {
    plain_options(path)
        .create_if_missing(true)
        .page_size(4096)
        .journal_mode(SqliteJournalMode::Wal)
        // A commit is on the disk before it is answered.
        .synchronous(SqliteSynchronous::Full)
        // Four times the default: fewer pauses, at 16 MB of log.
        .pragma("wal_autocheckpoint", "4000")
        .statement_cache_capacity(CACHED_STATEMENTS)
}

/// The connections that read. They cannot write by mistake.
pub(crate) async fn open_readers(path: &Path, connections: u32) -> Result<DatabaseConnection, Fault> {
    let options = plain_options(path).pragma("query_only", "ON");
    let pool: SqlitePool = SqlitePoolOptions::new()
        .max_connections(connections)
        .min_connections(1)
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        .connect_with(options)
        .await?;
    Ok(SqlxSqliteConnector::from_sqlx_sqlite_pool(pool))
}
