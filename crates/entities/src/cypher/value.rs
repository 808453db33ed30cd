//! Values of queries: equality that knows of null, one order of all of them, and how they are shown.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::graph::{Edge, Node};
use crate::name::Label;
use crate::props::{PropValue, Props};

/// A value; equal as values are when they are grouped: null equals null, and 1 equals 1.0.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    /// Finite.
    Float(f64),
    Text(Arc<str>),
    List(Arc<[Value]>),
    Map(Arc<BTreeMap<Arc<str>, Value>>),
    Node(Arc<Node>),
    Edge(Arc<Link>),
    Path(Arc<Path>),
}

/// An edge with its ends.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) edge: Arc<Edge>,
    pub(crate) from: Arc<Node>,
    pub(crate) to: Arc<Node>,
}

/// Nodes, and the edges between each and the next one.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) nodes: Vec<Arc<Node>>,
    pub(crate) edges: Vec<Arc<Link>>,
}

impl Value {
    pub(crate) fn of(value: &PropValue) -> Self {
        match value {
            PropValue::Null => Self::Null,
            PropValue::Bool(value) => Self::Bool(*value),
            PropValue::Int(value) => Self::Int(*value),
            PropValue::Float(value) => Self::Float(*value),
            PropValue::Text(value) => Self::Text(value.clone()),
            PropValue::List(items) => Self::List(items.iter().map(Self::of).collect()),
            PropValue::Map(fields) => Self::Map(Arc::new(
                fields.iter().map(|(name, value)| (name.clone(), Self::of(value))).collect(),
            )),
        }
    }

    /// Reads a parameter; nothing if it has a number that does not fit, or is nested more deeply than `depth`.
    pub(crate) fn of_json(json: &Json, depth: usize) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        Some(match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) if number.is_u64() || number.is_i64() => Self::Int(number.as_i64()?),
            Json::Number(number) => Self::Float(number.as_f64().filter(|value| value.is_finite())?),
            Json::String(text) => Self::Text(text.as_str().into()),
            Json::Array(items) => {
                Self::List(items.iter().map(|item| Self::of_json(item, depth)).collect::<Option<_>>()?)
            }
            Json::Object(fields) => {
                let field = |(name, value): (&String, &Json)| {
                    Some((Arc::from(name.as_str()), Self::of_json(value, depth)?))
                };
                Self::Map(Arc::new(fields.iter().map(field).collect::<Option<_>>()?))
            }
        })
    }

    /// Returns the value as one that an index can be asked for.
    pub(crate) fn to_prop(&self) -> Option<PropValue> {
        match self {
            Self::Bool(value) => Some(PropValue::Bool(*value)),
            Self::Int(value) => Some(PropValue::Int(*value)),
            Self::Float(value) => Some(PropValue::Float(*value)),
            Self::Text(value) => Some(PropValue::Text(value.clone())),
            Self::Null | Self::List(_) | Self::Map(_) | Self::Node(_) | Self::Edge(_) | Self::Path(_) => None,
        }
    }

    /// Names the type, for errors.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Node(_) => "a node",
            Self::Edge(_) => "a relationship",
            Self::Path(_) => "a path",
        }
    }

    /// Returns the value of a property of a node.
    pub(crate) fn of_node(node: &Node, name: &str) -> Self {
        match name {
            "key" => Self::Text(node.key.text()),
            "created_at" => node.created_at.map_or(Self::Null, |stamp| Self::Text(stamp.to_string().into())),
            "updated_at" => node.updated_at.map_or(Self::Null, |stamp| Self::Text(stamp.to_string().into())),
            name => node.props.get(name).map_or(Self::Null, Self::of),
        }
    }

    /// Returns the value of a property of an edge.
    pub(crate) fn of_edge(edge: &Edge, name: &str) -> Self {
        match name {
            "created_at" => edge.created_at.map_or(Self::Null, |stamp| Self::Text(stamp.to_string().into())),
            "updated_at" => edge.updated_at.map_or(Self::Null, |stamp| Self::Text(stamp.to_string().into())),
            name => edge.props.get(name).map_or(Self::Null, Self::of),
        }
    }

    pub(crate) fn of_props(props: &Props) -> Self {
        Self::Map(Arc::new(props.iter().map(|(name, value)| (name.clone(), Self::of(value))).collect()))
    }

    /// Returns about how many values and words lie in this one, for the cost of an operation on all of it.
    pub(crate) fn weight(&self) -> u64 {
        match self {
            Self::Text(text) => 1 + text.len() as u64 / 16,
            Self::List(items) => 1 + items.len() as u64,
            Self::Map(fields) => 1 + fields.len() as u64,
            Self::Path(path) => 1 + path.nodes.len() as u64,
            Self::Null | Self::Bool(_) | Self::Int(_) | Self::Float(_) | Self::Node(_) | Self::Edge(_) => 1,
        }
    }

    /// Says whether lists and maps lie in this one, itself counted, no more than `depth` deep.
    pub(crate) fn is_within(&self, depth: usize) -> bool {
        match (self, depth.checked_sub(1)) {
            (Self::List(_) | Self::Map(_), None) => false,
            (Self::List(items), Some(depth)) => items.iter().all(|item| item.is_within(depth)),
            (Self::Map(fields), Some(depth)) => fields.values().all(|value| value.is_within(depth)),
            _ => true,
        }
    }

    pub(crate) fn to_json(&self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::from(*value),
            Self::Int(value) => Json::from(*value),
            Self::Float(value) => Json::from(*value),
            Self::Text(text) => Json::from(text.as_ref()),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Map(fields) => {
                Json::Object(fields.iter().map(|(name, value)| (name.to_string(), value.to_json())).collect())
            }
            Self::Node(node) => node_json(node),
            Self::Edge(link) => link_json(link),
            Self::Path(path) => json!({
                "nodes": path.nodes.iter().map(|node| node_json(node)).collect::<Json>(),
                "relationships": path.edges.iter().map(|link| link_json(link)).collect::<Json>(),
            }),
        }
    }
}

