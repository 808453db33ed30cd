//! Reading again what could not be read, for listeners whose events have no end: the database may be away for a while.

use std::time::Duration;

use tokio::sync::mpsc;

use crate::error::Error;

/// Between a failure and the next try. Each other one waits twice as long as the one before it.
const FIRST: Duration = Duration::from_millis(50);

/// Between two tries at most.
const LONGEST: Duration = Duration::from_secs(1);

/// How long is waited before the next try.
#[derive(Debug)]
pub(crate) struct Again(Duration);

impl Default for Again {
    fn default() -> Again {
        Again(FIRST)
    }
}

impl Again {
    /// Something was read.
    pub(crate) fn worked(&mut self) {
        self.0 = FIRST;
    }

    /// Waits for the next try after an error that may pass. Any other one is given back, and nothing if the listener has gone
    /// away meanwhile.
    pub(crate) async fn after<T>(
        &mut self,
        error: Error,
        listener: &mpsc::Sender<T>,
    ) -> Result<(), Option<Error>> {
        if !error.may_pass() {
            return Err(Some(error));
        }
        if self.0 == FIRST {
            tracing::warn!(%error, "events could not be read, and are read again");
        }
        let next = (self.0 * 2).min(LONGEST);
        let pause = std::mem::replace(&mut self.0, next);
        tokio::select! {
            () = tokio::time::sleep(pause) => Ok(()),
            () = listener.closed() => Err(None),
        }
    }
}
