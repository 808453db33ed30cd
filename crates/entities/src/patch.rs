//! A change of the graph as data.
//!
//! In JSON a patch is a list of operations, each an object with one key that names it:
//!
//! ```json
//! [{"upsert_node": {"label": "Person", "key": "ada", "props": {"born": 1815}}},
//!  {"upsert_edge": {"from": {"label": "Person", "key": "ada"}, "type": "WROTE",
//!                   "to": {"label": "Note", "key": "g"}, "props": {"year": 1843}}},
//!  {"update_props": {"label": "Person", "key": "ada", "props": {"born": null}}},
//!  {"delete_edge": {"from": {"label": "Person", "key": "ada"}, "type": "WROTE", "to": {"label": "Note", "key": "g"}}},
//!  {"delete_node": {"label": "Note", "key": "g", "detach": true}}]
//! ```

use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value as Json};

use crate::entity::{EdgeSpec, EntityRef, NodeSpec};
use crate::name::{Key, Label, RelationType};
use crate::props::{PropsChange, RESERVED, kind};
use crate::validation::{Problem, ValidationError, shown};

/// Most operations of a patch.
pub const MAX_OPS: usize = 1_000;

/// One operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Makes a node, or merges properties into the one that is there.
    UpsertNode(NodeSpec),
    /// Makes an edge between two nodes, or merges properties into the one that is there.
    UpsertEdge(EdgeSpec),
    /// Merges properties into a node that must be there.
    UpdateProps(NodeSpec),
    /// Deletes a node, if it is there; its edges with it only if told to.
    DeleteNode {
        /// The label.
        label: Label,
        /// The key.
        key: Key,
        /// Whether its edges are deleted as well.
        detach: bool,
    },
    /// Deletes an edge, if it is there.
    DeleteEdge {
        /// Where it begins.
        from: EntityRef,
        /// What it says.
        #[serde(rename = "type")]
        relation_type: RelationType,
        /// Where it ends.
        to: EntityRef,
    },
}

impl Op {
    /// Returns its name in JSON.
    fn name(&self) -> &'static str {
        match self {
            Self::UpsertNode(_) => "upsert_node",
            Self::UpsertEdge(_) => "upsert_edge",
            Self::UpdateProps(_) => "update_props",
            Self::DeleteNode { .. } => "delete_node",
            Self::DeleteEdge { .. } => "delete_edge",
        }
    }

    /// Returns the labels of nodes that it makes, changes or joins, each with the field of the node; an empty one for the
    /// operation itself.
    fn labels(&self) -> Vec<(&'static str, &Label)> {
        match self {
            Self::UpsertNode(node) | Self::UpdateProps(node) => vec![("", &node.label)],
            // What is there already may go.
            Self::DeleteNode { .. } | Self::DeleteEdge { .. } => Vec::new(),
            Self::UpsertEdge(edge) => vec![("from", &edge.from.label), ("to", &edge.to.label)],
        }
    }
}

/// Operations in order, applied all or none; at most [`MAX_OPS`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Patch(Vec<Op>);

impl Patch {
    /// Makes a patch of operations.
    pub fn new(ops: Vec<Op>) -> Result<Self, ValidationError> {
        check_length(ops.len())?;
        Ok(Self(ops))
    }

    /// Reads a patch; an error names the operation and the field.
    pub fn from_json(json: &Json) -> Result<Self, ValidationError> {
        let Json::Array(ops) = json else {
            return Err(wrong_type("a list of operations", json));
        };
        Self::from_ops(ops)
    }

