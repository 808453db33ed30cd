//! Flows that were declared, each declaration as a change.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// Appended to and never changed: who planned on one revision stores the next one, or nothing. `name` is bytes: every database
/// compares those alike. Without a definition, the flow was taken away.
#[derive(DeriveIden)]
enum FlowChanges {
    Table,
    Revision,
    Id,
    Time,
    Actor,
    Name,
    Version,
    Definition,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(FlowChanges::Table)
                    .col(big_integer(FlowChanges::Revision).primary_key())
                    .col(uuid_uniq(FlowChanges::Id))
                    .col(big_integer(FlowChanges::Time))
                    .col(big_integer(FlowChanges::Actor))
                    .col(blob(FlowChanges::Name))
                    .col(big_integer(FlowChanges::Version))
                    .col(blob_null(FlowChanges::Definition))
                    .to_owned(),
            )
            .await
    }
}
