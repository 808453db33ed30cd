//! Positions of nodes in their regions, for lists that tell that of each.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use lmlang_ir::{Body, NodeRef, RegionRef};

/// Positions in the regions of one function. The first one that is asked for costs a walk up to it; from the second on a
/// region is walked once for all of its nodes.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    asked: AtomicBool,
    known: Mutex<HashMap<RegionRef, HashMap<NodeRef, usize>>>,
}

impl Positions {
    /// The position of a node in its region, from 0.
    pub(crate) fn of(&self, body: &Body, node: NodeRef) -> Option<usize> {
        if !self.asked.swap(true, Ordering::Relaxed) {
            return body.position(node);
        }
        let region = body.node(node)?.region();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let nodes = known
            .entry(region)
            .or_insert_with(|| body.nodes_in(region).enumerate().map(|(at, node)| (node, at)).collect());
        nodes.get(&node).copied()
    }
}
