//! A collector that notes what it is sent and answers as it is told.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::{OriginalUri, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Router, serve};
use lmlang_redact::Policy;
use lmlang_telemetry::{Exporter, Resource, Retry, Settings, Span, Status};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span as SpanMessage;
use prost::Message;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// Long enough for anything that does happen.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// What a collector does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// It takes the spans.
    Ok,
    /// It says something else, and wants to be asked again after so many seconds.
    Status(u16, Option<u64>),
    /// It takes all spans but so many, and says why.
    Partial(i64, &'static str),
    /// It never answers.
    Never,
}

/// A request that came.
pub(crate) struct Request {
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Request {
    pub(crate) fn message(&self) -> ExportTraceServiceRequest {
        ExportTraceServiceRequest::decode(self.body.clone()).unwrap()
    }

    pub(crate) fn spans(&self) -> Vec<SpanMessage> {
        let message = self.message();
        message
            .resource_spans
            .into_iter()
            .flat_map(|resource| resource.scope_spans)
            .flat_map(|scope| scope.spans)
            .collect()
    }
}

/// A collector.
pub(crate) struct Stub {
    pub(crate) url: String,
    pub(crate) requests: mpsc::UnboundedReceiver<Request>,
}

struct Behaviour {
    answers: Mutex<VecDeque<Answer>>,
    /// What comes when there are no more answers.
    last: Answer,
    seen: mpsc::UnboundedSender<Request>,
}

impl Stub {
    /// Answers so, and then as the last of them for good.
    pub(crate) async fn start(answers: &[Answer]) -> Stub {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Stub::on(listener, answers)
    }

    pub(crate) fn on(listener: TcpListener, answers: &[Answer]) -> Stub {
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (seen, requests) = mpsc::unbounded_channel();
        let last = answers.last().cloned().unwrap_or(Answer::Ok);
        let behaviour = Behaviour { answers: Mutex::new(answers.iter().cloned().collect()), last, seen };
        let app = Router::new().fallback(take).with_state(Arc::new(behaviour));
        tokio::spawn(async move { serve(listener, app).await.unwrap() });
        Stub { url, requests }
    }

    pub(crate) async fn next(&mut self) -> Request {
        self.requests.recv().await.unwrap()
    }
}

async fn take(
    State(behaviour): State<Arc<Behaviour>>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    // A test that has ended listens no more.
    drop(behaviour.seen.send(Request { uri, headers, body }));
    let next = behaviour.answers.lock().unwrap().pop_front();
    let protobuf = |message: ExportTraceServiceResponse| {
        ([("content-type", "application/x-protobuf")], message.encode_to_vec()).into_response()
    };
    match next.unwrap_or_else(|| behaviour.last.clone()) {
        Answer::Ok => protobuf(ExportTraceServiceResponse::default()),
        Answer::Partial(rejected_spans, message) => {
            let partial = ExportTracePartialSuccess { rejected_spans, error_message: message.to_owned() };
            protobuf(ExportTraceServiceResponse { partial_success: Some(partial) })
        }
        Answer::Status(status, after) => {
            let mut response = StatusCode::from_u16(status).unwrap().into_response();
            if let Some(after) = after {
                response.headers_mut().insert("retry-after", after.into());
            }
            response
        }
        Answer::Never => pending().await,
    }
}

/// Settings with variables, and with short pauses.
pub(crate) fn settings(variables: &[(&str, &str)]) -> Settings {
    let env =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    let retry = Retry {
        first: Duration::from_millis(1),
        longest: Duration::from_millis(4),
        patience: Duration::from_secs(300),
    };
    // Nothing is sent unless a test wants it.
    Settings { delay: Duration::from_secs(3_600), retry, ..Settings::from_env(&env).unwrap() }
}

/// Settings for a collector.
pub(crate) fn to(stub: &Stub) -> Settings {
    settings(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &stub.url)])
}

pub(crate) fn start(settings: &Settings) -> Exporter {
    Exporter::start(settings, Resource::lmlang("1.2.3", Some("abc123")), Policy::default()).unwrap()
}

/// The n-th span.
pub(crate) fn span(number: u64) -> Span {
    Span {
        trace_id: [1; 16],
        span_id: (number + 1).to_be_bytes(),
        parent: None,
        name: "chat m".to_owned(),
        kind: lmlang_telemetry::Kind::Client,
        start_ns: 1_000,
        end_ns: 2_000,
        status: Status::Ok,
        attributes: Vec::new(),
        events: Vec::new(),
    }
}

/// An attribute, as text.
pub(crate) fn attribute(attributes: &[KeyValue], name: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == name)?;
    Some(match found.value.clone().unwrap().value.unwrap() {
        any_value::Value::StringValue(text) => text,
        any_value::Value::IntValue(value) => value.to_string(),
        any_value::Value::BoolValue(value) => value.to_string(),
        any_value::Value::DoubleValue(value) => value.to_string(),
        other => format!("{other:?}"),
    })
}
