//! Reading what happened to all programs, in the order in which it was committed.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::sea_query::{Expr, SimpleExpr};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use crate::entity::{log, program_changes, programs};
use crate::entry::Entry;
use crate::fault::Fault;
use crate::log::to_row;
use crate::packs;
use crate::program_changes::ProgramChange;
use crate::store::Store;

/// A place in the order of everything that happened: behind a row of the log and a change of a program.
///
/// Each of the two only grows, so whatever is not behind a place has not been seen from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Position {
    /// The last row of the log; 0 for none.
    pub log: u64,
    /// The last change of a program; 0 for none.
    pub change: u64,
}

/// Something that happened to a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happened {
    /// The place behind it.
    pub position: Position,
    /// The program.
    pub program: Uuid,
    /// What it was.
    pub what: What,
}

/// What happened to a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// An entry was appended to its log.
    Entry(Box<Entry>),
    /// It was made, renamed, changed otherwise or deleted.
    Program(ProgramChange),
}

/// How much is read at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// Rows at most.
    pub rows: u64,
    /// Bytes of edits at most, beyond those of the first row.
    pub bytes: u64,
}

impl Bound {
    /// How many rows of these sizes are within the bound: one at least, where there is one.
    pub(crate) fn fitting(self, sizes: impl IntoIterator<Item = i64>) -> usize {
        let mut sum = 0_u64;
        let fits = |(index, size): &(usize, i64)| {
            sum = sum.saturating_add(size.unsigned_abs());
            *index == 0 || sum <= self.bytes
        };
        sizes.into_iter().enumerate().take_while(fits).count()
    }
}

impl Store {
    /// What happened to all programs after a place, in order, as much as a bound allows; nothing if nothing did.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn happened(&self, after: Position, bound: Bound) -> Result<Vec<Happened>, Fault> {
        let sizes: Vec<(i64, i64)> = log::Entity::find()
            .select_only()
            .column(log::Column::Position)
            .expr(stored_bytes())
            .filter(log::Column::Position.gt(to_row(after.log)))
            .order_by_asc(log::Column::Position)
            .limit(bound.rows)
            .into_tuple()
            .all(&self.reader)
            .await?;
        let fitting = bound.fitting(sizes.iter().map(|(_, size)| *size));
        let through = fitting.checked_sub(1).and_then(|last| sizes.get(last)).map(|(position, _)| *position);
        let mut rows = match through {
            None => Vec::new(),
            Some(through) => {
                let mut rows = log::Entity::find()
                    .filter(log::Column::Position.gt(to_row(after.log)))
                    .filter(log::Column::Position.lte(through))
                    .order_by_asc(log::Column::Position)
                    .all(&self.reader)
                    .await?;
                packs::fill(&self.reader, &mut rows).await?;
                rows
            }
        };
        // Read after the log: what changed before one of these rows is there by now. What changed behind the last of
        // them has its turn when it is known that no row lies before it.
        let changes = program_changes::Entity::find()
            .filter(program_changes::Column::Key.gt(to_row(after.change)))
            .filter(program_changes::Column::Position.lte(through.unwrap_or(to_row(after.log))))
            .order_by_asc(program_changes::Column::Key)
            .limit(bound.rows)
            .all(&self.reader)
            .await?;
        if changes.len() as u64 == bound.rows
            && let Some(last) = changes.last()
        {
            // Others may follow before the next row.
            rows.retain(|row| row.position <= last.position);
        }
        self.merged(after, rows, changes).await
    }

    async fn merged(
        &self,
        after: Position,
        rows: Vec<log::Model>,
        changes: Vec<program_changes::Model>,
    ) -> Result<Vec<Happened>, Fault> {
        let keys = rows.iter().map(|row| row.program).chain(changes.iter().map(|change| change.program));
        let ids = self.ids(keys.collect()).await?;
        let id = |key, table| ids.get(&key).copied().ok_or(Fault::Row { table, column: "program" });
        let mut happened = Vec::with_capacity(rows.len() + changes.len());
        let (mut position, mut changes) = (after, changes.into_iter().peekable());
        let change = |position: &mut Position, change: program_changes::Model| {
            position.change = change.key.cast_unsigned();
            let program = id(change.program, "program_changes")?;
            Ok::<_, Fault>(Happened { position: *position, program, what: What::Program(change.try_into()?) })
        };
        for row in rows {
            while let Some(before) = changes.next_if(|change| change.position < row.position) {
                happened.push(change(&mut position, before)?);
            }
            position.log = row.position.cast_unsigned();
            let program = id(row.program, "log")?;
            happened.push(Happened { position, program, what: What::Entry(Box::new(row.try_into()?)) });
        }
        for last in changes {
            happened.push(change(&mut position, last)?);
        }
        Ok(happened)
    }

    async fn ids(&self, keys: BTreeSet<i64>) -> Result<BTreeMap<i64, Uuid>, Fault> {
        if keys.is_empty() {
            return Ok(BTreeMap::new());
        }
        let ids: Vec<(i64, Uuid)> = programs::Entity::find()
            .select_only()
            .columns([programs::Column::Key, programs::Column::Id])
            .filter(programs::Column::Key.is_in(keys))
            .into_tuple()
            .all(&self.reader)
            .await?;
        Ok(ids.into_iter().collect())
    }

    /// The place behind everything that happened so far.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn position(&self) -> Result<Position, Fault> {
        let log: Option<i64> = log::Entity::find()
            .select_only()
            .column(log::Column::Position)
            .order_by_desc(log::Column::Position)
            .into_tuple()
            .one(&self.reader)
            .await?;
        let log = log.unwrap_or(0);
        let change: Option<i64> = program_changes::Entity::find()
            .select_only()
            .column(program_changes::Column::Key)
            // Not behind a row that came only now.
            .filter(program_changes::Column::Position.lte(log))
            .order_by_desc(program_changes::Column::Key)
            .into_tuple()
            .one(&self.reader)
            .await?;
        Ok(Position { log: log.cast_unsigned(), change: change.unwrap_or(0).cast_unsigned() })
    }
}

/// The bytes that a row with its edits takes, about. Measuring a blob does not read it.
pub(crate) fn stored_bytes() -> SimpleExpr {
    Expr::cust(r#"CAST(LENGTH("edits") + LENGTH("counts") + COALESCE("packed", 0) AS BIGINT)"#)
}
