//! What operators and monitors ask.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;

use crate::router::Shared;

/// The process answers.
pub(crate) async fn health() -> &'static str {
    "ok\n"
}

/// The server can do its work: the host says so, and no shutdown has begun.
pub(crate) async fn ready(State(state): State<Shared>) -> impl IntoResponse {
    if state.shutdown.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "shutting down\n".to_owned());
    }
    match (state.hooks.ready)() {
        Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
    }
}

/// The metrics in the text format of Prometheus.
pub(crate) async fn metrics(State(state): State<Shared>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], state.metrics.render())
}
