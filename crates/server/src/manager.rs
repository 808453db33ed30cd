//! The built-in Manager over HTTP, below `/manager`: streams and pipelines, in the requests and answers that such servers have.
//!
//! What a Manager refuses is plain text; who may not come in, or asks in a way that is no request, is told so as everywhere.

use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lmlang_graphql::schema::access;
use lmlang_graphql::transport::{RequestId, Scope};
use lmlang_streams::manager::{Body, Refused, Request as Asked};
use serde_json::Value;

use crate::admission;
use crate::answering::{named, outside, refused_to, request_id, status};
use crate::body::{self, Unreadable};
use crate::caller::{self, Who};
use crate::negotiate::Form;
use crate::state::Shared;

/// Answers a request below `/manager`.
pub(crate) async fn manager(
    State(state): State<Shared>,
    Path(path): Path<String>,
    request: Request,
) -> Response {
    let id = request_id(request.headers());
    let response = answer(&state, &path, request, &id).await;
    named(response, &id)
}

async fn answer(state: &Shared, path: &str, request: Request, id: &RequestId) -> Response {
    let (parts, body) = request.into_parts();
    let grant = match admission::of_headers(state, &parts.headers, id).await {
        Ok(grant) => grant,
        Err(error) => return outside(Form::Json, error, id),
    };
    let who = Who::of(&parts.headers, &grant);
    // The body of an answer to HEAD is left out by who sends it.
    let method = if parts.method == Method::HEAD { "GET" } else { parts.method.as_str() };
    // What is asked is known before a body is read.
    let asked = match Asked::of(method, path, Value::Null) {
        Ok(asked) => asked,
        Err(error) => return with_methods(refused(&error), path),
    };
    let scope = match (asked.changes(), asked.runs()) {
        (true, _) => Scope::Edit,
        (false, true) => Scope::Simulate,
        (false, false) => Scope::Read,
    };
    if let Err(error) = access::may_manage(&grant, scope) {
        return refused_to(&who, Form::Json, status(error.code), error, id);
    }
    let asked = match asked.takes_body() {
        false => asked,
        true => match body::json(&parts.headers, body, &state.config).await {
            Ok(body) => match Asked::of(method, path, body) {
                Ok(asked) => asked,
                Err(error) => return refused(&error),
            },
            Err(Unreadable { status, error }) => return refused_to(&who, Form::Json, status, error, id),
        },
    };
    let caller = match caller::from_headers(&parts.headers, grant) {
        Ok(caller) => caller,
        Err(error) => return refused_to(&who, Form::Json, StatusCode::BAD_REQUEST, error, id),
    };
    match (state.hooks.manager)(caller, asked).await {
        Ok(Ok(answer)) => {
            let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
            match answer.body {
                Body::Json(body) => (status, axum::Json(body)).into_response(),
                Body::Text(text) => (status, text).into_response(),
            }
        }
        Ok(Err(error)) => refused(&error),
        Err(error) => refused_to(&who, Form::Json, status(error.code), error, id),
    }
}

/// Says of a path that is there which methods it takes.
fn with_methods(mut response: Response, path: &str) -> Response {
    let takes = |method: &&str| Asked::of(method, path, Value::Null).is_ok();
    let methods: Vec<&str> = ["GET", "POST", "PUT", "DELETE"].into_iter().filter(takes).collect();
    if response.status() == StatusCode::METHOD_NOT_ALLOWED
        && let Ok(allowed) = HeaderValue::from_str(&methods.join(", "))
    {
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}

fn refused(error: &Refused) -> Response {
    let status = StatusCode::from_u16(error.kind.status()).unwrap_or(StatusCode::BAD_REQUEST);
    (status, format!("{error}\n")).into_response()
}
