//! Spans on standard error, for whoever looks at them while they write a flow.

use std::io::Write as _;

use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::{Map, Value, json};

/// Writes a span as a line of JSON.
pub(crate) fn write(span: &Span) {
    let line = format!("{}\n", shown(span));
    // Who has closed standard error does not want to see it.
    std::io::stderr().lock().write_all(line.as_bytes()).ok();
}

fn shown(span: &Span) -> Value {
    let status = span.status.clone().unwrap_or_default();
    json!({
        "trace_id": hex(&span.trace_id),
        "span_id": hex(&span.span_id),
        "parent_span_id": (!span.parent_span_id.is_empty()).then(|| hex(&span.parent_span_id)),
        "name": span.name,
        "start_time_unix_nano": span.start_time_unix_nano,
        "end_time_unix_nano": span.end_time_unix_nano,
        "status": status.code().as_str_name(),
        "status_message": (!status.message.is_empty()).then_some(status.message),
        "attributes": attributes(&span.attributes),
    })
}

fn attributes(of: &[KeyValue]) -> Map<String, Value> {
    of.iter().map(|attribute| (attribute.key.clone(), value(attribute.value.as_ref()))).collect()
}

fn value(of: Option<&AnyValue>) -> Value {
    match of.and_then(|of| of.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => json!(text),
        Some(any_value::Value::BoolValue(value)) => json!(value),
        Some(any_value::Value::IntValue(value)) => json!(value),
        Some(any_value::Value::DoubleValue(value)) => json!(value),
        Some(any_value::Value::ArrayValue(list)) => list.values.iter().map(|of| value(Some(of))).collect(),
        // No span of ours has others.
        Some(_) | None => Value::Null,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_a_line() {
        let text = |text: &str| AnyValue { value: Some(any_value::Value::StringValue(text.to_owned())) };
        let span = Span {
            trace_id: vec![1; 16],
            span_id: vec![2; 8],
            name: "chat m".to_owned(),
            attributes: vec![KeyValue { key: "a".to_owned(), value: Some(text("b")), ..KeyValue::default() }],
            ..Span::default()
        };
        let shown = shown(&span);
        assert_eq!(shown["trace_id"], "01".repeat(16));
        assert_eq!((&shown["parent_span_id"], &shown["attributes"]), (&Value::Null, &json!({ "a": "b" })));
    }
}
