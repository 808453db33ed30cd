//! States beside the log, written in the background, so that opening a program reads little of its log.

use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lmlang_history::snapshot::{self, Reading, SnapshotError, State, write};
use lmlang_store::{Object, ProgramKey, Snapshot};
use uuid::Uuid;

use crate::branches::Tip;
use crate::config::SnapshotPolicy;
use crate::engine::{Engine, OpenProgram};
use crate::error::Error;
use crate::opening::damaged;
use crate::timeline::{Head, Timeline};

/// How long a closing engine goes on beginning to write snapshots.
const LAST_SNAPSHOTS: Duration = Duration::from_secs(2);

/// What a program's snapshots are decided by.
#[derive(Debug, Default)]
pub(crate) struct Snapshots(Mutex<Progress>);

#[derive(Debug, Default)]
struct Progress {
    /// The newest one: the next writes what this one does not have.
    newest: Option<Arc<State>>,
    /// Bytes that it added to the database; unknown, and taken for none, after a restart.
    written: u64,
    /// Entries of the log since it, and bytes of their edits.
    entries: u64,
    bytes: u64,
    /// The branch of the newest of them.
    branch: u32,
    writing: bool,
}

/// A snapshot that is due. Who is given it writes it and calls `Snapshots::end`.
#[derive(Debug)]
struct Due {
    /// The branch whose newest state is to be written.
    branch: u32,
    /// The one before.
    earlier: Option<Arc<State>>,
}

impl Progress {
    /// Whether a snapshot would save opening much.
    fn is_worth_it(&self, policy: &SnapshotPolicy) -> bool {
        !self.writing && (self.entries >= policy.entries || self.bytes >= policy.bytes)
    }

    fn is_due(&self, policy: &SnapshotPolicy) -> bool {
        // What snapshots add stays a share of what the log adds, however large the program is.
        self.is_worth_it(policy) && self.bytes >= policy.share * self.written
    }

    fn begin(&mut self) -> Due {
        self.writing = true;
        (self.entries, self.bytes) = (0, 0);
        Due { branch: self.branch, earlier: self.newest.clone() }
    }
}

impl Snapshots {
    /// Those of a program that was opened from one, with the entries of the log since then.
    pub(crate) fn continued(newest: Option<Arc<State>>, entries: u64, bytes: u64) -> Snapshots {
        Snapshots(Mutex::new(Progress { newest, entries, bytes, ..Progress::default() }))
    }

    /// Counts an entry. Answers what is due now.
    fn begin(&self, branch: u32, bytes: usize, policy: &SnapshotPolicy) -> Option<Due> {
        let mut progress = self.progress();
        progress.entries += 1;
        progress.bytes += bytes as u64;
        progress.branch = branch;
        progress.is_due(policy).then(|| progress.begin())
    }

    /// As `begin`, at the end: whatever the share.
    fn begin_last(&self, policy: &SnapshotPolicy) -> Option<Due> {
        let mut progress = self.progress();
        progress.is_worth_it(policy).then(|| progress.begin())
    }

    /// Takes the state that was written, and the bytes that it took. Answers what became due meanwhile: there may be no entry
    /// after it to ask again.
    fn end(&self, (state, bytes): (Arc<State>, u64), policy: &SnapshotPolicy) -> Option<Due> {
        let mut progress = self.progress();
        progress.writing = false;
        (progress.newest, progress.written) = (Some(state), bytes);
        progress.is_due(policy).then(|| progress.begin())
    }

