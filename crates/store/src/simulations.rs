//! Simulations that are kept for a while, so that their traces can be read again.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use uuid::Uuid;

use crate::entity::{simulations, trace_chunks};
use crate::entry::{ProgramKey, Timestamp};
use crate::fault::Fault;
use crate::store::Store;
use crate::writer::Sql;

/// A simulation without its trace.
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

/// Consecutive steps of a simulation's trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceChunk {
    /// The number of the first step in it.
    pub first: u64,
    /// The steps, encoded.
    pub bytes: Vec<u8>,
}

impl Store {
    /// Stores a simulation, or its newer state under the same id, together with more of its trace.
    ///
    /// Happens in the background. A chunk that is there already is replaced.
    ///
    /// # Errors
    ///
    /// A fault of the database; nothing is stored then.
    pub async fn save_simulation(&self, simulation: Simulation, trace: Vec<TraceChunk>) -> Result<(), Fault> {
        let id = simulation.id;
        let row = simulations::ActiveModel {
            id: Set(id),
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
        let mut statements = vec![Sql::new(&insert)];
        statements.extend(trace.into_iter().map(|chunk| put_chunk(id, chunk)));
        self.committer().write_in_background(statements).await?;
        Ok(())
    }

    /// The simulation with an id, if it has not expired.
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

    /// Chunks of a trace in order, at most `limit`, beginning with the one that holds step `from`.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn trace(&self, id: Uuid, from: u64, limit: u64) -> Result<Vec<TraceChunk>, Fault> {
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let chunks = || trace_chunks::Entity::find().filter(trace_chunks::Column::Simulation.eq(id));
        let start: Option<i64> = chunks()
            .filter(trace_chunks::Column::First.lte(from))
            .order_by_desc(trace_chunks::Column::First)
            .select_only()
            .column(trace_chunks::Column::First)
            .into_tuple()
            .one(&self.reader)
            .await?;
        let rows = chunks()
            .filter(trace_chunks::Column::First.gte(start.unwrap_or(from)))
            .order_by_asc(trace_chunks::Column::First)
            .limit(limit)
            .all(&self.reader)
            .await?;
        Ok(rows
            .into_iter()
            .map(|row| TraceChunk { first: row.first.cast_unsigned(), bytes: row.bytes })
            .collect())
    }

    /// Removes simulations made before a time, with their traces, and answers how many.
    ///
    /// # Errors
    ///
    /// A fault of the database; nothing is removed then.
    pub async fn expire_simulations(&self, before: Timestamp) -> Result<u64, Fault> {
        let expired = Query::select()
            .column(simulations::Column::Id)
            .from(simulations::Entity)
            .and_where(Expr::col(simulations::Column::Created).lt(before.0))
            .to_owned();
        let traces = Query::delete()
            .from_table(trace_chunks::Entity)
            .and_where(Expr::col(trace_chunks::Column::Simulation).in_subquery(expired))
            .to_owned();
        let rows = Query::delete()
            .from_table(simulations::Entity)
            .and_where(Expr::col(simulations::Column::Created).lt(before.0))
            .to_owned();
        let changed = self.committer().write_in_background(vec![Sql::new(&traces), Sql::new(&rows)]).await?;
        Ok(changed.last().copied().unwrap_or(0))
    }
}

fn put_chunk(simulation: Uuid, chunk: TraceChunk) -> Sql {
    let row = trace_chunks::ActiveModel {
        simulation: Set(simulation),
        first: Set(chunk.first.cast_signed()),
        bytes: Set(chunk.bytes),
    };
    let mut insert = trace_chunks::Entity::insert(row).into_query();
    insert.on_conflict(
        OnConflict::columns([trace_chunks::Column::Simulation, trace_chunks::Column::First])
            .update_column(trace_chunks::Column::Bytes)
            .to_owned(),
    );
    Sql::new(&insert)
}
