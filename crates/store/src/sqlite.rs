//! A SQLite file: finding it, judging it, bringing it to the newest schema.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sea_orm::sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions};
use sea_orm::sqlx::{ConnectOptions, SqlitePool};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, SqliteTransactionMode, SqlxSqliteConnector, Statement,
    TransactionOptions, TransactionTrait,
};

use crate::aside::Aside;
use crate::entity_values;
use crate::fault::Fault;
use crate::folder::{folder_of, sync_folder};
use crate::location::Location;
use crate::lock::{Lock, LockError};
use crate::open::{self, OpenError, Ready, Schema, without_upkeep};
use crate::place::Place;
use crate::pragmas::WRITING;
use crate::store::Options;
use crate::writer::Access;

/// "lmlg": marks the file as ours, beside the names of the tables.
const APPLICATION_ID: i32 = 0x6c6d_6c67;

/// A multi-row insert has a statement for every number of rows up to 256, and there are others.
const CACHED_STATEMENTS: usize = 512;

/// Opens a file, made if there is none; no other process has it then.
pub(crate) async fn open(path: &Path, options: &Options) -> Result<Ready, OpenError> {
    let (path, folder) = locate(path)?;
    let lock = Lock::take(&path, options.address.as_deref()).map_err(|error| match error {
        LockError::Held(holder) => OpenError::Held { path: path.clone(), holder },
        LockError::Io(source) => OpenError::Path { path: path.clone(), source },
    })?;
    let schema = match fs::metadata(&path) {
        Ok(file) if file.len() > 0 => judge(&path).await?,
        Ok(_) => Schema::Missing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Schema::Missing,
        Err(source) => return Err(OpenError::Path { path, source }),
    };
    if schema != Schema::Current {
        migrate(&path).await.map_err(|source| failed(&path, source))?;
        sync_folder(&folder).map_err(|source| OpenError::Path { path: folder, source })?;
    }
    let reader = open_readers(&path, options.readers).await.map_err(|source| failed(&path, source))?;
    let writing = writer_options(&path).busy_timeout(options.busy_timeout);
    let place = Place::of(&path).map_err(|source| OpenError::Path { path: path.clone(), source })?;
    // Whoever is asked at the steps of a write is asked at all of them.
    let aside = (!options.faults.has_steps()).then(|| Aside::new(&path, place.clone()));
    Ok(Ready {
        aside,
        access: Access::Sqlite(Box::new(writing), place),
        reader,
        lock: Some(lock),
        location: Location::File(path),
        is_new: schema == Schema::Missing,
    })
}

fn failed(path: &Path, source: Fault) -> OpenError {
    OpenError::Database { location: Location::File(path.to_owned()), source }
}

/// Makes the folder, and names the file by its real folder so that two ways to it find one lock.
fn locate(path: &Path) -> Result<(PathBuf, PathBuf), OpenError> {
    let refused = |source| OpenError::Path { path: path.to_owned(), source };
    let name = path.file_name().ok_or_else(|| refused(io::ErrorKind::IsADirectory.into()))?;
    let folder = folder_of(path);
    fs::create_dir_all(folder).map_err(refused)?;
    let folder = folder.canonicalize().map_err(refused)?;
    match path.canonicalize() {
        // Follows a link to the file itself.
        Ok(real) => Ok((real, folder)),
        Err(_) => Ok((folder.join(name), folder)),
    }
}

/// Removes a file that nobody has open, with those that the database may have left beside it; the lock's stays.
pub(crate) fn remove(path: &Path) {
    for end in ["-wal", "-shm", ""] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        if let Err(error) = fs::remove_file(&name)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %path.display(), %error, "a database that is not needed could not be removed");
        }
    }
}

/// Judges the schema of a file. Changes nothing in one that is not ours or is newer.
async fn judge(path: &Path) -> Result<Schema, OpenError> {
    let db = connect_once(plain_options(path)).await.map_err(|source| failed(path, source))?;
    let verdict = judge_content(path, &db).await;
    db.close().await.map_err(|error| failed(path, error.into()))?;
    verdict
}

async fn judge_content(path: &Path, db: &DatabaseConnection) -> Result<Schema, OpenError> {
    let location = Location::File(path.to_owned());
    let read = async {
        let application: i32 = number(db, "PRAGMA application_id").await?;
        let tables: i32 = number(db, "SELECT count(*) FROM sqlite_master").await?;
        let applied = match application {
            APPLICATION_ID => Some(lmlang_migrations::applied(db).await?),
            _ => None,
        };
        Ok::<_, Fault>((application, tables, applied))
    };
    match read.await.map_err(|source| failed(path, source))? {
        (_, _, Some(applied)) => open::judge(&location, &applied),
        // A file without tables was being made when the process ended.
        (0, 0, None) => Ok(Schema::Missing),
        (_, _, None) => Err(OpenError::Foreign { location }),
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
    entity_values::fill(&transaction).await?;
    transaction.execute_unprepared(&format!("PRAGMA application_id = {APPLICATION_ID}")).await?;
    transaction.commit().await?;
    db.close().await?;
    Ok(())
}

async fn connect_once(options: SqliteConnectOptions) -> Result<DatabaseConnection, Fault> {
    let pool = without_upkeep(SqlitePoolOptions::new()).max_connections(1).connect_with(options).await?;
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
fn writer_options(path: &Path) -> SqliteConnectOptions {
    let options = plain_options(path)
        .create_if_missing(true)
        .page_size(4096)
        .journal_mode(SqliteJournalMode::Wal)
        .statement_cache_capacity(CACHED_STATEMENTS);
    WRITING.into_iter().fold(options, |options, (name, value)| options.pragma(name, value))
}

/// The connections that read, all of them from the beginning: one that is opened later could find another file in the place of this
/// one, with the write-ahead log of this one beside it. They cannot write by mistake.
async fn open_readers(path: &Path, connections: u32) -> Result<DatabaseConnection, Fault> {
    let options = plain_options(path).pragma("query_only", "ON");
    let pool: SqlitePool = without_upkeep(SqlitePoolOptions::new())
        .max_connections(connections)
        .min_connections(connections)
        .test_before_acquire(false)
        .connect_with(options)
        .await?;
    Ok(SqlxSqliteConnector::from_sqlx_sqlite_pool(pool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_log_that_has_grown_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let db = connect_once(writer_options(&folder.path().join("lmlang.db"))).await.unwrap();
        assert_eq!(number(&db, "PRAGMA journal_size_limit").await.unwrap(), 64 << 20);
        db.close().await.unwrap();
    }
}
