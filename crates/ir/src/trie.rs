//! A persistent radix trie keyed by ref numbers, with a hash in every node.
//!
//! The shape depends on the keys alone: an inner node has at least two children, an empty leaf does not exist. So equal
//! content has an equal hash however it came about, and comparing two tries skips everything that is shared or equal.
//! A clone copies one pointer; a write copies the path to the slot when somebody else still holds it, and happens in
//! place otherwise. Hashes are computed when asked for and remembered; a write forgets those on its path.

use std::sync::{Arc, OnceLock};

use crate::hash::{Content, Hash, Hasher};

pub use parts::Part;
pub(crate) use whole::Entries;

const BITS: u32 = 4;
const WIDTH: usize = 1 << BITS;
const LOW: u64 = (WIDTH - 1) as u64;

/// A persistent map from `u64` to `T`, ordered by key.
#[derive(Debug)]
pub struct Trie<T> {
    root: Child<T>,
}

#[derive(Debug)]
enum Child<T> {
    Empty,
    Leaf(Arc<Leaf<T>>),
    Inner(Arc<Inner<T>>),
}

#[derive(Debug)]
struct Leaf<T> {
    hash: OnceLock<Hash>,
    /// The keys without their lowest four bits.
    prefix: u64,
    /// Which of the sixteen slots are taken; `items` holds those in order.
    mask: u16,
    items: Vec<T>,
}

#[derive(Debug)]
struct Inner<T> {
    hash: OnceLock<Hash>,
    /// The bits above the four that choose the child.
    prefix: u64,
    /// Position of the four bits that choose the child; at least four.
    shift: u32,
    kids: [Child<T>; WIDTH],
}

impl<T> Clone for Trie<T> {
    fn clone(&self) -> Self {
        Trie { root: self.root.clone() }
    }
}

impl<T> Default for Trie<T> {
    fn default() -> Self {
        Trie { root: Child::Empty }
    }
}

impl<T> Clone for Child<T> {
    fn clone(&self) -> Self {
        match self {
            Child::Empty => Child::Empty,
            Child::Leaf(leaf) => Child::Leaf(Arc::clone(leaf)),
            Child::Inner(inner) => Child::Inner(Arc::clone(inner)),
        }
    }
}

impl<T: Clone> Clone for Leaf<T> {
    fn clone(&self) -> Self {
        // One spare slot: a copied leaf is about to be written to.
        let mut items = Vec::with_capacity((self.items.len() + 1).min(WIDTH));
        items.extend(self.items.iter().cloned());
        Leaf { hash: OnceLock::new(), prefix: self.prefix, mask: self.mask, items }
    }
}

impl<T> Clone for Inner<T> {
    fn clone(&self) -> Self {
        Inner { hash: OnceLock::new(), prefix: self.prefix, shift: self.shift, kids: self.kids.clone() }
    }
}

impl<T> Leaf<T> {
    fn index(&self, key: u64) -> (u16, usize) {
        let bit = 1u16 << (key & LOW);
        (bit, (self.mask & (bit - 1)).count_ones() as usize)
    }
}

impl<T> Inner<T> {
    fn covers(&self, key: u64) -> bool {
        above(key, self.shift) == self.prefix
    }

    fn slot(&self, key: u64) -> usize {
        (key >> self.shift & LOW) as usize
    }
}

/// The bits of a key above those that a node with this shift tells apart.
fn above(key: u64, shift: u32) -> u64 {
    key.checked_shr(shift + BITS).unwrap_or(0)
}

impl<T> Child<T> {
    /// Some key below this child, enough to place it beside another.
    fn sample_key(&self) -> u64 {
        match self {
            Child::Empty => 0,
            Child::Leaf(leaf) => leaf.prefix << BITS,
            Child::Inner(inner) => inner.prefix.checked_shl(inner.shift + BITS).unwrap_or(0),
        }
    }

    /// The hash, if somebody has asked for it since the last write.
    fn known_hash(&self) -> Option<&Hash> {
        match self {
            Child::Empty => Some(&Hash::ZERO),
            Child::Leaf(leaf) => leaf.hash.get(),
            Child::Inner(inner) => inner.hash.get(),
        }
    }

