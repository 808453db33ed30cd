//! A stream Manager: what it answers to requests, as a state that changes by records.
//!
//! [`Manager::answer`] decides and changes nothing: an [`Answer`] says what to store, as [`Change`]s to records of a kind
//! and a name, and [`Manager::apply`] takes the same changes over. Whoever keeps the records, on a disk or in memory, makes
//! a Manager of them again with [`Manager::from_records`]. Nothing in here reads a source: a pipeline that is started is
//! one that should run.

mod pipelines;
mod request;
mod streams;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use thiserror::Error;

use crate::catalog::{Catalog, ShapeError, Stream, read};
use crate::error::PlanError;
use crate::functions::{function, functions, names};
use crate::syntax::syntax;

pub use pipelines::{Pipeline, PipelineStatus};
pub use request::Request;
pub use streams::CreateStream;

/// Streams, and pipelines, at most.
pub const MOST_RECORDS: usize = 10_000;

/// Bytes of the body of a request, and how deep it is nested, at most: what is passed on in it is stored as it is.
pub const LARGEST_BODY: usize = 64 << 10;
/// See [`LARGEST_BODY`].
pub const DEEPEST_BODY: usize = 64;

/// Refuses a body that would be stored, and is too large for that.
fn check_body(body: &Json) -> Result<(), Refused> {
    let size = body.to_string().len();
    if size > LARGEST_BODY {
        let message = format!("the body has {size} bytes, more than {LARGEST_BODY}");
        return Err(Refused::new(RefusedKind::BadRequest, message));
    }
    let (mut level, mut depth) = (vec![body], 0);
    while !level.is_empty() {
        depth += 1;
        if depth > DEEPEST_BODY {
            let message = format!("the body is nested deeper than {DEEPEST_BODY}");
            return Err(Refused::new(RefusedKind::BadRequest, message));
        }
        level = level.into_iter().flat_map(inside).collect();
    }
    Ok(())
}

fn inside(of: &Json) -> Vec<&Json> {
    match of {
        Json::Array(items) => items.iter().collect(),
        Json::Object(fields) => fields.values().collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Vec::new(),
    }
}

/// What a record is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// A [`Stream`].
    Stream,
    /// A [`Pipeline`].
    Pipeline,
}

impl RecordKind {
    /// The name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            RecordKind::Stream => "stream",
            RecordKind::Pipeline => "pipeline",
        }
    }
}

/// What is stored under a kind and a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// What it is of.
    pub kind: RecordKind,
    /// The name of the stream, or the id of the pipeline.
    pub name: String,
    /// What there is.
    pub value: Json,
}

/// A change to what is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The record takes the place of one of its kind and name.
    Put(Record),
    /// The record goes.
    Delete {
        /// What it is of.
        kind: RecordKind,
        /// Its name.
        name: String,
    },
}

/// What a Manager answers with.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// JSON.
    Json(Json),
    /// Plain text.
    Text(String),
}

/// What becomes of a request that is carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The status of HTTP: 200 or 201.
    pub status: u16,
    /// The answer.
    pub body: Body,
    /// What is to be stored: all of it or nothing.
    pub changes: Vec<Change>,
}

/// Why a request is not carried out, as HTTP has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusedKind {
    /// The request does not follow its form, or its query does not plan: 400.
    BadRequest,
    /// What it is about is not there: 404.
    NotFound,
    /// The path takes other methods: 405.
    WrongMethod,
    /// What it is about is there already, or is busy: 409.
    Conflict,
}

impl RefusedKind {
    /// The status of HTTP.
    pub const fn status(self) -> u16 {
        match self {
            RefusedKind::BadRequest => 400,
            RefusedKind::NotFound => 404,
            RefusedKind::WrongMethod => 405,
            RefusedKind::Conflict => 409,
        }
    }
}

/// A request that is not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Refused {
    /// Why.
    pub kind: RefusedKind,
    /// The plain text of the answer.
    pub message: String,
    /// What is wrong with the query, if that is why.
    pub errors: Vec<PlanError>,
}

impl Refused {
    fn new(kind: RefusedKind, message: impl Into<String>) -> Refused {
        Refused { kind, message: message.into(), errors: Vec::new() }
    }

    fn bad(error: &ShapeError) -> Refused {
        Refused::new(RefusedKind::BadRequest, error.to_string())
    }

    fn missing<'n>(what: &str, name: &str, known: impl Iterator<Item = &'n str>) -> Refused {
        let nearest = lmlang_ir::text::nearest(name, known);
        let near = nearest.first().map_or(String::new(), |near| format!("; nearest `{near}`"));
        Refused::new(RefusedKind::NotFound, format!("there is no {what} `{name}`{near}"))
    }

    fn query(errors: Vec<PlanError>) -> Refused {
        Refused { kind: RefusedKind::BadRequest, message: crate::error::plain_text(&errors), errors }
    }
}

