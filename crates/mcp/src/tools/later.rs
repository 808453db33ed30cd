//! Tools whose names are settled and which do nothing yet: they say so.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::arguments::schema;
use crate::failure::{Failure, Refused};
use crate::rates::Rate;
use crate::reply::Reply;
use crate::tool::{Effect, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used until there are documents")]
struct DocArgs {
    /// Within the workspace.
    path: String,
    /// A header path, `API > Login`.
    anchor: Option<String>,
    /// First and last line.
    #[schemars(length(min = 2, max = 2))]
    line_range: Option<Vec<u32>>,
    max_tokens: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used until there are sessions")]
struct SessionArgs {
    /// create, show, list.
    action: String,
    session_id: Option<String>,
    workflow: Option<String>,
    title: Option<String>,
    max_tokens: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used until there are runs")]
struct RunArgs {
    /// turn, start, answer, cancel, list.
    action: String,
    run_id: Option<String>,
    session_id: Option<String>,
    flow: Option<String>,
    text: Option<String>,
    input: Option<Map<String, Value>>,
    max_tokens: Option<u64>,
}

fn unsupported(what: &'static str) -> Result<Reply, Failure> {
    Err(Refused::unsupported(format!("{what} are not supported yet")).into())
}

pub(super) static READ_DOC: Tool = Tool {
    name: "read_doc",
    title: "Read a document",
    description: "Not supported yet: reads a document, or a section of it.",
    effect: Effect::Reads,
    rate: Some(Rate(30)),
    begins: None,
    schema: LazyLock::new(schema::<DocArgs>),
    run: |_, _| Box::pin(async { unsupported("documents") }),
};

pub(super) static SESSION: Tool = Tool {
    name: "session",
    title: "Sessions",
    description: "Not supported yet: sessions of work with their decisions and assumptions.",
    effect: Effect::Appends,
    rate: None,
    begins: None,
    schema: LazyLock::new(schema::<SessionArgs>),
    run: |_, _| Box::pin(async { unsupported("sessions") }),
};

pub(super) static RUN: Tool = Tool {
    name: "run",
    title: "Runs of flows",
    description: "Not supported yet: runs of flows, their turns and answers. To run a function use simulate.",
    effect: Effect::Appends,
    rate: None,
    begins: None,
    schema: LazyLock::new(schema::<RunArgs>),
    run: |_, _| Box::pin(async { unsupported("runs") }),
};
