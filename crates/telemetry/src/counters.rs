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

/// The same, as it is counted: also for the metrics of the process.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) exported: Count,
    pub(crate) dropped: Count,
    pub(crate) failed: Count,
    pub(crate) rejected: Count,
    pub(crate) retried: Count,
}

impl Default for Tally {
    fn default() -> Tally {
        metrics::describe_counter!("lmlang_spans_exported_total", "Spans that the collector has accepted.");
        metrics::describe_counter!(
            "lmlang_spans_dropped_total",
            "Spans that found the queue full, or closed."
        );
        metrics::describe_counter!("lmlang_spans_failed_total", "Spans that were sent and not accepted.");
        metrics::describe_counter!(
            "lmlang_spans_rejected_total",
            "Spans refused among others that were not."
        );
        metrics::describe_counter!("lmlang_spans_retried_total", "Requests with spans that were sent again.");
        Tally {
            exported: Count::new("lmlang_spans_exported_total"),
            dropped: Count::new("lmlang_spans_dropped_total"),
            failed: Count::new("lmlang_spans_failed_total"),
            rejected: Count::new("lmlang_spans_rejected_total"),
            retried: Count::new("lmlang_spans_retried_total"),
        }
    }
}

/// A number that grows.
#[derive(Debug)]
pub(crate) struct Count {
    metric: &'static str,
    number: AtomicU64,
}

impl Count {
    fn new(metric: &'static str) -> Count {
        metrics::counter!(metric).increment(0);
        Count { metric, number: AtomicU64::new(0) }
    }

    pub(crate) fn add(&self, more: u64) {
        self.number.fetch_add(more, Ordering::Relaxed);
        metrics::counter!(self.metric).increment(more);
    }

    pub(crate) fn get(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }
}