    fn same(&self, other: &Child<T>) -> bool {
        match (self, other) {
            (Child::Empty, Child::Empty) => true,
            (Child::Leaf(a), Child::Leaf(b)) => Arc::ptr_eq(a, b),
            (Child::Inner(a), Child::Inner(b)) => Arc::ptr_eq(a, b),
            (Child::Empty | Child::Leaf(_) | Child::Inner(_), _) => false,
        }
    }
}

/// The shift of the inner node at which two keys part.
fn parting(a: u64, b: u64) -> u32 {
    let differing = 63 - (a ^ b).leading_zeros();
    differing / BITS * BITS
}

/// Puts two subtries that cover different keys under one new inner node.
fn join<T>(a: Child<T>, b: Child<T>) -> Child<T> {
    let (key_a, key_b) = (a.sample_key(), b.sample_key());
    let shift = parting(key_a, key_b);
    let mut kids: [Child<T>; WIDTH] = std::array::from_fn(|_| Child::Empty);
    kids[(key_a >> shift & LOW) as usize] = a;
    kids[(key_b >> shift & LOW) as usize] = b;
    Child::Inner(Arc::new(Inner { hash: OnceLock::new(), prefix: above(key_a, shift), shift, kids }))
}

impl<T> Trie<T> {
    /// An empty trie.
    pub fn new() -> Trie<T> {
        Trie::default()
    }

    /// Tells whether there is no entry.
    pub fn is_empty(&self) -> bool {
        matches!(self.root, Child::Empty)
    }

    /// Counts the entries, by visiting each leaf.
    pub fn count(&self) -> usize {
        let mut total = 0;
        let mut stack = vec![&self.root];
        while let Some(child) = stack.pop() {
            match child {
                Child::Empty => {}
                Child::Leaf(leaf) => total += leaf.items.len(),
                Child::Inner(inner) => stack.extend(&inner.kids),
            }
        }
        total
    }

    /// The entry of a key.
    pub fn get(&self, key: u64) -> Option<&T> {
        let mut child = &self.root;
        loop {
            match child {
                Child::Empty => return None,
                Child::Leaf(leaf) => {
                    let (bit, index) = leaf.index(key);
                    let found = leaf.prefix == key >> BITS && leaf.mask & bit != 0;
                    return if found { leaf.items.get(index) } else { None };
                }
                Child::Inner(inner) if inner.covers(key) => child = &inner.kids[inner.slot(key)],
                Child::Inner(_) => return None,
            }
        }
    }

    /// The last of the keys.
    pub fn last_key(&self) -> Option<u64> {
        let mut child = &self.root;
        loop {
            match child {
                Child::Empty => return None,
                Child::Leaf(leaf) => return Some(leaf.prefix << BITS | u64::from(leaf.mask.ilog2())),
                Child::Inner(inner) => {
                    child = inner.kids.iter().rfind(|kid| !matches!(kid, Child::Empty))?;
                }
            }
        }
    }

    /// Tells whether a key has an entry.
    pub fn contains(&self, key: u64) -> bool {
        self.get(key).is_some()
    }

    /// All entries in order of their keys.
    pub fn iter(&self) -> Iter<'_, T> {
        self.iter_from(0)
    }

    /// The entries from a key on, in order of their keys.
    pub fn iter_from(&self, from: u64) -> Iter<'_, T> {
        let mut iter = Iter { stack: Vec::new(), leaf: None };
        iter.seek(&self.root, from);
        iter
    }
}

