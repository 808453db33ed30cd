//! Simulations that are kept for a while, as far as they fit: what was run, and how it ended.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Alias, Expr, ExprTrait, OnConflict, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QueryTrait};
use uuid::Uuid;

use crate::entity::simulations;
use crate::entry::{ProgramKey, Timestamp};
use crate::fault::Fault;
use crate::sql::Sql;
use crate::store::Store;

/// A simulation. Its trace is not kept: running it again gives it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulation {
    /// Its id.
    pub id: Uuid,
    /// The program that was run.
    pub program: ProgramKey,
    /// When it was asked for; its retention counts from here.
    pub created: Timestamp,
    /// A digest of what was run.
    pub digest: Vec<u8>,
    /// Whether it has ended.
    pub ended: bool,
    /// What was run and how it ended, encoded.
    pub payload: Vec<u8>,
}

/// How many simulations are kept at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Rows.
    pub rows: u64,
    /// Bytes of their payloads.
    pub bytes: u64,
}

impl Store {
    /// Stores a simulation, or its newer state under the same id, in the background.
    ///
    /// What is too much then for its program, or for all programs, is removed: first those that have ended, the oldest
    /// one first.
    ///
    /// # Errors
    ///
    /// A fault of the database; nothing is stored then.
    pub async fn save_simulation(
        &self,
        simulation: Simulation,
        of_program: Most,
        of_all: Most,
    ) -> Result<(), Fault> {
        let row = simulations::ActiveModel {
            id: Set(simulation.id),
            program: Set(simulation.program.0),
            created: Set(simulation.created.0),
            digest: Set(simulation.digest),
            ended: Set(simulation.ended),
            payload: Set(simulation.payload),
        };
        let mut insert = simulations::Entity::insert(row).into_query();
        insert.on_conflict(
            OnConflict::column(simulations::Column::Id)
                .update_columns([
                    simulations::Column::Created,
                    simulations::Column::Ended,
                    simulations::Column::Payload,
                ])
                .to_owned(),
        );
        let statements =
            vec![insert.into(), beyond(Some(simulation.program), of_program), beyond(None, of_all)];
        self.committer().write_in_background(statements).await?;
        Ok(())
    }

    /// The simulation with an id, if it has not been removed.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn simulation(&self, id: Uuid) -> Result<Option<Simulation>, Fault> {
        let row = simulations::Entity::find_by_id(id).one(&self.reader).await?;
        Ok(row.map(Simulation::from))
    }

    /// The newest simulation with a digest, if it has not been removed.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn simulation_of(&self, digest: &[u8]) -> Result<Option<Simulation>, Fault> {
        let found = simulations::Entity::find().filter(simulations::Column::Digest.eq(digest));
        let row = found.order_by_desc(simulations::Column::Created).one(&self.reader).await?;
        Ok(row.map(Simulation::from))
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
        let changed = self.committer().write_in_background(vec![rows.into()]).await?;
        Ok(changed.last().copied().unwrap_or(0))
    }
}

/// Removes what is too much of a program, or of all.
fn beyond(program: Option<ProgramKey>, most: Most) -> Sql {
    let over =
        |what: &str| Expr::cust(format!(r#"{what} OVER (ORDER BY "ended", "created" DESC, "id" DESC)"#));
    let (place, bytes) = (Alias::new("place"), Alias::new("bytes"));
    let ranked = Query::select()
        .column(simulations::Column::Id)
        .expr_as(over("ROW_NUMBER()"), place.clone())
        .expr_as(over(r#"SUM(LENGTH("payload"))"#), bytes.clone())
        .from(simulations::Entity)
        .and_where_option(program.map(|program| Expr::col(simulations::Column::Program).eq(program.0)))
        .to_owned();
    let limit = |most: u64| i64::try_from(most).unwrap_or(i64::MAX);
    let too_much = Query::select()
        .column(simulations::Column::Id)
        .from_subquery(ranked, Alias::new("ranked"))
        .and_where(Expr::col(place).gt(limit(most.rows)).or(Expr::col(bytes).gt(limit(most.bytes))))
        .to_owned();
    let rows = Query::delete()
        .from_table(simulations::Entity)
        .and_where(Expr::col(simulations::Column::Id).in_subquery(too_much))
        .to_owned();
    rows.into()
}

impl From<simulations::Model> for Simulation {
    fn from(row: simulations::Model) -> Self {
        Self {
            id: row.id,
            program: ProgramKey(row.program),
            created: Timestamp(row.created),
            digest: row.digest,
            ended: row.ended,
            payload: row.payload,
        }
    }
}
