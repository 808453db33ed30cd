//! What processes over one database share and nobody else knows.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// A row is made by whoever needs it first, and stays as it is.
#[derive(DeriveIden)]
enum Secrets {
    Table,
    Name,
    Value,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(Secrets::Table)
                    .col(text(Secrets::Name).primary_key())
                    .col(blob(Secrets::Value))
                    .to_owned(),
            )
            .await
    }
}
