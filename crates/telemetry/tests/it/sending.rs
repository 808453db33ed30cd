//! What is sent: names, attributes, headers; and what is not.

use std::io::Read as _;
use std::time::Duration;

use lmlang_redact::{Config, Policy};
use lmlang_telemetry::names::{self, gen_ai, langfuse};
use lmlang_telemetry::{Counters, Event, Exporter, Kind, Off, Resource, Settings, Span, Status, Value};
use opentelemetry_proto::tonic::trace::v1::{span::SpanKind, status::StatusCode};
use prost::Message;
use serde_json::json;

use crate::collector::{Answer, LONG, Request, Stub, attribute, settings, span, start, to};

fn chat() -> Span {
    Span {
        parent: Some([7; 8]),
        name: names::chat("small"),
        attributes: vec![
            (gen_ai::OPERATION_NAME.to_owned(), gen_ai::operation::CHAT.into()),
            (gen_ai::PROVIDER_NAME.to_owned(), "openai".into()),
            (gen_ai::REQUEST_MODEL.to_owned(), "small".into()),
            (gen_ai::USAGE_INPUT_TOKENS.to_owned(), 12_u64.into()),
            (gen_ai::REQUEST_TEMPERATURE.to_owned(), 0.5.into()),
            (gen_ai::RESPONSE_FINISH_REASONS.to_owned(), Value::Texts(vec!["stop".to_owned()])),
            (gen_ai::INPUT_MESSAGES.to_owned(), json!([{"role": "user", "password": "x"}]).into()),
            (langfuse::OBSERVATION_TYPE.to_owned(), langfuse::observation::GENERATION.into()),
            (langfuse::SESSION_ID.to_owned(), "s1".into()),
            ("lmlang.cached".to_owned(), true.into()),
        ],
        events: vec![
            Event {
                name: "retry".to_owned(),
                time_ns: 1_500,
                attributes: vec![("attempt".to_owned(), 2_u32.into())],
            },
            Event { name: "gen_ai.user.message".to_owned(), time_ns: 1_600, attributes: Vec::new() },
        ],
        ..span(1)
    }
}

#[tokio::test]
async fn spans_are_sent_as_the_conventions_say() {
    let mut stub = Stub::start(&[Answer::Ok]).await;
    let headers = "Authorization=Basic YTpi,x-tenant=t%201";
    let settings = settings(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &stub.url),
        ("OTEL_EXPORTER_OTLP_HEADERS", headers),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test"),
        ("OTEL_SERVICE_NAME", "mine"),
    ]);
    let exporter = start(&settings);
    assert_eq!(exporter.off(), None);
    exporter.record(chat());
    let failed = Status::Error { message: "no such tool".to_owned() };
    exporter.record(Span { status: failed, kind: Kind::Internal, name: names::execute_tool("t"), ..span(2) });
    exporter.flush(LONG).await.unwrap();

    let request = stub.next().await;
    assert_eq!(request.uri, "/v1/traces");
    assert_eq!(request.headers["content-type"], "application/x-protobuf");
    assert_eq!(request.headers["authorization"], "Basic YTpi");
    assert_eq!(request.headers["x-tenant"], "t 1");

    let message = request.message();
    let resource = message.resource_spans[0].resource.clone().unwrap().attributes;
    let of = |name| attribute(&resource, name);
    assert_eq!(of("service.name").unwrap(), "mine");
    assert_eq!(of("service.version").unwrap(), "1.2.3");
    assert_eq!(of("vcs.ref.head.revision").unwrap(), "abc123");
    assert_eq!(of("deployment.environment.name").unwrap(), "test");
    assert_eq!(resource.iter().filter(|attribute| attribute.key == "service.name").count(), 1);

    let spans = request.spans();
    assert_eq!(spans.len(), 2);
    let chat = &spans[0];
    assert_eq!((chat.name.as_str(), chat.kind()), ("chat small", SpanKind::Client));
    assert_eq!((&chat.trace_id[..], &chat.parent_span_id[..]), (&[1; 16][..], &[7; 8][..]));
    assert_eq!(chat.span_id, 2_u64.to_be_bytes());
    assert_eq!((chat.start_time_unix_nano, chat.end_time_unix_nano), (1_000, 2_000));
    assert_eq!(chat.status.clone().unwrap().code(), StatusCode::Ok);
    let of = |name| attribute(&chat.attributes, name);
    assert_eq!(of("gen_ai.operation.name").unwrap(), "chat");
    assert_eq!(of("gen_ai.provider.name").unwrap(), "openai");
    assert_eq!(of("gen_ai.request.model").unwrap(), "small");
    assert_eq!(of("gen_ai.usage.input_tokens").unwrap(), "12");
    assert_eq!(of("gen_ai.request.temperature").unwrap(), "0.5");
    assert!(of("gen_ai.response.finish_reasons").unwrap().contains("stop"));
    assert_eq!(of("langfuse.observation.type").unwrap(), "generation");
    assert_eq!(of("session.id").unwrap(), "s1");
    assert_eq!(of("lmlang.cached").unwrap(), "true");
    assert_eq!(chat.events.len(), 1);
    assert_eq!((chat.events[0].name.as_str(), chat.events[0].time_unix_nano), ("retry", 1_500));
    assert_eq!(attribute(&chat.events[0].attributes, "attempt").unwrap(), "2");

    let tool = &spans[1];
    let status = tool.status.clone().unwrap();
    assert_eq!((tool.name.as_str(), tool.kind()), ("execute_tool t", SpanKind::Internal));
    assert_eq!((status.code(), status.message.as_str()), (StatusCode::Error, "no such tool"));
    let expect = Counters { recorded: 2, exported: 2, ..Counters::default() };
    assert_eq!(exporter.counters(), expect);
}

