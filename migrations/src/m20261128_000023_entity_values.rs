//! By which values of their properties entities are found.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// A row for each property, of the entity `id`, with a value that one can look for. `digest` is that of the label, the property
/// and the value, and `name` the natural key, so that those with a value stand in its order. Whoever migrates a database makes
/// them of the entities that are there.
#[derive(DeriveIden)]
enum EntityValues {
    Table,
    Id,
    Digest,
    Name,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(EntityValues::Table)
                    .col(uuid(EntityValues::Id))
                    .col(blob(EntityValues::Digest))
                    .col(blob(EntityValues::Name))
                    .primary_key(Index::create().col(EntityValues::Id).col(EntityValues::Digest))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .name("entity_values_digest")
                    .table(EntityValues::Table)
                    .col(EntityValues::Digest)
                    .col(EntityValues::Name)
                    .to_owned(),
            )
            .await
    }
}
