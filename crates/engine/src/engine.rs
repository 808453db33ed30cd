//! The engine: the programs that are open, and what they share.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use lmlang_store::Store;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::case_runner::CaseRuns;
use crate::catalog::ProgramInfo;
use crate::clock::Clock;
use crate::config::{Limits, SnapshotPolicy};
use crate::entities;
use crate::error::{Error, joined};
use crate::events::Event;
use crate::feed::Feed;
use crate::flows::Flows;
use crate::import_room;
use crate::keyring::Keyring;
use crate::manager::ManagerState;
use crate::opening::threads;
use crate::places::Share;
use crate::sealed::CursorSecret;
use crate::simulate::Simulations;
use crate::timeline::{Refused, Timeline};
use crate::tournament::Tournaments;

/// The use cases of lmlang over one database. A clone is a handle to the same engine.
///
/// A handle can be limited to some programs: to it, there are no others. And it can be that of one caller, whose runs are
/// counted.
#[derive(Clone, Debug)]
pub struct Engine(pub(crate) Arc<Inner>, Option<Arc<[Uuid]>>, Option<Arc<Share>>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) limits: Limits,
    pub(crate) snapshots: SnapshotPolicy,
    pub(crate) simulations: Simulations,
    pub(crate) case_runs: CaseRuns,
    pub(crate) tournaments: Tournaments,
    pub(crate) flows: Flows,
    /// Programs that are open or being opened: two callers never open one twice.
    open: RwLock<Opened>,
    uses: AtomicU64,
    /// The deleted program that was looked at last: whoever looks at one does so for many of its events.
    pub(crate) deleted: tokio::sync::Mutex<Option<OpenProgram>>,
    /// One permit for each processor.
    processors: Arc<Semaphore>,
    /// Whether the last look at what other processes do has failed.
    pub(crate) unreachable: AtomicBool,
    /// Whether an open program may lack what other processes did and nobody will tell of again.
    pub(crate) behind: AtomicBool,
    /// One permit: whose turn it is to make a backup.
    pub(crate) backups: Arc<Semaphore>,
    /// Held while programs are made, renamed and deleted, so that memory follows the database in its order.
    pub(crate) catalog: tokio::sync::Mutex<()>,
    /// Held while entities are changed: writers of this process take turns.
    pub(crate) entities: tokio::sync::Mutex<()>,
    /// What the built-in Manager keeps.
    pub(crate) manager: ManagerState,
    /// A permit for each question about entities that is being answered.
    pub(crate) entity_questions: Arc<Semaphore>,
    /// A permit for each thousand nodes that a module which is being taken in may become.
    pub(crate) imports: Arc<Semaphore>,
    /// The events of all programs.
    pub(crate) feed: Feed,
    pub(crate) keyring: Keyring,
    /// What cursors are sealed with for callers who may know of some programs only, once it was read.
    pub(crate) cursor_secret: OnceCell<CursorSecret>,
    tasks: TaskTracker,
    closing: CancellationToken,
    /// The publishers of open programs, which answer what is still being written while the engine closes.
    publishers: TaskTracker,
    /// Cancelled when nothing is being written any more.
    quiet: CancellationToken,
}

pub(crate) type Opened = HashMap<Uuid, Arc<OnceCell<OpenProgram>>>;

/// An open program. A clone is a handle to the same one.
#[derive(Clone, Debug)]
pub struct OpenProgram {
    /// Its states.
    pub timeline: Arc<Timeline>,
}

impl OpenProgram {
    /// Its name, doc and id.
    pub fn info(&self) -> Arc<ProgramInfo> {
        self.timeline.info()
    }

    /// A name that no branch has: the given one with a number behind it.
    pub fn free_branch(&self, name: &str) -> String {
        let head = self.timeline.head();
        let names = (1_u64..).map(|number| format!("{name}-{number}"));
        // There are fewer branches than numbers.
        let free = names.into_iter().find(|name| head.number_of(name).is_none());
        free.unwrap_or_else(|| name.to_owned())
    }

