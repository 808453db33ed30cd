//! Reads the parameters of a GraphQL request from a URL or a body.

use std::time::Duration;

use axum::body::Body;
use axum::extract::Query;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use futures_util::StreamExt;
use lmlang_graphql::error::{ApiError, Code};
use lmlang_graphql::transport::Params;
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;

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
    if !is_utf8(uri.query().unwrap_or_default()) {
        return Err(bad("the query string is not UTF-8".to_owned()));
    }
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
pub(crate) async fn from_body(
    headers: &HeaderMap,
    body: Body,
    config: &Config,
) -> Result<Params, Unreadable> {
    let bytes = object(headers, body, config).await?;
    serde_json::from_slice(&bytes).map_err(|error| {
        unreadable(StatusCode::BAD_REQUEST, format!("the body is not a GraphQL request: {error}"))
    })
}

/// Reads what a POST request says that is none of GraphQL's.
pub(crate) async fn json<T: DeserializeOwned>(
    headers: &HeaderMap,
    body: Body,
    config: &Config,
) -> Result<T, Unreadable> {
    let bytes = object(headers, body, config).await?;
    serde_json::from_slice(&bytes).map_err(|error| {
        unreadable(StatusCode::BAD_REQUEST, format!("the body is not as it should be: {error}"))
    })
}

/// Reads the JSON object of a POST request.
///
/// Only JSON is read: browsers send the other types without asking first, for any page that wants them to.
async fn object(headers: &HeaderMap, body: Body, config: &Config) -> Result<Vec<u8>, Unreadable> {
    let bytes = text(headers, body, config).await?;
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => Ok(bytes),
        Some(b'[') => Err(unreadable(StatusCode::BAD_REQUEST, "batches are not supported")),
        Some(_) => Err(unreadable(StatusCode::BAD_REQUEST, "the body is not a JSON object")),
        None => Err(unreadable(StatusCode::BAD_REQUEST, "the body is empty")),
    }
}

/// Reads the bytes of a POST request that says it is JSON.
pub(crate) async fn text(headers: &HeaderMap, body: Body, config: &Config) -> Result<Vec<u8>, Unreadable> {
    if !is_json(headers) {
        let message = "the content type must be `application/json`, in UTF-8";
        return Err(unreadable(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let limit = Limit { which: "bodyBytes", bytes: config.body_bytes };
    limited(headers, body, limit, config.read_timeout).await
}

/// Most bytes of a body, under the name of the limit.
#[derive(Clone, Copy, Debug)]
struct Limit {
    which: &'static str,
    bytes: usize,
}

/// Reads a module: it may take as long for each part of it as other bodies for all of them.
pub(crate) async fn module(headers: &HeaderMap, body: Body, config: &Config) -> Result<Vec<u8>, Unreadable> {
    let limit = Limit { which: "moduleBytes", bytes: config.module_bytes };
    let parts = config.module_bytes.div_ceil(config.body_bytes.max(1));
    let timeout = config.read_timeout.saturating_mul(u32::try_from(parts).unwrap_or(u32::MAX));
    limited(headers, body, limit, timeout).await
}

async fn limited(
    headers: &HeaderMap,
    body: Body,
    limit: Limit,
    timeout: Duration,
) -> Result<Vec<u8>, Unreadable> {
    if headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
        let message = "the body must not be compressed: no content encoding is supported";
        return Err(unreadable(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let most = limit.bytes.saturating_mul(DRAINED);
    if let Some(announced) = announced.filter(|&announced: &usize| announced > most) {
        return Err(too_large(limit, announced));
    }
    match tokio::time::timeout(timeout, read(body, limit)).await {
        Ok(bytes) => bytes,
        Err(_) => Err(unreadable(StatusCode::REQUEST_TIMEOUT, "the body took too long")),
    }
}

/// How much of a body is taken in, in times of what is allowed, before its sender is cut off: one that is cut off while
/// it still sends may never see why.
const DRAINED: usize = 4;

/// Reads a body; what is beyond the limit is counted and dropped.
async fn read(body: Body, limit: Limit) -> Result<Vec<u8>, Unreadable> {
    let mut chunks = body.into_data_stream();
    let (mut bytes, mut seen) = (Vec::new(), 0usize);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| unreadable(StatusCode::BAD_REQUEST, "the body ended early"))?;
        seen = seen.saturating_add(chunk.len());
        if seen <= limit.bytes {
            bytes.extend_from_slice(&chunk);
        } else if seen > limit.bytes.saturating_mul(DRAINED) {
            break;
        }
    }
    if seen > limit.bytes { Err(too_large(limit, seen)) } else { Ok(bytes) }
}

fn too_large(limit: Limit, actual: usize) -> Unreadable {
    Unreadable {
        status: StatusCode::PAYLOAD_TOO_LARGE,
        error: ApiError::limit(limit.which, limit.bytes as u64, actual as u64),
    }
}

/// Says whether what is encoded by `%` is text; decoding would replace what is not.
fn is_utf8(query: &str) -> bool {
    percent_decode_str(query).decode_utf8().is_ok()
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
