//! Runs as they stood after an entry, the newest of each that is kept: going on with a run reads that, and what came after it.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// They follow from the journals: without them, whole journals are read. `definition` is that of the run by then.
#[derive(DeriveIden)]
enum RunSnapshots {
    Table,
    Run,
    Number,
    Definition,
    Payload,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(RunSnapshots::Table)
                    .col(uuid(RunSnapshots::Run).primary_key())
                    .col(big_integer(RunSnapshots::Number))
                    .col(blob(RunSnapshots::Definition))
                    .col(blob(RunSnapshots::Payload))
                    .to_owned(),
            )
            .await
    }
}
