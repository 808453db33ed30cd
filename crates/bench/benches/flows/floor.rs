//! What SQLite itself takes for it: rows as large as the entries of a journal, and nothing that an engine does besides.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};
use uuid::Uuid;

use crate::MANY;

/// A connection that inserts into a copy of the table `journal`.
pub(crate) struct Floor {
    connection: Connection,
    /// As many runs as go on at once.
    runs: Vec<Vec<u8>>,
    number: i64,
    kind: i64,
    payload: Vec<u8>,
}

impl Floor {
    /// Makes a database with the table and rows of an engine's.
    pub(crate) fn start(database: &Path, of: &Path) -> rusqlite::Result<Floor> {
        let engine = Connection::open_with_flags(of, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut schema = engine.prepare(
            "SELECT sql FROM sqlite_master WHERE tbl_name = 'journal' AND sql IS NOT NULL ORDER BY type DESC",
        )?;
        let schema: Vec<String> = schema.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let newest = "SELECT kind, payload FROM journal ORDER BY position DESC LIMIT 1";
        let (kind, payload) = engine.query_row(newest, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let connection = Connection::open(database)?;
        // The settings of the engine's own connection.
        connection.pragma_update(None, "page_size", 4096)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "wal_autocheckpoint", 4000)?;
        for statement in &schema {
            connection.execute_batch(statement)?;
        }
        let runs = (0..MANY).map(|_| Uuid::now_v7().into_bytes().to_vec()).collect();
        Ok(Floor { connection, runs, number: 0, kind, payload })
    }

    /// Makes so many transactions, each of which inserts a row for each of so many runs.
    pub(crate) fn insert(&mut self, runs: usize, transactions: u64) -> rusqlite::Result<()> {
        for _ in 0..transactions {
            self.number += 1;
            let transaction = self.connection.transaction()?;
            {
                let mut insert = transaction.prepare_cached(
                    "INSERT INTO journal (run, number, time, kind, payload) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?;
                for run in &self.runs[..runs] {
                    insert.execute(params![run, self.number, self.number, self.kind, self.payload])?;
                }
            }
            transaction.commit()?;
        }
        Ok(())
    }
}

/// Bytes of a database that hold something, with those that are in its log only.
pub(crate) fn stored(database: &Path) -> rusqlite::Result<u64> {
    let connection = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = number("page_count")? - number("freelist_count")?;
    Ok((pages * number("page_size")?).unsigned_abs())
}
