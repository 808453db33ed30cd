//! What became of programs as wholes: made, renamed, deleted.
//!
//! Each change is noted in the transaction that makes it; one of a program that is there before it is made, so that a
//! transaction that runs again after a lost answer finds it made and notes nothing.

use sea_orm::sea_query::{CaseStatement, Expr, ExprTrait, Query, SelectStatement, SimpleExpr};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use crate::entity::{program_changes, programs};
use crate::entry::{ProgramKey, Timestamp};
use crate::fault::Fault;
use crate::feed::Position;
use crate::log::to_row;
use crate::sql::Sql;
use crate::store::Store;

/// What became of a program.
///
/// The discriminants are stored: they never change, and new kinds are added at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ProgramChangeKind {
    /// It was made.
    Made = 0,
    /// It has another name.
    Renamed = 1,
    /// Something else about it is another, such as its doc.
    Changed = 2,
    /// It was deleted.
    Deleted = 3,
}

impl ProgramChangeKind {
    const ALL: [Self; 4] = [Self::Made, Self::Renamed, Self::Changed, Self::Deleted];

    pub(crate) fn code(self) -> i16 {
        self as i16
    }

    pub(crate) fn from_code(code: i16) -> Option<Self> {
        usize::try_from(code).ok().and_then(|code| Self::ALL.get(code).copied())
    }
}

/// What became of a program, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramChange {
    /// What became of it.
    pub kind: ProgramChangeKind,
    /// Its name after that.
    pub name: String,
    /// When.
    pub time: Timestamp,
}

impl TryFrom<program_changes::Model> for ProgramChange {
    type Error = Fault;

    fn try_from(row: program_changes::Model) -> Result<Self, Fault> {
        let kind = ProgramChangeKind::from_code(row.kind);
        Ok(Self {
            kind: kind.ok_or(Fault::Row { table: "program_changes", column: "kind" })?,
            name: row.name,
            time: Timestamp(row.time),
        })
    }
}

impl Store {
    /// The programs that were changed as wholes after a place.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn changed_programs(&self, after: Position) -> Result<Vec<ProgramKey>, Fault> {
        let keys: Vec<i64> = program_changes::Entity::find()
            .select_only()
            .column(program_changes::Column::Program)
            .filter(program_changes::Column::Key.gt(to_row(after.change)))
            .distinct()
            .into_tuple()
            .all(&self.reader)
            .await?;
        Ok(keys.into_iter().map(ProgramKey).collect())
    }
}

/// Notes that a program was made: of one whose row is there.
pub(crate) fn creation(key: ProgramKey, time: Timestamp) -> Sql {
    let kind = Expr::value(ProgramChangeKind::Made.code());
    note(key, kind, Expr::col(programs::Column::Name), time, Expr::value(true))
}

/// Notes that a live program gets another name or doc; nothing if none is given.
pub(crate) fn update(key: ProgramKey, name: Option<&str>, doc: Option<&str>, time: Timestamp) -> Option<Sql> {
    let other = |column: programs::Column, value: &str| Expr::col(column).ne(value);
    let renamed = name.map(|name| other(programs::Column::Name, name));
    let changed = doc.map(|doc| other(programs::Column::Doc, doc));
    let differs = match (renamed.clone(), changed) {
        (Some(renamed), Some(changed)) => renamed.or(changed),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => return None,
    };
    let kind = match renamed {
        Some(renamed) => CaseStatement::new()
            .case(renamed, ProgramChangeKind::Renamed.code())
            .finally(ProgramChangeKind::Changed.code())
            .into(),
        None => Expr::value(ProgramChangeKind::Changed.code()),
    };
    let name = name.map_or_else(|| Expr::col(programs::Column::Name), Expr::value);
    Some(note(key, kind, name, time, differs))
}

/// Notes that a live program is deleted.
pub(crate) fn deletion(key: ProgramKey, time: Timestamp) -> Sql {
    let kind = Expr::value(ProgramChangeKind::Deleted.code());
    note(key, kind, Expr::col(programs::Column::Name), time, Expr::value(true))
}

fn note(key: ProgramKey, kind: SimpleExpr, name: SimpleExpr, time: Timestamp, if_: SimpleExpr) -> Sql {
    let live: SelectStatement = Query::select()
        .expr(newest_position())
        .column(programs::Column::Key)
        .expr(kind)
        .expr(name)
        .expr(Expr::value(time.0))
        .from(programs::Entity)
        .and_where(Expr::col(programs::Column::Key).eq(key.0))
        .and_where(Expr::col(programs::Column::Deleted).is_null())
        .and_where(if_)
        .to_owned();
    let mut insert = Query::insert();
    insert.into_table(program_changes::Entity).columns([
        program_changes::Column::Position,
        program_changes::Column::Program,
        program_changes::Column::Kind,
        program_changes::Column::Name,
        program_changes::Column::Time,
    ]);
    insert.select_from(live).expect("as many columns are selected as are named");
    insert.into()
}

/// The position of the newest row of the log; 0 without one.
pub(crate) fn newest_position() -> SimpleExpr {
    Expr::cust(r#"COALESCE((SELECT MAX("position") FROM "log"), 0)"#)
}
