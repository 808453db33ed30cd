//! Traces of runs.

use async_graphql::{ID, Json, SimpleObject};
use chrono::{DateTime, Utc};
use lmlang_engine as engine;

use crate::direct::Direct;
use crate::schema::connection::Listed;
use crate::schema::revision::moment;

/// A part of a trace: a run, a node, what it did outside, a question answered. It is there as soon as what it tells of is.
#[derive(Clone, Debug, SimpleObject)]
pub struct Span {
    /// Its id: 16 hexadecimal digits.
    id: ID,
    /// The span that it lies in; null: none.
    parent_id: Option<ID>,
    /// The trace, that of its session: 32 hexadecimal digits.
    trace_id: String,
    /// `run`, `node`, `model`, `tool`, `http`, `edit`, `interrupt` or `decision`.
    kind: String,
    /// What it is called.
    name: String,
    /// When it began.
    started_at: DateTime<Utc>,
    /// When it ended; null: it goes on.
    ended_at: Option<DateTime<Utc>>,
    /// Whether it went well; null: nobody knows yet.
    ok: Option<bool>,
    /// The attempt, from 1 on; null: it is no attempt at anything.
    attempt: Option<i32>,
    /// What is noted of it, in the names of OpenTelemetry where that has some.
    attributes: Json<serde_json::Value>,
}

impl Direct for Span {}

impl Listed for Span {
    const CONNECTION: &'static str = "SpanConnection";
    const EDGE: &'static str = "SpanEdge";
}

impl From<engine::Span> for Span {
    fn from(span: engine::Span) -> Span {
        Span {
            id: span.id.into(),
            parent_id: span.parent.map(ID::from),
            trace_id: span.trace,
            kind: span.kind,
            name: span.name,
            started_at: moment(span.started),
            ended_at: span.ended.map(moment),
            ok: span.ok,
            attempt: span.attempt.map(|attempt| i32::try_from(attempt).unwrap_or(i32::MAX)),
            attributes: Json(span.attributes),
        }
    }
}
