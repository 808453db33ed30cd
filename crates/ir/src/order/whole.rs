//! Orders that are made in one go, from the sequences of all regions.

use std::ops::Range;

use super::{Chunk, Order, level_of};
use crate::trie::Entries;

impl Order {
    /// The orders of regions, each given as the region itself and its elements in order; equal to what inserting them one
    /// by one makes. The head of each element's chunk follows from [`super::begins_chunk`].
    ///
    /// # Errors
    ///
    /// An element that begins a chunk twice, or that is a region, too.
    pub(crate) fn of_sequences<'a>(regions: impl IntoIterator<Item = &'a [u64]>) -> Result<Order, u64> {
        let regions = regions.into_iter();
        // Each region has a chunk, and most have one.
        let mut levels: Vec<Entries<Chunk>> = match regions.size_hint() {
            (0, _) => Vec::new(),
            (least, _) => vec![Entries::with_capacity(least)],
        };
        for sequence in regions {
            let mut cut = cut_level(&mut levels, 0, sequence, 0..0);
            for level in 1.. {
                // The sentinel alone makes no level.
                if cut.len() < 2 {
                    break;
                }
                let heads = levels[level - 1].keys()[cut.clone()].to_vec();
                cut = cut_level(&mut levels, level, &heads, cut);
            }
        }
        let level = |mut chunks: Entries<Chunk>| match chunks.sort() {
            Ok(()) => Ok(chunks.take()),
            Err(twice) => Err(chunks.keys()[twice]),
        };
        Ok(Order { levels: levels.into_iter().map(level).collect::<Result<_, _>>()? })
    }
}

/// Cuts the list of a region at a level into chunks and returns where they stand. `below` are the chunks one level down
/// whose heads the list holds: they learn where that is.
fn cut_level(
    levels: &mut Vec<Entries<Chunk>>,
    level: usize,
    list: &[u64],
    below: Range<usize>,
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
        if let Some(down) = level.checked_sub(1) {
            let inside = &mut levels[down].items_mut()[below.start + start..below.start + end];
            inside.iter_mut().for_each(|chunk| chunk.up = head);
        }
        start = end;
    }
    first..levels[level].keys().len()
}
