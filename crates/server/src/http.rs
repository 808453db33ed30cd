//! GraphQL over HTTP, as the specification of that name says, MUST and SHOULD.

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lmlang_graphql::transport::{Answer, OperationKind, Outcome, RequestId};

use crate::admission;
use crate::answering::{named, needs, outside, refused_to, request_id, status, write};
use crate::body::{self, Unreadable};
use crate::caller::{self, Who};
use crate::negotiate::{self, Form};
use crate::sse;
use crate::state::Shared;

/// Answers a request to `/graphql`.
pub(crate) async fn graphql(State(state): State<Shared>, request: Request) -> Response {
    let id = request_id(request.headers());
    let mut response = answer(&state, request, &id).await;
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    named(response, &id)
}

async fn answer(state: &Shared, request: Request, id: &RequestId) -> Response {
    let method = request.method().clone();
    let (parts, body) = request.into_parts();
    let Some(form) = negotiate::form(&parts.headers) else {
        let message = "the answer can be application/graphql-response+json, application/json or \
                       text/event-stream\n";
        return (StatusCode::NOT_ACCEPTABLE, message).into_response();
    };
    if method != Method::GET && method != Method::POST {
        return needs(form, "GET, POST", "an operation needs GET or POST", id);
    }
    let grant = match admission::of_headers(state, &parts.headers, id).await {
        Ok(grant) => grant,
        Err(error) => return outside(form, error, id),
    };
    let who = Who::of(&parts.headers, &grant);
    let caller = match caller::from_headers(&parts.headers, grant) {
        Ok(caller) => caller,
        Err(error) => return refused_to(&who, form, StatusCode::BAD_REQUEST, error, id),
    };
    let params = match method {
        Method::GET => body::from_uri(&parts.uri),
        _ => body::from_body(&parts.headers, body, &state.config).await,
    };
    let params = match params {
        Ok(params) => params,
        Err(Unreadable { status, error }) => return refused_to(&who, form, status, error, id),
    };
    let prepared = state.executor.prepare(params, id.clone(), &caller);
    if let Ok(prepared) = &prepared
        && prepared.kind() == OperationKind::Mutation
        && method == Method::GET
    {
        return needs(form, "POST", "a mutation needs POST", id);
    }
    match (form, prepared) {
        (Form::Events, prepared) => sse::respond(state, prepared),
        (_, Ok(prepared)) => json(form, &state.executor.execute(prepared).await),
        (_, Err(answer)) => json(form, &answer),
    }
}

fn json(form: Form, answer: &Answer) -> Response {
    let status = match answer.outcome() {
        Outcome::Executed => StatusCode::OK,
        Outcome::Refused(code) => status(code),
    };
    let status = match (form, status) {
        (Form::Json, StatusCode::BAD_REQUEST) => StatusCode::OK,
        (_, status) => status,
    };
    write(form, status, answer)
}
