//! Opening a program: the newest snapshot that can be read, and the log after it.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::sync::Arc;

use lmlang_history::Provenance;
use lmlang_history::line::{Line, LineError};
use lmlang_history::log::{Entry, RevisionKind};
use lmlang_history::snapshot::State;
use lmlang_ir::{Program, RefAllocator};
use lmlang_store::{Bound, ProgramKey, Tail};
use lmlang_verify::Checked;
use uuid::Uuid;

use crate::catalog::ProgramInfo;
use crate::checkpoints::Checkpoints;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::events::Event;
use crate::records;
use crate::snapshots::Snapshots;
use crate::timeline::{Head, Revision, Timeline};
use crate::window::Window;

/// What is read from the log at a time.
const CHUNK: Bound = Bound { rows: 512, bytes: 4 << 20 };

/// Headers of checkpoints read at a time.
const MARKS: usize = 500;

/// Snapshots listed at a time.
const SNAPSHOTS: u64 = 8;

/// What goes along with the content from entry to entry.
struct Along {
    line: Line,
    provenance: Provenance,
    next_ref: u64,
}

impl Along {
    fn follow(&mut self, entry: &Entry) -> Result<(), LineError> {
        self.next_ref = self.next_ref.max(entry.next_ref);
        self.provenance.follow(entry);
        self.line.push(entry.step())
    }
}

/// Content that is built again from a log.
struct Replay {
    id: Uuid,
    /// The newest entry that was taken.
    number: u64,
    checked: Option<Checked>,
    /// The newest revisions of the content.
    revisions: Window,
    /// Left aside where only the content is asked for.
    along: Option<Along>,
    /// Entries that were taken, and bytes of their edits.
    entries: u64,
    bytes: u64,
}

impl Replay {
    /// Takes an entry with edits of so many bytes.
    fn take(&mut self, entry: Arc<Entry>, bytes: usize) -> Result<(), Error> {
        let damaged = |reason: &str| damaged(self.id, entry.number, reason);
        self.number = entry.number;
        self.entries += 1;
        self.bytes += bytes as u64;
        if let Some(along) = &mut self.along {
            along.follow(&entry).map_err(|error| damaged(&error.to_string()))?;
        }
        if !changes_content(entry.kind) {
            return Ok(());
        }
        let before = self.checked.take();
        let mut program = before.as_ref().map_or_else(Program::new, |before| before.program().clone());
        lmlang_history::apply_all(&mut program, &entry.edits).map_err(|error| damaged(&error.to_string()))?;
        if program.root_hash() != entry.root_hash {
            return Err(damaged("the content does not have the recorded hash"));
        }
        let checked = match before {
            None => Checked::full(program, threads()),
            Some(before) => before.update(program),
        };
        self.push(Arc::new(Revision { entry: Arc::clone(&entry.header), checked }), bytes);
        Ok(())
    }

    fn push(&mut self, revision: Arc<Revision>, edits: usize) {
        self.checked = Some(revision.checked.clone());
        self.number = self.number.max(revision.entry.number);
        self.revisions.push(revision, edits);
    }
}

/// A snapshot with the revision that it is of.
struct Base {
    state: State,
    revision: Arc<Revision>,
}

impl Engine {
    /// Opens a program, unless it has been deleted by the time that it is open.
    pub(crate) async fn load_live(&self, info: &Arc<ProgramInfo>) -> Result<OpenProgram, Error> {
        let open = self.load(info).await?;
        match self.store().program(info.key).await? {
            Some(row) if row.deleted.is_none() => Ok(open),
            Some(_) | None => {
                let given = info.id.to_string();
                Err(Error::NotFound { what: "program", given, candidates: Vec::new(), retired: true })
            }
        }
    }

    /// Opens a program, deleted or not, for the caller alone.
    pub(crate) async fn load(&self, info: &Arc<ProgramInfo>) -> Result<OpenProgram, Error> {
        let (key, id) = (info.key, info.id);
        let newest = self.store().newest_header(key).await?.ok_or_else(|| damaged(id, 0, "no entries"))?.seq;
        let mut replay = blank(id, Window::of(self.limits()));
        let base = self.base(key, id, 1..=newest).await?.map(|Base { state, revision }| {
            replay.push(revision, 0);
            Arc::new(state)
        });
        let state = base.as_deref().cloned().unwrap_or_else(State::before_all);
        let State { number: base_number, line, provenance, next_ref, marks, .. } = state;
        replay.along = Some(Along { line, provenance, next_ref });
        let Replay { along, revisions, entries, bytes, .. } = self.replay(key, replay, newest).await?;
        let checkpoints = self.checkpoints(key, base_number, marks).await?;
        let (Some(revision), Some(along)) = (revisions.newest().cloned(), along) else {
            return Err(damaged(id, newest, "no content"));
        };
        let Along { line, provenance, next_ref } = along;
        let head = Head { revision, last: newest, line, checkpoints, provenance };
        let refs = RefAllocator::starting_at(next_ref);
        let snapshots = Snapshots::continued(base, entries, bytes);
        let timeline = Timeline::start(self, Arc::clone(info), head, revisions, refs, snapshots);
        Ok(OpenProgram { timeline })
    }

