//! Simulations that are kept for a while, by what was run: a run repeats itself.

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
            .await
    }
}
