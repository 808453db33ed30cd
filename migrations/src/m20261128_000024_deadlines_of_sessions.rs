//! How long runs of a session may take where nothing else is said of one.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[derive(DeriveIden)]
enum Sessions {
    Table,
    Within,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let within = big_integer_null(Sessions::Within);
        manager.alter_table(Table::alter().table(Sessions::Table).add_column(within).to_owned()).await
    }
}
