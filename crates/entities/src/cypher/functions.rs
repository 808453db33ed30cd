//! Functions and aggregates: their names, and what they make of values.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::error::{Fault, Problem};
use super::span::Span;
use super::value::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Labels,
    Type,
    Keys,
    Properties,
    Size,
    Length,
    Coalesce,
    ToLower,
    ToUpper,
    ToString,
    ToInteger,
    ToFloat,
    Head,
    Last,
    Nodes,
    Relationships,
    StartNode,
    EndNode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aggregate {
    Count,
    Collect,
    Sum,
    Min,
    Max,
    Avg,
}

pub(crate) enum Called {
    Function(Function),
    Aggregate(Aggregate),
}

const FUNCTIONS: [(&str, Function); 18] = [
    ("labels", Function::Labels),
    ("type", Function::Type),
    ("keys", Function::Keys),
    ("properties", Function::Properties),
    ("size", Function::Size),
    ("length", Function::Length),
    ("coalesce", Function::Coalesce),
    ("toLower", Function::ToLower),
    ("toUpper", Function::ToUpper),
    ("toString", Function::ToString),
    ("toInteger", Function::ToInteger),
    ("toFloat", Function::ToFloat),
    ("head", Function::Head),
    ("last", Function::Last),
    ("nodes", Function::Nodes),
    ("relationships", Function::Relationships),
    ("startNode", Function::StartNode),
    ("endNode", Function::EndNode),
];

const AGGREGATES: [(&str, Aggregate); 6] = [
    ("count", Aggregate::Count),
    ("collect", Aggregate::Collect),
    ("sum", Aggregate::Sum),
    ("min", Aggregate::Min),
    ("max", Aggregate::Max),
    ("avg", Aggregate::Avg),
];

/// Finds what a name calls, whatever the case of its letters.
pub(crate) fn named(name: &str, span: Span) -> Result<Called, Fault> {
    if ["id", "elementId"].iter().any(|refused| refused.eq_ignore_ascii_case(name)) {
        let what = "a look at ids (entities are named by label and key)";
        return Err(Fault::new(span, Problem::Unsupported { what }));
    }
    if let Some((_, function)) = FUNCTIONS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Ok(Called::Function(*function));
    }
    if let Some((_, aggregate)) = AGGREGATES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Ok(Called::Aggregate(*aggregate));
    }
    let known: Vec<&str> =
        FUNCTIONS.iter().map(|(name, _)| *name).chain(AGGREGATES.iter().map(|(name, _)| *name)).collect();
    Err(Fault::new(span, Problem::UnknownFunction { name: name.to_owned() }).near(name, &known))
}

impl Function {
    fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }

    pub(crate) fn check_count(self, found: usize) -> Result<(), Problem> {
        let (right, expected) = match self {
            Self::Coalesce => (found > 0, "one argument or more"),
            _ => (found == 1, "one argument"),
        };
        match right {
            true => Ok(()),
            false => Err(Problem::Arguments { function: self.name(), expected, found }),
        }
    }

    /// Applies the function; but for `coalesce`, what is asked of null is null.
    pub(crate) fn apply(self, arguments: &[Value]) -> Result<Value, Problem> {
        let first = arguments.first().unwrap_or(&Value::Null);
        if self != Self::Coalesce && matches!(first, Value::Null) {
            return Ok(Value::Null);
        }
        let wrong = |expected| Err(Problem::Type { operation: self.name(), expected, found: first.kind() });
        let texts = |names: Vec<Arc<str>>| Value::List(names.into_iter().map(Value::Text).collect());
        Ok(match (self, first) {
            (Self::Coalesce, _) => {
                arguments.iter().find(|value| !matches!(value, Value::Null)).cloned().unwrap_or(Value::Null)
            }
            (Self::Labels, Value::Node(node)) => {
                texts(node.labels.iter().map(|label| label.text()).collect())
            }
            (Self::Labels, _) => return wrong("a node"),
            (Self::Type, Value::Edge(link)) => Value::Text(link.edge.relation_type.text()),
            (Self::StartNode, Value::Edge(link)) => Value::Node(link.from.clone()),
            (Self::EndNode, Value::Edge(link)) => Value::Node(link.to.clone()),
            (Self::Type | Self::StartNode | Self::EndNode, _) => return wrong("a relationship"),
            (Self::Keys, Value::Node(node)) => {
                texts(node.props.iter().map(|(name, _)| name.clone()).collect())
            }
            (Self::Keys, Value::Edge(link)) => {
                texts(link.edge.props.iter().map(|(name, _)| name.clone()).collect())
            }
            (Self::Keys, Value::Map(fields)) => texts(fields.keys().cloned().collect()),
            (Self::Properties, Value::Node(node)) => Value::of_props(&node.props),
            (Self::Properties, Value::Edge(link)) => Value::of_props(&link.edge.props),
            (Self::Properties, Value::Map(_)) => first.clone(),
            (Self::Keys | Self::Properties, _) => return wrong("a node, a relationship or a map"),
            (Self::Size, Value::List(items)) => Value::Int(items.len() as i64),
            (Self::Size, Value::Text(text)) => Value::Int(text.chars().count() as i64),
            (Self::Size, _) => return wrong("a list or a text"),
            (Self::Length, Value::Path(path)) => Value::Int(path.edges.len() as i64),
            (Self::Nodes, Value::Path(path)) => {
                Value::List(path.nodes.iter().cloned().map(Value::Node).collect())
            }
            (Self::Relationships, Value::Path(path)) => {
                Value::List(path.edges.iter().cloned().map(Value::Edge).collect())
            }
            (Self::Length | Self::Nodes | Self::Relationships, _) => return wrong("a path"),
            (Self::ToLower, Value::Text(text)) => Value::Text(text.to_lowercase().into()),
            (Self::ToUpper, Value::Text(text)) => Value::Text(text.to_uppercase().into()),
            (Self::ToLower | Self::ToUpper, _) => return wrong("a text"),
            (Self::ToString, _) => match printed(first) {
                Some(text) => Value::Text(text),
                None => return wrong("a text, a number or a boolean"),
            },
            (Self::ToInteger, Value::Int(value)) => Value::Int(*value),
            (Self::ToInteger, Value::Float(value)) => whole(*value),
            (Self::ToInteger, Value::Text(text)) => match (text.trim().parse(), text.trim().parse()) {
                (Ok(value), _) => Value::Int(value),
                (Err(_), Ok(value)) => whole(value),
                (Err(_), Err(_)) => Value::Null,
            },
            (Self::ToFloat, Value::Int(value)) => Value::Float(*value as f64),
            (Self::ToFloat, Value::Float(value)) => Value::Float(*value),
            (Self::ToFloat, Value::Text(text)) => text
                .trim()
                .parse()
                .ok()
                .filter(|value: &f64| value.is_finite())
                .map_or(Value::Null, Value::Float),
            (Self::ToInteger | Self::ToFloat, _) => return wrong("a number or a text"),
            (Self::Head, Value::List(items)) => items.first().cloned().unwrap_or(Value::Null),
            (Self::Last, Value::List(items)) => items.last().cloned().unwrap_or(Value::Null),
            (Self::Head | Self::Last, _) => return wrong("a list"),
        })
    }
}

