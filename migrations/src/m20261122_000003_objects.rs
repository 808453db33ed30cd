//! Content-addressed objects, and the snapshots that name their roots.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// Chunks of tries by the hash of their content, shared by all programs; `version` says how `bytes` are encoded.
#[derive(DeriveIden)]
enum Objects {
    Table,
    Hash,
    Version,
    Bytes,
}

#[derive(DeriveIden)]
enum Snapshots {
    Table,
    Program,
    Seq,
    Root,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(Objects::Table)
                    .col(blob(Objects::Hash).primary_key())
                    .col(small_integer(Objects::Version))
                    .col(blob(Objects::Bytes))
                    .to_owned(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table(Snapshots::Table)
                    .col(big_integer(Snapshots::Program))
                    .col(big_integer(Snapshots::Seq))
                    .col(blob(Snapshots::Root))
                    .primary_key(Index::create().col(Snapshots::Program).col(Snapshots::Seq))
                    .to_owned(),
            )
            .await
    }
}
