//! The tools for agents over HTTP: `/mcp`, to the same callers as `/graphql`.

use axum::extract::{Request, State};
use axum::http::{HeaderName, Method, StatusCode};
use axum::response::Response;
use lmlang_graphql::transport::RequestId;

use crate::admission;
use crate::answering::{named, outside, record, refused_to, request_id};
use crate::body::{self, Unreadable};
use crate::caller::{self, Who};
use crate::negotiate::Form;
use crate::state::Shared;

/// The header with the revision of the protocol.
pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The header that repeats the method.
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
/// The header that repeats the name of the tool.
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Answers a request to `/mcp`.
pub(crate) async fn mcp(State(state): State<Shared>, request: Request) -> Response {
    let id = request_id(request.headers());
    let response = answer(&state, request, &id).await;
    named(response, &id)
}

async fn answer(state: &Shared, request: Request, id: &RequestId) -> Response {
    let grant = match admission::of_headers(state, request.headers(), id).await {
        Ok(grant) => grant,
        Err(error) => return outside(Form::Json, error, id),
    };
    let who = Who::of(request.headers(), &grant);
    let caller = match caller::from_headers(request.headers(), grant) {
        Ok(caller) => caller,
        Err(error) => return refused_to(&who, Form::Json, StatusCode::BAD_REQUEST, error, id),
    };
    if request.method() != Method::POST {
        return state.mcp.answer(request, caller).await;
    }
    let (parts, body) = request.into_parts();
    // Read here, where it has as long as any other body.
    match body::text(&parts.headers, body, &state.config).await {
        Ok(bytes) => state.mcp.post(parts, bytes, caller).await,
        Err(Unreadable { status, error }) => {
            record(&who, status, &error, id);
            state.mcp.unreadable(status, &error.message)
        }
    }
}
