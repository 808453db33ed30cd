//! Tries that are made in one go: no descent, and nothing is written twice.

use std::sync::{Arc, OnceLock};

use super::{BITS, Child, Inner, LOW, Leaf, Trie, WIDTH, above, join, parting, slots, spans};

/// What becomes the entries of a trie. Keys and items stand apart, so that the items of a leaf change hands as one.
///
/// Invariant: there are as many keys as items.
#[derive(Debug)]
pub(crate) struct Entries<T> {
    keys: Vec<u64>,
    items: Vec<T>,
}

impl<T> Default for Entries<T> {
    fn default() -> Entries<T> {
        Entries { keys: Vec::new(), items: Vec::new() }
    }
}

impl<T> FromIterator<(u64, T)> for Entries<T> {
    fn from_iter<I: IntoIterator<Item = (u64, T)>>(entries: I) -> Entries<T> {
        let (keys, items) = entries.into_iter().unzip();
        Entries { keys, items }
    }
}

impl<T> Entries<T> {
    /// None, with room for so many.
    pub(crate) fn with_capacity(number: usize) -> Entries<T> {
        Entries { keys: Vec::with_capacity(number), items: Vec::with_capacity(number) }
    }

    /// Adds one behind all others.
    #[inline(always)]
    pub(crate) fn push(&mut self, key: u64, item: T) {
        self.keys.push(key);
        self.items.push(item);
    }

    /// The keys, as they came.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// The items, as they came.
    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// The items, as they came, to be written to.
    pub(crate) fn items_mut(&mut self) -> &mut [T] {
        &mut self.items
    }

    /// All of them, as they came, to be written to.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        self.keys.iter().copied().zip(&mut self.items)
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.items.clear();
    }

    /// Sorts them by their keys; most come sorted. The error is the place of one that has the key of the one before it.
    pub(crate) fn sort(&mut self) -> Result<(), usize> {
        if self.keys.is_sorted_by(|a, b| a < b) {
            return Ok(());
        }
        let mut entries: Vec<(u64, T)> = self.keys.drain(..).zip(self.items.drain(..)).collect();
        // What ascends for a while is merged as it is.
        entries.sort_by_key(|(key, _)| *key);
        *self = entries.into_iter().collect();
        match self.keys.array_windows().position(|pair: &[u64; 2]| pair[0] == pair[1]) {
            Some(before) => Err(before + 1),
            None => Ok(()),
        }
    }

    /// The trie of them, whose keys ascend; equal to what inserting them one by one makes. None is left.
    pub(crate) fn take(&mut self) -> Trie<T> {
        debug_assert!(self.keys.is_sorted_by(|a, b| a < b), "the keys ascend");
        let root = child_of(&self.keys, &mut self.items);
        self.keys.clear();
        Trie { root }
    }
}

impl<T> Trie<T> {
    /// The first key that two tries have both.
    pub(crate) fn shared_key(&self, other: &Trie<T>) -> Option<u64> {
        shared_key(&self.root, &other.root)
    }
}

impl<T: Clone> Trie<T> {
    /// Takes the entries of another trie in; where both have a key, that of the other stays. Whole subtries change
    /// hands where the keys of one are apart from those of the other, and what both share is not visited.
    pub(crate) fn absorb(&mut self, other: Trie<T>) {
        let root = std::mem::replace(&mut self.root, Child::Empty);
        self.root = union(root, other.root);
    }
}

/// What holds ascending keys, with the items at the end of a list, which are taken out of it.
///
/// Recursion is bounded by the sixteen levels of a 64-bit key, here and below.
fn child_of<T>(keys: &[u64], items: &mut Vec<T>) -> Child<T> {
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Child::Empty };
    if first >> BITS == last >> BITS {
        let mask = keys.iter().fold(0u16, |mask, key| mask | 1 << (key & LOW));
        let items = items.split_off(items.len() - keys.len());
        return Child::Leaf(Arc::new(Leaf { hash: OnceLock::new(), prefix: first >> BITS, mask, items }));
    }
    let shift = parting(*first, *last);
    let mut kids: [Child<T>; WIDTH] = std::array::from_fn(|_| Child::Empty);
    // The last child comes first: its items are at the end, and change hands as they stand there.
    for run in keys.chunk_by(|a, b| a >> shift == b >> shift).rev() {
        kids[(run[0] >> shift & LOW) as usize] = child_of(run, items);
    }
    Child::Inner(Arc::new(Inner { hash: OnceLock::new(), prefix: above(*first, shift), shift, kids }))
}

fn shared_key<T>(a: &Child<T>, b: &Child<T>) -> Option<u64> {
    match (a, b) {
        (Child::Leaf(x), Child::Leaf(y)) if x.prefix == y.prefix => {
            let shared = x.mask & y.mask;
            (shared != 0).then(|| x.prefix << BITS | u64::from(shared.trailing_zeros()))
        }
        (Child::Inner(x), Child::Inner(y)) if x.shift == y.shift && x.prefix == y.prefix => {
            x.kids.iter().zip(&y.kids).find_map(|(kid_a, kid_b)| shared_key(kid_a, kid_b))
        }
        (Child::Inner(x), _) if spans(x, b) => shared_key(&x.kids[x.slot(b.sample_key())], b),
        (_, Child::Inner(y)) if spans(y, a) => shared_key(a, &y.kids[y.slot(a.sample_key())]),
        (Child::Empty | Child::Leaf(_) | Child::Inner(_), _) => None,
    }
}

fn union<T: Clone>(a: Child<T>, b: Child<T>) -> Child<T> {
    if a.same(&b) {
        return a;
    }
    match (a, b) {
        (Child::Empty, one) | (one, Child::Empty) => one,
        (Child::Leaf(x), Child::Leaf(y)) if x.prefix == y.prefix => Child::Leaf(Arc::new(joined(&x, &y))),
        (Child::Inner(mut x), Child::Inner(y)) if x.shift == y.shift && x.prefix == y.prefix => {
            let taken = Arc::unwrap_or_clone(y);
            let into = Arc::make_mut(&mut x);
            into.hash = OnceLock::new();
            for (kid, other) in into.kids.iter_mut().zip(taken.kids) {
                let mine = std::mem::replace(kid, Child::Empty);
                *kid = union(mine, other);
            }
            Child::Inner(x)
        }
        (Child::Inner(x), b) if spans(&x, &b) => inside(x, b.sample_key(), |kid| union(kid, b)),
        (a, Child::Inner(y)) if spans(&y, &a) => inside(y, a.sample_key(), |kid| union(a, kid)),
        (a, b) => join(a, b),
    }
}

/// Changes the one child that covers a key.
fn inside<T: Clone>(
    mut inner: Arc<Inner<T>>,
    key: u64,
    change: impl FnOnce(Child<T>) -> Child<T>,
) -> Child<T> {
    let written = Arc::make_mut(&mut inner);
    written.hash = OnceLock::new();
    let slot = written.slot(key);
    let kid = std::mem::replace(&mut written.kids[slot], Child::Empty);
    written.kids[slot] = change(kid);
    Child::Inner(inner)
}

/// A leaf with the entries of two that cover the same keys.
fn joined<T: Clone>(a: &Leaf<T>, b: &Leaf<T>) -> Leaf<T> {
    let mask = a.mask | b.mask;
    let mut items = Vec::with_capacity(mask.count_ones() as usize);
    for (_, before, after) in slots(a, b) {
        if let Some(item) = after.or(before) {
            items.push(item.clone());
        }
    }
    Leaf { hash: OnceLock::new(), prefix: a.prefix, mask, items }
}