/// Returns a number or boolean as text; what is text stays.
pub(crate) fn printed(value: &Value) -> Option<Arc<str>> {
    match value {
        Value::Text(text) => Some(text.clone()),
        Value::Int(_) | Value::Float(_) | Value::Bool(_) => Some(value.to_json().to_string().into()),
        _ => None,
    }
}

fn whole(value: f64) -> Value {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    match (-BEYOND..BEYOND).contains(&value) {
        true => Value::Int(value as i64),
        false => Value::Null,
    }
}

impl Aggregate {
    /// The name in queries.
    pub(crate) fn name(self) -> &'static str {
        AGGREGATES.iter().find(|(_, aggregate)| *aggregate == self).map_or("", |(name, _)| name)
    }
}

/// Whether an aggregate takes equal values in again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distinct {
    All,
    Once,
}

/// What an aggregate has seen of one group.
#[derive(Debug)]
pub(crate) struct Tally {
    aggregate: Aggregate,
    seen: Option<BTreeSet<Value>>,
    count: i64,
    values: Vec<Value>,
    /// The sum, the least or the greatest so far.
    value: Value,
}

impl Tally {
    pub(crate) fn new(aggregate: Aggregate, distinct: Distinct) -> Self {
        let seen = (distinct == Distinct::Once).then(BTreeSet::new);
        let value = match aggregate {
            Aggregate::Sum | Aggregate::Avg => Value::Int(0),
            Aggregate::Count | Aggregate::Collect | Aggregate::Min | Aggregate::Max => Value::Null,
        };
        Self { aggregate, seen, count: 0, values: Vec::new(), value }
    }

    pub(crate) fn count_row(&mut self) {
        self.count += 1;
    }

    /// Takes a value in; null is passed over.
    pub(crate) fn add(&mut self, value: Value) -> Result<(), Problem> {
        if matches!(value, Value::Null) || self.seen.as_mut().is_some_and(|seen| !seen.insert(value.clone()))
        {
            return Ok(());
        }
        self.count += 1;
        match self.aggregate {
            Aggregate::Count => {}
            Aggregate::Collect => self.values.push(value),
            Aggregate::Min if matches!(self.value, Value::Null) || value < self.value => self.value = value,
            Aggregate::Max if matches!(self.value, Value::Null) || value > self.value => self.value = value,
            Aggregate::Min | Aggregate::Max => {}
            Aggregate::Sum | Aggregate::Avg => {
                let operation = self.aggregate.name();
                self.value = match (&self.value, &value) {
                    (Value::Int(sum), Value::Int(value)) => sum.checked_add(*value).map(Value::Int),
                    (Value::Int(sum), Value::Float(value)) => finite(*sum as f64 + value),
                    (Value::Float(sum), Value::Int(value)) => finite(sum + *value as f64),
                    (Value::Float(sum), Value::Float(value)) => finite(sum + value),
                    (_, other) => {
                        return Err(Problem::Type { operation, expected: "numbers", found: other.kind() });
                    }
                }
                .ok_or(Problem::Arithmetic { operation })?;
            }
        }
        Ok(())
    }

    pub(crate) fn result(self) -> Value {
        match (self.aggregate, self.value) {
            (Aggregate::Count, _) => Value::Int(self.count),
            (Aggregate::Collect, _) => Value::List(self.values.into()),
            (Aggregate::Avg, _) if self.count == 0 => Value::Null,
            (Aggregate::Avg, Value::Int(sum)) => Value::Float(sum as f64 / self.count as f64),
            (Aggregate::Avg, Value::Float(sum)) => Value::Float(sum / self.count as f64),
            (_, value) => value,
        }
    }
}

pub(crate) fn finite(value: f64) -> Option<Value> {
    value.is_finite().then_some(Value::Float(value))
}
