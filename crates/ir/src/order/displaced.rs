//! Which elements follow another one than in another order: told by the chunks that differ alone.
//!
//! A chunk says what follows what inside of it, so of two chunks with one head only what lies between their common
//! beginning and their common end has to be compared. What begins a chunk follows the last element of the chunk before:
//! another one, if the list one level up differs there or if that chunk ends with another element.

use super::{Chunk, Order, level_of};
use crate::trie::Trie;

impl Order {
    /// The elements, ascending, that do not follow the same one in both orders, or are the first of another region; those
    /// of one order included. Costs what differs, and looks at no element's record.
    pub(crate) fn displaced(&self, other: &Order) -> Vec<u64> {
        let none = Trie::new();
        let (mut displaced, mut heads): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        let mut pairs = Vec::new();
        for level in 0..self.levels.len().max(other.levels.len()) {
            let (a, b) = (self.levels.get(level).unwrap_or(&none), other.levels.get(level).unwrap_or(&none));
            pairs.clear();
            for (head, before, after) in a.changes(b) {
                let (old, new) = (refs(before), refs(after));
                collect_pairs(old, new, &mut pairs);
                // A chunk that only one of them has is among the pairs one level up.
                if before.is_some() && after.is_some() && old.last() != new.last() {
                    heads.extend(self.next_head(level, head));
                }
            }
            pairs.sort_unstable();
            let lone = pairs.chunk_by(|one, next| one == next).filter(|same| same.len() == 1);
            let found = lone.map(|pair| pair[0].0);
            // What stands in the list of a higher level begins a chunk.
            if level == 0 { displaced.extend(found) } else { heads.extend(found) }
        }
        heads.sort_unstable();
        heads.dedup();
        displaced
            .extend(heads.into_iter().filter(|head| self.before_head(*head) != other.before_head(*head)));
        displaced.sort_unstable();
        displaced.dedup();
        displaced
    }

    /// What stands right before an element that begins a chunk: another element or the region; `None` when the element is
    /// not there.
    fn before_head(&self, element: u64) -> Option<u64> {
        let reach = level_of(element);
        let up = self.chunk(reach.checked_sub(1)?, element)?.up;
        let list = &self.chunk(reach, up)?.refs;
        let at = list.iter().position(|one| *one == element)?.checked_sub(1)?;
        (0..reach).rev().try_fold(list[at], |head, level| self.chunk(level, head)?.refs.last().copied())
    }
}

fn refs(chunk: Option<&Chunk>) -> &[u64] {
    chunk.map_or(&[][..], |chunk| &chunk.refs)
}

/// Collects the elements of two chunks with one head that may not follow the same one in both, each with the one before.
/// What does is collected from both sides or from neither.
fn collect_pairs(old: &[u64], new: &[u64], pairs: &mut Vec<(u64, u64)>) {
    let beginning = old.iter().zip(new).take_while(alike).count();
    let rest = old.len().min(new.len()) - beginning;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(alike).count();
    for list in [old, new] {
        // The first of the common end is behind what differs.
        let until = (list.len() - end + 1).min(list.len());
        pairs.extend((beginning.max(1)..until).map(|at| (list[at], list[at - 1])));
    }
}

fn alike((one, other): &(&u64, &u64)) -> bool {
    one == other
}