impl<T: Clone> Trie<T> {
    /// A mutable entry. Copies the path when it is shared, and forgets the hashes on it: look before you ask.
    pub fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        self.get(key)?;
        let mut child = &mut self.root;
        loop {
            match child {
                Child::Empty => return None,
                Child::Leaf(leaf) => {
                    let leaf = Arc::make_mut(leaf);
                    leaf.hash = OnceLock::new();
                    let (_, index) = leaf.index(key);
                    return leaf.items.get_mut(index);
                }
                Child::Inner(inner) => {
                    let inner = Arc::make_mut(inner);
                    inner.hash = OnceLock::new();
                    let slot = inner.slot(key);
                    child = &mut inner.kids[slot];
                }
            }
        }
    }

    /// Sets the entry of a key and returns the one it replaces.
    pub fn insert(&mut self, key: u64, item: T) -> Option<T> {
        insert(&mut self.root, key, item)
    }

    /// Removes the entry of a key and returns it. Nothing is copied when there is none.
    pub fn remove(&mut self, key: u64) -> Option<T> {
        self.get(key)?;
        remove(&mut self.root, key)
    }
}

fn insert<T: Clone>(mut child: &mut Child<T>, key: u64, item: T) -> Option<T> {
    loop {
        let fits = match &*child {
            Child::Empty => {
                *child = new_leaf(key, item);
                return None;
            }
            Child::Leaf(leaf) => leaf.prefix == key >> BITS,
            Child::Inner(inner) => inner.covers(key),
        };
        if !fits {
            let old = std::mem::replace(child, Child::Empty);
            *child = join(old, new_leaf(key, item));
            return None;
        }
        match child {
            Child::Empty => return None,
            Child::Leaf(leaf) => {
                let leaf = Arc::make_mut(leaf);
                leaf.hash = OnceLock::new();
                let (bit, index) = leaf.index(key);
                if leaf.mask & bit != 0 {
                    return Some(std::mem::replace(&mut leaf.items[index], item));
                }
                leaf.mask |= bit;
                leaf.items.insert(index, item);
                return None;
            }
            Child::Inner(inner) => {
                let inner = Arc::make_mut(inner);
                inner.hash = OnceLock::new();
                let slot = inner.slot(key);
                child = &mut inner.kids[slot];
            }
        }
    }
}

fn new_leaf<T>(key: u64, item: T) -> Child<T> {
    Child::Leaf(Arc::new(Leaf {
        hash: OnceLock::new(),
        prefix: key >> BITS,
        mask: 1 << (key & LOW),
        items: vec![item],
    }))
}

/// Removes an existing key and collapses what may not stay: an empty leaf, an inner node with one child.
///
/// Recursion is bounded by the sixteen levels of a 64-bit key.
fn remove<T: Clone>(child: &mut Child<T>, key: u64) -> Option<T> {
    let (removed, replacement) = match child {
        Child::Empty => return None,
        Child::Leaf(leaf) => {
            let leaf = Arc::make_mut(leaf);
            leaf.hash = OnceLock::new();
            let (bit, index) = leaf.index(key);
            leaf.mask &= !bit;
            let removed = leaf.items.remove(index);
            (removed, (leaf.mask == 0).then_some(Child::Empty))
        }
        Child::Inner(inner) => {
            let inner = Arc::make_mut(inner);
            inner.hash = OnceLock::new();
            let slot = inner.slot(key);
            let removed = remove(&mut inner.kids[slot], key)?;
            let mut occupied = inner.kids.iter_mut().filter(|kid| !matches!(kid, Child::Empty));
            let only = match (occupied.next(), occupied.next()) {
                (Some(only), None) => Some(std::mem::replace(only, Child::Empty)),
                (None | Some(_), _) => None,
            };
            (removed, only)
        }
    };
    if let Some(replacement) = replacement {
        *child = replacement;
    }
    Some(removed)
}

impl<T: Content> Trie<T> {
    /// The hash of all keys and entries; a function of the content alone. Costs what was written since the last call.
    pub fn hash(&self) -> Hash {
        hash_of(&self.root)
    }
}

fn hash_of<T: Content>(child: &Child<T>) -> Hash {
    match child {
        Child::Empty => Hash::ZERO,
        Child::Leaf(leaf) => *leaf.hash.get_or_init(|| {
            let mut hasher = Hasher::new(b"leaf");
            hasher.number(leaf.prefix).number(u64::from(leaf.mask));
            for item in &leaf.items {
                item.hash_into(&mut hasher);
            }
            hasher.finish()
        }),
        Child::Inner(inner) => *inner.hash.get_or_init(|| {
            let mut hasher = Hasher::new(b"inner");
            hasher.number(inner.prefix).number(u64::from(inner.shift));
            for (slot, kid) in inner.kids.iter().enumerate() {
                if !matches!(kid, Child::Empty) {
                    hasher.number(slot as u64).bytes(&hash_of(kid).0);
                }
            }
            hasher.finish()
        }),
    }
}

