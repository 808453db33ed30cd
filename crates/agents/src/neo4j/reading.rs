//! What is read in a transaction: by plans of patches, and by questions.

use std::sync::Arc;

use lmlang_entities::props::PropValue;
use lmlang_entities::{
    Edge, Entity, EntityId, EntityRef, Graph, Hop, Key, Label, Node, Page, Read, Relation, RelationType, Way,
};
use serde_json::{Value, json};

use super::server::{self, Row};
use super::transaction::{Failed, Transaction};
use super::{record, statements};

/// Most nodes or edges of one page.
const PAGE: usize = 256;
/// Most relations of an entity that is deleted with them.
const MOST_DETACHED: usize = 10_000;
/// Most nodes that have a value which is asked for; with more of them the label is looked through.
const MOST_EQUAL: usize = 1_000;

impl Transaction {
    fn entities(&self, statement: &str, params: Value) -> Result<Vec<Entity>, Failed> {
        let rows = self.ask(statement, params)?;
        rows.iter().map(|row| record::entity(field(row, "entity")?).ok_or(Failed::Foreign)).collect()
    }
}

fn text<'a>(row: &'a Row, name: &str) -> Result<&'a str, Failed> {
    row.get(name).and_then(Value::as_str).ok_or(Failed::Foreign)
}

fn field<'a>(row: &'a Row, name: &str) -> Result<&'a Value, Failed> {
    row.get(name).ok_or(Failed::Foreign)
}

fn relation_type(row: &Row) -> Result<RelationType, Failed> {
    RelationType::new(text(row, "type")?).map_err(|_| Failed::Foreign)
}

fn entity_id(text: &str) -> Result<EntityId, Failed> {
    Ok(EntityId(uuid::Uuid::parse_str(text).map_err(|_| Failed::Foreign)?.into_bytes()))
}

impl Read for Transaction {
    type Error = Failed;

    fn entity(&self, name: &EntityRef) -> Result<Option<Entity>, Failed> {
        let found = self.entities(statements::ENTITY, json!({ "name": record::name(name) }))?;
        Ok(found.into_iter().next())
    }

    fn relation(
        &self,
        from: EntityId,
        relation_type: &RelationType,
        to: EntityId,
    ) -> Result<Option<Relation>, Failed> {
        let params =
            json!({ "from": record::id(from.0), "type": relation_type.as_str(), "to": record::id(to.0) });
        let rows = self.ask(statements::RELATION, params)?;
        let read =
            |row| record::relation(from, relation_type, to, field(row, "relation")?).ok_or(Failed::Foreign);
        rows.first().map(read).transpose()
    }

    fn relations_of(&self, id: EntityId) -> Result<Vec<Relation>, Failed> {
        let mut found = Vec::new();
        for (way, statement) in [(Way::Out, statements::RELATIONS_FROM), (Way::In, statements::RELATIONS_TO)]
        {
            let most = MOST_DETACHED + 1 - found.len();
            for row in self.ask(statement, json!({ "id": record::id(id.0), "most": most }))? {
                let other = entity_id(text(&row, "other")?)?;
                let (from, to) = match way {
                    Way::Out => (id, other),
                    Way::In => (other, id),
                };
                let relation = record::relation(from, &relation_type(&row)?, to, field(&row, "relation")?);
                found.push(relation.ok_or(Failed::Foreign)?);
            }
            if found.len() > MOST_DETACHED {
                return Err(Failed::Detached { limit: MOST_DETACHED });
            }
        }
        Ok(found)
    }
}

impl Graph for Transaction {
    type Error = Failed;

    fn node(&self, label: &Label, key: &Key) -> Result<Option<Arc<Node>>, Failed> {
        let entity = self.entity(&EntityRef { label: label.clone(), key: key.clone() })?;
        Ok(entity.map(|entity| Arc::new(Node::from(&entity))))
    }

