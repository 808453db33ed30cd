//! What waits to be sent: so many spans and bytes at most, in the order in which they came.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use opentelemetry_proto::tonic::trace::v1::Span as SpanMessage;
use prost::Message;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

/// How much there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Most spans that wait or are on their way.
    pub(crate) spans: usize,
    /// Most bytes of them.
    pub(crate) bytes: usize,
    /// Most spans of a batch.
    pub(crate) batch: usize,
    /// Bytes that a batch has when it is full.
    pub(crate) batch_bytes: usize,
    /// How long a span waits for others.
    pub(crate) delay: Duration,
}

/// Spans that wait or are on their way.
pub(crate) struct Queue {
    bounds: Bounds,
    state: Mutex<State>,
    /// Told of what may make a batch due.
    due: Notify,
    /// Told when somebody waits, or the end has come.
    hurry: Notify,
    /// How many spans there is nothing more to do for.
    settled: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(SpanMessage, usize)>,
    /// Bytes of those that wait, and of those on their way.
    bytes: usize,
    bytes_sent: usize,
    /// When the oldest of those that wait came, or its batch before it was taken.
    since: Option<Instant>,
    recorded: u64,
    settled: u64,
    /// Up to which span somebody waits.
    awaited: u64,
    closed: bool,
}

impl State {
    fn under_way(&self) -> u64 {
        self.recorded - self.settled
    }

    fn is_awaited(&self) -> bool {
        self.closed || self.awaited > self.settled
    }
}

impl Queue {
    pub(crate) fn new(bounds: Bounds) -> Queue {
        Queue {
            bounds,
            state: Mutex::default(),
            due: Notify::new(),
            hurry: Notify::new(),
            settled: watch::Sender::new(0),
        }
    }

    /// Takes a span; says whether there was room for it.
    pub(crate) fn push(&self, span: SpanMessage) -> bool {
        let bytes = span.encoded_len();
        let mut state = self.lock();
        let full = state.under_way() >= self.bounds.spans as u64 || state.bytes + bytes > self.bounds.bytes;
        if state.closed || full {
            return false;
        }
        state.waiting.push_back((span, bytes));
        state.bytes += bytes;
        state.recorded += 1;
        state.since.get_or_insert_with(Instant::now);
        let first = state.waiting.len() == 1;
        if first || self.is_full(&state) {
            self.due.notify_one();
        }
        true
    }

    /// Waits for a batch: a full one, or what there is when the oldest has waited long enough or somebody waits for it.
    /// None when the queue is closed and empty.
    pub(crate) async fn next(&self) -> Option<Vec<SpanMessage>> {
        loop {
            let until = {
                let mut state = self.lock();
                let until = state.since.map(|since| since + self.bounds.delay);
                let late = until.is_some_and(|until| until <= Instant::now());
                match until {
                    Some(_) if late || state.is_awaited() || self.is_full(&state) => {
                        return Some(self.take(&mut state));
                    }
                    None if state.closed => return None,
                    Some(_) | None => until,
                }
            };
            match until {
                None => self.due.notified().await,
                // Whichever it is, the queue is looked at again.
                Some(until) => drop(timeout_at(until, self.due.notified()).await),
            }
        }
    }

    /// Notes that there is nothing more to do for the batch that was taken.
    pub(crate) fn settle(&self, spans: u64) {
        let mut state = self.lock();
        state.settled += spans;
        state.bytes -= state.bytes_sent;
        state.bytes_sent = 0;
        self.settled.send_replace(state.settled);
    }

    /// Waits until there is nothing more to do for any span that was taken so far.
    pub(crate) async fn drained(&self) {
        let recorded = {
            let mut state = self.lock();
            state.awaited = state.recorded;
            state.recorded
        };
        self.wake();
        let mut settled = self.settled.subscribe();
        // The sender is ours, so that it does not go away.
        drop(settled.wait_for(|settled| *settled >= recorded).await);
    }

    /// Takes no more spans.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.wake();
    }

    /// Gives up what waits or is on its way, once nobody sends it any more; says how much that is.
    pub(crate) fn abandon(&self) -> u64 {
        let mut state = self.lock();
        let spans = state.under_way();
        state.waiting.clear();
        (state.bytes, state.bytes_sent, state.since) = (0, 0, None);
        state.settled = state.recorded;
        self.settled.send_replace(state.settled);
        spans
    }

    /// How many spans were taken.
    pub(crate) fn recorded(&self) -> u64 {
        self.lock().recorded
    }

    /// How many spans wait or are on their way.
    pub(crate) fn under_way(&self) -> u64 {
        self.lock().under_way()
    }

    /// Waits for so long; for a shorter time if somebody waits for what is on its way.
    pub(crate) async fn pause(&self, long: Duration, short: Duration) {
        let from = Instant::now();
        loop {
            let pause = if self.lock().is_awaited() { long.min(short) } else { long };
            if timeout_at(from + pause, self.hurry.notified()).await.is_err() {
                return;
            }
        }
    }

    fn wake(&self) {
        self.due.notify_one();
        self.hurry.notify_one();
    }

    fn is_full(&self, state: &State) -> bool {
        state.waiting.len() >= self.bounds.batch || state.bytes - state.bytes_sent >= self.bounds.batch_bytes
    }

    fn take(&self, state: &mut State) -> Vec<SpanMessage> {
        let mut batch = Vec::new();
        while batch.len() < self.bounds.batch {
            let fits = |bytes: usize| batch.is_empty() || state.bytes_sent + bytes <= self.bounds.batch_bytes;
            match state.waiting.front() {
                Some((_, bytes)) if fits(*bytes) => {}
                Some(_) | None => break,
            }
            let Some((span, bytes)) = state.waiting.pop_front() else { break };
            state.bytes_sent += bytes;
            batch.push(span);
        }
        state.since = (!state.waiting.is_empty()).then(Instant::now);
        batch
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics halfway through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
