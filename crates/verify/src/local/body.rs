//! What differs inside of a body, and what of the body depends on it.

use std::collections::BTreeSet;

use lmlang_ir::ops::AttrKind;
use lmlang_ir::{
    Attr, Body, ContractKind, ContractRef, Node, NodeRef, Region, RegionOwner, RegionRef, Source, VarRef,
};

use super::Part;
use super::moves::moved_nodes;

/// The bodies of one function in two revisions.
pub(super) struct Bodies<'a, 'd> {
    pub(super) before: &'a Body,
    pub(super) after: &'a Body,
    pub(super) part: &'d mut Part,
}

impl Bodies<'_, '_> {
    /// Marks what has to be looked at again.
    pub(super) fn mark(&mut self) {
        if self.before.root() != self.after.root() {
            self.part.head = true;
        }
        for (number, before, after) in self.before.changed_variables(self.after) {
            let Some(of) = VarRef::new(number) else { continue };
            self.part.variables.insert(of);
            if before.map(|variable| &variable.ty) != after.map(|variable| &variable.ty) {
                self.mark_namers(number);
            }
        }
        for (number, before, after) in self.before.changed_contracts(self.after) {
            self.part.contracts.extend(ContractRef::new(number));
            let both = before.into_iter().chain(after);
            self.part.regions.extend(both.clone().map(|contract| contract.region));
            // What states invariants may have a wider bound than it needs.
            self.part.head |= both.into_iter().any(|contract| contract.kind == ContractKind::Invariant);
        }
        for (number, before, after) in self.before.changed_regions(self.after) {
            let Some(of) = RegionRef::new(number) else { continue };
            self.region(of, before, after);
        }
        // What states invariants has a bare body.
        let invariants = self.after.contracts().filter(|(_, of)| of.kind == ContractKind::Invariant);
        let invariants: Vec<ContractRef> = invariants.map(|(of, _)| of).collect();
        for (number, before, after) in self.before.changed_nodes(self.after) {
            let Some(of) = NodeRef::new(number) else { continue };
            self.part.contracts.extend(&invariants);
            self.node(of, before, after);
        }
        self.order();
    }

    /// Nodes that name an entity in their operator or take a value of it, with the users of their outputs.
    fn mark_namers(&mut self, number: u64) {
        let namers: Vec<NodeRef> = self.after.users_of(number).map(|one| one.node).collect();
        for node in namers {
            self.part.nodes.insert(node);
            self.mark_users(node);
        }
    }

    fn mark_users(&mut self, of: NodeRef) {
        self.part.nodes.extend(self.after.uses_of(of.number()).map(|one| one.node));
    }

    fn region(&mut self, of: RegionRef, before: Option<&Region>, after: Option<&Region>) {
        self.part.regions.insert(of);
        self.part.nodes.extend(self.after.users_of(of.number()).map(|one| one.node));
        for owner in before.into_iter().chain(after).map(|region| region.owner) {
            match owner {
                RegionOwner::Function => self.part.head = true,
                RegionOwner::Contract(contract) => drop(self.part.contracts.insert(contract)),
                RegionOwner::Node(node) => {
                    // A loop takes, and its `continue`s give, what the parameters of its region say.
                    self.part.nodes.insert(node);
                    self.part.nodes.extend(self.after.users_of(node.number()).map(|one| one.node));
                    self.mark_next(node);
                }
            }
        }
        if before.map(|region| region.owner) != after.map(|region| region.owner) {
            self.mark_inside([of]);
        }
    }