/// One difference between two tries; at least one side is there.
pub type Change<'a, T> = (u64, Option<&'a T>, Option<&'a T>);

impl<T: PartialEq> Trie<T> {
    /// The entries in which two tries differ, in order of their keys. Costs what differs, not what there is, when the
    /// two share their history.
    pub fn changes<'a>(&'a self, other: &'a Trie<T>) -> Vec<Change<'a, T>> {
        let mut found = Vec::new();
        diff(&self.root, &other.root, &mut |change| {
            found.push(change);
            true
        });
        found
    }
}

/// Visits what differs, in order of the keys, until the visitor has enough; tells whether it had not.
fn diff<'a, T: PartialEq>(
    a: &'a Child<T>,
    b: &'a Child<T>,
    visit: &mut impl FnMut(Change<'a, T>) -> bool,
) -> bool {
    if a.same(b) || matches!((a.known_hash(), b.known_hash()), (Some(x), Some(y)) if x == y) {
        return true;
    }
    match (a, b) {
        (Child::Inner(x), Child::Inner(y)) if x.shift == y.shift && x.prefix == y.prefix => {
            x.kids.iter().zip(&y.kids).all(|(kid_a, kid_b)| diff(kid_a, kid_b, visit))
        }
        (Child::Leaf(x), Child::Leaf(y)) if x.prefix == y.prefix => compare_leaves(x, y, visit),
        // One side covers a part of the other: the parts that it does not cover stand alone.
        (Child::Inner(x), _) if spans(x, b) => {
            let slot = x.slot(b.sample_key());
            let beside = |index| if index == slot { b } else { &Child::Empty };
            x.kids.iter().enumerate().all(|(index, kid)| diff(kid, beside(index), visit))
        }
        (_, Child::Inner(y)) if spans(y, a) => {
            let slot = y.slot(a.sample_key());
            let beside = |index| if index == slot { a } else { &Child::Empty };
            y.kids.iter().enumerate().all(|(index, kid)| diff(beside(index), kid, visit))
        }
        (Child::Empty | Child::Leaf(_) | Child::Inner(_), _) => merge_entries(a, b, visit),
    }
}

/// Tells whether everything below `child` lies in one slot of `inner`.
fn spans<T>(inner: &Inner<T>, child: &Child<T>) -> bool {
    match child {
        Child::Empty => false,
        Child::Leaf(leaf) => inner.covers(leaf.prefix << BITS),
        Child::Inner(below) => below.shift < inner.shift && inner.covers(child.sample_key()),
    }
}

/// Compares two leaves for the same keys.
fn compare_leaves<'a, T: PartialEq>(
    a: &'a Leaf<T>,
    b: &'a Leaf<T>,
    visit: &mut impl FnMut(Change<'a, T>) -> bool,
) -> bool {
    slots(a, b).filter(|(_, before, after)| before != after).all(visit)
}

/// The keys that at least one of two leaves for the same keys has, with the entries of both.
fn slots<'a, T>(a: &'a Leaf<T>, b: &'a Leaf<T>) -> impl Iterator<Item = Change<'a, T>> {
    let (mut left, mut right) = (a.items.iter(), b.items.iter());
    let mut taken = a.mask | b.mask;
    std::iter::from_fn(move || {
        if taken == 0 {
            return None;
        }
        let slot = taken.trailing_zeros();
        let bit = 1u16 << slot;
        taken ^= bit;
        let before = if a.mask & bit != 0 { left.next() } else { None };
        let after = if b.mask & bit != 0 { right.next() } else { None };
        Some((a.prefix << BITS | u64::from(slot), before, after))
    })
}

