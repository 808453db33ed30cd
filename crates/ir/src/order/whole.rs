//! Orders that are made in one go, from the elements of all regions.

use std::ops::Range;

use super::{Chunk, Order, level_of};
use crate::trie::Entries;

/// The orders of regions, from elements that come one after another: those of a region in their order, the regions in any.
///
/// One serves for many, so that its lists need no new room for each.
#[derive(Debug, Default)]
pub(crate) struct Sequences {
    /// The chunks at level 0: first one for each region, then those that begin at elements, as they came.
    cuts: Vec<Cut>,
    /// For each region its last chunk.
    last: Vec<u32>,
    /// For each element its chunk.
    inside: Vec<u32>,
    /// The chunks by their heads, and for each chunk its place among them.
    sorted: Vec<u32>,
    places: Vec<u32>,
    /// The chunks, level by level, while they are made.
    levels: Vec<Entries<Chunk>>,
}

/// A chunk at level 0 that is yet to be made.
#[derive(Clone, Copy, Debug)]
struct Cut {
    head: u64,
    /// How many elements it has, the head included.
    length: u32,
    /// The next one of its region; zero for none, as the chunk with that number is the first of a region.
    next: u32,
}

impl Sequences {
    /// Begins anew with these regions, which have no elements yet.
    pub(crate) fn begin(&mut self, regions: &[u64]) {
        self.cuts.clear();
        self.cuts.extend(regions.iter().map(|region| Cut { head: *region, length: 1, next: 0 }));
        self.last.clear();
        self.last.extend(0..regions.len() as u32);
        self.inside.clear();
        self.levels.iter_mut().for_each(Entries::clear);
    }

    /// Adds an element at the end of a region, which is given by its place among them. Returns the head of the element's
    /// chunk.
    pub(crate) fn add(&mut self, region: usize, element: u64) -> u64 {
        let last = &mut self.last[region];
        if level_of(element) > 0 {
            let next = self.cuts.len() as u32;
            self.cuts[*last as usize].next = next;
            self.cuts.push(Cut { head: element, length: 0, next: 0 });
            *last = next;
        }
        self.inside.push(*last);
        let cut = &mut self.cuts[*last as usize];
        cut.length += 1;
        cut.head
    }

    /// The orders, given the elements as they were added; equal to what inserting them one by one makes.
    ///
    /// # Errors
    ///
    /// An element that begins a chunk twice, or that is a region, too.
    pub(crate) fn order(&mut self, elements: &[u64]) -> Result<Order, u64> {
        self.make_chunks(elements)?;
        (0..self.last.len()).for_each(|region| self.raise(region));
        let mut order = Order::default();
        for chunks in self.levels.iter_mut().take_while(|chunks| !chunks.keys().is_empty()) {
            chunks.sort().map_err(|twice| chunks.keys()[twice])?;
            order.levels.push(chunks.take());
        }
        Ok(order)
    }

    /// Makes the chunks at level 0, in the order of their heads.
    fn make_chunks(&mut self, elements: &[u64]) -> Result<(), u64> {
        let Sequences { cuts, last: _, inside, sorted, places, levels } = self;
        sorted.clear();
        sorted.extend(0..cuts.len() as u32);
        // Regions and elements ascend most often, which makes two runs.
        sorted.sort_by_key(|at| cuts[*at as usize].head);
        places.clear();
        places.resize(cuts.len(), 0);
        if levels.is_empty() {
            levels.push(Entries::default());
        }
        let chunks = &mut levels[0];
        for (place, at) in (0u32..).zip(&*sorted) {
            let Cut { head, length, next: _ } = cuts[*at as usize];
            if chunks.keys().last() == Some(&head) {
                return Err(head);
            }
            let mut refs = Vec::with_capacity(length as usize);
            refs.push(head);
            chunks.push(head, Chunk { up: 0, refs });
            places[*at as usize] = place;
        }
        let chunks = chunks.items_mut();
        for (element, at) in elements.iter().zip(&*inside) {
            let at = *at as usize;
            // The head is there already.
            if cuts[at].head != *element {
                chunks[places[at] as usize].refs.push(*element);
            }
        }
        Ok(())
    }

    /// Makes the levels above level 0 of a region, if it has several chunks there.
    fn raise(&mut self, region: usize) {
        let Sequences { cuts, places, levels, .. } = self;
        if cuts[region].next == 0 {
            return;
        }
        let following = |at: &u32| Some(cuts[*at as usize].next).filter(|next| *next > 0);
        let chain = std::iter::successors(Some(region as u32), following);
        let (mut heads, below): (Vec<u64>, Vec<u32>) =
            chain.map(|at| (cuts[at as usize].head, places[at as usize])).unzip();
        let mut cut = cut_level(levels, 1, &heads, |at| below[at] as usize);
        for level in 2.. {
            // The sentinel alone makes no level.
            if cut.len() < 2 {
                break;
            }
            heads = levels[level - 1].keys()[cut.clone()].to_vec();
            let first = cut.start;
            cut = cut_level(levels, level, &heads, |at| first + at);
        }
    }
}

/// Cuts the list of a region at a level into chunks and returns where they stand. The list holds heads of chunks one level
/// down, of which `below` tells the places: they learn where that is.
fn cut_level(
    levels: &mut Vec<Entries<Chunk>>,
    level: usize,
    list: &[u64],
    below: impl Fn(usize) -> usize,
) -> Range<usize> {
    if levels.len() == level {
        levels.push(Entries::default());
    }
    let first = levels[level].keys().len();
    let mut start = 0;
    while let Some(head) = list.get(start).copied() {
        let tail = &list[start + 1..];
        let end = start + 1 + tail.iter().position(|one| level_of(*one) > level).unwrap_or(tail.len());
        levels[level].push(head, Chunk { up: 0, refs: list[start..end].to_vec() });
        let down = levels[level - 1].items_mut();
        (start..end).for_each(|at| down[below(at)].up = head);
        start = end;
    }
    first..levels[level].keys().len()
}
