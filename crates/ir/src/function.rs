//! A function: its head and its body of regions.

use std::sync::{Arc, OnceLock};

use crate::entities::{Contract, ContractKind, EffectBound, FunctionHead, Region, RegionOwner, Variable};
use crate::hash::{Content, Hash, Hasher};
use crate::node::{Node, Source, Use};
use crate::order::{Homes, Order, Standing};
use crate::refs::{ContractRef, NodeRef, Ref, RegionRef, TypeRef, VarRef};
use crate::trie::{Change, Trie};
use crate::types::Type;
use crate::users::Users;

/// A function at one revision. Cloning copies pointers.
#[derive(Clone, Debug)]
pub struct Function {
    pub(crate) head: Arc<FunctionHead>,
    pub(crate) body: Body,
    /// Forgotten on every write, as `code`.
    pub(crate) hash: OnceLock<Hash>,
    pub(crate) code: OnceLock<Hash>,
}

/// The regions of a function with everything in them.
#[derive(Clone, Debug, Default)]
pub struct Body {
    pub(crate) root: Option<RegionRef>,
    pub(crate) nodes: Trie<Node>,
    pub(crate) regions: Trie<Region>,
    pub(crate) variables: Trie<Variable>,
    pub(crate) contracts: Trie<Contract>,
    pub(crate) order: Order,
    /// Derived, once somebody asks.
    pub(crate) users: Users,
    /// Derived.
    pub(crate) counts: Counts,
}

/// The maps that a body consists of, by ref number.
#[derive(Clone, Copy, Debug)]
pub struct BodyMaps<'a> {
    /// Nodes.
    pub nodes: &'a Trie<Node>,
    /// Regions.
    pub regions: &'a Trie<Region>,
    /// Variables.
    pub variables: &'a Trie<Variable>,
    /// Contracts.
    pub contracts: &'a Trie<Contract>,
    /// The order of the nodes in their regions.
    pub order: &'a Order,
}

/// How much there is of what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Regions, those of contracts included.
    pub regions: u64,
    /// Nodes.
    pub nodes: u64,
    /// Data edges: inputs with a source.
    pub data_edges: u64,
    /// Control edges: to the next node, into regions, and out of them.
    pub control_edges: u64,
    /// Inputs without a source.
    pub holes: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, other: Counts) {
        self.regions += other.regions;
        self.nodes += other.nodes;
        self.data_edges += other.data_edges;
        self.control_edges += other.control_edges;
        self.holes += other.holes;
    }

    pub(crate) fn subtract(&mut self, other: Counts) {
        self.regions -= other.regions;
        self.nodes -= other.nodes;
        self.data_edges -= other.data_edges;
        self.control_edges -= other.control_edges;
        self.holes -= other.holes;
    }
}

impl Homes for Trie<Node> {
    fn chunk_of(&self, element: u64) -> u64 {
        self.get(element).map_or(0, |node| node.chunk)
    }

    fn set_chunk(&mut self, element: u64, head: u64) {
        if self.get(element).is_some_and(|node| node.chunk != head)
            && let Some(node) = self.get_mut(element)
        {
            node.chunk = head;
        }
    }
}

/// Equal when what was authored is equal.
impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        self.head == other.head && self.body == other.body
    }
}

/// So that pointers to one function are equal without a look at it.
impl Eq for Function {}

/// Equal when what was authored is equal.
impl PartialEq for Body {
    fn eq(&self, other: &Body) -> bool {
        self.root == other.root
            && self.nodes == other.nodes
            && self.regions == other.regions
            && self.variables == other.variables
            && self.contracts == other.contracts
            && self.order == other.order
    }
}

/// The type whose invariants a function with this head and body states.
pub(crate) fn states_invariants_of(head: &FunctionHead, body: &Body) -> Option<TypeRef> {
    let [param] = &head.params[..] else { return None };
    let Type::Named(of) = param.ty else { return None };
    let is_bounded = head.effect_bound <= EffectBound::Reads;
    if !head.results.is_empty() || !head.captures.is_empty() || head.import.is_some() || !is_bounded {
        return None;
    }
    body.contracts().any(|(_, contract)| contract.kind == ContractKind::Invariant).then_some(of)
}

impl Function {
    /// A function without a body.
    pub fn new(head: FunctionHead) -> Function {
        Function { head: Arc::new(head), body: Body::default(), hash: OnceLock::new(), code: OnceLock::new() }
    }

    /// Everything but the body.
    pub fn head(&self) -> &FunctionHead {
        &self.head
    }

    /// The type whose invariants this function states: that of its only parameter. A function with results or captures,
    /// or that may do more than read, states none.
    pub fn states_invariants_of(&self) -> Option<TypeRef> {
        states_invariants_of(&self.head, &self.body)
    }

