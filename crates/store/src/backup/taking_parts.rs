//! Storing what belongs to no program.

use std::io::Read;
use std::iter::Peekable;

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Order, Query};
use sea_orm::{EntityTrait, QueryTrait};

use crate::actors::ActorKey;
use crate::backup::fate::Fate;
use crate::backup::file::{Item, Items};
use crate::backup::parts::{Part, PartItem};
use crate::backup::plan::LoadError;
use crate::backup::plan_parts::PlannedPart;
use crate::backup::taking::{MAX_BYTES, Taking};
use crate::entities::{change_row, entity_row, relation_row};
use crate::entity::{
    entities, entity_changes, entity_values as values, flow_changes, manager_changes, manager_records,
    relations,
};
use crate::entity_values;
use crate::entry::Timestamp;
use crate::fault::{Failure, Fault};
use crate::flow_changes::row;
use crate::jobs::MAX_ROWS;
use crate::sql::Sql;

/// Rows for the next statements.
#[derive(Debug, Default)]
struct Rows {
    entity_changes: Vec<entity_changes::ActiveModel>,
    entities: Vec<entities::ActiveModel>,
    /// By what they are found: it is made anew.
    values: Vec<values::ActiveModel>,
    relations: Vec<relations::ActiveModel>,
    manager_changes: Vec<manager_changes::ActiveModel>,
    manager_records: Vec<manager_records::ActiveModel>,
    flow_changes: Vec<flow_changes::ActiveModel>,
    count: usize,
    bytes: usize,
}

impl Taking<'_> {
    /// Stores a part that begins with an item, in a transaction of its own, if there is something to store.
    pub(super) async fn part(
        &mut self,
        first: PartItem,
        items: &mut Peekable<Items<impl Read>>,
    ) -> Result<(), LoadError> {
        let part = first.part();
        let planned = self.plan.parts.iter().find(|planned| planned.part == part);
        let Some(planned) = planned.filter(|planned| planned.fate != Fate::Kept) else { return Ok(()) };
        self.writer.begin().await.map_err(Fault::from)?;
        match self.part_within(planned, first, items).await {
            Ok(()) => Ok(self.writer.finish(Ok(())).await.map_err(Fault::from)?),
            Err(error) => {
                // Whether taking it back is told to us or not: what is not committed is not there.
                drop(self.writer.finish::<()>(Err(Failure::Fault(Fault::Closed))).await);
                Err(error)
            }
        }
    }

    async fn part_within(
        &mut self,
        planned: &PlannedPart,
        first: PartItem,
        items: &mut Peekable<Items<impl Read>>,
    ) -> Result<(), LoadError> {
        let newest = self.writer.value::<i64>(&newest(planned.part)).await.map_err(Fault::from)?;
        if newest.unwrap_or_default().cast_unsigned() != planned.changes_here {
            return Err(LoadError::PartMoved { part: planned.part });
        }
        for sql in emptied(planned.part) {
            self.execute(sql).await?;
        }
        let mut rows = Rows::default();
        let of_part = |item: &Result<Item, _>| match item {
            Ok(Item::Part(item)) => item.part() == planned.part,
            // What fails is told here.
            Ok(_) => false,
            Err(_) => true,
        };
        let mut next = Some(first);
        while let Some(item) = next {
            self.part_item(item, planned, &mut rows).await?;
            next = match items.next_if(of_part).transpose()? {
                Some(Item::Part(item)) => Some(*item),
                Some(_) | None => None,
            };
        }
        self.flush_part(&mut rows, planned.part).await
    }

    async fn part_item(
        &mut self,
        item: PartItem,
        planned: &PlannedPart,
        rows: &mut Rows,
    ) -> Result<(), LoadError> {
        if item.change().is_some_and(|(revision, ..)| revision <= planned.changes_here) {
            return Ok(());
        }
        rows.count += 1;
        match item {
            PartItem::EntityChange(mut change, actor) => {
                change.actor = self.known(change.actor, &actor).await?;
                rows.entity_changes.push(change_row(change));
            }
            PartItem::Entity(entity) => {
                rows.bytes += entity.props.len() + entity.name.len();
                rows.values.extend(entity_values::rows(&entity));
                rows.entities.push(entity_row(entity));
            }
            PartItem::Relation(relation) => {
                rows.bytes += relation.props.len();
                rows.relations.push(relation_row(relation));
            }
            PartItem::ManagerChange(change, actor) => {
                let ActorKey(actor) = self.known(change.actor, &actor).await?;
                let Timestamp(time) = change.time;
                rows.manager_changes.push(manager_changes::ActiveModel {
                    revision: Set(change.revision.cast_signed()),
                    id: Set(change.id),
                    time: Set(time),
                    actor: Set(actor),
                });
            }
            PartItem::ManagerRecord(record) => {
                let value = record.value.unwrap_or_default();
                rows.bytes += value.len();
                rows.manager_records.push(manager_records::ActiveModel {
                    kind: Set(record.kind.into_bytes()),
                    name: Set(record.name.into_bytes()),
                    value: Set(value),
                });
            }
            PartItem::FlowChange(mut change, actor) => {
                change.actor = self.known(change.actor, &actor).await?;
                rows.bytes += change.definition.as_ref().map_or(0, Vec::len);
                rows.flow_changes.push(row(change));
            }
        }
        if rows.count < MAX_ROWS && rows.bytes < MAX_BYTES {
            return Ok(());
        }
        self.flush_part(rows, planned.part).await
    }

    async fn flush_part(&mut self, rows: &mut Rows, part: Part) -> Result<(), LoadError> {
        for sql in std::mem::take(rows).statements() {
            match self.writer.execute(&sql).await {
                Ok(_) => {}
                // Others who change it do not always take turns.
                Err(Failure::Clash) if !self.writer.is_alone() => return Err(LoadError::PartMoved { part }),
                Err(failure) => return Err(Fault::from(failure).into()),
            }
        }
        Ok(())
    }
}

