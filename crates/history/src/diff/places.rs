//! Which nodes of a region stay and which move: the fewest moves, found without a look at what lies between.
//!
//! Where both revisions agree on what follows what, nodes form runs that are the same in both. Runs that stand in the same
//! order in both stay; the heaviest such choice is a heaviest increasing subsequence (Schensted 1961, with weights).

use std::collections::{BTreeMap, HashMap, HashSet};

use lmlang_ir::{Body, NodeRef, RegionRef};

/// A run weighs its length up to this, so that a long run costs no more than a look at its start.
const LONG: usize = 64;

/// The nodes that do not follow the same node in both revisions, by region and in order.
pub(super) struct Displaced {
    all: HashSet<NodeRef>,
    before: BTreeMap<RegionRef, Vec<NodeRef>>,
    after: BTreeMap<RegionRef, Vec<NodeRef>>,
}

impl Displaced {
    pub(super) fn between(a: &Body, b: &Body) -> Displaced {
        let all = a.displaced_nodes(b);
        let by_region = |body: &Body| {
            let mut regions: BTreeMap<RegionRef, Vec<NodeRef>> = BTreeMap::new();
            for node in &all {
                if let Some(found) = body.node(*node) {
                    regions.entry(found.region()).or_default().push(*node);
                }
            }
            regions.values_mut().for_each(|nodes| nodes.sort_by_cached_key(|node| body.standing(*node)));
            regions
        };
        let (before, after) = (by_region(a), by_region(b));
        Displaced { all: all.into_iter().collect(), before, after }
    }

    /// The regions of the second revision in which nodes may have to be put into place.
    pub(super) fn regions(&self) -> impl Iterator<Item = RegionRef> + '_ {
        self.after.keys().copied()
    }

    /// The nodes to put into place in a region of the second revision, in order, each right after its predecessor there.
    /// All others stand in that order already.
    pub(super) fn to_place(&self, b: &Body, region: RegionRef) -> Vec<NodeRef> {
        let Some(after) = self.after.get(&region) else { return Vec::new() };
        let ranks: HashMap<NodeRef, usize> = self
            .before
            .get(&region)
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(rank, node)| (*node, rank))
            .collect();
        // What follows a displaced node up to the next one follows it in both revisions.
        let run = |start| b.nodes_after(region, start).take_while(|node| !self.all.contains(node));
        let survivors: Vec<(NodeRef, usize)> =
            after.iter().filter_map(|node| Some((*node, *ranks.get(node)?))).collect();
        let stays: HashSet<NodeRef> = if survivors.is_sorted_by_key(|(_, rank)| *rank) {
            // Nothing has moved; looking along the runs would be most of the work.
            survivors.iter().map(|(node, _)| *node).collect()
        } else {
            let weigh =
                |(node, rank): &(NodeRef, usize)| (*rank, 1 + run(*node).take(LONG - 1).count() as u64);
            let weighed: Vec<(usize, u64)> = survivors.iter().map(weigh).collect();
            let stays = survivors.iter().zip(heaviest_increasing(&weighed, ranks.len()));
            stays.filter_map(|((node, _), stays)| stays.then_some(*node)).collect()
        };
        let mut nodes = Vec::new();
        for start in after.iter().filter(|node| !stays.contains(node)) {
            nodes.push(*start);
            nodes.extend(run(*start));
        }
        nodes
    }
}

/// Tells for each item whether it belongs to the heaviest subsequence with increasing ranks. Ranks are below `ranks` and
/// differ. Costs O(n log n).
fn heaviest_increasing(items: &[(usize, u64)], ranks: usize) -> Vec<bool> {
    // A Fenwick tree of maxima: the best weight of a subsequence that ends below a rank, with its last item.
    let mut tree: Vec<(u64, usize)> = vec![(0, usize::MAX); ranks + 1];
    let mut previous = vec![usize::MAX; items.len()];
    let mut best = (0, usize::MAX);
    for (item, (rank, weight)) in items.iter().enumerate() {
        let mut below = (0, usize::MAX);
        let mut at = *rank;
        while at > 0 {
            below = below.max(tree[at]);
            at &= at - 1;
        }
        previous[item] = below.1;
        let here = (below.0 + weight, item);
        best = best.max(here);
        let mut at = rank + 1;
        while at <= ranks {
            tree[at] = tree[at].max(here);
            at += at & at.wrapping_neg();
        }
    }
    let mut stays = vec![false; items.len()];
    let mut item = best.1;
    while let Some(slot) = stays.get_mut(item) {
        *slot = true;
        item = previous[item];
    }
    stays
}