    /// Reads a patch from its operations; an error names the operation and the field.
    pub fn from_ops(ops: &[Json]) -> Result<Self, ValidationError> {
        check_length(ops.len())?;
        let read = |(index, op)| read_op(op).map_err(|error: ValidationError| error.in_op(index));
        ops.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Refuses a patch that makes or changes a node with one of these labels, or joins it to another; the error names the
    /// operation and the field.
    pub fn refuse_labels(&self, reserved: &[&str]) -> Result<(), ValidationError> {
        for (index, op) in self.0.iter().enumerate() {
            for (field, label) in op.labels() {
                if reserved.contains(&label.as_str()) {
                    let problem = Problem::LabelReserved { found: label.to_string() };
                    let error = ValidationError::new(problem).within("label");
                    let error = if field.is_empty() { error } else { error.within(field) };
                    return Err(error.within(op.name()).in_op(index));
                }
            }
        }
        Ok(())
    }

    /// Returns the operations.
    #[must_use]
    pub fn ops(&self) -> &[Op] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Patch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(&Json::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

fn check_length(found: usize) -> Result<(), ValidationError> {
    match found > MAX_OPS {
        true => Err(ValidationError::new(Problem::TooManyOps { found, limit: MAX_OPS })),
        false => Ok(()),
    }
}

fn read_op(json: &Json) -> Result<Op, ValidationError> {
    let unknown = |found: String| ValidationError::new(Problem::Op { found });
    let Json::Object(op) = json else { return Err(unknown(kind(json).to_owned())) };
    let mut names = op.iter();
    let (Some((name, body)), None) = (names.next(), names.next()) else {
        return Err(unknown(format!("an object with {} keys", op.len())));
    };
    let read = match name.as_str() {
        "upsert_node" => |body: &Json| node_spec(body, false).map(Op::UpsertNode),
        "update_props" => |body: &Json| node_spec(body, true).map(Op::UpdateProps),
        "upsert_edge" => |body: &Json| edge_spec(body),
        "delete_node" => |body: &Json| delete_node(body),
        "delete_edge" => |body: &Json| delete_edge(body),
        other => return Err(unknown(format!("`{}`", shown(other)))),
    };
    read(body).map_err(|error| error.within(name))
}

fn node_spec(body: &Json, must_have_props: bool) -> Result<NodeSpec, ValidationError> {
    let fields = Fields::of(body, &["label", "key", "props"], "`label`, `key`, `props`")?;
    if must_have_props {
        fields.required("props")?;
    }
    Ok(NodeSpec {
        label: fields.name("label", Label::new)?,
        key: fields.name("key", Key::new)?,
        props: fields.props()?,
    })
}

fn edge_spec(body: &Json) -> Result<Op, ValidationError> {
    let fields = Fields::of(body, &["from", "type", "to", "props"], "`from`, `type`, `to`, `props`")?;
    Ok(Op::UpsertEdge(EdgeSpec {
        from: fields.end("from")?,
        relation_type: fields.name("type", RelationType::new)?,
        to: fields.end("to")?,
        props: fields.props()?,
    }))
}

fn delete_node(body: &Json) -> Result<Op, ValidationError> {
    let fields = Fields::of(body, &["label", "key", "detach"], "`label`, `key`, `detach`")?;
    let detach = match fields.0.get("detach") {
        None => false,
        Some(Json::Bool(detach)) => *detach,
        Some(other) => return Err(wrong_type("a boolean", other).within("detach")),
    };
    Ok(Op::DeleteNode {
        label: fields.name("label", Label::new)?,
        key: fields.name("key", Key::new)?,
        detach,
    })
}

fn delete_edge(body: &Json) -> Result<Op, ValidationError> {
    let fields = Fields::of(body, &["from", "type", "to"], "`from`, `type`, `to`")?;
    Ok(Op::DeleteEdge {
        from: fields.end("from")?,
        relation_type: fields.name("type", RelationType::new)?,
        to: fields.end("to")?,
    })
}

/// The fields of an object, all of them known.
struct Fields<'a>(&'a Map<String, Json>);

impl<'a> Fields<'a> {
    fn of(json: &'a Json, known: &[&str], expected: &'static str) -> Result<Self, ValidationError> {
        let Json::Object(fields) = json else { return Err(wrong_type("an object", json)) };
        for field in fields.keys() {
            if known.contains(&field.as_str()) {
                continue;
            }
            let problem = match RESERVED.contains(&field.as_str()) {
                true => Problem::Reserved { field: field.clone() },
                false => Problem::UnknownField { field: shown(field), expected },
            };
            return Err(ValidationError::new(problem).within(&shown(field)));
        }
        Ok(Self(fields))
    }

    fn required(&self, field: &'static str) -> Result<&'a Json, ValidationError> {
        self.0.get(field).ok_or_else(|| ValidationError::new(Problem::Missing { field }).within(field))
    }

    fn name<T>(
        &self,
        field: &'static str,
        make: fn(&str) -> Result<T, ValidationError>,
    ) -> Result<T, ValidationError> {
        match self.required(field)? {
            Json::String(text) => make(text),
            other => Err(wrong_type("a text", other)),
        }
        .map_err(|error| error.within(field))
    }

    fn props(&self) -> Result<PropsChange, ValidationError> {
        match self.0.get("props") {
            None => Ok(PropsChange::default()),
            Some(props) => PropsChange::from_json(props).map_err(|error| error.within("props")),
        }
    }

    fn end(&self, field: &'static str) -> Result<EntityRef, ValidationError> {
        let end = self.required(field)?;
        read_end(end).map_err(|error| error.within(field))
    }
}

fn read_end(json: &Json) -> Result<EntityRef, ValidationError> {
    let end = Fields::of(json, &["label", "key"], "`label`, `key`")?;
    Ok(EntityRef { label: end.name("label", Label::new)?, key: end.name("key", Key::new)? })
}

fn wrong_type(expected: &'static str, found: &Json) -> ValidationError {
    ValidationError::new(Problem::Type { expected, found: kind(found) })
}
