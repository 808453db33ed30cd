//! What lets several processes write to one database, as PostgreSQL does: how long each log is, and whose turn it is.
//!
//! SQLite has one writing process, which knows both; there this migration does nothing.

use sea_orm_migration::{prelude::*, schema::*, sea_orm::DbBackend};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// One row per live program: the number of its newest entry, and which that is. A commit locks the rows of its programs,
/// compares them with what it was built on and moves them on; a program that is deleted loses its row, and so takes no
/// more.
#[derive(DeriveIden)]
enum Heads {
    Table,
    Program,
    Seq,
    Entry,
}

/// One row. A transaction that writes to the log or to the changes of programs locks it, after the heads, so positions
/// become visible in their order: what is seen has nothing missing before it.
#[derive(DeriveIden)]
enum CommitOrder {
    Table,
    Turn,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Sqlite {
            return Ok(());
        }
        manager
            .create_table(
                Table::create()
                    .table(Heads::Table)
                    .col(big_integer(Heads::Program).primary_key())
                    .col(big_integer(Heads::Seq))
                    .col(uuid(Heads::Entry))
                    .to_owned(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table(CommitOrder::Table)
                    .col(small_integer(CommitOrder::Turn).primary_key())
                    .to_owned(),
            )
            .await?;
        // Names are compared byte by byte, as SQLite does, whatever the language of the database is.
        manager
            .get_connection()
            .execute_unprepared(
                r#"INSERT INTO "commit_order" ("turn") VALUES (0);
                   ALTER TABLE "programs" ALTER COLUMN "name" TYPE text COLLATE "C";
                   ALTER TABLE "actors" ALTER COLUMN "name" TYPE text COLLATE "C";
                   ALTER TABLE "actors" ALTER COLUMN "client" TYPE text COLLATE "C";
                   ALTER TABLE "api_tokens" ALTER COLUMN "name" TYPE text COLLATE "C";
                   ALTER TABLE "api_tokens" ALTER COLUMN "id" TYPE text COLLATE "C""#,
            )
            .await?;
        Ok(())
    }
}
