//! One request to a collector, and what its answer means.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;
use tokio::time::timeout;

use crate::settings::{Collector, Compression};

/// What is sent and understood.
const PROTOBUF: &str = "application/x-protobuf";

/// Longest answer that is read, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024;

/// Why an exporter cannot start.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StartError {
    /// The system trusts no authorities, and the address needs one.
    #[error("the certificates of the system cannot be read, so that `https` can reach nobody: {why}")]
    Roots {
        /// What the system says.
        why: String,
    },
}

/// What a request came to.
#[derive(Debug)]
pub(crate) enum Answer {
    /// The collector has the spans, but for so many of them.
    Accepted {
        /// Spans that it does not take.
        rejected: u64,
        /// What it says about that.
        said: String,
    },
    /// It will not take them.
    Refused {
        /// How it says so.
        status: StatusCode,
        /// What it says about that.
        said: String,
    },
    /// It cannot take them now.
    Later {
        /// Why not.
        why: String,
        /// When it wants to be asked again.
        after: Option<Duration>,
    },
}

/// A connection to a collector, made when it is needed.
pub(crate) struct Http {
    collector: Collector,
    timeout: Duration,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl Http {
    /// Gets ready; nothing is sent yet.
    pub(crate) fn new(collector: &Collector, timeout: Duration) -> Result<Http, StartError> {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        let secure = collector.url().scheme_str() == Some("https");
        let tls = HttpsConnectorBuilder::new().with_tls_config(tls(secure)?);
        let connector = tls.https_or_http().enable_http1().wrap_connector(connector);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Http { collector: collector.clone(), timeout, client })
    }

    /// Puts a body into the form in which it is sent.
    pub(crate) fn body(&self, plain: Vec<u8>) -> Bytes {
        match self.collector.compression() {
            Compression::None => plain.into(),
            Compression::Gzip => gzip(&plain).into(),
        }
    }

    /// Sends a body once.
    pub(crate) async fn send(&self, body: Bytes) -> Answer {
        match timeout(self.timeout, self.exchange(body)).await {
            Ok(answer) => answer,
            Err(_) => Answer::Later {
                why: format!("no answer within {} ms", self.timeout.as_millis()),
                after: None,
            },
        }
    }

    async fn exchange(&self, body: Bytes) -> Answer {
        let mut request = http::Request::new(Full::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.collector.url().clone();
        let headers = request.headers_mut();
        headers.extend(self.collector.headers().clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROTOBUF));
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("lmlang/", env!("CARGO_PKG_VERSION"))));
        if self.collector.compression() == Compression::Gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        match self.client.request(request).await {
            Ok(response) => read(response).await,
            Err(error) => Answer::Later { why: with_causes(&error), after: None },
        }
    }
}

async fn read(response: Response<Incoming>) -> Answer {
    let status = response.status();
    let after = retry_after(response.headers());
    let protobuf = is(response.headers(), PROTOBUF);
    let text = is(response.headers(), "text/plain") || is(response.headers(), "application/json");
    // An answer is worth its status, even if the rest of it cannot be read.
    let body = match Limited::new(response.into_body(), LONGEST_ANSWER).collect().await {
        Ok(body) => body.to_bytes(),
        Err(_) => Bytes::new(),
    };
    let said = if text { String::from_utf8_lossy(&body).into_owned() } else { String::new() };
    match status {
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => Answer::Later { why: status.to_string(), after },
        status if !status.is_success() => Answer::Refused { status, said },
        _ if !protobuf => Answer::Accepted { rejected: 0, said: String::new() },
        _ => {
            let partial =
                ExportTraceServiceResponse::decode(body).ok().and_then(|answer| answer.partial_success);
            let partial = partial.unwrap_or_default();
            Answer::Accepted {
                rejected: u64::try_from(partial.rejected_spans).unwrap_or(0),
                said: partial.error_message,
            }
        }
    }
}

fn is(headers: &HeaderMap, kind: &str) -> bool {
    let found = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    found.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(kind)
}

/// How long a collector wants not to be asked: seconds, or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}

/// What certificates are held against; nothing is read where none will be seen.
fn tls(secure: bool) -> Result<ClientConfig, StartError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the cipher suites of both versions");
    if !secure {
        return Ok(config.with_root_certificates(RootCertStore::empty()).with_no_client_auth());
    }
    let config = config.with_native_roots().map_err(|error| StartError::Roots { why: error.to_string() })?;
    Ok(config.with_no_client_auth())
}

/// An error and what it comes from: the outermost one says little.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut out = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        out = format!("{out}: {error}");
        cause = error.source();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_says_when_in_seconds_or_by_a_date() {
        let after = |text: &'static str| {
            retry_after(&HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(text))]))
        };
        assert_eq!(after("7"), Some(Duration::from_secs(7)));
        assert_eq!(after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert!(after("Fri, 01 Jan 2100 00:00:00 GMT").is_some_and(|after| after.as_secs() > 1_000_000));
        assert_eq!(after("soon"), None);
        assert_eq!(after("-1"), None);
    }
}
