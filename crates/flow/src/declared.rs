//! Flows that are declared: all of a flow as data, with what its nodes do.
//!
//! A [`Declaration`] is what somebody writes, as JSON or TOML: what a run is started with, what it carries, and nodes, each with
//! one [`Action`] of a closed set. [`check`](fn@check) makes a [`Flow`](crate::Flow) of it, or tells everything that is wrong and
//! where. What an action names outside of the declaration, tools, roles of models and other flows, is looked up by whoever executes
//! it.
//!
//! * **One definition.** The declaration is a part of the flow's [`Definition`](crate::Definition), so that the hash which tells
//!   definitions apart covers every prompt and argument. A run is pinned to its definition by that hash, and its definition is kept
//!   with it: it goes on as it began when the flow has been declared anew, or is gone.
//! * **Targets follow from actions**: what a node leads to cannot be said twice. The checks of every flow hold for it: each node is
//!   reached, each target is there, each cycle has a bound of visits.
//! * **Input is state**: each property of the input's schema is a channel of its name. Every declared flow has `progress`, to which
//!   each node that has something to `say` appends a line, and `provider`, who was asked last for an answer.
//! * **Templates.** Texts of actions are [`template`]s; what they become is bounded, so that no loop doubles what a run carries.
//! * **Versions** are counted by whoever keeps declarations: one more for each that is another than the one before.
//!
//! Nodes are pure but for their actions, and an action has one effect at most, or, of a model that calls tools, one after the other.
//! So a run of a declared flow is what every run is: resumed, forked, taken back and replayed without asking anything outside twice.

mod check;
pub mod condition;
mod mistake;
pub mod template;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use check::check;
pub use condition::Condition;
pub use mistake::{Mistake, MistakeCode};

use crate::definition::{END, Reducer};
use crate::step::AskKind;

/// Most nodes of a declared flow.
pub const MOST_NODES: usize = 200;
/// Most visits of one node.
pub const MOST_VISITS: u32 = 10_000;
/// Most attempts at one node before a person is asked.
pub const MOST_ATTEMPTS: u32 = 10;
/// Most items, or fields, of a channel.
pub const MOST_HELD: usize = 1_000;
/// Most branches that a node names, to open them at once.
pub const MOST_ARMS: usize = 64;
/// Most items of a list for which a node opens branches.
pub const MOST_ITEMS: usize = 256;
/// Most answers of a model within one node.
pub const MOST_STEPS: u32 = 32;
/// The longest time that is waited for anything, in milliseconds: 366 days.
pub const MOST_MS: u64 = 366 * 24 * 60 * 60 * 1_000;

/// The channel to which nodes append what they say.
pub const PROGRESS: &str = "progress";
/// The channel that holds who was asked last for an answer.
pub const PROVIDER: &str = "provider";

/// A flow as somebody writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Declaration {
    /// What it is started by: lower case, digits, `-` and `_`.
    pub name: String,
    /// What it does, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// The node where runs begin; the first one without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// A JSON schema of what a run is started with: of an object, each property of which is a channel.
    #[serde(default = "nothing")]
    pub input: Value,
    /// The property that takes the words of a turn; without it, the flow holds no conversations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The property that names the program which a run is about, and beside which its nodes reach nothing: no other program, no
    /// entities. Without it, a run is about none, and reaches all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Channels that a run takes over from the run before it in its session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carry: Vec<String>,
    /// What a run carries beside its input, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub channels: BTreeMap<String, DeclaredChannel>,
    /// Its nodes.
    pub nodes: Vec<DeclaredNode>,
}

/// The schema of no input.
fn nothing() -> Value {
    json!({ "type": "object", "additionalProperties": false })
}

/// A part of a run's state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeclaredChannel {
    /// How an update changes it.
    #[serde(default)]
    pub reducer: DeclaredReducer,
    /// Items that stay in a list, fields that an object may have: 100 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<usize>,
    /// What it holds at first; without it null, an empty list, 0 or an empty object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<Value>,
    /// Whether it is not shown to whoever looks at a run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
}

/// How an update changes a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclaredReducer {
    /// The new value stands for the old one.
    #[default]
    Replace,
    /// A list grows at its end.
    Append,
    /// A number grows by a number.
    Sum,
    /// An object takes in fields.
    Merge,
}

impl DeclaredChannel {
    /// The reducer, with its bound.
    pub(crate) fn reducer(&self) -> Reducer {
        let most = self.most.unwrap_or(100);
        match self.reducer {
            DeclaredReducer::Replace => Reducer::Replace,
            DeclaredReducer::Append => Reducer::Append { most },
            DeclaredReducer::Sum => Reducer::Sum,
            DeclaredReducer::Merge => Reducer::Merge { most },
        }
    }