    fn node(&mut self, of: NodeRef, before: Option<&Node>, after: Option<&Node>) {
        self.part.nodes.insert(of);
        let (old, new) = (sources(before), sources(after));
        self.part.nodes.extend(old.symmetric_difference(&new));
        let moved = before.map(Node::region) != after.map(Node::region);
        let rebuilt =
            before.map(|node| (node.op(), node.regions())) != after.map(|node| (node.op(), node.regions()));
        if !moved && !rebuilt {
            return;
        }
        // Exits that aim at it are among its users.
        self.part.nodes.extend(self.after.users_of(of.number()).map(|one| one.node));
        let owned: BTreeSet<RegionRef> =
            before.into_iter().chain(after).flat_map(|node| node.regions().iter().copied()).collect();
        for region in &owned {
            // What a `yield` gives follows from the owner.
            self.part.regions.insert(*region);
            self.part.nodes.extend(self.before.last_in(*region));
            self.part.nodes.extend(self.after.last_in(*region));
        }
        if moved {
            self.mark_inside(owned);
        }
        for node in before.into_iter().chain(after) {
            self.mark_mentions(node);
            self.mark_end(of, node.region());
        }
        self.mark_next(of);
    }

    /// What depends on the fact that a node with this operator is there.
    fn mark_mentions(&mut self, node: &Node) {
        let op = node.op();
        if op.spec().attr == AttrKind::Variable
            && let Attr::Variable(variable) = op.attr()
        {
            self.part.variables.insert(*variable);
        }
        if let Attr::Exit(target) = op.attr() {
            self.mark_next(*target);
        }
        if let Attr::Switch(targets) = op.attr() {
            targets.iter().filter_map(|exit| exit.target()).for_each(|target| self.mark_next(target));
        }
    }

    /// What follows a node: whether it is reached depends on the node.
    fn mark_next(&mut self, of: NodeRef) {
        self.part.nodes.extend(self.after.next(of));
    }

    /// The end of a region, if a node is or was its last: a terminator or none, and what follows the owner.
    fn mark_end(&mut self, of: NodeRef, region: RegionRef) {
        if [self.before, self.after].into_iter().any(|body| body.last_in(region) == Some(of)) {
            self.part.regions.insert(region);
            let owner = self.after.region(region).and_then(|region| owner_node(region.owner));
            owner.into_iter().for_each(|owner| self.mark_next(owner));
        }
    }

    /// Everything inside of regions: what is in scope there has changed, and whether they are part of the tree.
    fn mark_inside(&mut self, regions: impl IntoIterator<Item = RegionRef>) {
        let mut seen: BTreeSet<RegionRef> = BTreeSet::new();
        let mut open: Vec<RegionRef> = regions.into_iter().collect();
        while let Some(region) = open.pop() {
            if !seen.insert(region) || self.after.region(region).is_none() {
                continue;
            }
            self.part.regions.insert(region);
            for node in self.after.nodes_in(region) {
                self.part.nodes.insert(node);
                open.extend(self.listed(node));
            }
        }
    }

    /// The regions that a node lists in either revision: one that it has ceased to list is still its own.
    fn listed(&self, of: NodeRef) -> BTreeSet<RegionRef> {
        let both = [self.before, self.after].into_iter().filter_map(|body| body.node(of));
        both.flat_map(|node| node.regions().iter().copied()).collect()
    }

    fn order(&mut self) {
        let displaced = self.before.displaced_nodes(self.after);
        for of in &displaced {
            self.part.nodes.insert(*of);
            for body in [self.before, self.after] {
                if let Some(node) = body.node(*of) {
                    self.mark_end(*of, node.region());
                }
            }
        }
        for of in moved_nodes(self.before, self.after, &displaced) {
            self.part.nodes.insert(of);
            self.mark_users(of);
            if let Some(node) = self.after.node(of) {
                self.mark_end(of, node.region());
            }
            self.mark_inside(self.listed(of));
        }
    }
}

/// The nodes that a node takes values from.
fn sources(node: Option<&Node>) -> BTreeSet<NodeRef> {
    let inputs = node.into_iter().flat_map(|node| node.inputs().iter().flatten());
    inputs
        .filter_map(|source| match source {
            Source::Node(node, _) => Some(node),
            Source::RegionParam(..) | Source::Param(..) => None,
        })
        .collect()
}

/// The node that owns a region.
fn owner_node(owner: RegionOwner) -> Option<NodeRef> {
    match owner {
        RegionOwner::Node(node) => Some(node),
        RegionOwner::Function | RegionOwner::Contract(_) => None,
    }
}
