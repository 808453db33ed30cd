//! The newest revisions of an open program, as far as they fit.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::config::Limits;
use crate::eviction::node_bytes;
use crate::timeline::Revision;

/// The newest revisions, within a number and within bytes; the very newest always.
#[derive(Debug)]
pub(crate) struct Window {
    /// With what each weighs beside the one before, oldest first.
    revisions: VecDeque<(Arc<Revision>, u64)>,
    bytes: u64,
    most: usize,
    most_bytes: u64,
}

/// Bytes that a revision takes beside its edits and what they made or left behind, about.
const REVISION: u64 = 2 << 10;

/// How much larger edits are in memory than in the database, about.
const DECODED: u64 = 4;

impl Window {
    /// As many as an open program keeps.
    pub(crate) fn of(limits: &Limits) -> Window {
        Window {
            revisions: VecDeque::new(),
            bytes: 0,
            most: limits.revisions_in_memory,
            most_bytes: limits.revision_bytes_in_memory,
        }
    }

    /// The newest one only.
    pub(crate) fn of_one() -> Window {
        Window { revisions: VecDeque::new(), bytes: 0, most: 1, most_bytes: u64::MAX }
    }

    /// Takes in a revision that follows, with edits of so many bytes in the database; gives back those that do not fit
    /// any more.
    pub(crate) fn push(&mut self, revision: Arc<Revision>, edits: usize) -> Vec<Arc<Revision>> {
        let nodes = |revision: &Revision| revision.checked.program().totals().counts.nodes;
        // What differs is held twice: nodes that are gone now live on in the revision before.
        let differ = self.newest().map_or(0, |before| nodes(before).abs_diff(nodes(&revision)));
        let weight = REVISION + DECODED * edits as u64 + node_bytes(differ);
        self.revisions.push_back((revision, weight));
        self.bytes += weight;
        let mut gone = Vec::new();
        while self.revisions.len() > 1
            && (self.revisions.len() > self.most || self.bytes > self.most_bytes)
            && let Some((oldest, weight)) = self.revisions.pop_front()
        {
            self.bytes -= weight;
            gone.push(oldest);
        }
        gone
    }

    /// How many there can be.
    pub(crate) fn most(&self) -> u64 {
        self.most as u64
    }

    /// Bytes that they take beside the newest state, about.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn newest(&self) -> Option<&Arc<Revision>> {
        self.revisions.back().map(|(revision, _)| revision)
    }

    /// The one with a number.
    pub(crate) fn get(&self, number: u64) -> Option<&Arc<Revision>> {
        let found = self.revisions.binary_search_by_key(&number, |(revision, _)| revision.entry.number);
        found.ok().and_then(|index| self.revisions.get(index)).map(|(revision, _)| revision)
    }

    /// All of them, newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &Arc<Revision>> {
        self.revisions.iter().rev().map(|(revision, _)| revision)
    }
}

#[cfg(test)]
mod tests;
