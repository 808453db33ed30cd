//! When a run ends by itself, for lists: it follows from the run's journal, like the rest of how it stands.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[derive(DeriveIden)]
enum Runs {
    Table,
    Deadline,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let deadline = big_integer_null(Runs::Deadline);
        manager.alter_table(Table::alter().table(Runs::Table).add_column(deadline).to_owned()).await
    }
}
