//! Test cases of functions, what runs of them gave, and where each was seen to hold.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// `payload` is what is run and what is expected. A row stays when its case is removed, so that loading a backup does not
/// bring it back. The keys are those of the requests that made and removed it.
#[derive(DeriveIden)]
enum Cases {
    Table,
    Id,
    Program,
    Function,
    Name,
    Made,
    Removed,
    MadeKey,
    MadeDigest,
    RemovedKey,
    RemovedDigest,
    Payload,
}

/// What a run gave, by the digest of all that it follows from. Can be lost without harm: running again gives it again.
#[derive(DeriveIden)]
enum CaseResults {
    Table,
    Program,
    Digest,
    Made,
    Payload,
}

/// Revisions at which a case was run or known: of neighbours with one digest, the newest. Can be lost without harm.
#[derive(DeriveIden)]
enum CaseSightings {
    Table,
    CaseId,
    Branch,
    Revision,
    Digest,
    Green,
}

/// What requests under an idempotency key were answered that look for something and change nothing; kept for a while.
#[derive(DeriveIden)]
enum LookRequests {
    Table,
    IdemKey,
    RequestDigest,
    Program,
    Made,
    Payload,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(Cases::Table)
                    .col(uuid(Cases::Id).primary_key())
                    .col(big_integer(Cases::Program))
                    .col(big_integer(Cases::Function))
                    .col(text(Cases::Name))
                    .col(big_integer(Cases::Made))
                    .col(big_integer_null(Cases::Removed))
                    .col(blob_null(Cases::MadeKey))
                    .col(blob_null(Cases::MadeDigest))
                    .col(blob_null(Cases::RemovedKey))
                    .col(blob_null(Cases::RemovedDigest))
                    .col(blob(Cases::Payload))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .unique()
                    .name("cases_name")
                    .table(Cases::Table)
                    .col(Cases::Program)
                    .col(Cases::Function)
                    .col(Cases::Name)
                    .and_where(Expr::col(Cases::Removed).is_null())
                    .to_owned(),
            )
            .await?;
        for (name, column) in [("cases_made_key", Cases::MadeKey), ("cases_removed_key", Cases::RemovedKey)] {
            let index = Index::create().unique().name(name).table(Cases::Table).col(column).to_owned();
            manager.create_index(index).await?;
        }
        manager
            .create_table(
                Table::create()
                    .table(CaseResults::Table)
                    .col(big_integer(CaseResults::Program))
                    .col(blob(CaseResults::Digest))
                    .col(big_integer(CaseResults::Made))
                    .col(blob(CaseResults::Payload))
                    .primary_key(Index::create().col(CaseResults::Program).col(CaseResults::Digest))
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .name("case_results_made")
                    .table(CaseResults::Table)
                    .col(CaseResults::Program)
                    .col(CaseResults::Made)
                    .to_owned(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table(CaseSightings::Table)
                    .col(uuid(CaseSightings::CaseId))
                    .col(integer(CaseSightings::Branch))
                    .col(big_integer(CaseSightings::Revision))
                    .col(blob(CaseSightings::Digest))
                    .col(boolean(CaseSightings::Green))
                    .primary_key(
                        Index::create()
                            .col(CaseSightings::CaseId)
                            .col(CaseSightings::Branch)
                            .col(CaseSightings::Revision),
                    )
                    .to_owned(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table(LookRequests::Table)
                    .col(blob(LookRequests::IdemKey).primary_key())
                    .col(blob(LookRequests::RequestDigest))
                    .col(big_integer(LookRequests::Program))
                    .col(big_integer(LookRequests::Made))
                    .col(blob(LookRequests::Payload))
                    .to_owned(),
            )
            .await
    }
}
