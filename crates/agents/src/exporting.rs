//! The spans of runs, as a collector is sent them.
//!
//! What a span notes has the names of OpenTelemetry's conventions already; here come those that Langfuse reads, what was asked
//! and answered, for exporters that are to send that, and on the span of a run what tells apart by what it was made.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use lmlang_engine::{BoxFuture, Engine, Finished, Span, Tracer};
use lmlang_telemetry::names::{ERROR_TYPE, gen_ai, langfuse};
use lmlang_telemetry::{Exporter, Kind, Status, Value, names};
use serde_json::json;

/// How long the last spans may take to the collector, at the end of the process.
const LAST_SPANS: Duration = Duration::from_secs(5);

/// What stands on the span of every run beside what the run says itself: a commit, a hash of the configuration, models, an item of
/// a dataset.
pub type Marks = Vec<(String, String)>;

/// Sends the spans of an engine's runs to a collector, to the last one when the engine closes: once, before
/// callers come. `content`: with what was asked and answered.
pub fn export_spans(engine: &Engine, exporter: &Exporter, marks: Marks, content: bool) {
    engine.trace_by(Arc::new(Exporting { exporter: exporter.clone(), marks, content }));
}

/// Sends spans by an exporter.
struct Exporting {
    exporter: Exporter,
    marks: Marks,
    content: bool,
}

impl Tracer for Exporting {
    fn wants_content(&self) -> bool {
        self.content
    }

    fn record(&self, finished: Finished<'_>) {
        // A span has an end when it is over, and ids of hexadecimal digits.
        if let Some(span) = sent(finished, &self.marks) {
            self.exporter.record(span);
        }
    }

    fn close<'a>(&'a self) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            // What is left is counted, and warned of.
            self.exporter.shutdown(LAST_SPANS).await.unwrap_or_default();
        })
    }
}

fn sent(finished: Finished<'_>, marks: &[(String, String)]) -> Option<lmlang_telemetry::Span> {
    let Finished { span, content, actor } = finished;
    let mut attributes: Vec<(String, Value)> = Vec::new();
    let mut add = |name: &str, value: Value| attributes.push((name.to_owned(), value));
    let is_root = span.kind == "run";
    add(langfuse::OBSERVATION_TYPE, Value::from(observation(&span.kind)));
    add(langfuse::SESSION_ID, Value::from(session(&span.trace)));
    if is_root {
        add(langfuse::TRACE_NAME, Value::from(span.name.as_str()));
        add(langfuse::USER_ID, Value::from(actor));
    }
    if let Some(attempt) = span.attempt {
        add("lmlang.step.attempt", Value::from(attempt));
    }
    if let Some(nano) = span.attributes["lmlang.cost.nano_usd"].as_u64() {
        // As Langfuse adds it up: dollars by part.
        #[expect(clippy::cast_precision_loss, reason = "a price has fewer digits")]
        let total = nano as f64 / 1e9;
        add(langfuse::OBSERVATION_COST_DETAILS, Value::Json(json!({ "total": total })));
    }
    if let Some((request, answer)) = content {
        let (asked, answered) = match span.kind.as_str() {
            "model" => (gen_ai::INPUT_MESSAGES, gen_ai::OUTPUT_MESSAGES),
            "tool" => (gen_ai::TOOL_CALL_ARGUMENTS, gen_ai::TOOL_CALL_RESULT),
            _ => (langfuse::OBSERVATION_INPUT, langfuse::OBSERVATION_OUTPUT),
        };
        add(asked, Value::Json(request));
        add(answered, Value::Json(answer));
    }
    let message = span.attributes["error.message"].as_str().or(span.attributes[ERROR_TYPE].as_str());
    let status = match span.ok {
        Some(false) => Status::Error { message: message.unwrap_or_default().to_owned() },
        Some(true) | None => Status::Ok,
    };
    let own = span.attributes.as_object().into_iter().flatten();
    attributes.extend(own.map(|(name, value)| (name.clone(), Value::from(value.clone()))));
    if is_root {
        attributes.extend(marks.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))));
    }
    // Names do not repeat: what the product says goes before what the environment does.
    let mut names = BTreeSet::new();
    attributes.retain(|(name, _)| names.insert(name.clone()));
    Some(lmlang_telemetry::Span {
        trace_id: bytes(&span.trace)?,
        span_id: bytes(&span.id)?,
        parent: span.parent.as_deref().and_then(bytes),
        name: called(&span),
        kind: match span.kind.as_str() {
            "model" | "http" => Kind::Client,
            _ => Kind::Internal,
        },
        start_ns: nanoseconds(span.started),
        end_ns: nanoseconds(span.ended?.max(span.started)),
        status,
        attributes,
        events: Vec::new(),
    })
}

/// The name of a span of a kind: of few different ones.
fn called(span: &Span) -> String {
    match span.kind.as_str() {
        "run" => names::invoke_workflow(&span.name),
        "tool" => names::execute_tool(&span.name),
        // The path has names in it.
        "http" => span.name.split(' ').next().unwrap_or_default().to_owned(),
        _ => span.name.clone(),
    }
}

fn observation(kind: &str) -> &'static str {
    match kind {
        "run" => langfuse::observation::AGENT,
        "model" => langfuse::observation::GENERATION,
        "tool" => langfuse::observation::TOOL,
        "interrupt" => langfuse::observation::GUARDRAIL,
        _ => langfuse::observation::SPAN,
    }
}

/// The session, as it is written elsewhere: the id of a trace has its digits.
fn session(trace: &str) -> String {
    uuid::Uuid::try_parse(trace).map_or_else(|_| trace.to_owned(), |id| id.to_string())
}

fn nanoseconds(micros: i64) -> u64 {
    u64::try_from(micros).unwrap_or(0).saturating_mul(1_000)
}

fn bytes<const N: usize>(hex: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let digits = hex.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}