    /// The checkpoints of a program: those that a snapshot of an entry notes, and what became of them since.
    async fn checkpoints(
        &self,
        key: ProgramKey,
        noted_at: u64,
        noted: Option<Vec<u64>>,
    ) -> Result<Checkpoints, Error> {
        let after = if noted.is_some() { noted_at } else { 0 };
        let mut checkpoints = Checkpoints::default();
        for numbers in noted.unwrap_or_default().chunks(MARKS) {
            for row in self.store().headers(key, numbers).await? {
                checkpoints.follow(&records::header(self, row).await?);
            }
        }
        for row in self.store().marks(key, after).await? {
            checkpoints.follow(&records::header(self, row).await?);
        }
        Ok(checkpoints)
    }

    /// Takes in what the log has beyond the head: entries that were stored and could not be answered.
    pub(crate) async fn take_in_tail(&self, open: &OpenProgram) -> Result<(), Error> {
        let timeline = &open.timeline;
        let mut writer = timeline.writer.lock().await;
        let mut head = timeline.head();
        if writer.head.last != head.last {
            // Entries are on their way; whether they fit the log is known when they are answered.
            return Ok(());
        }
        loop {
            let rows = self.store().tail(Tail { program: timeline.key(), after: head.last }, CHUNK).await?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in rows {
                let bytes = row.edits.len();
                let entry = Arc::new(records::from_row(self, row).await?);
                let mut replay = blank(timeline.id(), Window::of_one());
                replay.push(Arc::clone(&head.revision), 0);
                replay.take(Arc::clone(&entry), bytes)?;
                let revision = Arc::clone(replay.revisions.newest().unwrap_or(&head.revision));
                head = head.after(&entry, revision)?;
                let next_ref = timeline.refs().watermark().max(entry.next_ref);
                timeline.set_refs(RefAllocator::starting_at(next_ref));
                timeline.advance(head.clone(), bytes);
                writer.head = head.clone();
                open.tell(Event::Entry(entry), bytes);
            }
        }
    }

    /// Builds the state after an entry again, from the nearest one before it that is in memory or in a snapshot.
    pub(crate) async fn rebuild(&self, open: &OpenProgram, to: u64) -> Result<Option<Arc<Revision>>, Error> {
        let (key, id) = (open.timeline.key(), open.timeline.id());
        let mut replay = blank(id, Window::of_one());
        let near = open.timeline.older_before(to);
        let first = near.as_ref().map_or(1, |near| near.entry.number + 1);
        let base = self.base(key, id, first..=to).await?.map(|base| base.revision);
        if let Some(revision) = base.or(near) {
            replay.push(revision, 0);
        }
        Ok(self.replay(key, replay, to).await?.revisions.newest().cloned())
    }

    /// Takes the entries up to one.
    async fn replay(&self, key: ProgramKey, mut replay: Replay, to: u64) -> Result<Replay, Error> {
        while replay.number < to {
            let after = replay.number;
            let mut entries = Vec::new();
            let chunk = Bound { rows: CHUNK.rows.min(to - after), ..CHUNK };
            for row in self.store().tail(Tail { program: key, after }, chunk).await? {
                let bytes = row.edits.len();
                entries.push((Arc::new(records::from_row(self, row).await?), bytes));
            }
            if entries.is_empty() {
                return Err(damaged(replay.id, after + 1, "the entry is missing"));
            }
            // Applying and checking take long: not on the runtime's threads.
            let work = move || {
                entries.into_iter().try_for_each(|(entry, bytes)| replay.take(entry, bytes))?;
                Ok::<Replay, Error>(replay)
            };
            replay = self.compute(work).await??;
        }
        Ok(replay)
    }

    /// The newest snapshot of an entry in a range that can be read.
    async fn base(&self, key: ProgramKey, id: Uuid, of: RangeInclusive<u64>) -> Result<Option<Base>, Error> {
        let mut at_most = *of.end();
        loop {
            let snapshots = self.store().snapshots(key, at_most, SNAPSHOTS).await?;
            let Some(oldest) = snapshots.last().map(|snapshot| snapshot.seq) else { return Ok(None) };
            for snapshot in snapshots.iter().take_while(|snapshot| snapshot.seq >= *of.start()) {
                let state = match self.read_snapshot(id, snapshot).await {
                    Ok(state) => state,
                    Err(error @ Error::Damaged { .. }) => {
                        tracing::warn!(program = %id, number = snapshot.seq, %error, "a snapshot is left aside");
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let row = self.store().header(key, snapshot.seq).await?;
                let row = row.ok_or_else(|| damaged(id, snapshot.seq, "the entry is missing"))?;
                let entry = Arc::new(records::header(self, row).await?);
                let work = move || {
                    let checked = Checked::full(state.program.clone(), threads());
                    Base { state, revision: Arc::new(Revision { entry, checked }) }
                };
                return self.compute(work).await.map(Some);
            }
            if oldest <= *of.start() {
                return Ok(None);
            }
            at_most = oldest - 1;
        }
    }
}

/// A replay from before the first entry.
fn blank(id: Uuid, revisions: Window) -> Replay {
    Replay { id, number: 0, checked: None, revisions, along: None, entries: 0, bytes: 0 }
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
