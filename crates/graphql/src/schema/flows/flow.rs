//! Flows: definitions of what can be run.

use std::sync::Arc;

use async_graphql::{Context, ID, Json, Object, SimpleObject};
use lmlang_engine::{Engine, Error, FlowCode};
use lmlang_flow::{self as flow, NodeKind};

use crate::direct::Direct;
use crate::error::ApiError;
use crate::schema::access::allow;
use crate::schema::failure::fail;
use crate::schema::scalars::Count;
use crate::schema::view::nullable_if_any;

/// What can be run: nodes that lead to one another.
#[derive(Clone)]
pub struct Flow {
    flow: Arc<flow::Flow>,
    input_schema: serde_json::Value,
    about_program: bool,
}

/// A node of a flow.
#[derive(Clone, Debug, SimpleObject)]
pub struct FlowNode {
    /// Its name, unique in the flow.
    name: String,
    /// The nodes that may come next, by name; `END` for none.
    targets: Vec<String>,
    /// `TASK`: it does something. `ASK`: it may ask somebody. `GATE`: it decides whether what comes next may happen.
    kind: &'static str,
    /// What it does.
    doc: String,
    /// For how many milliseconds answers to what it asks are awaited; null: for ever, unless `Interrupt.expiresAt` says otherwise.
    timeout_ms: Option<Count>,
    /// The node at which a run goes on when nobody has answered by then; null: it fails, with `INTERRUPT_EXPIRED`.
    on_timeout: Option<String>,
    /// For how many milliseconds an attempt may work: one that takes longer has failed, with `ATTEMPT_TIMEOUT`; null: for as long
    /// as what it calls takes.
    attempt_timeout_ms: Option<Count>,
    /// The node at which a run goes on when it has failed for good; null: a person is asked.
    on_failure: Option<String>,
}

impl Direct for FlowNode {}

impl Direct for Flow {}

impl Flow {
    pub(crate) fn of(engine: &Engine, flow: &Arc<flow::Flow>) -> Flow {
        match engine.startable(flow) {
            Some(code) => Flow::begun_by(code.as_ref()),
            None => Flow {
                flow: Arc::clone(flow),
                input_schema: serde_json::Value::Null,
                about_program: flow.is_about_a_program(),
            },
        }
    }

    /// A flow as it was declared, whether it can be started or not.
    pub(crate) fn declared(flow: &Arc<flow::Flow>) -> Flow {
        let declared = flow.definition().declared.as_ref();
        let input_schema = declared.map_or(serde_json::Value::Null, |declared| declared.input.clone());
        Flow { flow: Arc::clone(flow), input_schema, about_program: flow.is_about_a_program() }
    }

    /// The flow whose runs begin by this code.
    fn begun_by(code: &dyn FlowCode) -> Flow {
        Flow {
            flow: Arc::clone(code.flow()),
            input_schema: code.input_schema(),
            about_program: code.is_about_a_program(),
        }
    }

    /// What it was declared as.
    fn written(&self) -> Option<Json<serde_json::Value>> {
        let declared = self.flow.definition().declared.as_ref()?;
        // Plain data with string keys.
        Some(Json(serde_json::to_value(declared).unwrap_or_default()))
    }

    /// What tells it from other definitions.
    fn key(&self) -> String {
        let hash = lmlang_ir::hash::hex(&self.flow.hash()[..4]);
        format!("{}@{hash}", self.flow.name())
    }
}

/// What can be run: nodes that lead to one another. A run keeps the definition that it began with, until it is moved.
#[Object]
impl Flow {
    /// What tells it from other definitions: its name and the beginning of its hash.
    async fn id(&self) -> ID {
        self.key().into()
    }

    /// What it is started by.
    async fn name(&self) -> &str {
        self.flow.name()
    }

    /// Counts up when what a run comes to changes.
    async fn version(&self) -> String {
        self.flow.definition().version.to_string()
    }

    /// What it does.
    async fn doc(&self) -> &str {
        &self.flow.definition().doc
    }

    /// BLAKE3 of the definition, in hexadecimal digits.
    async fn definition_hash(&self) -> String {
        lmlang_ir::hash::hex(&self.flow.hash())
    }

    /// A JSON schema of what a run is started with; null of a definition that cannot be started any more.
    async fn input_schema(&self) -> Json<&serde_json::Value> {
        Json(&self.input_schema)
    }

    /// Whether a run of it is about a program, which its input names: callers who are limited to programs may begin those about
    /// these.
    async fn about_program(&self) -> bool {
        self.about_program
    }

    /// Its nodes.
    async fn nodes(&self) -> Vec<FlowNode> {
        let nodes = self.flow.definition().nodes.iter();
        let node = |node: &flow::NodeSpec| FlowNode {
            name: node.name.clone(),
            targets: node.targets.clone(),
            kind: match node.kind {
                NodeKind::Task => "TASK",
                NodeKind::Ask => "ASK",
                NodeKind::Gate => "GATE",
            },
            doc: node.doc.clone(),
            timeout_ms: node.timeout.as_ref().map(|of| millis(of.after)),
            on_timeout: node.timeout.as_ref().and_then(|of| of.then.clone()),
            attempt_timeout_ms: node.within.map(millis),
            on_failure: node.fallback.as_ref().map(|of| of.then.clone()),
        };
        nodes.map(node).collect()
    }

    /// The node where runs begin.
    async fn entry(&self) -> &str {
        &self.flow.definition().entry
    }

    /// What it was declared as, with what its nodes do: `registerFlow` takes it; null of a flow of the server. It may name any
    /// program, and so is not for those who are limited to some.
    async fn declaration(
        &self,
        context: &Context<'_>,
    ) -> Option<async_graphql::Result<Json<serde_json::Value>>> {
        nullable_if_any(allow(context, "Flow.declaration").map(|()| self.written()))
    }

    /// The flow in the language of Graphviz.
    async fn dot(&self) -> String {
        self.flow.dot()
    }

    /// The flow in the language of Mermaid.
    async fn mermaid(&self) -> String {
        self.flow.mermaid()
    }
}

/// So many microseconds, in milliseconds.
fn millis(micros: i64) -> Count {
    Count((micros / 1_000).max(0).cast_unsigned())
}

/// The flows that can be run, by name.
pub(crate) async fn all(context: &Context<'_>) -> Result<Vec<Flow>, ApiError> {
    let engine = context.data_unchecked::<Engine>();
    Ok(engine.flows().await.map_err(fail)?.iter().map(|code| Flow::begun_by(code.as_ref())).collect())
}

/// The flow that can be run by a name, or that an id names.
pub(crate) async fn one(context: &Context<'_>, given: &str) -> Result<Flow, ApiError> {
    let all = all(context).await?;
    if let Some(found) = all.iter().find(|flow| flow.flow.name() == given || flow.key() == given) {
        return Ok(found.clone());
    }
    let candidates = all.iter().map(|flow| flow.flow.name().to_owned()).collect();
    Err(fail(Error::NotFound { what: "flow", given: given.to_owned(), candidates, retired: false }))
}
