//! Pipelines: created, planned, started, stopped, explained.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{
    Answer, Body, Change, MOST_RECORDS, Manager, Record, RecordKind, Refused, RefusedKind, check_body, ok,
    shown,
};
use crate::catalog::{ShapeError, check_id, read};
use crate::explain::pretty;
use crate::pipeline::PipelineRequest;
use crate::planned::{Planned, check};
use crate::simulate::{Bounds, Sample, simulate};

/// Bounds of a simulation that is asked for: about a second.
const BOUNDS: Bounds = Bounds { fuel: 10_000_000, memory_bytes: 64 << 20, rows: 10_000 };

/// Where a sink says of which kind it is.
const SINK_KINDS: [&str; 2] = ["type", "sink_type"];

/// Whether a pipeline should run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PipelineStatus {
    /// It should not.
    Stopped,
    /// It should.
    Running,
}

/// A pipeline, as `GET /pipelines/:id` shows it and as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Whether it should run.
    pub status: PipelineStatus,
    /// Counts the requests that the id has had, from 1.
    pub version: u64,
    /// How often it was started.
    pub starts: u64,
    /// What it was made of.
    pub pipeline: PipelineRequest,
}

pub(super) fn record(pipeline: &Pipeline) -> Record {
    Record { kind: RecordKind::Pipeline, name: pipeline.pipeline.id.clone(), value: shown(pipeline) }
}

impl Manager {
    pub(super) fn find(&self, id: &str) -> Result<&Pipeline, Refused> {
        let known = self.pipelines.keys().map(String::as_str);
        self.pipelines.get(id).ok_or_else(|| Refused::missing("pipeline", id, known))
    }

    pub(super) fn create_pipeline(&self, body: &Json) -> Result<Answer, Refused> {
        let request = self.request(body)?;
        if self.pipelines.contains_key(&request.id) {
            let message = format!("there is a pipeline `{}` already", request.id);
            return Err(Refused::new(RefusedKind::Conflict, message));
        }
        if self.pipelines.len() >= MOST_RECORDS {
            let message = format!("there are {MOST_RECORDS} pipelines already");
            return Err(Refused::new(RefusedKind::Conflict, message));
        }
        let pipeline = Pipeline { status: PipelineStatus::Stopped, version: 1, starts: 0, pipeline: request };
        Ok(stored(201, &pipeline))
    }

    pub(super) fn replace_pipeline(&self, id: &str, body: &Json) -> Result<Answer, Refused> {
        let found = self.find(id)?;
        let request = self.request(body)?;
        if request.id != id {
            let problem = format!("the path says `{id}`, the body `{}`", request.id);
            return Err(Refused::bad(&ShapeError::at("id", problem)));
        }
        if found.status == PipelineStatus::Running {
            let message = format!("the pipeline `{id}` is busy: stop it first");
            return Err(Refused::new(RefusedKind::Conflict, message));
        }
        Ok(stored(200, &Pipeline { version: found.version + 1, pipeline: request, ..found.clone() }))
    }

    pub(super) fn delete_pipeline(&self, id: &str) -> Result<Answer, Refused> {
        self.find(id)?;
        let changes = vec![Change::Delete { kind: RecordKind::Pipeline, name: id.to_owned() }];
        Ok(Answer { changes, ..ok(json!({ "id": id, "status": "deleted" })) })
    }

    pub(super) fn set_status(&self, id: &str, status: PipelineStatus) -> Result<Answer, Refused> {
        let found = self.find(id)?;
        if found.status == status {
            return Ok(ok(json!({ "id": id, "status": status })));
        }
        let starts = found.starts + u64::from(status == PipelineStatus::Running);
        Ok(stored(200, &Pipeline { status, starts, ..found.clone() }))
    }

    pub(super) fn explain_pipeline(&self, id: &str) -> Result<Answer, Refused> {
        let found = self.find(id)?;
        let planned = check(&found.pipeline.sql, &self.catalog).map_err(Refused::query)?;
        Ok(Answer { status: 200, body: Body::Text(pretty(&planned)), changes: Vec::new() })
    }

    pub(super) fn pipeline_stats(&self, id: &str) -> Result<Answer, Refused> {
        let found = self.find(id)?;
        let planned = check(&found.pipeline.sql, &self.catalog).map_err(Refused::query)?;
        let totals = planned.program().program().totals();
        Ok(ok(json!({
            "id": id,
            "status": found.status,
            "version": found.version,
            "starts": found.starts,
            // Nobody counts rows: none are read.
            "rows_in": null,
            "rows_out": null,
            "program": { "functions": planned.program().program().functions().count(), "nodes": totals.counts.nodes },
        })))
    }

    pub(super) fn simulate_pipeline(&self, id: &str, body: &Json) -> Result<Answer, Refused> {
        let found = self.find(id)?;
        let sample: Sample = read(body).map_err(|error| Refused::bad(&error))?;
        let planned = check(&found.pipeline.sql, &self.catalog).map_err(Refused::query)?;
        let done = simulate(&planned, &sample, &BOUNDS);
        done.map(|done| ok(shown(&done))).map_err(|errors| {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Refused::new(RefusedKind::BadRequest, lines.join("\n"))
        })
    }

    /// Reads and plans the body of a request.
    fn request(&self, body: &Json) -> Result<PipelineRequest, Refused> {
        check_body(body)?;
        let request: PipelineRequest = read(body).map_err(|error| Refused::bad(&error))?;
        let bad = |path: &str, problem: String| Refused::bad(&ShapeError::at(path, problem));
        check_id(&request.id).map_err(|problem| bad("id", problem))?;
        if request.sinks.is_empty() {
            return Err(bad("sinks", "a pipeline has at least one sink".to_owned()));
        }
        for (index, sink) in request.sinks.iter().enumerate() {
            let kind = SINK_KINDS.iter().find_map(|name| sink.get(*name)?.as_str());
            if kind.is_none_or(str::is_empty) {
                let problem = "a sink is an object with a `type`, or a `sink_type`".to_owned();
                return Err(bad(&format!("sinks[{index}]"), problem));
            }
        }
        if request.options.data_channel_capacity == 0 {
            return Err(bad("options.data_channel_capacity", "it is at least 1".to_owned()));
        }
        let planned = check(&request.sql, &self.catalog).map_err(Refused::query)?;
        check_sources(&request, &planned)?;
        if request.options.eventtime.enabled && planned.stream().spec.eventtime.is_none() {
            let problem = format!("the stream `{}` has no event time", planned.stream().stream);
            return Err(bad("options.eventtime.enabled", problem));
        }
        Ok(request)
    }
}

/// A source that names a stream names the one that the query reads.
fn check_sources(request: &PipelineRequest, planned: &Planned) -> Result<(), Refused> {
    let reads = &planned.stream().stream;
    for (index, source) in request.sources.iter().enumerate() {
        let named = source.as_str().or_else(|| source.get("stream").and_then(Json::as_str));
        if let Some(named) = named
            && named != reads
        {
            let problem = format!("the query reads `{reads}`, not `{named}`");
            return Err(Refused::bad(&ShapeError::at(format!("sources[{index}]"), problem)));
        }
    }
    Ok(())
}

fn stored(status: u16, pipeline: &Pipeline) -> Answer {
    let body = json!({ "id": pipeline.pipeline.id, "status": pipeline.status });
    Answer { status, body: Body::Json(body), changes: vec![Change::Put(record(pipeline))] }
}
