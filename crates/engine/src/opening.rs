//! Opening a program: the newest snapshot that can be read, and the log after it.

use std::num::NonZeroUsize;
use std::sync::Arc;

use lmlang_history::Provenance;
use lmlang_history::line::{Line, LineError};
use lmlang_history::log::{Entry, Header, RevisionKind};
use lmlang_history::snapshot::State;
use lmlang_ir::{Program, RefAllocator};
use lmlang_store::{Bound, ProgramKey, Tail};
use lmlang_verify::Checked;
use uuid::Uuid;

use crate::branches::{Branches, MAIN_BRANCH, Tip, Way};
use crate::catalog::ProgramInfo;
use crate::checkpoints::Checkpoints;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::events::Event;
use crate::records;
use crate::snapshots::Snapshots;
use crate::timeline::{Head, Revision, Timeline, Writer};
use crate::window::Window;
use crate::writing::Next;

/// What is read from the log at a time.
const CHUNK: Bound = Bound { rows: 512, bytes: 4 << 20 };

/// Headers of checkpoints read at a time.
const MARKS: usize = 500;

/// Snapshots listed at a time.
const SNAPSHOTS: u64 = 8;

/// What goes along with the content from entry to entry.
struct Along {
    branch: u32,
    name: Option<Arc<str>>,
    line: Line,
    provenance: Provenance,
}

impl Along {
    fn follow(&mut self, entry: &Entry) -> Result<(), LineError> {
        if entry.branch != self.branch {
            (self.branch, self.line) = (entry.branch, self.line.branch_off());
            self.name = entry.branch_name.as_deref().map(Arc::from);
        }
        self.provenance.follow(entry);
        self.line.push(entry.step())
    }
}

/// Content that is built again from a log.
struct Replay {
    id: Uuid,
    /// The newest entry that was taken.
    number: u64,
    /// The newest one of the content, and what that is after it.
    newest: Option<Arc<Header>>,
    program: Program,
    /// The same, verified; not while the entries that are taken are of no interest themselves.
    checked: Option<Checked>,
    /// The first entry that is of interest.
    wanted: u64,
    /// Another state of the program: what is equal to that need not be verified again.
    like: Option<Checked>,
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
        if self.newest.as_ref().map(|newest| newest.number) != entry.parents.first().copied() {
            return Err(damaged("it does not continue what is before it"));
        }
        lmlang_history::apply_all(&mut self.program, &entry.edits)
            .map_err(|error| damaged(&error.to_string()))?;
        if self.program.root_hash() != entry.root_hash {
            return Err(damaged("the content does not have the recorded hash"));
        }
        self.newest = Some(Arc::clone(&entry.header));
        if let Some(before) = self.checked.take() {
            let checked = before.update(self.program.clone());
            self.push(Arc::new(Revision { entry: Arc::clone(&entry.header), checked }), bytes);
        } else if entry.number >= self.wanted {
            self.verify(bytes);
        }
        Ok(())
    }

    /// Verifies the content, after an entry with edits of so many bytes, if that is not done.
    fn verify(&mut self, bytes: usize) {
        if let (None, Some(entry)) = (&self.checked, &self.newest) {
            let (entry, program) = (Arc::clone(entry), self.program.clone());
            let checked = match &self.like {
                Some(like) => like.update(program),
                None => Checked::full(program, threads()),
            };
            self.push(Arc::new(Revision { entry, checked }), bytes);
        }
    }

    /// Goes on from a revision.
    fn push(&mut self, revision: Arc<Revision>, edits: usize) {
        self.start(Arc::clone(&revision.entry), revision.checked.program().clone());
        self.checked = Some(revision.checked.clone());
        self.revisions.push(revision, edits);
    }

    /// Goes on from the content after an entry.
    fn start(&mut self, entry: Arc<Header>, content: Program) {
        self.number = self.number.max(entry.number);
        (self.newest, self.program) = (Some(entry), content);
    }
}

/// A snapshot with the entry that it is of.
struct Base {
    state: State,
    entry: Arc<Header>,
}

