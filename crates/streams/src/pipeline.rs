//! Pipelines as requests and records.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// How rows get their times, and how long late ones are waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EventTimeOptions {
    /// Whether the time of a row is that of the stream's event time, not that of its arrival.
    pub enabled: bool,
    /// How much older than the newest row one may be, in milliseconds.
    pub late_tolerance_ms: u64,
}

/// Options of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Rows that may wait between two steps.
    pub data_channel_capacity: u32,
    /// Times.
    pub eventtime: EventTimeOptions,
}

impl Default for Options {
    fn default() -> Options {
        Options { data_channel_capacity: 16, eventtime: EventTimeOptions::default() }
    }
}

/// The body of `POST /pipelines`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipelineRequest {
    /// Its id.
    pub id: String,
    /// The instance that is to run it; passed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_instance_id: Option<String>,
    /// The query.
    pub sql: String,
    /// What it reads; passed on.
    #[serde(default)]
    pub sources: Vec<Json>,
    /// Where its rows go: objects with a `type`, one at least.
    pub sinks: Vec<Json>,
    /// Options.
    #[serde(default)]
    pub options: Options,
}
