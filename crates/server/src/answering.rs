//! What the answers on every path have in common: the id of their request, and how it is told that one is refused.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lmlang_graphql::error::{ApiError, Code};
use lmlang_graphql::transport::{Answer, RequestId};

use crate::admission::Outside;
use crate::caller::Who;
use crate::negotiate::Form;

/// The header that names a request, both ways.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

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

/// An answer under the id of its request, which nobody on the way keeps for others.
pub(crate) fn named(mut response: Response, id: &RequestId) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(id) = HeaderValue::from_str(&id.0) {
        headers.insert(REQUEST_ID, id);
    }
    response
}

/// Refuses a method, and says which are allowed.
pub(crate) fn needs(form: Form, allowed: &'static str, message: &str, id: &RequestId) -> Response {
    let error = ApiError::new(Code::BadRequest, message);
    let mut response = refused(form, StatusCode::METHOD_NOT_ALLOWED, error, id);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
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

/// The same of what is asked for by a path.
pub(crate) fn unmade(who: &Who, error: ApiError, id: &RequestId) -> Response {
    refused_to(who, Form::Json, status_of_path(error.code), error, id)
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

/// An answer in the form that was asked for.
pub(crate) fn write(form: Form, status: StatusCode, answer: &Answer) -> Response {
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

/// The same where something is asked for by a path: what is not there is a path that is not.
pub(crate) fn status_of_path(code: Code) -> StatusCode {
    if code == Code::NotFound { StatusCode::NOT_FOUND } else { status(code) }
}
