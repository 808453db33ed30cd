//! Putting what belongs to no program into a backup.

use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use crate::actors::ActorKey;
use crate::backup::making::{Backup, Next, Stage};
use crate::backup::parts::ManagerChangeInFile;
use crate::backup::record::{
    EntityChangeRow, EntityRecord, FlowChangeRow, FlowsEnd, ManagerChangeRow, ManagerRow, PartsEnd,
    RelationRecord,
};
use crate::entities::{EntityChange, EntityRow, RelationRow};
use crate::entity::{entities, entity_changes, flow_changes, manager_changes, manager_records, relations};
use crate::entry::Timestamp;
use crate::fault::Fault;
use crate::flow_changes::FlowChange;
use crate::manager::ManagerRecord;

/// Rows that are read at a time.
const PAGE: u64 = 256;

/// The same of changes of flows, which are longer.
const FLOWS: u64 = 16;

impl Backup {
    /// Puts in what comes next, in the order that a file has, whatever the database is.
    pub(super) async fn next_of_parts(&mut self, next: Next) -> Result<Stage, Fault> {
        let next = match next {
            Next::EntityChange { after } => self.entity_changes(after).await?,
            Next::Entity { after } => self.entities(after).await?,
            Next::Relation { after } => self.relations(after).await?,
            Next::ManagerChange { after } => self.manager_changes(after).await?,
            Next::ManagerRecord { after } => self.manager_records(after).await?,
            Next::PartsEnd => {
                self.put(PartsEnd::from(self.parts));
                Next::FlowChange { after: 0 }
            }
            Next::FlowChange { after } => self.flow_changes(after).await?,
            Next::FlowsEnd => {
                self.put(FlowsEnd { changes: self.parts.flow_changes });
                return Ok(self.end());
            }
        };
        Ok(Stage::Parts(next))
    }

    async fn entity_changes(&mut self, after: i64) -> Result<Next, Fault> {
        let found = entity_changes::Entity::find()
            .filter(entity_changes::Column::Revision.gt(after))
            .order_by_asc(entity_changes::Column::Revision)
            .limit(PAGE);
        let mut next = Next::Entity { after: None };
        for row in found.all(&self.view).await? {
            next = Next::EntityChange { after: row.revision };
            let change = EntityChange::from(row);
            self.parts.entity_changes += 1;
            if change.revision != self.parts.entity_changes {
                return Err(Fault::Row { table: "entity_changes", column: "revision" });
            }
            self.put_actor(change.actor).await?;
            self.put(EntityChangeRow::from(change));
        }
        Ok(next)
    }

    async fn entities(&mut self, after: Option<(Vec<u8>, Vec<u8>)>) -> Result<Next, Fault> {
        let mut found = entities::Entity::find();
        if let Some((label, name)) = after {
            let place = [entities::Column::Label, entities::Column::Name].map(Expr::col);
            let last = [label, name].map(Expr::val);
            found = found.filter(Expr::tuple(place).gt(Expr::tuple(last)));
        }
        let found =
            found.order_by_asc(entities::Column::Label).order_by_asc(entities::Column::Name).limit(PAGE);
        let mut next = Next::Relation { after: None };
        for row in found.all(&self.view).await? {
            next = Next::Entity { after: Some((row.label.clone(), row.name.clone())) };
            self.parts.entities += 1;
            self.put(EntityRecord::from(EntityRow::try_from(row)?));
        }
        Ok(next)
    }

    async fn relations(&mut self, after: Option<(Uuid, Vec<u8>, Uuid)>) -> Result<Next, Fault> {
        let mut found = relations::Entity::find();
        if let Some((source, kind, target)) = after {
            let place = [relations::Column::Source, relations::Column::Kind, relations::Column::Target];
            let last = [Expr::val(source), Expr::val(kind), Expr::val(target)];
            found = found.filter(Expr::tuple(place.map(Expr::col)).gt(Expr::tuple(last)));
        }
        let found = found
            .order_by_asc(relations::Column::Source)
            .order_by_asc(relations::Column::Kind)
            .order_by_asc(relations::Column::Target)
            .limit(PAGE);
        let mut next = Next::ManagerChange { after: 0 };
        for row in found.all(&self.view).await? {
            next = Next::Relation { after: Some((row.source, row.kind.clone(), row.target)) };
            self.parts.relations += 1;
            self.put(RelationRecord::from(RelationRow::try_from(row)?));
        }
        Ok(next)
    }

    async fn manager_changes(&mut self, after: i64) -> Result<Next, Fault> {
        let found = manager_changes::Entity::find()
            .filter(manager_changes::Column::Revision.gt(after))
            .order_by_asc(manager_changes::Column::Revision)
            .limit(PAGE);
        let mut next = Next::ManagerRecord { after: None };
        for row in found.all(&self.view).await? {
            let manager_changes::Model { revision, id, time, actor } = row;
            next = Next::ManagerChange { after: revision };
            self.parts.manager_changes += 1;
            if revision.cast_unsigned() != self.parts.manager_changes {
                return Err(Fault::Row { table: "manager_changes", column: "revision" });
            }
            let (revision, time, actor) = (self.parts.manager_changes, Timestamp(time), ActorKey(actor));
            self.put_actor(actor).await?;
            self.put(ManagerChangeRow::from(ManagerChangeInFile { revision, id, time, actor }));
        }
        Ok(next)
    }

    async fn manager_records(&mut self, after: Option<(Vec<u8>, Vec<u8>)>) -> Result<Next, Fault> {
        let mut found = manager_records::Entity::find();
        if let Some((kind, name)) = after {
            let place = [manager_records::Column::Kind, manager_records::Column::Name].map(Expr::col);
            let last = [kind, name].map(Expr::val);
            found = found.filter(Expr::tuple(place).gt(Expr::tuple(last)));
        }
        let found = found
            .order_by_asc(manager_records::Column::Kind)
            .order_by_asc(manager_records::Column::Name)
            .limit(PAGE);
        let mut next = Next::PartsEnd;
        for row in found.all(&self.view).await? {
            next = Next::ManagerRecord { after: Some((row.kind.clone(), row.name.clone())) };
            self.parts.manager_records += 1;
            let ManagerRecord { kind, name, value } = row.try_into()?;
            self.put(ManagerRow { kind, name, value: value.unwrap_or_default() });
        }
        Ok(next)
    }

    async fn flow_changes(&mut self, after: i64) -> Result<Next, Fault> {
        let found = flow_changes::Entity::find()
            .filter(flow_changes::Column::Revision.gt(after))
            .order_by_asc(flow_changes::Column::Revision)
            .limit(FLOWS);
        let mut next = Next::FlowsEnd;
        for row in found.all(&self.view).await? {
            next = Next::FlowChange { after: row.revision };
            let change = FlowChange::try_from(row)?;
            self.parts.flow_changes += 1;
            if change.revision != self.parts.flow_changes {
                return Err(Fault::Row { table: "flow_changes", column: "revision" });
            }
            self.put_actor(change.actor).await?;
            self.put(FlowChangeRow::from(change));
        }
        Ok(next)
    }
}
