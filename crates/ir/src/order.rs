//! The order of nodes in regions: a canonical skip list in tries.
//!
//! Every element has a level, a function of its ref alone: one in sixteen reaches level 1, one in 256 level 2, and so
//! on. The list of level k of a region starts with the region itself as a sentinel and holds its nodes of level >= k; it
//! is cut into chunks before each element of a higher level. A chunk is stored under its first element. So the chunks,
//! and the hash over them, are a function of the sequence alone; inserting, removing and comparing two positions cost
//! O(log n); and there are no labels to renumber.
//!
//! Elements and sentinels are ref numbers. The head of an element's chunk at level 0 is kept by the caller in the
//! element's record (see [`Homes`]): it is derived, like the `up` links here.

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::hash::{Content, Hash, Hasher};
use crate::trie::Trie;

pub(crate) use self::whole::Sequences;

/// Levels above this one are not told apart: 16^6 elements in one region.
const TOP: u32 = 6;

/// The level that an element reaches: trailing zeros of its mixed number, by four.
fn level_of(element: u64) -> usize {
    // The finaliser of SplitMix64 (Steele, Lea, Flood 2014), a bijection that spreads consecutive numbers.
    let mut mixed = element.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    (mixed.trailing_zeros() / 4).min(TOP) as usize
}

/// A run of elements: the head and what follows until the next element of a higher level.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The head of the chunk, one level up, that holds this chunk's head; zero when that level is empty. Derived.
    up: u64,
    refs: Vec<u64>,
}

impl PartialEq for Chunk {
    fn eq(&self, other: &Self) -> bool {
        self.refs == other.refs
    }
}

impl Content for Chunk {
    fn hash_into(&self, hasher: &mut Hasher) {
        hasher.number(self.refs.len() as u64);
        for element in &self.refs {
            hasher.number(*element);
        }
    }
}

impl Chunk {
    /// The head and what follows it.
    pub fn elements(&self) -> &[u64] {
        &self.refs
    }
}

/// The elements of a region in order, from the chunks of each level by their heads, which are used up. `None` when some
/// are missing.
pub fn sequence(levels: &mut [HashMap<u64, Vec<u64>>], region: u64) -> Option<Vec<u64>> {
    let top = levels.iter().rposition(|level| level.contains_key(&region))?;
    let mut heads = vec![region];
    for level in levels[..=top].iter_mut().rev() {
        let chunks: Option<Vec<Vec<u64>>> = heads.iter().map(|head| level.remove(head)).collect();
        heads = chunks?.concat();
    }
    (heads.first() == Some(&region)).then(|| heads.split_off(1))
}

/// Where the head of each element's chunk at level 0 is remembered.
pub trait Homes {
    /// The head of the chunk that holds an element.
    fn chunk_of(&self, element: u64) -> u64;
    /// Remembers a new head for an element.
    fn set_chunk(&mut self, element: u64, head: u64);
}

/// Where an element of a region stands: it compares as the elements of that region follow each other. A number in one revision
/// says nothing about another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing([u32; TOP as usize + 1]);

/// The orders of all regions of one function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    levels: SmallVec<[Trie<Chunk>; 1]>,
}

impl Order {
    fn chunk(&self, level: usize, head: u64) -> Option<&Chunk> {
        self.levels.get(level)?.get(head)
    }

    fn chunk_mut(&mut self, level: usize, head: u64) -> Option<&mut Chunk> {
        self.levels.get_mut(level)?.get_mut(head)
    }

    fn put_chunk(&mut self, level: usize, head: u64, chunk: Chunk) {
        while self.levels.len() <= level {
            self.levels.push(Trie::new());
        }
        self.levels[level].insert(head, chunk);
    }

    fn drop_chunk(&mut self, level: usize, head: u64) {
        if let Some(trie) = self.levels.get_mut(level) {
            trie.remove(head);
        }
        while self.levels.last().is_some_and(Trie::is_empty) {
            self.levels.pop();
        }
    }

    /// The head of the chunk at a level that holds an element of that level.
    fn head(&self, level: usize, element: u64, homes: &impl Homes, sentinel: u64) -> u64 {
        match level.checked_sub(1) {
            None if element == sentinel => sentinel,
            None => homes.chunk_of(element),
            Some(below) => self.up(below, element),
        }
    }

