//! Snapshots: the roots from which a program is opened without its whole log.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

use crate::entity::snapshots;
use crate::entry::ProgramKey;
use crate::fault::Fault;
use crate::objects::Object;
use crate::store::Store;

/// The root of the state after an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The program.
    pub program: ProgramKey,
    /// The entry's number.
    pub seq: u64,
    /// The root chunk, which names the objects below it.
    pub root: Vec<u8>,
}

impl Store {
    /// Stores a snapshot after the objects that it needs.
    ///
    /// Happens in the background. The snapshot becomes visible when all its objects are durable. Answers how many of
    /// the objects were new.
    ///
    /// # Errors
    ///
    /// A fault of the database. Some of the objects may be stored then, the snapshot is not.
    pub async fn put_snapshot(&self, snapshot: Snapshot, objects: Vec<Object>) -> Result<u64, Fault> {
        let new = self.put_objects(objects).await?;
        let row = snapshots::ActiveModel {
            program: Set(snapshot.program.0),
            seq: Set(snapshot.seq.cast_signed()),
            root: Set(snapshot.root),
        };
        let mut insert = snapshots::Entity::insert(row).into_query();
        insert.on_conflict(
            OnConflict::columns([snapshots::Column::Program, snapshots::Column::Seq])
                .update_column(snapshots::Column::Root)
                .to_owned(),
        );
        self.committer().write_in_background(vec![insert.into()]).await?;
        Ok(new)
    }

    /// Snapshots of a program at or before an entry, newest first, at most `limit`.
    ///
    /// They may be on any branch; the entry with a snapshot's number says which.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn snapshots(
        &self,
        program: ProgramKey,
        at_most: u64,
        limit: u64,
    ) -> Result<Vec<Snapshot>, Fault> {
        let rows = snapshots::Entity::find()
            .filter(snapshots::Column::Program.eq(program.0))
            .filter(snapshots::Column::Seq.lte(i64::try_from(at_most).unwrap_or(i64::MAX)))
            .order_by_desc(snapshots::Column::Seq)
            .limit(limit)
            .all(&self.reader)
            .await?;
        Ok(rows.into_iter().map(Snapshot::from).collect())
    }
}

impl From<snapshots::Model> for Snapshot {
    fn from(row: snapshots::Model) -> Self {
        Self { program: ProgramKey(row.program), seq: row.seq.cast_unsigned(), root: row.root }
    }
}
