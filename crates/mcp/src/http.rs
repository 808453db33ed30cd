//! MCP over HTTP: one address for all revisions of the protocol, without sessions.
//!
//! Who calls is found out by the server, as for GraphQL, and so is whether the request comes from where it may.

use std::sync::Arc;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use lmlang_graphql::transport::{Caller, Executor};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::failure::{RpcCode, RpcError};
use crate::rates::Rates;
use crate::request;
use crate::service::Service;

/// Answers requests that speak MCP.
#[derive(Clone)]
pub struct Http(StreamableHttpService<Service, NeverSessionManager>);

impl Http {
    /// Answers them over an executor, until it is asked to stop.
    #[must_use]
    pub fn new(executor: Executor, body_bytes: usize, stop: CancellationToken) -> Http {
        let config = StreamableHttpServerConfig::default()
            // Every request brings its caller, and all that it needs: nothing is remembered between two.
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(body_bytes)
            // The gate of the server has looked at both.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_cancellation_token(stop);
        let service = Service::Each { executor, rates: Arc::new(Rates::default()) };
        Http(StreamableHttpService::new(
            move || Ok(service.clone()),
            Arc::new(NeverSessionManager::default()),
            config,
        ))
    }

    /// Answers a body that was sent by POST, in the name of a caller; what is no request of JSON-RPC is told so in its own
    /// words.
    pub async fn post(&self, parts: Parts, body: Vec<u8>, caller: Arc<Caller>) -> Response<Body> {
        match request::read(&body) {
            Ok(_) => self.answer(Request::from_parts(parts, Body::from(body)), caller).await,
            Err((id, error)) => refused(StatusCode::BAD_REQUEST, &id, &error),
        }
    }

    /// Says why a body was not read, which has a status of its own.
    #[must_use]
    pub fn unreadable(&self, status: StatusCode, reason: &str) -> Response<Body> {
        let data = json!({ "field": "body", "expected": "a request of JSON-RPC", "actual": reason });
        refused(status, &Value::Null, &RpcError::new(RpcCode::InvalidRequest, data))
    }

    /// Answers a request in the name of a caller.
    pub async fn answer(&self, mut request: Request<Body>, caller: Arc<Caller>) -> Response<Body> {
        request.extensions_mut().insert(caller);
        self.0.handle(request).await.map(Body::new)
    }
}

fn refused(status: StatusCode, id: &Value, error: &RpcError) -> Response<Body> {
    let body = Body::from(request::refusal(id, error).to_string());
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").finish_non_exhaustive()
    }
}
