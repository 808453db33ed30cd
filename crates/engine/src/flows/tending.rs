//! When runs that were let go are looked at again.
//!
//! A server looks for all that are due. A process that does not, such as a command without a server, goes on with those that it
//! has executed when their time comes, and with no others.

use std::time::Duration;

use lmlang_store::Timestamp;
use uuid::Uuid;

use crate::engine::Engine;
use crate::flows::live::{LOOKS_AGAIN, LiveRun};

/// How long a run is left alone whose time has come and that was let go all the same: another process has it.
const PATIENCE: Duration = Duration::from_millis(250);

/// After what time one is looked at again at most: the clock may have been set.
const LATEST: Duration = Duration::from_secs(30);

impl Engine {
    /// Sees to it that a run that was let go is looked at again when its time comes: that of a node, of a question, or of the
    /// whole run.
    pub(crate) async fn rest(&self, live: &LiveRun) {
        let again = self.look_again(live).await;
        let wake = live.machine.lock().await.wake();
        self.0.flows.look_by(wake.into_iter().chain(again).min(), self.now());
        if let Some(at) = wake {
            self.tend(live.id, at);
        }
    }

    /// The same for one that could not be gone on with: at once.
    pub(crate) fn look_sooner(&self, run: Uuid) {
        self.0.flows.sooner.notify_one();
        if !self.0.flows.stuck().contains_key(&run) {
            self.tend(run, self.now());
        }
    }

    /// Notes when a run that waits for others is looked at again, should nobody tell that they have ended, and answers it.
    async fn look_again(&self, live: &LiveRun) -> Option<i64> {
        let waits = {
            let machine = live.machine.lock().await;
            !machine.has_ended() && machine.subs().next().is_some()
        };
        if !waits {
            return None;
        }
        let at = self.now().saturating_add(LOOKS_AGAIN);
        if let Err(error) = self.store().wake_run(live.id, Timestamp(at)).await {
            tracing::warn!(run = %live.id, %error, "a run that waits could not be noted");
        }
        Some(at)
    }

    /// Goes on with a run at a time, where nobody looks for those that are due, unless it is to be gone on with before.
    fn tend(&self, run: Uuid, at: i64) {
        if self.0.flows.is_scheduled() {
            return;
        }
        {
            let mut tended = self.0.flows.tended();
            if tended.get(&run).is_some_and(|before| *before <= at) {
                return;
            }
            tended.insert(run, at);
        }
        let engine = self.seeing_all();
        self.spawn(async move {
            let left = u64::try_from(at.saturating_sub(engine.now())).unwrap_or(0);
            let pause = if left == 0 { PATIENCE } else { LATEST.min(Duration::from_micros(left)) };
            tokio::time::sleep(pause).await;
            if engine.0.flows.is_time(run, at)
                && let Err(error) = engine.go_on(run).await
            {
                tracing::warn!(%run, %error, "a run cannot be gone on with");
            }
        });
    }
}
