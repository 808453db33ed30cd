//! The flows of lmlang, and how they ask language models.
//!
//! A flow is a definition with the code of its nodes; the engine runs it. A model is whatever answers a plain request: a
//! server with an OpenAI-compatible interface, a script, a recording. It must not know how a run is stored or by whom it
//! was asked for; nothing here reads the environment of the process or decides what a caller may do.
//!
//! Read [`review`] for a flow from beginning to end, and [`model`] for the trait and what is around it.

use std::sync::Arc;

use lmlang_engine::FlowCode;

pub mod model;
pub mod review;

/// The code of every flow, for an engine to run.
#[must_use]
pub fn flows() -> Vec<Arc<dyn FlowCode>> {
    vec![Arc::new(review::Review::default())]
}
