//! What stands around nodes that are printed alone, one after the other.

use std::collections::HashSet;
use std::sync::Arc;

use crate::entities::RegionOwner;
use crate::function::Function;
use crate::program::Program;
use crate::refs::{FuncRef, NodeRef, RegionRef};
use crate::text::layout;
use crate::text::scope::Scope;

/// What stands around the nodes of one function, for [`print_node_among`](super::print_node_among).
///
/// The first node costs what stands in its region and before it; each that follows costs what stands between it and the one
/// before it in the text. One that stands before that, or in another region, costs what is new around it.
#[derive(Debug, Default)]
pub struct Surroundings {
    pub(super) scope: Scope,
    /// Nodes that fold into others, of the regions that were laid out.
    pub(super) folded: HashSet<NodeRef>,
    laid_out: HashSet<RegionRef>,
    /// The regions around the place, from the outside; nothing before the first node.
    levels: Vec<Level>,
}

/// A region that is open.
#[derive(Debug)]
struct Level {
    region: RegionRef,
    /// What was in scope before it.
    mark: usize,
    /// The last node of it that is in scope.
    after: Option<NodeRef>,
    /// That of the node that owns it.
    label: Option<Arc<str>>,
}

impl Surroundings {
    /// Goes to the place of a node, where what stands before it is in scope.
    pub(super) fn go_to(&mut self, program: &Program, of: FuncRef, function: &Function, node: NodeRef) {
        let body = function.body();
        let Some(region) = body.node(node).map(|node| node.region()) else { return };
        if self.laid_out.insert(region) {
            layout::lines(program, function, region, &mut self.folded);
        }
        let mut chain: Vec<RegionRef> = body.chain(region).collect();
        chain.reverse();
        let goes_on = !self.levels.is_empty() && self.advance(function, &chain, node);
        if !goes_on {
            self.levels.clear();
            self.scope = Scope::default();
            self.scope.bind_head(of, function);
            if !self.advance(function, &chain, node) {
                // The next one begins anew.
                self.levels.clear();
            }
        }
    }

    /// Goes on to a node through the regions around it; whether it stands behind the place.
    fn advance(&mut self, function: &Function, chain: &[RegionRef], node: NodeRef) -> bool {
        let body = function.body();
        let open = self.levels.iter().zip(chain);
        let stay = open.take_while(|(level, region)| level.region == **region).count();
        self.leave(stay);
        for (index, region) in chain.iter().enumerate() {
            if index == self.levels.len() {
                self.enter(function, *region);
            }
            let end = match chain.get(index + 1) {
                Some(inner) => owner(function, *inner),
                None => Some(node),
            };
            let Some(end) = end else { continue };
            let Some(level) = self.levels.get_mut(index) else { return false };
            let front = level.after.is_none().then(|| body.nodes_in(*region));
            let behind = level.after.map(|after| body.nodes_after(*region, after));
            let mut found = false;
            for next in behind.into_iter().flatten().chain(front.into_iter().flatten()) {
                if next == end {
                    found = true;
                    break;
                }
                if let Some(name) = body.node(next).and_then(|node| node.name()) {
                    self.scope.bind_outputs(name, next);
                }
                level.after = Some(next);
            }
            if !found {
                return false;
            }
        }
        true
    }

    fn enter(&mut self, function: &Function, region: RegionRef) {
        let mark = self.scope.mark();
        self.scope.bind_params(function, region);
        let owner = owner(function, region);
        let label = owner.and_then(|owner| function.body().node(owner)?.op().label().cloned());
        if let (Some(owner), Some(label)) = (owner, &label) {
            self.scope.push_label(label, owner);
        }
        self.levels.push(Level { region, mark, after: None, label });
    }

    /// Leaves regions, from the inside, until so many are open.
    fn leave(&mut self, open: usize) {
        for level in self.levels.drain(open.min(self.levels.len())..).rev() {
            self.scope.reset(level.mark);
            if let Some(label) = &level.label {
                self.scope.pop_label(label);
            }
        }
    }
}

/// The node that owns a region.
fn owner(function: &Function, region: RegionRef) -> Option<NodeRef> {
    match function.body().region(region)?.owner {
        RegionOwner::Node(owner) => Some(owner),
        RegionOwner::Function | RegionOwner::Contract(_) => None,
    }
}
