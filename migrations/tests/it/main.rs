//! The schema as a whole.

use lmlang_migrations::{Migrator, MigratorTrait, applied, known, migrate, schema_sql, sea_orm};
use sea_orm::{Database, TransactionTrait};

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
