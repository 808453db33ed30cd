//! What a declaration names outside of itself: tools, roles of models, schemas.

use lmlang_flow::State;
use lmlang_flow::declared::template::{self, Budget, Piece};
use lmlang_flow::declared::{Action, AskModel, CallTool, Declaration, Mistake, MistakeCode, RunAgent};
use lmlang_ir::text::nearest;
use serde_json::{Map, Value};

use super::compiled;
use crate::model::Role;
use crate::tools::{ToolRegistry, ToolSpec, program};

/// What is wrong with that.
pub(super) fn mistakes(tools: &dyn ToolRegistry, declaration: &Declaration) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    if let Err(why) = compiled(&declaration.input) {
        mistakes.push(Mistake::new(MistakeCode::BadSchema, "input", why));
    }
    for (index, node) in declaration.nodes.iter().enumerate() {
        let place = format!("nodes[{index}].action.{}", node.action.name());
        match &node.action {
            Action::Tool(call) => {
                tool_mistakes(tools, call, &place, &mut mistakes);
                if declaration.program.is_some() {
                    mistakes.extend(strange(tools, &call.name, format!("{place}.name")));
                }
            }
            Action::Model(AskModel { role, schema, .. }) => {
                model_mistakes(role.as_deref(), schema.as_ref(), &place, &mut mistakes);
            }
            Action::Agent(RunAgent { role, schema, tools: called, .. }) => {
                model_mistakes(role.as_deref(), schema.as_ref(), &place, &mut mistakes);
                for (at, name) in called.iter().enumerate().filter(|(_, name)| tools.get(name).is_none()) {
                    mistakes.push(unknown(tools, name, format!("{place}.tools[{at}]")));
                }
                for (at, name) in called.iter().enumerate().filter(|_| declaration.program.is_some()) {
                    mistakes.extend(strange(tools, name, format!("{place}.tools[{at}]")));
                }
            }
            Action::Ask(_)
            | Action::Branch(_)
            | Action::Set(_)
            | Action::Run(_)
            | Action::Wait(_)
            | Action::Parallel(_)
            | Action::Each(_)
            | Action::End(_) => {}
        }
    }
    mistakes
}

fn model_mistakes(role: Option<&str>, schema: Option<&Value>, place: &str, mistakes: &mut Vec<Mistake>) {
    if let Some(Err(error)) = role.map(str::parse::<Role>) {
        mistakes.push(Mistake::new(MistakeCode::BadName, format!("{place}.role"), error.to_string()));
    }
    if let Some(Err(why)) = schema.map(compiled) {
        mistakes.push(Mistake::new(MistakeCode::BadSchema, format!("{place}.schema"), why));
    }
}

/// A tool that is not there, with those that are near, or all.
fn unknown(tools: &dyn ToolRegistry, name: &str, place: String) -> Mistake {
    let names: Vec<&str> = tools.list().iter().map(|spec| spec.name).collect();
    let near = nearest(name, names.iter().copied());
    let there: Vec<String> = match near.is_empty() {
        true => names.iter().map(|name| format!("`{name}`")).collect(),
        false => near.iter().map(|name| format!("`{name}`")).collect(),
    };
    let message = format!("no tool is called `{name}`: there is {}", there.join(", "));
    Mistake::new(MistakeCode::UnknownTool, place, message)
}

/// A tool that is there, but not for flows about a program.
fn strange(tools: &dyn ToolRegistry, name: &str, place: String) -> Option<Mistake> {
    let spec = tools.get(name)?.spec();
    let message = format!("`{name}` works on entities, which a flow about a program does not reach");
    (!program::has(spec.name)).then(|| Mistake::new(MistakeCode::OutOfReach, place, message))
}

fn tool_mistakes(tools: &dyn ToolRegistry, call: &CallTool, place: &str, mistakes: &mut Vec<Mistake>) {
    let CallTool { name, arguments, .. } = call;
    let Some(tool) = tools.get(name) else {
        mistakes.push(unknown(tools, name, format!("{place}.name")));
        return;
    };
    let place = format!("{place}.arguments");
    let found = match arguments.values().all(is_literal) {
        // As they will be: two braces may stand for one.
        true => match template::fields(arguments, &State::default(), &mut Budget::default()) {
            Ok(filled) => tools.check(name, &Value::Object(filled)),
            Err(error) => vec![error.to_string()],
        },
        // What their values will be is not known yet.
        false => misnamed(tool.spec(), arguments),
    };
    mistakes.extend(found.into_iter().map(|why| Mistake::new(MistakeCode::BadArguments, place.clone(), why)));
}

/// Whether a value is the same whatever a run carries.
fn is_literal(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let pieces = template::pieces(text).unwrap_or_default();
            pieces.iter().all(|piece| matches!(piece, Piece::Text(_)))
        }
        Value::Array(items) => items.iter().all(is_literal),
        Value::Object(fields) => fields.values().all(is_literal),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Arguments that are missing, and those that a tool does not have.
fn misnamed(spec: &ToolSpec, arguments: &Map<String, Value>) -> Vec<String> {
    let required = spec.parameters["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing = required.filter(|name| !arguments.contains_key(*name));
    let missing = missing.map(|name| format!("\"{name}\" is a required property"));
    let known = |name: &str| spec.parameters["properties"].get(name).is_some();
    let unknown = arguments.keys().filter(|name| !known(name));
    missing.chain(unknown.map(|name| format!("`{}` has no argument `{name}`", spec.name))).collect()
}