#[tokio::test]
async fn content_is_sent_only_if_that_is_asked_for() {
    let mut stub = Stub::start(&[Answer::Ok]).await;
    for (capture, sent) in [("false", None), ("true", Some(r#"[{"password":"[redacted]","role":"user"}]"#))] {
        let exporter = start(&settings(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &stub.url),
            ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", capture),
        ]));
        exporter.record(chat());
        exporter.shutdown(LONG).await.unwrap();
        let spans = stub.next().await.spans();
        let content = attribute(&spans[0].attributes, gen_ai::INPUT_MESSAGES);
        let content = content.map(|text| serde_json::from_str::<serde_json::Value>(&text).unwrap());
        assert_eq!(content, sent.map(|text| serde_json::from_str(text).unwrap()));
        assert_eq!(spans[0].events.len(), if sent.is_some() { 2 } else { 1 });
    }
}

#[tokio::test]
async fn langfuse_is_shown_its_keys() {
    let mut stub = Stub::start(&[Answer::Ok]).await;
    let exporter = start(&settings(&[
        ("LANGFUSE_PUBLIC_KEY", "pk-lf-1"),
        ("LANGFUSE_SECRET_KEY", "sk-lf-2"),
        ("LANGFUSE_HOST", &stub.url),
    ]));
    exporter.record(span(1));
    exporter.flush(LONG).await.unwrap();
    let request = stub.next().await;
    assert_eq!(request.uri, "/api/public/otel/v1/traces");
    assert_eq!(request.headers["authorization"], "Basic cGstbGYtMTpzay1sZi0y");
    assert_eq!(request.headers["x-langfuse-ingestion-version"], "4");
}

#[tokio::test]
async fn requests_are_made_smaller_if_that_is_asked_for() {
    let mut stub = Stub::start(&[Answer::Ok]).await;
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", stub.url.as_str()), ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")];
    let exporter = start(&settings(&variables));
    exporter.record(span(1));
    exporter.flush(LONG).await.unwrap();
    let request = stub.next().await;
    assert_eq!(request.headers["content-encoding"], "gzip");
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&request.body[..]).read_to_end(&mut plain).unwrap();
    assert_eq!(Request { body: plain.into(), ..request }.spans().len(), 1);
}

