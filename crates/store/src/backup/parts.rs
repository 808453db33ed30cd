//! What belongs to no program: entities, what the Manager keeps, and flows that are declared.
//!
//! Each is in a file as a whole, the list of its changes and then what they have left, or not at all. Changes of flows say what they
//! have left. What a change has
//! changed is not recorded, but whoever has the same change under the same number has had the same content after it.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

use crate::actors::{Actor, ActorKey};
use crate::backup::record::{
    EntityChangeRow, EntityRecord, FlowChangeRow, FlowsEnd, Key, ManagerChangeRow, ManagerRow, PartsEnd,
    RelationRecord,
};
use crate::entities::{EntityChange, EntityCounts, EntityRow, RelationRow};
use crate::entry::{Idempotency, Timestamp};
use crate::flow_changes::FlowChange;
use crate::manager::ManagerRecord;

/// What belongs to no program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Entities and relations.
    Entities,
    /// What the Manager keeps.
    Manager,
    /// Flows that are declared.
    Flows,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entities => "the entities",
            Self::Manager => "what the Manager keeps",
            Self::Flows => "the flows",
        })
    }
}

/// How much there is in a backup beside programs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartsInFile {
    /// Changes of entities.
    pub entity_changes: u64,
    /// Entities.
    pub entities: u64,
    /// Relations between them.
    pub relations: u64,
    /// Changes of what the Manager keeps.
    pub manager_changes: u64,
    /// What it keeps.
    pub manager_records: u64,
    /// Changes of flows.
    pub flow_changes: u64,
}

/// A change of what the Manager keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagerChangeInFile {
    /// Its number, from 1 on.
    pub revision: u64,
    /// Its id.
    pub id: Uuid,
    /// When.
    pub time: Timestamp,
    /// Who made it.
    pub actor: ActorKey,
}

/// Something of a part. Changes come with who made them; their own key of that one is the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartItem {
    /// A change of entities.
    EntityChange(EntityChange, Arc<Actor>),
    /// An entity.
    Entity(EntityRow),
    /// A relation.
    Relation(RelationRow),
    /// A change of what the Manager keeps.
    ManagerChange(ManagerChangeInFile, Arc<Actor>),
    /// Something that it keeps.
    ManagerRecord(ManagerRecord),
    /// A change of flows.
    FlowChange(FlowChange, Arc<Actor>),
}

impl PartItem {
    /// What it is of.
    #[must_use]
    pub fn part(&self) -> Part {
        match self {
            Self::EntityChange(..) | Self::Entity(_) | Self::Relation(_) => Part::Entities,
            Self::ManagerChange(..) | Self::ManagerRecord(_) => Part::Manager,
            Self::FlowChange(..) => Part::Flows,
        }
    }

    /// The number, id and time of a change.
    pub(crate) fn change(&self) -> Option<(u64, Uuid, Timestamp)> {
        match self {
            Self::EntityChange(change, _) => Some((change.revision, change.id, change.time)),
            Self::ManagerChange(change, _) => Some((change.revision, change.id, change.time)),
            Self::FlowChange(change, _) => Some((change.revision, change.id, change.time)),
            Self::Entity(_) | Self::Relation(_) | Self::ManagerRecord(_) => None,
        }
    }
}

/// What is known of the parts of a file that is being read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    seen: PartsInFile,
    told: Option<PartsInFile>,
    /// Whether it was said how many changes of flows there are.
    flows_told: bool,
    /// Ids of entities and relations.
    entities: HashSet<Uuid>,
    relations: HashSet<Uuid>,
    /// The last ones, for their order.
    entity: Option<(String, String)>,
    relation: Option<(Uuid, String, Uuid)>,
    record: Option<(String, String)>,
}

/// What is wrong with a record.
type Wrong = &'static str;

const ORDER: Wrong = "what is beside programs is not in order";

impl Reading {
    /// Whether programs are over.
    pub(crate) fn has_begun(&self) -> bool {
        self.seen != PartsInFile::default() || self.told.is_some()
    }