    /// The error of whoever goes on with a program that was deleted since it was opened.
    pub fn deleted(&self) -> Option<Error> {
        let given = self.timeline.id().to_string();
        let gone = Error::NotFound { what: "program", given, candidates: Vec::new(), retired: true };
        self.timeline.gone().is_cancelled().then_some(gone)
    }

    /// Tells subscribers, those of this program and those of all; `bytes` is what the event takes, about.
    pub(crate) fn tell(&self, event: Event, bytes: usize) {
        self.timeline.tell(event, bytes);
    }
}

/// How long a closing engine waits for answers to be given.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

impl Engine {
    /// Starts an engine over an open store. Must be called within a tokio runtime.
    pub fn new(store: Store, limits: Limits, snapshots: SnapshotPolicy) -> Engine {
        Engine::with_clock(store, limits, snapshots, Clock::default())
    }

    /// As [`Engine::new`], with a clock that can be set.
    pub fn with_clock(store: Store, limits: Limits, snapshots: SnapshotPolicy, clock: Clock) -> Engine {
        let simulations = Simulations::new(&limits);
        let feed = Feed::new(&limits);
        let flows = Flows::new(clock.id());
        let inner = Inner {
            store,
            clock,
            limits,
            snapshots,
            simulations,
            case_runs: CaseRuns::default(),
            tournaments: Tournaments::default(),
            flows,
            open: RwLock::default(),
            uses: AtomicU64::new(1),
            deleted: tokio::sync::Mutex::default(),
            processors: Arc::new(Semaphore::new(threads().get())),
            unreachable: AtomicBool::new(false),
            behind: AtomicBool::new(false),
            backups: Arc::new(Semaphore::new(1)),
            catalog: tokio::sync::Mutex::default(),
            entities: tokio::sync::Mutex::default(),
            manager: ManagerState::default(),
            entity_questions: Arc::new(Semaphore::new(entities::PARALLEL)),
            imports: Arc::new(Semaphore::new(import_room::THOUSANDS)),
            feed,
            keyring: Keyring::default(),
            cursor_secret: OnceCell::new(),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            publishers: TaskTracker::new(),
            quiet: CancellationToken::new(),
        };
        let engine = Engine(Arc::new(inner), None, None);
        if !engine.store().is_alone() {
            engine.follow_others();
        }
        engine.run_cases_behind();
        engine
    }

    /// The same engine for a caller with a share of the runs, who may know of these programs only, given in ascending order;
    /// without, of all.
    pub(crate) fn of_caller(&self, share: &Arc<Share>, only: Option<Arc<[Uuid]>>) -> Engine {
        Engine(Arc::clone(&self.0), only, Some(Arc::clone(share)))
    }

    /// The same engine without such limits, for what is done once for all callers.
    pub(crate) fn seeing_all(&self) -> Engine {
        Engine(Arc::clone(&self.0), None, None)
    }

    /// The same engine for what is about a program, and reaches no other one.
    pub(crate) fn seeing_only(&self, program: Option<Uuid>) -> Engine {
        Engine(Arc::clone(&self.0), Some(program.into_iter().collect()), None)
    }

    /// What the caller may run at the same time, if this is the handle of one.
    pub(crate) fn share(&self) -> Option<&Share> {
        self.2.as_deref()
    }

    /// The programs that this handle is limited to.
    pub(crate) fn only(&self) -> Option<&[Uuid]> {
        self.1.as_deref()
    }

    /// Whether this handle may know of all programs, and so of what belongs to none.
    pub fn is_unlimited(&self) -> bool {
        self.only().is_none()
    }

    /// Whether this handle may know of a program.
    pub(crate) fn sees(&self, program: Uuid) -> bool {
        self.only().is_none_or(|only| only.binary_search(&program).is_ok())
    }

