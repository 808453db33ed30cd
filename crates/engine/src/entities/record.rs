//! Entities and relations as rows.

use lmlang_entities::{Entity, EntityId, Key, Label, Relation, RelationId, RelationType, Stamp, encoding};
use lmlang_store::{EntityRow, Fault, RelationRow, Timestamp};
use uuid::Uuid;

pub(crate) fn entity_row(entity: Entity) -> EntityRow {
    EntityRow {
        id: Uuid::from_bytes(entity.id.0),
        label: entity.label.into(),
        name: entity.key.into(),
        props: encoding::to_bytes(&entity.props),
        created: Timestamp(entity.created_at.time_micros),
        updated: Timestamp(entity.updated_at.time_micros),
    }
}

pub(crate) fn relation_row(relation: Relation) -> RelationRow {
    RelationRow {
        id: Uuid::from_bytes(relation.id.0),
        source: Uuid::from_bytes(relation.from.0),
        kind: relation.relation_type.into(),
        target: Uuid::from_bytes(relation.to.0),
        props: encoding::to_bytes(&relation.props),
        created: Timestamp(relation.created_at.time_micros),
        updated: Timestamp(relation.updated_at.time_micros),
    }
}

pub(crate) fn entity(row: EntityRow) -> Result<Entity, Fault> {
    let broken = |column| Fault::Row { table: "entities", column };
    Ok(Entity {
        id: EntityId(row.id.into_bytes()),
        label: Label::new(&row.label).map_err(|_| broken("label"))?,
        key: Key::new(&row.name).map_err(|_| broken("name"))?,
        props: encoding::of_bytes(&row.props).ok_or(broken("props"))?,
        created_at: Stamp { time_micros: row.created.0 },
        updated_at: Stamp { time_micros: row.updated.0 },
    })
}

pub(crate) fn relation(row: RelationRow) -> Result<Relation, Fault> {
    let broken = |column| Fault::Row { table: "relations", column };
    Ok(Relation {
        id: RelationId(row.id.into_bytes()),
        from: EntityId(row.source.into_bytes()),
        relation_type: RelationType::new(&row.kind).map_err(|_| broken("kind"))?,
        to: EntityId(row.target.into_bytes()),
        props: encoding::of_bytes(&row.props).ok_or(broken("props"))?,
        created_at: Stamp { time_micros: row.created.0 },
        updated_at: Stamp { time_micros: row.updated.0 },
    })
}
