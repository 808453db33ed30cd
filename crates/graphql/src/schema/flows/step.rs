//! Steps of runs.

use std::sync::Arc;

use async_graphql::{Json, Object, Result};
use chrono::{DateTime, Utc};
use lmlang_engine::flows::told::{goto_name, shown};
use lmlang_engine::{Engine, RunInfo, Selector, StepInfo};
use lmlang_flow::{Failed, Remedy, What};
use serde_json::{Value, json};

use crate::direct::Direct;
use crate::schema::connection::Listed;
use crate::schema::failure::fail;
use crate::schema::revision::{Revision, moment};
use crate::schema::view::{View, nullable};

/// A step of a run: a node that came to its end, or an attempt that did not.
#[derive(Clone)]
pub struct Step {
    engine: Engine,
    run: Arc<RunInfo>,
    step: Arc<StepInfo>,
}

impl Direct for Step {}

impl Listed for Step {
    const CONNECTION: &'static str = "StepConnection";
    const EDGE: &'static str = "StepEdge";
}

impl Step {
    pub(crate) fn new(engine: &Engine, run: &Arc<RunInfo>, step: StepInfo) -> Step {
        Step { engine: engine.clone(), run: Arc::clone(run), step: Arc::new(step) }
    }

    /// Node, branch, attempt, start and number of effects.
    fn common(&self) -> (&str, String, u32, i64, u32) {
        match &self.step.what {
            What::Failed(of) => (&of.node, of.place.to_string(), of.attempt, of.started, of.effects),
            What::Stepped(of) => (&of.node, of.place.to_string(), of.attempt, of.started, of.effects),
            _ => ("", String::new(), 0, self.step.ended, 0),
        }
    }
}

/// A step of a run: a node that came to its end, or an attempt that did not.
#[Object]
impl Step {
    /// The number of its entry in the run's journal: ascending, with gaps. What `forkRun` and `rewindRun` take.
    async fn index(&self) -> i32 {
        i32::try_from(self.step.number).unwrap_or(i32::MAX)
    }

    /// The node.
    async fn node(&self) -> &str {
        self.common().0
    }

    /// The branch of the run: empty for its main line, `2.0` within parallel branches.
    async fn branch(&self) -> String {
        self.common().1
    }

    /// The attempt, from 1 on.
    async fn attempt(&self) -> i32 {
        i32::try_from(self.common().2).unwrap_or(i32::MAX)
    }

    /// When it began.
    async fn started_at(&self) -> DateTime<Utc> {
        moment(self.common().3)
    }

    /// When it ended.
    async fn ended_at(&self) -> Option<DateTime<Utc>> {
        Some(moment(self.step.ended))
    }

    /// How long it took, in milliseconds.
    async fn latency_ms(&self) -> Option<f64> {
        Some((self.step.ended - self.common().3) as f64 / 1_000.0)
    }

    /// What it changed of the state, by channel; null: it failed.
    async fn update(&self) -> Option<Json<Value>> {
        match &self.step.what {
            What::Stepped(stepped) => Some(Json(shown(&stepped.update, Some(&self.run.flow)))),
            _ => None,
        }
    }

    /// Where the run went on: a node, several with commas between, or `END`; null: it failed, and the run did not go on elsewhere.
    async fn goto(&self) -> Option<String> {
        match &self.step.what {
            What::Stepped(stepped) => Some(goto_name(&stepped.goto)),
            What::Failed(Failed { remedy: Remedy::Next { node, .. }, .. }) => Some(node.clone()),
            _ => None,
        }
    }

    /// Why it failed: `code`, `message`, `tool`, `class`; null: it did not.
    async fn error(&self) -> Option<Json<Value>> {
        match &self.step.what {
            What::Failed(failed) => Some(Json(json!({
                "code": failed.failure.code,
                "message": failed.failure.message,
                "tool": failed.failure.tool,
                "class": failed.class,
            }))),
            _ => None,
        }
    }

    /// The revision of the program that it made; null: none.
    async fn revision(&self) -> Option<Result<Revision>> {
        let What::Stepped(stepped) = &self.step.what else { return None };
        let number = stepped.update.0.get("revision").and_then(Value::as_u64)?;
        let program = self.run.program?;
        nullable(
            async {
                let open = self.engine.find(&Selector::Id(program)).await.map_err(fail)?;
                // Another process may have made it a moment ago.
                self.engine.come_to(&open, number).await.map_err(fail)?;
                let view = View::head(&self.engine, open);
                let entry = self.engine.header(view.open(), number).await.map_err(fail)?;
                let missing = || crate::schema::view::not_found("revision", &format!("r{number}"));
                Ok(Revision::new(&view, entry.ok_or_else(missing)?))
            }
            .await,
        )
    }

    /// Whether the run was taken back to before it: it does not count any more, and what the run carries has nothing of it.
    async fn superseded(&self) -> bool {
        self.step.superseded
    }

    /// How many effects it had outside the run.
    async fn receipts(&self) -> i32 {
        i32::try_from(self.common().4).unwrap_or(i32::MAX)
    }
}
