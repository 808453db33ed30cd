//! The parts that an acting agent is put together from, each behind a trait, and what passes between them.
//!
//! Nodes of the flow are thin: they take the state apart, call one part, and put what it says into an update. Which node comes
//! next follows from the state alone.

use lmlang_engine::{BoxFuture, Halt, Work};
use lmlang_flow::{Ask, Class, Failure, Remedy, State};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::graph_store::GraphStore;
use crate::model::{Message, Tool};
use crate::tools::{ToolAnswer, ToolRegistry};

/// What is to be done, as data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The task in one sentence that needs nothing else to be understood.
    pub goal: String,
    /// What must hold meanwhile.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// Labels, keys and types of relations that it names.
    #[serde(default)]
    pub domain_hints: Vec<String>,
    /// The steps, as far as they can be known.
    #[serde(default)]
    pub plan: Vec<String>,
}

/// The call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The tool.
    pub tool: String,
    /// Its arguments, an object.
    pub arguments: Map<String, Value>,
}

/// The next micro-step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Planned {
    /// A tool is called.
    Call(ToolUse),
    /// Somebody is asked.
    Ask {
        /// What.
        question: String,
        /// What may be chosen; empty where anything may be said.
        #[serde(default)]
        choices: Vec<String>,
        /// Whether the answer is a new task.
        #[serde(default)]
        new_task: bool,
    },
    /// The task is done.
    Answer {
        /// What is said; what was changed is added.
        text: String,
    },
}

/// What came of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Came {
    /// It did what it was asked.
    Done {
        /// What it answered.
        value: Value,
        /// A line for people.
        said: String,
        /// Created, updated, deleted, unchanged.
        counts: [usize; 4],
    },
    /// It did not.
    Failed(Failure),
}

/// What a model is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// The conversation.
    pub messages: Vec<Message>,
    /// What it may call.
    pub tools: Vec<Tool>,
    /// How much chance there is in its answer.
    pub temperature: f64,
}

/// What the flow knows when it plans a step.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The state.
    pub state: &'a State,
    /// What failed in this step, the newest last.
    pub failures: &'a [Failure],
    /// The attempt, from 1 on.
    pub attempt: u32,
}

/// Decides what is shown to a model: no more than an attempt needs.
///
/// Pure: the same view gives the same context, whoever asks at the same time and however often; nothing is kept.
pub trait ContextManager: Send + Sync {
    /// The task and what may be called.
    fn prepare_minimal_context(&self, view: View<'_>, tools: &dyn ToolRegistry) -> Context;

    /// Adds the latest error with what it was about.
    fn add_error_context(&self, context: Context, view: View<'_>) -> Context;

    /// Adds what was done and what is planned.
    fn add_historical_context(&self, context: Context, view: View<'_>) -> Context;

    /// The context of an attempt.
    fn context(&self, view: View<'_>, tools: &dyn ToolRegistry) -> Context;

    /// The failures of a step with one more: bounded.
    fn record_failure(&self, failures: &[Failure], failure: &Failure) -> Vec<Failure>;

    /// The number of steps that are done after one more.
    fn advance_step(&self, state: &State) -> u64;

    /// Whether nothing is left to do.
    fn is_complete(&self, state: &State) -> bool;
}

/// Reads tasks and decides on steps.
///
/// Concurrency: it decides for many runs at once, and keeps nothing between calls. Idempotency: what a model says is a receipt
/// of the run; a repetition after a crash asks nobody. Side effects: what a model is asked, and its price.
///
/// Warning: a call that is broken off before its receipt is stored is asked again, and paid for twice.
pub trait Planner: Send + Sync {
    /// Who decides: the provider of a model, or `rules`.
    fn provider(&self) -> String;

    /// Whether a task is one for this planner, before anything begins.
    ///
    /// # Errors
    ///
    /// Why it is not.
    fn takes(&self, task: &str) -> Result<(), String>;

    /// Reads a task.
    ///
    /// # Errors
    ///
    /// What the model says, for the ladder.
    fn goal<'a>(
        &'a self,
        state: &'a State,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<(Goal, Vec<ToolUse>), Halt>>;

    /// Decides on the next step.
    ///
    /// # Errors
    ///
    /// What the model says, for the ladder.
    fn step<'a>(
        &'a self,
        context: &'a Context,
        state: &'a State,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<Planned, Halt>>;
}

/// Calls tools: what does not fit their schemas never reaches them.
///
/// Concurrency: it calls for many runs at once, and keeps nothing between calls. Idempotency: a call has the key of its run,
/// step and effect, under which a tool does nothing twice. Side effects: those of the tool.
///
/// Warning: a call that is broken off may have changed something. It is made again under the same key.
pub trait Executor: Send + Sync {
    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// [`Halt`] only where the run itself cannot go on; what the tool says is the answer.
    fn execute<'a>(
        &'a self,
        tools: &'a dyn ToolRegistry,
        graph: &'a dyn GraphStore,
        step: &'a ToolUse,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<Result<ToolAnswer, Failure>, Halt>>;
}

/// Where the flow goes on after a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The next step is planned.
    Advance,
    /// Why it failed is looked at.
    Diagnose,
    /// Nothing is left to do.
    Answer,
}

/// Judges what came of a tool.
///
/// Pure: the same outcome leads to the same place, whoever asks at the same time and however often.
pub trait Evaluator: Send + Sync {
    /// Where the flow goes on.
    fn evaluate(&self, came: &Came, complete: bool) -> Verdict;
}

/// Judges failures.
///
/// Pure: the same failures are of the same class, whoever asks at the same time and however often; the time is an argument.
pub trait ErrorClassifier: Send + Sync {
    /// How a failure relates to those before it in the step, and what becomes of it in an attempt.
    fn classify(&self, before: &[Failure], failure: &Failure, attempt: u32, now: i64) -> (Class, Remedy);
}

/// Puts into words what a person is asked when a step has failed for good.
///
/// Pure: the same state leads to the same question, whoever asks at the same time and however often.
pub trait EscalationHandler: Send + Sync {
    /// The question, with at least two choices.
    fn escalate(&self, state: &State, class: &str, failures: &[Failure]) -> Ask;
}
