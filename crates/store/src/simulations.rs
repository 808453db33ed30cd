//! Simulations that are kept for a while: what was run, and how it ended.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Query};
use sea_orm::{EntityTrait, QueryTrait};
use uuid::Uuid;

use crate::entity::simulations;
use crate::entry::{ProgramKey, Timestamp};
use crate::fault::Fault;
use crate::store::Store;
use crate::writer::Sql;

/// A simulation. Its trace is not kept: running it again gives it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulation {
    /// Its id.
    pub id: Uuid,
    /// The program that was run.
    pub program: ProgramKey,
    /// When it was made; its retention counts from here.
    pub created: Timestamp,
    /// What was run and how it ended, encoded.
    pub payload: Vec<u8>,
}

impl Store {
    /// Stores a simulation, or its newer state under the same id, in the background.
    ///
    /// # Errors
    ///
    /// A fault of the database; nothing is stored then.
    pub async fn save_simulation(&self, simulation: Simulation) -> Result<(), Fault> {
        let row = simulations::ActiveModel {
            id: Set(simulation.id),
            program: Set(simulation.program.0),
            created: Set(simulation.created.0),
            payload: Set(simulation.payload),
        };
        let mut insert = simulations::Entity::insert(row).into_query();
        insert.on_conflict(
            OnConflict::column(simulations::Column::Id)
                .update_column(simulations::Column::Payload)
                .to_owned(),
        );
        self.committer().write_in_background(vec![Sql::new(&insert)]).await?;
        Ok(())
    }

    /// The simulation with an id, if it has not been removed.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn simulation(&self, id: Uuid) -> Result<Option<Simulation>, Fault> {
        let row = simulations::Entity::find_by_id(id).one(&self.reader).await?;
        Ok(row.map(|row| Simulation {
            id: row.id,
            program: ProgramKey(row.program),
            created: Timestamp(row.created),
            payload: row.payload,
        }))
    }

    /// Removes simulations made before a time, and answers how many.
    ///
    /// # Errors
    ///
    /// A fault of the database; nothing is removed then.
    pub async fn expire_simulations(&self, before: Timestamp) -> Result<u64, Fault> {
        let rows = Query::delete()
            .from_table(simulations::Entity)
            .and_where(Expr::col(simulations::Column::Created).lt(before.0))
            .to_owned();
        let changed = self.committer().write_in_background(vec![Sql::new(&rows)]).await?;
        Ok(changed.last().copied().unwrap_or(0))
    }
}
