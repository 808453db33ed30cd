//! What names of values and labels mean at one place of a function.

use std::collections::HashMap;
use std::sync::Arc;

use crate::entities::RegionOwner;
use crate::function::Function;
use crate::node::Source;
use crate::refs::{FuncRef, NodeRef, RegionRef, VarRef};
use crate::text::words::is_bare;

/// What a name of a value stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// A value that is there.
    Value(Source),
    /// A variable: reading it is a `var.get`.
    Variable(VarRef),
    /// A capture: reading it is a `capture.get`.
    Capture(u32),
    /// Something whose mistake is told.
    Broken,
}

/// Names in scope; the latest binding of a name hides the ones before.
#[derive(Debug, Default)]
pub(super) struct Scope {
    values: HashMap<Arc<str>, Vec<Binding>>,
    bound: Vec<Arc<str>>,
    labels: HashMap<Arc<str>, Vec<NodeRef>>,
    variables: HashMap<Arc<str>, Vec<VarRef>>,
}

impl Scope {
    pub(super) fn bind(&mut self, name: &Arc<str>, binding: Binding) {
        self.values.entry(Arc::clone(name)).or_default().push(binding);
        self.bound.push(Arc::clone(name));
    }

    /// Binds the names of a node's outputs.
    pub(super) fn bind_outputs(&mut self, name: &Arc<str>, node: NodeRef) {
        for (port, part) in output_names(name).enumerate() {
            if part != "_" {
                self.bind(&part.into(), Binding::Value(Source::Node(node, port as u16)));
            }
        }
    }

    /// Makes a variable known by its name, wherever it stands.
    pub(super) fn add_variable(&mut self, name: &Arc<str>, of: VarRef) {
        self.variables.entry(Arc::clone(name)).or_default().push(of);
    }

    /// The variables of a name.
    pub(super) fn variables(&self, name: &str) -> &[VarRef] {
        self.variables.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn variable_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.variables.keys().map(|name| &**name)
    }

    /// Binds what is in scope everywhere in a function: its variables, captures and parameters, the later ones in this
    /// list before the earlier.
    pub(super) fn bind_head(&mut self, of: FuncRef, function: &Function) {
        for (variable, record) in function.body().variables() {
            if let Some(name) = &record.name {
                self.add_variable(name, variable);
                self.bind(name, Binding::Variable(variable));
            }
        }
        for (index, capture) in function.head().captures.iter().enumerate() {
            self.bind(&capture.name, Binding::Capture(index as u32));
        }
        for (index, param) in function.head().params.iter().enumerate() {
            self.bind(&param.name, Binding::Value(Source::Param(of, index as u16)));
        }
    }

    /// What is in scope in a region right after a node of it, or at its front. Costs what stands before that place.
    pub(super) fn at(of: FuncRef, function: &Function, region: RegionRef, after: Option<NodeRef>) -> Scope {
        let body = function.body();
        let mut scope = Scope::default();
        scope.bind_head(of, function);
        let mut chain: Vec<RegionRef> = body.chain(region).collect();
        chain.reverse();
        for (index, around) in chain.iter().enumerate() {
            scope.bind_params(function, *around);
            let owner = chain.get(index + 1).and_then(|inner| match body.region(*inner)?.owner {
                RegionOwner::Node(owner) => Some(owner),
                RegionOwner::Function | RegionOwner::Contract(_) => None,
            });
            let (bound, included) = match owner {
                Some(owner) => (Some(owner), false),
                None => (after, true),
            };
            if bound.is_none() {
                continue;
            }
            for node in body.nodes_in(*around) {
                let last = Some(node) == bound;
                if (!last || included)
                    && let Some(name) = body.node(node).and_then(|node| node.name())
                {
                    scope.bind_outputs(name, node);
                }
                if last {
                    break;
                }
            }
            if let Some(owner) = owner
                && let Some(label) = body.node(owner).and_then(|node| node.op().label())
            {
                scope.push_label(label, owner);
            }
        }
        scope
    }

    /// Binds the parameters of a region.
    pub(super) fn bind_params(&mut self, function: &Function, region: RegionRef) {
        let params = function.body().region(region).map_or(&[][..], |region| &region.params);
        for (index, param) in params.iter().enumerate() {
            if let Some(name) = &param.name {
                self.bind(name, Binding::Value(Source::RegionParam(region, index as u16)));
            }
        }
    }

    /// Remembers what is in scope.
    pub(super) fn mark(&self) -> usize {
        self.bound.len()
    }

    /// Goes back to what was in scope at a mark.
    pub(super) fn reset(&mut self, mark: usize) {
        while self.bound.len() > mark {
            let Some(name) = self.bound.pop() else { return };
            if let Some(bindings) = self.values.get_mut(&name) {
                bindings.pop();
            }
        }
    }

    pub(super) fn lookup(&self, name: &str) -> Option<Binding> {
        self.values.get(name)?.last().copied()
    }

    /// The names that mean something.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.values.iter().filter(|(_, bindings)| !bindings.is_empty()).map(|(name, _)| &**name)
    }

    pub(super) fn push_label(&mut self, label: &Arc<str>, node: NodeRef) {
        self.labels.entry(Arc::clone(label)).or_default().push(node);
    }

    pub(super) fn pop_label(&mut self, label: &str) {
        if let Some(nodes) = self.labels.get_mut(label) {
            nodes.pop();
        }
    }

    pub(super) fn label(&self, label: &str) -> Option<NodeRef> {
        self.labels.get(label)?.last().copied()
    }

    pub(super) fn label_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.labels.iter().filter(|(_, nodes)| !nodes.is_empty()).map(|(label, _)| &**label)
    }
}

/// The names of a node's outputs in order: the parts of `a, b` when all of them are identifiers or `_`, else the name
/// itself for the first output.
pub fn output_names(name: &str) -> impl Iterator<Item = &str> + Clone {
    let list = name.contains(", ") && name.split(", ").all(|part| part == "_" || is_bare(part));
    let mut rest = Some(name);
    std::iter::from_fn(move || {
        let whole = rest.take()?;
        match whole.split_once(", ") {
            Some((first, others)) if list => {
                rest = Some(others);
                Some(first)
            }
            Some(_) | None => Some(whole),
        }
    })
}
