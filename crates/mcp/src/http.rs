//! MCP over HTTP: one address for all revisions of the protocol, without sessions.
//!
//! Who calls is found out by the server, as for GraphQL, and so is whether the request comes from where it may.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};
use lmlang_graphql::transport::{Caller, Executor};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use crate::rates::Rates;
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

    /// Answers a request in the name of a caller.
    pub async fn answer(&self, mut request: Request<Body>, caller: Arc<Caller>) -> Response<Body> {
        request.extensions_mut().insert(caller);
        self.0.handle(request).await.map(Body::new)
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").finish_non_exhaustive()
    }
}
