//! Looking back: the entries of a log, and what became of single entities.

use std::sync::Arc;

use lmlang_history::Touched;
use lmlang_history::log::{Entry, RevisionKind};
use lmlang_ir::Ref;
use lmlang_store::HistoryFilter;

use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::records;
use crate::timeline::Revision;

/// Which entries of a log to list, newest first.
#[derive(Clone, Debug)]
pub struct HistoryQuery {
    /// The newest entry that there is for the reader.
    pub newest: u64,
    /// Only entries with smaller numbers.
    pub before: u64,
    /// Only entries by authors of this name.
    pub author: Option<String>,
    /// Only entries that change this entity, or something in this function.
    pub touching: Option<Ref>,
    /// Only entries of this kind.
    pub kind: Option<RevisionKind>,
    /// How many at most.
    pub limit: usize,
}

/// Some entries of a log.
#[derive(Clone, Debug)]
pub struct HistoryPage {
    /// The entries, newest first.
    pub entries: Vec<Arc<Entry>>,
    /// Whether older ones follow.
    pub more: bool,
    /// How many match altogether; with `touching`, those that were seen.
    pub total: u64,
}

/// Entries read from the log at a time when each has to be looked into.
const CHUNK: u64 = 256;

impl Engine {
    /// Entries of a log, newest first.
    pub async fn history(&self, open: &OpenProgram, query: &HistoryQuery) -> Result<HistoryPage, Error> {
        let actors = match &query.author {
            Some(author) => Some(self.store().actors_named(author).await?),
            None => None,
        };
        let mut filter = HistoryFilter {
            before: Some(query.before.min(query.newest.saturating_add(1))),
            kinds: query.kind.map(records::to_kind).into_iter().collect(),
            actors,
            ..HistoryFilter::default()
        };
        let key = open.timeline.key();
        let mut entries = Vec::new();
        let chunk = if query.touching.is_some() { CHUNK } else { query.limit as u64 + 1 };
        loop {
            let numbers = self.store().history(key, &filter, chunk).await?;
            let last = (numbers.len() as u64) < chunk;
            filter.before = numbers.last().copied().or(filter.before);
            let found = self.numbered(open, &numbers).await?;
            entries
                .extend(found.into_iter().filter(|entry| query.touching.is_none_or(|of| touches(entry, of))));
            if last || entries.len() > query.limit {
                break;
            }
        }
        let more = entries.len() > query.limit;
        entries.truncate(query.limit);
        let total = match query.touching {
            Some(_) => entries.len() as u64 + u64::from(more),
            None => {
                self.store()
                    .history_len(
                        key,
                        &HistoryFilter { before: Some(query.newest.saturating_add(1)), ..filter },
                    )
                    .await?
            }
        };
        Ok(HistoryPage { entries, more, total })
    }

    /// The entries with some numbers, newest first. Recent ones are in memory: reading the edits of one takes long.
    async fn numbered(&self, open: &OpenProgram, numbers: &[u64]) -> Result<Vec<Arc<Entry>>, Error> {
        let (mut entries, mut others) = (Vec::with_capacity(numbers.len()), Vec::new());
        for number in numbers {
            match open.timeline.recent(*number) {
                Some(revision) => entries.push(Arc::clone(&revision.entry)),
                None => others.push(*number),
            }
        }
        for some in others.chunks(CHUNK as usize) {
            for row in self.store().entries_numbered(open.timeline.key(), some).await? {
                entries.push(Arc::new(records::from_row(self, row).await?));
            }
        }
        entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.number));
        Ok(entries)
    }

    /// The revisions that made and last changed an entity, as of a revision; `owner` is what it is part of.
    pub async fn provenance(
        &self,
        open: &OpenProgram,
        revision: &Revision,
        of: Ref,
        owner: Option<Ref>,
    ) -> Result<Touched, Error> {
        let head = open.timeline.head();
        let touched = head.provenance.of(of, owner, lmlang_store::FIRST_SEQ);
        let newest = revision.entry.number;
        if touched.modified <= newest {
            return Ok(touched);
        }
        // Seen from the past: the newest change that had happened by then.
        let query = HistoryQuery {
            newest,
            before: newest + 1,
            author: None,
            touching: Some(of),
            kind: None,
            limit: 1,
        };
        let last = self.history(open, &query).await?.entries.pop();
        let modified = last.map_or(touched.created.min(newest), |entry| entry.number);
        Ok(Touched { created: touched.created.min(modified), modified })
    }
}

/// Tells whether an entry changes an entity, or something in a function.
fn touches(entry: &Entry, of: Ref) -> bool {
    entry
        .edits
        .iter()
        .any(|edit| edit.subject() == of || edit.function().is_some_and(|function| Ref::from(function) == of))
}
