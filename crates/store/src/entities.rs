//! Entities and relations as rows, read as they are at one moment and changed from one revision to the next.
//!
//! Whoever plans a change reads at a revision, and stores it as the next one: a row of `entity_changes`, whose number is
//! unique. Of two who planned on one revision the second stores nothing, and plans again. So a change is stored on what it
//! was planned on, whoever else writes, and what is written twice after a lost connection is there once.

use std::collections::BTreeSet;

use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::{Expr, ExprTrait, Query};
use sea_orm::{
    ColumnTrait, DatabaseTransaction, DbBackend, EntityTrait, IsolationLevel, JoinType, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait, RelationDef, Select, TransactionTrait,
};
use uuid::Uuid;

use crate::actors::ActorKey;
use crate::entity::{entities, entity_changes, relations};
use crate::entity_values;
use crate::entry::{Idempotency, Timestamp};
use crate::fault::{Failure, Fault};
use crate::sql::Sql;
use crate::store::Store;

/// An entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityRow {
    /// Its id.
    pub id: Uuid,
    /// Its label.
    pub label: String,
    /// Its natural key: no other entity of the label has it.
    pub name: String,
    /// What is known of it, encoded.
    pub props: Vec<u8>,
    /// When it was made.
    pub created: Timestamp,
    /// When that changed last.
    pub updated: Timestamp,
}

/// A relation between two entities; no other has its ends and kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationRow {
    /// Its id.
    pub id: Uuid,
    /// Where it begins.
    pub source: Uuid,
    /// What it says.
    pub kind: String,
    /// Where it ends.
    pub target: Uuid,
    /// What is known of it, encoded.
    pub props: Vec<u8>,
    /// When it was made.
    pub created: Timestamp,
    /// When that changed last.
    pub updated: Timestamp,
}

/// How much a change changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EntityCounts {
    /// Rows that are new.
    pub inserted: u64,
    /// Rows that differ.
    pub updated: u64,
    /// Rows that are gone.
    pub deleted: u64,
    /// Operations that changed nothing.
    pub unchanged: u64,
}

/// A change that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityChange {
    /// Its number: one more than that of the change before it, from 1 on.
    pub revision: u64,
    /// Its id.
    pub id: Uuid,
    /// When.
    pub time: Timestamp,
    /// Who made it.
    pub actor: ActorKey,
    /// How much it changed.
    pub counts: EntityCounts,
    /// The request that made it, if that had a key.
    pub making: Option<Idempotency>,
}

/// A change that is to be stored, with the rows that it leaves.
#[derive(Debug, Clone)]
pub struct NewEntityChange {
    /// The change; its revision follows the one that it was planned on.
    pub change: EntityChange,
    /// Relations that are gone, by id.
    pub deleted_relations: Vec<Uuid>,
    /// Entities that are gone, by id.
    pub deleted_entities: Vec<Uuid>,
    /// Entities that are new.
    pub inserted_entities: Vec<EntityRow>,
    /// Entities of which something else is known now.
    pub updated_entities: Vec<EntityRow>,
    /// Relations that are new.
    pub inserted_relations: Vec<RelationRow>,
    /// Relations of which something else is known now.
    pub updated_relations: Vec<RelationRow>,
}

/// Why a change of entities was not stored.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ChangeEntitiesError {
    /// Another one was stored since the revision that it was planned on, or one under its idempotency key.
    #[error("the entities have changed")]
    Moved,
    /// The database could not do it.
    #[error(transparent)]
    Storage(#[from] Fault),
}

/// Which relations of an entity are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelationEnd {
    /// Those that begin at it.
    Source,
    /// Those that end at it.
    Target,
}

/// Rows that a statement names at most.
const CHUNK: usize = 500;

