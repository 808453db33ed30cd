//! Bounds what a parsed document costs, before anything else looks at it.
//!
//! Validation visits a fragment once per spread, so a chain of fragments that each spread the next one twice costs
//! 2^length, inside code without an await that no deadline can cut. Here every fragment is measured once and its cost
//! added where it is spread, in time linear in the document.

use std::cell::Cell;
use std::collections::HashMap;

use async_graphql::parser::Positioned;
use async_graphql::parser::types::{
    Directive, ExecutableDocument, Field, OperationDefinition, Selection, SelectionSet, VariableDefinition,
};
use async_graphql::{Name, Value, Variables};
use serde_json::json;

use super::limits::Limits;
use super::shape::{self, Factor, Shape};
use crate::error::{ApiError, Code};

/// What a selection set costs with its fragments expanded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    depth: u64,
    selections: u64,
    aliases: u64,
    complexity: u64,
    /// How deep lists of the schema's own types stand in each other.
    introspection: u64,
}

/// Checks how many operations and fragments there are.
pub(super) fn check_definitions(document: &ExecutableDocument, limits: &Limits) -> Result<(), ApiError> {
    let definitions = document.operations.iter().len() + document.fragments.len();
    within("definitions", limits.definitions, definitions as u64)
}

/// Checks what the document costs against the limits, and the cost of the chosen operation against the complexity limit.
/// Answers whether it is within them with any other variables, too.
pub(super) fn check(
    document: &ExecutableDocument,
    operation: &OperationDefinition,
    variables: &Variables,
    shape: &Shape,
    limits: &Limits,
) -> Result<bool, ApiError> {
    let asked = Cell::new(false);
    let mut measure = Measure {
        document,
        given: Given { variables, definitions: &operation.variable_definitions, asked: &asked },
        shape,
        limits,
        fragments: HashMap::new(),
    };
    let (mut selections, mut aliases) = (0u64, 0u64);
    for (_, definition) in document.operations.iter() {
        let definition = &definition.node;
        within("variables", limits.variables, definition.variable_definitions.len() as u64)?;
        measure.directives(&definition.directives)?;
        let cost = measure.set(&definition.selection_set.node, shape.root(definition.ty), 1)?;
        selections = selections.saturating_add(cost.selections);
        aliases = aliases.saturating_add(cost.aliases);
        within("selections", limits.selections, selections)?;
        within("aliases", limits.aliases, aliases)?;
        if std::ptr::eq(definition, operation) && cost.complexity > limits.complexity {
            let way = measure.heaviest(&definition.selection_set.node, shape.root(definition.ty))?;
            return Err(too_complex(limits.complexity, cost.complexity, &way));
        }
    }
    // Validation visits each definition of a fragment once more, expanded as well.
    for name in document.fragments.keys() {
        let cost = measure.fragment(name, 1)?;
        selections = selections.saturating_add(cost.map_or(0, |cost| cost.selections));
    }
    within("selections", limits.selections.saturating_mul(4), selections)?;
    Ok(document.operations.iter().len() == 1 && !asked.get())
}

fn within(which: &str, limit: u64, actual: u64) -> Result<(), ApiError> {
    if actual > limit { Err(ApiError::limit(which, limit, actual)) } else { Ok(()) }
}

/// The error of an operation that costs too much, with the list that costs most.
fn too_complex(limit: u64, actual: u64, way: &[&str]) -> ApiError {
    let error = ApiError::limit("complexity", limit, actual);
    if way.is_empty() {
        return error;
    }
    let field = way.join(".");
    let message = format!("{}: most of it below `{field}`", error.message);
    let data = json!({ "which": "complexity", "limit": limit, "actual": actual, "field": field });
    ApiError { message, ..error }.data(data)
}

/// Where the value of a variable comes from.
struct Given<'a> {
    variables: &'a Variables,
    definitions: &'a [Positioned<VariableDefinition>],
    /// Whether a variable was looked at.
    asked: &'a Cell<bool>,
}

