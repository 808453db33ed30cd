//! Which nodes of a region stay and which move: the fewest moves, found without a look at what lies between.
//!
//! Where both revisions agree on what follows what, nodes form runs that are the same in both. Runs that stand in the same
//! order in both stay; the heaviest such choice is a heaviest increasing subsequence (Schensted 1961, with weights).

use lmlang_ir::order::Standing;
use lmlang_ir::{Body, NodeRef, RegionRef};

/// A run weighs its length up to this, so that a long run costs no more than a look at its start.
const LONG: usize = 64;

/// A node in its region.
type Placed = (RegionRef, Standing, NodeRef);

/// The nodes that do not follow the same node in both revisions, by region and in order.
pub(super) struct Displaced {
    before: Vec<Placed>,
    after: Vec<Placed>,
}

impl Displaced {
    pub(super) fn between(a: &Body, b: &Body) -> Displaced {
        let all = a.displaced_nodes(b);
        let placed = |body: &Body| {
            let place = |node: &NodeRef| Some((body.node(*node)?.region(), body.standing(*node)?, *node));
            let mut placed: Vec<Placed> = all.iter().filter_map(place).collect();
            placed.sort_unstable();
            placed
        };
        Displaced { before: placed(a), after: placed(b) }
    }

    /// The regions of the second revision in which nodes may have to be put into place.
    pub(super) fn regions(&self) -> impl Iterator<Item = RegionRef> + '_ {
        self.after.chunk_by(|(one, ..), (next, ..)| one == next).map(|inside| inside[0].0)
    }

    /// The nodes to put into place in a region of the second revision, in order, each with the node that it then stands
    /// right after. All others stand in that order already.
    pub(super) fn to_place(&self, b: &Body, region: RegionRef) -> Vec<(NodeRef, Option<NodeRef>)> {
        let [before, after] = [&self.before, &self.after].map(|placed| inside(placed, region));
        let mut ranks: Vec<(NodeRef, usize)> =
            before.iter().enumerate().map(|(rank, (.., node))| (*node, rank)).collect();
        ranks.sort_unstable();
        let rank = |node: &NodeRef| {
            let at = ranks.binary_search_by_key(node, |(of, _)| *of).ok()?;
            Some(ranks[at].1)
        };
        let survivors: Vec<(usize, usize)> =
            after.iter().enumerate().filter_map(|(at, (.., node))| Some((at, rank(node)?))).collect();
        // What follows a displaced node up to the next one follows it in both revisions.
        let run = |at: usize| {
            let next = after.get(at + 1).map(|(.., node)| *node);
            b.nodes_after(region, after[at].2).take_while(move |node| Some(*node) != next)
        };
        let mut stays = vec![false; after.len()];
        if survivors.is_sorted_by_key(|(_, rank)| *rank) {
            // Nothing has moved; looking along the runs would be most of the work.
            survivors.iter().for_each(|(at, _)| stays[*at] = true);
        } else {
            let weigh = |(at, rank): &(usize, usize)| (*rank, 1 + run(*at).take(LONG - 1).count() as u64);
            let weighed: Vec<(usize, u64)> = survivors.iter().map(weigh).collect();
            let kept = heaviest_increasing(&weighed, ranks.len());
            survivors.iter().zip(kept).for_each(|((at, _), kept)| stays[*at] = kept);
        }
        let mut nodes: Vec<(NodeRef, Option<NodeRef>)> = Vec::new();
        for (at, (.., start)) in after.iter().enumerate().filter(|(at, _)| !stays[*at]) {
            nodes.push((*start, b.previous(*start)));
            let mut last = *start;
            for node in run(at) {
                nodes.push((node, Some(last)));
                last = node;
            }
        }
        nodes
    }
}

/// Those of a region.
fn inside(placed: &[Placed], region: RegionRef) -> &[Placed] {
    let from = placed.partition_point(|(of, ..)| *of < region);
    let rest = &placed[from..];
    &rest[..rest.partition_point(|(of, ..)| *of == region)]
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
