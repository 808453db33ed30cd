//! Logs and metrics of the process.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::Duration;

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Text when standard error is a terminal, JSON otherwise.
    #[default]
    Auto,
    /// One line of text for each event.
    Text,
    /// One JSON object for each event.
    Json,
}

/// Why logging does not start.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The filter is not one.
    #[error("the log filter is not readable")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// Something else in this process logs already.
    #[error("logging was started before")]
    Started,
}

/// Logs to standard error from here on, panics included.
///
/// # Errors
/// When the filter cannot be read, or logging was started before.
pub fn start_logging(filter: &str, format: LogFormat) -> Result<(), LogError> {
    let filter = EnvFilter::builder().parse(filter)?;
    let text = match format {
        LogFormat::Auto => std::io::stderr().is_terminal(),
        LogFormat::Text => true,
        LogFormat::Json => false,
    };
    // What cannot be written is lost; that it could not be written is no reason to panic where something else is at work.
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .log_internal_errors(false);
    let started = if text {
        logs.with_ansi(std::io::stderr().is_terminal()).try_init()
    } else {
        logs.json().flatten_event(true).try_init()
    };
    started.map_err(|_| LogError::Started)?;
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        tracing::error!(%panic, %backtrace, "panicked");
    }));
    Ok(())
}

/// Records metrics from here on: what counts before a server is there would count for nothing otherwise.
pub fn start_metrics() {
    drop(Metrics::shared());
}

/// The metrics of the process; the recorder is global, so every server in a process shows the same.
#[derive(Clone)]
pub(crate) struct Metrics(PrometheusHandle);

impl Metrics {
    /// Returns the process's metrics and installs their recorder first where that has not happened.
    pub(crate) fn shared() -> Metrics {
        static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
        Metrics(HANDLE.get_or_init(install).clone())
    }

    pub(crate) fn render(&self) -> String {
        self.0.render()
    }

    /// Folds recorded samples into their buckets, which otherwise happens only when somebody looks.
    pub(crate) async fn keep_up(self) {
        let mut ticks = tokio::time::interval(Duration::from_secs(5));
        loop {
            ticks.tick().await;
            self.0.run_upkeep();
        }
    }
}

fn install() -> PrometheusHandle {
    let seconds =
        [0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &seconds)
        .expect("there are buckets");
    let recorder = builder.build_recorder();
    let handle = recorder.handle();
    if metrics::set_global_recorder(recorder).is_err() {
        tracing::warn!("another metrics recorder is installed, and `/metrics` shows nothing");
    }
    describe_counter!("lmlang_graphql_answers_total", "Answers to GraphQL operations, by kind and outcome.");
    describe_histogram!(
        "lmlang_graphql_duration_seconds",
        Unit::Seconds,
        "Time from the start of a query or mutation to its answer."
    );
    describe_gauge!("lmlang_websockets", "WebSocket connections that are open.");
    describe_gauge!("lmlang_streams", "Operations that run on WebSockets and event streams.");
    handle
}
