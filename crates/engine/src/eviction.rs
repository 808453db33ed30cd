//! Which open programs are let go: those that nobody uses, the least recently used first, when there are too many.
//!
//! What is let go is opened again from its snapshot when somebody asks. So are simulations that are kept of it: those that nobody
//! looks at keep no program.

use std::sync::Arc;

use uuid::Uuid;

use crate::engine::{Engine, OpenProgram};

/// Bytes of memory that a node takes, about, with its share of everything else.
const NODE: u64 = 300;

/// Bytes that an open program takes beside its nodes, about.
const PROGRAM: u64 = 64 << 10;

impl Engine {
    /// Lets programs go until the others are within the limits, or all others are in use.
    pub(crate) fn let_go(&self) {
        let (gone, left) = self.with_open(|open| {
            let limits = self.limits();
            let weights: Vec<u64> = open.values().filter_map(|cell| cell.get()).map(weight).collect();
            let (mut count, mut bytes) = (weights.len(), weights.iter().sum::<u64>());
            if count <= limits.open_programs && bytes <= limits.open_program_bytes {
                return (Vec::new(), Vec::new());
            }
            let mut kept = self.0.simulations.kept();
            let by_kept = kept.left();
            let held = |id: Uuid| by_kept.get(&id).copied().unwrap_or(0);
            // Who holds the cell is about to use what is in it.
            let mut idle: Vec<_> = open
                .values()
                .filter(|cell| Arc::strong_count(cell) == 1)
                .filter_map(|cell| cell.get())
                .filter(|open| Arc::strong_count(&open.timeline) == 1 + held(open.timeline.id()))
                .filter(|open| open.timeline.is_at_rest())
                .map(|open| (open.timeline.used(), open.timeline.id(), weight(open)))
                .collect();
            idle.sort_unstable();
            let (mut gone, mut left) = (Vec::new(), Vec::new());
            for (_, id, weight) in idle {
                if count <= limits.open_programs && bytes <= limits.open_program_bytes {
                    break;
                }
                gone.extend(open.remove(&id));
                left.extend(kept.take_of(id));
                (count, bytes) = (count - 1, bytes - weight);
            }
            (gone, left)
        });
        if !gone.is_empty() {
            tracing::debug!(programs = gone.len(), "open programs are let go");
            // Freeing a large one takes long.
            drop(self.spawn_to_end(async move {
                drop(tokio::task::spawn_blocking(move || drop((gone, left))).await)
            }));
        }
    }
}

fn weight(open: &OpenProgram) -> u64 {
    let head = open.timeline.head();
    let nodes = head.main.revision.checked.program().totals().counts.nodes;
    let beside: u64 = head.branches.iter().map(|branch| branch.nodes_beside(&head.main)).sum();
    PROGRAM + node_bytes(nodes + beside) + open.timeline.bytes_beside()
}

/// Bytes of memory that some nodes take, about.
pub(crate) fn node_bytes(nodes: u64) -> u64 {
    nodes * NODE
}

#[cfg(test)]
mod tests;