    /// Nothing was written. A later entry tries again: the log alone is enough to open the program.
    fn give_up(&self) {
        self.progress().writing = false;
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Counts an entry on a branch with edits of a size, and writes a snapshot of the branch in the background when one is
    /// due.
    pub(crate) fn snapshot_if_due(&self, open: &OpenProgram, branch: u32, bytes: usize) {
        let Some(due) = open.timeline.snapshots.begin(branch, bytes, &self.0.snapshots) else { return };
        let state = Arc::new(newest_state(&open.timeline, due.branch));
        let (engine, timeline) = (self.clone(), Arc::clone(&open.timeline));
        self.spawn(async move {
            let mut next = Some((state, due.earlier));
            while let Some((state, earlier)) = next.take() {
                match engine.write_snapshot(timeline.key(), Arc::clone(&state), earlier).await {
                    Ok(bytes) => {
                        let due = timeline.snapshots.end((state, bytes), &engine.0.snapshots);
                        next = due.map(|due| (Arc::new(newest_state(&timeline, due.branch)), due.earlier));
                    }
                    Err(error) => {
                        let (program, number) = (timeline.id(), state.number);
                        tracing::warn!(%program, number, %error, "a snapshot could not be written");
                        timeline.snapshots.give_up();
                    }
                }
            }
        });
    }

    /// Writes snapshots of programs that are closed with many entries after the last one, as far as there is time: who opens
    /// them next need not read those again.
    pub(crate) async fn write_last_snapshots(&self) {
        let start = Instant::now();
        for open in self.all_opened() {
            let Some(due) = open.timeline.snapshots.begin_last(&self.0.snapshots) else { continue };
            let head = open.timeline.head();
            let state = Arc::new(state_of(&head, &head.main));
            if let Err(error) = self.write_snapshot(open.timeline.key(), state, due.earlier).await {
                tracing::warn!(program = %open.timeline.id(), %error, "a last snapshot could not be written");
            }
            if start.elapsed() > LAST_SNAPSHOTS {
                return;
            }
        }
    }

    /// Writes a snapshot of the newest state of `main`.
    pub(crate) async fn write_newest_snapshot(&self, open: &OpenProgram) -> Result<(), Error> {
        let head = open.timeline.head();
        let state = Arc::new(state_of(&head, &head.main));
        self.write_snapshot(open.timeline.key(), state, None).await.map(drop)
    }

    /// Writes a snapshot, and answers how many bytes it adds to the database.
    async fn write_snapshot(
        &self,
        program: ProgramKey,
        state: Arc<State>,
        earlier: Option<Arc<State>>,
    ) -> Result<u64, Error> {
        let seq = state.number;
        let encode = move || {
            let written = write(&state, earlier.as_deref());
            (written.root, packed(written.objects))
        };
        let (root, objects) = self.compute(encode).await?;
        // The root has the whole undo line.
        let bytes = root.len() as u64 + objects.iter().map(|object| object.bytes.len() as u64).sum::<u64>();
        self.store().put_snapshot(Snapshot { program, seq, root }, objects).await?;
        Ok(bytes)
    }

    /// The state that a snapshot holds.
    pub(crate) async fn read_snapshot(&self, id: Uuid, stored: &Snapshot) -> Result<State, Error> {
        let unreadable =
            |error: SnapshotError| damaged(id, stored.seq, &format!("its snapshot cannot be read: {error}"));
        let mut reading = Reading::open(&stored.root, stored.seq).map_err(unreadable)?;
        loop {
            let objects = self.store().objects(&reading.wanted()).await?;
            let last = objects.is_empty();
            // Decoding takes long: not on the runtime's threads.
            let work = move || {
                objects.into_iter().try_for_each(|object| {
                    let bytes = unpacked(&object)?;
                    reading.take(&object.hash, &bytes)
                })?;
                Ok(reading)
            };
            reading = self.compute(work).await?.map_err(unreadable)?;
            if last {
                let work = move || reading.finish();
                let state = self.compute(work).await?;
                return state.map_err(unreadable);
            }
        }
    }
}

/// The newest state of a branch; that of `main`, where nothing has been done on it yet: it has a state of another one.
fn newest_state(timeline: &Timeline, branch: u32) -> State {
    let head = timeline.head();
    let tip = head.tip(branch).filter(|tip| tip.revision.entry.branch == branch).unwrap_or(&head.main);
    state_of(&head, tip)
}

/// What a snapshot of a branch holds.
fn state_of(head: &Head, tip: &Tip) -> State {
    let number = tip.revision.entry.number;
    // The head may have marks beyond the content of the branch; opening takes them in once more.
    let checkpoints = head.checkpoints.iter().map(|checkpoint| checkpoint.entry);
    let branches = head.branches.iter().map(|branch| u64::from(branch.number));
    let mut marks: Vec<u64> = checkpoints.chain(branches).filter(|entry| *entry <= number).collect();
    marks.sort_unstable();
    State {
        number,
        marks: Some(marks),
        program: tip.revision.checked.program().clone(),
        next_ref: tip.revision.entry.next_ref,
        line: tip.line.clone(),
        provenance: tip.provenance.clone(),
    }
}

/// The forms of objects in the database.
const PLAIN: u8 = 2;
const ZSTD: u8 = 3;

/// Little effort: snapshots are written often and read seldom.
const LEVEL: i32 = 1;

/// The largest object that is read; parts hold 256 keys.
const MAX_BYTES: u64 = 256 << 20;

fn packed(objects: Vec<snapshot::Object>) -> Vec<Object> {
    // Without a compressor (there is no memory for it) objects stay plain.
    let mut compressor = zstd::bulk::Compressor::new(LEVEL).ok();
    let mut pack = |snapshot::Object { key, bytes }| {
        let shorter = compressor.as_mut().and_then(|compressor| compressor.compress(&bytes).ok());
        match shorter.filter(|shorter| shorter.len() < bytes.len()) {
            Some(bytes) => Object { hash: key, version: ZSTD, bytes },
            None => Object { hash: key, version: PLAIN, bytes },
        }
    };
    objects.into_iter().map(&mut pack).collect()
}

fn unpacked(object: &Object) -> Result<std::borrow::Cow<'_, [u8]>, SnapshotError> {
    match object.version {
        PLAIN => Ok(object.bytes.as_slice().into()),
        ZSTD => {
            let mut bytes = Vec::new();
            let read = zstd::Decoder::new(object.bytes.as_slice())
                .and_then(|decoder| decoder.take(MAX_BYTES).read_to_end(&mut bytes));
            let damaged = |_| SnapshotError::Damaged { at: 0, what: "compressed bytes" };
            read.map(|_| bytes.into()).map_err(damaged)
        }
        other => Err(SnapshotError::Version(other)),
    }
}

/// The objects that an object names; none for one that cannot be read.
pub(crate) fn references(object: &Object) -> Vec<lmlang_store::ObjectHash> {
    let bytes = unpacked(object).ok();
    bytes.and_then(|bytes| snapshot::references(&bytes).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lmlang_history::snapshot::State;

    use super::Snapshots;
    use crate::config::SnapshotPolicy;

    #[test]
    fn what_becomes_due_while_one_is_written_is_begun_when_that_ends() {
        let policy = SnapshotPolicy { entries: 2, bytes: u64::MAX, share: 0 };
        let snapshots = Snapshots::default();
        let count = |branch| snapshots.begin(branch, 1, &policy).map(|due| due.branch);
        assert_eq!((count(0), count(0)), (None, Some(0)));
        // One at a time.
        assert_eq!((count(0), count(0), count(7)), (None, None, None));
        let written = || (Arc::new(State::before_all()), 1);
        assert_eq!(snapshots.end(written(), &policy).map(|due| due.branch), Some(7));
        assert_eq!(count(0), None);
        assert!(snapshots.end(written(), &policy).is_none());
        assert_eq!(count(3), Some(3));
        snapshots.give_up();
        assert_eq!((count(0), count(0)), (None, Some(0)));
    }
}
