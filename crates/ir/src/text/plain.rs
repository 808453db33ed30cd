//! Which refs a summary of a function leaves out: those of what its name alone tells.

use std::collections::HashMap;

use crate::entities::FunctionHead;
use crate::function::{Body, Function};
use crate::node::Node;
use crate::refs::{NodeRef, VarRef};
use crate::text::scope::output_names;
use crate::text::words::is_bare;

/// How often each name stands in a function.
pub(super) struct Plain<'f> {
    values: HashMap<&'f str, usize>,
    labels: HashMap<&'f str, usize>,
    variables: HashMap<&'f str, usize>,
}

fn count<'f>(names: impl Iterator<Item = &'f str>) -> HashMap<&'f str, usize> {
    let mut counted = HashMap::new();
    names.for_each(|name| *counted.entry(name).or_default() += 1);
    counted
}

impl<'f> Plain<'f> {
    /// Counts the names of a function.
    pub(super) fn of(function: &'f Function) -> Plain<'f> {
        let (head, body) = (function.head(), function.body());
        let params = head.params.iter().chain(&head.captures).map(|param| &*param.name);
        let variables = || body.variables().filter_map(|(_, variable)| variable.name.as_deref());
        let inner = body.regions().flat_map(|(_, region)| &region.params);
        let inner = inner.filter_map(|param| param.name.as_deref());
        let nodes = body.nodes().filter_map(|(_, node)| node.name()).flat_map(|name| output_names(name));
        Plain {
            values: count(params.chain(variables()).chain(inner).chain(nodes)),
            labels: count(body.nodes().filter_map(|(_, node)| node.op().label()).map(AsRef::as_ref)),
            variables: count(variables()),
        }
    }

    fn tells(&self, name: &str) -> bool {
        is_bare(name) && self.values.get(name) == Some(&1)
    }

    /// Whether the line of a node does without its ref. Exits aim at what has no label by its ref.
    pub(super) fn node(&self, body: &Body, of: NodeRef, node: &Node) -> bool {
        let named = node.name().is_some_and(|name| output_names(name).all(|part| self.tells(part)));
        let label = node.op().label().is_some_and(|label| self.labels.get(&**label) == Some(&1));
        named && (label || body.users_of(of.number()).all(|one| one.input.is_some()))
    }

    /// Whether a variable does without its ref.
    pub(super) fn variable(&self, body: &Body, of: VarRef) -> bool {
        let name = body.variable(of).and_then(|variable| variable.name.as_deref());
        name.is_some_and(|name| self.variables.get(name) == Some(&1))
    }

    /// Whether a function does without its ref as far as its body goes: a parameter that its name does not tell is
    /// written with the ref of the function.
    pub(super) fn head(&self, head: &FunctionHead) -> bool {
        head.params.iter().chain(&head.captures).all(|param| self.tells(&param.name))
    }

    /// Whether a region does without its ref, given the names of its parameters.
    pub(super) fn region<'n>(&self, mut params: impl Iterator<Item = Option<&'n str>>) -> bool {
        params.all(|name| name.is_some_and(|name| self.tells(name)))
    }
}