    /// What it holds at first.
    pub(crate) fn initial(&self) -> Value {
        self.initial.clone().unwrap_or_else(|| match self.reducer {
            DeclaredReducer::Replace => Value::Null,
            DeclaredReducer::Append => json!([]),
            DeclaredReducer::Sum => json!(0),
            DeclaredReducer::Merge => json!({}),
        })
    }
}

/// A node of a declared flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeclaredNode {
    /// Its name, unique in the flow.
    pub name: String,
    /// What it does, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// How often it may fail before a person is asked: 3 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// How often a run may come to it; every cycle needs a node that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visits: Option<u32>,
    /// For how many milliseconds an attempt may work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_timeout_ms: Option<u64>,
    /// Where the run goes on when it has failed for good; without it, a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    /// A line for whoever follows the run, when the node has come to its end: a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
    /// What it does.
    pub action: Action,
}

/// Where a run goes on when a node has failed for good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OnFailure {
    /// The node.
    pub then: String,
    /// The channel that takes the failure: an object with `code`, `message`, `node` and `tool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
}

/// What a node does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// Calls a tool.
    Tool(CallTool),
    /// Asks a model.
    Model(AskModel),
    /// Has a model call tools until it answers.
    Agent(RunAgent),
    /// Asks a person.
    Ask(AskPerson),
    /// Goes on where a condition says.
    Branch(Branches),
    /// Changes what the run carries.
    Set(SetChannels),
    /// Starts a run of another flow, and waits for its end.
    Run(StartRun),
    /// Waits.
    Wait(Pause),
    /// Goes on in several branches at once.
    Parallel(Parallel),
    /// Goes on in a branch for each item of a list.
    Each(Each),
    /// Ends the run, or the branch.
    End(Finish),
}

/// Calls a tool of those that agents have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallTool {
    /// Its name.
    pub name: String,
    /// Its arguments, in which texts are templates.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
    /// The channel that takes what it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// The next node, or `END`.
    pub then: String,
}

/// Asks a model one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AskModel {
    /// Whose settings count: `planner`, `drafter`, or any other role; `default` without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What it is told before it is asked: a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The question: a template.
    pub prompt: String,
    /// The JSON schema that its answer has to fit; without it, the answer is a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// How much chance there is in its answer, from 0 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Most tokens of its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The channel that takes its answer.
    pub into: String,
    /// The next node, or `END`.
    pub then: String,
}

/// Has a model call tools until it answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunAgent {
    /// Whose settings count, as for a single question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What it is told before it is asked: a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The task: a template.
    pub prompt: String,
    /// The tools that it may call, by name.
    pub tools: Vec<String>,
    /// How often it may be asked before it has to have answered: 8 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_steps: Option<u32>,
    /// The JSON schema that its answer has to fit; without it, the answer is a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// How much chance there is in its answers, from 0 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Most tokens of each of its answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The channel that takes its answer.
    pub into: String,
    /// The next node, or `END`.
    pub then: String,
}

/// Asks whoever supervises the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AskPerson {
    /// What kind of answer is wanted: `need_confirm`, `need_clarification` or `need_choice`.
    pub kind: AskKind,
    /// The question: a template.
    pub question: String,
    /// What may be chosen: templates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The channel that takes the answer.
    pub into: String,
    /// For how many milliseconds an answer is awaited; without it, for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The node at which the run goes on when nobody has answered by then; without it, the run has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_timeout: Option<String>,
    /// The next node.
    pub then: String,
}

/// Goes on at the node of the first case that holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Branches {
    /// The cases, in order.
    pub cases: Vec<Case>,
    /// The node, or `END`, where none holds.
    pub otherwise: String,
}

/// A case of a branch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Case {
    /// When it holds.
    pub when: Condition,
    /// The node, or `END`.
    pub then: String,
}

/// Changes what the run carries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetChannels {
    /// What each channel is changed by, as its reducer takes it; texts are templates.
    pub values: Map<String, Value>,
    /// The next node, or `END`.
    pub then: String,
}

/// Starts a run of another flow, and waits for its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartRun {
    /// The flow.
    pub flow: String,
    /// What it is started with; texts are templates.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub input: Map<String, Value>,
    /// The channel that takes what it shows of its state at its end.
    pub into: String,
    /// The next node.
    pub then: String,
}

/// Waits for a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pause {
    /// For how many milliseconds.
    pub ms: u64,
    /// The next node.
    pub then: String,
}

/// Goes on in several branches at once. A branch ends at `END`; what the branches changed is taken in in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Parallel {
    /// The branches.
    pub arms: Vec<ParallelArm>,
    /// The node after all of them.
    pub join: String,
}

/// A branch that is opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParallelArm {
    /// Where it begins.
    pub node: String,
    /// What it begins with beside the state, by channel; texts are templates.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub given: Map<String, Value>,
}

