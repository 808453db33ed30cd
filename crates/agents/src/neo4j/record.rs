//! Entities and relations as properties of nodes and relationships.
//!
//! Texts, numbers, truth values and lists of one of these are properties of their own, so that others can ask for them. What
//! a property of Neo4j cannot be, objects, nulls and mixed lists, is text in one more property.

use lmlang_entities::props::PropValue;
use lmlang_entities::{
    Entity, EntityId, EntityRef, Key, Label, Props, Relation, RelationId, RelationType, Stamp, encoding,
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// How names begin that are not those of an entity's own properties.
const OURS: &str = "_lmlang_";
/// Where the label and the key are.
const NAME: &str = "_lmlang_name";
/// Where the properties are that cannot be ones of Neo4j.
const NESTED: &str = "_lmlang_nested";

/// The name by which an entity is found, in the order of labels and keys.
pub(super) fn name(entity: &EntityRef) -> String {
    format!("{} {}", entity.label, entity.key)
}

/// Before and after all names of a label, or of all labels.
pub(super) fn bounds(label: Option<&Label>) -> (String, String) {
    match label {
        // The character after the space.
        Some(label) => (format!("{label} "), format!("{label}!")),
        // The character after the last letter.
        None => (String::new(), "{".to_owned()),
    }
}

/// What a property is to the server, if it is one that can be asked for.
pub(super) fn native(prop: &str, value: &PropValue) -> Option<Value> {
    match value {
        _ if prop.starts_with(OURS) => None,
        PropValue::Bool(_) | PropValue::Int(_) | PropValue::Float(_) | PropValue::Text(_) => {
            Some(value.to_json())
        }
        PropValue::List(items) => {
            let first = items.first().map(std::mem::discriminant)?;
            let simple = !matches!(items[0], PropValue::Null | PropValue::List(_) | PropValue::Map(_));
            let alike = items.iter().all(|item| std::mem::discriminant(item) == first);
            (simple && alike).then(|| value.to_json())
        }
        PropValue::Null | PropValue::Map(_) => None,
    }
}

fn stored(props: &Props, own: Value) -> Value {
    let (mut fields, mut nested) = (Map::new(), Map::new());
    for (prop, value) in props.iter() {
        match native(prop, value) {
            Some(value) => fields.insert(prop.to_string(), value),
            None => nested.insert(prop.to_string(), value.to_json()),
        };
    }
    if !nested.is_empty() {
        // They come from legal properties, and fewer are as legal.
        let nested = Props::from_json(&Value::Object(nested)).unwrap_or_default();
        fields.insert(NESTED.to_owned(), encoding::encode(&nested).into());
    }
    if let Value::Object(own) = own {
        fields.extend(own);
    }
    Value::Object(fields)
}

/// Whether a property of a node is the store's and none of its entity's.
pub(super) fn is_own(prop: &str) -> bool {
    prop.starts_with(OURS) || ["id", "key", "created_at", "updated_at"].contains(&prop)
}

fn props(fields: &Map<String, Value>) -> Option<Props> {
    let native = fields.iter().filter(|(name, _)| !is_own(name));
    let mut all: Map<String, Value> = native.map(|(name, value)| (name.clone(), value.clone())).collect();
    if let Some(nested) = fields.get(NESTED)
        && let Value::Object(nested) = encoding::decode(nested.as_str()?)?.to_json()
    {
        all.extend(nested);
    }
    Props::from_json(&Value::Object(all)).ok()
}

pub(super) fn id(id: [u8; 16]) -> String {
    Uuid::from_bytes(id).to_string()
}

fn read_id(fields: &Map<String, Value>) -> Option<[u8; 16]> {
    Some(Uuid::parse_str(fields.get("id")?.as_str()?).ok()?.into_bytes())
}

fn read_stamp(fields: &Map<String, Value>, name: &str) -> Option<Stamp> {
    Some(Stamp { time_micros: fields.get(name)?.as_i64()? })
}

/// The properties of an entity's node.
pub(super) fn of_entity(entity: &Entity) -> Value {
    let own = json!({
        NAME: name(&entity.name()),
        "key": entity.key.as_str(),
        "id": id(entity.id.0),
        "created_at": entity.created_at.time_micros,
        "updated_at": entity.updated_at.time_micros,
    });
    stored(&entity.props, own)
}

/// The entity of a node's properties; nothing if somebody else made that node.
pub(super) fn entity(fields: &Value) -> Option<Entity> {
    let fields = fields.as_object()?;
    let (label, key) = fields.get(NAME)?.as_str()?.split_once(' ')?;
    Some(Entity {
        id: EntityId(read_id(fields)?),
        label: Label::new(label).ok()?,
        key: Key::new(key).ok()?,
        props: props(fields)?,
        created_at: read_stamp(fields, "created_at")?,
        updated_at: read_stamp(fields, "updated_at")?,
    })
}

/// The properties of a relation's relationship.
pub(super) fn of_relation(relation: &Relation) -> Value {
    let own = json!({
        "id": id(relation.id.0),
        "created_at": relation.created_at.time_micros,
        "updated_at": relation.updated_at.time_micros,
    });
    stored(&relation.props, own)
}

/// The relation of a relationship's properties; nothing if somebody else made that.
pub(super) fn relation(
    from: EntityId,
    relation_type: &RelationType,
    to: EntityId,
    fields: &Value,
) -> Option<Relation> {
    let fields = fields.as_object()?;
    Some(Relation {
        id: RelationId(read_id(fields)?),
        from,
        relation_type: relation_type.clone(),
        to,
        props: props(fields)?,
        created_at: read_stamp(fields, "created_at")?,
        updated_at: read_stamp(fields, "updated_at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entity_is_what_its_node_says() {
        let given = json!({
            "title": "a", "n": 3, "x": 0.1, "yes": true, "tags": ["a", "b"], "mixed": [1, 2.0], "empty": [],
            "inner": { "null": null, "deep": [[1.5]] }, "_lmlang_name": "mine", "name": "free",
        });
        let entity_made = Entity {
            id: EntityId([7; 16]),
            label: Label::new("Ticket").expect("a label"),
            key: Key::new("T 1").expect("a key"),
            props: Props::from_json(&given).expect("properties"),
            created_at: Stamp { time_micros: 5 },
            updated_at: Stamp { time_micros: 6 },
        };
        let node = of_entity(&entity_made);
        assert_eq!(node[NAME], "Ticket T 1");
        assert_eq!(node["tags"], json!(["a", "b"]));
        for nested in ["mixed", "empty", "inner"] {
            assert_eq!(node.get(nested), None, "{nested} is no property of Neo4j");
        }
        assert_eq!(entity(&node), Some(entity_made));
        assert_eq!(entity(&json!({ NAME: "Ticket T", "id": "x" })), None);
    }

    #[test]
    fn names_are_in_the_order_of_labels_and_keys() {
        let named = |label: &str, key: &str| {
            name(&EntityRef {
                label: Label::new(label).expect("a label"),
                key: Key::new(key).expect("a key"),
            })
        };
        assert!(named("A", "z") < named("A1", "a"));
        assert!(named("A", "z") < named("AB", "a"));
        let label = Label::new("A").expect("a label");
        let (after, before) = bounds(Some(&label));
        for (inside, name) in [(true, named("A", "k")), (false, named("A1", "k")), (false, named("_A", "k"))]
        {
            assert_eq!(name > after && name < before, inside, "{name}");
        }
        let (after, before) = bounds(None);
        assert!(named("zz", "k") > after && named("zz", "k") < before);
    }
}