impl Store {
    /// Stores a change of entities, all of it or nothing.
    ///
    /// # Errors
    ///
    /// See [`ChangeEntitiesError`]; nothing is stored then.
    pub async fn change_entities(&self, new: NewEntityChange) -> Result<(), ChangeEntitiesError> {
        let id = new.change.id;
        match self.committer().write(statements(new), None).await {
            Ok(_) => Ok(()),
            Err(Failure::Clash) => {
                // A statement whose answer was lost has run before.
                let there = entity_changes::Entity::find().filter(entity_changes::Column::Id.eq(id));
                match there.one(&self.reader).await.map_err(Fault::from)? {
                    Some(_) => Ok(()),
                    None => Err(ChangeEntitiesError::Moved),
                }
            }
            Err(failure) => Err(ChangeEntitiesError::Storage(failure.into())),
        }
    }

    /// The entities as they are at this moment. It takes one of the connections that read until it is dropped.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn entities_now(&self) -> Result<EntitiesThen, Fault> {
        self.reader.ask()?;
        let view = match self.reader.get_database_backend() {
            // There each statement would see a moment of its own.
            DbBackend::Postgres => {
                self.reader.begin_with_config(Some(IsolationLevel::RepeatableRead), None).await
            }
            _ => self.reader.begin().await,
        };
        Ok(EntitiesThen { view: view? })
    }
}

/// The entities as they were at one moment, and the programs that there were.
#[derive(Debug)]
pub struct EntitiesThen {
    pub(crate) view: DatabaseTransaction,
}

