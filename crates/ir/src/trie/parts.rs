//! Parts: the pieces in which a trie is kept outside of memory, each known by its hash.
//!
//! Up to 256 neighbouring keys make one part; above them, each node of the trie is a part that names those below. How a
//! trie is cut depends on its keys alone, so equal content has equal parts, and a write makes new ones on its path only.

use super::{BITS, Child, Inner, Iter, Trie, entries, hash_of, spans};
use crate::hash::{Content, Hash};

/// A part of a trie.
#[derive(Debug)]
pub enum Part<'a, T> {
    /// Entries, in order of their keys.
    Entries(Iter<'a, T>),
    /// The hashes of the parts below, in order of their keys.
    Inner(Vec<Hash>),
}

impl<T: Content> Trie<T> {
    /// Visits the parts that an earlier trie does not have, those below first and the whole last. Costs what differs
    /// when the two share their history.
    pub fn parts_since(&self, earlier: &Trie<T>, visit: &mut impl FnMut(Hash, Part<'_, T>)) {
        visit_new(&self.root, &earlier.root, visit);
    }
}

/// The node, if it is a part that names others.
fn named_parts<T>(child: &Child<T>) -> Option<&Inner<T>> {
    match child {
        Child::Inner(inner) if inner.shift > BITS => Some(inner),
        Child::Empty | Child::Leaf(_) | Child::Inner(_) => None,
    }
}

/// Visits the parts of `child`, which is one, that are not below `earlier`, which is a part or empty.
fn visit_new<T: Content>(child: &Child<T>, earlier: &Child<T>, visit: &mut impl FnMut(Hash, Part<'_, T>)) {
    if matches!(child, Child::Empty) || child.same(earlier) || hash_of(child) == hash_of(earlier) {
        return;
    }
    if let Some(around) = named_parts(earlier)
        && spans(around, child)
    {
        return visit_new(child, &around.kids[around.slot(child.sample_key())], visit);
    }
    let Some(inner) = named_parts(child) else {
        return visit(hash_of(child), Part::Entries(entries(child)));
    };
    let aligned = named_parts(earlier).filter(|it| it.shift == inner.shift && it.prefix == inner.prefix);
    let inside = (aligned.is_none() && spans(inner, earlier)).then(|| inner.slot(earlier.sample_key()));
    let mut below = Vec::new();
    for (slot, kid) in inner.kids.iter().enumerate() {
        if matches!(kid, Child::Empty) {
            continue;
        }
        let counterpart = match aligned {
            Some(aligned) => &aligned.kids[slot],
            None if inside == Some(slot) => earlier,
            None => &Child::Empty,
        };
        visit_new(kid, counterpart, visit);
        below.push(hash_of(kid));
    }
    visit(hash_of(child), Part::Inner(below));
}
