//! What two states have in common.
//!
//! The ancestry of a state is that of its content: an undo, a redo and a restore have the ancestry of the state that they
//! go back to, so that a merge which was undone can be merged again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lmlang_history::Rest;
use lmlang_history::line::Line;
use lmlang_history::log::Header;

use crate::engine::{Engine, OpenProgram};
use crate::error::Error;

/// Headers read at a time.
const CHUNK: u64 = 256;

/// The headers of a program's log, as far as they were looked at.
pub(crate) struct Headers<'a> {
    engine: &'a Engine,
    open: &'a OpenProgram,
    known: HashMap<u64, Arc<Header>>,
}

impl<'a> Headers<'a> {
    pub(crate) fn new(engine: &'a Engine, open: &'a OpenProgram) -> Headers<'a> {
        Headers { engine, open, known: HashMap::new() }
    }

    /// The header of the entry with a number, which may be submitted and not stored yet.
    pub(crate) async fn get(&mut self, number: u64) -> Result<Arc<Header>, Error> {
        if let Some(recent) = self.open.timeline.recent(number) {
            return Ok(Arc::clone(&recent.entry));
        }
        if let Some(entry) = self.open.timeline.submitted(number) {
            return Ok(Arc::clone(&entry.header));
        }
        if !self.known.contains_key(&number) {
            let numbers: Vec<u64> = (number.saturating_sub(CHUNK - 1).max(1)..=number).collect();
            for header in self.engine.headers(self.open, &numbers).await? {
                self.known.insert(header.number, header);
            }
        }
        let found = self.known.get(&number).map(Arc::clone);
        found.ok_or_else(|| Error::not_found("revision", format!("r{number}")))
    }

    /// The entry that made the content of an entry.
    pub(crate) async fn maker(&mut self, mut number: u64) -> Result<Arc<Header>, Error> {
        loop {
            let header = self.get(number).await?;
            let next = match header.kind {
                kind if kind.takes_target_state() => header.target,
                kind if kind.makes_state() => return Ok(header),
                _ => header.parents.first().copied(),
            };
            number = next.ok_or_else(|| Error::not_found("revision", format!("r{number}")))?;
        }
    }
}

/// Who builds on an entry: the first, the second, or something that both have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Builders {
    first: bool,
    second: bool,
    common: bool,
}

/// What two states build on.
#[derive(Debug, Default)]
pub(crate) struct Kinship {
    /// The numbers of the newest entries that both build on, newest first: several only where branches were merged into each
    /// other crosswise.
    pub(crate) common: Vec<u64>,
    /// What only the first one builds on.
    pub(crate) first: BTreeMap<u64, Arc<Header>>,
    /// What only the second one builds on.
    pub(crate) second: BTreeMap<u64, Arc<Header>>,
}

impl Kinship {
    /// What the states, the first one first, rest on beyond what they changed since what they have in common.
    pub(crate) fn rests(&self) -> [Vec<Rest>; 2] {
        [&self.first, &self.second]
            .map(|own| own.values().flat_map(|header| header.rests.iter().cloned()).collect())
    }
}

impl Engine {
    /// The numbers of the newest entries that made states which two states build on, newest first.
    pub(crate) async fn common(&self, open: &OpenProgram, a: u64, b: u64) -> Result<Vec<u64>, Error> {
        Ok(self.kinship(open, a, b).await?.common)
    }

    /// What two states have in common, and what each has of its own.
    ///
    /// From the newest entry on: common is what is reached from both and from no other such entry.
    pub(crate) async fn kinship(&self, open: &OpenProgram, a: u64, b: u64) -> Result<Kinship, Error> {
        let mut headers = Headers::new(self, open);
        // What is still to be looked at. Parents have lower numbers.
        let mut ahead: BTreeMap<u64, (Arc<Header>, Builders)> = BTreeMap::new();
        let (a, b) = (headers.maker(a).await?, headers.maker(b).await?);
        for (header, first) in [(a, true), (b, false)] {
            let builders = &mut ahead.entry(header.number).or_insert((header, Builders::default())).1;
            (builders.first, builders.second) = (builders.first || first, builders.second || !first);
        }
        let mut found = Kinship::default();
        while ahead.values().any(|(_, builders)| !builders.common)
            && let Some((number, (header, mut builders))) = ahead.pop_last()
        {
            if builders.first && builders.second && !builders.common {
                found.common.push(number);
                builders.common = true;
            }
            if builders.first && !builders.common {
                found.first.insert(number, Arc::clone(&header));
            }
            if builders.second && !builders.common {
                found.second.insert(number, Arc::clone(&header));
            }
            for parent in &header.parents {
                let maker = headers.maker(*parent).await?;
                let known = &mut ahead.entry(maker.number).or_insert((maker, Builders::default())).1;
                known.first |= builders.first;
                known.second |= builders.second;
                known.common |= builders.common;
            }
        }
        Ok(found)
    }

    /// Whether the newest content of a line builds on an entry: it can be gone back to, and no restore has left it behind.
    pub(crate) async fn builds_on(
        &self,
        open: &OpenProgram,
        line: &Line,
        number: u64,
    ) -> Result<bool, Error> {
        let mut restores = self.store().restores(open.timeline.key(), number).await?;
        restores.retain(|restore| line.holds(*restore));
        let mut headers = Headers::new(self, open);
        let mut next = line.state();
        // Each of these made a state that the content builds on.
        while let Some(at) = next.filter(|at| *at > number) {
            let header = match line.holds(at) {
                // All of the line is in it, down to where the content was another one's.
                true => match restores.iter().rfind(|restore| **restore <= at) {
                    Some(restore) => headers.get(*restore).await?,
                    None => return Ok(line.holds(number)),
                },
                // An older content has come back that the line does not lead to any more.
                false => headers.get(at).await?,
            };
            next = match header.kind.takes_target_state() {
                true => header.target,
                false => header.parents.first().copied(),
            };
        }
        Ok(next == Some(number))
    }

    /// The number of the entry that made the content of an entry.
    pub(crate) async fn maker(&self, open: &OpenProgram, number: u64) -> Result<u64, Error> {
        Ok(Headers::new(self, open).maker(number).await?.number)
    }
}
