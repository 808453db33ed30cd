//! Takes the address, accepts connections and ends them.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use lmlang_graphql::transport::Executor;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tower::{Layer, ServiceExt};

use crate::config::{Config, Hooks};
use crate::idle::{Connection, Idle};
use crate::patience::Patient;
use crate::slot::Slot;
use crate::state::State;
use crate::{router, telemetry};

/// Bytes that the kernel holds for a client that does not read; the rest stays at its source.
const SEND_BUFFER: u32 = 256 << 10;
/// How long accepting rests after a failure.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long what happens again and again is not logged again.
const LOG_PAUSE: Duration = Duration::from_secs(60);
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
    let Config { grace, read_timeout, write_timeout, connections: most, .. } = config;
    let slots = Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS)));
    let idle = Arc::new(Idle::default());
    let (mut failing, mut full) = (Rarely::default(), Rarely::default());
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
            accepted = accept(&listener) => accepted,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                // The listener itself is fine.
                if failing.is_due() {
                    tracing::warn!(%error, "cannot accept a connection");
                }
                let gone = [io::ErrorKind::ConnectionAborted, io::ErrorKind::ConnectionReset];
                if !gone.contains(&error.kind()) {
                    // Out of descriptors.
                    idle.end_longest();
                }
                sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let slot = match Arc::clone(&slots).try_acquire_owned() {
            Ok(slot) => slot,
            Err(_) => {
                if full.is_due() {
                    tracing::warn!(
                        most,
                        "all connections are taken: whoever waits longest is closed for the next"
                    );
                }
                tokio::select! {
                    () = shutdown.cancelled() => break,
                    slot = freed(&slots, &idle) => slot,
                }
            }
        };
        let (held, end) = Connection::new(&idle);
        let (asked, over) = (Arc::clone(&held), Arc::clone(&held));
        let app = Extension(Slot::new(slot)).layer(app.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let busy = asked.busy();
            let answer = app.clone().oneshot(request);
            async move { answer.await.map(|answer| busy.until_answered(answer)) }
        });
        let stream = TokioIo::new(Patient::new(stream, write_timeout, held));
        let connection = http.serve_connection(stream, service).with_upgrades();
        let shutdown = shutdown.clone();
        connections.spawn(async move {
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = &mut connection => ended,
                () = end.cancelled() => Ok(()),
                () = shutdown.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            over.stop_waiting();
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
    if timeout(grace, finished).await.is_err() {
        tracing::warn!(left = connections.len() + sockets.len(), "connections were cut off");
    }
    connections.shutdown().await;
    drop(upkeep);
    tracing::info!("stopped");
}

/// Waits for a connection.
async fn accept(listener: &TcpListener) -> io::Result<TcpStream> {
    let (stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Waits for a slot where all are taken: a connection on which no request is under way gives up its own.
async fn freed(slots: &Arc<Semaphore>, idle: &Idle) -> OwnedSemaphorePermit {
    let mut slot = pin!(Arc::clone(slots).acquire_owned());
    let freed = loop {
        tokio::select! {
            biased;
            freed = &mut slot => break freed,
            () = idle.end_one() => {}
        }
        // At once, unless it has become a WebSocket meanwhile.
        if let Ok(freed) = timeout(ACCEPT_PAUSE, &mut slot).await {
            break freed;
        }
    };
    freed.expect("nobody closes it")
}

/// When something that happens again and again was logged last.
#[derive(Debug, Default)]
struct Rarely(Option<Instant>);

impl Rarely {
    /// Whether it is to be logged now.
    fn is_due(&mut self) -> bool {
        let due = self.0.is_none_or(|last| last.elapsed() >= LOG_PAUSE);
        if due {
            self.0 = Some(Instant::now());
        }
        due
    }
}
