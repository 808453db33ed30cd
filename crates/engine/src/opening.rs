//! Opening a program: the newest snapshot that can be read, and the log after it.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Arc, RwLock};

use lmlang_history::log::{Entry, RevisionKind};
use lmlang_history::snapshot::State;
use lmlang_ir::RefAllocator;
use lmlang_store::{ProgramKey, Tail};
use lmlang_verify::Checked;
use uuid::Uuid;

use crate::catalog::ProgramInfo;
use crate::checkpoints::Checkpoints;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::records;
use crate::snapshots::Snapshots;
use crate::timeline::{Head, Revision, Timeline};

/// Entries read from the log at a time.
const CHUNK: u64 = 512;

/// Snapshots listed at a time.
const SNAPSHOTS: u64 = 8;

/// A state that was built again.
pub(crate) struct Rebuilt {
    /// The snapshot that it was built from.
    base: Option<Arc<State>>,
    /// The newest state, with what goes along with it.
    state: State,
    checked: Option<Checked>,
    /// The newest revisions of the content, oldest first.
    pub(crate) revisions: VecDeque<Arc<Revision>>,
    /// How many of those are kept.
    keep: usize,
    /// Entries after the snapshot, and bytes of their edits.
    entries: u64,
    bytes: u64,
}

impl Rebuilt {
    fn take(&mut self, id: Uuid, entry: Arc<Entry>) -> Result<(), Error> {
        let damaged = |reason: &str| damaged(id, entry.number, reason);
        self.entries += 1;
        self.state.number = entry.number;
        self.state.next_ref = self.state.next_ref.max(entry.next_ref);
        self.state.provenance.follow(&entry);
        self.state.line.push(entry.step()).map_err(|error| damaged(&error.to_string()))?;
        if !changes_content(entry.kind) {
            return Ok(());
        }
        let program = &mut self.state.program;
        lmlang_history::apply_all(program, &entry.edits).map_err(|error| damaged(&error.to_string()))?;
        if program.root_hash() != entry.root_hash {
            return Err(damaged("the content does not have the recorded hash"));
        }
        let checked = match self.checked.take() {
            None => Checked::full(program.clone(), threads()),
            Some(before) => before.update(program.clone()),
        };
        self.push(entry, checked);
        Ok(())
    }

    fn push(&mut self, entry: Arc<Entry>, checked: Checked) {
        self.checked = Some(checked.clone());
        self.revisions.push_back(Arc::new(Revision { entry, checked }));
        if self.revisions.len() > self.keep {
            self.revisions.pop_front();
        }
    }
}

impl Engine {
    /// Opens a program.
    pub(crate) async fn load(&self, info: &Arc<ProgramInfo>) -> Result<OpenProgram, Error> {
        let (key, id) = (info.key, info.id);
        let newest = self.store().newest_entry(key).await?.ok_or_else(|| damaged(id, 0, "no entries"))?.seq;
        let rebuilt = self.rebuild(key, id, newest, self.limits().revisions_in_memory).await?;
        let Rebuilt { base, state, revisions, entries, bytes, .. } = rebuilt;
        let mut checkpoints = Checkpoints::default();
        for row in self.store().marks(key).await? {
            checkpoints.follow(&records::from_row(self, row).await?);
        }
        let revision = revisions.back().cloned().ok_or_else(|| damaged(id, newest, "no content"))?;
        let State { line, provenance, next_ref, .. } = state;
        let head = Head { revision, last: newest, line, checkpoints, provenance };
        let refs = RefAllocator::starting_at(next_ref);
        let snapshots = Snapshots::continued(base, entries, bytes);
        let timeline = Timeline::start(self, key, id, head, revisions, refs, snapshots);
        Ok(OpenProgram { info: Arc::new(RwLock::new(Arc::clone(info))), timeline })
    }

    /// Builds the state after an entry again, and keeps some revisions before it.
    pub(crate) async fn rebuild(
        &self,
        key: ProgramKey,
        id: Uuid,
        to: u64,
        keep: usize,
    ) -> Result<Rebuilt, Error> {
        let mut rebuilt = self.base(key, id, to, keep).await?;
        while rebuilt.state.number < to {
            let after = rebuilt.state.number;
            let mut entries = Vec::new();
            for row in self.store().tail(Tail { program: key, after }, CHUNK.min(to - after)).await? {
                rebuilt.bytes += row.edits.len() as u64;
                entries.push(Arc::new(records::from_row(self, row).await?));
            }
            if entries.is_empty() {
                return Err(damaged(id, after + 1, "the entry is missing"));
            }
            // Applying and checking take long: not on the runtime's threads.
            let work = move || {
                entries.into_iter().try_for_each(|entry| rebuilt.take(id, entry))?;
                Ok::<Rebuilt, Error>(rebuilt)
            };
            rebuilt = tokio::task::spawn_blocking(work).await.map_err(|_| Error::Closed)??;
        }
        Ok(rebuilt)
    }

    /// The newest snapshot at or before an entry that can be read; the state before the first entry without one.
    async fn base(&self, key: ProgramKey, id: Uuid, to: u64, keep: usize) -> Result<Rebuilt, Error> {
        let mut at_most = Some(to);
        while let Some(newest) = at_most {
            let snapshots = self.store().snapshots(key, newest, SNAPSHOTS).await?;
            at_most = snapshots.last().and_then(|oldest| oldest.seq.checked_sub(1));
            for snapshot in &snapshots {
                let state = match self.read_snapshot(id, snapshot).await {
                    Ok(state) => state,
                    Err(error @ Error::Damaged { .. }) => {
                        tracing::warn!(program = %id, number = snapshot.seq, %error, "a snapshot is left aside");
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let row = self.store().entry(key, snapshot.seq).await?;
                let row = row.ok_or_else(|| damaged(id, snapshot.seq, "the entry is missing"))?;
                let entry = Arc::new(records::from_row(self, row).await?);
                let mut rebuilt = Rebuilt {
                    base: Some(Arc::new(state.clone())),
                    state,
                    checked: None,
                    revisions: VecDeque::new(),
                    keep,
                    entries: 0,
                    bytes: 0,
                };
                let work = move || {
                    let checked = Checked::full(rebuilt.state.program.clone(), threads());
                    rebuilt.push(entry, checked);
                    rebuilt
                };
                return tokio::task::spawn_blocking(work).await.map_err(|_| Error::Closed);
            }
        }
        Ok(Rebuilt {
            base: None,
            state: State::before_all(),
            checked: None,
            revisions: VecDeque::new(),
            keep,
            entries: 0,
            bytes: 0,
        })
    }
}

/// The error of a log that does not say what it should.
pub(crate) fn damaged(program: Uuid, entry: u64, reason: &str) -> Error {
    Error::Damaged { program: program.to_string(), entry, reason: reason.to_owned() }
}

/// Tells whether an entry of a kind makes a state of its own.
pub(crate) fn changes_content(kind: RevisionKind) -> bool {
    kind.makes_state() || kind.takes_target_state()
}

/// How many threads a full check of a large program may take.
pub(crate) fn threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}
