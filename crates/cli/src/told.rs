//! What a run did, told: its end, its calls and its steps.

use std::collections::HashMap;

use lmlang_interp::{Fault, LimitKind, Note, Outcome, Place, Shown, Step, limit_message};
use lmlang_ir::text::{Detail, Surroundings, print_node_among, print_value};
use lmlang_ir::{FuncRef, NodeRef, Program};
use serde_json::{Value as Json, json};

use crate::diagnostics::Read;
use crate::exit::Exit;

/// A run's end, told.
pub(crate) struct Told {
    pub(crate) exit: Exit,
    pub(crate) json: Json,
    pub(crate) lines: Vec<String>,
}

pub(crate) fn tell(outcome: &Outcome, read: &Read, file: Option<&str>) -> Told {
    let program = read.checked.program();
    let (kind, code, message, exit) = match outcome {
        Outcome::Returned { values } => {
            let values: Vec<String> = values.iter().map(|value| print_value(program, value)).collect();
            return Told {
                exit: Exit::Success,
                json: json!({ "outcome": "Returned", "values": values }),
                lines: Vec::new(),
            };
        }
        // A program that ends itself is silent about it, as one without lmlang around it.
        Outcome::Trapped { fault: fault @ Fault::Exit(status), .. } => {
            let json = json!({
                "outcome": "Trapped", "code": fault.code(), "message": fault.to_string(), "status": status,
            });
            return Told { exit: Exit::of_program(*status), json, lines: Vec::new() };
        }
        Outcome::Trapped { fault, .. } => ("Trapped", fault.code(), fault.message(program), Exit::Failure),
        Outcome::ContractViolated { contract, message, .. } => {
            let told = format!("`{message}` ({contract}) does not hold");
            ("ContractViolated", "CONTRACT_VIOLATED", told, Exit::Failure)
        }
        Outcome::LimitReached { limit: LimitKind::Time, bound, .. } => {
            ("LimitReached", "TIME", limit_message(LimitKind::Time, *bound), Exit::TimeOut)
        }
        Outcome::LimitReached { limit, bound, .. } => {
            ("LimitReached", "LIMIT_REACHED", limit_message(*limit, *bound), Exit::Failure)
        }
        Outcome::ReachedHole { node, port, .. } => {
            let told = match (node, port) {
                (Some(node), Some(port)) => format!("input {port} of `{node}` has no source"),
                (Some(node), None) => format!("`{node}` does not fit any more"),
                (None, _) => "a region ends without saying how".to_owned(),
            };
            ("ReachedHole", "HOLE", told, Exit::Failure)
        }
        Outcome::NotVerified { function } => {
            let told = format!("`{}` has errors", program.path((*function).into()));
            ("NotVerified", "NOT_VERIFIED", told, Exit::Verification)
        }
        Outcome::Cancelled { .. } => ("Cancelled", "CANCELLED", "interrupted".to_owned(), Exit::Interrupted),
    };
    let stack = outcome.place().map(|place| stack(place, read, file)).unwrap_or_default();
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let mut lines = vec![format!("{red}{}[{code}]{red:#}: {message}", word(kind))];
    lines.extend(stack.iter().map(|call| format!("  {call}")));
    Told { exit, json: json!({ "outcome": kind, "code": code, "message": message, "stack": stack }), lines }
}

/// The word for a kind of end, which the API calls by the name of a type: `contractViolated`.
fn word(kind: &str) -> String {
    let mut letters = kind.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// The calls, the innermost first, each with its line in the file, if there is one. Of deep recursion the ends are shown.
pub(crate) fn stack(place: &Place, read: &Read, file: Option<&str>) -> Vec<String> {
    const ENDS: usize = 8;
    let calls = place.stack.iter().rev().map(|at| {
        let function = read.checked.program().path(at.function.into());
        let found = at.node.and_then(|node| read.places.get(node.number()));
        let found = found.or_else(|| read.places.get(at.function.number()));
        let line = file.zip(found).map(|(file, (line, column))| format!(" at {file}:{line}:{column}"));
        let node = at.node.map(|node| format!(" {node}")).unwrap_or_default();
        format!("in {function}{node}{}", line.unwrap_or_default())
    });
    let mut calls: Vec<String> = calls.collect();
    if calls.len() > 2 * ENDS {
        let left_out = calls.len() - 2 * ENDS;
        calls.splice(ENDS..ENDS + left_out, [format!("… {left_out} calls")]);
    }
    calls
}

pub(crate) fn shown(values: &[Shown], program: &Program) -> Vec<String> {
    let one = |shown: &Shown| {
        let value = print_value(program, &shown.value);
        if shown.cut { format!("{value}…") } else { value }
    };
    values.iter().map(one).collect()
}

/// The words of the API.
fn note(note: Note) -> &'static str {
    match note {
        Note::InContract => "in a contract",
        Note::Stopped => "the run ended here",
    }
}

pub(crate) fn step_json(step: &Step, program: &Program) -> Json {
    json!({
        "seq": step.seq,
        "frame": step.frame,
        "function": step.function.to_string(),
        "region": step.region.to_string(),
        "node": step.node.to_string(),
        "inputs": shown(&step.inputs, program),
        "outputs": shown(&step.outputs, program),
        "note": step.note.map(note),
    })
}

/// Lines of the steps of a program. A node is printed once, however often it is executed.
#[derive(Default)]
pub(crate) struct StepLines {
    nodes: HashMap<NodeRef, String>,
    around: HashMap<Option<FuncRef>, Surroundings>,
}

impl StepLines {
    /// A step as a line: number, depth, node, and what it made.
    pub(crate) fn line(&mut self, step: &Step, program: &Program) -> String {
        let StepLines { nodes, around } = self;
        let text = nodes.entry(step.node).or_insert_with(|| {
            let around = around.entry(program.function_of(step.node.into())).or_default();
            let text = print_node_among(program, step.node, Detail::Summary, around);
            text.lines().next().unwrap_or_default().trim().to_owned()
        });
        let indent = "  ".repeat((step.frame as usize).min(16));
        let outputs = shown(&step.outputs, program).join(", ");
        let arrow = if outputs.is_empty() { "" } else { "  => " };
        let note = step.note.map(|step| format!("  ({})", note(step))).unwrap_or_default();
        format!("{:>6}  {indent}{text}{arrow}{outputs}{note}\n", step.seq)
    }
}
