//! The tool whose name is settled and which does nothing yet: it says so.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;

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

fn unsupported() -> Result<Reply, Failure> {
    Err(Refused::unsupported("documents are not supported yet".to_owned()).into())
}

pub(super) static READ_DOC: Tool = Tool {
    name: "read_doc",
    title: "Read a document",
    description: "Not supported yet: reads a document, or a section of it.",
    effect: Effect::Reads,
    rate: Some(Rate(30)),
    begins: None,
    schema: LazyLock::new(schema::<DocArgs>),
    run: |_, _| Box::pin(async { unsupported() }),
};