#[tokio::test]
async fn spans_are_sent_when_a_batch_is_full_or_old() {
    let mut stub = Stub::start(&[Answer::Ok]).await;
    let exporter = start(&Settings { batch_spans: 3, ..to(&stub) });
    (0..3).for_each(|number| exporter.record(span(number)));
    assert_eq!(stub.next().await.spans().len(), 3);

    let exporter = start(&Settings { batch_bytes: 1_000, ..to(&stub) });
    let text = Value::from("a".repeat(900));
    let large = Span { attributes: vec![("a".to_owned(), text)], ..span(1) };
    exporter.record(large.clone());
    exporter.record(large);
    assert_eq!(stub.next().await.spans().len(), 1);
    exporter.flush(LONG).await.unwrap();
    assert_eq!(stub.next().await.spans().len(), 1);

    let exporter = start(&Settings { delay: Duration::from_millis(5), ..to(&stub) });
    exporter.record(span(1));
    assert_eq!(stub.next().await.spans().len(), 1);
}

#[tokio::test]
async fn an_exporter_that_is_off_does_nothing() {
    let exporter = start(&settings(&[]));
    assert_eq!(exporter.off(), Some(Off::NotConfigured));
    exporter.record(span(1));
    exporter.flush(LONG).await.unwrap();
    exporter.shutdown(LONG).await.unwrap();
    assert_eq!(exporter.counters(), Counters::default());
}

/// A secret stands wherever a span and a resource have text, and in none of the bytes.
#[tokio::test]
async fn a_planted_secret_is_never_sent() {
    const SECRET: &str = "correct horse/battery";
    let mut stub = Stub::start(&[Answer::Ok]).await;
    let mut settings = settings(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &stub.url),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true"),
    ]);
    settings.resource.push(("a".to_owned(), SECRET.to_owned()));
    let policy = Policy::new(&Config { secrets: vec![SECRET.to_owned()], ..Config::default() }).unwrap();
    let mut resource = Resource::lmlang(SECRET, Some(SECRET));
    resource.attributes.push((SECRET.to_owned(), SECRET.into()));
    let exporter = Exporter::start(&settings, resource, policy).unwrap();

    let forms = [
        SECRET.to_owned(),
        format!("a {SECRET} b"),
        SECRET.replace(' ', "%20"),
        SECRET.replace('/', "\\/"),
        "dTpjb3JyZWN0IGhvcnNlL2JhdHRlcnk=".to_owned(),
    ];
    for (number, form) in (0..).zip(&forms) {
        let attributes = vec![
            ("text".to_owned(), form.as_str().into()),
            ("texts".to_owned(), Value::Texts(vec![form.clone()])),
            (gen_ai::INPUT_MESSAGES.to_owned(), json!([{"content": [form, {form.as_str(): 1}]}]).into()),
            (form.clone(), 1_i64.into()),
            ("api_key".to_owned(), "hunter2hunter2".into()),
            ("db.pin_token".to_owned(), 48_151_623_i64.into()),
            ("key".to_owned(), "sk-hunter2hunter2hunter2".into()),
        ];
        exporter.record(Span {
            name: form.clone(),
            status: Status::Error { message: form.clone() },
            events: vec![Event { name: form.clone(), time_ns: 1, attributes: attributes.clone() }],
            attributes,
            ..span(number)
        });
    }
    exporter.flush(LONG).await.unwrap();
    let request = stub.next().await;
    assert_eq!(request.spans().len(), forms.len());
    let bytes = String::from_utf8_lossy(&request.body).into_owned();
    for form in forms.iter().map(String::as_str).chain(["hunter2", "horse", "battery"]) {
        assert!(!bytes.contains(form), "{form}");
    }
    assert!(bytes.contains("[redacted]"));
    let spans = request.spans();
    assert_eq!(attribute(&spans[0].attributes, "db.pin_token").unwrap(), "[redacted]");
    assert_eq!(request.message().encode_to_vec(), request.body);
}
