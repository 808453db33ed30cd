//! The edits of older entries lie together in packs, which take less room.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[derive(DeriveIden)]
enum Log {
    Table,
    /// How many bytes the entry's edits take in a pack; nothing where they stand in the row itself.
    Packed,
}

/// The edits of the entries from one number to another, compressed.
#[derive(DeriveIden)]
enum Packs {
    Table,
    Program,
    First,
    Last,
    /// Behind which row of the log packing went on when this was made.
    Position,
    Bytes,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .alter_table(
                Table::alter().table(Log::Table).add_column(big_integer_null(Log::Packed)).to_owned(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table(Packs::Table)
                    .col(big_integer(Packs::Program))
                    .col(big_integer(Packs::First))
                    .col(big_integer(Packs::Last))
                    .col(big_integer(Packs::Position))
                    .col(blob(Packs::Bytes))
                    .primary_key(Index::create().col(Packs::Program).col(Packs::First))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create().name("packs_position").table(Packs::Table).col(Packs::Position).to_owned(),
            )
            .await
    }
}
