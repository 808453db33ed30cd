//! What operators and monitors ask.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lmlang_graphql::error::Code;
use lmlang_graphql::transport::RequestId;

use crate::admission::{self, Outside};
use crate::answering::{named, request_id};
use crate::caller::Who;
use crate::state::Shared;

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

/// The metrics in the text format of Prometheus: counts over all programs, for whoever may read all of them.
pub(crate) async fn metrics(State(state): State<Shared>, headers: HeaderMap) -> Response {
    let id = request_id(&headers);
    named(shown(&state, &headers, &id).await, &id)
}

async fn shown(state: &Shared, headers: &HeaderMap, id: &RequestId) -> Response {
    match admission::of_headers(state, headers, id).await {
        Ok(grant) if grant.only().is_none() => {
            let form = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
            (form, state.metrics.render()).into_response()
        }
        Ok(grant) => {
            let (Who { author, token }, code) = (Who::of(headers, &grant), Code::Forbidden.as_str());
            tracing::info!(request_id = %id, author, token, code, "metrics were refused");
            (StatusCode::FORBIDDEN, "a token that is not limited to programs is needed\n").into_response()
        }
        Err(Outside { status, error, challenge }) => {
            tracing::info!(request_id = %id, code = error.code.as_str(), "metrics were refused");
            let mut response = (status, format!("{}\n", error.message)).into_response();
            if let Some(challenge) = challenge {
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            }
            response
        }
    }
}
