//! Rising numbers in few runs without a gap, as the states of a branch on which little was undone.

use std::ops::RangeInclusive;

use imbl::Vector;

/// A stack of rising numbers. A clone costs O(1), everything else as much as there are runs, or less.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs(Vector<Run>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u64,
    last: u64,
    /// How many numbers the runs before hold.
    before: usize,
}

impl Run {
    fn len(self) -> usize {
        (self.last - self.first) as usize + 1
    }
}

impl Runs {
    /// The numbers of some ranges, each above the one before.
    pub(super) fn of(ranges: impl IntoIterator<Item = RangeInclusive<u64>>) -> Runs {
        let mut runs = Runs::default();
        ranges.into_iter().for_each(|range| runs.extend(range));
        runs
    }

    /// The runs, lowest first.
    pub(super) fn ranges(&self) -> impl Iterator<Item = RangeInclusive<u64>> + '_ {
        self.0.iter().map(|run| run.first..=run.last)
    }

    pub(super) fn len(&self) -> usize {
        self.0.last().map_or(0, |run| run.before + run.len())
    }

    /// The highest number.
    pub(super) fn last(&self) -> Option<u64> {
        self.0.last().map(|run| run.last)
    }

    /// Puts a number on top that is higher than all.
    pub(super) fn push(&mut self, number: u64) {
        self.extend(number..=number);
    }

    fn extend(&mut self, range: RangeInclusive<u64>) {
        let (first, last) = range.into_inner();
        match self.0.back_mut() {
            Some(run) if run.last + 1 == first => run.last = last,
            Some(_) | None => self.0.push_back(Run { first, last, before: self.len() }),
        }
    }

    /// Keeps so many, the lowest.
    pub(super) fn truncate(&mut self, len: usize) {
        let whole = partition(&self.0, |run| run.before + run.len() <= len);
        self.0.truncate(whole + usize::from(self.0.get(whole).is_some_and(|run| run.before < len)));
        if let Some(run) = self.0.back_mut() {
            run.last = run.last.min(run.first + (len - run.before) as u64 - 1);
        }
    }

    /// How many are lower than a number that is there.
    pub(super) fn position(&self, number: u64) -> Option<usize> {
        let run = self.0.get(partition(&self.0, |run| run.last < number))?;
        (run.first <= number).then(|| run.before + (number - run.first) as usize)
    }

    /// The number with so many below.
    pub(super) fn get(&self, position: usize) -> Option<u64> {
        let run = self.0.get(partition(&self.0, |run| run.before + run.len() <= position))?;
        Some(run.first + (position - run.before) as u64)
    }

    /// The numbers from the top down.
    pub(super) fn falling(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().rev().flat_map(|run| (run.first..=run.last).rev())
    }
}

/// How many runs at the start are of a kind.
fn partition(runs: &Vector<Run>, of_kind: impl Fn(&Run) -> bool) -> usize {
    runs.binary_search_by(
        |run| if of_kind(run) { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater },
    )
    .unwrap_or_else(|at| at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a plain list.
        #[test]
        fn behave_like_a_list(actions in prop::collection::vec((0u8..3, 0u64..6), 0..60)) {
            let (mut runs, mut list) = (Runs::default(), Vec::new());
            for (action, by) in actions {
                if action == 0 {
                    list.truncate(list.len().saturating_sub(by as usize));
                    runs.truncate(list.len());
                } else {
                    let next = list.last().copied().unwrap_or(0) + 1 + by / 3;
                    list.push(next);
                    runs.push(next);
                }
                prop_assert_eq!((runs.len(), runs.last()), (list.len(), list.last().copied()));
                prop_assert!(runs.falling().eq(list.iter().rev().copied()));
                prop_assert!((0..list.len() + 1).all(|at| runs.get(at) == list.get(at).copied()));
                let position = |number| list.binary_search(&number).ok();
                prop_assert!((0..list.last().map_or(2, |last| last + 2)).all(|n| runs.position(n) == position(n)));
                prop_assert_eq!(&runs, &Runs::of(list.iter().map(|number| *number..=*number)));
                prop_assert_eq!(&runs, &Runs::of(runs.ranges()));
            }
        }
    }
}
