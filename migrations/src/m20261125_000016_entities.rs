//! Entities, the relations that join them, and what changed them.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// `label` and `name`, the natural key, are bytes: every database compares and orders those alike.
#[derive(DeriveIden)]
enum Entities {
    Table,
    Key,
    Id,
    Label,
    Name,
    Props,
    Created,
    Updated,
}

/// From the entity `source` to the entity `target`; `kind` says what of them.
#[derive(DeriveIden)]
enum Relations {
    Table,
    Key,
    Id,
    Source,
    Kind,
    Target,
    Props,
    Created,
    Updated,
}

/// Appended to and never changed: who planned on one revision stores the next one, or nothing. `made_key` is that of the
/// request, and the four counts are what it was answered.
#[derive(DeriveIden)]
enum EntityChanges {
    Table,
    Revision,
    Id,
    Time,
    Actor,
    Inserted,
    Updated,
    Deleted,
    Unchanged,
    MadeKey,
    MadeDigest,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(Entities::Table)
                    .col(big_pk_auto(Entities::Key))
                    .col(uuid_uniq(Entities::Id))
                    .col(blob(Entities::Label))
                    .col(blob(Entities::Name))
                    .col(blob(Entities::Props))
                    .col(big_integer(Entities::Created))
                    .col(big_integer(Entities::Updated))
                    .to_owned(),
            )
            .await?;
        let name = Index::create()
            .unique()
            .name("entities_label_name")
            .table(Entities::Table)
            .col(Entities::Label)
            .col(Entities::Name)
            .to_owned();
        manager.create_index(name).await?;
        let any = Index::create().name("entities_name").table(Entities::Table).col(Entities::Name).to_owned();
        manager.create_index(any).await?;
        manager
            .create_table(
                Table::create()
                    .table(Relations::Table)
                    .col(big_pk_auto(Relations::Key))
                    .col(uuid_uniq(Relations::Id))
                    .col(uuid(Relations::Source))
                    .col(blob(Relations::Kind))
                    .col(uuid(Relations::Target))
                    .col(blob(Relations::Props))
                    .col(big_integer(Relations::Created))
                    .col(big_integer(Relations::Updated))
                    .to_owned(),
            )
            .await?;
        let ends = Index::create()
            .unique()
            .name("relations_ends")
            .table(Relations::Table)
            .col(Relations::Source)
            .col(Relations::Kind)
            .col(Relations::Target)
            .to_owned();
        manager.create_index(ends).await?;
        let target = Index::create()
            .name("relations_target")
            .table(Relations::Table)
            .col(Relations::Target)
            .col(Relations::Kind)
            .to_owned();
        manager.create_index(target).await?;
        manager
            .create_table(
                Table::create()
                    .table(EntityChanges::Table)
                    .col(big_integer(EntityChanges::Revision).primary_key())
                    .col(uuid_uniq(EntityChanges::Id))
                    .col(big_integer(EntityChanges::Time))
                    .col(big_integer(EntityChanges::Actor))
                    .col(big_integer(EntityChanges::Inserted))
                    .col(big_integer(EntityChanges::Updated))
                    .col(big_integer(EntityChanges::Deleted))
                    .col(big_integer(EntityChanges::Unchanged))
                    .col(blob_null(EntityChanges::MadeKey))
                    .col(blob_null(EntityChanges::MadeDigest))
                    .to_owned(),
            )
            .await?;
        let made = Index::create()
            .unique()
            .name("entity_changes_made_key")
            .table(EntityChanges::Table)
            .col(EntityChanges::MadeKey)
            .to_owned();
        manager.create_index(made).await
    }
}
