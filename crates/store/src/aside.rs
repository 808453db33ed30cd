//! The other way to a file: whoever has something stored runs the statement on their own thread, while nobody else writes.
//!
//! On the way through the queue a statement wakes the thread that has the file, that one a thread of the runtime, and that one
//! another to look for more. Of a run that is alone, this takes more of a processor than what its steps do beside the disk.
//! Where several write they meet in the queue and are stored together: this way is for one who is alone.
//!
//! It has a connection of its own, with the settings of the one that writes otherwise; the queue has never both at work. What goes
//! wrong here goes the usual way again, which tells why: a statement that runs here may run twice.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, params_from_iter};
use sea_orm::sea_query::{Value, Values};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use crate::place::Place;
use crate::pragmas::WRITING;
use crate::sql::{Dialect, Known};

/// A file, for one who writes to it alone.
#[derive(Debug)]
pub(crate) struct Aside {
    path: PathBuf,
    place: Place,
    /// Opened when it is first needed, and again when something went wrong.
    connection: Mutex<Option<Connection>>,
}

impl Aside {
    pub(crate) fn new(path: &Path, place: Place) -> Self {
        Self { path: path.to_owned(), place, connection: Mutex::default() }
    }

    /// Runs a statement, which is a transaction, and answers whether it is known to be stored. The thread waits for the disk: it
    /// has to be one that [`may_wait`].
    pub(crate) fn run(&self, known: &Known, values: &Values) -> bool {
        let parameters: Option<Vec<ToSqlOutput<'_>>> = values.iter().map(parameter).collect();
        let Some(parameters) = parameters.filter(|_| self.place.is_kept()) else { return false };
        let mut held = self.held();
        let ran = block_in_place(|| {
            let connection = match held.take() {
                Some(connection) => connection,
                None => self.open()?,
            };
            connection.prepare_cached(known.text(Dialect::Sqlite))?.execute(params_from_iter(parameters))?;
            *held = Some(connection);
            Ok::<(), rusqlite::Error>(())
        });
        if let Err(error) = &ran {
            tracing::debug!(%error, "a statement goes the usual way");
        }
        ran.is_ok()
    }

    /// Ends the connection, which is not to be the last one of the file.
    pub(crate) fn close(&self) {
        drop(self.held().take());
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        // Whoever has the file beside us is waited for on the usual way.
        connection.busy_timeout(Duration::ZERO)?;
        for (name, value) in WRITING {
            connection.pragma_update(None, name, value)?;
        }
        Ok(connection)
    }

    fn held(&self) -> MutexGuard<'_, Option<Connection>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether this thread may wait for a disk: what else it would do, another one does meanwhile. A task of a `LocalSet` has no other
/// thread, and cannot be told apart here: none of those may append to a journal.
pub(crate) fn may_wait() -> bool {
    Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
}

/// A value as SQLite takes it, of those kinds that an entry of a journal has.
fn parameter(value: &Value) -> Option<ToSqlOutput<'_>> {
    let value = match value {
        Value::SmallInt(Some(number)) => ValueRef::Integer(i64::from(*number)),
        Value::BigInt(Some(number)) => ValueRef::Integer(*number),
        Value::Bytes(Some(bytes)) => ValueRef::Blob(bytes),
        Value::Uuid(Some(id)) => ValueRef::Blob(id.as_bytes()),
        // Someone else's enum: other values go the usual way.
        _ => return None,
    };
    Some(ToSqlOutput::Borrowed(value))
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::{Alias, Expr, Query};
    use uuid::Uuid;

    use super::*;
    use crate::sql::Sql;

    fn values(id: Uuid, number: i64) -> Values {
        Values(vec![id.into(), number.into(), b"said".to_vec().into()])
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_statement_is_stored_or_goes_the_usual_way() {
        assert!(may_wait());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.db");
        let beside = Connection::open(&path).unwrap();
        beside.pragma_update(None, "journal_mode", "WAL").unwrap();
        beside.execute_batch("CREATE TABLE kept (id blob UNIQUE, number integer, payload blob)").unwrap();
        let mut insert = Query::insert();
        insert
            .into_table(Alias::new("kept"))
            .columns(["id", "number", "payload"].map(Alias::new))
            .values_panic(values(Uuid::nil(), 0).0.into_iter().map(Expr::val));
        let known = Known::of(&Sql::from(insert));
        let aside = Aside::new(&path, Place::of(&path).unwrap());
        let id = Uuid::now_v7();
        assert!(aside.run(&known, &values(id, 1)));
        assert!(!aside.run(&known, &values(id, 2)), "another one has the id");
        assert!(aside.run(&known, &values(Uuid::now_v7(), 4)));
        let count = "SELECT sum(number) FROM kept WHERE payload = x'73616964'";
        assert_eq!(beside.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 5);
        let first = "SELECT id FROM kept WHERE number = 1";
        assert_eq!(beside.query_row(first, [], |row| row.get::<_, Vec<u8>>(0)).unwrap(), id.as_bytes());
        std::fs::rename(&path, folder.path().join("other.db")).unwrap();
        assert!(!aside.run(&known, &values(Uuid::now_v7(), 8)), "the file was moved");
    }

    #[test]
    fn its_connection_is_set_as_the_one_that_writes_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some.db");
        std::fs::write(&path, b"").unwrap();
        let connection = Aside::new(&path, Place::of(&path).unwrap()).open().unwrap();
        let value = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
        let names = ["foreign_keys", "synchronous", "wal_autocheckpoint", "journal_size_limit"];
        assert_eq!(names.map(value), [1, 2, 4_000, 64 << 20]);
    }

    #[tokio::test]
    async fn a_runtime_of_one_thread_has_none_to_spare() {
        assert!(!may_wait());
    }
}
