//! Which parts of a function are still the same when its text has replaced another one.
//!
//! Someone who changes a line means the other lines to stay: their refs, and with them who made them, their comments, the
//! test cases and breakpoints that name them. So nodes and regions of the new function that have refs of their own are
//! matched with those of the old one that nothing claims:
//!
//! 1. a node that computes the same from the same, and is the only one of its kind on both sides, wherever it stands;
//! 2. region by region, the nodes in their order: first what is the same in all that it depends on, then by operator and
//!    neighbours, by operator alone, and at last by mnemonic, so that another constant is the same node changed;
//! 3. what is left, where operator and inputs are the same and the only ones.
//!
//! What a pass has matched stays, and bounds what the next one looks at. Nodes are matched with nodes, regions with
//! regions of the same role; whoever has a ref of the old function already keeps it. The outcome is a renaming: it never
//! changes what the function means.

mod align;
mod carry;
mod outline;

use std::collections::{HashMap, HashSet};

use crate::function::Function;
use crate::node::{Node, Source};
use crate::ops::Opcode;
use crate::refs::{FuncRef, NodeRef, RegionRef};

pub(crate) use carry::{Comments, carry_over, comments};
pub(crate) use outline::fingerprint;
use outline::{Keys, Outline};

/// What stands for what: of new parts the old ones. Parts whose refs are the same on both sides are not in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matching {
    pub(crate) nodes: HashMap<NodeRef, NodeRef>,
    pub(crate) regions: HashMap<RegionRef, RegionRef>,
}

/// Two states of a function on their way to a [`Matching`].
struct Matcher<'f> {
    old: &'f Function,
    new: &'f Function,
    before: Outline,
    after: Outline,
    found: Matching,
    /// What is taken of the old function: by a match, or because the new one has it.
    taken: HashSet<NodeRef>,
    taken_regions: HashSet<RegionRef>,
    /// Regions of both sides that are to be compared.
    pairs: Vec<(RegionRef, RegionRef)>,
    paired: HashSet<RegionRef>,
}

/// Matches the parts of a new function with those of an old one.
pub(crate) fn matching(of: FuncRef, old: &Function, new: &Function) -> Matching {
    let taken = new.body().nodes().map(|(node, _)| node).filter(|node| old.body().node(*node).is_some());
    let regions = new.body().regions().map(|(region, _)| region);
    let mut matcher = Matcher {
        old,
        new,
        before: Outline::of(of, old),
        after: Outline::of(of, new),
        found: Matching::default(),
        taken: taken.collect(),
        taken_regions: regions.filter(|region| old.body().region(*region).is_some()).collect(),
        pairs: Vec::new(),
        paired: HashSet::new(),
    };
    matcher.only_ones();
    matcher.outermost();
    matcher.regions();
    matcher.rest();
    matcher.found
}

