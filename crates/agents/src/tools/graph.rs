//! Tools that work on entities.

use std::sync::Arc;

use lmlang_engine::BoxFuture;
use lmlang_entities::{Counts, EntityRef, Key, Label, Op, Patch, Subgraph, ValidationError};
use lmlang_ir::counted;
use serde_json::{Map, Value, json};

use super::{Changes, Reach, Tool, ToolAnswer, ToolSpec};
use crate::graph_store::GraphError;

/// Most rows of an answer that a model is shown.
const ROWS: usize = 50;
/// Most bytes of them.
const BYTES: usize = 16 << 10;
/// Most edges away from an entity that a model may look.
const HOPS: u64 = 3;

/// All of them.
pub fn all() -> Vec<Arc<dyn Tool>> {
    let patching = |spec, op| Arc::new(Patching { spec, op }) as Arc<dyn Tool>;
    vec![
        patching(add_node(), "upsert_node"),
        patching(add_edge(), "upsert_edge"),
        patching(update_props(), "update_props"),
        patching(delete_node(), "delete_node"),
        patching(delete_edge(), "delete_edge"),
        Arc::new(Query(query_graph())),
        Arc::new(Around(read_subgraph())),
    ]
}

fn label() -> Value {
    json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,63}$", "description": "What kind of thing it is: Ticket" })
}

fn key() -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 256, "description": "Its natural key, unique in its label: T-1" })
}

fn props() -> Value {
    json!({ "type": "object", "description": "Values to set; null removes one" })
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({
        "type": "object", "required": required, "additionalProperties": false, "properties": properties,
    })
}

fn end() -> Value {
    object(&["label", "key"], json!({ "label": label(), "key": key() }))
}

fn add_node() -> ToolSpec {
    ToolSpec {
        name: "add_node",
        description: "Makes an entity, or merges properties into the one of that label and key.",
        parameters: object(&["label", "key"], json!({ "label": label(), "key": key(), "props": props() })),
        changes: Changes::Merges,
    }
}

fn add_edge() -> ToolSpec {
    ToolSpec {
        name: "add_edge",
        description: "Joins two entities that are there: add them first. Merges into the relation of that type.",
        parameters: object(
            &["from", "type", "to"],
            json!({ "from": end(), "type": label(), "to": end(), "props": props() }),
        ),
        changes: Changes::Merges,
    }
}

fn update_props() -> ToolSpec {
    ToolSpec {
        name: "update_props",
        description: "Merges properties into an entity that must be there.",
        parameters: object(
            &["label", "key", "props"],
            json!({ "label": label(), "key": key(), "props": props() }),
        ),
        changes: Changes::Merges,
    }
}

fn delete_node() -> ToolSpec {
    ToolSpec {
        name: "delete_node",
        description: "Deletes an entity; with `detach`, its relations as well, without which one that has any stays.",
        parameters: object(
            &["label", "key"],
            json!({ "label": label(), "key": key(), "detach": { "type": "boolean" } }),
        ),
        changes: Changes::Deletes,
    }
}

fn delete_edge() -> ToolSpec {
    ToolSpec {
        name: "delete_edge",
        description: "Deletes the relation of a type between two entities.",
        parameters: object(&["from", "type", "to"], json!({ "from": end(), "type": label(), "to": end() })),
        changes: Changes::Deletes,
    }
}

fn query_graph() -> ToolSpec {
    ToolSpec {
        name: "query_graph",
        description: "Answers a question in read-only Cypher: MATCH (t:Ticket {key: $key})-[:DEPENDS_ON]->(m) RETURN m.key. \
                      Values go into `params`.",
        parameters: object(
            &["query"],
            json!({ "query": { "type": "string", "minLength": 1 }, "params": { "type": "object" } }),
        ),
        changes: Changes::Nothing,
    }
}

fn read_subgraph() -> ToolSpec {
    ToolSpec {
        name: "read_subgraph",
        description: "Shows what lies within some edges of an entity.",
        parameters: object(
            &["label", "key"],
            json!({
                "label": label(), "key": key(),
                "hops": { "type": "integer", "minimum": 0, "maximum": HOPS, "default": 1 },
            }),
        ),
        changes: Changes::Nothing,
    }
}

/// A tool that is one operation of a patch: its arguments are the operation's.
struct Patching {
    spec: ToolSpec,
    op: &'static str,
}

impl Tool for Patching {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        reach: &'a Reach<'a>,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, GraphError>> {
        Box::pin(async move {
            let patch = Patch::from_json(&json!([{ self.op: arguments }])).map_err(invalid)?;
            let what = patch.ops().first().map(shown).unwrap_or_default();
            let counts = reach.graph.patch(patch, reach.call).await?;
            let value = json!({
                "created": counts.created, "updated": counts.updated,
                "deleted": counts.deleted, "unchanged": counts.unchanged,
            });
            Ok(ToolAnswer { value, said: format!("{what}: {}", in_words(counts)), counts, made: None })
        })
    }
}

/// Answers a question in Cypher.
struct Query(ToolSpec);

