//! By which values of their properties entities are found: rows that follow from those of entities, are written with them in one
//! transaction, and are in no backup. Also how many there are, as far as plans of questions need to know.
//!
//! Of a value there is a digest, of the label and the property as well: however long they are, it fits an index. Whoever looks
//! for one gets what may have it, and compares.

use std::collections::{BTreeMap, BTreeSet};

use lmlang_entities::{Indexed, encoding, indexed};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Query};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, JoinType, PaginatorTrait, QueryFilter,
    QueryOrder, QuerySelect, QueryTrait, RelationDef,
};
use uuid::Uuid;

use crate::entities::{EntitiesThen, EntityRow, NewEntityChange};
use crate::entity::{entities, entity_values};
use crate::fault::Fault;
use crate::sql::Sql;

/// Bytes of a digest: nobody finds two values with one of as many.
const BYTES: usize = 16;

/// Rows that a statement writes at most.
const CHUNK: usize = 1_000;

/// Entities that are read at a time.
const PAGE: u64 = 256;

/// Stands for a value of a property of the entities of a label.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueDigest(Vec<u8>);

impl ValueDigest {
    /// The digest of a value.
    pub fn of(label: &str, prop: &str, value: &Indexed) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in [label.as_bytes(), prop.as_bytes(), &value.to_bytes()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().as_bytes()[..BYTES].to_vec())
    }
}

impl EntitiesThen {
    /// Entities that may have a value, in the order of natural keys, at most so many after one.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn entities_having(
        &self,
        value: &ValueDigest,
        after: Option<&str>,
        limit: u64,
    ) -> Result<Vec<EntityRow>, Fault> {
        let mut found = entities::Entity::find()
            .join(JoinType::InnerJoin, to_values())
            .filter(entity_values::Column::Digest.eq(value.0.as_slice()));
        if let Some(after) = after {
            found = found.filter(entity_values::Column::Name.gt(after.as_bytes()));
        }
        let found = found.order_by_asc(entity_values::Column::Name).limit(limit).all(&self.view);
        found.await?.into_iter().map(EntityRow::try_from).collect()
    }

    /// How many entities may have a value, so many at most.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn count_having(&self, value: &ValueDigest, most: u64) -> Result<u64, Fault> {
        let some = entity_values::Entity::find()
            .select_only()
            .column(entity_values::Column::Name)
            .filter(entity_values::Column::Digest.eq(value.0.as_slice()))
            .limit(most);
        Ok(some.count(&self.view).await?)
    }

    /// How many entities there are, of a label or of all, so many at most.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn count_some(&self, label: Option<&str>, most: u64) -> Result<u64, Fault> {
        let mut some = entities::Entity::find().select_only().column(entities::Column::Key);
        if let Some(label) = label {
            some = some.filter(entities::Column::Label.eq(label.as_bytes()));
        }
        Ok(some.limit(most).count(&self.view).await?)
    }

    /// Those of some entities that are not found by what their properties say, and by nothing else.
    ///
    /// # Errors
    ///
    /// A fault of the database.
    pub async fn found_otherwise(&self, entities: &[EntityRow]) -> Result<BTreeSet<Uuid>, Fault> {
        let ids = entities.iter().map(|entity| entity.id);
        let found = entity_values::Entity::find().filter(entity_values::Column::Id.is_in(ids));
        let mut known: BTreeMap<Uuid, BTreeSet<_>> = BTreeMap::new();
        for entity_values::Model { id, digest, name } in found.all(&self.view).await? {
            known.entry(id).or_default().insert((digest, name));
        }
        let is_other = |entity: &&EntityRow| {
            let name = entity.name.as_bytes();
            let expected: BTreeSet<_> =
                digests(entity).into_iter().map(|digest| (digest.0, name.to_vec())).collect();
            known.remove(&entity.id).unwrap_or_default() != expected
        };
        Ok(entities.iter().filter(is_other).map(|entity| entity.id).collect())
    }
}

/// The join of an entity with its values.
fn to_values() -> RelationDef {
    entities::Entity::belongs_to(entity_values::Entity)
        .from(entities::Column::Id)
        .to(entity_values::Column::Id)
        .into()
}

/// What an entity is found by: nothing, if its properties cannot be read.
fn digests(entity: &EntityRow) -> BTreeSet<ValueDigest> {
    let props = encoding::of_bytes(&entity.props).unwrap_or_default();
    indexed::values(&props).map(|(prop, value)| ValueDigest::of(&entity.label, prop, &value)).collect()
}

/// The rows of an entity.
pub(crate) fn rows(entity: &EntityRow) -> Vec<entity_values::ActiveModel> {
    let row = |ValueDigest(digest)| entity_values::ActiveModel {
        id: Set(entity.id),
        digest: Set(digest),
        name: Set(entity.name.clone().into_bytes()),
    };
    digests(entity).into_iter().map(row).collect()
}

/// What stores rows, of those that are there already none.
pub(crate) fn inserting(rows: &[entity_values::ActiveModel]) -> impl Iterator<Item = Sql> {
    let insert = |some: &[entity_values::ActiveModel]| -> Sql {
        let mut insert = entity_values::Entity::insert_many(some.iter().cloned()).into_query();
        insert.on_conflict(
            OnConflict::columns([entity_values::Column::Id, entity_values::Column::Digest])
                .do_nothing()
                .to_owned(),
        );
        insert.into()
    };
    rows.chunks(CHUNK).map(insert)
}

/// What stores the values that a change of entities leaves. Those that an entity has as before are not written again.
pub(crate) fn statements(new: &NewEntityChange) -> Vec<Sql> {
    let after: Vec<_> = new.inserted_entities.iter().chain(&new.updated_entities).flat_map(rows).collect();
    let deleted = |some: &[Uuid]| -> Sql {
        let gone = Expr::col(entity_values::Column::Id).is_in(some.iter().copied());
        Query::delete().from_table(entity_values::Entity).and_where(gone).to_owned().into()
    };
    let updated = |entity: &EntityRow| -> Sql {
        let its = Expr::col(entity_values::Column::Id).eq(entity.id);
        let left = digests(entity).into_iter().map(|ValueDigest(digest)| digest);
        let gone = Expr::col(entity_values::Column::Digest).is_not_in(left);
        Query::delete().from_table(entity_values::Entity).and_where(its).and_where(gone).to_owned().into()
    };
    let deleted = new.deleted_entities.chunks(CHUNK).map(deleted);
    let updated = new.updated_entities.iter().map(updated);
    deleted.chain(updated).chain(inserting(&after)).collect()
}

/// Makes the values of all entities of a database that has none yet. What cannot be read has none.
pub(crate) async fn fill(db: &DatabaseTransaction) -> Result<(), Fault> {
    if entity_values::Entity::find().one(db).await?.is_some() {
        return Ok(());
    }
    let mut after = i64::MIN;
    loop {
        let found = entities::Entity::find()
            .filter(entities::Column::Key.gt(after))
            .order_by_asc(entities::Column::Key)
            .limit(PAGE)
            .all(db)
            .await?;
        let Some(last) = found.last() else { return Ok(()) };
        after = last.key;
        let readable = found.into_iter().filter_map(|row| EntityRow::try_from(row).ok());
        let rows: Vec<_> = readable.flat_map(|entity| rows(&entity)).collect();
        for some in rows.chunks(CHUNK) {
            db.execute(&entity_values::Entity::insert_many(some.iter().cloned()).into_query()).await?;
        }
    }
}
