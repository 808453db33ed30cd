//! The loop that sends: a batch at a time, each until it is accepted, refused or given up.

use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use lmlang_redact::Policy;
use prost::Message;
use tokio::time::Instant;

use crate::counters::Tally;
use crate::http::{Answer, Http};
use crate::queue::Queue;
use crate::settings::Retry;
use crate::wire::Sender;

/// Longest quote of what a collector says, in characters.
const LONGEST_QUOTE: usize = 300;

/// Longest pause between two attempts, whatever the collector wants.
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);

/// What the loop works with.
pub(crate) struct Worker {
    pub(crate) queue: Arc<Queue>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) http: Http,
    pub(crate) sender: Sender,
    pub(crate) policy: Policy,
    pub(crate) retry: Retry,
}

impl Worker {
    /// Sends until the queue is closed and empty.
    pub(crate) async fn run(self) {
        while let Some(batch) = self.queue.next().await {
            let spans = batch.len() as u64;
            let body = self.http.body(self.sender.request(batch).encode_to_vec());
            self.deliver(body, spans).await;
            self.queue.settle(spans);
        }
    }

    async fn deliver(&self, body: bytes::Bytes, spans: u64) {
        let begun = Instant::now();
        let mut delays = ExponentialBuilder::default()
            .with_min_delay(self.retry.first)
            .with_max_delay(self.retry.longest)
            .with_factor(2.0)
            .without_max_times()
            .with_jitter()
            .build();
        loop {
            let (why, after) = match self.http.send(body.clone()).await {
                Answer::Accepted { rejected, said } => return self.accepted(spans, rejected, &said),
                Answer::Refused { status, said } => {
                    self.tally.failed.add(spans);
                    let said = self.quote(&said);
                    tracing::warn!(spans, %status, said, "the collector refuses spans");
                    return;
                }
                Answer::Later { why, after } => (self.quote(&why), after),
            };
            let left = self.retry.patience.saturating_sub(begun.elapsed());
            if left.is_zero() {
                self.tally.failed.add(spans);
                tracing::warn!(
                    spans,
                    why,
                    "spans are given up: the collector has not taken them for too long"
                );
                return;
            }
            self.tally.retried.add(1);
            tracing::debug!(spans, why, "the collector is asked again later");
            let delay = delays.next().unwrap_or(self.retry.longest).min(self.retry.longest);
            match after {
                // What the collector wants goes before what anybody here is in a hurry for; less than that is no hurry of ours.
                Some(after) if after > delay => {
                    self.queue.pause(after.min(left).min(LONGEST_PAUSE), LONGEST_PAUSE).await;
                }
                Some(_) | None => self.queue.pause(delay.min(left), self.retry.first).await,
            }
        }
    }

    fn accepted(&self, spans: u64, rejected: u64, said: &str) {
        let rejected = rejected.min(spans);
        self.tally.exported.add(spans - rejected);
        self.tally.rejected.add(rejected);
        if rejected > 0 || !said.is_empty() {
            let said = self.quote(said);
            tracing::warn!(spans, rejected, said, "the collector does not take all spans");
        }
    }

    /// The beginning of what somebody else wrote, without secrets.
    fn quote(&self, text: &str) -> String {
        let text = self.policy.text(text);
        let shown = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
        shown.take(LONGEST_QUOTE).collect()
    }
}
