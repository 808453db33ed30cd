//! The engine: the programs that are open, and what they share.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock};

use lmlang_store::Store;
use tokio::sync::{OnceCell, broadcast};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::catalog::ProgramInfo;
use crate::clock::Clock;
use crate::config::{Limits, SnapshotPolicy};
use crate::error::Error;
use crate::events::{Event, Told};
use crate::simulate::Simulations;
use crate::timeline::Timeline;

/// The use cases of lmlang over one database. A clone is a handle to the same engine.
#[derive(Clone, Debug)]
pub struct Engine(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) limits: Limits,
    pub(crate) snapshots: SnapshotPolicy,
    pub(crate) simulations: Simulations,
    /// Programs that are open or being opened: two callers never open one twice.
    open: RwLock<HashMap<Uuid, Arc<OnceCell<OpenProgram>>>>,
    /// The events of all programs, live.
    pub(crate) feed: broadcast::Sender<Told>,
    tasks: TaskTracker,
    closing: CancellationToken,
}

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

    /// Tells live subscribers, those of this program and those of all.
    pub(crate) fn tell(&self, event: Event) {
        self.timeline.tell((self.clone(), event));
    }
}

impl Engine {
    /// Starts an engine over an open store. Must be called within a tokio runtime.
    pub fn new(store: Store, limits: Limits, snapshots: SnapshotPolicy) -> Engine {
        let simulations = Simulations::new(&limits);
        let (feed, _) = broadcast::channel(limits.events_in_memory);
        Engine(Arc::new(Inner {
            store,
            clock: Clock,
            limits,
            snapshots,
            simulations,
            open: RwLock::new(HashMap::new()),
            feed,
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
        }))
    }

    /// The bounds on what a caller may cost.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// The store underneath.
    pub fn store(&self) -> &Store {
        &self.0.store
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
                () = task => {}
                () = closing.cancelled() => {}
            }
        });
    }

    /// Runs a task that the engine waits for when it closes.
    pub(crate) fn spawn_to_end(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.tasks.spawn(task);
    }

    /// Stops simulations and subscriptions, waits for all tasks, lets queued writes finish and gives the database free.
    pub async fn close(&self) {
        self.0.closing.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
        if let Err(error) = self.0.store.close().await {
            // What was acknowledged is safe.
            tracing::warn!(%error, "closing the database failed");
        }
    }

    /// An open program; opens it when it is not.
    pub async fn open(&self, info: &Arc<ProgramInfo>) -> Result<OpenProgram, Error> {
        let cell = {
            let mut open = self.0.open.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(open.entry(info.id).or_default())
        };
        cell.get_or_try_init(|| self.load(info)).await.cloned()
    }

    /// A program that is open already.
    pub(crate) fn opened(&self, id: Uuid) -> Option<OpenProgram> {
        let open = self.0.open.read().unwrap_or_else(PoisonError::into_inner);
        open.get(&id).and_then(|cell| cell.get().cloned())
    }

    /// All programs that are open.
    pub(crate) fn all_opened(&self) -> Vec<OpenProgram> {
        let open = self.0.open.read().unwrap_or_else(PoisonError::into_inner);
        open.values().filter_map(|cell| cell.get().cloned()).collect()
    }

    pub(crate) fn forget(&self, id: Uuid) {
        self.0.open.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    pub(crate) fn remember(&self, program: OpenProgram) {
        let mut open = self.0.open.write().unwrap_or_else(PoisonError::into_inner);
        open.insert(program.timeline.id(), Arc::new(OnceCell::new_with(Some(program))));
    }
}