impl EntitiesThen {
    /// The number of the newest change, 0 without one.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn revision(&self) -> Result<u64, Fault> {
        let newest = entity_changes::Entity::find()
            .select_only()
            .column(entity_changes::Column::Revision)
            .order_by_desc(entity_changes::Column::Revision)
            .limit(1);
        let newest: Option<i64> = newest.into_tuple().one(&self.view).await?;
        Ok(newest.map_or(0, i64::cast_unsigned))
    }

    /// The change that was made under an idempotency key.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn change_made_under(&self, key: &[u8]) -> Result<Option<EntityChange>, Fault> {
        let found = entity_changes::Entity::find().filter(entity_changes::Column::MadeKey.eq(key));
        Ok(found.one(&self.view).await?.map(EntityChange::from))
    }

    /// The entity with a label and a natural key.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn entity(&self, label: &str, name: &str) -> Result<Option<EntityRow>, Fault> {
        let found = entities::Entity::find()
            .filter(entities::Column::Label.eq(label.as_bytes()))
            .filter(entities::Column::Name.eq(name.as_bytes()));
        found.one(&self.view).await?.map(EntityRow::try_from).transpose()
    }

    /// The entity with an id.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn entity_with(&self, id: Uuid) -> Result<Option<EntityRow>, Fault> {
        let found = entities::Entity::find().filter(entities::Column::Id.eq(id));
        found.one(&self.view).await?.map(EntityRow::try_from).transpose()
    }

    /// Entities in the order of labels and natural keys, at most so many after one; those of a label and with a natural key,
    /// or all.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn entities(
        &self,
        label: Option<&str>,
        name: Option<&str>,
        after: Option<(&str, &str)>,
        limit: u64,
    ) -> Result<Vec<EntityRow>, Fault> {
        let mut found = of(label, name);
        if let Some((after_label, after_name)) = after {
            let after_name = entities::Column::Name.gt(after_name.as_bytes());
            found = found.filter(match label {
                // A range of the index.
                Some(label) if label == after_label => after_name,
                Some(_) | None => {
                    let same = entities::Column::Label.eq(after_label.as_bytes()).and(after_name);
                    entities::Column::Label.gt(after_label.as_bytes()).or(same)
                }
            });
        }
        let found = found
            .order_by_asc(entities::Column::Label)
            .order_by_asc(entities::Column::Name)
            .limit(limit)
            .all(&self.view);
        found.await?.into_iter().map(EntityRow::try_from).collect()
    }

    /// How many entities there are; of a label and with a natural key, or all.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn count_entities(&self, label: Option<&str>, name: Option<&str>) -> Result<u64, Fault> {
        Ok(of(label, name).count(&self.view).await?)
    }

    /// The relation with two ends and a kind.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn relation(
        &self,
        source: Uuid,
        kind: &str,
        target: Uuid,
    ) -> Result<Option<RelationRow>, Fault> {
        let found = relations::Entity::find()
            .filter(relations::Column::Source.eq(source))
            .filter(relations::Column::Kind.eq(kind.as_bytes()))
            .filter(relations::Column::Target.eq(target));
        found.one(&self.view).await?.map(RelationRow::try_from).transpose()
    }

    /// All relations in the order of their ids, at most so many after one; each with whether there is an entity where it begins,
    /// and where it ends.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn relations(
        &self,
        after: Option<Uuid>,
        limit: u64,
    ) -> Result<Vec<(RelationRow, [bool; 2])>, Fault> {
        let mut found = relations::Entity::find();
        if let Some(after) = after {
            found = found.filter(relations::Column::Id.gt(after));
        }
        let rows = found.order_by_asc(relations::Column::Id).limit(limit).all(&self.view).await?;
        let ends: BTreeSet<Uuid> = rows.iter().flat_map(|row| [row.source, row.target]).collect();
        let there = entities::Entity::find()
            .select_only()
            .column(entities::Column::Id)
            .filter(entities::Column::Id.is_in(ends));
        let there: BTreeSet<Uuid> = there.into_tuple().all(&self.view).await?.into_iter().collect();
        let known = |row: relations::Model| {
            let ends = [there.contains(&row.source), there.contains(&row.target)];
            Ok((RelationRow::try_from(row)?, ends))
        };
        rows.into_iter().map(known).collect()
    }

    /// Relations that begin or end at an entity, at most so many.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn relations_of(&self, id: Uuid, limit: u64) -> Result<Vec<RelationRow>, Fault> {
        let source = relations::Entity::find().filter(relations::Column::Source.eq(id)).limit(limit);
        let mut rows = source.all(&self.view).await?;
        // A loop is among the first ones.
        let target = relations::Entity::find()
            .filter(relations::Column::Target.eq(id))
            .filter(relations::Column::Source.ne(id))
            .limit(limit.saturating_sub(rows.len() as u64));
        rows.extend(target.all(&self.view).await?);
        rows.into_iter().map(RelationRow::try_from).collect()
    }

    /// Relations at one end of which an entity stands, with the entity at the other end, in the order of their kinds and of
    /// that one's label and natural key; those of some kinds, or all; at most so many after one.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn neighbours(
        &self,
        id: Uuid,
        end: RelationEnd,
        kinds: &[&str],
        after: Option<(&str, &str, &str)>,
        limit: u64,
    ) -> Result<Vec<(RelationRow, EntityRow)>, Fault> {
        let mut found = around(id, end, kinds).select_also(entities::Entity);
        if let Some((kind, label, name)) = after {
            let columns = [
                Expr::col((relations::Entity, relations::Column::Kind)),
                Expr::col((entities::Entity, entities::Column::Label)),
                Expr::col((entities::Entity, entities::Column::Name)),
            ];
            let last = [kind, label, name].map(|text| Expr::val(text.as_bytes()));
            found = found.filter(Expr::tuple(columns).gt(Expr::tuple(last)));
        }
        let found = found
            .order_by_asc(relations::Column::Kind)
            .order_by_asc(entities::Column::Label)
            .order_by_asc(entities::Column::Name)
            .limit(limit)
            .all(&self.view)
            .await?;
        found.into_iter().map(hop).collect()
    }

    /// The ids of the relations that [`EntitiesThen::neighbours`] gives, in its order, at most so many: what there is to page through
    /// at an entity with many of them, each page of which would put all in order anew.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn neighbour_ids(
        &self,
        id: Uuid,
        end: RelationEnd,
        kinds: &[&str],
        limit: u64,
    ) -> Result<Vec<Uuid>, Fault> {
        let found = around(id, end, kinds)
            .select_only()
            .column(relations::Column::Id)
            .order_by_asc(relations::Column::Kind)
            .order_by_asc(entities::Column::Label)
            .order_by_asc(entities::Column::Name)
            .limit(limit);
        Ok(found.into_tuple::<Uuid>().all(&self.view).await?)
    }

    /// Relations with these ids, each with the entity at its other end, in whatever order.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn neighbours_by(
        &self,
        end: RelationEnd,
        ids: &[Uuid],
    ) -> Result<Vec<(RelationRow, EntityRow)>, Fault> {
        let mut rows = Vec::with_capacity(ids.len());
        for some in ids.chunks(CHUNK) {
            let found = relations::Entity::find()
                .join(JoinType::InnerJoin, to_other(end))
                .filter(relations::Column::Id.is_in(some.iter().copied()))
                .select_also(entities::Entity);
            for row in found.all(&self.view).await? {
                rows.push(hop(row)?);
            }
        }
        Ok(rows)
    }
}