fn merge_entries<'a, T: PartialEq>(
    a: &'a Child<T>,
    b: &'a Child<T>,
    visit: &mut impl FnMut(Change<'a, T>) -> bool,
) -> bool {
    let (mut left, mut right) = (entries(a).peekable(), entries(b).peekable());
    loop {
        let key = match (left.peek(), right.peek()) {
            (None, None) => return true,
            (Some((key, _)), None) | (None, Some((key, _))) => *key,
            (Some((x, _)), Some((y, _))) => Ord::min(*x, *y),
        };
        let before = left.next_if(|(k, _)| *k == key).map(|(_, item)| item);
        let after = right.next_if(|(k, _)| *k == key).map(|(_, item)| item);
        if before != after && !visit((key, before, after)) {
            return false;
        }
    }
}

fn entries<T>(child: &Child<T>) -> Iter<'_, T> {
    let mut iter = Iter { stack: Vec::new(), leaf: None };
    iter.seek(child, 0);
    iter
}

/// Iterates over the entries of a [`Trie`] in order of their keys.
#[derive(Debug)]
pub struct Iter<'a, T> {
    stack: Vec<&'a Child<T>>,
    leaf: Option<(&'a Leaf<T>, u16, usize)>,
}

impl<'a, T> Iter<'a, T> {
    /// Lays out the path to the first key at or after `from`.
    fn seek(&mut self, mut child: &'a Child<T>, from: u64) {
        loop {
            match child {
                Child::Empty => return,
                Child::Leaf(leaf) => {
                    let first = leaf.prefix << BITS;
                    if first.saturating_add(LOW) >= from {
                        let skip = from.saturating_sub(first).min(LOW) as u16;
                        let mask = leaf.mask & (u16::MAX << skip);
                        self.leaf = Some((leaf, mask, leaf.items.len() - mask.count_ones() as usize));
                    }
                    return;
                }
                Child::Inner(inner) => {
                    let slot = match inner.prefix.cmp(&above(from, inner.shift)) {
                        std::cmp::Ordering::Less => return,
                        std::cmp::Ordering::Greater => 0,
                        std::cmp::Ordering::Equal => inner.slot(from),
                    };
                    let all = inner.prefix > above(from, inner.shift);
                    self.stack.extend(inner.kids[slot + usize::from(!all)..].iter().rev());
                    if all {
                        return;
                    }
                    child = &inner.kids[slot];
                }
            }
        }
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = (u64, &'a T);

    fn next(&mut self) -> Option<(u64, &'a T)> {
        loop {
            if let Some((leaf, mask, index)) = &mut self.leaf {
                if *mask != 0 {
                    let slot = u64::from(mask.trailing_zeros());
                    *mask &= *mask - 1;
                    let item = &leaf.items[*index];
                    *index += 1;
                    return Some((leaf.prefix << BITS | slot, item));
                }
                self.leaf = None;
            }
            match self.stack.pop()? {
                Child::Empty => {}
                Child::Leaf(leaf) => self.leaf = Some((leaf, leaf.mask, 0)),
                Child::Inner(inner) => self.stack.extend(inner.kids.iter().rev()),
            }
        }
    }

    /// Leaf by leaf: what visits all entries asks for no place between two of them.
    fn fold<A, F: FnMut(A, (u64, &'a T)) -> A>(mut self, start: A, mut visit: F) -> A {
        let mut done = start;
        loop {
            if let Some((leaf, mut mask, index)) = self.leaf.take() {
                for item in &leaf.items[index..] {
                    let slot = u64::from(mask.trailing_zeros());
                    mask &= mask - 1;
                    done = visit(done, (leaf.prefix << BITS | slot, item));
                }
            }
            match self.stack.pop() {
                None => return done,
                Some(Child::Empty) => {}
                Some(Child::Leaf(leaf)) => self.leaf = Some((leaf, leaf.mask, 0)),
                Some(Child::Inner(inner)) => self.stack.extend(inner.kids.iter().rev()),
            }
        }
    }
}

impl<T: PartialEq> PartialEq for Trie<T> {
    fn eq(&self, other: &Self) -> bool {
        diff(&self.root, &other.root, &mut |_| false)
    }
}

mod parts;
#[cfg(test)]
mod tests;
mod whole;
