//! Repairs of findings, as edits that can be sent.

use async_graphql::{Json, SimpleObject};
use lmlang_ir::{EffectBound, Program};
use lmlang_verify::{Fix as Found, Step};
use serde_json::{Value, json};

/// A repair that could be applied.
#[derive(Clone, Debug, SimpleObject)]
pub struct Fix {
    /// What it does.
    title: String,
    /// A list of `EditInput`, ready to be the `edits` of `proposeEdit`: the finding is gone when they are applied. They
    /// are about the revision that was read: give that as `baseRevision`.
    edits: Json<Value>,
}

impl Fix {
    /// A fix of the verifier, in the form of the API.
    pub(crate) fn new(program: &Program, fix: Found) -> Fix {
        let edits = fix.steps.into_iter().enumerate().flat_map(|(at, step)| edits(program, at, step));
        Fix { title: fix.title, edits: Json(edits.collect()) }
    }
}

/// The edits that a step comes to.
fn edits(program: &Program, at: usize, step: Step) -> Vec<Value> {
    match step {
        Step::Connect { from, to, port } => {
            let to = to.to_string();
            vec![json!({ "addEdge": { "from": from, "to": to, "targetPort": port, "replace": true } })]
        }
        Step::Disconnect { node, port } => {
            vec![json!({ "removeEdge": { "ref": format!("{node}.in{port}") } })]
        }
        Step::Convert { op, from, to, port } => {
            let (name, to) = (format!("converted{at}"), to.to_string());
            let insert = json!({ "as": name, "op": op, "inputs": [from.to_string()], "before": to });
            let connect =
                json!({ "from": format!("${name}"), "to": to, "targetPort": port, "replace": true });
            vec![json!({ "insertNode": insert }), json!({ "addEdge": connect })]
        }
        Step::Remove(node) => vec![json!({ "removeNode": { "ref": node.to_string(), "cascade": true } })],
        Step::RemoveVariable(of) => vec![json!({ "removeVar": { "ref": of.to_string(), "cascade": true } })],
        Step::InsertText { region, text } => {
            vec![json!({ "insertText": { "text": text, "region": region.to_string() } })]
        }
        Step::SetEffectBound { function, bound } => {
            let bound = match bound {
                EffectBound::Pure => "PURE",
                EffectBound::Reads => "READS",
                EffectBound::Any => "ANY",
            };
            vec![json!({ "setSignature": { "ref": function.to_string(), "effectBound": bound } })]
        }
        Step::Publish(of) => {
            vec![json!({ "setVisibility": { "ref": of.to_string(), "visibility": "PUBLIC" } })]
        }
        Step::AddText { beside, text } => {
            let module = program.function(beside).map(|function| function.head().module.to_string());
            vec![json!({ "addText": { "module": module, "text": text } })]
        }
        Step::ReplaceStorage { of, text } => {
            vec![json!({ "replaceStorage": { "ref": of.to_string(), "text": text } })]
        }
    }
}