/// The join of a relation with the entity at its other end.
fn to_other(end: RelationEnd) -> RelationDef {
    let there = match end {
        RelationEnd::Source => relations::Column::Target,
        RelationEnd::Target => relations::Column::Source,
    };
    relations::Entity::belongs_to(entities::Entity).from(there).to(entities::Column::Id).into()
}

/// Relations at one end of which an entity stands, joined with those at the other end; those of some kinds, or all.
fn around(id: Uuid, end: RelationEnd, kinds: &[&str]) -> Select<relations::Entity> {
    let here = match end {
        RelationEnd::Source => relations::Column::Source,
        RelationEnd::Target => relations::Column::Target,
    };
    let found = relations::Entity::find().join(JoinType::InnerJoin, to_other(end)).filter(here.eq(id));
    match kinds {
        [] => found,
        kinds => found.filter(relations::Column::Kind.is_in(kinds.iter().map(|kind| kind.as_bytes()))),
    }
}

fn hop(
    (relation, entity): (relations::Model, Option<entities::Model>),
) -> Result<(RelationRow, EntityRow), Fault> {
    let entity = entity.ok_or(Fault::Row { table: "relations", column: "target" })?;
    Ok((RelationRow::try_from(relation)?, EntityRow::try_from(entity)?))
}

fn of(label: Option<&str>, name: Option<&str>) -> Select<entities::Entity> {
    let mut found = entities::Entity::find();
    if let Some(label) = label {
        found = found.filter(entities::Column::Label.eq(label.as_bytes()));
    }
    if let Some(name) = name {
        found = found.filter(entities::Column::Name.eq(name.as_bytes()));
    }
    found
}

/// What stores a change: first what clashes if it is not the next one, then what goes, entities, what joins them, and by what
/// they are found.
fn statements(new: NewEntityChange) -> Vec<Sql> {
    let values = entity_values::statements(&new);
    let row = change_row(new.change);
    let mut statements: Vec<Sql> = vec![entity_changes::Entity::insert(row).into_query().into()];
    for some in new.deleted_relations.chunks(CHUNK) {
        let gone = Expr::col(relations::Column::Id).is_in(some.iter().copied());
        statements.push(Query::delete().from_table(relations::Entity).and_where(gone).to_owned().into());
    }
    for some in new.deleted_entities.chunks(CHUNK) {
        let gone = Expr::col(entities::Column::Id).is_in(some.iter().copied());
        statements.push(Query::delete().from_table(entities::Entity).and_where(gone).to_owned().into());
    }
    for some in new.inserted_entities.chunks(CHUNK) {
        let rows = some.iter().cloned().map(entity_row);
        statements.push(entities::Entity::insert_many(rows).into_query().into());
    }
    for EntityRow { id, props, updated, .. } in new.updated_entities {
        let mut update = Query::update();
        update
            .table(entities::Entity)
            .value(entities::Column::Props, props)
            .value(entities::Column::Updated, updated.0)
            .and_where(Expr::col(entities::Column::Id).eq(id));
        statements.push(update.into());
    }
    for some in new.inserted_relations.chunks(CHUNK) {
        let rows = some.iter().cloned().map(relation_row);
        statements.push(relations::Entity::insert_many(rows).into_query().into());
    }
    for RelationRow { id, props, updated, .. } in new.updated_relations {
        let mut update = Query::update();
        update
            .table(relations::Entity)
            .value(relations::Column::Props, props)
            .value(relations::Column::Updated, updated.0)
            .and_where(Expr::col(relations::Column::Id).eq(id));
        statements.push(update.into());
    }
    statements.extend(values);
    statements
}

