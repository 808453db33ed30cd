//! Which nodes changed their place among the others of their region.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lmlang_ir::{Body, NodeRef, RegionRef};

/// Runs longer than this weigh the same.
const LONG: u32 = 256;

/// Nodes of a region without which the rest stands in the same order before and after.
///
/// `displaced` are the nodes that do not follow the same node as before. Between them, runs of nodes are the same in
/// both orders. Of the runs, those that keep their order and together are longest stay (a heaviest increasing
/// subsequence); the nodes of all others have moved.
pub(super) fn moved_nodes(before: &Body, after: &Body, displaced: &[NodeRef]) -> Vec<NodeRef> {
    let mut heads: BTreeMap<RegionRef, Vec<NodeRef>> = BTreeMap::new();
    for of in displaced {
        if let (Some(old), Some(new)) = (before.node(*of), after.node(*of))
            && old.region() == new.region()
        {
            heads.entry(new.region()).or_default().push(*of);
        }
    }
    let mut moved = Vec::new();
    for (region, heads) in heads.into_iter().filter(|(_, heads)| heads.len() > 1) {
        let all: BTreeSet<NodeRef> = displaced.iter().copied().collect();
        let run = |head: NodeRef| {
            std::iter::once(head).chain(after.nodes_after(region, head).take_while(|of| !all.contains(of)))
        };
        let old = sorted(before, &heads);
        let places: HashMap<NodeRef, usize> = old.iter().enumerate().map(|(at, head)| (*head, at)).collect();
        let new = sorted(after, &heads);
        let ranks: Vec<usize> = new.iter().map(|head| places[head]).collect();
        let weights: Vec<u32> =
            new.iter().map(|head| run(*head).take(LONG as usize).count() as u32).collect();
        let kept = heaviest_increasing(&ranks, &weights);
        let lost = new.iter().zip(kept).filter(|(_, kept)| !kept).map(|(head, _)| *head);
        moved.extend(lost.flat_map(run));
    }
    moved
}

fn sorted(body: &Body, heads: &[NodeRef]) -> Vec<NodeRef> {
    let mut sorted = heads.to_vec();
    sorted.sort_by_cached_key(|head| body.standing(*head));
    sorted
}

/// Which elements are part of an increasing subsequence of the greatest weight. Ranks are all different.
fn heaviest_increasing(ranks: &[usize], weights: &[u32]) -> Vec<bool> {
    // `best[r]`: the heaviest sequence that ends with rank r; a Fenwick tree answers for all ranks below one.
    let mut tree: Vec<Option<usize>> = vec![None; ranks.len() + 1];
    let (mut totals, mut links) = (vec![0u64; ranks.len()], vec![None; ranks.len()]);
    let heavier = |totals: &[u64], a: Option<usize>, b: Option<usize>| match (a, b) {
        (Some(x), Some(y)) => Some(if totals[y] > totals[x] { y } else { x }),
        (one, None) | (None, one) => one,
    };
    for at in 0..ranks.len() {
        let (mut slot, mut last) = (ranks[at], None);
        while slot > 0 {
            last = heavier(&totals, last, tree[slot]);
            slot &= slot - 1;
        }
        links[at] = last;
        totals[at] = u64::from(weights[at]) + last.map_or(0, |last| totals[last]);
        let mut slot = ranks[at] + 1;
        while slot < tree.len() {
            tree[slot] = heavier(&totals, tree[slot], Some(at));
            slot += slot & slot.wrapping_neg();
        }
    }
    let mut kept = vec![false; ranks.len()];
    let mut last = (0..ranks.len()).max_by_key(|at| totals[*at]);
    while let Some(at) = last {
        kept[at] = true;
        last = links[at];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::heaviest_increasing;

    #[test]
    fn the_heaviest_sequence_stays() {
        let check = |ranks: &[usize], weights: &[u32], kept: &[usize]| {
            let found = heaviest_increasing(ranks, weights);
            let found: Vec<usize> = (0..ranks.len()).filter(|at| found[*at]).collect();
            assert_eq!(found, kept, "{ranks:?} {weights:?}");
        };
        check(&[], &[], &[]);
        check(&[0, 1, 2], &[1, 1, 1], &[0, 1, 2]);
        check(&[1, 0], &[1, 5], &[1]);
        check(&[1, 0], &[5, 1], &[0]);
        check(&[2, 0, 1, 3], &[1, 1, 1, 1], &[1, 2, 3]);
        check(&[2, 0, 1, 3], &[9, 1, 1, 1], &[0, 3]);
    }
}
