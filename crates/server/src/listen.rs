//! Takes the address, accepts connections and ends them.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use lmlang_graphql::transport::Executor;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tower::Layer;

use crate::config::{Config, Hooks};
use crate::patience::Patient;
use crate::slot::Slot;
use crate::state::State;
use crate::{router, telemetry};

/// Bytes that the kernel holds for a client that does not read; the rest stays at its source.
const SEND_BUFFER: u32 = 256 << 10;
/// How long accepting rests after a failure.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;

/// Why the server does not start, or stops early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be taken.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

/// A server that holds its address and does not serve yet.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    config: Config,
}

impl Bound {
    /// Returns the address, with the port that was taken.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Takes the configured address.
///
/// # Errors
/// When the address is taken.
pub async fn bind(config: Config) -> Result<Bound, Error> {
    let address = config.listen;
    let listener = listen(address).map_err(|source| Error::Listen { address, source })?;
    let address = listener.local_addr().map_err(|source| Error::Listen { address, source })?;
    Ok(Bound { listener, address, config })
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Serves until `shutdown` is cancelled, then lets requests finish, ends event streams and closes WebSockets with a
/// code on which clients reconnect.
///
/// Returns when the last connection is gone, or after the configured grace.
pub async fn serve(bound: Bound, executor: Executor, hooks: Hooks, shutdown: CancellationToken) {
    let Bound { listener, address, config } = bound;
    let slots = Arc::new(Semaphore::new(config.connections.min(Semaphore::MAX_PERMITS)));
    let Config { grace, read_timeout, write_timeout, .. } = config;
    let sockets = TaskTracker::new();
    let upkeep = AbortOnDropHandle::new(tokio::spawn(telemetry::Metrics::shared().keep_up()));
    let mutations = executor.clone();
    let app = router::router(State::new(config, executor, hooks, sockets.clone(), shutdown.clone()));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(read_timeout);

    let mut connections = JoinSet::new();
    tracing::info!(%address, "listening");
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = accept(&listener, &slots) => accepted,
        };
        let (stream, slot) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of descriptors, or a client that went away again: the listener itself is fine.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let slot = Slot::new(slot);
        let service = TowerToHyperService::new(Extension(slot).layer(app.clone()));
        let stream = TokioIo::new(Patient::new(stream, write_timeout));
        let connection = http.serve_connection(stream, service).with_upgrades();
        let shutdown = shutdown.clone();
        connections.spawn(async move {
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = &mut connection => ended,
                () = shutdown.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection broke");
            }
        });
    }

    drop(listener);
    sockets.close();
    let finished = async {
        while connections.join_next().await.is_some() {}
        sockets.wait().await;
        // Those whose clients are gone.
        mutations.mutations_done().await;
    };
    if tokio::time::timeout(grace, finished).await.is_err() {
        tracing::warn!(left = connections.len() + sockets.len(), "connections were cut off");
    }
    connections.shutdown().await;
    drop(upkeep);
    tracing::info!("stopped");
}

/// Waits for a free slot, then for a connection.
async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream, slot))
}
