//! What a model may call: typed tools, each with the schema of its arguments, checked before it is called.

pub mod graph;
pub mod program;

use std::collections::BTreeMap;
use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};
use lmlang_engine::{BoxFuture, Call, Engine};
use lmlang_entities::Counts;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::graph_store::{GraphError, GraphStore};

/// What a tool is, for whoever calls it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name: lower case and `_`.
    pub name: &'static str,
    /// What it does and when it is the right one, for a model.
    pub description: &'static str,
    /// The JSON schema of its arguments, an object without other fields. No field makes an id.
    pub parameters: Value,
    /// What it changes.
    pub changes: Changes,
}

/// What a tool changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Changes {
    /// Nothing.
    Nothing,
    /// It appends a revision to a program, which can be undone.
    Appends,
    /// It adds or merges: a repetition changes nothing.
    Merges,
    /// It deletes.
    Deletes,
}

/// What a tool works on.
pub struct Reach<'a> {
    /// The entities.
    pub graph: &'a dyn GraphStore,
    /// The programs, all of them, or the one that the run is about: who is limited to some of them begins no other run that calls
    /// tools.
    pub engine: &'a Engine,
    /// Everybody who has had a say in the run, by name. What not everybody may do who may begin a run is refused unless all
    /// of these may.
    pub speakers: &'a [String],
    /// Who is recorded, and the key under which a repetition is known.
    pub call: &'a Call,
}

/// What a tool answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolAnswer {
    /// For a model: bounded.
    pub value: Value,
    /// For people: a line.
    pub said: String,
    /// What it changed.
    pub counts: Counts,
    /// The revision of a program that it made.
    pub made: Option<MadeRevision>,
}

/// A revision that a tool made: what taking a run back takes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeRevision {
    /// The program.
    pub program: Uuid,
    /// The branch.
    pub branch: String,
    /// Its number.
    pub number: u64,
}

/// Something that a model may call.
///
/// Concurrency: tools may be called at the same time. Idempotency: one that changes something knows a repetition by the key of
/// the call. Side effects: those that its specification says, and none when it answers with an error.
///
/// Warning: one that is not answered may have changed something. It is called again under the same key.
pub trait Tool: Send + Sync {
    /// What it is.
    fn spec(&self) -> &ToolSpec;

    /// What it changes with some arguments: what its specification says, or more.
    fn changes(&self, _arguments: &Map<String, Value>) -> Changes {
        self.spec().changes
    }

    /// Whether its answer is shown to whoever decides on the next step, and to people where nothing else is said; of one that
    /// is not, only what it changed.
    fn is_shown(&self) -> bool {
        self.spec().changes == Changes::Nothing
    }

    /// Does it, with arguments that fit the schema.
    ///
    /// # Errors
    ///
    /// What the graph says, in words from which the caller can learn what to change.
    fn call<'a>(
        &'a self,
        reach: &'a Reach<'a>,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<ToolAnswer, GraphError>>;
}

/// Tools by name.
///
/// Concurrency: it is filled once, before anybody calls; reading needs no lock. Idempotency: a name is taken once, and a
/// second tool of it is refused. Invariant: every schema in it has been compiled, so that a check cannot fail for the schema's sake.
pub trait ToolRegistry: Send + Sync {
    /// Makes a tool known.
    ///
    /// # Errors
    ///
    /// [`RegisterError`]; the registry is as it was then.
    fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegisterError>;

    /// The tool of a name.
    fn get(&self, name: &str) -> Option<&Arc<dyn Tool>>;

    /// All tools, by name.
    fn list(&self) -> Vec<&ToolSpec>;

    /// Checks arguments, and tells everything that is wrong with them; nothing for arguments that fit.
    fn check(&self, name: &str, arguments: &Value) -> Vec<String>;
}

/// Why a tool was not made known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// There is one of its name.
    #[error("there is a tool `{0}` already")]
    Taken(String),
    /// Its schema is none.
    #[error("the schema of the tool `{name}` is not one: {why}")]
    Schema {
        /// The tool.
        name: String,
        /// What is wrong with it.
        why: String,
    },
}

/// Most mistakes in arguments that are told.
const MISTAKES: usize = 5;

/// A registry in a map.
#[derive(Default)]
pub struct StandardTools(BTreeMap<&'static str, (Arc<dyn Tool>, Validator)>);

impl ToolRegistry for StandardTools {
    fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegisterError> {
        let spec = tool.spec();
        let name = spec.name;
        if self.0.contains_key(name) {
            return Err(RegisterError::Taken(name.to_owned()));
        }
        let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
        let validator = options.build(&spec.parameters);
        let validator = validator
            .map_err(|error| RegisterError::Schema { name: name.to_owned(), why: error.to_string() })?;
        self.0.insert(name, (tool, validator));
        Ok(())
    }

    fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.0.get(name).map(|(tool, _)| tool)
    }

    fn list(&self) -> Vec<&ToolSpec> {
        self.0.values().map(|(tool, _)| tool.spec()).collect()
    }

    fn check(&self, name: &str, arguments: &Value) -> Vec<String> {
        let Some((_, validator)) = self.0.get(name) else {
            return vec![format!("there is no tool `{name}`")];
        };
        let told = |error: jsonschema::ValidationError<'_>| {
            let place = error.instance_path().to_string();
            match place.as_str() {
                "" => error.to_string(),
                place => format!("at `{place}`: {error}"),
            }
        };
        validator.iter_errors(arguments).take(MISTAKES).map(told).collect()
    }
}

/// The tools that an agent has: those that work on entities, and those that work on programs.
///
/// # Errors
///
/// [`RegisterError`], which the names of this project never lead to.
pub fn make_tool_registry() -> Result<StandardTools, RegisterError> {
    let mut tools = StandardTools::default();
    for tool in graph::all().into_iter().chain(program::all()) {
        tools.register(tool)?;
    }
    Ok(tools)
}
