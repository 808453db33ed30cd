//! Tools that work on programs, under the names and with the arguments that they have over MCP: who knows the ones knows the
//! others. Programs are named by name, and what is in them by path; no argument takes an id.
//!
//! An answer is text that begins with `; program NAME @ rNUMBER`, within a budget of tokens, beside some fields that a program
//! can read. What does not fit is asked for with the cursor that the answer ends with.

mod editing;
pub(crate) mod grounding;
mod reading;
mod running;
mod told;

use std::sync::Arc;

use lmlang_engine::{Engine, Error, OpenProgram, Revision, Selector};
use lmlang_ir::{FuncRef, Program, Ref};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::Tool;
use crate::graph_store::GraphError;

/// All of them.
pub fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(reading::Programs::default()),
        Arc::new(reading::Search::default()),
        Arc::new(reading::Read::default()),
        Arc::new(reading::Verify::default()),
        Arc::new(editing::Edit::default()),
        Arc::new(editing::Undo::default()),
        Arc::new(running::Simulate::default()),
    ]
}

/// Whether one of them has a name.
pub(crate) fn has(name: &str) -> bool {
    all().iter().any(|tool| tool.spec().name == name)
}

/// A program at one revision.
#[derive(Clone)]
struct View {
    open: OpenProgram,
    revision: Arc<Revision>,
}

impl View {
    /// The program of a name, at a revision, or the newest one.
    async fn find(engine: &Engine, name: &str, at: Option<&str>) -> Result<View, GraphError> {
        let open = find(engine, name).await?;
        let revision = engine.revision(&open, at).await?;
        Ok(View { open, revision })
    }

    fn program(&self) -> &Program {
        self.revision.checked.program()
    }

    fn name(&self) -> String {
        self.open.info().name.clone()
    }

    fn number(&self) -> u64 {
        self.revision.entry.number
    }

    /// The function that a caller means by a name or path.
    fn function(&self, given: &str) -> Result<FuncRef, GraphError> {
        match self.revision.checked.functions_named(given).as_slice() {
            [one] => Ok(*one),
            [] => Err(self.missing("function", given)),
            several => Err(self.ambiguous(given, several.iter().map(|of| Ref::from(*of)))),
        }
    }

    /// The function, module, type or global that a caller means by a name or path.
    fn entity(&self, given: &str) -> Result<Ref, GraphError> {
        match self.program().resolve(given).as_slice() {
            [one] => Ok(*one),
            [] => self.function(given).map(Ref::from).map_err(|error| match error.code.as_str() {
                "NOT_FOUND" => self.missing("entity", given),
                _ => error,
            }),
            several => Err(self.ambiguous(given, several.iter().copied())),
        }
    }

    fn missing(&self, what: &'static str, given: &str) -> GraphError {
        let program = self.program();
        let names: Vec<String> =
            program.functions().map(|(_, function)| function.head().name.to_string()).collect();
        let last = given.rsplit("::").next().unwrap_or(given);
        let candidates = lmlang_ir::text::nearest(last, names.iter().map(String::as_str));
        absent(&Error::NotFound { what, given: given.to_owned(), candidates, retired: false })
    }

    fn ambiguous(&self, given: &str, several: impl Iterator<Item = Ref>) -> GraphError {
        let paths = self.program().paths_apart(&several.collect::<Vec<_>>());
        refused("BAD_REQUEST", told::within(&format!("`{given}` names several:"), &paths))
    }
}

/// The program of a name. An id is no name.
async fn find(engine: &Engine, name: &str) -> Result<OpenProgram, GraphError> {
    engine.find(&Selector::Name(name.to_owned())).await.map_err(|error| absent(&error))
}

/// An error, with the near names of what is not there.
fn absent(error: &Error) -> GraphError {
    let near = match error {
        Error::NotFound { candidates, .. } if !candidates.is_empty() => {
            format!("; did you mean: {}", candidates.join(", "))
        }
        _ => String::new(),
    };
    let told = GraphError::from(error.clone());
    GraphError { message: told.message + &near, ..told }
}

fn refused(code: &str, message: String) -> GraphError {
    GraphError { code: code.to_owned(), message, transient: false }
}

/// Reads arguments that fit a schema as the type that it is of.
fn typed<T: DeserializeOwned>(arguments: &Map<String, Value>) -> Result<T, GraphError> {
    serde_json::from_value(Value::Object(arguments.clone()))
        .map_err(|error| refused("BAD_REQUEST", format!("the arguments do not fit: {error}")))
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({
        "type": "object", "required": required, "additionalProperties": false, "properties": properties,
    })
}

/// The argument that names a program.
fn program() -> Value {
    json!({ "type": "string", "minLength": 1, "description": "Its name." })
}

fn at() -> Value {
    json!({ "type": "string", "description": "Revision `r7`, branch or checkpoint; default the head." })
}

fn cursor() -> Value {
    json!({ "type": "string", "description": "next_cursor of the answer before." })
}

fn max_tokens() -> Value {
    json!({
        "type": "integer", "minimum": 100, "maximum": told::MOST,
        "description": format!("Tokens of the answer, default {}.", told::DEFAULT),
    })
}

fn branch() -> Value {
    json!({ "type": "string", "description": "Default main." })
}
