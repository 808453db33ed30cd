//! The states of a program: opening it from its log, and finding any revision again.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, RwLock};

use lmlang_history::line::Line;
use lmlang_history::log::{Entry, RevisionKind};
use lmlang_history::revision::{Base, MAIN, RevisionName};
use lmlang_ir::{Program, RefAllocator};
use lmlang_store::{HistoryFilter, ProgramKey, Tail};
use lmlang_verify::Checked;
use uuid::Uuid;

use crate::catalog::ProgramInfo;
use crate::checkpoints::Checkpoints;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::provenance::Provenance;
use crate::records;
use crate::timeline::{Head, Revision, Timeline};

/// Entries read from the log at a time.
const CHUNK: u64 = 512;

impl Engine {
    /// Opens a program: the newest snapshot and the log after it.
    pub(crate) async fn load(&self, info: &Arc<ProgramInfo>) -> Result<OpenProgram, Error> {
        let newest = self
            .store()
            .newest_entry(info.key)
            .await?
            .ok_or_else(|| self.damaged(info.id, 0, "no entries"))?;
        let (mut program, start) = self.base(info.key, info.id, newest.seq).await?;
        let mut window: VecDeque<Arc<Revision>> = VecDeque::new();
        let mut checked = start.as_ref().map(|_| Checked::full(program.clone(), threads()));
        let mut next_ref = 1;
        let mut line = Line::new();
        let mut checkpoints = Checkpoints::default();
        let mut provenance = Provenance::default();
        let mut after = 0;
        // The line, the checkpoints and the provenance come from the whole log; states only from the snapshot on.
        while after < newest.seq {
            for entry in self.entries_of(info.key, after, CHUNK).await? {
                after = entry.number;
                next_ref = next_ref.max(entry.next_ref);
                checkpoints.follow(&entry);
                provenance.follow(&entry);
                line.push(entry.step()).map_err(|error| self.damaged(info.id, after, &error.to_string()))?;
                if Some(after) < start || !changes_content(entry.kind) {
                    continue;
                }
                if Some(after) != start {
                    program = self.replay(info.id, program, &entry)?;
                }
                let next = match checked.take() {
                    None => Checked::full(program.clone(), threads()),
                    Some(before) => before.update(program.clone()),
                };
                checked = Some(next.clone());
                window.push_back(Arc::new(Revision { entry, checked: next }));
                if window.len() > self.limits().revisions_in_memory {
                    window.pop_front();
                }
            }
        }
        let revision =
            window.back().cloned().ok_or_else(|| self.damaged(info.id, newest.seq, "no content"))?;
        let head = Head { revision, last: newest.seq, line, checkpoints, provenance };
        let refs = RefAllocator::starting_at(next_ref);
        let committer = self.store().committer().clone();
        let timeline = Timeline::start(
            info.key,
            info.id,
            committer,
            head,
            window,
            refs,
            self.0.feed.clone(),
            self.limits(),
        );
        Ok(OpenProgram { info: Arc::new(RwLock::new(Arc::clone(info))), timeline })
    }

    /// The newest snapshot at or before an entry; an empty program, to be built from the first entry, without one.
    async fn base(&self, key: ProgramKey, id: Uuid, at_most: u64) -> Result<(Program, Option<u64>), Error> {
        match self.store().snapshots(key, at_most, 1).await?.pop() {
            None => Ok((Program::new(), None)),
            Some(snapshot) => {
                let seq = snapshot.seq;
                Ok((self.read_snapshot(id, snapshot).await?, Some(seq)))
            }
        }
    }

    fn replay(&self, id: Uuid, mut program: Program, entry: &Entry) -> Result<Program, Error> {
        lmlang_history::apply_all(&mut program, &entry.edits)
            .map_err(|error| self.damaged(id, entry.number, &error.to_string()))?;
        if program.root_hash() != entry.root_hash {
            return Err(self.damaged(id, entry.number, "the content does not have the recorded hash"));
        }
        Ok(program)
    }

    pub(crate) fn damaged(&self, program: Uuid, entry: u64, reason: &str) -> Error {
        Error::Damaged { program: program.to_string(), entry, reason: reason.to_owned() }
    }

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
        let (key, id) = (open.timeline.key(), open.timeline.id());
        let (mut program, start) = self.base(key, id, number).await?;
        let mut after = start.unwrap_or(0);
        let mut last = match start {
            Some(start) if start == number => self.entry(open, number).await?,
            Some(_) | None => None,
        };
        while after < number {
            for entry in self.entries_of(key, after, CHUNK.min(number - after)).await? {
                after = entry.number;
                if changes_content(entry.kind) {
                    program = self.replay(id, program, &entry)?;
                    last = Some(entry);
                }
            }
        }
        let Some(entry) = last else { return Ok(None) };
        let checked = tokio::task::spawn_blocking(move || Checked::full(program, threads()))
            .await
            .map_err(|_| Error::Closed)?;
        let revision = Arc::new(Revision { entry, checked });
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

/// Tells whether an entry of a kind makes a state of its own.
pub(crate) fn changes_content(kind: RevisionKind) -> bool {
    kind.makes_state() || kind.takes_target_state()
}

/// How many threads a full check of a large program may take.
pub(crate) fn threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
