//! Programs, their branches, and the actors that entries name.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// `key` is what every other table refers to: eight bytes less per index entry than the uuid, and rows of one program
/// lie together. Keys are never reused. A deleted program keeps its row and frees its name.
#[derive(DeriveIden)]
enum Programs {
    Table,
    Key,
    Id,
    Name,
    Doc,
    Created,
    Deleted,
}

/// One row per branch that a program ever had. `seq` is a low-water mark: the head is the newest log entry of the branch
/// above it, or `seq` itself where there is none.
#[derive(DeriveIden)]
enum Heads {
    Table,
    Program,
    Branch,
    Name,
    Seq,
    Created,
    Deleted,
}

#[derive(DeriveIden)]
enum Actors {
    Table,
    Key,
    Name,
    Kind,
    Client,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(Programs::Table)
                    .col(big_pk_auto(Programs::Key))
                    .col(uuid_uniq(Programs::Id))
                    .col(text(Programs::Name))
                    .col(text(Programs::Doc))
                    .col(big_integer(Programs::Created))
                    .col(big_integer_null(Programs::Deleted))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .unique()
                    .name("programs_name")
                    .table(Programs::Table)
                    .col(Programs::Name)
                    .and_where(Expr::col(Programs::Deleted).is_null())
                    .to_owned(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table(Heads::Table)
                    .col(big_integer(Heads::Program))
                    .col(integer(Heads::Branch))
                    .col(text(Heads::Name))
                    .col(big_integer(Heads::Seq))
                    .col(big_integer(Heads::Created))
                    .col(big_integer_null(Heads::Deleted))
                    .primary_key(Index::create().col(Heads::Program).col(Heads::Branch))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .unique()
                    .name("heads_name")
                    .table(Heads::Table)
                    .col(Heads::Program)
                    .col(Heads::Name)
                    .and_where(Expr::col(Heads::Deleted).is_null())
                    .to_owned(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table(Actors::Table)
                    .col(big_pk_auto(Actors::Key))
                    .col(text(Actors::Name))
                    .col(small_integer(Actors::Kind))
                    .col(text(Actors::Client))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .unique()
                    .name("actors_actor")
                    .table(Actors::Table)
                    .col(Actors::Name)
                    .col(Actors::Kind)
                    .col(Actors::Client)
                    .to_owned(),
            )
            .await
    }
}
