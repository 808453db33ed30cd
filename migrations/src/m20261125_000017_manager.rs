//! What the built-in Manager keeps: streams and pipelines.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// `kind` and `name` are bytes: every database compares and orders those alike.
#[derive(DeriveIden)]
enum ManagerRecords {
    Table,
    Kind,
    Name,
    Value,
}

/// Appended to and never changed: who planned on one revision stores the next one, or nothing.
#[derive(DeriveIden)]
enum ManagerChanges {
    Table,
    Revision,
    Id,
    Time,
    Actor,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(ManagerRecords::Table)
                    .col(blob(ManagerRecords::Kind))
                    .col(blob(ManagerRecords::Name))
                    .col(blob(ManagerRecords::Value))
                    .primary_key(Index::create().col(ManagerRecords::Kind).col(ManagerRecords::Name))
                    .to_owned(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table(ManagerChanges::Table)
                    .col(big_integer(ManagerChanges::Revision).primary_key())
                    .col(uuid_uniq(ManagerChanges::Id))
                    .col(big_integer(ManagerChanges::Time))
                    .col(big_integer(ManagerChanges::Actor))
                    .to_owned(),
            )
            .await
    }
}
