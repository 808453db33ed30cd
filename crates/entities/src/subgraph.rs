//! What lies around a node.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::entity::EntityId;
use crate::graph::{Edge, Graph, Node, Way};
use crate::name::{Key, Label};

/// Nodes within some hops of a node, and the edges that lead there.
#[derive(Clone, Debug, PartialEq)]
pub struct Subgraph {
    /// The nodes with their distance, nearest first, each once.
    pub nodes: Vec<(Arc<Node>, u32)>,
    /// The edges between them, as begin, edge, end; each once, in the order in which they are found.
    pub edges: Vec<(Arc<Node>, Arc<Edge>, Arc<Node>)>,
    /// Whether there would be more, had more nodes been allowed; what was found before the first of those is there.
    pub truncated: bool,
}

/// Gathers what lies within `hops` edges of a node, whichever way these point; nothing if there is no such node.
///
/// Edges between two of the outermost nodes are left out. Cost: two reads per node that is nearer than
/// `hops`, more where a node has many edges.
pub fn subgraph<G: Graph>(
    graph: &G,
    label: &Label,
    key: &Key,
    hops: u32,
    max_nodes: usize,
) -> Result<Option<Subgraph>, G::Error> {
    let Some(start) = graph.node(label, key)? else { return Ok(None) };
    let mut found = Subgraph { nodes: vec![(start.clone(), 0)], edges: Vec::new(), truncated: false };
    let mut nodes: BTreeSet<EntityId> = BTreeSet::from([start.id]);
    let mut edges = BTreeSet::new();
    let mut open = VecDeque::from([(start, 0)]);
    while let Some((node, distance)) = open.pop_front() {
        if distance == hops {
            continue;
        }
        for way in [Way::Out, Way::In] {
            let mut after = None;
            loop {
                let page = graph.hops(&node, way, &[], after.as_ref())?;
                after = page.items.last().cloned();
                for hop in page.items {
                    if !nodes.contains(&hop.other.id) {
                        if nodes.len() >= max_nodes {
                            found.truncated = true;
                            return Ok(Some(found));
                        }
                        nodes.insert(hop.other.id);
                        found.nodes.push((hop.other.clone(), distance + 1));
                        open.push_back((hop.other.clone(), distance + 1));
                    }
                    if edges.insert(hop.edge.id) {
                        found.edges.push(match way {
                            Way::Out => (node.clone(), hop.edge, hop.other),
                            Way::In => (hop.other, hop.edge, node.clone()),
                        });
                    }
                }
                if !page.more {
                    break;
                }
            }
        }
    }
    Ok(Some(found))
}
