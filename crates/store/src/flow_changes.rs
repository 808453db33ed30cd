//! Flows that were declared: a list of changes, each of which declares a flow anew or takes it away.
//!
//! Whoever plans a change reads at a revision, and stores it as the next one, as entities are changed: of two who planned on
//! one revision the second stores nothing, and plans again. What was declared before stays in the list.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use uuid::Uuid;

use crate::actors::ActorKey;
use crate::entity::flow_changes;
use crate::entry::Timestamp;
use crate::fault::{Failure, Fault};
use crate::store::Store;

/// A change of the flows that are declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowChange {
    /// Its number: one more than that of the revision that it was planned on, from 1 on.
    pub revision: u64,
    /// Its id.
    pub id: Uuid,
    /// When.
    pub time: Timestamp,
    /// Who made it.
    pub actor: ActorKey,
    /// The flow.
    pub name: String,
    /// Its version, from 1 on: what takes it away has that of what it takes away.
    pub version: u32,
    /// Its definition, encoded; none of a change that takes it away.
    pub definition: Option<Vec<u8>>,
}

/// Why a change of flows was not stored.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ChangeFlowsError {
    /// Another one was stored since the revision that it was planned on.
    #[error("the flows have changed")]
    Moved,
    /// The database could not do it.
    #[error(transparent)]
    Storage(#[from] Fault),
}

impl Store {
    /// The number of the newest change of flows, 0 without one.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn flow_revision(&self) -> Result<u64, Fault> {
        let newest = flow_changes::Entity::find()
            .select_only()
            .column(flow_changes::Column::Revision)
            .order_by_desc(flow_changes::Column::Revision)
            .limit(1);
        let newest: Option<i64> = newest.into_tuple().one(&self.reader).await?;
        Ok(newest.map_or(0, i64::cast_unsigned))
    }

    /// The newest change of each flow, of one moment, by name. The newest of all is one of them.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn declared_flows(&self) -> Result<Vec<FlowChange>, Fault> {
        let newest = Query::select()
            .expr(Expr::col(flow_changes::Column::Revision).max())
            .from(flow_changes::Entity)
            .group_by_col(flow_changes::Column::Name)
            .to_owned();
        let found = flow_changes::Entity::find()
            .filter(flow_changes::Column::Revision.in_subquery(newest))
            .order_by_asc(flow_changes::Column::Name);
        found.all(&self.reader).await?.into_iter().map(FlowChange::try_from).collect()
    }

    /// Stores a change of flows.
    ///
    /// # Errors
    ///
    /// See [`ChangeFlowsError`]; nothing is stored then.
    pub async fn change_flows(&self, change: FlowChange) -> Result<(), ChangeFlowsError> {
        let id = change.id;
        let insert = flow_changes::Entity::insert(row(change)).into_query();
        match self.committer().write(vec![insert.into()], None).await {
            Ok(_) => Ok(()),
            Err(Failure::Clash) => {
                // A statement whose answer was lost has run before.
                let there = flow_changes::Entity::find().filter(flow_changes::Column::Id.eq(id));
                match there.one(&self.reader).await.map_err(Fault::from)? {
                    Some(_) => Ok(()),
                    None => Err(ChangeFlowsError::Moved),
                }
            }
            Err(failure) => Err(ChangeFlowsError::Storage(failure.into())),
        }
    }
}

pub(crate) fn row(change: FlowChange) -> flow_changes::ActiveModel {
    flow_changes::ActiveModel {
        revision: Set(change.revision.cast_signed()),
        id: Set(change.id),
        time: Set(change.time.0),
        actor: Set(change.actor.0),
        name: Set(change.name.into_bytes()),
        version: Set(change.version.into()),
        definition: Set(change.definition),
    }
}

impl TryFrom<flow_changes::Model> for FlowChange {
    type Error = Fault;

    fn try_from(row: flow_changes::Model) -> Result<Self, Fault> {
        let wrong = |column| Fault::Row { table: "flow_changes", column };
        Ok(Self {
            revision: row.revision.cast_unsigned(),
            id: row.id,
            time: Timestamp(row.time),
            actor: ActorKey(row.actor),
            name: String::from_utf8(row.name).map_err(|_| wrong("name"))?,
            version: u32::try_from(row.version).map_err(|_| wrong("version"))?,
            definition: row.definition,
        })
    }
}
