//! Removing runs that ended longer ago than they are kept.
//!
//! Each run goes in a transaction of its own, which looks again whether it may go: nobody is held up for long, a process that
//! ends in the middle leaves whole runs, and of two processes that remove one run, one does.

use std::time::Duration;

use lmlang_store::{Removed, Timestamp};

use crate::engine::Engine;
use crate::error::Error;

/// Runs that are removed by one look, and sessions without runs.
const AT_A_TIME: u64 = 128;

/// Between two looks of which the first has found something.
const PAUSE: Duration = Duration::from_millis(100);

/// Between two looks of which the first has found nothing.
const LOOKS: Duration = Duration::from_secs(600);

impl Engine {
    /// Removes what is old, for as long as the engine is open.
    pub(crate) async fn keep_removing(&self) {
        loop {
            let pause = match self.remove_old_runs().await {
                Ok(Removed { runs: 0, sessions: 0, .. }) => LOOKS,
                Ok(_) => PAUSE,
                Err(error) => {
                    tracing::error!(%error, "old runs could not be removed");
                    LOOKS
                }
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Removes runs that ended longer ago than [`Limits::run_retention`](crate::Limits::run_retention), with their journals
    /// and questions, and sessions as old that have no run left; a bounded number, those that ended first before others.
    /// Answers what it removed: nothing if nothing is old, or another process removes the same.
    ///
    /// Who had a run or session of those finds it no more, and an idempotency key of theirs begins another one.
    pub async fn remove_old_runs(&self) -> Result<Removed, Error> {
        let mut all = Removed::default();
        let Some(retention) = self.limits().run_retention else { return Ok(all) };
        let retention = i64::try_from(retention.as_micros()).unwrap_or(i64::MAX);
        let before = Timestamp(self.now().saturating_sub(retention));
        let runs = self.store().removable_runs(before, AT_A_TIME).await?;
        let found = runs.len() as u64;
        for (run, session) in runs {
            let removed = self.store().remove_run(run, session, before).await?;
            if removed.runs == 0 {
                // Another process is about the same, and does the rest; or somebody goes on with it since it was found.
                break;
            }
            self.0.flows.removed(run);
            tracing::debug!(
                run = %run,
                session = %session,
                entries = removed.entries,
                questions = removed.interrupts,
                with_session = removed.sessions > 0,
                "an old run was removed"
            );
            all.runs += removed.runs;
            all.entries += removed.entries;
            all.interrupts += removed.interrupts;
            all.sessions += removed.sessions;
        }
        if found < AT_A_TIME {
            all.sessions += self.store().remove_empty_sessions(before, AT_A_TIME).await?;
        }
        if all != Removed::default() {
            tracing::info!(
                runs = all.runs,
                entries = all.entries,
                questions = all.interrupts,
                sessions = all.sessions,
                "old runs were removed"
            );
        }
        Ok(all)
    }
}