impl Engine {
    /// Opens a program, unless it has been deleted by the time that it is open.
    pub(crate) async fn load_live(&self, info: &Arc<ProgramInfo>) -> Result<OpenProgram, Error> {
        let open = Box::pin(self.load(info)).await?;
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
        let last = self.store().newest_header(key).await?.ok_or_else(|| damaged(id, 0, "no entries"))?;
        let end = self.store().newest_on(key, MAIN_BRANCH, last.seq).await?.unwrap_or_default();
        let way = Way::of_main(end);
        let base = self.base(key, id, &way, 1).await?;
        let marks = base.as_ref().map(|base| (base.state.number, base.state.marks.clone()));
        let replay = blank(id, Window::of(self.limits()), way.end());
        let (tip, replay, state) = self.follow(key, replay, &way, base).await?;
        let (checkpoints, branches) = self.marks(key, marks).await?;
        let head = Head { last: last.seq, last_id: last.id, main: tip, branches, checkpoints };
        let refs = RefAllocator::starting_at(last.next_ref);
        let snapshots = Snapshots::continued(state, replay.entries, replay.bytes);
        let timeline = Timeline::start(self, Arc::clone(info), head, replay.revisions, refs, snapshots);
        Ok(OpenProgram { timeline })
    }

    /// The state of a branch at an entry, as a branch's tip.
    pub(crate) async fn tip_at(&self, open: &OpenProgram, number: u64) -> Result<Tip, Error> {
        let (key, id) = (open.timeline.key(), open.timeline.id());
        let way = self.way(open, number).await?;
        let base = self.base(key, id, &way, 1).await?;
        let replay = Replay { like: Some(newest(open)), ..blank(id, Window::of_one(), way.end()) };
        Ok(self.follow(key, replay, &way, base).await?.0)
    }

    /// Goes to the end of a way with all that goes along, from a snapshot, else from the first entry on.
    async fn follow(
        &self,
        key: ProgramKey,
        mut replay: Replay,
        way: &Way,
        base: Option<Base>,
    ) -> Result<(Tip, Replay, Option<Arc<State>>), Error> {
        let first = base.as_ref().map(|base| Arc::clone(&base.entry));
        let branch = first.as_ref().map_or(MAIN_BRANCH, |first| first.branch);
        let name = first.and_then(|first| first.branch_name.as_deref().map(Arc::from));
        let base = base.map(|Base { state, entry }| {
            replay.start(entry, state.program.clone());
            Arc::new(state)
        });
        let State { line, provenance, .. } = base.as_deref().cloned().unwrap_or_else(State::before_all);
        replay.along = Some(Along { branch, name, line, provenance });
        let mut replay = self.replay(key, replay, way).await?;
        let (Some(revision), Some(along)) = (replay.revisions.newest().cloned(), replay.along.take()) else {
            return Err(damaged(replay.id, replay.number, "no content"));
        };
        let Along { branch, name, line, provenance } = along;
        Ok((Tip { branch, name, revision, line, provenance }, replay, base))
    }

    /// The checkpoints and branches of a program: those that a snapshot of an entry notes, and what became of them since.
    async fn marks(
        &self,
        key: ProgramKey,
        noted: Option<(u64, Option<Vec<u64>>)>,
    ) -> Result<(Checkpoints, Branches), Error> {
        let (after, noted) = match noted {
            Some((number, Some(marks))) => (number, marks),
            Some((_, None)) | None => (0, Vec::new()),
        };
        let (mut checkpoints, mut branches) = (Checkpoints::default(), Branches::default());
        let mut rows = Vec::new();
        for numbers in noted.chunks(MARKS) {
            rows.extend(self.store().headers(key, numbers).await?);
        }
        rows.extend(self.store().marks(key, after).await?);
        for row in rows {
            let entry = records::header(self, row).await?;
            checkpoints.follow(&entry);
            branches.follow(&entry, None);
        }
        Ok((checkpoints, branches))
    }

    /// Takes in what the log has beyond the head: entries of other processes, and those that were stored and could not be
    /// answered.
    pub(crate) async fn take_in_tail(&self, open: &OpenProgram) -> Result<(), Error> {
        let mut writer = open.timeline.writer.lock().await;
        self.take_in(open, &mut writer).await
    }

