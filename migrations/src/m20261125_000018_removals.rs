//! What removing old runs needs: finding those that have ended, and knowing how far the journals had come.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// One row: no entry that was removed had a greater position. Who has seen that entry is not ahead of the journals.
#[derive(DeriveIden)]
enum Removals {
    Table,
    Key,
    Position,
}

#[derive(DeriveIden)]
enum Runs {
    Table,
    Ended,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(Removals::Table)
                    .col(small_integer(Removals::Key).primary_key())
                    .col(big_integer(Removals::Position))
                    .to_owned(),
            )
            .await?;
        let row = Query::insert()
            .into_table(Removals::Table)
            .columns([Removals::Key, Removals::Position])
            .values_panic([0.into(), 0.into()])
            .to_owned();
        manager.execute(row).await?;
        let ended = Index::create()
            .name("runs_ended")
            .table(Runs::Table)
            .col(Runs::Ended)
            .and_where(Expr::col(Runs::Ended).is_not_null())
            .to_owned();
        manager.create_index(ended).await
    }
}
