//! One open program: its committed states, which everybody reads, and its tentative ones, which the writer builds on.
//!
//! ```text
//! caller ── writer lock ── apply, verify ── submit ──▶ committer (store, all programs)
//!                                 │                         │ ticket
//!                                 └── queue, in order ──▶ publisher ── head moves, event, answer
//! ```
//!
//! The writer appends to a tentative head and lets go of its lock before the database has answered, so a hot program
//! groups its entries like many programs do. The publisher is one task per open program: it awaits the tickets in
//! order, moves the committed head, tells subscribers and answers callers, whether or not the caller is still there.
//! When an entry fails, what was built on it is told to try again on the committed head.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use lmlang_history::log::{Entry, Header};
use lmlang_history::revision::MAIN;
use lmlang_ir::RefAllocator;
use lmlang_store::{Append, CommitError, Committer, Hold, ProgramKey, Ticket};
use lmlang_verify::Checked;
use tokio::sync::{Mutex, MutexGuard, mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::branches::{Branches, MAIN_BRANCH, Tip, Way};
use crate::catalog::ProgramInfo;
use crate::checkpoints::Checkpoints;
use crate::engine::Engine;
use crate::error::Error;
use crate::events::Event;
use crate::eviction::node_bytes;
use crate::feed::Feed;
use crate::live::{Listener, Live};
use crate::request::Call;
use crate::snapshots::Snapshots;
use crate::window::Window;
use crate::writing::Next;

/// One state of a program, with the entry of the log that led to it.
#[derive(Debug)]
pub struct Revision {
    /// What happened; its edits are in the log.
    pub entry: Arc<Header>,
    /// The state after it, verified.
    pub checked: Checked,
}

/// Everything about a program after one entry of its log.
#[derive(Clone, Debug)]
pub struct Head {
    /// The number of the newest entry, on whatever branch, checkpoints included.
    pub last: u64,
    /// Its id.
    pub last_id: Uuid,
    /// The newest state of `main`.
    pub main: Tip,
    /// The other branches by name.
    pub branches: Branches,
    /// The checkpoints by name.
    pub checkpoints: Checkpoints,
}

impl Head {
    /// The newest state of the branch with a number, if it is in memory.
    pub fn tip(&self, branch: u32) -> Option<&Tip> {
        match branch {
            MAIN_BRANCH => Some(&self.main),
            other => self.branches.numbered(other).and_then(|branch| branch.tip()),
        }
    }

    /// The number of the branch with a name.
    pub fn number_of(&self, name: &str) -> Option<u32> {
        match name == MAIN {
            true => Some(MAIN_BRANCH),
            false => self.branches.get(name).map(|branch| branch.number),
        }
    }

    /// The head after the next entry.
    pub(crate) fn after(&self, entry: &Entry, next: &Next) -> Result<Head, Error> {
        let main = match next {
            Next::Content(revision) if entry.branch == MAIN_BRANCH => {
                self.main.after(entry, Arc::clone(revision))?
            }
            Next::Content(_) | Next::Branch(_) | Next::Mark => self.main.clone(),
        };
        let (last, last_id) = (entry.number, Uuid::from_bytes(entry.id));
        let (branches, checkpoints) = (self.branches.clone(), self.checkpoints.clone());
        let mut head = Head { last, last_id, main, branches, checkpoints };
        match next {
            Next::Mark => head.checkpoints.follow(entry),
            Next::Branch(tip) => head.branches.follow(entry, tip.as_deref().cloned()),
            Next::Content(_) if entry.branch == MAIN_BRANCH => {}
            Next::Content(revision) => {
                let before = self.tip(entry.branch);
                let tip = before.map(|tip| tip.after(entry, Arc::clone(revision))).transpose()?;
                head.branches.advance(entry.branch, tip);
            }
        }
        Ok(head)
    }
}

/// What a writer changes under its lock.
#[derive(Debug)]
pub(crate) struct Writer {
    /// The state after the newest submitted entry.
    pub(crate) head: Arc<Head>,
    /// Until when other processes are kept from the log while something is planned: one was faster a moment ago.
    pub(crate) contended: Option<Instant>,
    /// What keeps them from it at the moment, with what was submitted meanwhile.
    pub(crate) hold: Option<Hold>,
    /// Keys of the newest entries made since the program was opened; older ones are known to the log's index.
    pub(crate) keys: HashMap<Vec<u8>, u64>,
}

/// Entries whose keys are in memory at least; twice as many at most.
const KEYS: u64 = 1_024;

impl Writer {
    /// The number of the entry that a call with the same key has made since the program was opened.
    pub(crate) fn number_of(&self, call: &Call) -> Option<u64> {
        self.keys.get(&call.idempotency.as_ref()?.key).copied()
    }
}

#[derive(Debug)]
struct Committed {
    head: Arc<Head>,
    /// Recent revisions.
    window: Window,
}

/// Why a submitted entry was not stored.
#[derive(Clone, Debug)]
pub(crate) enum Refused {
    /// What it was built on was not stored: apply again on the committed head.
    Again,
    /// The idempotency key belongs to an older entry.
    KeyTaken(u64),
    /// The database could not do it.
    Failed(Error),
}

/// An entry that is on its way to the database, with what it made of the content.
type Submitted = (Arc<Entry>, Option<Arc<Revision>>);

type Answer = oneshot::Sender<Result<(), Refused>>;

enum Queued {
    Entry {
        head: Arc<Head>,
        /// What it made of the content, if anything.
        revision: Option<Arc<Revision>>,
        ticket: Ticket,
        event: Event,
        bytes: usize,
        answer: Answer,
    },
    /// An answer that depends on what was submitted before it.
    Barrier(Answer),
}

/// Older states that are kept for the next question about them.
const OLDER: usize = 16;

/// Bytes that older states take, about: each was built by itself.
fn bytes_of(older: &VecDeque<Arc<Revision>>) -> u64 {
    older.iter().map(|revision| node_bytes(revision.checked.program().totals().counts.nodes)).sum()
}

/// An open program.
#[derive(Debug)]
pub struct Timeline {
    info: RwLock<Arc<ProgramInfo>>,
    committer: Committer,
    pub(crate) writer: Mutex<Writer>,
    /// Where new refs come from. Only the holder of the writer's lock sets it.
    refs: std::sync::Mutex<RefAllocator>,
    /// Entries that are submitted and not stored yet, oldest first, with what they made of the content.
    tentative: std::sync::Mutex<VecDeque<Submitted>>,
    committed: RwLock<Committed>,
    /// Older states that somebody asked for lately.
    older: std::sync::Mutex<VecDeque<Arc<Revision>>>,
    /// Bytes that these take at most, beyond the newest of them.
    older_bytes: u64,
    /// When the next snapshot is due.
    pub(crate) snapshots: Snapshots,
    queue: mpsc::UnboundedSender<Queued>,
    events: Live<Event>,
    /// Where the events of all programs go.
    feed: Feed,
    used: AtomicU64,
    /// Cancelled when the program is deleted.
    gone: CancellationToken,
}

/// Waits until what was submitted is stored.
#[must_use]
pub(crate) struct Pending(oneshot::Receiver<Result<(), Refused>>);

impl Pending {
    /// Answers when the entry, or all that came before a barrier, is durable and visible.
    pub(crate) async fn stored(self) -> Result<(), Refused> {
        self.0.await.unwrap_or(Err(Refused::Failed(Error::Closed)))
    }
}

impl Timeline {
    /// Opens a timeline at a committed state and starts its publisher, which ends when the last handle is dropped or the
    /// engine closes.
    pub(crate) fn start(
        engine: &Engine,
        info: Arc<ProgramInfo>,
        head: Head,
        window: Window,
        refs: RefAllocator,
        snapshots: Snapshots,
    ) -> Arc<Timeline> {
        let (limits, head) = (engine.limits(), Arc::new(head));
        let (queue, queued) = mpsc::unbounded_channel();
        let timeline = Arc::new(Timeline {
            info: RwLock::new(info),
            committer: engine.store().committer().clone(),
            writer: Mutex::new(Writer {
                head: Arc::clone(&head),
                contended: None,
                hold: None,
                keys: HashMap::new(),
            }),
            refs: std::sync::Mutex::new(refs),
            tentative: std::sync::Mutex::default(),
            committed: RwLock::new(Committed { head, window }),
            older: std::sync::Mutex::default(),
            older_bytes: limits.revision_bytes_in_memory,
            snapshots,
            queue,
            events: Live::new(limits.events_in_memory, limits.event_bytes_in_memory),
            feed: engine.0.feed.clone(),
            used: AtomicU64::new(0),
            gone: CancellationToken::new(),
        });
        let weak = Arc::downgrade(&timeline);
        engine.spawn_publisher(|quiet| publish(weak, queued, quiet));
        timeline
    }

    /// Whether nothing is being written, and nothing is on its way to the database.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.writer.try_lock().is_ok()
            && self.tentative.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// When it was last used, by the count of uses of all programs.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn use_at(&self, count: u64) {
        self.used.store(count, Ordering::Relaxed);
    }

    /// Cancelled when the program is deleted, for what would go on without it.
    pub(crate) fn gone(&self) -> &CancellationToken {
        &self.gone
    }

    /// The program's row in the catalogue.
    pub fn info(&self) -> Arc<ProgramInfo> {
        Arc::clone(&self.info.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn set_info(&self, info: ProgramInfo) {
        *self.info.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(info);
    }

    /// The program's key in the store.
    pub fn key(&self) -> ProgramKey {
        self.info().key
    }

    /// The program's id.
    pub fn id(&self) -> Uuid {
        self.info().id
    }

    /// The newest committed state.
    pub fn head(&self) -> Arc<Head> {
        Arc::clone(&self.committed.read().unwrap_or_else(PoisonError::into_inner).head)
    }

    /// A recent revision by number, if it is still in memory.
    pub(crate) fn recent(&self, number: u64) -> Option<Arc<Revision>> {
        let committed = self.committed.read().unwrap_or_else(PoisonError::into_inner);
        committed.window.get(number).map(Arc::clone)
    }

    /// The state that an entry made, if it is in memory: at that entry, at one that is not stored yet, or where an undo,
    /// redo or restore went back to it.
    pub(crate) fn made(&self, number: u64) -> Option<Checked> {
        let is_it = |revision: &&Arc<Revision>| {
            let entry = &revision.entry;
            entry.number == number || entry.kind.takes_target_state() && entry.target == Some(number)
        };
        let tentative = self.tentative.lock().unwrap_or_else(PoisonError::into_inner);
        let found = tentative
            .iter()
            .filter_map(|(_, revision)| revision.as_ref())
            .find(is_it)
            .map(|revision| revision.checked.clone());
        drop(tentative);
        found.or_else(|| {
            let committed = self.committed.read().unwrap_or_else(PoisonError::into_inner);
            committed.window.newest_first().find(is_it).map(|revision| revision.checked.clone())
        })
    }

    /// The entry with a number, if it is submitted and not stored yet. For those who plan on the writer's head only.
    pub(crate) fn submitted(&self, number: u64) -> Option<Arc<Entry>> {
        let tentative = self.tentative.lock().unwrap_or_else(PoisonError::into_inner);
        tentative.iter().map(|(entry, _)| entry).find(|entry| entry.number == number).map(Arc::clone)
    }

    /// The counter that the next refs come from.
    pub(crate) fn refs(&self) -> RefAllocator {
        self.refs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the counter; only the holder of the writer's lock does.
    pub(crate) fn set_refs(&self, refs: RefAllocator) {
        *self.refs.lock().unwrap_or_else(PoisonError::into_inner) = refs;
    }

    /// An older state, if somebody asked for it lately.
    pub(crate) fn older(&self, number: u64) -> Option<Arc<Revision>> {
        let older = self.older.lock().unwrap_or_else(PoisonError::into_inner);
        older.iter().find(|revision| revision.entry.number == number).map(Arc::clone)
    }

    /// The newest state on a way that is kept because somebody asked for it lately.
    pub(crate) fn older_on(&self, way: &Way) -> Option<Arc<Revision>> {
        let older = self.older.lock().unwrap_or_else(PoisonError::into_inner);
        let on_way = older.iter().filter(|revision| way.holds(&revision.entry));
        on_way.max_by_key(|revision| revision.entry.number).map(Arc::clone)
    }

    /// Keeps an older state for a while.
    pub(crate) fn keep(&self, revision: Arc<Revision>) {
        let mut older = self.older.lock().unwrap_or_else(PoisonError::into_inner);
        older.push_back(revision);
        while older.len() > OLDER || older.len() > 1 && bytes_of(&older) > self.older_bytes {
            older.pop_front();
        }
    }

    /// Bytes of memory that it takes beside its newest state, about.
    pub(crate) fn bytes_beside(&self) -> u64 {
        let window = self.committed.read().unwrap_or_else(PoisonError::into_inner).window.bytes();
        window + bytes_of(&self.older.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Events from now on.
    pub(crate) fn listen(&self) -> Listener<Event> {
        self.events.listen()
    }

    /// Tells subscribers; see [`OpenProgram::tell`].
    pub(crate) fn tell(&self, event: Event, bytes: usize) {
        self.feed.tell(self.id(), &event, bytes);
        self.events.tell(event, bytes);
    }

    /// Submits the entry that leads from the writer's head to a new one, with the revision of the content that it makes,
    /// and moves the writer on.
    pub(crate) fn submit(
        &self,
        writer: &mut Writer,
        head: Arc<Head>,
        (entry, revision): Submitted,
        refs: RefAllocator,
        stored: lmlang_store::Entry,
    ) -> Pending {
        if let Some(idempotency) = &stored.idempotency {
            writer.keys.insert(idempotency.key.clone(), stored.seq);
            if writer.keys.len() as u64 > 2 * KEYS {
                let oldest = stored.seq.saturating_sub(KEYS);
                writer.keys.retain(|_, seq| *seq > oldest);
            }
        }
        let bytes = stored.edits.len();
        let append = Append { program: self.key(), after: writer.head.last_id, entries: vec![stored] };
        let ticket = match &mut writer.hold {
            Some(hold) => hold.append(append),
            None => self.committer.submit(append),
        };
        writer.head = Arc::clone(&head);
        self.set_refs(refs);
        let mut tentative = self.tentative.lock().unwrap_or_else(PoisonError::into_inner);
        tentative.push_back((Arc::clone(&entry), revision.clone()));
        drop(tentative);
        let (answer, pending) = oneshot::channel();
        let event = Event::Entry(entry);
        self.enqueue(Queued::Entry { head, revision, ticket, event, bytes, answer });
        Pending(pending)
    }

    /// Stores what was submitted while the log was held, when those who wait for the writer now have had it.
    pub(crate) async fn let_others_in(&self) {
        drop(self.unheld().await);
    }

    /// The writer, while nobody is kept from the log: what was submitted until then is on its way.
    pub(crate) async fn unheld(&self) -> MutexGuard<'_, Writer> {
        let mut writer = self.writer.lock().await;
        if let Some(hold) = writer.hold.take() {
            self.committer.settle(hold);
        }
        writer
    }

    /// Waits for all that was submitted so far.
    pub(crate) fn barrier(&self) -> Pending {
        let (answer, pending) = oneshot::channel();
        self.enqueue(Queued::Barrier(answer));
        Pending(pending)
    }

    fn enqueue(&self, queued: Queued) {
        // The publisher ends with the timeline; a refused item drops its answer, which the caller reads as closed.
        self.queue.send(queued).ok();
    }

    /// Moves the committed head on, by an entry with edits of so many bytes and what it made of the content.
    pub(crate) fn advance(&self, head: Arc<Head>, revision: Option<Arc<Revision>>, edits: usize) {
        let mut committed = self.committed.write().unwrap_or_else(PoisonError::into_inner);
        let surplus = revision.map(|revision| committed.window.push(revision, edits));
        let before = std::mem::replace(&mut committed.head, head);
        drop(committed);
        // Dropped after the lock: freeing the last handle of an old state takes time.
        drop((surplus, before));
    }
}

/// Awaits tickets in order for as long as the timeline is there, and until all is quiet.
async fn publish(
    timeline: std::sync::Weak<Timeline>,
    mut queued: mpsc::UnboundedReceiver<Queued>,
    quiet: CancellationToken,
) {
    loop {
        let next = tokio::select! {
            biased;
            next = queued.recv() => next,
            () = quiet.cancelled() => None,
        };
        let Some(next) = next else { return };
        let Some(timeline) = timeline.upgrade() else { return };
        match next {
            Queued::Barrier(answer) => {
                answer.send(Ok(())).ok();
            }
            Queued::Entry { head, revision, ticket, event, bytes, answer } => match ticket.await {
                Ok(()) => {
                    timeline.advance(head, revision, bytes);
                    drop(timeline.tentative.lock().unwrap_or_else(PoisonError::into_inner).pop_front());
                    timeline.tell(event, bytes);
                    answer.send(Ok(())).ok();
                }
                Err(error) => {
                    let refused = match error {
                        CommitError::KeyTaken { seq } => Refused::KeyTaken(seq),
                        CommitError::OutOfOrder { .. } => Refused::Again,
                        CommitError::NoProgram => {
                            Refused::Failed(Error::not_found("program", timeline.id().to_string()))
                        }
                        CommitError::Storage(fault) => Refused::Failed(Error::Storage(fault)),
                    };
                    roll_back(&timeline, &mut queued, answer, refused).await;
                }
            },
        }
    }
}

/// Puts the writer back to the committed head and tells everybody who built on the failed entry to try again.
async fn roll_back(
    timeline: &Timeline,
    queued: &mut mpsc::UnboundedReceiver<Queued>,
    failed: Answer,
    refused: Refused,
) {
    let mut writer = timeline.writer.lock().await;
    let mut again = Vec::new();
    while let Ok(next) = queued.try_recv() {
        match next {
            Queued::Barrier(answer) => again.push(answer),
            Queued::Entry { ticket, answer, .. } => {
                // The store refuses what does not continue its log.
                if ticket.await.is_ok() {
                    tracing::error!(program = %timeline.id(), "an entry was stored after one that it builds on had failed");
                }
                again.push(answer);
            }
        }
    }
    timeline.tentative.lock().unwrap_or_else(PoisonError::into_inner).clear();
    writer.head = timeline.head();
    let last = writer.head.last;
    writer.keys.retain(|_, seq| *seq <= last);
    drop(writer);
    failed.send(Err(refused)).ok();
    for answer in again {
        answer.send(Err(Refused::Again)).ok();
    }
}
