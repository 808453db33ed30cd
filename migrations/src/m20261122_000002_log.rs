//! The log: one totally ordered list of entries per program, appended to and never changed.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// A plain rowid table on SQLite: rows append, whatever the program (measured against `WITHOUT ROWID`: a third of the
/// pages). There is no index on `id`: an entry is found by (program, seq), and its id compared.
#[derive(DeriveIden)]
enum Log {
    Table,
    Program,
    Seq,
    Id,
    Parents,
    Branch,
    Kind,
    Actor,
    OnBehalfOf,
    Message,
    Time,
    Edits,
    Counts,
    RootHash,
    NextRef,
    Target,
    IdemKey,
    RequestDigest,
    Run,
    Step,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(Log::Table)
                    .col(big_integer(Log::Program))
                    .col(big_integer(Log::Seq))
                    .col(uuid(Log::Id))
                    .col(blob(Log::Parents))
                    .col(integer(Log::Branch))
                    .col(small_integer(Log::Kind))
                    .col(big_integer(Log::Actor))
                    .col(text_null(Log::OnBehalfOf))
                    .col(text_null(Log::Message))
                    .col(big_integer(Log::Time))
                    .col(blob(Log::Edits))
                    .col(blob(Log::Counts))
                    .col(blob(Log::RootHash))
                    .col(big_integer(Log::NextRef))
                    .col(big_integer_null(Log::Target))
                    .col(blob_null(Log::IdemKey))
                    .col(blob_null(Log::RequestDigest))
                    .col(uuid_null(Log::Run))
                    .col(big_integer_null(Log::Step))
                    .primary_key(Index::create().col(Log::Program).col(Log::Seq))
                    .to_owned(),
            )
            .await?;
        // The key comes first: clients send time-ordered keys, so rows of all programs append to one end of the index.
        manager
            .create_index(
                Index::create()
                    .unique()
                    .name("log_idem")
                    .table(Log::Table)
                    .col(Log::IdemKey)
                    .col(Log::Program)
                    .and_where(Expr::col(Log::IdemKey).is_not_null())
                    .to_owned(),
            )
            .await?;
        // Checkpoints (8) and branches (9) are read whenever a program is opened; a commit of any other kind does not
        // touch this index.
        manager
            .create_index(
                Index::create()
                    .name("log_marks")
                    .table(Log::Table)
                    .col(Log::Program)
                    .col(Log::Seq)
                    .and_where(Expr::col(Log::Kind).gte(8))
                    .to_owned(),
            )
            .await
    }
}
