//! Fields with one key in the answer must be the same field: what would be answered under it is otherwise up to chance.
//!
//! The library compares fields only where their sets stand side by side. Here fields are taken together as an execution
//! would: those of one key, then what is selected of all of them. What one key holds is compared with its first field
//! alone, because being the same is transitive, so each step is linear in the fields (the algorithm is that of Simon
//! Adameit, "Overlapping fields can be merged fast").

use std::collections::{HashMap, HashSet};

use async_graphql::parser::Positioned;
use async_graphql::parser::types::{BaseType, ExecutableDocument, Field, Selection, SelectionSet, Type};
use async_graphql::{Name, Pos};
use async_graphql_value::Value;
use indexmap_of::IndexMap;
use serde_json::json;

use crate::error::{ApiError, Code};
use crate::transport::literals::Placed;
use crate::transport::shape::Shape;

use async_graphql::indexmap as indexmap_of;

/// Fields that are looked at before a document is refused: those of types that exclude each other are compared in each of
/// their combinations, which only a document written for it has many of.
const MOST: u64 = 200_000;

/// Checks all operations.
pub(super) fn check(document: &ExecutableDocument, shape: &Shape) -> Result<(), Placed> {
    let mut merging = Merging { document, shape, left: MOST };
    for (_, operation) in document.operations.iter() {
        let (place, operation) = (operation.pos, &operation.node);
        let set = Set { set: &operation.selection_set.node, owner: shape.root(operation.ty) };
        merging.same_shape(vec![set], place)?;
        merging.same_field(vec![set], place)?;
    }
    Ok(())
}

/// A selection set with the type that it is selected of.
#[derive(Clone, Copy)]
struct Set<'a> {
    set: &'a SelectionSet,
    owner: Option<&'a Name>,
}

/// A field with the type that has it.
#[derive(Clone, Copy)]
struct Found<'a> {
    field: &'a Positioned<Field>,
    owner: Option<&'a Name>,
    ty: Option<&'a Type>,
}

impl<'a> Found<'a> {
    fn inner(&self) -> Option<Set<'a>> {
        let set = &self.field.node.selection_set.node;
        (!set.items.is_empty()).then_some(Set { set, owner: self.ty.map(bottom) })
    }
}

struct Merging<'a> {
    document: &'a ExecutableDocument,
    shape: &'a Shape,
    left: u64,
}

impl<'a> Merging<'a> {
    /// Fields of one key answer values of one shape, whatever types have them.
    ///
    /// The recursion is as deep as the selections, which are bounded.
    fn same_shape(&mut self, sets: Vec<Set<'a>>, place: Pos) -> Result<(), Placed> {
        for (key, fields) in self.by_key(sets, place)? {
            let Some(first) = fields.first() else { continue };
            for other in &fields[1..] {
                if let (Some(one), Some(two)) = (first.ty, other.ty)
                    && !self.is_alike(one, two)
                {
                    return Err(conflict(key, other, format!("the types `{one}` and `{two}`")));
                }
            }
            let inner: Vec<Set<'a>> = fields.iter().filter_map(Found::inner).collect();
            // One alone is looked at with what surrounds it.
            if !inner.is_empty() {
                self.same_shape(inner, first.field.pos)?;
            }
        }
        Ok(())
    }

    /// Fields of one key that one object may have are one field, with the same arguments.
    fn same_field(&mut self, sets: Vec<Set<'a>>, place: Pos) -> Result<(), Placed> {
        for (key, fields) in self.by_key(sets, place)? {
            for group in self.by_object(fields) {
                let Some(first) = group.first() else { continue };
                for other in &group[1..] {
                    let (one, two) = (&first.field.node, &other.field.node);
                    if one.name.node != two.name.node {
                        let what = format!("the fields `{}` and `{}`", one.name.node, two.name.node);
                        return Err(conflict(key, other, what));
                    }
                    if !same_arguments(one, two) {
                        let what = format!("the field `{}` with different arguments", one.name.node);
                        return Err(conflict(key, other, what));
                    }
                }
                let inner: Vec<Set<'a>> = group.iter().filter_map(Found::inner).collect();
                if !inner.is_empty() {
                    self.same_field(inner, first.field.pos)?;
                }
            }
        }
        Ok(())
    }

