//! What the server is told: settings, and the questions that it asks its host.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{self, BoxFuture, FutureExt};
use futures_util::stream::BoxStream;
use lmlang_graphql::error::{ApiError, Code};
use lmlang_graphql::schema::wasm::{ImportRequest, Imported, ModuleRequest, Watch};
use lmlang_graphql::transport::{Caller, Denied, Grant};
use lmlang_streams::manager::{Answer, Refused, Request};
use serde::Deserialize;

/// The settings of the server. Every combination is legal; who listens on a public address is to ask for tokens, which is
/// its host's affair: see [`Hooks::admit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The address to listen on; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Hosts, as in the `Host` header without the port, by which the server may be addressed beside the loopback names.
    ///
    /// Empty on an address that other machines reach means any.
    pub allowed_hosts: Vec<String>,
    /// Origins, as in the `Origin` header, of pages that may call beside the server's own.
    pub allowed_origins: Vec<String>,
    /// Bytes of a request body.
    pub body_bytes: usize,
    /// Bytes of a module that is taken in.
    pub module_bytes: usize,
    /// Modules that are taken in at a time, from the first byte of them that is read.
    pub imports: usize,
    /// How long one waits until those are fewer, before it is refused.
    pub import_wait: Duration,
    /// How long a client may take to send a request's head or body.
    pub read_timeout: Duration,
    /// How long a client may take nothing of what it is sent; after that its connection, of whatever kind, is cut off.
    pub write_timeout: Duration,
    /// Connections held at a time. For one more, that is closed which has waited longest for a request; it waits while all
    /// have one under way.
    pub connections: usize,
    /// Bytes of one WebSocket message from a client.
    pub message_bytes: usize,
    /// Operations that run at a time on one WebSocket.
    pub streams_per_connection: usize,
    /// How long a WebSocket client may take to introduce itself.
    pub init_timeout: Duration,
    /// How often a silent connection is asked whether it lives; a WebSocket that stays silent for three times this is
    /// closed.
    pub keep_alive: Duration,
    /// How long a shutdown waits for connections to finish.
    pub grace: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 4000)),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            body_bytes: 4 << 20,
            module_bytes: 16 << 20,
            imports: 8,
            import_wait: Duration::from_secs(60),
            read_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            connections: 1024,
            message_bytes: 1 << 20,
            streams_per_connection: 64,
            init_timeout: Duration::from_secs(10),
            keep_alive: Duration::from_secs(20),
            grace: Duration::from_secs(10),
        }
    }
}

impl Config {
    /// Returns the limits as `serverInfo` shows them.
    #[must_use]
    pub fn named_limits(&self) -> serde_json::Map<String, serde_json::Value> {
        [
            ("bodyBytes", self.body_bytes),
            ("moduleBytes", self.module_bytes),
            ("parallelImports", self.imports),
            ("messageBytes", self.message_bytes),
            ("connections", self.connections),
            ("streamsPerConnection", self.streams_per_connection),
        ]
        .map(|(name, limit)| (name.to_owned(), limit.into()))
        .into_iter()
        .chain(lmlang_mcp::limits().map(|(name, limit)| (name, limit.into())))
        .collect()
    }
}

/// Says whether the server can do its work; otherwise why not, in words for an operator.
pub type Ready = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

/// Says what a caller may do who shows a token, or none.
pub type Admit = Arc<dyn Fn(Option<String>) -> BoxFuture<'static, Result<Grant, Denied>> + Send + Sync>;

/// Which programs go into a backup.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct BackupRequest {
    /// These, by name or id; all if there is none.
    pub programs: Vec<String>,
    /// Whether those that were deleted are left out.
    pub without_deleted: bool,
}

/// The bytes of a backup, piece by piece.
pub type Pieces = BoxStream<'static, Result<Vec<u8>, ApiError>>;

/// Begins a backup.
pub type Backup = Arc<dyn Fn(BackupRequest) -> BoxFuture<'static, Result<Pieces, ApiError>> + Send + Sync>;

/// Makes the binary module of a program for a caller, as far as that may see it.
pub type Module =
    Arc<dyn Fn(Grant, ModuleRequest) -> BoxFuture<'static, Result<Vec<u8>, ApiError>> + Send + Sync>;

/// Makes a module the content of a program for a caller, as far as that may change it; somebody is told how far it is.
pub type Import = Arc<
    dyn Fn(Arc<Caller>, ImportRequest, Watch) -> BoxFuture<'static, Result<Imported, ApiError>> + Send + Sync,
>;

/// Answers a request to the built-in Manager for a caller.
pub type Manager = Arc<
    dyn Fn(Arc<Caller>, Request) -> BoxFuture<'static, Result<Result<Answer, Refused>, ApiError>>
        + Send
        + Sync,
>;

/// The questions that the server asks its host.
#[derive(Clone)]
pub struct Hooks {
    /// Asked by `/readyz`.
    pub ready: Ready,
    /// Asked before every operation over HTTP, before `/metrics`, and once for every WebSocket.
    pub admit: Admit,
    /// Asked by `/backup`.
    pub backup: Backup,
    /// Asked by `/programs/{id}/wasm`.
    pub module: Module,
    /// Asked by the same, with a module.
    pub import: Import,
    /// Asked by what lies below `/manager`.
    pub manager: Manager,
}

impl Default for Hooks {
    /// Always ready, and everyone comes in and may do everything; there are no backups, no modules, and no Manager.
    fn default() -> Self {
        fn none<T: Send + 'static>(what: &str) -> BoxFuture<'static, Result<T, ApiError>> {
            let error = ApiError::new(Code::Unsupported, format!("this server makes no {what}"));
            future::ready(Err(error)).boxed()
        }
        Hooks {
            ready: Arc::new(|| Ok(())),
            admit: Arc::new(|_| future::ready(Ok(Grant::owner())).boxed()),
            backup: Arc::new(|_| none("backups")),
            module: Arc::new(|_, _| none("modules")),
            import: Arc::new(|_, _, _| none("programs of modules")),
            manager: Arc::new(|_, _| none("streams and pipelines")),
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}
