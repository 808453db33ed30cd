//! Finding any revision of a program by its name or number.

use std::sync::Arc;

use lmlang_history::log::Entry;
use lmlang_history::revision::{Base, MAIN, RevisionName};
use lmlang_store::{HistoryFilter, ProgramKey, Tail};

use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::opening::changes_content;
use crate::records;
use crate::timeline::Revision;

/// Entries read from the log at a time.
const CHUNK: u64 = 512;

impl Engine {
    /// Entries of a program after a number, oldest first.
    pub(crate) async fn entries_of(
        &self,
        program: ProgramKey,
        after: u64,
        limit: u64,
    ) -> Result<Vec<Arc<Entry>>, Error> {
        let mut entries = Vec::new();
        for row in self.store().tail(Tail { program, after }, limit).await? {
            entries.push(Arc::new(records::from_row(self, row).await?));
        }
        Ok(entries)
    }

    /// The revision that a caller names, or the head.
    pub async fn revision(&self, open: &OpenProgram, at: Option<&str>) -> Result<Arc<Revision>, Error> {
        let head = open.timeline.head();
        let Some(at) = at else { return Ok(head.revision) };
        let unknown = || Error::not_found("revision", at);
        let name: RevisionName = at.parse().map_err(|_| unknown())?;
        let mut number = match &name.base {
            Base::Number(number) => *number,
            Base::Hash(_) => self.numbered_by_hash(open, &name.base).await?.ok_or_else(unknown)?,
            Base::Named(name) if name == MAIN => head.revision.entry.number,
            Base::Named(name) => head.checkpoints.get(name).ok_or_else(unknown)?.revision,
        };
        for _ in 0..name.back {
            let entry = self.entry(open, number).await?.ok_or_else(unknown)?;
            number = entry.parents.first().copied().ok_or_else(unknown)?;
        }
        self.state(open, number).await?.ok_or_else(unknown)
    }

    /// The entry with a number.
    pub async fn entry(&self, open: &OpenProgram, number: u64) -> Result<Option<Arc<Entry>>, Error> {
        if let Some(revision) = open.timeline.recent(number) {
            return Ok(Some(Arc::clone(&revision.entry)));
        }
        if number > open.timeline.head().last {
            return Ok(None);
        }
        match self.store().entry(open.timeline.key(), number).await? {
            Some(row) => Ok(Some(Arc::new(records::from_row(self, row).await?))),
            None => Ok(None),
        }
    }

    /// The state after the entry with a number; that of its parent for an entry that changes no content.
    ///
    /// Recent ones are in memory, older ones are built again from the snapshot before them.
    pub async fn state(&self, open: &OpenProgram, number: u64) -> Result<Option<Arc<Revision>>, Error> {
        let mut number = number;
        loop {
            if let Some(revision) = open.timeline.recent(number) {
                return Ok(Some(revision));
            }
            let Some(entry) = self.entry(open, number).await? else { return Ok(None) };
            if changes_content(entry.kind) {
                break;
            }
            match entry.parents.first() {
                Some(parent) => number = *parent,
                None => return Ok(None),
            }
        }
        if let Some(revision) = open.timeline.older(number) {
            return Ok(Some(revision));
        }
        let Some(revision) = self.rebuild(open, number).await? else { return Ok(None) };
        open.timeline.keep(Arc::clone(&revision));
        Ok(Some(revision))
    }

    /// The newest revision whose hash starts with the digits given.
    async fn numbered_by_hash(&self, open: &OpenProgram, base: &Base) -> Result<Option<u64>, Error> {
        let mut before = open.timeline.head().last + 1;
        while before > 1 {
            let filter = HistoryFilter { before: Some(before), ..HistoryFilter::default() };
            let rows = self.store().history(open.timeline.key(), &filter, CHUNK).await?;
            for row in &rows {
                if base.matches(&lmlang_ir::Hash(row.root_hash)) {
                    return Ok(Some(row.seq));
                }
                before = row.seq;
            }
            if rows.is_empty() {
                break;
            }
        }
        Ok(None)
    }
}
