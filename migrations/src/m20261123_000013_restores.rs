//! Where a log goes back to older content is found without the rest of it.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[derive(DeriveIden)]
enum Log {
    Table,
    Program,
    Seq,
    Kind,
}

/// The kind of a restore.
const RESTORE: i16 = 5;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_index(
                Index::create()
                    .name("log_restores")
                    .table(Log::Table)
                    .col(Log::Program)
                    .col(Log::Seq)
                    .and_where(Expr::col(Log::Kind).eq(RESTORE))
                    .to_owned(),
            )
            .await
    }
}
