//! What every handler can reach.

use std::sync::Arc;

use lmlang_graphql::transport::Executor;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::{Config, Hooks};
use crate::telemetry;

/// What every handler can reach.
pub(crate) struct State {
    pub(crate) config: Config,
    pub(crate) executor: Executor,
    /// What speaks MCP over it.
    pub(crate) mcp: lmlang_mcp::http::Http,
    pub(crate) hooks: Hooks,
    /// A place for each module that is being taken in.
    pub(crate) imports: Arc<Semaphore>,
    /// The tasks of upgraded connections.
    pub(crate) sockets: TaskTracker,
    pub(crate) shutdown: CancellationToken,
    pub(crate) metrics: telemetry::Metrics,
}

/// The state as handlers hold it.
pub(crate) type Shared = Arc<State>;

impl State {
    pub(crate) fn new(
        config: Config,
        executor: Executor,
        hooks: Hooks,
        sockets: TaskTracker,
        shutdown: CancellationToken,
    ) -> Shared {
        let metrics = telemetry::Metrics::shared();
        let mcp = lmlang_mcp::http::Http::new(executor.clone(), config.body_bytes, shutdown.child_token());
        let imports = Arc::new(Semaphore::new(config.imports.max(1)));
        Arc::new(State { config, executor, mcp, hooks, imports, sockets, shutdown, metrics })
    }
}