impl Given<'_> {
    /// Reads the field's page size; none for what is no number, which validation or the resolver refuses.
    fn page(&self, field: &Field) -> Option<u64> {
        within_int(number(&self.value(&field.get_argument("first")?.node)?))
    }

    /// Reads how much of a graph the field may answer, likewise.
    fn max_nodes(&self, field: &Field) -> Option<u64> {
        let most = field.arguments.iter().find_map(|(name, given)| match self.value(&given.node)? {
            Value::Object(fields) => number(fields.get(shape::MAX_NODES)?),
            value if name.node == shape::MAX_NODES => number(&value),
            _ => None,
        });
        within_int(most)
    }

    fn value(&self, given: &async_graphql_value::Value) -> Option<Value> {
        given.clone().into_const_with(|name| self.variable(&name).cloned().ok_or(())).ok()
    }

    fn variable(&self, name: &Name) -> Option<&Value> {
        self.asked.set(true);
        let declared = || self.definitions.iter().find(|definition| definition.node.name.node == *name);
        self.variables.get(name).or_else(|| declared()?.node.default_value())
    }
}

/// A number that is an `Int`; one that is none is refused with its place.
fn within_int(number: Option<u64>) -> Option<u64> {
    number.filter(|number| i32::try_from(*number).is_ok())
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => Some(number.as_u64().unwrap_or(0)),
        _ => None,
    }
}

enum Fragment {
    Open,
    Measured(Cost),
}

struct Measure<'a> {
    document: &'a ExecutableDocument,
    given: Given<'a>,
    shape: &'a Shape,
    limits: &'a Limits,
    fragments: HashMap<&'a Name, Fragment>,
}

impl<'a> Measure<'a> {
    /// Measures a selection set that stands `level` levels deep.
    ///
    /// The recursion is as deep as the levels, which are bounded.
    fn set(&mut self, set: &'a SelectionSet, owner: Option<&'a Name>, level: u64) -> Result<Cost, ApiError> {
        within("depth", self.limits.depth, level)?;
        let mut sum = Cost { depth: 1, ..Cost::default() };
        for selection in &set.items {
            self.directives(selection.node.directives())?;
            let below = match &selection.node {
                Selection::Field(field) => Some(self.field(&field.node, owner, level)?),
                Selection::InlineFragment(inline) => {
                    let inline = &inline.node;
                    self.directives(&inline.directives)?;
                    let owner = inline.type_condition.as_ref().map(|on| &on.node.on.node).or(owner);
                    Some(self.set(&inline.selection_set.node, owner, level + 1)?)
                }
                Selection::FragmentSpread(spread) => {
                    self.fragment(&spread.node.fragment_name.node, level + 1)?
                }
            };
            let below = below.unwrap_or_default();
            sum.depth = sum.depth.max(below.depth + 1);
            sum.selections = sum.selections.saturating_add(below.selections).saturating_add(1);
            sum.aliases = sum.aliases.saturating_add(below.aliases);
            sum.complexity = sum.complexity.saturating_add(below.complexity);
            sum.introspection = sum.introspection.max(below.introspection);
            within("selections", self.limits.selections, sum.selections)?;
        }
        Ok(sum)
    }

    fn field(&mut self, field: &'a Field, owner: Option<&'a Name>, level: u64) -> Result<Cost, ApiError> {
        let shape = self.shape;
        let known = owner.and_then(|owner| shape.field(owner, &field.name.node));
        let mut cost = Cost::default();
        if !field.selection_set.node.items.is_empty() {
            cost = self.set(&field.selection_set.node, known.map(|known| &known.of), level + 1)?;
        }
        cost.aliases = cost.aliases.saturating_add(u64::from(field.alias.is_some()));
        let name = field.name.node.as_str();
        cost.complexity = cost.complexity.saturating_mul(self.times(field, known)).saturating_add(1);
        if known.is_none() {
            cost.introspection += u64::from(shape::is_list_of_the_schema(name));
            // The lists lead back to each other, and resolving them has no await that a deadline could cut.
            if matches!(name, "__schema" | "__type") {
                within("introspection", self.limits.introspection, cost.introspection)?;
            }
        }
        Ok(cost)
    }

