//! Where spans are sent to, and how: what variables of the environment say.
//!
//! The variables are OpenTelemetry's; where those name no collector, Langfuse's do. A variable that is set to nothing is not
//! set. No error shows a value, for it may be a key.

mod collector;
mod parse;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use thiserror::Error;

pub use collector::{Collector, Compression};
use parse::Variables;

/// All that an exporter has to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Where spans go.
    pub destination: Destination,
    /// Attributes of the process, which go before those that it says itself.
    pub resource: Vec<(String, String)>,
    /// Whether content of messages is sent.
    pub capture_content: bool,
    /// How long one request may take.
    pub timeout: Duration,
    /// Most spans that wait or are on their way; one more is dropped.
    pub queue_spans: usize,
    /// Most bytes of them.
    pub queue_bytes: usize,
    /// Most spans of a request.
    pub batch_spans: usize,
    /// Bytes of spans that a request has when it is full.
    pub batch_bytes: usize,
    /// How long a span waits for others to be sent with.
    pub delay: Duration,
    /// How a request is repeated.
    pub retry: Retry,
}

/// How a request is repeated while the collector is out of reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The first pause, about: a random part of it is added. It is the longest, too, while somebody waits for spans to be
    /// sent.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
    /// How long spans are tried before they are given up; a collector that wants a longer pause does not get it.
    pub patience: Duration,
}

/// Where spans go.
#[derive(Clone, Debug, PartialEq)]
pub enum Destination {
    /// Nowhere.
    Nowhere(Off),
    /// To standard error, a line of JSON each.
    Console,
    /// To a collector.
    Collector(Collector),
}

/// Why nothing is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Off {
    /// No variable names a collector.
    NotConfigured,
    /// A variable says that nothing is to be sent.
    Disabled {
        /// Which one.
        variable: &'static str,
    },
}

impl fmt::Display for Off {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Off::NotConfigured => formatter.write_str(
                "traces are not exported: neither `OTEL_EXPORTER_OTLP_ENDPOINT` nor `LANGFUSE_BASE_URL` is set",
            ),
            Off::Disabled { variable } => write!(formatter, "traces are not exported: `{variable}` says so"),
        }
    }
}

/// What is wrong with the environment. The value of a variable is never shown.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// A variable needs another one.
    #[error("`{given}` is set and `{missing}` is not")]
    Missing {
        /// What is not set.
        missing: &'static str,
        /// What is.
        given: &'static str,
    },
    /// A variable does not have the form that it should.
    #[error("`{variable}` is malformed: {why}")]
    Malformed {
        /// Which one.
        variable: &'static str,
        /// What is expected.
        why: &'static str,
    },
    /// A variable asks for something that there is not.
    #[error("`{variable}` asks for what is not supported: {why}")]
    Unsupported {
        /// Which one.
        variable: &'static str,
        /// What there is.
        why: &'static str,
    },
}

impl Settings {
    /// Reads the variables of an environment.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Result<Settings, SettingsError> {
        let variables = Variables(env);
        let mut settings = Settings {
            destination: collector::destination(&variables)?,
            capture_content: variables.is_true("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"),
            ..Settings::default()
        };
        if let Destination::Nowhere(Off::Disabled { .. }) = settings.destination {
            return Ok(settings);
        }
        let timeouts = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];
        if let Some(timeout) = variables.first_number(&timeouts)? {
            settings.timeout = Duration::from_millis(timeout);
        }
        if let Some(delay) = variables.first_number(&["OTEL_BSP_SCHEDULE_DELAY"])? {
            settings.delay = Duration::from_millis(delay);
        }
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(spans) = variables.first_number(&["OTEL_BSP_MAX_QUEUE_SIZE"])? {
            settings.queue_spans = size(spans);
        }
        if let Some(spans) = variables.first_number(&["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"])? {
            settings.batch_spans = size(spans);
        }
        settings.resource = variables.pairs("OTEL_RESOURCE_ATTRIBUTES")?;
        if let Some(name) = variables.get("OTEL_SERVICE_NAME") {
            settings.resource.retain(|(known, _)| known != "service.name");
            settings.resource.push(("service.name".to_owned(), name));
        }
        Ok(settings)
    }

    /// Keys that the collector is shown, for a policy that hides them in what is sent.
    #[must_use]
    pub fn secrets(&self) -> Vec<String> {
        match &self.destination {
            Destination::Nowhere(_) | Destination::Console => Vec::new(),
            Destination::Collector(collector) => collector.secrets(),
        }
    }
}

impl Default for Settings {
    /// What OpenTelemetry says, and nowhere to send to.
    fn default() -> Settings {
        Settings {
            destination: Destination::Nowhere(Off::NotConfigured),
            resource: Vec::new(),
            capture_content: false,
            timeout: Duration::from_secs(10),
            queue_spans: 2048,
            queue_bytes: 16 << 20,
            batch_spans: 512,
            batch_bytes: 2 << 20,
            delay: Duration::from_secs(5),
            retry: Retry {
                first: Duration::from_secs(1),
                longest: Duration::from_secs(30),
                patience: Duration::from_secs(300),
            },
        }
    }
}