    fn page(&self, label: Option<&Label>, after: Option<&Node>) -> Result<Page<Arc<Node>>, Failed> {
        let (first, before) = record::bounds(label);
        let after = after.and_then(name_of).unwrap_or(first);
        let params = json!({ "after": after, "before": before, "most": PAGE + 1 });
        let found = self.entities(statements::PAGE, params)?;
        Ok(page(found.iter().map(|entity| Arc::new(Node::from(entity))).collect()))
    }

    fn hops(
        &self,
        of: &Node,
        way: Way,
        types: &[RelationType],
        after: Option<&Hop>,
    ) -> Result<Page<Hop>, Failed> {
        let statement = match way {
            Way::Out => statements::HOPS_OUT,
            Way::In => statements::HOPS_IN,
        };
        let (after_type, after) = match after {
            Some(hop) => (hop.edge.relation_type.as_str(), name_of(&hop.other).unwrap_or_default()),
            None => ("", String::new()),
        };
        let types: Vec<&str> = types.iter().map(RelationType::as_str).collect();
        let params = json!({
            "id": record::id(of.id.0), "types": types, "type": after_type, "after": after, "most": PAGE + 1,
        });
        let mut hops = Vec::new();
        for row in self.ask(statement, params)? {
            let other = record::entity(field(&row, "entity")?).ok_or(Failed::Foreign)?;
            let (from, to) = match way {
                Way::Out => (of.id, other.id),
                Way::In => (other.id, of.id),
            };
            let relation = record::relation(from, &relation_type(&row)?, to, field(&row, "relation")?);
            let edge = Arc::new(Edge::from(&relation.ok_or(Failed::Foreign)?));
            hops.push(Hop { edge, other: Arc::new(Node::from(&other)) });
        }
        Ok(page(hops))
    }

    /// Whether the server can be asked for the nodes that have a value of it: it looks through the label itself, or has an index
    /// that somebody else has made.
    fn is_indexed(&self, _label: &Label, prop: &str) -> bool {
        !record::is_own(prop)
    }

    /// All of them at once, or none.
    fn equal(
        &self,
        label: &Label,
        props: &[(&str, PropValue)],
        _after: Option<&Node>,
    ) -> Result<Option<Page<Arc<Node>>>, Failed> {
        let simple = |(prop, value): &(&str, PropValue)| match value {
            PropValue::List(_) => None,
            _ => Some(((*prop).to_owned(), record::native(prop, value)?)),
        };
        let Some((prop, value)) = props.iter().find_map(simple) else { return Ok(None) };
        let (after, before) = record::bounds(Some(label));
        let params =
            json!({ "after": after, "before": before, "prop": prop, "value": value, "most": MOST_EQUAL + 1 });
        let found = match self.entities(statements::EQUAL, params) {
            Err(Failed::Server(server::Failed::TooLong)) => return Ok(None),
            found => found?,
        };
        let known = found.len() <= MOST_EQUAL;
        let items = found.iter().map(|entity| Arc::new(Node::from(entity))).collect();
        Ok(known.then_some(Page { items, more: false }))
    }

    /// It would have to look through the label.
    fn estimate_equal(&self, _label: &Label, _prop: &str, _value: &PropValue) -> Result<Option<u64>, Failed> {
        Ok(None)
    }

    fn estimate(&self, label: Option<&Label>) -> Result<u64, Failed> {
        let (after, before) = record::bounds(label);
        let rows = self.ask(statements::COUNT, json!({ "after": after, "before": before }))?;
        let row = rows.first().ok_or(Failed::Foreign)?;
        field(row, "entities")?.as_u64().ok_or(Failed::Foreign)
    }
}

fn name_of(node: &Node) -> Option<String> {
    Some(record::name(&EntityRef { label: node.labels.first()?.clone(), key: node.key.clone() }))
}

fn page<T>(mut items: Vec<T>) -> Page<T> {
    let more = items.len() > PAGE;
    items.truncate(PAGE);
    Page { items, more }
}