    /// How often what is below a field is answered.
    fn times(&self, field: &Field, known: Option<&shape::Field>) -> u64 {
        match known.map(|known| known.factor) {
            None => shape::introspection_times(&field.name.node),
            Some(Factor::Times(times)) => times,
            Some(Factor::First(default)) => self.given.page(field).unwrap_or(default),
            Some(Factor::MaxNodes(default)) => self.given.max_nodes(field).unwrap_or(default),
        }
    }

    /// The way to the innermost list on the way of the dearest fields, as the answer names them.
    fn heaviest(&mut self, set: &'a SelectionSet, owner: Option<&'a Name>) -> Result<Vec<&'a str>, ApiError> {
        let shape = self.shape;
        let (mut way, mut lists, mut below) = (Vec::new(), 0, Some((set, owner)));
        while let Some((set, owner)) = below.take() {
            let mut dearest: Option<(u64, &'a Field, Option<&'a Name>)> = None;
            for (field, owner) in self.fields(set, owner) {
                let cost = self.field(field, owner, 1)?.complexity;
                if dearest.as_ref().is_none_or(|(most, ..)| cost > *most) {
                    dearest = Some((cost, field, owner));
                }
            }
            let Some((_, field, owner)) = dearest else { break };
            let known = owner.and_then(|owner| shape.field(owner, &field.name.node));
            way.push(field.response_key().node.as_str());
            if self.times(field, known) > 1 && !field.selection_set.node.items.is_empty() {
                lists = way.len();
            }
            below = Some((&field.selection_set.node, known.map(|known| &known.of)));
        }
        way.truncate(lists);
        Ok(way)
    }

    /// The fields of a selection set, those of its fragments included, each with the type that has it.
    fn fields(&self, set: &'a SelectionSet, owner: Option<&'a Name>) -> Vec<(&'a Field, Option<&'a Name>)> {
        let (mut fields, mut open) = (Vec::new(), vec![(set, owner)]);
        while let Some((set, owner)) = open.pop() {
            for selection in &set.items {
                match &selection.node {
                    Selection::Field(field) => fields.push((&field.node, owner)),
                    Selection::InlineFragment(inline) => {
                        let on = inline.node.type_condition.as_ref().map(|on| &on.node.on.node);
                        open.push((&inline.node.selection_set.node, on.or(owner)));
                    }
                    Selection::FragmentSpread(spread) => {
                        let fragment = self.document.fragments.get(&spread.node.fragment_name.node);
                        open.extend(fragment.map(|fragment| {
                            let on = &fragment.node.type_condition.node.on.node;
                            (&fragment.node.selection_set.node, Some(on))
                        }));
                    }
                }
            }
        }
        fields
    }

    /// Measures a fragment once; none for one that is not defined, which validation reports.
    fn fragment(&mut self, name: &'a Name, level: u64) -> Result<Option<Cost>, ApiError> {
        match self.fragments.get(name) {
            Some(Fragment::Open) => {
                return Err(ApiError::new(Code::BadRequest, format!("fragment `{name}` spreads itself")));
            }
            Some(Fragment::Measured(cost)) => {
                within("depth", self.limits.depth, level.saturating_add(cost.depth - 1))?;
                return Ok(Some(*cost));
            }
            None => {}
        }
        let Some((name, fragment)) = self.document.fragments.get_key_value(name) else {
            return Ok(None);
        };
        self.fragments.insert(name, Fragment::Open);
        let fragment = &fragment.node;
        self.directives(&fragment.directives)?;
        let owner = &fragment.type_condition.node.on.node;
        let cost = self.set(&fragment.selection_set.node, Some(owner), level)?;
        self.fragments.insert(name, Fragment::Measured(cost));
        Ok(Some(cost))
    }

    fn directives(&self, directives: &[Positioned<Directive>]) -> Result<(), ApiError> {
        within("directives", self.limits.directives, directives.len() as u64)
    }
}
