//! The handle that spans are given to.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lmlang_redact::Policy;
use thiserror::Error;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::console;
use crate::counters::{Counters, Tally};
use crate::http::{Http, StartError};
use crate::queue::{Bounds, Queue};
use crate::settings::{Destination, Off, Settings};
use crate::span::{Resource, Span};
use crate::wire::{Cleaner, Content, Sender};
use crate::worker::Worker;

/// How often a warning says at most that spans are dropped.
const BETWEEN_WARNINGS: Duration = Duration::from_secs(60);

/// Sends spans in the background; cheap to clone. When the last clone goes away without a [`Exporter::shutdown`], what is
/// still queued is lost.
#[derive(Clone)]
pub struct Exporter(Inner);

#[derive(Clone)]
enum Inner {
    Off(Off),
    Console(Arc<Cleaner>),
    On(Arc<Running>),
}

struct Running {
    queue: Arc<Queue>,
    tally: Arc<Tally>,
    cleaner: Cleaner,
    worker: Mutex<Option<JoinHandle<()>>>,
    /// When a warning last said that spans are dropped.
    warned: Mutex<Option<Instant>>,
}

/// Not all spans were sent in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{spans} spans are not sent")]
pub struct Unsent {
    /// How many are not.
    pub spans: u64,
}

impl Exporter {
    /// Starts to send what it will be given; within a runtime of tokio.
    ///
    /// The policy should know the secrets of the settings ([`Settings::secrets`]) beside those of the process.
    pub fn start(settings: &Settings, resource: Resource, policy: Policy) -> Result<Exporter, StartError> {
        let content = if settings.capture_content { Content::Sent } else { Content::LeftOut };
        let cleaner = Cleaner { policy: policy.clone(), content };
        let collector = match &settings.destination {
            Destination::Nowhere(off) => return Ok(Exporter(Inner::Off(*off))),
            Destination::Console => return Ok(Exporter(Inner::Console(Arc::new(cleaner)))),
            Destination::Collector(collector) => collector,
        };
        let queue = Arc::new(Queue::new(Bounds {
            spans: settings.queue_spans,
            bytes: settings.queue_bytes,
            batch: settings.batch_spans.min(settings.queue_spans),
            batch_bytes: settings.batch_bytes,
            delay: settings.delay,
        }));
        let tally = Arc::new(Tally::default());
        let worker = Worker {
            queue: queue.clone(),
            tally: tally.clone(),
            http: Http::new(collector, settings.timeout)?,
            sender: Sender::new(&cleaner, resource, &settings.resource),
            policy,
            retry: settings.retry,
        };
        let worker = Mutex::new(Some(tokio::spawn(worker.run())));
        let running = Running { queue, tally, cleaner, worker, warned: Mutex::default() };
        Ok(Exporter(Inner::On(Arc::new(running))))
    }

    /// Says why nothing is sent, if nothing is.
    #[must_use]
    pub fn off(&self) -> Option<Off> {
        match &self.0 {
            Inner::Off(off) => Some(*off),
            Inner::Console(_) | Inner::On(_) => None,
        }
    }

    /// Queues a span, without what is secret in it. It waits for nobody: when the queue is full the span is dropped, and
    /// counted. The cost is linear in the length of the span's texts.
    pub fn record(&self, span: Span) {
        let running = match &self.0 {
            Inner::Off(_) => return,
            Inner::Console(cleaner) => return console::write(&cleaner.span(span)),
            Inner::On(running) => running,
        };
        if !running.queue.push(running.cleaner.span(span)) {
            running.tally.dropped.add(1);
            running.warn();
        }
    }

    /// Waits until the collector has accepted or refused whatever was recorded so far, but no longer than that.
    ///
    /// What is not sent in time stays queued.
    pub async fn flush(&self, within: Duration) -> Result<(), Unsent> {
        let Inner::On(running) = &self.0 else { return Ok(()) };
        match timeout(within, running.queue.drained()).await {
            Ok(()) => Ok(()),
            Err(_) => Err(Unsent { spans: running.queue.under_way() }),
        }
    }

    /// Takes no more spans, sends what is queued, and ends what runs in the background, in that time.
    ///
    /// What is not sent in time is dropped, and counted. A second shutdown does nothing.
    pub async fn shutdown(&self, within: Duration) -> Result<(), Unsent> {
        let Inner::On(running) = &self.0 else { return Ok(()) };
        running.queue.close();
        let worker = lock(&running.worker).take();
        let Some(mut worker) = worker else { return Ok(()) };
        if timeout(within, &mut worker).await.is_err() {
            worker.abort();
            // That it was aborted is known.
            drop(worker.await);
        }
        match running.queue.abandon() {
            0 => Ok(()),
            spans => {
                running.tally.dropped.add(spans);
                tracing::warn!(spans, "spans are dropped: the collector did not take them before the end");
                Err(Unsent { spans })
            }
        }
    }

    /// What became of spans so far; all zeros where nothing is sent.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let Inner::On(running) = &self.0 else { return Counters::default() };
        let tally = &running.tally;
        Counters {
            recorded: running.queue.recorded(),
            exported: tally.exported.get(),
            dropped: tally.dropped.get(),
            failed: tally.failed.get(),
            rejected: tally.rejected.get(),
            retried: tally.retried.get(),
            queued: running.queue.under_way(),
        }
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Off(off) => formatter.debug_tuple("Exporter").field(off).finish(),
            Inner::Console(_) => formatter.debug_tuple("Exporter").field(&"console").finish(),
            Inner::On(_) => formatter.debug_tuple("Exporter").field(&self.counters()).finish(),
        }
    }
}

impl Running {
    fn warn(&self) {
        let mut warned = lock(&self.warned);
        if warned.is_none_or(|warned| warned.elapsed() >= BETWEEN_WARNINGS) {
            *warned = Some(Instant::now());
            let dropped = self.tally.dropped.get();
            tracing::warn!(
                dropped,
                "spans are dropped: the queue is full, or the exporter has been shut down"
            );
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(worker) = lock(&self.worker).take() {
            worker.abort();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Nothing panics halfway through a change.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
