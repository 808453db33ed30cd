//! The signals that ask a process to stop.

use crate::error::Error;

/// Waits for Ctrl-C, heard from the moment on at which it is waited for; forever where the system does not tell of it.
pub(crate) async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Ctrl-C and SIGTERM, heard from the moment on at which this was made: until then they end the process.
#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> Result<Signals, Error> {
        use tokio::signal::unix::{SignalKind, signal};
        let heard = |kind| signal(kind).map_err(|source| Error::Io { what: "listening for signals", source });
        Ok(Signals { interrupt: heard(SignalKind::interrupt())?, terminate: heard(SignalKind::terminate())? })
    }

    /// Waits for either.
    pub(crate) async fn asked_to_stop(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Waits for Ctrl-C.
    pub(crate) async fn interrupted(&mut self) {
        self.interrupt.recv().await;
    }
}

/// Ctrl-C, heard from the moment on at which it is waited for.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> Result<Signals, Error> {
        Ok(Signals)
    }

    /// Waits for it.
    pub(crate) async fn asked_to_stop(&mut self) {
        self.interrupted().await;
    }

    /// Waits for it.
    pub(crate) async fn interrupted(&mut self) {
        interrupted().await;
    }
}
