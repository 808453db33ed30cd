//! Entities and relations as rows: of their properties a byte for the version, then their text.

use lmlang_entities::{
    Entity, EntityId, Key, Label, Props, Relation, RelationId, RelationType, Stamp, encoding,
};
use lmlang_store::{EntityRow, Fault, RelationRow, Timestamp};
use uuid::Uuid;

/// What the first byte says.
const VERSION: u8 = 1;

pub(crate) fn encode(props: &Props) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    bytes.extend_from_slice(encoding::encode(props).as_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Option<Props> {
    let (&VERSION, text) = bytes.split_first()? else { return None };
    encoding::decode(str::from_utf8(text).ok()?)
}

pub(crate) fn entity_row(entity: Entity) -> EntityRow {
    EntityRow {
        id: Uuid::from_bytes(entity.id.0),
        label: entity.label.into(),
        name: entity.key.into(),
        props: encode(&entity.props),
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
        props: encode(&relation.props),
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
        props: decode(&row.props).ok_or(broken("props"))?,
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
        props: decode(&row.props).ok_or(broken("props"))?,
        created_at: Stamp { time_micros: row.created.0 },
        updated_at: Stamp { time_micros: row.updated.0 },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let props = Props::from_json(&json!({ "a": "x", "b": 0.1 })).expect("they are legal");
        assert_eq!(decode(&encode(&props)), Some(props));
        for bytes in [&b""[..], b"\x02{}", b"\x01[]", b"\x01\xff", b"\x01{"] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }
}