    /// How much there is; nothing if they are not in the file.
    pub(crate) fn whole(&self) -> Result<Option<PartsInFile>, Wrong> {
        match self.told {
            None if self.has_begun() => Err("how much there is beside programs is missing"),
            Some(_) if self.seen.flow_changes > 0 && !self.flows_told => {
                Err("how many changes of flows there are is missing")
            }
            told => Ok(told.map(|told| PartsInFile { flow_changes: self.seen.flow_changes, ..told })),
        }
    }

    pub(crate) fn entity_change(
        &mut self,
        row: EntityChangeRow,
        actor: Arc<Actor>,
    ) -> Result<PartItem, Wrong> {
        let PartsInFile { entity_changes, entities, relations, manager_changes, manager_records, .. } =
            &mut self.seen;
        *entity_changes += 1;
        let none_after = [*entities, *relations, *manager_changes, *manager_records] == [0; 4];
        let counts = [row.inserted, row.updated, row.deleted, row.unchanged];
        if counts.into_iter().any(|count| i64::try_from(count).is_err()) {
            return Err("a change counts more than there can be");
        }
        let change = EntityChange::from(row);
        let next = change.revision == *entity_changes && none_after && self.told.is_none();
        if next { Ok(PartItem::EntityChange(change, actor)) } else { Err(ORDER) }
    }

    pub(crate) fn entity(&mut self, row: EntityRecord) -> Result<PartItem, Wrong> {
        self.seen.entities += 1;
        let PartsInFile { entity_changes, relations, manager_changes, manager_records, .. } = self.seen;
        let none_after = [relations, manager_changes, manager_records] == [0; 3];
        let place = Some((row.label.clone(), row.name.clone()));
        if entity_changes == 0 || !none_after || self.entity >= place || self.told.is_some() {
            return Err(ORDER);
        }
        self.entity = place;
        match self.entities.insert(row.id) {
            true => Ok(PartItem::Entity(row.into())),
            false => Err("an entity is there twice"),
        }
    }

    pub(crate) fn relation(&mut self, row: RelationRecord) -> Result<PartItem, Wrong> {
        self.seen.relations += 1;
        let PartsInFile { manager_changes, manager_records, .. } = self.seen;
        let place = Some((row.source, row.kind.clone(), row.target));
        let none_after = [manager_changes, manager_records] == [0; 2];
        if !none_after || self.relation >= place || self.told.is_some() {
            return Err(ORDER);
        }
        self.relation = place;
        if [row.source, row.target].iter().any(|end| !self.entities.contains(end)) {
            return Err("a relation ends nowhere");
        }
        match self.relations.insert(row.id) {
            true => Ok(PartItem::Relation(row.into())),
            false => Err("a relation is there twice"),
        }
    }

    pub(crate) fn manager_change(
        &mut self,
        row: ManagerChangeRow,
        actor: Arc<Actor>,
    ) -> Result<PartItem, Wrong> {
        self.seen.manager_changes += 1;
        let PartsInFile { manager_changes, manager_records, .. } = self.seen;
        if row.revision != manager_changes || manager_records > 0 || self.told.is_some() {
            return Err(ORDER);
        }
        Ok(PartItem::ManagerChange(row.into(), actor))
    }

    pub(crate) fn manager_record(&mut self, row: ManagerRow) -> Result<PartItem, Wrong> {
        self.seen.manager_records += 1;
        let place = Some((row.kind.clone(), row.name.clone()));
        if self.seen.manager_changes == 0 || self.record >= place || self.told.is_some() {
            return Err(ORDER);
        }
        self.record = place;
        Ok(PartItem::ManagerRecord(ManagerRecord { kind: row.kind, name: row.name, value: Some(row.value) }))
    }

    pub(crate) fn flow_change(&mut self, row: FlowChangeRow, actor: Arc<Actor>) -> Result<PartItem, Wrong> {
        self.seen.flow_changes += 1;
        if row.revision != self.seen.flow_changes || self.told.is_none() || self.flows_told {
            return Err(ORDER);
        }
        let change = row.change().ok_or("a flow has a version that there cannot be")?;
        Ok(PartItem::FlowChange(change, actor))
    }

    pub(crate) fn flows_end(&mut self, end: &FlowsEnd) -> Result<(), Wrong> {
        let fits = self.told.is_some() && end.changes == self.seen.flow_changes;
        match std::mem::replace(&mut self.flows_told, true) {
            false if fits => Ok(()),
            true | false => Err("it does not have what it says that it has"),
        }
    }

