//! Looking for runs about which something is to be done: one task of a process, and what it passes over.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lmlang_store::Timestamp;
use uuid::Uuid;

use crate::engine::Engine;
use crate::error::Error;
use crate::flows::NEVER;
use crate::flows::code::FlowCode;
use crate::flows::driving::LONGEST_SLEEP;

/// The longest sleep where other processes execute runs too, or where a run that is due could not be gone on with.
const LONGEST_SLEEP_BESIDE_OTHERS: Duration = Duration::from_secs(5);

/// Runs that are gone on with at a time, by one look.
const AT_A_TIME: u64 = 256;

impl Engine {
    /// Makes flows known: once, before callers come. Runs that somebody begins, answers or names go on, to their end; others wait
    /// for a process that looks for them.
    pub fn know_flows(&self, codes: impl IntoIterator<Item = Arc<dyn FlowCode>>) {
        let codes = codes.into_iter().map(|code| (code.flow().name().to_owned(), code)).collect();
        if self.0.flows.codes.set(codes).is_err() {
            tracing::warn!("flows were made known twice");
        }
    }

    /// Makes flows known, goes on with the runs of them that were left, and removes those that are old, if the limits say when
    /// they are: once, before callers come.
    pub fn run_flows(&self, codes: impl IntoIterator<Item = Arc<dyn FlowCode>>) {
        self.know_flows(codes);
        self.0.flows.scheduled.store(true, Ordering::SeqCst);
        let engine = self.seeing_all();
        self.spawn(async move { engine.schedule().await });
        if self.limits().run_retention.is_some() {
            let engine = self.seeing_all();
            self.spawn(async move { engine.keep_removing().await });
        }
    }

    /// Looks for runs about which something is to be done, for as long as the engine is open.
    async fn schedule(&self) {
        if let Err(error) = self.stop_orphans().await {
            tracing::error!(%error, "runs that nobody waits for could not be looked for");
        }
        loop {
            self.0.flows.next_look.store(NEVER, Ordering::SeqCst);
            let pause = match self.go_on_with_due().await {
                Ok(pause) => pause,
                Err(error) => {
                    tracing::error!(%error, "runs that are due could not be looked for");
                    LONGEST_SLEEP_BESIDE_OTHERS
                }
            };
            let next = self.now().saturating_add(i64::try_from(pause.as_micros()).unwrap_or(NEVER));
            self.0.flows.next_look.store(next, Ordering::SeqCst);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.0.flows.sooner.notified() => {}
            }
        }
    }

    /// Stops the runs whose waiting one ended when the process did, before it could stop them.
    async fn stop_orphans(&self) -> Result<(), Error> {
        for orphan in self.store().orphaned_runs().await? {
            self.stop_orphan(orphan.id, &orphan.flow).await;
        }
        Ok(())
    }

    /// Goes on with what is due, and answers when something is due next.
    async fn go_on_with_due(&self) -> Result<Duration, Error> {
        let now = self.now();
        // Those that are at work are due as well, and would hide others.
        let passed_over = self.0.flows.stuck().len() + self.0.flows.live().len();
        let most = AT_A_TIME + passed_over as u64;
        let due = self.store().due_runs(self.0.flows.me, Timestamp(now), most).await?;
        let (mut begun, mut failed) = (0_u64, false);
        for run in due {
            if begun >= AT_A_TIME {
                break;
            }
            if self.0.flows.live().contains_key(&run) || self.is_stuck(run).await? {
                continue;
            }
            begun += 1;
            if let Err(error) = self.go_on(run).await {
                tracing::warn!(%run, %error, "a run cannot be gone on with");
                self.leave_if_stuck(run, &error).await;
                failed = true;
            }
        }
        let longest = match self.store().is_alone() && !failed {
            true => LONGEST_SLEEP,
            false => LONGEST_SLEEP_BESIDE_OTHERS,
        };
        if begun >= AT_A_TIME {
            return Ok(Duration::from_millis(1));
        }
        let next = self.store().next_wake(Timestamp(now)).await?;
        let until = next.map(|next| u64::try_from(next.0.saturating_sub(self.now())).unwrap_or(0));
        Ok(until.map_or(longest, |micros| Duration::from_micros(micros).min(longest)))
    }

    /// A run whose trouble does not go away by itself is not looked at again before somebody does something about it.
    pub(super) async fn leave_if_stuck(&self, run: Uuid, error: &Error) {
        if matches!(error, Error::Unsupported { .. } | Error::Damaged { .. })
            && let Ok(Some(row)) = self.store().run(run).await
        {
            self.0.flows.stuck().insert(run, row.definition);
        }
    }

    /// Whether a run cannot go on here. One that was moved since, by whichever process, is looked at again.
    async fn is_stuck(&self, run: Uuid) -> Result<bool, Error> {
        let Some(definition) = self.0.flows.stuck().get(&run).cloned() else { return Ok(false) };
        let moved = self.store().run(run).await?.is_some_and(|row| row.definition != definition);
        if moved {
            self.0.flows.stuck().remove(&run);
        }
        Ok(!moved)
    }
}
