//! Which exits decide whether a node runs: those that stand before it and leave a region that it is in.

use std::collections::HashMap;

use foldhash::fast::FixedState;

use crate::entities::RegionOwner;
use crate::function::Body;
use crate::ops::{Attr, Exit, Op, Opcode};
use crate::refs::{NodeRef, RegionRef};

/// The exits of a body in the order in which they stand there. Made in one walk over the body.
pub(super) struct Exits {
    all: Vec<NodeRef>,
    regions: HashMap<RegionRef, Inside, FixedState>,
    /// For each node how many exits stand before it.
    before: HashMap<NodeRef, usize, FixedState>,
}

/// What is known of a region.
#[derive(Clone, Copy)]
struct Inside {
    /// How many regions are around it.
    depth: u32,
    /// The first of the exits in it that nobody has asked for.
    next: usize,
}

enum Step {
    Region(RegionRef, u32),
    Node(NodeRef, u32),
}

impl Exits {
    /// The exits of a body.
    pub(super) fn of(body: &Body) -> Exits {
        let mut exits = Exits { all: Vec::new(), regions: HashMap::default(), before: HashMap::default() };
        let outermost = body.regions().filter(|(_, region)| !matches!(region.owner, RegionOwner::Node(_)));
        let mut steps: Vec<Step> = outermost.map(|(region, _)| Step::Region(region, 0)).collect();
        while let Some(step) = steps.pop() {
            let first = steps.len();
            match step {
                Step::Region(region, depth) => {
                    exits.regions.insert(region, Inside { depth, next: exits.all.len() });
                    steps.extend(body.nodes_in(region).map(|node| Step::Node(node, depth)));
                }
                Step::Node(node, depth) => {
                    exits.before.insert(node, exits.all.len());
                    let Some(content) = body.node(node) else { continue };
                    if is_exit(content.op()) {
                        exits.all.push(node);
                    }
                    steps.extend(content.regions().iter().map(|region| Step::Region(*region, depth + 1)));
                }
            }
            steps[first..].reverse();
        }
        exits
    }

    /// The exits in the region of a node that stand before it and leave the region; each is told once.
    pub(super) fn before(&mut self, body: &Body, node: NodeRef) -> Vec<NodeRef> {
        let region = body.node(node).map(|content| content.region());
        let (Some(region), Some(end)) = (region, self.before.get(&node).copied()) else { return Vec::new() };
        let Some(Inside { depth, next }) = self.regions.get(&region).copied() else { return Vec::new() };
        let told = self.all.get(next..end).unwrap_or_default();
        let told = told.iter().copied().filter(|exit| self.leaves(body, *exit, depth)).collect();
        self.regions.insert(region, Inside { depth, next: next.max(end) });
        told
    }

    /// Tells whether an exit may leave the region at a depth that it stands in.
    fn leaves(&self, body: &Body, exit: NodeRef, depth: u32) -> bool {
        let outside = |target: NodeRef| {
            let around = body.node(target).and_then(|content| self.regions.get(&content.region()));
            around.is_none_or(|around| around.depth < depth)
        };
        body.node(exit).is_some_and(|content| match content.op().attr() {
            Attr::Exit(target) => outside(*target),
            Attr::Switch(targets) => targets.iter().any(|exit: &Exit| exit.target().is_none_or(outside)),
            _ => true,
        })
    }
}

fn is_exit(op: &Op) -> bool {
    matches!(op.attr(), Attr::Exit(_) | Attr::Switch(_)) || op.code() == Opcode::Return
}
