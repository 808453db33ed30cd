//! The database schema, as an append-only list of migrations.
//!
//! A migration is never changed after it has been released: a later one alters what it made. Every column type goes
//! through `sea-query`, so that the same list runs on SQLite and PostgreSQL. `schema.sql` beside this crate's manifest
//! is what the whole list makes of an empty SQLite database; a test proves it current.
//!
//! This crate knows tables and indexes, not what is stored in them. Start with [`Migrator`], then one file per migration.

#![expect(
    elided_lifetimes_in_paths,
    reason = "the trait's own signature elides it, and a named one would be bound at another place"
)]

use sea_orm::{ConnectionTrait, Database, DatabaseConnection, DbBackend, DbErr, Statement};
use sea_orm_migration::{MigrationTrait, SchemaManager, SchemaManagerConnection, async_trait};
pub use sea_orm_migration::{MigratorTrait, sea_orm};

mod m20261122_000001_programs;
mod m20261122_000002_log;
mod m20261122_000003_objects;
mod m20261122_000004_simulations;
mod m20261122_000005_positions;
mod m20261122_000006_program_requests;
mod m20261122_000007_simulations_by_request;
mod m20261122_000008_api_tokens;
mod m20261122_000009_branches;
mod m20261122_000010_several_writers;
mod m20261122_000011_packs;
mod m20261123_000012_packs_without_last;
mod m20261123_000013_restores;
mod m20261124_000014_cases;
mod m20261125_000015_flows;
mod m20261125_000016_entities;
mod m20261125_000017_manager;
mod m20261125_000018_removals;
mod m20261127_000019_run_deadlines;
mod m20261128_000020_secrets;
mod m20261128_000021_flows;
mod m20261128_000022_names_of_cases;
mod m20261128_000023_entity_values;
mod m20261128_000024_deadlines_of_sessions;
mod m20261128_000025_run_snapshots;

/// Runs the migrations in order.
#[derive(Debug)]
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m20261122_000001_programs::Migration),
            Box::new(m20261122_000002_log::Migration),
            Box::new(m20261122_000003_objects::Migration),
            Box::new(m20261122_000004_simulations::Migration),
            Box::new(m20261122_000005_positions::Migration),
            Box::new(m20261122_000006_program_requests::Migration),
            Box::new(m20261122_000007_simulations_by_request::Migration),
            Box::new(m20261122_000008_api_tokens::Migration),
            Box::new(m20261122_000009_branches::Migration),
            Box::new(m20261122_000010_several_writers::Migration),
            Box::new(m20261122_000011_packs::Migration),
            Box::new(m20261123_000012_packs_without_last::Migration),
            Box::new(m20261123_000013_restores::Migration),
            Box::new(m20261124_000014_cases::Migration),
            Box::new(m20261125_000015_flows::Migration),
            Box::new(m20261125_000016_entities::Migration),
            Box::new(m20261125_000017_manager::Migration),
            Box::new(m20261125_000018_removals::Migration),
            Box::new(m20261127_000019_run_deadlines::Migration),
            Box::new(m20261128_000020_secrets::Migration),
            Box::new(m20261128_000021_flows::Migration),
            Box::new(m20261128_000022_names_of_cases::Migration),
            Box::new(m20261128_000023_entity_values::Migration),
            Box::new(m20261128_000024_deadlines_of_sessions::Migration),
            Box::new(m20261128_000025_run_snapshots::Migration),
        ]
    }
}

/// The names of all migrations that this binary knows, oldest first.
pub fn known() -> Vec<String> {
    Migrator::migrations().iter().map(|migration| migration.name().to_owned()).collect()
}

/// The names of the migrations that a database has seen, oldest first; empty for a database without any.
///
/// Reads only.
///
/// # Errors
///
/// Whatever the database answers.
pub async fn applied(db: &DatabaseConnection) -> Result<Vec<String>, DbErr> {
    let table = Migrator::migration_table_name().to_string();
    if !SchemaManager::new(db).has_table(table).await? {
        return Ok(Vec::new());
    }
    let models = Migrator::get_migration_models(db).await?;
    Ok(models.into_iter().map(|model| model.version).collect())
}

/// Brings a database to the newest schema.
///
/// SQLite does not wrap a migration in a transaction of its own accord: pass one, so that a process that dies leaves
/// either the old schema or the new one.
///
/// # Errors
///
/// Whatever the database answers, and a migration that was applied but is not known here.
pub async fn migrate<'c, C>(db: C) -> Result<(), DbErr>
where
    C: sea_orm_migration::IntoSchemaManagerConnection<'c>,
{
    let connection: SchemaManagerConnection<'c> = db.into_database_executor();
    Migrator::up(connection, None).await
}

/// What the migrations make of an empty SQLite database, as one statement a line group, in creation order of the names.
///
/// This is the content of `schema.sql`; `cargo xtask codegen` writes it.
///
/// # Errors
///
/// Whatever the in-memory database answers.
pub async fn schema_sql() -> Result<String, DbErr> {
    let db = Database::connect("sqlite::memory:").await?;
    migrate(&db).await?;
    let rows = db
        .query_all_raw(Statement::from_string(
            DbBackend::Sqlite,
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name <> 'seaql_migrations' \
             ORDER BY tbl_name, type DESC, name",
        ))
        .await?;
    let mut schema = String::from("-- Generated from the migrations: cargo xtask codegen\n");
    for row in rows {
        let sql: String = row.try_get_by_index(0)?;
        schema.push('\n');
        schema.push_str(&layout(&sql));
        schema.push_str(";\n");
    }
    db.close().await?;
    Ok(schema)
}

/// Breaks a `CREATE TABLE` into a line per column or constraint; leaves an index on its line.
fn layout(sql: &str) -> String {
    let (Some(open), true) = (sql.find('('), sql.starts_with("CREATE TABLE")) else {
        return sql.to_owned();
    };
    let mut out = sql[..=open].trim_end().to_owned();
    out.push_str("\n  ");
    let mut depth = 0_usize;
    let body = sql[open + 1..].trim().strip_suffix(')').unwrap_or(&sql[open + 1..]).trim();
    let mut rest = body.chars().peekable();
    while let Some(char) = rest.next() {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                out.push_str(",\n  ");
                while rest.next_if(|next| next.is_whitespace()).is_some() {}
                continue;
            }
            _ => {}
        }
        out.push(char);
    }
    out.push_str("\n)");
    out
}
