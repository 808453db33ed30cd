//! Flows that are declared, executed: their nodes call the tools that agents have, and ask the models that are configured.
//!
//! What a declaration may say is [`lmlang_flow::declared`]'s; here is what becomes of it. A node does one thing: it fills its
//! templates with what the run carries, asks or calls what it is for, and says what the run carries on. Everything else is as in
//! flows that are code: receipts, the ladder, questions, traces. Tools see what tools of `act` see, so that a run is begun by nobody
//! who is limited to some programs; but for flows about a program, whose runs see nothing beside that one.

mod acting;
mod agent;
mod named;
mod question;

use std::sync::Arc;

use jsonschema::{PatternOptions, Validator};
use lmlang_engine::flows::code::failure;
use lmlang_engine::{Accepted, BoxFuture, Engine, Error, FlowCode, Halt, Work};
use lmlang_flow::declared::{Declaration, Mistake};
use lmlang_flow::{Flow, State, Step, Update};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::graph_store::GraphSource;
use crate::input;
use crate::model::Models;
use crate::tools::{RegisterError, StandardTools, make_tool_registry};

/// Executes declared flows.
pub struct Interpreter(Arc<Parts>);

/// What declared flows work with.
struct Parts {
    models: Arc<Models>,
    tools: StandardTools,
    graph: GraphSource,
}

impl Interpreter {
    /// Flows that ask these models and keep entities in this graph.
    ///
    /// # Errors
    ///
    /// [`RegisterError`], which the tools of this project never lead to.
    pub fn new(models: Arc<Models>, graph: GraphSource) -> Result<Interpreter, RegisterError> {
        Ok(Interpreter(Arc::new(Parts { models, tools: make_tool_registry()?, graph })))
    }
}

impl lmlang_engine::Interpreter for Interpreter {
    fn mistakes(&self, declaration: &Declaration) -> Vec<Mistake> {
        named::mistakes(&self.0.tools, declaration)
    }

    fn code(&self, flow: &Arc<Flow>) -> Option<Arc<dyn FlowCode>> {
        let declaration = flow.definition().declared.clone()?;
        let input = compiled(&declaration.input).ok()?;
        Some(Arc::new(Declared { flow: Arc::clone(flow), declaration, input, parts: Arc::clone(&self.0) }))
    }
}

/// The code of a declared flow.
struct Declared {
    flow: Arc<Flow>,
    declaration: Declaration,
    input: Validator,
    parts: Arc<Parts>,
}

/// A schema, to hold values against.
fn compiled(schema: &Value) -> Result<Validator, String> {
    let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
    options.build(schema).map_err(|error| error.to_string())
}

impl FlowCode for Declared {
    fn flow(&self) -> &Arc<Flow> {
        &self.flow
    }

    fn input_schema(&self) -> Value {
        self.declaration.input.clone()
    }

    fn turn_input(&self, text: &str) -> Option<Value> {
        let field = self.declaration.turn.clone()?;
        Some(Value::Object([(field, json!(text))].into_iter().collect()))
    }

    fn accept<'a>(
        &'a self,
        engine: &'a Engine,
        input: &'a Value,
        before: Option<&'a State>,
    ) -> BoxFuture<'a, Result<Accepted, Error>> {
        Box::pin(async move {
            if self.declaration.program.is_none() && !engine.is_unlimited() {
                let what =
                    "beginning a run of a declared flow that is about no program with a token for some \
                            programs only"
                        .to_owned();
                return Err(Error::Unsupported { what });
            }
            let given = || input.as_object().into_iter().flatten();
            // First: who mistypes a name is not told that the right one is missing.
            if let Some((name, _)) =
                given().find(|(name, _)| self.declaration.input["properties"].get(name).is_none())
            {
                return Err(input::wrong(name, format!("the flow has no input `{name}`")));
            }
            if let Some(error) = self.input.iter_errors(input).next() {
                let place = field(&error.instance_path().to_string());
                let message =
                    if place.is_empty() { error.to_string() } else { format!("`{place}`: {error}") };
                return Err(input::wrong(&place, message));
            }
            let mut update =
                given().fold(self.carried(before), |update, (name, value)| update.with(name, value.clone()));
            let program = match &self.declaration.program {
                Some(property) => Some(self.subject(engine, property, &mut update).await?),
                None => None,
            };
            Ok(Accepted { update, program, branch: None })
        })
    }

    fn execute<'a>(
        &'a self,
        node: &'a str,
        state: &'a State,
        work: &'a mut Work,
    ) -> BoxFuture<'a, Result<Step, Halt>> {
        Box::pin(async move {
            let found = self.declaration.nodes.iter().find(|of| of.name == node);
            let found = found.ok_or_else(|| failure("INTERNAL", format!("there is no node `{node}`")))?;
            self.act(found, state, work).await
        })
    }
}

impl Declared {
    /// The program that a run is about, which a property of its input names, by name or id; from there on it holds the name, as
    /// tools take it.
    async fn subject(&self, engine: &Engine, property: &str, update: &mut Update) -> Result<Uuid, Error> {
        let initial = State::initial(&self.flow);
        let given = update.0.get(property).unwrap_or_else(|| initial.get(property));
        let Some(given) = given.as_str().filter(|given| !given.is_empty()) else {
            let message = format!("`{property}`: a program is expected, by name or id");
            return Err(input::wrong(property, message));
        };
        let open = engine.find(&input::program(given)).await?;
        update.0.insert(property.to_owned(), json!(open.info().name));
        Ok(open.info().id)
    }

    /// What a run takes over from the one before it, as far as this version of the flow can take it.
    fn carried(&self, before: Option<&State>) -> Update {
        let mut update = Update::none();
        let Some(before) = before else { return update };
        let initial = State::initial(&self.flow);
        for name in &self.declaration.carry {
            let one = Update::none().with(name, before.get(name).clone());
            if !before.get(name).is_null() && initial.check(&self.flow, &one).is_ok() {
                update.0.extend(one.0);
            }
        }
        update
    }
}

/// A pointer into a value, as places are written: `/tags/0` is `tags[0]`.
fn field(pointer: &str) -> String {
    let mut out = String::new();
    for step in pointer.split('/').skip(1) {
        match step.bytes().all(|byte| byte.is_ascii_digit()) {
            true => out.push_str(&format!("[{step}]")),
            false if out.is_empty() => out.push_str(step),
            false => out.push_str(&format!(".{step}")),
        }
    }
    out
}
