//! GraphQL over HTTP, as the specification of that name says, MUST and SHOULD.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lmlang_graphql::error::{ApiError, Code};
use lmlang_graphql::transport::{Answer, OperationKind, Outcome, RequestId};

use crate::admission::{self, Outside};
use crate::body::{self, Unreadable};
use crate::caller::{self, Who};
use crate::negotiate::{self, Form};
use crate::sse;
use crate::state::Shared;

/// The header that names a request, both ways.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Answers a request to `/graphql`.
pub(crate) async fn graphql(State(state): State<Shared>, request: Request) -> Response {
    let id = request_id(request.headers());
    let mut response = answer(&state, request, &id).await;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    if let Ok(id) = HeaderValue::from_str(&id.0) {
        headers.insert(REQUEST_ID, id);
    }
    response
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

/// Refuses a method, and says which are allowed.
pub(crate) fn needs(form: Form, allowed: &'static str, message: &str, id: &RequestId) -> Response {
    let error = ApiError::new(Code::BadRequest, message);
    let mut response = refused(form, StatusCode::METHOD_NOT_ALLOWED, error, id);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}

/// Takes over a readable id that the client gave, and makes one otherwise.
pub(crate) fn request_id(headers: &HeaderMap) -> RequestId {
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    let plain = |id: &&str| {
        (1..=64).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    };
    match given.filter(plain) {
        Some(id) => RequestId(id.into()),
        None => RequestId::fresh(),
    }
}

/// Answers a caller who stays outside.
pub(crate) fn outside(form: Form, outside: Outside, id: &RequestId) -> Response {
    let Outside { status, error, challenge } = outside;
    let mut response = refused(form, status, error, id);
    if let Some(challenge) = challenge {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// Answers a request that HTTP itself is wrong with.
pub(crate) fn refused(form: Form, status: StatusCode, error: ApiError, id: &RequestId) -> Response {
    tracing::info!(request_id = %id, code = error.code.as_str(), status = status.as_u16(), "refused");
    refuse(form, status, error, id)
}

/// The same to somebody who was let in.
pub(crate) fn refused_to(
    who: &Who,
    form: Form,
    status: StatusCode,
    error: ApiError,
    id: &RequestId,
) -> Response {
    record(who, status, &error, id);
    refuse(form, status, error, id)
}

/// The same of what is asked for by a path: a program that is not there is a path that is not.
pub(crate) fn unmade(who: &Who, error: ApiError, id: &RequestId) -> Response {
    let status = if error.code == Code::NotFound { StatusCode::NOT_FOUND } else { status(error.code) };
    refused_to(who, Form::Json, status, error, id)
}

/// Writes into the log that somebody who was let in is refused.
pub(crate) fn record(who: &Who, status: StatusCode, error: &ApiError, id: &RequestId) {
    let Who { author, token } = who;
    let code = error.code.as_str();
    tracing::info!(request_id = %id, author, token, code, status = status.as_u16(), "refused");
}

fn refuse(form: Form, status: StatusCode, error: ApiError, id: &RequestId) -> Response {
    // An event stream could not carry the status to a client that looks for one.
    let form = if form == Form::Events { Form::Json } else { form };
    write(form, status, &Answer::refuse(error, id))
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

fn write(form: Form, status: StatusCode, answer: &Answer) -> Response {
    let mut bytes = Vec::with_capacity(256);
    if let Err(error) = serde_json::to_writer(&mut bytes, answer) {
        tracing::error!(%error, "an answer is not JSON");
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    (status, [(header::CONTENT_TYPE, form.content_type())], Body::from(bytes)).into_response()
}

/// Returns the status of an answer without data.
pub(crate) fn status(code: Code) -> StatusCode {
    match code {
        Code::BadRequest
        | Code::NotFound
        | Code::LimitExceeded
        | Code::IdempotencyMismatch
        | Code::CursorInvalid
        | Code::Unsupported => StatusCode::BAD_REQUEST,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::Forbidden => StatusCode::FORBIDDEN,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::Overloaded | Code::StorageUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::Timeout => StatusCode::GATEWAY_TIMEOUT,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