fn ok(json: Json) -> Answer {
    Answer { status: 200, body: Body::Json(json), changes: Vec::new() }
}

/// A value as JSON. What is asked for here is made of maps with names and of lists.
fn shown(value: &impl Serialize) -> Json {
    serde_json::to_value(value).unwrap_or(Json::Null)
}

/// The streams and pipelines that there are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Manager {
    catalog: Catalog,
    pipelines: BTreeMap<String, Pipeline>,
}

impl Manager {
    /// A Manager without streams.
    pub fn new() -> Manager {
        Manager::default()
    }

    /// A Manager of what was stored, in whatever order.
    pub fn from_records(records: impl IntoIterator<Item = Record>) -> Result<Manager, ShapeError> {
        let mut manager = Manager::new();
        for record in records {
            manager.put(record)?;
        }
        Ok(manager)
    }

    /// All that is to be stored.
    pub fn records(&self) -> Vec<Record> {
        let streams = self.catalog.iter().map(|stream| streams::record(stream.stream.clone(), stream));
        let pipelines = self.pipelines.values().map(pipelines::record);
        streams.chain(pipelines).collect()
    }

    /// The streams.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The pipeline of an id.
    pub fn pipeline(&self, id: &str) -> Option<&Pipeline> {
        self.pipelines.get(id)
    }

    /// Takes changes over that an answer came with.
    pub fn apply(&mut self, changes: &[Change]) -> Result<(), ShapeError> {
        for change in changes {
            match change {
                Change::Put(record) => self.put(record.clone())?,
                Change::Delete { kind: RecordKind::Stream, name } => self.catalog.remove(name),
                Change::Delete { kind: RecordKind::Pipeline, name } => drop(self.pipelines.remove(name)),
            }
        }
        Ok(())
    }

    fn put(&mut self, record: Record) -> Result<(), ShapeError> {
        let at = format!("{} `{}`", record.kind.name(), record.name);
        let inside = |error: ShapeError| ShapeError::at(format!("{at}: {}", error.path), error.problem);
        let other = || ShapeError::at(at.clone(), "the record has another name inside");
        match record.kind {
            RecordKind::Stream => {
                let stream = Stream::from_json(&record.value).map_err(inside)?;
                if stream.stream != record.name {
                    return Err(other());
                }
                self.catalog.insert(stream)
            }
            RecordKind::Pipeline => {
                let pipeline: Pipeline = read(&record.value).map_err(inside)?;
                if pipeline.pipeline.id != record.name {
                    return Err(other());
                }
                self.pipelines.insert(record.name, pipeline);
                Ok(())
            }
        }
    }

    /// Answers a request, and changes nothing.
    pub fn answer(&self, request: &Request) -> Result<Answer, Refused> {
        match request {
            Request::ListStreams => Ok(ok(shown(&self.catalog.summaries()))),
            Request::CreateStream(body) => self.create_stream(body),
            Request::DescribeStream(name) => self.describe_stream(name),
            Request::DeleteStream(name) => self.delete_stream(name),
            Request::ListFunctions => Ok(ok(shown(&functions()))),
            Request::DescribeFunction(name) => match function(name) {
                Some(def) => Ok(ok(shown(def))),
                None => Err(Refused::missing("function", name, names())),
            },
            Request::Syntax => Ok(ok(shown(syntax()))),
            Request::ListPipelines => {
                let short =
                    |pipeline: &Pipeline| json!({ "id": pipeline.pipeline.id, "status": pipeline.status });
                Ok(ok(self.pipelines.values().map(short).collect()))
            }
            Request::CreatePipeline(body) => self.create_pipeline(body),
            Request::GetPipeline(id) => self.find(id).map(|pipeline| ok(shown(pipeline))),
            Request::ReplacePipeline(id, body) => self.replace_pipeline(id, body),
            Request::DeletePipeline(id) => self.delete_pipeline(id),
            Request::StartPipeline(id) => self.set_status(id, PipelineStatus::Running),
            Request::StopPipeline(id) => self.set_status(id, PipelineStatus::Stopped),
            Request::ExplainPipeline(id) => self.explain_pipeline(id),
            Request::PipelineStats(id) => self.pipeline_stats(id),
            Request::SimulatePipeline(id, body) => self.simulate_pipeline(id, body),
        }
    }

    /// Answers a request and takes its changes over: a Manager in memory.
    pub fn handle(&mut self, request: &Request) -> Result<Answer, Refused> {
        let answer = self.answer(request)?;
        self.apply(&answer.changes).map_err(|error| Refused::bad(&error))?;
        Ok(answer)
    }
}
