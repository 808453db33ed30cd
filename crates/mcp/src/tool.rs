//! What a tool is: a name, what it is for, what it takes, and how it asks and tells.

use std::sync::{Arc, LazyLock};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use crate::arguments;
use crate::ask::Ask;
use crate::failure::Failure;
use crate::rates::Rate;
use crate::reply::{Reply, Summary};

/// A row of the registry.
pub struct Tool {
    /// Its name, which does not change.
    pub name: &'static str,
    /// The same for people.
    pub title: &'static str,
    /// What it is for, when to use it and when not, written for a model that sees nothing else.
    pub description: &'static str,
    /// What it does to programs.
    pub effect: Effect,
    /// How often a caller may call it, where that is limited.
    pub rate: Option<Rate>,
    /// What it says when it begins, if it can take long, and the token of that in plain JSON-RPC.
    pub begins: Option<(&'static str, &'static str)>,
    pub(crate) schema: LazyLock<Map<String, Value>>,
    pub(crate) run: Run,
}

/// Runs a tool with arguments that fit its schema.
pub(crate) type Run = for<'a> fn(&'a Call, Value) -> BoxFuture<'a, Result<Reply, Failure>>;

/// What a tool does to programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// It appends, and whatever it does can be undone.
    Appends,
    /// It can do anything that the caller may do.
    Anything,
}

/// A call of a tool: whom it asks, and whom it tells how far it is.
pub(crate) struct Call {
    pub(crate) ask: Arc<dyn Ask>,
    pub(crate) progress: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Call {
    /// Asks for an operation, of which nothing may fail.
    pub(crate) async fn ask(&self, document: &str, variables: Value) -> Result<Value, Failure> {
        self.ask.ask(document, variables).await?.whole()
    }
}

impl Tool {
    /// The schema of its arguments.
    #[must_use]
    pub fn input_schema(&self) -> &Map<String, Value> {
        &self.schema
    }

    /// The schema of what of its answers is data, which is the same for all tools.
    #[must_use]
    pub fn output_schema() -> &'static Map<String, Value> {
        static SCHEMA: LazyLock<Map<String, Value>> = LazyLock::new(arguments::schema::<Summary>);
        &SCHEMA
    }
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}