    pub(crate) fn end(&mut self, end: PartsEnd) -> Result<(), Wrong> {
        let told = PartsInFile::from(end);
        match self.told.replace(told) {
            None if told == self.seen => Ok(()),
            Some(_) | None => Err("it does not have what it says that it has"),
        }
    }
}

impl From<PartsEnd> for PartsInFile {
    fn from(end: PartsEnd) -> Self {
        let PartsEnd { entity_changes, entities, relations, manager_changes, manager_records } = end;
        let flow_changes = 0;
        Self { entity_changes, entities, relations, manager_changes, manager_records, flow_changes }
    }
}

impl From<PartsInFile> for PartsEnd {
    fn from(parts: PartsInFile) -> Self {
        let PartsInFile { entity_changes, entities, relations, manager_changes, manager_records, .. } = parts;
        Self { entity_changes, entities, relations, manager_changes, manager_records }
    }
}

impl From<EntityChange> for EntityChangeRow {
    fn from(change: EntityChange) -> Self {
        let EntityCounts { inserted, updated, deleted, unchanged } = change.counts;
        Self {
            revision: change.revision,
            id: change.id,
            time: change.time.0,
            actor: change.actor.0.cast_unsigned(),
            inserted,
            updated,
            deleted,
            unchanged,
            making: change.making.map(Key::from),
        }
    }
}

impl From<EntityChangeRow> for EntityChange {
    fn from(row: EntityChangeRow) -> Self {
        let EntityChangeRow { inserted, updated, deleted, unchanged, .. } = row;
        Self {
            revision: row.revision,
            id: row.id,
            time: Timestamp(row.time),
            actor: ActorKey(row.actor.cast_signed()),
            counts: EntityCounts { inserted, updated, deleted, unchanged },
            making: row.making.map(Idempotency::from),
        }
    }
}

impl From<ManagerChangeInFile> for ManagerChangeRow {
    fn from(change: ManagerChangeInFile) -> Self {
        let ManagerChangeInFile { revision, id, time, actor } = change;
        Self { revision, id, time: time.0, actor: actor.0.cast_unsigned() }
    }
}

impl From<ManagerChangeRow> for ManagerChangeInFile {
    fn from(row: ManagerChangeRow) -> Self {
        let ManagerChangeRow { revision, id, time, actor } = row;
        Self { revision, id, time: Timestamp(time), actor: ActorKey(actor.cast_signed()) }
    }
}

impl From<FlowChange> for FlowChangeRow {
    fn from(change: FlowChange) -> Self {
        let FlowChange { revision, id, time, actor, name, version, definition } = change;
        let (time, actor, version) = (time.0, actor.0.cast_unsigned(), version.into());
        Self { revision, id, time, actor, name, version, definition }
    }
}

impl FlowChangeRow {
    /// The change; nothing if it is of a version that no flow has.
    fn change(self) -> Option<FlowChange> {
        let Self { revision, id, time, actor, name, version, definition } = self;
        let (time, actor) = (Timestamp(time), ActorKey(actor.cast_signed()));
        Some(FlowChange { revision, id, time, actor, name, version: version.try_into().ok()?, definition })
    }
}

impl From<EntityRow> for EntityRecord {
    fn from(row: EntityRow) -> Self {
        let EntityRow { id, label, name, props, created, updated } = row;
        Self { id, label, name, props, created: created.0, updated: updated.0 }
    }
}

impl From<EntityRecord> for EntityRow {
    fn from(record: EntityRecord) -> Self {
        let EntityRecord { id, label, name, props, created, updated } = record;
        Self { id, label, name, props, created: Timestamp(created), updated: Timestamp(updated) }
    }
}

impl From<RelationRow> for RelationRecord {
    fn from(row: RelationRow) -> Self {
        let RelationRow { id, source, kind, target, props, created, updated } = row;
        Self { id, source, kind, target, props, created: created.0, updated: updated.0 }
    }
}

impl From<RelationRecord> for RelationRow {
    fn from(record: RelationRecord) -> Self {
        let RelationRecord { id, source, kind, target, props, created, updated } = record;
        let (created, updated) = (Timestamp(created), Timestamp(updated));
        Self { id, source, kind, target, props, created, updated }
    }
}