impl Tool for Query {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(
        &'a self,
        reach: &'a Reach<'a>,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, GraphError>> {
        Box::pin(async move {
            let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
            let params = arguments.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
            let table = reach.graph.run_cypher(query, params).await?;
            let found = table.rows.len();
            let mut rows = Vec::new();
            let mut bytes = 0;
            for row in table.rows {
                let row = Value::Array(row);
                bytes += row.to_string().len();
                if rows.len() == ROWS || bytes > BYTES {
                    break;
                }
                rows.push(row);
            }
            let of = if found == 1 { "row" } else { "rows" };
            let value = json!({
                "columns": table.columns, "rows": rows, "found": found,
                "truncated": table.truncated || rows.len() < found,
            });
            Ok(ToolAnswer { value, said: format!("found {found} {of}"), ..ToolAnswer::default() })
        })
    }
}

/// Shows what lies around an entity.
struct Around(ToolSpec);

impl Tool for Around {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call<'a>(
        &'a self,
        reach: &'a Reach<'a>,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, GraphError>> {
        Box::pin(async move {
            let text = |field: &str| arguments.get(field).and_then(Value::as_str).unwrap_or_default();
            let of = EntityRef {
                label: Label::new(text("label")).map_err(invalid)?,
                key: Key::new(text("key")).map_err(invalid)?,
            };
            let hops = arguments.get("hops").and_then(Value::as_u64).unwrap_or(1).min(HOPS);
            let name = of.to_string();
            let hops = u32::try_from(hops).unwrap_or(1);
            let Some(found) = reach.graph.get_subgraph(of, hops).await? else {
                return Err(GraphError {
                    code: "ENTITY_NOT_FOUND".to_owned(),
                    message: format!("`{name}` does not exist"),
                    transient: false,
                });
            };
            let entities = counted(found.nodes.len() as u64, "entity", "entities");
            let relations = counted(found.edges.len() as u64, "relation", "relations");
            let said = format!("`{name}`: {entities}, {relations}");
            Ok(ToolAnswer { value: around(&found), said, ..ToolAnswer::default() })
        })
    }
}

fn around(found: &Subgraph) -> Value {
    let mut bytes = 0;
    let mut fits = |value: &Value| {
        bytes += value.to_string().len();
        bytes <= BYTES
    };
    let name = |node: &lmlang_entities::Node| format!("{}:{}", labels(node), node.key);
    let nodes: Vec<Value> = found
        .nodes
        .iter()
        .map(|(node, distance)| {
            json!({ "entity": name(node), "props": node.props.to_json(), "distance": distance })
        })
        .take_while(&mut fits)
        .collect();
    let edges: Vec<Value> = found
        .edges
        .iter()
        .map(|(from, edge, to)| json!([name(from), edge.relation_type.as_str(), name(to)]))
        .take_while(&mut fits)
        .collect();
    let truncated = found.truncated || nodes.len() < found.nodes.len() || edges.len() < found.edges.len();
    json!({ "nodes": nodes, "edges": edges, "truncated": truncated })
}

fn labels(node: &lmlang_entities::Node) -> String {
    node.labels.iter().map(Label::as_str).collect::<Vec<_>>().join(":")
}

/// An operation in words.
fn shown(op: &Op) -> String {
    match op {
        Op::UpsertNode(node) => format!("`{}`", node.name()),
        Op::UpdateProps(node) => format!("properties of `{}`", node.name()),
        Op::UpsertEdge(edge) => format!("`{} {} {}`", edge.from, edge.relation_type, edge.to),
        Op::DeleteNode { label, key, .. } => format!("`{label}:{key}`"),
        Op::DeleteEdge { from, relation_type, to } => format!("`{from} {relation_type} {to}`"),
    }
}

/// What a reading tool answered, for people: a line for each row, or for each entity and relation.
pub(crate) fn found_in_words(found: &Value) -> String {
    if let Some(text) = found["text"].as_str() {
        return text.trim_end().to_owned();
    }
    let items = |field: &str| found[field].as_array().into_iter().flatten();
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let row = |row: &Value| row.as_array().into_iter().flatten().map(word).collect::<Vec<_>>();
    let mut lines: Vec<String> = match found["columns"].is_array() {
        true => [row(&found["columns"]).join(", ")]
            .into_iter()
            .chain(items("rows").map(|of| row(of).join(", ")))
            .collect(),
        false => {
            let entity = |of: &Value| format!("{} {}", word(&of["entity"]), of["props"]);
            items("nodes").map(entity).chain(items("edges").map(|of| row(of).join(" "))).collect()
        }
    };
    if found["truncated"] == true {
        lines.push("and more".to_owned());
    }
    lines.join("\n")
}

/// Counts in words.
pub(crate) fn in_words(counts: Counts) -> String {
    let kinds = [
        (counts.created, "created"),
        (counts.updated, "updated"),
        (counts.deleted, "deleted"),
        (counts.unchanged, "unchanged"),
    ];
    let some: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}")).collect();
    if some.is_empty() { "0 changed".to_owned() } else { some.join(", ") }
}

fn invalid(error: ValidationError) -> GraphError {
    lmlang_engine::Error::EntityValue(error).into()
}
