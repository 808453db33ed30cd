//! A pack does not say where it ends: how many entries it holds says so.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[derive(DeriveIden)]
enum Packs {
    Table,
    Last,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table(Packs::Table).drop_column(Packs::Last).to_owned()).await
    }
}
