//! Snapshots of runs: what a run comes to by an entry, so that going on with it does not read all of its journal.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{EntityTrait, QueryTrait};
use uuid::Uuid;

use crate::entity::run_snapshots;
use crate::fault::Fault;
use crate::sql::Sql;
use crate::store::Store;

/// A run as it stood after an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSnapshot {
    /// The number of the entry.
    pub number: u64,
    /// What tells the definition that it was a run of from others.
    pub definition: Vec<u8>,
    /// The run, encoded.
    pub payload: Vec<u8>,
}

impl Store {
    /// The newest snapshot of a run.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn run_snapshot(&self, run: Uuid) -> Result<Option<RunSnapshot>, Fault> {
        let row = run_snapshots::Entity::find_by_id(run).one(&self.reader).await?;
        Ok(row.map(|row| RunSnapshot {
            number: row.number.cast_unsigned(),
            definition: row.definition,
            payload: row.payload,
        }))
    }
}

/// The statement that keeps a snapshot in the place of the one before.
pub(crate) fn keep(run: Uuid, snapshot: RunSnapshot) -> Sql {
    let row = run_snapshots::ActiveModel {
        run: Set(run),
        number: Set(snapshot.number.cast_signed()),
        definition: Set(snapshot.definition),
        payload: Set(snapshot.payload),
    };
    let columns =
        [run_snapshots::Column::Number, run_snapshots::Column::Definition, run_snapshots::Column::Payload];
    let mut insert = run_snapshots::Entity::insert(row).into_query();
    insert.on_conflict(OnConflict::column(run_snapshots::Column::Run).update_columns(columns).to_owned());
    insert.into()
}
