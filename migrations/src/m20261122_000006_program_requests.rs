//! Requests under a key that changed a program as a whole, each with what it left behind: a repetition is answered with it.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// `seq` is that of the program's newest content then. Keys are unique over all programs: a request can name its program
/// by a name that is another one's by now.
#[derive(DeriveIden)]
enum ProgramRequests {
    Table,
    IdemKey,
    RequestDigest,
    Program,
    Seq,
    Name,
    Doc,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(ProgramRequests::Table)
                    .col(blob(ProgramRequests::IdemKey).primary_key())
                    .col(blob(ProgramRequests::RequestDigest))
                    .col(big_integer(ProgramRequests::Program))
                    .col(big_integer(ProgramRequests::Seq))
                    .col(text(ProgramRequests::Name))
                    .col(text(ProgramRequests::Doc))
                    .to_owned(),
            )
            .await
    }
}
