//! What metrics and logs tell of answers.

use std::time::Instant;

use super::answer::{Answer, Failure, Outcome};
use super::caller::Caller;
use super::executor::OperationKind;
use super::request_id::RequestId;

/// Counts and logs an answer; that of a query or a mutation with its time.
pub(super) fn observe(kind: OperationKind, answer: &Answer, started: Instant) {
    count(kind.as_str(), answer.outcome());
    if kind != OperationKind::Subscription {
        metrics::histogram!("lmlang_graphql_duration_seconds", "kind" => kind.as_str())
            .record(started.elapsed());
    }
    trace(kind, answer, started);
}

/// Logs an answer for whoever looks for what takes long.
pub(super) fn trace(kind: OperationKind, answer: &Answer, started: Instant) {
    tracing::debug!(
        kind = kind.as_str(),
        outcome = answer.outcome().as_str(),
        elapsed_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        "answered"
    );
}

/// Logs what was refused or failed, with the request's id; what was asked for is the caller's and stays out.
pub(super) fn audit(kind: &'static str, answer: &Answer, id: &RequestId, caller: &Caller) {
    if let Some(Failure { code, path, errors }) = answer.failure() {
        tracing::info!(
            request_id = %id,
            author = caller.actor.name,
            token = caller.grant.token().map(|token| token.id.as_str()),
            kind,
            code,
            path,
            errors,
            "refused or failed"
        );
    }
}

/// Counts an answer.
pub(super) fn count(kind: &'static str, outcome: Outcome) {
    counter(kind, outcome).increment(1);
}

/// What counts answers of a kind.
pub(super) fn counter(kind: &'static str, outcome: Outcome) -> metrics::Counter {
    metrics::counter!("lmlang_graphql_answers_total", "kind" => kind, "outcome" => outcome.as_str())
}
