//! Spans as they are sent: without secrets, in the messages of the protocol.

use lmlang_redact::{MARK, Policy};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue, any_value,
};
use opentelemetry_proto::tonic::resource::v1::Resource as ResourceMessage;
use opentelemetry_proto::tonic::trace::v1::{
    ResourceSpans, ScopeSpans, Span as SpanMessage, Status as StatusMessage, span, status,
};

use crate::names;
use crate::span::{Event, Kind, Resource, Span, Status, Value};

/// What the flags of a span say: it is sampled, and its parent is of this process.
const FLAGS: u32 = 0x101;

/// Whether content of messages is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Content {
    /// It is left out.
    #[default]
    LeftOut,
    /// It is sent, without secrets.
    Sent,
}

/// Turns spans into messages, and leaves out what nobody is to see.
#[derive(Clone)]
pub(crate) struct Cleaner {
    pub(crate) policy: Policy,
    pub(crate) content: Content,
}

impl Cleaner {
    pub(crate) fn span(&self, span: Span) -> SpanMessage {
        let (code, message) = match span.status {
            Status::Ok => (status::StatusCode::Ok, String::new()),
            Status::Error { message } => (status::StatusCode::Error, self.text(message)),
        };
        let kind = match span.kind {
            Kind::Internal => span::SpanKind::Internal,
            Kind::Server => span::SpanKind::Server,
            Kind::Client => span::SpanKind::Client,
            Kind::Producer => span::SpanKind::Producer,
            Kind::Consumer => span::SpanKind::Consumer,
        };
        let events = span.events.into_iter().filter(|event| self.sends(names::is_message(&event.name)));
        SpanMessage {
            trace_id: span.trace_id.to_vec(),
            span_id: span.span_id.to_vec(),
            parent_span_id: span.parent.map(|parent| parent.to_vec()).unwrap_or_default(),
            flags: FLAGS,
            name: self.text(span.name),
            kind: kind.into(),
            start_time_unix_nano: span.start_ns,
            end_time_unix_nano: span.end_ns,
            attributes: self.attributes(span.attributes),
            events: events.map(|event| self.event(event)).collect(),
            status: Some(StatusMessage { message, code: code.into() }),
            ..SpanMessage::default()
        }
    }

    pub(crate) fn attributes(&self, attributes: Vec<(String, Value)>) -> Vec<KeyValue> {
        let sent = attributes.into_iter().filter(|(name, _)| self.sends(names::is_content(name)));
        sent.map(|(name, value)| self.attribute(name, value)).collect()
    }

    fn event(&self, event: Event) -> span::Event {
        span::Event {
            time_unix_nano: event.time_ns,
            name: self.text(event.name),
            attributes: self.attributes(event.attributes),
            ..span::Event::default()
        }
    }

    fn sends(&self, content: bool) -> bool {
        !content || self.content == Content::Sent
    }

    fn attribute(&self, name: String, value: Value) -> KeyValue {
        let value = if self.policy.hides_field(&name) { hidden(value) } else { self.value(value) };
        KeyValue { key: self.text(name), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
    }

    fn value(&self, value: Value) -> any_value::Value {
        match value {
            Value::Text(text) => any_value::Value::StringValue(self.text(text)),
            Value::Bool(value) => any_value::Value::BoolValue(value),
            Value::Int(value) => any_value::Value::IntValue(value),
            Value::Float(value) => any_value::Value::DoubleValue(value),
            Value::Texts(texts) => {
                let texts = texts.into_iter().map(|text| any_value::Value::StringValue(self.text(text)));
                let values = texts.map(|text| AnyValue { value: Some(text) }).collect();
                any_value::Value::ArrayValue(ArrayValue { values })
            }
            Value::Json(mut value) => {
                self.policy.value(&mut value);
                // Once more as a text: a name and what stands beside it can be a secret together.
                any_value::Value::StringValue(self.text(value.to_string()))
            }
        }
    }

    fn text(&self, text: String) -> String {
        match self.policy.text(&text) {
            std::borrow::Cow::Borrowed(_) => text,
            std::borrow::Cow::Owned(hidden) => hidden,
        }
    }
}

fn hidden(value: Value) -> any_value::Value {
    let nothing = match value {
        Value::Text(text) => text.is_empty(),
        Value::Texts(texts) => texts.is_empty(),
        Value::Json(value) => value.is_null(),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => false,
    };
    any_value::Value::StringValue(if nothing { String::new() } else { MARK.to_owned() })
}

/// Who sends, in the messages of the protocol.
pub(crate) struct Sender {
    resource: ResourceMessage,
    scope: InstrumentationScope,
}

impl Sender {
    /// Puts a resource together: what the environment says goes before what the process says.
    pub(crate) fn new(cleaner: &Cleaner, resource: Resource, environment: &[(String, String)]) -> Sender {
        let mut attributes = resource.attributes;
        for (name, value) in environment {
            attributes.retain(|(known, _)| known != name);
            attributes.push((name.clone(), Value::from(value.as_str())));
        }
        Sender {
            resource: ResourceMessage {
                attributes: cleaner.attributes(attributes),
                ..ResourceMessage::default()
            },
            scope: InstrumentationScope {
                name: "lmlang".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                ..InstrumentationScope::default()
            },
        }
    }

    /// The request that sends spans.
    pub(crate) fn request(&self, spans: Vec<SpanMessage>) -> ExportTraceServiceRequest {
        let scope_spans =
            vec![ScopeSpans { scope: Some(self.scope.clone()), spans, schema_url: String::new() }];
        let resource = Some(self.resource.clone());
        ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans { resource, scope_spans, schema_url: String::new() }],
        }
    }
}
