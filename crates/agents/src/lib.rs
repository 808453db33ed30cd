//! The flows of lmlang, and how they ask language models.
//!
//! A flow is a definition with the code of its nodes; the engine runs it. A model is whatever answers a plain request: a
//! server with an OpenAI-compatible interface, a script, a recording. It must not know how a run is stored or by whom it
//! was asked for; nothing here reads the environment of the process or decides what a caller may do.
//!
//! Read [`review`] for a flow from beginning to end, [`act`] for one that asks models and calls tools, [`draft`] for one over
//! another server, [`edit`] for one that waits for a run of another flow, [`declared`] for those that are data, [`model`] for the trait and what is around it, [`asking`]
//! for how a flow asks, [`tools`], [`graph_store`] and [`neo4j`] for what it works with, [`exporting`] for its spans elsewhere.

use std::sync::Arc;

use lmlang_engine::{FlowCode, Interpreter};

use crate::act::agent::Agent;
use crate::draft::source::ManagerSource;
use crate::graph_store::GraphSource;
use crate::model::Models;

pub mod act;
pub mod asking;
pub mod declared;
pub mod draft;
pub mod edit;
mod edits;
pub mod exporting;
pub mod graph_store;
mod http_client;
mod input;
pub mod model;
#[cfg(feature = "neo4j")]
pub mod neo4j;
pub mod review;
mod sentence;
pub mod tools;

/// The code of every flow, for an engine to run. They ask these models, keep entities in this graph, and draft for this
/// Manager.
#[must_use]
pub fn flows(models: &Arc<Models>, graph: GraphSource, manager: ManagerSource) -> Vec<Arc<dyn FlowCode>> {
    let agent = Agent::simple(Arc::clone(models), graph);
    // Checked by a test.
    let agent = agent.expect("the tools have names of their own");
    vec![
        Arc::new(review::Review::default()),
        Arc::new(act::Act::new(agent)),
        Arc::new(draft::Draft::new(Arc::clone(models), manager)),
        Arc::new(edit::Edit::new(Arc::clone(models))),
    ]
}

/// Who executes flows that are declared: they ask these models, and keep entities in this graph.
#[must_use]
pub fn interpreter(models: &Arc<Models>, graph: GraphSource) -> Arc<dyn Interpreter> {
    let made = declared::Interpreter::new(Arc::clone(models), graph);
    // Checked by a test.
    Arc::new(made.expect("the tools have names of their own"))
}
