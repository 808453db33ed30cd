//! One request to a collector, and what its answer means.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use thiserror::Error;
use tokio::time::timeout;

use crate::client::{HttpClient, client, retry_after, with_causes};
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
    client: HttpClient,
}

impl Http {
    /// Gets ready; nothing is sent yet.
    pub(crate) fn new(collector: &Collector, timeout: Duration) -> Result<Http, StartError> {
        let client = client(collector.url()).map_err(|error| StartError::Roots { why: error.to_string() })?;
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

fn gzip(plain: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}
