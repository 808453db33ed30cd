//! How runs go: calls, failures and models, counted.

use async_graphql::{Context, Enum, ID, SimpleObject};
use chrono::{DateTime, Utc};
use lmlang_engine::{self as engine, Engine, MetricsWanted};
use lmlang_flow::Class;

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::failure::fail;
use crate::schema::mutation::selector;
use crate::schema::revision::moment;
use crate::schema::scalars::Count;

/// How a failure of a node relates to those before it in the same step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "Class")]
pub enum FailureClass {
    /// The first of its kind.
    New,
    /// It may go away by itself, and is waited out.
    Random,
    /// The same tool has failed alike on the same arguments: trying again changes nothing.
    Identical,
    /// It has failed alike on other arguments: the plan is wrong.
    Systematic,
}

/// How runs went: counted from their journals, the newest first.
#[derive(Clone, Debug, SimpleObject)]
pub struct Metrics {
    /// Runs that were looked at.
    runs: Count,
    /// Calls and failures that were counted.
    entries: Count,
    /// Whether there are more than `metricEntries` of `serverInfo.limits`: what is older is left out then.
    truncated: bool,
    /// When the oldest of what was counted happened; null: nothing was.
    oldest: Option<DateTime<Utc>>,
    /// Tools, requests and edits, those called most first.
    tools: Vec<ToolMetrics>,
    /// Models that were asked, those asked most first.
    models: Vec<ModelMetrics>,
    /// Failures of nodes by class; of those that there were.
    classes: Vec<ClassMetrics>,
}

/// How calls of a tool went.
#[derive(Clone, Debug, SimpleObject)]
pub struct ToolMetrics {
    /// What it is: `tool`, `http`, `edit`.
    kind: String,
    /// Its name; of a request, its method and the first part of its path.
    name: String,
    /// How often it was called.
    calls: Count,
    /// How many calls went well.
    ok: Count,
    /// How many calls failed.
    failed: Count,
    /// The codes with which they failed, the most frequent first.
    codes: Vec<CodeCount>,
    /// Failures of nodes that it was to blame for, by class. Where a call was refused before it was made, it counts here alone.
    classes: Vec<ClassCount>,
    /// How long calls took on the average, in milliseconds; null: there was none.
    mean_ms: Option<f64>,
    /// What 95 of 100 calls took at most, in milliseconds; null: there was none.
    #[graphql(name = "p95Ms")]
    p95_ms: Option<f64>,
}

/// How a model did.
#[derive(Clone, Debug, SimpleObject)]
pub struct ModelMetrics {
    /// Who has it; `rules` where none was asked.
    provider: String,
    /// Its name; null: it has none.
    model: Option<String>,
    /// How often it was asked.
    calls: Count,
    /// How many calls went well.
    ok: Count,
    /// How many calls failed.
    failed: Count,
    /// The codes with which they failed, the most frequent first.
    codes: Vec<CodeCount>,
    /// Tokens of what it was asked, as far as that is known.
    input_tokens: Count,
    /// Tokens of what it answered.
    output_tokens: Count,
    /// What the calls cost whose price is known, in US dollars; null: no price is.
    cost_usd: Option<f64>,
    /// How long calls took on the average, in milliseconds.
    mean_ms: Option<f64>,
    /// What 95 of 100 calls took at most, in milliseconds.
    #[graphql(name = "p95Ms")]
    p95_ms: Option<f64>,
}

/// Failures of nodes of a class.
#[derive(Clone, Debug, SimpleObject)]
pub struct ClassMetrics {
    /// The class.
    class: FailureClass,
    /// How many.
    count: Count,
    /// After how many the node was tried again.
    retried: Count,
    /// After how many a person was asked.
    asked: Count,
    /// After how many the run went on at another node.
    diverted: Count,
    /// After how many the run had failed.
    stopped: Count,
    /// Their codes, the most frequent first.
    codes: Vec<CodeCount>,
}

/// How often a code came.
#[derive(Clone, Debug, SimpleObject)]
pub struct CodeCount {
    /// The code.
    code: String,
    /// How often.
    count: Count,
}

/// How often a class came.
#[derive(Clone, Debug, SimpleObject)]
pub struct ClassCount {
    /// The class.
    class: FailureClass,
    /// How often.
    count: Count,
}

impl Direct for Metrics {}
impl Direct for ToolMetrics {}
impl Direct for ModelMetrics {}
impl Direct for ClassMetrics {}
impl Direct for CodeCount {}
impl Direct for ClassCount {}

fn codes(codes: Vec<(String, u64)>) -> Vec<CodeCount> {
    codes.into_iter().map(|(code, count)| CodeCount { code, count: Count(count) }).collect()
}

/// The milliseconds of some microseconds.
fn millis(micros: f64) -> f64 {
    micros / 1_000.0
}

impl From<engine::ToolMetrics> for ToolMetrics {
    fn from(of: engine::ToolMetrics) -> ToolMetrics {
        let engine::ToolMetrics { kind, name, calls, classes } = of;
        let class = |(class, count): (Class, u64)| ClassCount { class: class.into(), count: Count(count) };
        ToolMetrics {
            kind,
            name,
            calls: Count(calls.calls),
            ok: Count(calls.calls - calls.failed),
            failed: Count(calls.failed),
            codes: codes(calls.codes),
            classes: classes.into_iter().map(class).collect(),
            mean_ms: calls.mean.map(millis),
            p95_ms: calls.p95.map(|micros| millis(micros as f64)),
        }
    }
}

impl From<engine::ModelMetrics> for ModelMetrics {
    fn from(of: engine::ModelMetrics) -> ModelMetrics {
        let engine::ModelMetrics { provider, model, calls, input_tokens, output_tokens, nano_usd } = of;
        ModelMetrics {
            provider,
            model,
            calls: Count(calls.calls),
            ok: Count(calls.calls - calls.failed),
            failed: Count(calls.failed),
            codes: codes(calls.codes),
            input_tokens: Count(input_tokens),
            output_tokens: Count(output_tokens),
            cost_usd: nano_usd.map(|nano| nano as f64 / 1e9),
            mean_ms: calls.mean.map(millis),
            p95_ms: calls.p95.map(|micros| millis(micros as f64)),
        }
    }
}

impl From<engine::ClassMetrics> for ClassMetrics {
    fn from(of: engine::ClassMetrics) -> ClassMetrics {
        ClassMetrics {
            class: of.class.into(),
            count: Count(of.count),
            retried: Count(of.retried),
            asked: Count(of.asked),
            diverted: Count(of.diverted),
            stopped: Count(of.stopped),
            codes: codes(of.codes),
        }
    }
}

/// Counts how runs went.
pub(crate) async fn count(
    context: &Context<'_>,
    program: Option<ID>,
    flow: Option<String>,
    (since, until): (Option<DateTime<Utc>>, Option<DateTime<Utc>>),
) -> Result<Metrics, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    let micros = |time: DateTime<Utc>| time.timestamp_micros();
    let wanted = MetricsWanted {
        program: program.map(|program| selector(&program)),
        flow,
        since: since.map(micros),
        until: until.map(micros),
    };
    let found = engine.metrics(wanted).await.map_err(fail)?;
    Ok(Metrics {
        runs: Count(found.runs),
        entries: Count(found.entries),
        truncated: found.truncated,
        oldest: found.oldest.map(moment),
        tools: found.tools.into_iter().map(ToolMetrics::from).collect(),
        models: found.models.into_iter().map(ModelMetrics::from).collect(),
        classes: found.classes.into_iter().map(ClassMetrics::from).collect(),
    })
}