    /// As [`Engine::take_in_tail`], for whoever has the writer.
    pub(crate) async fn take_in(&self, open: &OpenProgram, writer: &mut Writer) -> Result<(), Error> {
        let timeline = &open.timeline;
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
                let revision = self.made_by(open, &head, &entry, bytes).await?;
                let next = match (&revision, entry.kind) {
                    (Some(revision), _) => Next::Content(Arc::clone(revision)),
                    (None, RevisionKind::Branch) => Next::Branch(None),
                    (None, _) => Next::Mark,
                };
                head = Arc::new(head.after(&entry, &next)?);
                let next_ref = timeline.refs().watermark().max(entry.next_ref);
                timeline.set_refs(RefAllocator::starting_at(next_ref));
                timeline.advance(Arc::clone(&head), revision, bytes);
                writer.head = Arc::clone(&head);
                open.tell(Event::Entry(entry), bytes);
            }
        }
    }

    /// What an entry after a head makes of the content of its branch; nothing for one that makes nothing of it.
    async fn made_by(
        &self,
        open: &OpenProgram,
        head: &Head,
        entry: &Arc<Entry>,
        bytes: usize,
    ) -> Result<Option<Arc<Revision>>, Error> {
        if !changes_content(entry.kind) {
            return Ok(None);
        }
        let tip = match head.branches.numbered(entry.branch) {
            Some(branch) => self.tip(open, head, &branch.name.clone()).await?,
            None => head.main.clone(),
        };
        let mut replay = blank(open.timeline.id(), Window::of_one(), entry.number);
        replay.push(tip.revision, 0);
        let entry = Arc::clone(entry);
        let work = move || {
            replay.take(entry, bytes)?;
            Ok(replay.revisions.newest().cloned())
        };
        // Applying and checking may take long: not on the runtime's threads.
        self.compute(work).await?
    }

    /// Builds the state after an entry again, from the nearest one before it that is in memory or in a snapshot.
    pub(crate) async fn rebuild(&self, open: &OpenProgram, to: u64) -> Result<Option<Arc<Revision>>, Error> {
        let (key, id) = (open.timeline.key(), open.timeline.id());
        let way = self.way(open, to).await?;
        let mut replay = Replay { like: Some(newest(open)), ..blank(id, Window::of_one(), way.end()) };
        let near = open.timeline.older_on(&way);
        let first = near.as_ref().map_or(1, |near| near.entry.number + 1);
        match (self.base(key, id, &way, first).await?, near) {
            (Some(Base { state, entry }), _) => replay.start(entry, state.program),
            (None, Some(near)) => replay.push(near, 0),
            (None, None) => {}
        }
        Ok(self.replay(key, replay, &way).await?.revisions.newest().cloned())
    }

    /// Takes the entries on a way after the newest one that was taken.
    async fn replay(&self, key: ProgramKey, mut replay: Replay, way: &Way) -> Result<Replay, Error> {
        for mut stretch in way.after(replay.number) {
            loop {
                let rows = self.store().entries_on(key, &stretch, CHUNK).await?;
                let Some(last) = rows.last().map(|row| row.seq) else { break };
                stretch.entries = last + 1..=*stretch.entries.end();
                let mut entries = Vec::with_capacity(rows.len());
                for row in rows {
                    let bytes = row.edits.len();
                    entries.push((Arc::new(records::from_row(self, row).await?), bytes));
                }
                // Applying and checking take long: not on the runtime's threads.
                let work = move || {
                    entries.into_iter().try_for_each(|(entry, bytes)| replay.take(entry, bytes))?;
                    Ok::<Replay, Error>(replay)
                };
                replay = self.compute(work).await??;
            }
        }
        if replay.number < way.end() {
            return Err(damaged(replay.id, replay.number + 1, "the entry is missing"));
        }
        let work = move || {
            replay.verify(0);
            replay
        };
        self.compute(work).await
    }

    /// The newest snapshot of an entry on a way, from a number on, that can be read.
    async fn base(&self, key: ProgramKey, id: Uuid, way: &Way, from: u64) -> Result<Option<Base>, Error> {
        let mut at_most = way.end();
        loop {
            let snapshots = self.store().snapshots(key, at_most, SNAPSHOTS).await?;
            let Some(oldest) = snapshots.last().map(|snapshot| snapshot.seq) else { return Ok(None) };
            for snapshot in snapshots.iter().take_while(|snapshot| snapshot.seq >= from) {
                let row = self.store().header(key, snapshot.seq).await?;
                let row = row.ok_or_else(|| damaged(id, snapshot.seq, "the entry is missing"))?;
                let entry = Arc::new(records::header(self, row).await?);
                if !way.holds(&entry) {
                    continue;
                }
                let state = match self.read_snapshot(id, snapshot).await {
                    Ok(state) => state,
                    Err(error @ Error::Damaged { .. }) => {
                        tracing::warn!(program = %id, number = snapshot.seq, %error, "a snapshot is left aside");
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                return Ok(Some(Base { state, entry }));
            }
            if oldest <= from {
                return Ok(None);
            }
            at_most = oldest - 1;
        }
    }
}

/// A replay from before the first entry up to one, after which the revisions that are kept are of interest.
fn blank(id: Uuid, revisions: Window, end: u64) -> Replay {
    Replay {
        id,
        number: 0,
        newest: None,
        program: Program::new(),
        checked: None,
        wanted: (end + 1).saturating_sub(revisions.most()),
        like: None,
        revisions,
        along: None,
        entries: 0,
        bytes: 0,
    }
}

/// The newest state of `main`.
fn newest(open: &OpenProgram) -> Checked {
    open.timeline.head().main.revision.checked.clone()
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