    /// The regions with everything in them.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The hash of all that was authored, refs included; a rename of another entity leaves it alone.
    pub fn content_hash(&self) -> Hash {
        *self.hash.get_or_init(|| {
            let mut hasher = Hasher::new(b"function");
            self.head.hash_into(&mut hasher);
            let body = &self.body;
            hasher.number(body.root.map_or(0, RegionRef::number));
            for part in [
                body.nodes.hash(),
                body.regions.hash(),
                body.variables.hash(),
                body.contracts.hash(),
                body.order.hash(),
            ] {
                hasher.bytes(&part.0);
            }
            hasher.finish()
        })
    }
}

impl Content for Function {
    fn hash_into(&self, hasher: &mut Hasher) {
        hasher.bytes(&self.content_hash().0);
    }
}

impl Body {
    /// All that was authored, as it is kept.
    pub fn maps(&self) -> BodyMaps<'_> {
        let Body { nodes, regions, variables, contracts, order, root: _, users: _, counts: _ } = self;
        BodyMaps { nodes, regions, variables, contracts, order }
    }

    /// The region of the function itself; `None` for an imported one.
    pub fn root(&self) -> Option<RegionRef> {
        self.root
    }

    /// A node.
    pub fn node(&self, node: NodeRef) -> Option<&Node> {
        self.nodes.get(node.number())
    }

    /// A region.
    pub fn region(&self, region: RegionRef) -> Option<&Region> {
        self.regions.get(region.number())
    }

    /// A variable.
    pub fn variable(&self, variable: VarRef) -> Option<&Variable> {
        self.variables.get(variable.number())
    }

    /// A contract.
    pub fn contract(&self, contract: ContractRef) -> Option<&Contract> {
        self.contracts.get(contract.number())
    }

    /// All nodes, by ref.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeRef, &Node)> {
        self.nodes_from(0)
    }

    /// The nodes with a number at or above the given one, by ref: how listings page.
    pub fn nodes_from(&self, number: u64) -> impl Iterator<Item = (NodeRef, &Node)> {
        self.nodes.iter_from(number).map(|(number, node)| (NodeRef::of_key(number), node))
    }

    /// All regions, by ref.
    pub fn regions(&self) -> impl Iterator<Item = (RegionRef, &Region)> {
        self.regions_from(0)
    }

    /// The regions with a number at or above the given one, by ref.
    pub fn regions_from(&self, number: u64) -> impl Iterator<Item = (RegionRef, &Region)> {
        self.regions.iter_from(number).map(|(number, region)| (RegionRef::of_key(number), region))
    }

    /// All variables, by ref.
    pub fn variables(&self) -> impl Iterator<Item = (VarRef, &Variable)> {
        self.variables.iter().map(|(number, variable)| (VarRef::of_key(number), variable))
    }

    /// The nodes and variables with a name, or with one of several outputs of that name. Looks at each of them.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Ref> + 'a {
        let called = move |label: &str| label == name || label.split(", ").any(|part| part == name);
        let nodes = self.nodes().filter(move |(_, node)| node.name().is_some_and(|label| called(label)));
        let variables = self.variables().filter(move |(_, found)| found.name.as_deref() == Some(name));
        nodes.map(|(of, _)| of.into()).chain(variables.map(|(of, _)| of.into()))
    }

    /// All contracts, by ref.
    pub fn contracts(&self) -> impl Iterator<Item = (ContractRef, &Contract)> {
        self.contracts.iter().map(|(number, contract)| (ContractRef::of_key(number), contract))
    }

    /// The nodes of a region in order, those of inner regions not included.
    pub fn nodes_in(&self, region: RegionRef) -> impl Iterator<Item = NodeRef> + '_ {
        self.order.iter(region.number()).map(NodeRef::of_key)
    }

    /// The nodes of a region that stand after one of them, in order; none after a node that is not in it.
    pub fn nodes_after(&self, region: RegionRef, node: NodeRef) -> impl Iterator<Item = NodeRef> + '_ {
        // No chunk has the number zero.
        let chunk = self.node(node).filter(|found| found.region() == region).map_or(0, |found| found.chunk);
        self.order.iter_after(node.number(), chunk).map(NodeRef::of_key)
    }

    /// The last node of a region; its terminator, if it has one.
    pub fn last_in(&self, region: RegionRef) -> Option<NodeRef> {
        self.order.last(region.number()).map(NodeRef::of_key)
    }

    /// The terminator of a region.
    pub fn terminator(&self, region: RegionRef) -> Option<NodeRef> {
        self.last_in(region).filter(|node| self.node(*node).is_some_and(|node| node.op().is_terminator()))
    }

    /// The node before another one in its region.
    pub fn previous(&self, node: NodeRef) -> Option<NodeRef> {
        let found = self.node(node)?;
        self.order.before(found.region().number(), node.number(), found.chunk).map(NodeRef::of_key)
    }

    /// The node after another one in its region.
    pub fn next(&self, node: NodeRef) -> Option<NodeRef> {
        self.order.after(node.number(), self.node(node)?.chunk).map(NodeRef::of_key)
    }

    /// Tells whether `a` stands before `b`; false unless both are in the same region. Costs O(log n).
    pub fn precedes(&self, a: NodeRef, b: NodeRef) -> bool {
        match (self.node(a), self.node(b)) {
            (Some(x), Some(y)) if x.region() == y.region() && a != b => {
                self.order.precedes(a.number(), b.number(), [x.chunk, y.chunk])
            }
            (Some(_) | None, _) => false,
        }
    }

    /// Where a node stands among those of its region, to sort them by; nothing of a node that is not there. Costs O(log n).
    pub fn standing(&self, node: NodeRef) -> Option<Standing> {
        Some(self.order.standing(node.number(), self.node(node)?.chunk))
    }

    /// Position of a node in its region, from 0. Walks the region up to the node.
    pub fn position(&self, node: NodeRef) -> Option<usize> {
        self.nodes_in(self.node(node)?.region()).position(|other| other == node)
    }

    /// The region around a region: that of the node that owns it. `None` for the function's and for those of contracts.
    pub fn outer(&self, region: RegionRef) -> Option<RegionRef> {
        match self.region(region)?.owner {
            RegionOwner::Function | RegionOwner::Contract(_) => None,
            RegionOwner::Node(node) => Some(self.node(node)?.region()),
        }
    }

    /// The region and all regions around it, the innermost first. Stops at a region that does not exist, and after as
    /// many as there are, should they run in a circle.
    pub fn chain(&self, region: RegionRef) -> impl Iterator<Item = RegionRef> + '_ {
        let start = self.region(region).map(|_| region);
        std::iter::successors(start, |region| self.outer(*region)).take(self.counts.regions as usize)
    }

    /// Regions with all regions inside of them. Stops after as many as there are, should they run in a circle.
    pub fn within(&self, regions: impl IntoIterator<Item = RegionRef>) -> Vec<RegionRef> {
        let mut found: Vec<RegionRef> = regions.into_iter().collect();
        for next in 0..self.counts.regions as usize {
            let Some(region) = found.get(next).copied() else { break };
            let nodes = self.nodes_in(region).filter_map(|node| self.node(node));
            found.extend(nodes.flat_map(|node| node.regions()));
        }
        found
    }

    /// Who refers to an entity: takes a value from it or names it in an operator; ordered by node and input. The first
    /// question of this kind costs the size of the function.
    pub fn users_of(&self, number: u64) -> impl Iterator<Item = Use> + '_ {
        self.users.among(&self.nodes).of(number)
    }

    /// Has noted who refers to what, so that copies have it too.
    pub(crate) fn note_users(&self) {
        self.users.among(&self.nodes);
    }

    /// The inputs that take a value from a node, a region or the function itself, at any of its ports.
    pub fn uses_of(&self, number: u64) -> impl Iterator<Item = Use> + '_ {
        self.users_of(number).filter(|one| one.input.is_some())
    }

    /// Which entities are referred to from inside this body at all, each with its users, by number.
    pub fn all_users(&self) -> impl Iterator<Item = (u64, Use)> + '_ {
        self.users.among(&self.nodes).iter()
    }

    /// The source that a use takes its value from.
    pub fn source_of(&self, one: Use) -> Option<Source> {
        self.node(one.node)?.inputs().get(usize::from(one.input?))
    }

    /// How much there is of what.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The nodes in which two revisions of a body differ, order apart. Costs what differs.
    pub fn changed_nodes<'a>(&'a self, other: &'a Body) -> Vec<Change<'a, Node>> {
        self.nodes.changes(&other.nodes)
    }

    /// The regions whose records differ between two revisions of a body. Costs what differs.
    pub fn changed_regions<'a>(&'a self, other: &'a Body) -> Vec<Change<'a, Region>> {
        self.regions.changes(&other.regions)
    }

    /// The variables in which two revisions of a body differ. Costs what differs.
    pub fn changed_variables<'a>(&'a self, other: &'a Body) -> Vec<Change<'a, Variable>> {
        self.variables.changes(&other.variables)
    }

    /// The contracts whose records differ between two revisions of a body. Costs what differs.
    pub fn changed_contracts<'a>(&'a self, other: &'a Body) -> Vec<Change<'a, Contract>> {
        self.contracts.changes(&other.contracts)
    }

    /// The nodes, by ref, that do not follow the same node in both revisions, or are the first of another region; those of
    /// one revision included. What has gone into another region right behind the node that it followed before is left out:
    /// its record says so. Costs what differs.
    pub fn displaced_nodes(&self, other: &Body) -> Vec<NodeRef> {
        self.order.displaced(&other.order).into_iter().map(NodeRef::of_key).collect()
    }
}