    /// The fields of several sets by their keys, those of fragments included.
    fn by_key(
        &mut self,
        sets: Vec<Set<'a>>,
        place: Pos,
    ) -> Result<IndexMap<&'a Name, Vec<Found<'a>>>, Placed> {
        let (document, shape) = (self.document, self.shape);
        let mut found: IndexMap<&'a Name, Vec<Found<'a>>> = IndexMap::new();
        let mut spread = HashSet::new();
        let mut open: Vec<_> = sets.into_iter().rev().map(|set| (set.set.items.iter(), set.owner)).collect();
        while let Some((items, owner)) = open.last_mut() {
            let owner = *owner;
            let Some(selection) = items.next() else {
                open.pop();
                continue;
            };
            self.left = self
                .left
                .checked_sub(1)
                .ok_or_else(|| (ApiError::limit("selections", MOST, MOST + 1), place))?;
            match &selection.node {
                Selection::Field(field) => {
                    let known = owner.and_then(|owner| shape.any_field(owner, &field.node.name.node));
                    let one = Found { field, owner, ty: known.map(|known| &known.ty) };
                    found.entry(&field.node.response_key().node).or_default().push(one);
                }
                Selection::InlineFragment(inline) => {
                    let on = inline.node.type_condition.as_ref().map(|on| &on.node.on.node);
                    open.push((inline.node.selection_set.node.items.iter(), on.or(owner)));
                }
                Selection::FragmentSpread(one) => {
                    let name = &one.node.fragment_name.node;
                    if let Some(fragment) = document.fragments.get(name)
                        && spread.insert(name)
                    {
                        let on = &fragment.node.type_condition.node.on.node;
                        open.push((fragment.node.selection_set.node.items.iter(), Some(on)));
                    }
                }
            }
        }
        Ok(found)
    }

    /// Fields in groups of those that one object may have: those of each object's type, with those of interfaces and
    /// unions.
    fn by_object(&self, fields: Vec<Found<'a>>) -> Vec<Vec<Found<'a>>> {
        let is_object = |one: &Found<'_>| one.owner.is_some_and(|owner| self.shape.is_object(owner));
        let (of_objects, of_any): (Vec<_>, Vec<_>) = fields.into_iter().partition(is_object);
        let mut groups: IndexMap<Option<&Name>, Vec<Found<'a>>> = IndexMap::new();
        for field in of_objects {
            groups.entry(field.owner).or_insert_with(|| of_any.clone()).push(field);
        }
        if groups.is_empty() { vec![of_any] } else { groups.into_values().collect() }
    }

    fn is_alike(&self, one: &Type, two: &Type) -> bool {
        if one.nullable != two.nullable {
            return false;
        }
        match (&one.base, &two.base) {
            (BaseType::List(one), BaseType::List(two)) => self.is_alike(one, two),
            (BaseType::Named(one), BaseType::Named(two)) => {
                one == two || (self.shape.has_fields(one) && self.shape.has_fields(two))
            }
            (BaseType::List(_), BaseType::Named(_)) | (BaseType::Named(_), BaseType::List(_)) => false,
        }
    }
}

fn bottom(ty: &Type) -> &Name {
    match &ty.base {
        BaseType::Named(name) => name,
        BaseType::List(of) => bottom(of),
    }
}

/// Arguments are the same in any order.
fn same_arguments(one: &Field, two: &Field) -> bool {
    if one.arguments.len() != two.arguments.len() {
        return false;
    }
    let given: HashMap<&Name, &Value> =
        one.arguments.iter().map(|(name, value)| (&name.node, &value.node)).collect();
    two.arguments.iter().all(|(name, value)| given.get(&name.node) == Some(&&value.node))
}

fn conflict(key: &Name, other: &Found<'_>, what: String) -> Placed {
    let message = format!("`{key}` would be {what} at once: an alias tells them apart");
    (ApiError::new(Code::BadRequest, message).data(json!({ "path": key.as_str() })), other.field.pos)
}
