//! Reads the parameters of a GraphQL request from a URL or a body.

use std::error::Error;

use axum::body::{Body, to_bytes};
use axum::extract::Query;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use lmlang_graphql::error::{ApiError, Code};
use lmlang_graphql::transport::Params;

use crate::config::Config;

/// Why a request has no parameters that could be looked at.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) status: StatusCode,
    pub(crate) error: ApiError,
}

fn unreadable(status: StatusCode, message: impl Into<String>) -> Unreadable {
    Unreadable { status, error: ApiError::new(Code::BadRequest, message) }
}

/// Reads the parameters of a GET request; `variables` and `extensions` are JSON texts there.
pub(crate) fn from_uri(uri: &Uri) -> Result<Params, Unreadable> {
    let bad = |message: String| unreadable(StatusCode::BAD_REQUEST, message);
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri)
        .map_err(|_| bad("the query string is not form-encoded".to_owned()))?;
    let (mut params, mut query) = (Params::default(), None);
    for (name, value) in pairs {
        let json = |error: serde_json::Error| bad(format!("`{name}` is not as it should be: {error}"));
        match name.as_str() {
            "query" => query = Some(value),
            "operationName" => params.operation_name = (!value.is_empty()).then_some(value),
            "variables" if value.is_empty() => {}
            "variables" => params.variables = serde_json::from_str(&value).map_err(json)?,
            "extensions" if value.is_empty() => {}
            "extensions" => params.extensions = serde_json::from_str(&value).map_err(json)?,
            _ => {}
        }
    }
    params.query = query.ok_or_else(|| bad("missing parameter `query`".to_owned()))?;
    Ok(params)
}

/// Reads the parameters of a POST request.
///
/// Only JSON is read: browsers send the other types without asking first, for any page that wants them to.
pub(crate) async fn from_body(
    headers: &HeaderMap,
    body: Body,
    config: &Config,
) -> Result<Params, Unreadable> {
    if !is_json(headers) {
        let message = "the content type must be `application/json`, in UTF-8";
        return Err(unreadable(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let limit = config.body_bytes;
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if let Some(announced) = announced.filter(|&announced: &u64| announced > limit as u64) {
        return Err(too_large(limit, announced));
    }
    let read = tokio::time::timeout(config.read_timeout, to_bytes(body, limit)).await;
    let bytes = match read {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) if is_limit(&error) => return Err(too_large(limit, limit as u64 + 1)),
        Ok(Err(_)) => return Err(unreadable(StatusCode::BAD_REQUEST, "the body ended early")),
        Err(_) => return Err(unreadable(StatusCode::REQUEST_TIMEOUT, "the body took too long")),
    };
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => {}
        Some(b'[') => return Err(unreadable(StatusCode::BAD_REQUEST, "batches are not supported")),
        Some(_) => return Err(unreadable(StatusCode::BAD_REQUEST, "the body is not a JSON object")),
        None => return Err(unreadable(StatusCode::BAD_REQUEST, "the body is empty")),
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        unreadable(StatusCode::BAD_REQUEST, format!("the body is not a GraphQL request: {error}"))
    })
}

fn too_large(limit: usize, actual: u64) -> Unreadable {
    Unreadable {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        error: ApiError::limit("bodyBytes", limit as u64, actual),
    }
}

/// Says whether reading stopped at the limit, and not because the client went away.
fn is_limit(error: &axum::Error) -> bool {
    error.source().is_some_and(|source| source.is::<http_body_util::LengthLimitError>())
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let mut parts = value.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default();
    let mut charset = parts
        .filter_map(|part| part.split_once('='))
        .filter_map(|(name, value)| name.eq_ignore_ascii_case("charset").then_some(value.trim_matches('"')));
    media_type.eq_ignore_ascii_case("application/json")
        && charset
            .all(|charset| charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8"))
}