    /// The head of the chunk, one level up, that holds the head of a chunk.
    fn up(&self, level: usize, head: u64) -> u64 {
        self.chunk(level, head).map_or(0, |chunk| chunk.up)
    }

    fn set_head(&mut self, level: usize, element: u64, head: u64, homes: &mut impl Homes, sentinel: u64) {
        match level.checked_sub(1) {
            None if element == sentinel => {}
            None => homes.set_chunk(element, head),
            Some(below) => {
                if let Some(chunk) = self.chunk_mut(below, element) {
                    chunk.up = head;
                }
            }
        }
    }

    /// Makes the empty list of a new region.
    pub fn add_region(&mut self, region: u64) {
        self.put_chunk(0, region, Chunk { up: 0, refs: vec![region] });
    }

    /// Forgets the list of a region that has become empty.
    pub fn remove_region(&mut self, region: u64) {
        self.drop_chunk(0, region);
    }

    /// Inserts a new element right after another one, or at the front after the region itself.
    pub fn insert(&mut self, region: u64, after: u64, element: u64, homes: &mut impl Homes) {
        let reach = level_of(element);
        let mut before = after;
        for level in 0..=reach {
            if level > 0 && self.chunk(level, region).is_none() {
                self.put_chunk(level, region, Chunk { up: 0, refs: vec![region] });
                self.set_head(level, region, region, homes, region);
            }
            // At a higher level the element follows the head of the chunk that it has just cut.
            let head = self.head(level, before, homes, region);
            let splits = level < reach;
            let Some(chunk) = self.chunk_mut(level, head) else { return };
            let at = chunk.refs.iter().position(|r| *r == before).map_or(chunk.refs.len(), |index| index + 1);
            if splits {
                let mut refs = vec![element];
                refs.extend(chunk.refs.drain(at..));
                for moved in &refs {
                    self.set_head(level, *moved, element, homes, region);
                }
                self.put_chunk(level, element, Chunk { up: 0, refs });
            } else {
                chunk.refs.insert(at, element);
                self.set_head(level, element, head, homes, region);
            }
            before = head;
        }
    }

    /// Removes an element. Its own home is left as it was.
    pub fn remove(&mut self, region: u64, element: u64, homes: &mut impl Homes) {
        for level in 0..=level_of(element) {
            let head = self.head(level, element, homes, region);
            if head != element {
                if let Some(chunk) = self.chunk_mut(level, head) {
                    chunk.refs.retain(|r| *r != element);
                }
                continue;
            }
            // The element starts a chunk: what follows it joins the chunk before, found one level up.
            let into = self.predecessor(level + 1, region, element, self.up(level, element));
            let tail = self.chunk(level, element).map_or_else(Vec::new, |chunk| chunk.refs[1..].to_vec());
            for moved in &tail {
                self.set_head(level, *moved, into, homes, region);
            }
            if let Some(chunk) = self.chunk_mut(level, into) {
                chunk.refs.extend(tail);
            }
        }
        // The links upwards were needed until here.
        for level in 0..level_of(element) {
            self.drop_chunk(level, element);
        }
        for level in (1..=TOP as usize).rev() {
            let alone = self.chunk(level, region).is_some_and(|chunk| chunk.refs.len() == 1);
            if alone && self.chunk(level + 1, region).is_none() {
                self.drop_chunk(level, region);
                if let Some(below) = self.chunk_mut(level - 1, region) {
                    below.up = 0;
                }
            }
        }
    }

    /// The element before another one in the list of a level; `head` is that of the chunk that holds the element.
    fn predecessor(&self, level: usize, region: u64, element: u64, head: u64) -> u64 {
        let last =
            |head| self.chunk(level, head).and_then(|chunk| chunk.refs.last().copied()).unwrap_or(region);
        if head == element {
            return last(self.predecessor(level + 1, region, element, self.up(level, element)));
        }
        let refs = self.chunk(level, head).map_or(&[][..], |chunk| &chunk.refs);
        let at = refs.iter().position(|r| *r == element).unwrap_or(1);
        refs.get(at.wrapping_sub(1)).copied().unwrap_or(region)
    }

    /// The element before another one, or `None` for the first of its region. `chunk` is what [`Homes`] keep for it.
    pub fn before(&self, region: u64, element: u64, chunk: u64) -> Option<u64> {
        Some(self.predecessor(0, region, element, chunk)).filter(|found| *found != region)
    }

