//! The order of everything that is written: a position for each row of the log, and changes of programs between them.

use sea_orm_migration::{prelude::*, schema::*, sea_orm::DbBackend};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

/// As the migration of the log describes it, with `position`: where a row stands among those of all programs, in the
/// order of commits. On SQLite it is the row's own number, so it costs nothing: there is one writer, and no row is ever
/// removed, so each is greater than all before it, and what is seen has nothing missing before it. PostgreSQL hands
/// numbers out before their transactions commit: with several writers, a reader there must not go beyond the first
/// number of a transaction that is still open.
#[derive(DeriveIden)]
enum Log {
    Table,
    Position,
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

/// Programs that were made (0), renamed (1), changed otherwise (2) and deleted (3), in this order. `position` is that of
/// the newest row of the log at that moment: a change comes after that row and before the next one.
#[derive(DeriveIden)]
enum ProgramChanges {
    Table,
    Key,
    Position,
    Program,
    Kind,
    Name,
    Time,
}

/// What the log had before, in the same order.
const COLUMNS: &str = r#""program", "seq", "id", "parents", "branch", "kind", "actor", "on_behalf_of", "message", "time", "edits", "counts", "root_hash", "next_ref", "target", "idem_key", "request_digest", "run", "step""#;

/// A key that the database counts on. On SQLite without `AUTOINCREMENT`, which would write a second table.
fn counted(column: impl IntoIden, backend: DbBackend) -> ColumnDef {
    let mut column = big_integer(column);
    column.primary_key();
    if backend != DbBackend::Sqlite {
        column.auto_increment();
    }
    column
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let (db, backend) = (manager.get_connection(), manager.get_database_backend());
        // Rows lay in the order of commits before too; elsewhere there are none yet.
        let order = if backend == DbBackend::Sqlite { "rowid" } else { "\"program\", \"seq\"" };
        for index in ["log_idem", "log_marks"] {
            manager.drop_index(Index::drop().name(index).table(Log::Table).to_owned()).await?;
        }
        manager.rename_table(Table::rename().table(Log::Table, Alias::new("log_before")).to_owned()).await?;
        manager
            .create_table(
                Table::create()
                    .table(Log::Table)
                    .col(counted(Log::Position, backend))
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
                    .to_owned(),
            )
            .await?;
        db.execute_unprepared(&format!(
            "INSERT INTO \"log\" ({COLUMNS}) SELECT {COLUMNS} FROM \"log_before\" ORDER BY {order}"
        ))
        .await?;
        manager.drop_table(Table::drop().table(Alias::new("log_before")).to_owned()).await?;
        manager
            .create_index(
                Index::create()
                    .unique()
                    .name("log_entry")
                    .table(Log::Table)
                    .col(Log::Program)
                    .col(Log::Seq)
                    .to_owned(),
            )
            .await?;
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
            .await?;
        manager
            .create_table(
                Table::create()
                    .table(ProgramChanges::Table)
                    .col(counted(ProgramChanges::Key, backend))
                    .col(big_integer(ProgramChanges::Position))
                    .col(big_integer(ProgramChanges::Program))
                    .col(small_integer(ProgramChanges::Kind))
                    .col(text(ProgramChanges::Name))
                    .col(big_integer(ProgramChanges::Time))
                    .to_owned(),
            )
            .await?;
        // Programs that are there already were made before their first entries; when a deleted one went is not known.
        db.execute_unprepared(
            r#"INSERT INTO "program_changes" ("position", "program", "kind", "name", "time")
               SELECT * FROM (
                   SELECT "log"."position" - 1 AS "at", "programs"."key", 0 AS "what", "name", "created"
                   FROM "programs" JOIN "log" ON "log"."program" = "programs"."key" AND "log"."seq" = 1
                   UNION ALL
                   SELECT (SELECT MAX("position") FROM "log"), "key", 3, "name", "deleted"
                   FROM "programs" WHERE "deleted" IS NOT NULL
               ) AS "known" ORDER BY "at", "what", "key""#,
        )
        .await?;
        Ok(())
    }
}
