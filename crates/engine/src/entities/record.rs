//! Properties as they are stored: a byte for the version, then JSON.
//!
//! JSON readers may give back another float than the one that was written, in its last bit, and a repeated patch would
//! change it again and again. So a float is a text here that begins with `f`, and a text is one that begins with `s`.

use lmlang_entities::{Entity, EntityId, Key, Label, Props, Relation, RelationId, RelationType, Stamp};
use lmlang_store::{EntityRow, Fault, RelationRow, Timestamp};
use serde_json::{Number, Value};
use uuid::Uuid;

/// What the first byte says.
const VERSION: u8 = 1;

pub(crate) fn encode(props: &Props) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    bytes.extend_from_slice(marked(props.to_json()).to_string().as_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Option<Props> {
    let (&VERSION, json) = bytes.split_first()? else { return None };
    Props::from_json(&unmarked(serde_json::from_slice(json).ok()?)?).ok()
}

fn marked(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => Value::String(format!("f{number}")),
        Value::String(text) => Value::String(format!("s{text}")),
        Value::Array(items) => Value::Array(items.into_iter().map(marked).collect()),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, marked(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn unmarked(value: Value) -> Option<Value> {
    Some(match value {
        Value::String(text) => match text.split_at_checked(1)? {
            ("f", float) => Value::Number(Number::from_f64(float.parse().ok()?)?),
            ("s", text) => Value::from(text),
            _ => return None,
        },
        Value::Array(items) => Value::Array(items.into_iter().map(unmarked).collect::<Option<_>>()?),
        Value::Object(fields) => Value::Object(
            fields.into_iter().map(|(name, value)| Some((name, unmarked(value)?))).collect::<Option<_>>()?,
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    })
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
    fn properties_come_back_to_the_last_bit() {
        let floats: Vec<f64> = (1..2_000).map(|n| f64::from(n) / 7.0 * 1.1e-3).collect();
        let given = json!({
            "floats": floats, "whole": 3.0, "least": 5e-324, "most": f64::MAX, "text": "f1.5", "empty": "",
            "int": i64::MIN, "yes": true, "inner": {"null": null, "list": ["s", 0.1]}
        });
        let props = Props::from_json(&given).expect("they are legal");
        let read = decode(&encode(&props)).expect("they can be read");
        assert_eq!(read, props);
        assert_eq!(read.to_json(), given);
    }

    #[test]
    fn what_nobody_wrote_is_not_read() {
        for bytes in [&b""[..], b"\x02{}", b"\x01[]", b"\x01{\"a\":\"x\"}", b"\x01{\"a\":\"\"}", b"\x01{"] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }
}
