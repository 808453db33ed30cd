//! What branches there are is read from the log, and what is done on one is found without the rest of it.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[derive(DeriveIden)]
enum Heads {
    Table,
}

#[derive(DeriveIden)]
enum Log {
    Table,
    Program,
    Branch,
    Seq,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table(Heads::Table).to_owned()).await?;
        // `main` is branch 0: a commit on it does not touch this index.
        manager
            .create_index(
                Index::create()
                    .name("log_branches")
                    .table(Log::Table)
                    .col(Log::Program)
                    .col(Log::Branch)
                    .col(Log::Seq)
                    .and_where(Expr::col(Log::Branch).ne(0))
                    .to_owned(),
            )
            .await
    }
}
