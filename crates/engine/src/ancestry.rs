//! What two states have in common.
//!
//! The ancestry of a state is that of its content: an undo, a redo and a restore have the ancestry of the state that they
//! go back to, so that a merge which was undone can be merged again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

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

    async fn get(&mut self, number: u64) -> Result<Arc<Header>, Error> {
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

/// What two states of a program have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Common {
    /// The number of the newest entry that made a state which both build on.
    pub(crate) base: u64,
    /// Whether that is the second one: the first has all of it.
    pub(crate) second_is_base: bool,
}

impl Engine {
    /// The newest state that two states build on: from the newest on, the first that is reached from both.
    pub(crate) async fn common(&self, open: &OpenProgram, a: u64, b: u64) -> Result<Common, Error> {
        let mut headers = Headers::new(self, open);
        let (a, b) = (headers.maker(a).await?, headers.maker(b).await?);
        let second = b.number;
        // What is still to be looked at, with the sides that build on it. Parents have lower numbers.
        let mut ahead: BTreeMap<u64, (Arc<Header>, [bool; 2])> = BTreeMap::new();
        for (side, header) in [a, b].into_iter().enumerate() {
            ahead.entry(header.number).or_insert((header, [false; 2])).1[side] = true;
        }
        while let Some((number, (header, sides))) = ahead.pop_last() {
            if sides == [true, true] {
                return Ok(Common { base: number, second_is_base: number == second });
            }
            for parent in &header.parents {
                let maker = headers.maker(*parent).await?;
                let known = &mut ahead.entry(maker.number).or_insert((maker, [false; 2])).1;
                *known = [known[0] || sides[0], known[1] || sides[1]];
            }
        }
        Err(Error::not_found("revision", format!("r{second}")))
    }
}
