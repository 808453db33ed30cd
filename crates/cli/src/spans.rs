//! Spans of runs, sent to the collector that the environment names.

use lmlang_agents::exporting::{Marks, export_spans};
use lmlang_engine::Engine;
use lmlang_telemetry::{Destination, Exporter, Resource};

use crate::error::Error;
use crate::settings::Settings;

/// The commit that this program was built from, where whoever built it said so.
const COMMIT: Option<&str> = option_env!("LMLANG_COMMIT");

/// Attributes of the environment that stand on the span of every run, too, by the beginning of their names.
const OF_RUNS: [&str; 2] = ["lmlang.", "langfuse.trace."];

/// Has the spans of an engine's runs sent: once, before callers come. Without a collector, nothing is.
pub(crate) fn export(engine: &Engine, settings: &Settings) -> Result<(), Error> {
    let telemetry = settings.telemetry()?;
    match &telemetry.destination {
        Destination::Nowhere(off) => {
            tracing::debug!("{off}");
            return Ok(());
        }
        Destination::Console => tracing::info!("spans of runs are written to standard error"),
        Destination::Collector(collector) => {
            tracing::info!(server = collector.server(), "spans of runs are sent to a collector");
        }
    }
    let resource = Resource::lmlang(env!("CARGO_PKG_VERSION"), COMMIT);
    let exporter = Exporter::start(&telemetry, resource, settings.redaction()?).map_err(Error::Collector)?;
    let mut marks: Marks = vec![("lmlang.config_hash".to_owned(), settings.hash())];
    marks.extend(COMMIT.map(|commit| ("vcs.ref.head.revision".to_owned(), commit.to_owned())));
    for model in settings.models()?.describe() {
        let named = model.model.clone().unwrap_or_else(|| model.provider.clone());
        marks.push((format!("lmlang.model.{}", model.role.name()), named));
    }
    let of_runs = |(name, _): &&(String, String)| OF_RUNS.iter().any(|start| name.starts_with(start));
    marks.extend(telemetry.resource.iter().filter(of_runs).cloned());
    export_spans(engine, &exporter, marks, telemetry.capture_content);
    Ok(())
}
