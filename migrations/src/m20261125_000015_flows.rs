//! Runs of flows, their journals, their questions, and the sessions that they belong to.

use sea_orm_migration::{prelude::*, schema::*};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// Definitions that runs were begun with, by what tells them apart: a run shows its own, whatever has become of the flow.
#[derive(DeriveIden)]
enum FlowDefinitions {
    Table,
    Hash,
    Name,
    Version,
    Definition,
}

/// `made_key` is that of the request that made it.
#[derive(DeriveIden)]
enum Sessions {
    Table,
    Key,
    Id,
    Workflow,
    Title,
    Actor,
    Made,
    MadeKey,
    MadeDigest,
}

/// What is said of a run here follows from its journal, but for who began it, with what, and who executes it at the moment
/// (`owner`, until `lease`).
#[derive(DeriveIden)]
enum Runs {
    Table,
    Key,
    Id,
    Flow,
    Definition,
    Session,
    Parent,
    ParentPlace,
    Program,
    Branch,
    Actor,
    Input,
    Made,
    Status,
    Node,
    Last,
    Wake,
    Ended,
    MadeKey,
    MadeDigest,
    ForkedFrom,
    ForkedAt,
    Owner,
    Lease,
}

/// Appended to and never changed. `position` orders the entries of all runs.
#[derive(DeriveIden)]
enum Journal {
    Table,
    Position,
    Run,
    Number,
    Time,
    Kind,
    Payload,
}

/// Questions, each by the number of the entry that asked it; what it asks is in that entry.
#[derive(DeriveIden)]
enum Interrupts {
    Table,
    Key,
    Run,
    Asked,
    Time,
    Standing,
    Program,
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(FlowDefinitions::Table)
                    .col(blob(FlowDefinitions::Hash).primary_key())
                    .col(text(FlowDefinitions::Name))
                    .col(big_integer(FlowDefinitions::Version))
                    .col(blob(FlowDefinitions::Definition))
                    .to_owned(),
            )
            .await?;
        manager
            .create_table(
                Table::create()
                    .table(Sessions::Table)
                    .col(big_pk_auto(Sessions::Key))
                    .col(uuid_uniq(Sessions::Id))
                    .col(text(Sessions::Workflow))
                    .col(text_null(Sessions::Title))
                    .col(big_integer(Sessions::Actor))
                    .col(big_integer(Sessions::Made))
                    .col(blob_null(Sessions::MadeKey))
                    .col(blob_null(Sessions::MadeDigest))
                    .to_owned(),
            )
            .await?;
        manager.create_index(unique("sessions_made_key", Sessions::Table, Sessions::MadeKey)).await?;
        create_runs(manager).await?;
        manager
            .create_table(
                Table::create()
                    .table(Journal::Table)
                    .col(big_pk_auto(Journal::Position))
                    .col(uuid(Journal::Run))
                    .col(big_integer(Journal::Number))
                    .col(big_integer(Journal::Time))
                    .col(small_integer(Journal::Kind))
                    .col(blob(Journal::Payload))
                    .to_owned(),
            )
            .await?;
        let entries = Index::create()
            .unique()
            .name("journal_entry")
            .table(Journal::Table)
            .col(Journal::Run)
            .col(Journal::Number)
            .to_owned();
        manager.create_index(entries).await?;
        manager
            .create_table(
                Table::create()
                    .table(Interrupts::Table)
                    .col(big_pk_auto(Interrupts::Key))
                    .col(uuid(Interrupts::Run))
                    .col(big_integer(Interrupts::Asked))
                    .col(big_integer(Interrupts::Time))
                    .col(small_integer(Interrupts::Standing))
                    .col(uuid_null(Interrupts::Program))
                    .to_owned(),
            )
            .await?;
        let asked = Index::create()
            .unique()
            .name("interrupts_asked")
            .table(Interrupts::Table)
            .col(Interrupts::Run)
            .col(Interrupts::Asked)
            .to_owned();
        manager.create_index(asked).await?;
        let standing = Index::create()
            .name("interrupts_standing")
            .table(Interrupts::Table)
            .col(Interrupts::Standing)
            .col(Interrupts::Key)
            .to_owned();
        manager.create_index(standing).await
    }
}

async fn create_runs(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    manager
        .create_table(
            Table::create()
                .table(Runs::Table)
                .col(big_pk_auto(Runs::Key))
                .col(uuid_uniq(Runs::Id))
                .col(text(Runs::Flow))
                .col(blob(Runs::Definition))
                .col(uuid(Runs::Session))
                .col(uuid_null(Runs::Parent))
                .col(text_null(Runs::ParentPlace))
                .col(uuid_null(Runs::Program))
                .col(text_null(Runs::Branch))
                .col(big_integer(Runs::Actor))
                .col(blob(Runs::Input))
                .col(big_integer(Runs::Made))
                .col(small_integer(Runs::Status))
                .col(text_null(Runs::Node))
                .col(big_integer(Runs::Last))
                .col(big_integer_null(Runs::Wake))
                .col(big_integer_null(Runs::Ended))
                .col(blob_null(Runs::MadeKey))
                .col(blob_null(Runs::MadeDigest))
                .col(uuid_null(Runs::ForkedFrom))
                .col(big_integer_null(Runs::ForkedAt))
                .col(uuid_null(Runs::Owner))
                .col(big_integer_null(Runs::Lease))
                .to_owned(),
        )
        .await?;
    manager.create_index(unique("runs_made_key", Runs::Table, Runs::MadeKey)).await?;
    for (name, column) in [("runs_session", Runs::Session), ("runs_parent", Runs::Parent)] {
        let index = Index::create().name(name).table(Runs::Table).col(column).to_owned();
        manager.create_index(index).await?;
    }
    // What is to be gone on with, and when: runs that have ended, the most of them by far, are not in it.
    let due = Index::create()
        .name("runs_wake")
        .table(Runs::Table)
        .col(Runs::Wake)
        .and_where(Expr::col(Runs::Wake).is_not_null())
        .to_owned();
    manager.create_index(due).await
}

fn unique(
    name: &str,
    table: impl IntoIden + 'static,
    column: impl IntoIden + 'static,
) -> IndexCreateStatement {
    Index::create().unique().name(name).table(table.into_iden()).col(column.into_iden()).to_owned()
}
