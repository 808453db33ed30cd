//! The branches of programs.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QueryTrait};

use crate::entity::heads;
use crate::entry::{ProgramKey, Timestamp};
use crate::fault::Fault;
use crate::store::Store;
use crate::writer::Sql;

/// One branch of a program.
///
/// An edit does not touch it: `seq` is a low-water mark. The head is the newest entry on the branch after `seq`, or the
/// entry `seq` where there is none ([`Store::head_seq`]). It is written when a branch is made, moved or removed, in the
/// transaction of the entry that does so, and with snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The branch's number in its program, never used again. The first branch has number 0.
    pub branch: u32,
    /// Its name, unique among the program's live branches.
    pub name: String,
    /// The number of an entry that is or was its head.
    pub seq: u64,
    /// When it was made.
    pub created: Timestamp,
    /// When it was removed. Entries on it remain, and still name it.
    pub deleted: Option<Timestamp>,
}

impl Store {
    /// All branches that a program ever had, by number.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn heads(&self, program: ProgramKey) -> Result<Vec<Head>, Fault> {
        let rows = heads::Entity::find()
            .filter(heads::Column::Program.eq(program.0))
            .order_by_asc(heads::Column::Branch)
            .all(&self.reader)
            .await?;
        Ok(rows.into_iter().map(Head::from).collect())
    }

    /// The number of a branch's newest entry; `None` if there is no such branch.
    ///
    /// Costs a walk over the entries after the branch's low-water mark.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn head_seq(&self, program: ProgramKey, branch: u32) -> Result<Option<u64>, Fault> {
        let row = heads::Entity::find_by_id((program.0, branch.cast_signed())).one(&self.reader).await?;
        let Some(head) = row.map(Head::from) else { return Ok(None) };
        let newest = self.newest_seq_on(program, branch, head.seq).await?;
        Ok(Some(newest.unwrap_or(head.seq)))
    }
}

impl From<heads::Model> for Head {
    fn from(row: heads::Model) -> Self {
        Self {
            branch: row.branch.cast_unsigned(),
            name: row.name,
            seq: row.seq.cast_unsigned(),
            created: Timestamp(row.created),
            deleted: row.deleted.map(Timestamp),
        }
    }
}

pub(crate) fn upsert_head(program: ProgramKey, head: &Head) -> Sql {
    let row = heads::ActiveModel {
        program: Set(program.0),
        branch: Set(head.branch.cast_signed()),
        name: Set(head.name.clone()),
        seq: Set(head.seq.cast_signed()),
        created: Set(head.created.0),
        deleted: Set(head.deleted.map(|time| time.0)),
    };
    let mut insert = heads::Entity::insert(row).into_query();
    insert.on_conflict(
        OnConflict::columns([heads::Column::Program, heads::Column::Branch])
            .update_columns([heads::Column::Name, heads::Column::Seq, heads::Column::Deleted])
            .to_owned(),
    );
    Sql::new(&insert)
}

/// Raises the low-water mark of a branch; never lowers it.
pub(crate) fn raise_mark(program: ProgramKey, branch: u32, seq: u64) -> Sql {
    let update = Query::update()
        .table(heads::Entity)
        .value(heads::Column::Seq, seq.cast_signed())
        .and_where(Expr::col(heads::Column::Program).eq(program.0))
        .and_where(Expr::col(heads::Column::Branch).eq(branch.cast_signed()))
        .and_where(Expr::col(heads::Column::Seq).lt(seq.cast_signed()))
        .to_owned();
    Sql::new(&update)
}