impl Rows {
    fn statements(self) -> Vec<Sql> {
        let mut statements = Vec::new();
        if !self.entity_changes.is_empty() {
            statements.push(entity_changes::Entity::insert_many(self.entity_changes).into_query().into());
        }
        if !self.entities.is_empty() {
            statements.push(entities::Entity::insert_many(self.entities).into_query().into());
        }
        statements.extend(entity_values::inserting(&self.values));
        if !self.relations.is_empty() {
            statements.push(relations::Entity::insert_many(self.relations).into_query().into());
        }
        if !self.manager_changes.is_empty() {
            statements.push(manager_changes::Entity::insert_many(self.manager_changes).into_query().into());
        }
        if !self.manager_records.is_empty() {
            statements.push(manager_records::Entity::insert_many(self.manager_records).into_query().into());
        }
        if !self.flow_changes.is_empty() {
            statements.push(flow_changes::Entity::insert_many(self.flow_changes).into_query().into());
        }
        statements
    }
}

/// Asks for the number of the newest change of a part.
fn newest(part: Part) -> Sql {
    let mut select = Query::select();
    match part {
        Part::Entities => {
            let revision = entity_changes::Column::Revision;
            select.column(revision).from(entity_changes::Entity).order_by(revision, Order::Desc)
        }
        Part::Manager => {
            let revision = manager_changes::Column::Revision;
            select.column(revision).from(manager_changes::Entity).order_by(revision, Order::Desc)
        }
        Part::Flows => {
            let revision = flow_changes::Column::Revision;
            select.column(revision).from(flow_changes::Entity).order_by(revision, Order::Desc)
        }
    };
    select.limit(1);
    select.into()
}

/// Takes away what the changes of a part have left: the file has what more of them have.
fn emptied(part: Part) -> Vec<Sql> {
    match part {
        Part::Entities => vec![
            Query::delete().from_table(relations::Entity).to_owned().into(),
            Query::delete().from_table(values::Entity).to_owned().into(),
            Query::delete().from_table(entities::Entity).to_owned().into(),
        ],
        Part::Manager => vec![Query::delete().from_table(manager_records::Entity).to_owned().into()],
        // They are nothing but their changes.
        Part::Flows => Vec::new(),
    }
}
