//! Spans as a collector gets them.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use lmlang_agents::exporting::export_spans;
use lmlang_engine::Turn;
use lmlang_redact::{Config, Policy};
use lmlang_telemetry::{Exporter, Resource, Settings};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

use crate::world::{World, call, scripted};

const PLANTED: &str = "planted-7f3a-secret";

const SCRIPT: &str = r#"
[[reply]]
role = "planner"
json = { goal = "keep planted-7f3a-secret", constraints = [], domain_hints = [], plan = ["keep it"] }

[[reply]]
tool_calls = [{ name = "add_node", arguments = { label = "Account", key = "a", props = { note = "planted-7f3a-secret" } } }]

[[reply]]
text = "It is kept."
"#;

/// A collector, and what it was sent.
async fn collector() -> (String, Arc<Mutex<Vec<Span>>>) {
    let spans: Arc<Mutex<Vec<Span>>> = Arc::default();
    let taken = Arc::clone(&spans);
    let take = move |body: Bytes| async move {
        let request = ExportTraceServiceRequest::decode(body).expect("it is a request");
        let came = request.resource_spans.into_iter().flat_map(|of| of.scope_spans).flat_map(|of| of.spans);
        taken.lock().unwrap_or_else(PoisonError::into_inner).extend(came);
        Bytes::new()
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let app = Router::new().route("/v1/traces", post(take));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, spans)
}

fn text(span: &Span, name: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key == name)?;
    match found.value.clone()?.value? {
        Value::StringValue(text) => Some(text),
        other => Some(format!("{other:?}")),
    }
}

/// What a conversation of one task sends until its engine has closed.
async fn sent(content: bool) -> Vec<Span> {
    let mut script = tempfile::NamedTempFile::new().expect("a file");
    script.write_all(SCRIPT.as_bytes()).expect("it can be written");
    let world = World::new(scripted(script.path())).await;
    let config = Config { secrets: vec![PLANTED.to_owned()], ..Config::default() };
    let policy = Policy::new(&config).expect("it makes sense");
    world.engine.hide_by(policy.clone());
    let (url, spans) = collector().await;
    let set = |name: &str| match name {
        "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(url.clone()),
        // Nothing is sent before the end.
        "OTEL_BSP_SCHEDULE_DELAY" => Some("3600000".to_owned()),
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" => Some(content.to_string()),
        _ => None,
    };
    let settings = Settings::from_env(&set).expect("they make sense");
    let exporter = Exporter::start(&settings, Resource::default(), policy).expect("it starts");
    let marks = vec![("lmlang.config_hash".to_owned(), "abc".to_owned())];
    export_spans(&world.engine, &exporter, marks, settings.capture_content);
    let turn = Turn {
        workflow: Some("act".to_owned()),
        text: Some(format!("remember {PLANTED}")),
        ..Turn::default()
    };
    let turned = world.engine.take_turn(&turn, &call()).await.expect("it is taken");
    assert_eq!(turned.run.status, lmlang_engine::RunStatus::Completed, "{:?}", turned.view);
    world.engine.close().await;
    let sent = spans.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let stored = exporter.counters();
    assert_eq!((stored.exported, stored.dropped), (sent.len() as u64, 0));
    sent
}

/// PUN-03, PUN-30, PUN-32, PUN-33: every span of a run is sent before the engine has closed, in one tree, under the names of the
/// conventions, with what the run was made by on its root.
#[tokio::test]
async fn a_collector_gets_every_span() {
    let spans = sent(false).await;
    let ids: BTreeSet<_> = spans.iter().map(|span| span.span_id.clone()).collect();
    assert_eq!(ids.len(), spans.len(), "each comes once");
    let roots: Vec<_> = spans.iter().filter(|span| span.parent_span_id.is_empty()).collect();
    let [root] = roots[..] else { panic!("{roots:?}") };
    assert!(spans.iter().all(|span| std::ptr::eq(span, root) || ids.contains(&span.parent_span_id)));
    assert!(spans.iter().all(|span| span.trace_id == root.trace_id));
    assert_eq!(root.name, "invoke_workflow act");
    for (name, value) in [
        ("gen_ai.operation.name", "invoke_workflow"),
        ("gen_ai.provider.name", "script"),
        ("langfuse.observation.type", "agent"),
        ("langfuse.trace.name", "act"),
        ("user.id", "ada"),
        ("lmlang.config_hash", "abc"),
    ] {
        assert_eq!(text(root, name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(text(root, "session.id"), text(root, "gen_ai.conversation.id"));
    assert!(text(root, "lmlang.flow.definition_hash").is_some());
    let names: BTreeSet<_> = spans.iter().map(|span| span.name.as_str()).collect();
    for name in ["parse_goal", "plan_step", "call_tool", "evaluate", "execute_tool add_node"] {
        assert!(names.contains(name), "{name}: {names:?}");
    }
    let asked: Vec<_> = spans.iter().filter(|span| span.name.starts_with("chat ")).collect();
    assert_eq!(asked.len(), 3);
    let tokens = |span: &&&Span| text(span, "gen_ai.usage.input_tokens").is_some();
    assert_eq!(asked.iter().filter(tokens).count(), 3);
    // Content is not asked for.
    let told = format!("{spans:?}");
    for secret in [PLANTED, "It is kept", "gen_ai.output.messages", "lmlang.tool.arguments"] {
        assert!(!told.contains(secret), "{secret}");
    }
}

/// PUN-34: what was asked and answered is sent where that is asked for, without what is secret in it.
#[tokio::test]
async fn content_is_sent_where_it_is_asked_for() {
    let spans = sent(true).await;
    let told = format!("{spans:?}");
    assert!(told.contains("It is kept") && !told.contains(PLANTED), "{told}");
    let asked = spans.iter().find(|span| span.name.starts_with("chat ")).expect("there is one");
    assert!(text(asked, "gen_ai.input.messages").is_some_and(|text| text.contains("remember [redacted]")));
    let called = spans.iter().find(|span| span.name == "execute_tool add_node").expect("there is one");
    assert!(text(called, "gen_ai.tool.call.arguments").is_some_and(|text| text.contains("[redacted]")));
    assert!(text(called, "gen_ai.tool.call.result").is_some());
}
