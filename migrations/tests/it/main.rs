//! The schema as a whole.

use lmlang_migrations::{Migrator, MigratorTrait, applied, known, migrate, schema_sql, sea_orm};
use sea_orm::{ConnectionTrait, Database, DbBackend, Statement, TransactionTrait};

#[tokio::test]
async fn schema_snapshot_is_current() {
    let current = schema_sql().await.expect("the migrations run on an empty database");
    let committed = include_str!("../../schema.sql");
    assert!(
        committed == current,
        "migrations/schema.sql is out of date: run `cargo xtask codegen`\n{current}"
    );
}

#[tokio::test]
async fn migrating_is_idempotent_and_atomic() {
    let db = Database::connect("sqlite::memory:").await.unwrap();
    assert_eq!(applied(&db).await.unwrap(), Vec::<String>::new());
    let half_done = db.begin().await.unwrap();
    migrate(&half_done).await.unwrap();
    half_done.rollback().await.unwrap();
    assert_eq!(applied(&db).await.unwrap(), Vec::<String>::new());
    migrate(&db).await.unwrap();
    migrate(&db).await.unwrap();
    assert_eq!(applied(&db).await.unwrap(), known());
}

#[test]
fn names_are_in_order_and_distinct() {
    let names = known();
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
    assert_eq!(names.len(), Migrator::migrations().len());
}

/// A database as it was before rows of the log had positions.
const BEFORE_POSITIONS: &str = "
    INSERT INTO programs (key, id, name, doc, created, deleted) VALUES (1, x'01', 'a', '', 10, NULL), (2, x'02', 'b', '', 20, 30);
    INSERT INTO log (rowid, program, seq, id, parents, branch, kind, actor, time, edits, counts, root_hash, next_ref, idem_key) VALUES
        (4, 2, 1, x'0a', x'', 0, 0, 1, 20, x'01', x'', x'', 1, NULL),
        (5, 1, 1, x'0b', x'', 0, 0, 1, 10, x'02', x'', x'', 1, x'6b'),
        (9, 1, 2, x'0c', x'', 0, 8, 1, 11, x'03', x'', x'', 1, NULL),
        (7, 2, 2, x'0d', x'', 0, 1, 1, 21, x'04', x'', x'', 1, NULL);";

#[tokio::test]
async fn a_log_without_positions_gets_them_in_its_order() {
    let db = Database::connect("sqlite::memory:").await.unwrap();
    Migrator::up(&db, Some(4)).await.unwrap();
    db.execute_unprepared(BEFORE_POSITIONS).await.unwrap();
    migrate(&db).await.unwrap();
    let rows = async |sql: &str| -> Vec<(i64, i64, i64)> {
        let rows = db.query_all_raw(Statement::from_string(DbBackend::Sqlite, sql)).await.unwrap();
        let number = |row: &sea_orm::QueryResult, index| row.try_get_by_index::<i64>(index).unwrap();
        rows.iter().map(|row| (number(row, 0), number(row, 1), number(row, 2))).collect()
    };
    let log = rows("SELECT position, program, seq FROM log ORDER BY position").await;
    assert_eq!(log, [(1, 2, 1), (2, 1, 1), (3, 2, 2), (4, 1, 2)]);
    // Made before their first entries, the deleted one gone after all.
    let changes = rows("SELECT position, program, kind FROM program_changes ORDER BY key").await;
    assert_eq!(changes, [(0, 2, 0), (1, 1, 0), (4, 2, 3)]);
    let times = rows("SELECT time, program, kind FROM program_changes ORDER BY key").await;
    assert_eq!(times, [(20, 2, 0), (10, 1, 0), (30, 2, 3)]);
    let kept = "SELECT count(*), 0, 0 FROM log WHERE position = 2 AND edits = x'02' AND idem_key = x'6b' AND time = 10";
    assert_eq!(rows(kept).await, [(1, 0, 0)]);
    let taken = "INSERT INTO log (program, seq, id, parents, branch, kind, actor, time, edits, counts, root_hash, next_ref) \
        VALUES (1, 2, x'0e', x'', 0, 1, 1, 12, x'05', x'', x'', 1)";
    assert!(db.execute_unprepared(taken).await.is_err(), "a number is there once");
}