fn node_json(node: &Node) -> Json {
    let labels: Json = node.labels.iter().map(Label::as_str).collect();
    json!({ "labels": labels, "key": node.key.as_str(), "props": node.props.to_json() })
}

fn link_json(link: &Link) -> Json {
    let end =
        |node: &Node| json!({ "label": node.labels.first().map(Label::as_str), "key": node.key.as_str() });
    json!({
        "type": link.edge.relation_type.as_str(),
        "from": end(&link.from),
        "to": end(&link.to),
        "props": link.edge.props.to_json(),
    })
}

/// Says whether two values are equal; nothing if that hangs on a null.
pub(crate) fn equal(a: &Value, b: &Value) -> Option<bool> {
    match (a, b) {
        (Value::Null, _) | (_, Value::Null) => None,
        (Value::List(a), Value::List(b)) if a.len() == b.len() => {
            all(a.iter().zip(b.iter()).map(|(a, b)| equal(a, b)))
        }
        (Value::Map(a), Value::Map(b)) if a.keys().eq(b.keys()) => {
            all(a.values().zip(b.values()).map(|(a, b)| equal(a, b)))
        }
        (a, b) => Some(a.cmp(b) == Ordering::Equal),
    }
}

/// Compares values of one kind; nothing if they are of two, or if it hangs on a null.
pub(crate) fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_))
        | (Value::Text(_), Value::Text(_))
        | (Value::Bool(_), Value::Bool(_)) => Some(a.cmp(b)),
        (Value::List(a), Value::List(b)) => {
            for (a, b) in a.iter().zip(b.iter()) {
                match compare(a, b)? {
                    Ordering::Equal => {}
                    other => return Some(other),
                }
            }
            Some(a.len().cmp(&b.len()))
        }
        _ => None,
    }
}

/// Returns whether all are true; false wins over null, null over true.
pub(crate) fn all(values: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut result = Some(true);
    for value in values {
        match value {
            Some(false) => return Some(false),
            None => result = None,
            Some(true) => {}
        }
    }
    result
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The order of `ORDER BY`: by kind, then by value; null is last.
impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            (Self::Int(a), Self::Float(b)) => numbers(*a, *b),
            (Self::Float(a), Self::Int(b)) => numbers(*b, *a).reverse(),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::List(a), Self::List(b)) => a.cmp(b),
            (Self::Map(a), Self::Map(b)) => a.cmp(b),
            (Self::Node(a), Self::Node(b)) => nodes(a, b),
            (Self::Edge(a), Self::Edge(b)) => links(a, b),
            (Self::Path(a), Self::Path(b)) => {
                let first =
                    a.nodes.first().zip(b.nodes.first()).map_or(Ordering::Equal, |(a, b)| nodes(a, b));
                let edges =
                    || a.edges.iter().zip(&b.edges).map(|(a, b)| links(a, b)).find(|order| order.is_ne());
                first
                    .then_with(|| edges().unwrap_or(Ordering::Equal))
                    .then_with(|| a.edges.len().cmp(&b.edges.len()))
            }
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }
}

impl Value {
    fn rank(&self) -> u8 {
        match self {
            Self::Map(_) => 0,
            Self::Node(_) => 1,
            Self::Edge(_) => 2,
            Self::List(_) => 3,
            Self::Path(_) => 4,
            Self::Text(_) => 5,
            Self::Bool(_) => 6,
            Self::Int(_) | Self::Float(_) => 7,
            Self::Null => 8,
        }
    }
}

fn nodes(a: &Node, b: &Node) -> Ordering {
    match a.id == b.id {
        true => Ordering::Equal,
        false => a.order().cmp(&b.order()).then_with(|| a.id.cmp(&b.id)),
    }
}

fn links(a: &Link, b: &Link) -> Ordering {
    match a.edge.id == b.edge.id {
        true => Ordering::Equal,
        false => nodes(&a.from, &b.from)
            .then_with(|| a.edge.relation_type.cmp(&b.edge.relation_type))
            .then_with(|| nodes(&a.to, &b.to))
            .then_with(|| a.edge.id.cmp(&b.edge.id)),
    }
}

/// Compares exactly: an integer may lie between two floats.
fn numbers(a: i64, b: f64) -> Ordering {
    // What is beyond all integers is cut to the outermost of 128 bits.
    let whole = b.trunc();
    i128::from(a)
        .cmp(&(whole as i128))
        .then_with(|| 0.0_f64.partial_cmp(&(b - whole)).unwrap_or(Ordering::Equal))
}
