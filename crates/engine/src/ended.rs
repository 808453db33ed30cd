//! How a run ended, in words: for whoever passes it on and does not look into it.

use lmlang_interp::{Outcome, limit_message};
use lmlang_ir::text::{Detail, print_node, print_value};
use lmlang_ir::{FuncRef, NodeRef, Program};

use crate::simulate::{Report, Status};

/// How a run ended, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How it stands.
    pub status: Status,
    /// The code of the trap, else what the outcome is called; none where it returned.
    pub code: Option<String>,
    /// What happened; empty where it returned.
    pub message: String,
    /// What it returned.
    pub values: Vec<String>,
    /// Where it stopped.
    pub at: Option<Spot>,
    /// Values that were alive there: of which node, region or function, and which.
    pub alive: Vec<(String, String)>,
    /// What was printed.
    pub stdout: String,
    /// What was written to standard error.
    pub stderr: String,
}

/// Where a run stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The function.
    pub function: FuncRef,
    /// The node; none at the end of a region without a terminator.
    pub node: Option<NodeRef>,
    /// The node's text.
    pub text: String,
    /// Nodes that had been executed.
    pub step: u64,
    /// The calls, the outermost first.
    pub stack: Vec<FuncRef>,
}

impl Report {
    /// How it ended, in words; `program` is the one that was run.
    #[must_use]
    pub fn ended(&self, program: &Program) -> Ended {
        let outcome = &self.result.outcome;
        let place = outcome.place();
        let at = place.and_then(|place| {
            let at = place.at()?;
            let text = at.node.map(|node| print_node(program, node, Detail::Summary)).unwrap_or_default();
            let stack = place.stack.iter().map(|frame| frame.function).collect();
            let text = text.trim_end().to_owned();
            Some(Spot { function: at.function, node: at.node, text, step: at.step, stack })
        });
        let alive = place.into_iter().flat_map(|place| &place.values).filter_map(|one| {
            let of = program.ref_of(one.source.number())?;
            let port = one.source.port();
            let of = if port == 0 { of.to_string() } else { format!("{of}.{port}") };
            Some((of, print_value(program, &one.shown.value)))
        });
        let (code, message, values) = match outcome {
            Outcome::Returned { values } => {
                let values = values.iter().map(|value| print_value(program, value)).collect();
                (None, String::new(), values)
            }
            Outcome::Trapped { fault, .. } => (Some(fault.code()), fault.message(program), Vec::new()),
            Outcome::ContractViolated { message, .. } => {
                (Some("CONTRACT_VIOLATED"), format!("`{message}` does not hold"), Vec::new())
            }
            Outcome::LimitReached { limit, bound, .. } => {
                (Some("LIMIT_REACHED"), limit_message(*limit, *bound), Vec::new())
            }
            Outcome::ReachedHole { port, node, .. } => {
                let message = match (node, port) {
                    (Some(node), Some(port)) => format!("input {port} of `{node}` has no source"),
                    (Some(node), None) => format!("`{node}` does not fit what it uses any more"),
                    (None, _) => "the region has no terminator".to_owned(),
                };
                (Some("HOLE"), message, Vec::new())
            }
            Outcome::NotVerified { function } => {
                let message = format!("`{}` has errors", program.path((*function).into()));
                (Some("NOT_VERIFIED"), message, Vec::new())
            }
            Outcome::Cancelled { .. } => (Some("CANCELLED"), "it was stopped".to_owned(), Vec::new()),
        };
        let printed = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ended {
            status: Status::of(outcome),
            code: code.map(str::to_owned),
            message,
            values,
            at,
            alive: alive.collect(),
            stdout: printed(&self.result.stdout),
            stderr: printed(&self.result.stderr),
        }
    }
}