    /// Now, in microseconds of UTC.
    pub(crate) fn now(&self) -> i64 {
        self.0.clock.now().0
    }

    /// The bounds on what a caller may cost.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// The store underneath.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// Whether the database answered when it was asked last; of a file, whether it is where it was opened.
    pub fn is_reachable(&self) -> bool {
        !self.0.unreachable.load(Ordering::Relaxed) && self.store().is_there()
    }

    /// Cancelled when the engine shuts down.
    pub fn closing(&self) -> &CancellationToken {
        &self.0.closing
    }

    /// Runs a task that ends with the engine.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let closing = self.0.closing.clone();
        self.0.tasks.spawn(async move {
            tokio::select! {
                biased;
                () = closing.cancelled() => {}
                () = task => {}
            }
        });
    }

    /// Runs a publisher. What it is given ends when nothing is written any more.
    pub(crate) fn spawn_publisher<F: Future<Output = ()> + Send + 'static>(
        &self,
        publisher: impl FnOnce(CancellationToken) -> F,
    ) {
        self.0.publishers.spawn(publisher(self.0.quiet.clone()));
    }

    /// Carries out what takes the processor for long, off the runtime's threads. No more at a time than there are
    /// processors; who goes away before their turn costs nothing.
    pub async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        let permit = Arc::clone(&self.0.processors).acquire_owned().await.map_err(|_| Error::Closed)?;
        let work = move || {
            let done = work();
            drop(permit);
            done
        };
        joined(tokio::task::spawn_blocking(work).await)
    }

    /// Carries something out to its end, whether the caller stays or goes; the engine waits for it when it closes.
    pub(crate) async fn to_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        joined(self.spawn_to_end(work).await)?
    }

    /// Runs a task that the engine waits for when it closes.
    pub(crate) fn spawn_to_end<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.0.tasks.spawn(task)
    }

    /// Runs what blocks, on a thread of its own; the engine waits for it when it closes.
    pub(crate) fn spawn_blocking_to_end(&self, work: impl FnOnce() + Send + 'static) {
        self.0.tasks.spawn_blocking(work);
    }

    /// Stops simulations and subscriptions, waits for all tasks, lets queued writes finish and gives the database free.
    ///
    /// Whoever waits for a write has its answer then, and nothing touches the database any more.
    pub async fn close(&self) {
        self.0.closing.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
        self.write_last_snapshots().await;
        self.release_runs().await;
        self.close_tracer().await;
        if let Err(error) = self.0.store.close().await {
            // What was acknowledged is safe.
            tracing::warn!(%error, "closing the database failed");
        }
        // Every ticket has its answer by now.
        self.0.quiet.cancel();
        self.0.publishers.close();
        if tokio::time::timeout(LAST_ANSWERS, self.0.publishers.wait()).await.is_err() {
            // One of them waits for a writer who waits for something else.
            tracing::warn!(left = self.0.publishers.len(), "publishers of programs were left behind");
        }
    }

    /// An open program; opens it when it is not. What one caller has begun to open, others find.
    pub async fn open(&self, info: &Arc<ProgramInfo>) -> Result<OpenProgram, Error> {
        let cell = self.cell(info.id);
        if let Some(open) = cell.get() {
            return Ok(self.used(open.clone()));
        }
        let (engine, info) = (self.clone(), Arc::clone(info));
        let opened = self.to_end(async move {
            let opened = cell.get_or_try_init(|| engine.load_live(&info)).await.cloned();
            drop(cell);
            let Ok(open) = opened else {
                engine.forget_unopened(info.id);
                return opened;
            };
            if let Err(error) = engine.catch_up(&open).await {
                // It is open all the same, for others who have found it.
                engine.0.behind.store(true, Ordering::Relaxed);
                return Err(error);
            }
            engine.let_go();
            Ok(engine.used(open))
        });
        opened.await
    }

    /// Takes in what other processes did: between the reading of a program and its opening, of which nobody tells, and before
    /// something is said about the newest state that one of them has just made.
    ///
    /// Not for whoever has the writer.
    pub async fn catch_up(&self, open: &OpenProgram) -> Result<(), Error> {
        if self.store().is_alone() {
            return Ok(());
        }
        let newest = self.store().heads(&[open.timeline.key()]).await?;
        match newest.first() {
            Some((_, newest)) => self.take_in_up_to(open, *newest).await,
            None => Ok(()),
        }
    }

    /// Waits until the head has come to an entry that is stored: another process may have made it a moment ago, or this one, which
    /// has not told its own caller yet. Does nothing about a number that the log has not come to. Not for whoever has the writer.
    pub async fn come_to(&self, open: &OpenProgram, number: u64) -> Result<(), Error> {
        let timeline = &open.timeline;
        if timeline.head().last >= number || self.store().header(timeline.key(), number).await?.is_none() {
            return Ok(());
        }
        self.take_in_up_to(open, number).await
    }

    async fn take_in_up_to(&self, open: &OpenProgram, number: u64) -> Result<(), Error> {
        let timeline = &open.timeline;
        while timeline.head().last < number {
            // What is on its way from here comes first, or loses to what is there: nothing is taken in meanwhile.
            if let Err(Refused::Failed(error)) = timeline.barrier().stored().await {
                return Err(error);
            }
            if timeline.head().last < number {
                // Seldom, and large: not a part of every future that may do it.
                Box::pin(self.take_in_tail(open)).await?;
            }
        }
        Ok(())
    }

    /// Notes that a program is used.
    fn used(&self, open: OpenProgram) -> OpenProgram {
        open.timeline.use_at(self.0.uses.fetch_add(1, Ordering::Relaxed));
        open
    }

    /// Works on the programs that are open, while nobody opens or finds one.
    pub(crate) fn with_open<T>(&self, work: impl FnOnce(&mut Opened) -> T) -> T {
        work(&mut self.0.open.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn cell(&self, id: Uuid) -> Arc<OnceCell<OpenProgram>> {
        let mut open = self.0.open.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(open.entry(id).or_default())
    }

    /// The programs that are open; that they are looked at does not count as use.
    pub(crate) fn all_opened(&self) -> Vec<OpenProgram> {
        let open = self.0.open.read().unwrap_or_else(PoisonError::into_inner);
        open.values().filter_map(|cell| cell.get().cloned()).collect()
    }

    /// A program that is open already.
    pub(crate) fn opened(&self, id: Uuid) -> Option<OpenProgram> {
        let open = self.0.open.read().unwrap_or_else(PoisonError::into_inner);
        open.get(&id).and_then(|cell| cell.get().cloned()).map(|open| self.used(open))
    }

    /// A program that is open already, by its name.
    pub(crate) fn opened_as(&self, name: &str) -> Option<OpenProgram> {
        let open = self.0.open.read().unwrap_or_else(PoisonError::into_inner);
        open.values()
            .filter_map(|cell| cell.get())
            .find(|open| open.info().name == name && self.sees(open.timeline.id()))
            .cloned()
            .map(|open| self.used(open))
    }

    pub(crate) fn forget(&self, id: Uuid) {
        self.0.open.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    /// Forgets a program that could not be opened, unless others are about to try.
    fn forget_unopened(&self, id: Uuid) {
        let mut open = self.0.open.write().unwrap_or_else(PoisonError::into_inner);
        if open.get(&id).is_some_and(|cell| cell.get().is_none() && Arc::strong_count(cell) == 1) {
            open.remove(&id);
        }
    }

    /// Takes in a new program, unless somebody has found and opened it already: then that one is the program.
    pub(crate) async fn remember(&self, program: OpenProgram) -> OpenProgram {
        let open = self.cell(program.timeline.id()).get_or_init(|| async { program }).await.clone();
        self.let_go();
        self.used(open)
    }
}

#[cfg(test)]
mod tests;
