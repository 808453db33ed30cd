//! What an operation selects from the items of a list, or from events.

use std::collections::{HashMap, HashSet};

use async_graphql::parser::types::{FragmentDefinition, Selection, SelectionSet};
use async_graphql::{Context, ContextSelectionSet, Name, Positioned};

/// A set of selections, with the fragments that it may spread.
#[derive(Clone, Copy, Debug)]
pub struct Selected<'a> {
    set: &'a SelectionSet,
    fragments: &'a HashMap<Name, Positioned<FragmentDefinition>>,
}

/// A field that is selected without arguments.
#[derive(Debug)]
pub(crate) struct Field<'a> {
    /// Its key in the answer.
    pub(crate) key: &'a str,
    pub(crate) name: &'a str,
    /// What is selected from its value.
    pub(crate) inner: Selected<'a>,
}

impl<'a> Selected<'a> {
    /// What the list that is being answered selects.
    pub(crate) fn of(context: &ContextSelectionSet<'a>) -> Selected<'a> {
        Selected { set: &context.item.node, fragments: &context.query_env.fragments }
    }

    /// What is selected below the field that is being resolved.
    pub(crate) fn below(context: &Context<'a>) -> Selected<'a> {
        Selected { set: &context.item.node.selection_set.node, fragments: &context.query_env.fragments }
    }

    /// Made by hand, for a document without a schema.
    #[cfg(test)]
    pub(crate) fn new(
        set: &'a SelectionSet,
        fragments: &'a HashMap<Name, Positioned<FragmentDefinition>>,
    ) -> Selected<'a> {
        Selected { set, fragments }
    }

    /// The fields that apply to an object, in order, those of fragments included; `None` when something is among them
    /// that a plan does not know.
    ///
    /// `names` are the object's type and all interfaces and unions that it belongs to.
    pub(crate) fn fields(self, names: &[&str]) -> Option<Vec<Field<'a>>> {
        let mut fields = Vec::with_capacity(self.set.items.len());
        self.collect(names, &mut fields)?;
        // Fields with the same key would have to be merged.
        let mut keys = HashSet::with_capacity(fields.len());
        fields.iter().all(|field| keys.insert(field.key)).then_some(fields)
    }

    /// The fields of one item, whatever its type, as the library counts them.
    pub(crate) fn width(self) -> u64 {
        let each = |selection: &'a Positioned<Selection>| match &selection.node {
            Selection::Field(_) => 1,
            Selection::InlineFragment(fragment) => {
                Selected { set: &fragment.node.selection_set.node, ..self }.width()
            }
            Selection::FragmentSpread(spread) => {
                let fragment = self.fragments.get(&spread.node.fragment_name.node);
                fragment.map_or(0, |one| Selected { set: &one.node.selection_set.node, ..self }.width())
            }
        };
        self.set.items.iter().map(each).sum::<u64>().max(1)
    }

    fn collect(self, names: &[&str], fields: &mut Vec<Field<'a>>) -> Option<()> {
        let inside = |set: &'a Positioned<SelectionSet>| Selected { set: &set.node, ..self };
        for selection in &self.set.items {
            match &selection.node {
                Selection::Field(field) => {
                    let field = &field.node;
                    if !field.directives.is_empty() || !field.arguments.is_empty() {
                        return None;
                    }
                    let (key, name) = (&field.response_key().node, &field.name.node);
                    fields.push(Field { key, name, inner: inside(&field.selection_set) });
                }
                Selection::InlineFragment(fragment) => {
                    let fragment = &fragment.node;
                    if !fragment.directives.is_empty() {
                        return None;
                    }
                    let condition = fragment.type_condition.as_ref().map(|on| on.node.on.node.as_str());
                    if condition.is_none_or(|on| names.contains(&on)) {
                        inside(&fragment.selection_set).collect(names, fields)?;
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let fragment = &self.fragments.get(&spread.node.fragment_name.node)?.node;
                    if !spread.node.directives.is_empty() || !fragment.directives.is_empty() {
                        return None;
                    }
                    if names.contains(&fragment.type_condition.node.on.node.as_str()) {
                        inside(&fragment.selection_set).collect(names, fields)?;
                    }
                }
            }
        }
        Some(())
    }
}
