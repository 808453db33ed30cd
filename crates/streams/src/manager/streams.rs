//! Streams: created, described, deleted.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::{
    Answer, Body, Change, MOST_RECORDS, Manager, Record, RecordKind, Refused, RefusedKind, check_body, ok,
    shown,
};
use crate::catalog::{EventTime, Schema, ShapeError, Stream, StreamSpec, check_id, read};
use crate::sql;

/// The body of `POST /streams`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateStream {
    /// Its name.
    pub name: String,
    /// The kind of source, such as `mqtt`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The columns.
    pub schema: Schema,
    /// Properties of the source.
    #[serde(default)]
    pub props: Map<String, Json>,
    /// Whether pipelines share one reader.
    #[serde(default)]
    pub shared: bool,
    /// How messages are decoded.
    #[serde(default)]
    pub decoder: Json,
    /// Which column says when a row happened.
    #[serde(default)]
    pub eventtime: Option<EventTime>,
    /// How rows are thinned out before they come.
    #[serde(default)]
    pub sampler: Option<Json>,
}

pub(super) fn record(name: String, stream: &Stream) -> Record {
    Record { kind: RecordKind::Stream, name, value: shown(stream) }
}

impl Manager {
    pub(super) fn create_stream(&self, body: &Json) -> Result<Answer, Refused> {
        check_body(body)?;
        let CreateStream { name, kind, schema, props, shared, decoder, eventtime, sampler } =
            read(body).map_err(|error| Refused::bad(&error))?;
        check_id(&name).map_err(|problem| Refused::bad(&ShapeError::at("name", problem)))?;
        let spec = StreamSpec { kind, schema, props, shared, decoder, eventtime, sampler };
        spec.validate().map_err(|error| Refused::bad(&error))?;
        if self.catalog.get(&name).is_some() {
            return Err(Refused::new(RefusedKind::Conflict, format!("there is a stream `{name}` already")));
        }
        if self.catalog.names().count() >= MOST_RECORDS {
            return Err(Refused::new(
                RefusedKind::Conflict,
                format!("there are {MOST_RECORDS} streams already"),
            ));
        }
        let stream = Stream { stream: name.clone(), spec_version: 1, spec };
        let changes = vec![Change::Put(record(name, &stream))];
        Ok(Answer { status: 201, body: Body::Json(shown(&stream)), changes })
    }

    pub(super) fn describe_stream(&self, name: &str) -> Result<Answer, Refused> {
        match self.catalog.get(name) {
            Some(stream) => Ok(ok(shown(stream))),
            None => Err(Refused::missing("stream", name, self.catalog.names())),
        }
    }

    pub(super) fn delete_stream(&self, name: &str) -> Result<Answer, Refused> {
        if self.catalog.get(name).is_none() {
            return Err(Refused::missing("stream", name, self.catalog.names()));
        }
        let reads = |sql: &str| {
            let references = sql::references(sql);
            references.is_ok_and(|found| found.streams.iter().any(|stream| stream.name == name))
        };
        let users: Vec<&str> = self
            .pipelines
            .iter()
            .filter(|(_, pipeline)| reads(&pipeline.pipeline.sql))
            .map(|(id, _)| id.as_str())
            .collect();
        if !users.is_empty() {
            let message = format!("the stream `{name}` is used by {}", users.join(", "));
            return Err(Refused::new(RefusedKind::Conflict, message));
        }
        let changes = vec![Change::Delete { kind: RecordKind::Stream, name: name.to_owned() }];
        Ok(Answer { changes, ..ok(json!({ "name": name, "status": "deleted" })) })
    }
}
