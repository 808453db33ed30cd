//! Two sequences of nodes side by side.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::outline::Pass;
use super::{Matcher, Outline};
use crate::refs::{NodeRef, RegionRef};

/// Where both sides together have more, the common subsequence is a greedy one: the longest costs their product.
const MOST_COMPARED: usize = 1 << 22;

impl Matcher<'_> {
    /// Matches the nodes of two regions, in order, pass by pass; what a pass matches cuts what is left into gaps.
    pub(super) fn align(&mut self, old: RegionRef, new: RegionRef) {
        let old: Vec<NodeRef> = self.old.body().nodes_in(old).collect();
        let new: Vec<NodeRef> = self.new.body().nodes_in(new).collect();
        let mut gaps = vec![(0..old.len(), 0..new.len())];
        for pass in Pass::ALL {
            let before = self.keys(&self.before, &old, pass, |of| self.is_free(of), |of| of);
            let after =
                self.keys(&self.after, &new, pass, |of| self.is_open(of), |of| self.old_of(of).unwrap_or(of));
            let mut smaller = Vec::new();
            for (left, right) in gaps {
                let equal = common(&before[left.clone()], &after[right.clone()]);
                let (mut a, mut b) = (left.start, right.start);
                for (at, with, length) in equal {
                    let (at, with) = (left.start + at, right.start + with);
                    push_gap(&mut smaller, a..at, b..with);
                    for step in 0..length {
                        self.match_open(old[at + step], new[with + step]);
                    }
                    (a, b) = (at + length, with + length);
                }
                push_gap(&mut smaller, a..left.end, b..right.end);
            }
            gaps = smaller;
            // What belongs to lines that stayed goes with them.
            if pass == Pass::Operator {
                for new in new.iter().rev() {
                    if let Some(old) = self.old_of(*new) {
                        self.inputs(old, *new);
                    }
                }
            }
            if gaps.is_empty() {
                return;
            }
        }
    }

    fn match_open(&mut self, old: NodeRef, new: NodeRef) {
        if self.is_free(old) && self.is_open(new) {
            self.match_nodes(old, new);
        }
    }

    /// The keys of a sequence in a pass; what is matched is known by its old ref.
    fn keys(
        &self,
        outline: &Outline,
        nodes: &[NodeRef],
        pass: Pass,
        open: impl Fn(NodeRef) -> bool,
        old: impl Fn(NodeRef) -> NodeRef,
    ) -> Vec<(bool, u64)> {
        let key = |of: NodeRef| match outline.keys(of).and_then(|keys| keys.of_pass(pass)) {
            Some(key) if open(of) => (true, key),
            Some(_) | None => (false, old(of).number()),
        };
        nodes.iter().copied().map(key).collect()
    }
}

fn push_gap(gaps: &mut Vec<(Range<usize>, Range<usize>)>, left: Range<usize>, right: Range<usize>) {
    if !left.is_empty() && !right.is_empty() {
        gaps.push((left, right));
    }
}

/// A common subsequence: where it stands on both sides, and how long each piece is.
fn common(old: &[(bool, u64)], new: &[(bool, u64)]) -> Vec<(usize, usize, usize)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let mut pieces = Vec::new();
    if head > 0 {
        pieces.push((0, 0, head));
    }
    if old.len().saturating_mul(new.len()) > MOST_COMPARED {
        pieces.extend(greedy(old, new).into_iter().map(|(a, b)| (head + a, head + b, 1)));
    } else {
        for op in capture_diff_slices(Algorithm::Myers, old, new) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                pieces.push((head + old_index, head + new_index, len));
            }
        }
    }
    if tail > 0 {
        pieces.push((head + old.len(), head + new.len(), tail));
    }
    pieces
}

/// The common subsequence that takes for each element the next one that fits. Linear.
fn greedy(old: &[(bool, u64)], new: &[(bool, u64)]) -> Vec<(usize, usize)> {
    let mut places: HashMap<(bool, u64), std::vec::IntoIter<usize>> = HashMap::new();
    let mut lists: HashMap<(bool, u64), Vec<usize>> = HashMap::new();
    for (at, key) in old.iter().enumerate() {
        lists.entry(*key).or_default().push(at);
    }
    let (mut next, mut found) = (0, Vec::new());
    for (with, key) in new.iter().enumerate() {
        let list = match places.entry(*key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => match lists.remove(key) {
                Some(list) => entry.insert(list.into_iter()),
                None => continue,
            },
        };
        if let Some(at) = list.find(|at| *at >= next) {
            found.push((at, with));
            next = at + 1;
        }
    }
    found
}
