//! Simulations that are kept for a while, with their traces in chunks.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[derive(DeriveIden)]
enum Simulations {
    Table,
    Id,
    Program,
    Created,
    Payload,
}

/// `first` is the number of the first step in `bytes`.
#[derive(DeriveIden)]
enum TraceChunks {
    Table,
    Simulation,
    First,
    Bytes,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(Simulations::Table)
                    .col(uuid(Simulations::Id).primary_key())
                    .col(big_integer(Simulations::Program))
                    .col(big_integer(Simulations::Created))
                    .col(blob(Simulations::Payload))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .name("simulations_created")
                    .table(Simulations::Table)
                    .col(Simulations::Created)
                    .to_owned(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table(TraceChunks::Table)
                    .col(uuid(TraceChunks::Simulation))
                    .col(big_integer(TraceChunks::First))
                    .col(blob(TraceChunks::Bytes))
                    .primary_key(Index::create().col(TraceChunks::Simulation).col(TraceChunks::First))
                    .to_owned(),
            )
            .await
    }
}
