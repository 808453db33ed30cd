//! Names of test cases are compared and ordered byte by byte, as SQLite does, whatever the language of the database is.

use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Sqlite {
            return Ok(());
        }
        let alter = r#"ALTER TABLE "cases" ALTER COLUMN "name" TYPE text COLLATE "C""#;
        manager.get_connection().execute_unprepared(alter).await?;
        Ok(())
    }
}