pub(crate) fn change_row(change: EntityChange) -> entity_changes::ActiveModel {
    let EntityChange { revision, id, time, actor, counts, making } = change;
    let (made_key, made_digest) = making.map(|making| (making.key, making.digest)).unzip();
    entity_changes::ActiveModel {
        revision: Set(revision.cast_signed()),
        id: Set(id),
        time: Set(time.0),
        actor: Set(actor.0),
        inserted: Set(counts.inserted.cast_signed()),
        updated: Set(counts.updated.cast_signed()),
        deleted: Set(counts.deleted.cast_signed()),
        unchanged: Set(counts.unchanged.cast_signed()),
        made_key: Set(made_key),
        made_digest: Set(made_digest),
    }
}

pub(crate) fn entity_row(row: EntityRow) -> entities::ActiveModel {
    entities::ActiveModel {
        key: NotSet,
        id: Set(row.id),
        label: Set(row.label.into_bytes()),
        name: Set(row.name.into_bytes()),
        props: Set(row.props),
        created: Set(row.created.0),
        updated: Set(row.updated.0),
    }
}

pub(crate) fn relation_row(row: RelationRow) -> relations::ActiveModel {
    relations::ActiveModel {
        key: NotSet,
        id: Set(row.id),
        source: Set(row.source),
        kind: Set(row.kind.into_bytes()),
        target: Set(row.target),
        props: Set(row.props),
        created: Set(row.created.0),
        updated: Set(row.updated.0),
    }
}

fn text(bytes: Vec<u8>, table: &'static str, column: &'static str) -> Result<String, Fault> {
    String::from_utf8(bytes).map_err(|_| Fault::Row { table, column })
}

impl TryFrom<entities::Model> for EntityRow {
    type Error = Fault;

    fn try_from(row: entities::Model) -> Result<Self, Fault> {
        Ok(Self {
            id: row.id,
            label: text(row.label, "entities", "label")?,
            name: text(row.name, "entities", "name")?,
            props: row.props,
            created: Timestamp(row.created),
            updated: Timestamp(row.updated),
        })
    }
}

impl TryFrom<relations::Model> for RelationRow {
    type Error = Fault;

    fn try_from(row: relations::Model) -> Result<Self, Fault> {
        Ok(Self {
            id: row.id,
            source: row.source,
            kind: text(row.kind, "relations", "kind")?,
            target: row.target,
            props: row.props,
            created: Timestamp(row.created),
            updated: Timestamp(row.updated),
        })
    }
}

impl From<entity_changes::Model> for EntityChange {
    fn from(row: entity_changes::Model) -> Self {
        Self {
            revision: row.revision.cast_unsigned(),
            id: row.id,
            time: Timestamp(row.time),
            actor: ActorKey(row.actor),
            counts: EntityCounts {
                inserted: row.inserted.cast_unsigned(),
                updated: row.updated.cast_unsigned(),
                deleted: row.deleted.cast_unsigned(),
                unchanged: row.unchanged.cast_unsigned(),
            },
            making: row.made_key.zip(row.made_digest).map(|(key, digest)| Idempotency { key, digest }),
        }
    }
}
