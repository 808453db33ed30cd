//! Where drafts are made: the Manager that is built in, or another one.

use std::sync::Arc;

use lmlang_engine::Engine;
use lmlang_history::log::Actor;

use crate::draft::built_in::BuiltIn;
use crate::draft::target::DraftTarget;

/// Which Manager drafts are for: a flow is made before the engine that runs it.
#[derive(Clone)]
pub enum ManagerSource {
    /// The one that is built in.
    BuiltIn,
    /// This one.
    Given(Arc<dyn DraftTarget>),
}

impl ManagerSource {
    /// The Manager, asked in the name of somebody.
    #[must_use]
    pub fn of(&self, engine: &Engine, actor: &Actor) -> Arc<dyn DraftTarget> {
        match self {
            ManagerSource::BuiltIn => Arc::new(BuiltIn { engine: engine.clone(), actor: actor.clone() }),
            ManagerSource::Given(target) => Arc::clone(target),
        }
    }
}
