//! What became of spans, in numbers.

use std::sync::atomic::{AtomicU64, Ordering};

/// What became of the spans that an exporter was given, since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Taken into the queue.
    pub recorded: u64,
    /// Accepted by the collector.
    pub exported: u64,
    /// Not taken, because the queue was full or the exporter had been shut down, or given up at its end.
    pub dropped: u64,
    /// Sent, and refused for good, or given up after many attempts.
    pub failed: u64,
    /// Refused one by one in an answer that accepted others.
    pub rejected: u64,
    /// Requests that were sent again.
    pub retried: u64,
    /// Waiting, or on their way.
    pub queued: u64,
}

/// The same, as it is counted.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) exported: Count,
    pub(crate) dropped: Count,
    pub(crate) failed: Count,
    pub(crate) rejected: Count,
    pub(crate) retried: Count,
}

/// A number that grows.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