impl Matcher<'_> {
    /// The old node that a new one stands for.
    fn old_of(&self, new: NodeRef) -> Option<NodeRef> {
        let same = || self.old.body().node(new).map(|_| new);
        self.found.nodes.get(&new).copied().or_else(same)
    }

    fn old_region_of(&self, new: RegionRef) -> Option<RegionRef> {
        let same = || self.old.body().region(new).map(|_| new);
        self.found.regions.get(&new).copied().or_else(same)
    }

    /// Whether a new node has no counterpart yet.
    fn is_open(&self, new: NodeRef) -> bool {
        self.old_of(new).is_none()
    }

    fn is_free(&self, old: NodeRef) -> bool {
        !self.taken.contains(&old)
    }

    fn match_nodes(&mut self, old: NodeRef, new: NodeRef) {
        self.taken.insert(old);
        self.found.nodes.insert(new, old);
    }

    /// The first step: what is the same in all that it depends on, and there once on both sides.
    fn only_ones(&mut self) {
        // Ends of regions are told apart by where they stand, constants by who uses them.
        let distinct = |node: &Node| !node.op().is_terminator();
        let key = |outline: &Outline, of: NodeRef, node: &Node| match node.op().code() {
            Opcode::Const => outline.keys(of).map(Keys::used),
            _ => outline.keys(of).map(Keys::value),
        };
        let old = once(self.old.body().nodes().filter(|(of, node)| self.is_free(*of) && distinct(node)), {
            |of, node| key(&self.before, of, node)
        });
        let new = once(self.new.body().nodes().filter(|(of, node)| self.is_open(*of) && distinct(node)), {
            |of, node| key(&self.after, of, node)
        });
        let mut matches: Vec<(NodeRef, NodeRef)> =
            new.into_iter().filter_map(|(key, new)| Some((*old.get(&key)?, new))).collect();
        matches.sort_unstable();
        matches.into_iter().for_each(|(old, new)| self.match_nodes(old, new));
    }

    /// Begins with the regions of the function itself and of contracts that stayed.
    fn outermost(&mut self) {
        if let (Some(old), Some(new)) = (self.old.body().root(), self.new.body().root()) {
            self.pair_regions(old, new);
        }
        for (of, contract) in self.new.body().contracts() {
            if let Some(before) = self.old.body().contract(of) {
                self.pair_regions(before.region, contract.region);
            }
        }
    }

    /// Has two regions compared, and matches them if nothing else claims either.
    fn pair_regions(&mut self, old: RegionRef, new: RegionRef) {
        match self.old_region_of(new) {
            Some(same) if same == old => {}
            Some(_) => return,
            None if self.taken_regions.contains(&old) => return,
            None => {
                self.taken_regions.insert(old);
                self.found.regions.insert(new, old);
            }
        }
        if self.paired.insert(new) {
            self.pairs.push((old, new));
        }
    }

    /// The second step, from the outermost regions inwards; then regions that came to stand elsewhere with their nodes.
    fn regions(&mut self) {
        let owners: Vec<NodeRef> = self
            .new
            .body()
            .nodes()
            .filter(|(_, node)| !node.regions().is_empty())
            .map(|(of, _)| of)
            .collect();
        loop {
            while let Some((old, new)) = self.pairs.pop() {
                self.align(old, new);
                let owners: Vec<NodeRef> = self.new.body().nodes_in(new).collect();
                owners.into_iter().for_each(|owner| self.pair_regions_of(owner));
            }
            owners.iter().for_each(|owner| self.pair_regions_of(*owner));
            if self.pairs.is_empty() {
                return;
            }
        }
    }

    /// Pairs the regions of a new node with those of its counterpart, by role.
    fn pair_regions_of(&mut self, new: NodeRef) {
        let Some(old) = self.old_of(new) else { return };
        let (Some(before), Some(after)) = (self.old.body().node(old), self.new.body().node(new)) else {
            return;
        };
        if before.regions().is_empty() || before.op().code() != after.op().code() {
            return;
        }
        let (before, after) = (before.regions().to_vec(), after.regions().to_vec());
        let role = |function: &Function, of: RegionRef| function.body().region(of).map(|region| region.role);
        for region in after {
            let wanted = role(self.new, region);
            if let Some(same) = before.iter().find(|old| role(self.old, **old) == wanted) {
                self.pair_regions(*same, region);
            }
        }
    }

    /// Matches what feeds two matched nodes at the same input, where the mnemonic is the same: the constant in a line
    /// that stayed.
    fn inputs(&mut self, old: NodeRef, new: NodeRef) {
        let mut work = vec![(old, new)];
        while let Some((old, new)) = work.pop() {
            let (Some(before), Some(after)) = (self.old.body().node(old), self.new.body().node(new)) else {
                continue;
            };
            let feeding: Vec<(NodeRef, NodeRef)> = before
                .inputs()
                .iter()
                .zip(after.inputs().iter())
                .filter_map(|inputs| match inputs {
                    (Some(Source::Node(old, a)), Some(Source::Node(new, b))) if a == b => Some((old, new)),
                    (_, _) => None,
                })
                .collect();
            let (old_home, new_home) = (before.region(), after.region());
            for (old, new) in feeding {
                let fits = |old: &Node, new: &Node| {
                    (old.region(), new.region()) == (old_home, new_home)
                        && old.op().code() == new.op().code()
                        && (old.name().is_none() || old.name() == new.name())
                };
                let nodes = self.old.body().node(old).zip(self.new.body().node(new));
                if self.is_free(old) && self.is_open(new) && nodes.is_some_and(|(old, new)| fits(old, new)) {
                    self.match_nodes(old, new);
                    work.push((old, new));
                }
            }
        }
    }

    /// The third step.
    fn rest(&mut self) {
        let open: Vec<NodeRef> =
            self.new.body().nodes().map(|(of, _)| of).filter(|of| self.is_open(*of)).collect();
        if open.is_empty() {
            return;
        }
        let inputs = |node: &Node, of: &dyn Fn(NodeRef) -> Option<NodeRef>| -> Option<Vec<Option<Source>>> {
            let source = |source: Option<Source>| match source {
                Some(Source::Node(node, port)) => of(node).map(|node| Some(Source::Node(node, port))),
                Some(Source::RegionParam(..) | Source::Param(..)) | None => Some(source),
            };
            node.inputs().iter().map(source).collect()
        };
        let fits = |node: &Node| !node.inputs().is_empty() && !node.op().is_terminator();
        let free = self.old.body().nodes().filter(|(of, node)| self.is_free(*of) && fits(node));
        let old =
            once(free, |of, node| Some((self.before.keys(of)?.operator(), inputs(node, &|of| Some(of))?)));
        let left = open.iter().filter_map(|of| Some((*of, self.new.body().node(*of)?)));
        let new = once(left.filter(|(_, node)| fits(node)), |of, node| {
            Some((self.after.keys(of)?.operator(), inputs(node, &|of| self.old_of(of))?))
        });
        let mut matches: Vec<(NodeRef, NodeRef)> =
            new.into_iter().filter_map(|(key, new)| Some((*old.get(&key)?, new))).collect();
        matches.sort_unstable();
        for (old, new) in matches {
            self.match_nodes(old, new);
            self.inputs(old, new);
            self.pair_regions_of(new);
        }
        self.regions();
    }
}

/// What has a key that nothing else has, by that key.
fn once<'n, K: std::hash::Hash + Eq>(
    nodes: impl Iterator<Item = (NodeRef, &'n Node)>,
    key: impl Fn(NodeRef, &'n Node) -> Option<K>,
) -> HashMap<K, NodeRef> {
    let mut found: HashMap<K, Option<NodeRef>> = HashMap::new();
    for (of, node) in nodes {
        if let Some(key) = key(of, node) {
            found.entry(key).and_modify(|only| *only = None).or_insert(Some(of));
        }
    }
    found.into_iter().filter_map(|(key, only)| Some((key, only?))).collect()
}