    /// The element after another one; `None` at the end. `chunk` is what [`Homes`] keep for it.
    pub fn after(&self, element: u64, chunk: u64) -> Option<u64> {
        let refs = &self.chunk(0, chunk)?.refs;
        let at = refs.iter().position(|r| *r == element)?;
        refs.get(at + 1).copied().or_else(|| self.next_head(0, chunk))
    }

    /// The element that begins the next chunk of a level.
    fn next_head(&self, level: usize, head: u64) -> Option<u64> {
        let mut head = head;
        for level in level..TOP as usize {
            let up = self.chunk(level, head)?.up;
            let list = &self.chunk(level + 1, up)?.refs;
            let at = list.iter().position(|one| *one == head)?;
            if let Some(next) = list.get(at + 1) {
                return Some(*next);
            }
            head = up;
        }
        None
    }

    /// The last element of a region.
    pub fn last(&self, region: u64) -> Option<u64> {
        let top = (0..self.levels.len()).rev().find(|level| self.chunk(*level, region).is_some())?;
        let mut head = region;
        for level in (0..=top).rev() {
            head = *self.chunk(level, head)?.refs.last()?;
        }
        Some(head).filter(|found| *found != region)
    }

    /// Tells whether `a` stands before `b`; both are elements of the same region. `chunks` are what [`Homes`] keep for
    /// them.
    pub fn precedes(&self, a: u64, b: u64, chunks: [u64; 2]) -> bool {
        let (mut a, mut b, mut heads) = (a, b, chunks);
        for level in 0..=TOP as usize {
            if heads[0] == heads[1] {
                let Some(chunk) = self.chunk(level, heads[0]) else { return false };
                let at = |element| chunk.refs.iter().position(|r| *r == element);
                return at(a) < at(b);
            }
            [a, b] = heads;
            heads = heads.map(|head| self.up(level, head));
        }
        false
    }

    /// Where an element stands in its region. Costs as much as one comparison of two elements, so that many are sorted by
    /// it. `chunk` is what [`Homes`] keep for the element.
    pub fn standing(&self, element: u64, chunk: u64) -> Standing {
        let mut standing = Standing::default();
        let (mut element, mut head) = (element, chunk);
        for (level, place) in standing.0.iter_mut().rev().enumerate() {
            let Some(chunk) = self.chunk(level, head) else { break };
            let at = chunk.refs.iter().position(|r| *r == element);
            *place = at.and_then(|at| u32::try_from(at).ok()).unwrap_or_default();
            (element, head) = (head, chunk.up);
        }
        standing
    }

    /// The elements of a region in order.
    pub fn iter(&self, region: u64) -> Elements<'_> {
        let chunk = self.chunk(0, region).map_or(&[][..], |chunk| &chunk.refs);
        Elements { order: self, head: region, chunk, at: 1 }
    }

    /// The elements that stand after the given one, in order. `chunk` is what [`Homes`] keep for it.
    pub fn iter_after(&self, element: u64, chunk: u64) -> Elements<'_> {
        let (head, chunk) = (chunk, self.chunk(0, chunk).map_or(&[][..], |chunk| &chunk.refs));
        let at = chunk.iter().position(|r| *r == element).map_or(chunk.len(), |index| index + 1);
        Elements { order: self, head, chunk, at }
    }

    /// The chunks by their heads, level by level.
    pub fn levels(&self) -> &[Trie<Chunk>] {
        &self.levels
    }

    /// The hash of all orders: every level, since the chunks of one level alone do not say how they follow each other.
    pub fn hash(&self) -> Hash {
        let mut hasher = Hasher::new(b"order");
        for level in &self.levels {
            hasher.bytes(&level.hash().0);
        }
        hasher.finish()
    }
}

/// Iterates over the elements of one region.
#[derive(Debug)]
pub struct Elements<'a> {
    order: &'a Order,
    head: u64,
    chunk: &'a [u64],
    at: usize,
}

impl Iterator for Elements<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.at >= self.chunk.len() {
            self.head = self.order.next_head(0, self.head)?;
            self.chunk = self.order.chunk(0, self.head).map_or(&[][..], |chunk| &chunk.refs);
            self.at = 0;
        }
        let element = self.chunk.get(self.at).copied()?;
        self.at += 1;
        Some(element)
    }
}

mod displaced;
#[cfg(test)]
mod tests;
mod whole;