/// Goes on in a branch for each item of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Each {
    /// Where the list is: a path.
    pub items: String,
    /// The channel that holds the item of a branch.
    pub item: String,
    /// Where the branches begin.
    pub node: String,
    /// The node after all of them.
    pub join: String,
}

/// Ends the run, or the branch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Finish {
    /// What each channel is changed by, as its reducer takes it; texts are templates.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Value>,
}

impl Declaration {
    /// Reads a declaration.
    ///
    /// # Errors
    ///
    /// What does not fit, and where.
    pub fn read(value: &Value) -> Result<Declaration, Mistake> {
        serde_path_to_error::deserialize(value).map_err(|error| {
            let path = error.path().to_string();
            let path = if path == "." { String::new() } else { path };
            Mistake { code: MistakeCode::BadField, path, message: error.into_inner().to_string() }
        })
    }

    /// The flows that its runs start runs of.
    pub fn starts(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().filter_map(|node| match &node.action {
            Action::Run(run) => Some(run.flow.as_str()),
            Action::Tool(_)
            | Action::Model(_)
            | Action::Agent(_)
            | Action::Ask(_)
            | Action::Branch(_)
            | Action::Set(_)
            | Action::Wait(_)
            | Action::Parallel(_)
            | Action::Each(_)
            | Action::End(_) => None,
        })
    }

    /// The properties of its input, with what they hold at first.
    pub(crate) fn properties(&self) -> impl Iterator<Item = (&String, Value)> {
        let properties = self.input["properties"].as_object().into_iter().flatten();
        properties.map(|(name, schema)| (name, schema.get("default").cloned().unwrap_or_default()))
    }
}

impl DeclaredNode {
    /// What it may lead to, each with its place in the node.
    pub(crate) fn targets(&self) -> Vec<(String, &str)> {
        let of_action = self.action.targets().into_iter();
        let name = self.action.name();
        let of_action = of_action.map(|(place, target)| (format!("action.{name}.{place}"), target));
        let failed = self.on_failure.iter().map(|of| ("onFailure.then".to_owned(), of.then.as_str()));
        of_action.chain(failed).collect()
    }
}

impl Action {
    /// What it is called where it is written.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Action::Tool(_) => "tool",
            Action::Model(_) => "model",
            Action::Agent(_) => "agent",
            Action::Ask(_) => "ask",
            Action::Branch(_) => "branch",
            Action::Set(_) => "set",
            Action::Run(_) => "run",
            Action::Wait(_) => "wait",
            Action::Parallel(_) => "parallel",
            Action::Each(_) => "each",
            Action::End(_) => "end",
        }
    }

    /// What it may lead to, each with its place in the action.
    pub(crate) fn targets(&self) -> Vec<(String, &str)> {
        let one = |name: &str, target| (name.to_owned(), target);
        match self {
            Action::Tool(CallTool { then, .. })
            | Action::Model(AskModel { then, .. })
            | Action::Agent(RunAgent { then, .. })
            | Action::Set(SetChannels { then, .. })
            | Action::Run(StartRun { then, .. })
            | Action::Wait(Pause { then, .. }) => vec![one("then", then.as_str())],
            Action::Ask(AskPerson { then, on_timeout, .. }) => {
                let late = on_timeout.iter().map(|target| one("onTimeout", target.as_str()));
                [one("then", then.as_str())].into_iter().chain(late).collect()
            }
            Action::Branch(Branches { cases, otherwise }) => {
                let cases = cases.iter().enumerate();
                let cases = cases.map(|(index, case)| (format!("cases[{index}].then"), case.then.as_str()));
                cases.chain([one("otherwise", otherwise.as_str())]).collect()
            }
            Action::Parallel(Parallel { arms, join }) => {
                let arms = arms.iter().enumerate();
                let arms = arms.map(|(index, arm)| (format!("arms[{index}].node"), arm.node.as_str()));
                arms.chain([one("join", join.as_str())]).collect()
            }
            Action::Each(Each { node, join, .. }) => {
                vec![one("node", node.as_str()), one("join", join.as_str())]
            }
            Action::End(_) => vec![(String::new(), END)],
        }
    }

    /// Whether it may lead to the end: not what first waits for something, or opens branches.
    pub(crate) const fn may_end(&self) -> bool {
        match self {
            Action::Tool(_)
            | Action::Model(_)
            | Action::Agent(_)
            | Action::Branch(_)
            | Action::Set(_)
            | Action::End(_) => true,
            Action::Ask(_) | Action::Run(_) | Action::Wait(_) | Action::Parallel(_) | Action::Each(_) => {
                false
            }
        }
    }
}

#[cfg(test)]
mod tests;
