//! An acting agent, put together: the usual parts, or others in the place of some.

use std::sync::Arc;

use crate::act::disclosure::{Progressive, Simple};
use crate::act::evaluating::{Ladder, ToolExecutor, Verdicts};
use crate::act::parts::{ContextManager, ErrorClassifier, EscalationHandler, Evaluator, Executor, Planner};
use crate::act::planner::ModelOrRules;
use crate::graph_store::GraphSource;
use crate::model::Models;
use crate::tools::{RegisterError, ToolRegistry, make_tool_registry};

/// An acting agent: its parts.
pub struct Agent {
    /// Where the entities are.
    pub graph: GraphSource,
    /// What may be called.
    pub tools: Box<dyn ToolRegistry>,
    /// What a model is shown.
    pub context: Box<dyn ContextManager>,
    /// Who decides.
    pub planner: Box<dyn Planner>,
    /// Who calls.
    pub executor: Box<dyn Executor>,
    /// Who judges.
    pub evaluator: Box<dyn Evaluator>,
    /// Who says what kind of failure it is.
    pub classifier: Box<dyn ErrorClassifier>,
    /// Who asks.
    pub escalation: Box<dyn EscalationHandler>,
}

impl Agent {
    /// An agent with the usual parts.
    ///
    /// # Errors
    ///
    /// [`RegisterError`], which the tools of this project never lead to.
    pub fn simple(models: Arc<Models>, graph: GraphSource) -> Result<Agent, RegisterError> {
        Ok(Agent {
            graph,
            tools: Box::new(make_tool_registry()?),
            context: make_context_manager(&Policy::default()),
            planner: Box::new(ModelOrRules::new(models)),
            executor: Box::new(ToolExecutor),
            evaluator: Box::new(Verdicts),
            classifier: Box::new(Ladder::default()),
            escalation: Box::new(Verdicts),
        })
    }

    /// The same agent, which shows models something else.
    #[must_use]
    pub fn showing(mut self, context: Box<dyn ContextManager>) -> Agent {
        self.context = context;
        self
    }

    /// The same agent, for which somebody else decides.
    #[must_use]
    pub fn planned_by(mut self, planner: Box<dyn Planner>) -> Agent {
        self.planner = planner;
        self
    }

    /// The same agent with other tools.
    #[must_use]
    pub fn with_tools(mut self, tools: Box<dyn ToolRegistry>) -> Agent {
        self.tools = tools;
        self
    }
}

/// How much a model is shown, and how often it may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Whether more is shown with each attempt, or all of it in every one.
    pub progressive: bool,
    /// Lines of what was done that the last attempt is shown.
    pub history: usize,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { progressive: true, history: 8 }
    }
}

/// What shows models what a policy says.
#[must_use]
pub fn make_context_manager(policy: &Policy) -> Box<dyn ContextManager> {
    match policy.progressive {
        true => Box::new(Progressive { history: policy.history }),
        false => Box::new(Simple(Progressive { history: policy.history })),
    }
}
