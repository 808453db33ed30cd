//! Orders that two sides changed: what each put into a gap stays together and in its order, and which of the two stands
//! first does not depend on which is called ours.

use std::collections::{BTreeMap, BTreeSet};

/// Two runs of what was put into one gap as one. Elements of both stand once, in the order that both have them in.
/// `last`: what has to stand at the end.
pub(super) fn runs<K: Ord + Copy>(a: &[K], b: &[K], last: &impl Fn(K) -> bool) -> Vec<K> {
    let (in_a, in_b): (BTreeSet<K>, BTreeSet<K>) = (a.iter().copied().collect(), b.iter().copied().collect());
    let common = |run: &[K], other: &BTreeSet<K>| -> Vec<K> {
        run.iter().copied().filter(|one| other.contains(one)).collect()
    };
    let shared = common(a, &in_b);
    if shared != common(b, &in_a) {
        // Both have the same in another order, and no edit of one side moved it: one of the two orders, whichever.
        let (first, second, known) = if a < b { (a, b, &in_a) } else { (b, a, &in_b) };
        return first.iter().chain(second.iter().filter(|one| !known.contains(one))).copied().collect();
    }
    let mut woven = Vec::with_capacity(a.len() + b.len() - shared.len());
    let (mut a, mut b) = (a.iter().copied(), b.iter().copied());
    for stop in shared.into_iter().map(Some).chain([None]) {
        let before = |run: &mut dyn Iterator<Item = K>| -> Vec<K> {
            run.take_while(|one| Some(*one) != stop).collect()
        };
        let (x, y) = (before(&mut a), before(&mut b));
        let rank = |run: &[K]| (run.last().is_some_and(|one| last(*one)), run.iter().min().copied());
        let (first, second) = if rank(&x) <= rank(&y) { (x, y) } else { (y, x) };
        woven.extend(first.into_iter().chain(second).chain(stop));
    }
    woven
}

/// The order of all elements of a list and of what two sides made of it, if both kept the order of what they kept.
pub(super) fn lists<K: Ord + Copy>(base: &[K], a: &[K], b: &[K]) -> Option<Vec<K>> {
    let places: BTreeMap<K, usize> = base.iter().copied().zip(1..).collect();
    let gaps = |list: &[K]| -> Option<BTreeMap<usize, Vec<K>>> {
        let (mut gaps, mut at) = (BTreeMap::<usize, Vec<K>>::new(), 0);
        for one in list {
            match places.get(one) {
                Some(place) if *place < at => return None,
                Some(place) => at = *place,
                None => gaps.entry(at).or_default().push(*one),
            }
        }
        Some(gaps)
    };
    let (mut a, mut b) = (gaps(a)?, gaps(b)?);
    let mut woven = Vec::new();
    for at in 0..=base.len() {
        woven.extend(at.checked_sub(1).map(|before| base[before]));
        let (x, y) = (a.remove(&at).unwrap_or_default(), b.remove(&at).unwrap_or_default());
        woven.extend(runs(&x, &y, &|_| false));
    }
    Some(woven)
}
