//! A Manager over HTTP.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE};
use http_body_util::{BodyExt, Full, Limited};
use lmlang_engine::BoxFuture;
use serde_json::Value;

use crate::draft::target::{Answer, Ask, DraftTarget, Unreachable};
pub use crate::http_client::ServerError as AddressError;
use crate::http_client::{HttpClient, address, client, retry_after, with_causes};

/// Most bytes of an answer.
const LARGEST: usize = 8 << 20;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A Manager on a server.
pub struct RestManager {
    base: String,
    server: String,
    http: HttpClient,
}

impl RestManager {
    /// Gets ready to ask the Manager at an address, which its paths are put behind; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`AddressError`] for what is no address.
    pub fn new(base: &str) -> Result<RestManager, AddressError> {
        let (url, server) = address(base, "")?;
        let http = client(&url)?;
        Ok(RestManager { base: base.to_owned(), server, http })
    }

    async fn answered(&self, ask: &Ask) -> Result<Answer, String> {
        let (url, _) = address(&self.base, &ask.path()).map_err(|error| error.to_string())?;
        let method = Method::from_bytes(ask.method().as_bytes()).map_err(|error| error.to_string())?;
        let mut request = http::Request::builder().method(method).uri(url).header(ACCEPT, "application/json");
        let body = match ask.body() {
            Some(body) => {
                request = request.header(CONTENT_TYPE, "application/json");
                Bytes::from(body.to_string())
            }
            None => Bytes::new(),
        };
        let request = request.body(Full::from(body)).map_err(|error| error.to_string())?;
        let response = self.http.request(request).await.map_err(|error| with_causes(&error))?;
        let (status, retry_after) = (response.status().as_u16(), retry_after(response.headers()));
        let body = Limited::new(response.into_body(), LARGEST).collect().await;
        let body = body.map_err(|error| format!("its answer cannot be read: {error}"))?.to_bytes();
        let body = serde_json::from_slice(&body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&body).into_owned()));
        Ok(Answer { status, body, retry_after })
    }
}

impl DraftTarget for RestManager {
    fn ask<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Result<Answer, Unreachable>> {
        Box::pin(async move {
            let unreachable = |why| Unreachable { server: self.server.clone(), why };
            match tokio::time::timeout(PATIENCE, self.answered(ask)).await {
                Ok(answer) => answer.map_err(unreachable),
                Err(_) => Err(unreachable(format!("no answer within {} s", PATIENCE.as_secs()))),
            }
        })
    }
}
