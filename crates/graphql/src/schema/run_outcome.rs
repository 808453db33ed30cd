//! How runs end, as clients see it.

use async_graphql::{SimpleObject, Union};
use lmlang_engine::Report;
use lmlang_interp as interp;
use lmlang_ir::{ContractRef, text};

use crate::direct::{Direct, Rows};
use crate::error::{ApiError, cut};
use crate::schema::function::{Contract, Function};
use crate::schema::node::ComputeNode;
use crate::schema::scalars::{Count, ValueText};
use crate::schema::simulation_status::millis;
use crate::schema::trace_page::shown_text;
use crate::schema::view::{View, not_found};

/// How a run ended.
#[derive(Clone, Union)]
pub enum Outcome {
    /// The function returned.
    Returned(Returned),
    /// An operator trapped.
    Trapped(Trapped),
    /// A contract did not hold.
    ContractViolated(ContractViolated),
    /// A bound was met.
    LimitReached(LimitReached),
    /// It came to something that is not there yet.
    ReachedHole(ReachedHole),
    /// A function with errors was called.
    NotVerified(NotVerified),
    /// It was ended from outside.
    Cancelled(Cancelled),
}

/// The function returned.
#[derive(Clone, Debug, SimpleObject)]
pub struct Returned {
    /// Its results.
    values: Rows<ValueText>,
}

/// An operator trapped, or is not supported.
#[derive(Clone, Debug, SimpleObject)]
pub struct Trapped {
    /// The stable code: `DIVISION_BY_ZERO`.
    code: String,
    /// What happened, in words.
    message: String,
    /// Where.
    at: FrameLocation,
    /// The calls, the outermost first.
    stack: Rows<FrameLocation>,
    /// Values that were alive in the innermost call.
    node_values: Rows<NodeValue>,
}

/// A function's demand or promise did not hold.
#[derive(Clone, SimpleObject)]
pub struct ContractViolated {
    /// The contract.
    contract: Contract,
    /// What it means, in words.
    message: String,
    /// Where: in the function that has the contract.
    at: FrameLocation,
    /// The calls, the outermost first.
    stack: Rows<FrameLocation>,
    /// Values that were alive in the innermost call.
    node_values: Rows<NodeValue>,
}

/// A bound of the run was met.
#[derive(Clone, Debug, SimpleObject)]
pub struct LimitReached {
    /// Which one: `fuel`, `memory`, `depth`, `time`, `trace`, `output`.
    limit: String,
    /// Its value: nodes, bytes, calls, milliseconds. Null where it is none of the run's, as for a result that no answer holds.
    bound: Option<Count>,
    /// What the run had used of it when it wanted more. Null where nobody measured it, as of inputs that were searched for.
    used: Option<Count>,
    /// What happened, in words.
    message: String,
    /// Where.
    at: FrameLocation,
    /// The calls, the outermost first.
    stack: Rows<FrameLocation>,
    /// Values that were alive in the innermost call.
    node_values: Rows<NodeValue>,
}

/// The run came to something that is not there yet.
#[derive(Clone, SimpleObject)]
pub struct ReachedHole {
    /// The node with the hole; null at the end of a region without a terminator.
    node: Option<ComputeNode>,
    /// The input without a source; null when the node as a whole is wrong.
    port: Option<i32>,
    /// What is missing, in words.
    message: String,
    /// Where.
    at: FrameLocation,
    /// The calls, the outermost first.
    stack: Rows<FrameLocation>,
    /// Values that were alive in the innermost call.
    node_values: Rows<NodeValue>,
}

/// A function with errors was called, or was to be run.
#[derive(Clone, SimpleObject)]
pub struct NotVerified {
    /// The function.
    function: Function,
    /// What is the matter, in words.
    message: String,
}

/// The run was ended from outside.
#[derive(Clone, Debug, SimpleObject)]
pub struct Cancelled {
    /// Where.
    at: FrameLocation,
    /// The calls, the outermost first.
    stack: Rows<FrameLocation>,
    /// Values that were alive in the innermost call.
    node_values: Rows<NodeValue>,
}

/// A place in a call.
#[derive(Clone, Debug, Default, SimpleObject)]
pub struct FrameLocation {
    /// Position in the stack of calls, from 0.
    frame: i32,
    /// The function.
    function: String,
    /// The region.
    region: String,
    /// The node; null at the end of a region without a terminator, and where invariants of the parameters are checked.
    node: Option<String>,
    /// The node's text.
    text: String,
    /// Nodes that the run had executed.
    step: Count,
}

/// A value that was alive.
#[derive(Clone, Debug, SimpleObject)]
pub struct NodeValue {
    /// The node, or the region or function whose parameter it is; a variable or a global.
    pub(crate) node: String,
    /// Which output or parameter.
    pub(crate) port: i32,
    /// The value.
    pub(crate) value: ValueText,
}

impl NodeValue {
    pub(super) fn of_source(view: &View, one: &interp::SourceValue) -> NodeValue {
        let of = view.program().ref_of(one.source.number());
        NodeValue {
            node: of.map_or_else(String::new, |of| of.to_string()),
            port: i32::from(one.source.port()),
            value: shown_text(view, &one.shown),
        }
    }

    pub(super) fn of_variable(view: &View, one: &interp::VariableValue) -> NodeValue {
        NodeValue { node: one.variable.to_string(), port: 0, value: shown_text(view, &one.shown) }
    }
}

impl Direct for FrameLocation {}

impl Direct for NodeValue {}

impl Outcome {
    /// Bytes of the values and places that it shows.
    pub(crate) fn text_bytes(&self) -> u64 {
        match self {
            Outcome::Returned(returned) => returned.values.0.iter().map(ValueText::bytes).sum(),
            Outcome::Trapped(Trapped { stack, node_values, .. })
            | Outcome::ContractViolated(ContractViolated { stack, node_values, .. })
            | Outcome::LimitReached(LimitReached { stack, node_values, .. })
            | Outcome::ReachedHole(ReachedHole { stack, node_values, .. })
            | Outcome::Cancelled(Cancelled { stack, node_values, .. }) => {
                let stack = stack.0.iter().map(|at| at.text.len() as u64);
                stack.chain(node_values.0.iter().map(|one| one.value.bytes())).sum()
            }
            Outcome::NotVerified(_) => 0,
        }
    }
}

impl FrameLocation {
    /// Bytes of the text that it shows.
    pub(super) fn text_bytes(&self) -> u64 {
        self.text.len() as u64
    }
}

pub(super) fn location(view: &View, at: &interp::Location) -> FrameLocation {
    FrameLocation {
        frame: at.frame as i32,
        function: at.function.to_string(),
        region: at.region.to_string(),
        node: at.node.map(|node| node.to_string()),
        text: at
            .node
            .map_or_else(String::new, |node| text::print_node(view.program(), node, text::Detail::Summary)),
        step: Count(at.step),
    }
}

pub(super) struct PlaceParts {
    pub(super) at: FrameLocation,
    pub(super) stack: Rows<FrameLocation>,
    pub(super) node_values: Rows<NodeValue>,
}

pub(super) fn parts(view: &View, place: &interp::Place) -> PlaceParts {
    PlaceParts {
        at: place.at().map(|at| location(view, at)).unwrap_or_default(),
        stack: place.stack.iter().map(|at| location(view, at)).collect(),
        node_values: place.values.iter().map(|one| NodeValue::of_source(view, one)).collect(),
    }
}

/// How a run ended as clients see it, with what it had used where a bound was met.
pub(crate) fn ended(view: &View, report: &Report) -> std::result::Result<Outcome, ApiError> {
    let found = outcome(view, &report.result.outcome)?;
    Ok(match found {
        Outcome::LimitReached(reached) => {
            Outcome::LimitReached(LimitReached { used: used(report).map(Count), ..reached })
        }
        other => other,
    })
}

/// What a run had used of the bound that it met.
fn used(report: &Report) -> Option<u64> {
    let result = &report.result;
    let interp::Outcome::LimitReached { limit, place, .. } = &result.outcome else { return None };
    match limit {
        interp::LimitKind::Fuel => Some(result.fuel_used),
        interp::LimitKind::Memory => Some(result.memory_peak),
        interp::LimitKind::Depth => Some(place.stack.len() as u64),
        interp::LimitKind::Time => Some(millis(report.elapsed)),
        interp::LimitKind::Output => Some((result.stdout.len() + result.stderr.len()) as u64),
        interp::LimitKind::Trace => None,
    }
}

/// An outcome as clients see it.
pub(crate) fn outcome(view: &View, outcome: &interp::Outcome) -> std::result::Result<Outcome, ApiError> {
    Ok(match outcome {
        interp::Outcome::Returned { values } => Outcome::Returned(Returned {
            values: values
                .iter()
                .map(|value| ValueText::from(text::print_value(view.program(), value)))
                .collect(),
        }),
        interp::Outcome::Trapped { fault, place } => {
            let PlaceParts { at, stack, node_values } = parts(view, place);
            let (code, message) = (fault.code().to_owned(), trap_message(view, fault, place));
            Outcome::Trapped(Trapped { code, message, at, stack, node_values })
        }
        interp::Outcome::ContractViolated { contract, message, place } => {
            let PlaceParts { at, stack, node_values } = parts(view, place);
            let contract = contract_of(view, *contract)?;
            Outcome::ContractViolated(ContractViolated {
                contract,
                message: message.clone(),
                at,
                stack,
                node_values,
            })
        }
        interp::Outcome::LimitReached { limit, bound, place } => {
            let PlaceParts { at, stack, node_values } = parts(view, place);
            let message = interp::limit_message(*limit, *bound);
            Outcome::LimitReached(LimitReached {
                limit: limit.name().to_owned(),
                bound: bound.map(Count),
                used: None,
                message,
                at,
                stack,
                node_values,
            })
        }
        interp::Outcome::ReachedHole { node, port, place } => {
            let PlaceParts { at, stack, node_values } = parts(view, place);
            let node = match (node, place.at()) {
                (Some(node), Some(at)) => Some(ComputeNode::new(&Function::new(view, at.function)?, *node)),
                (Some(_) | None, _) => None,
            };
            let message = match (&node, port) {
                (Some(node), Some(port)) => format!("input {port} of `{}` has no source", node.of),
                (Some(node), None) => format!("`{}` does not fit what it uses any more", node.of),
                (None, _) => "the region has no terminator".to_owned(),
            };
            let port = port.map(i32::from);
            Outcome::ReachedHole(ReachedHole { node, port, message, at, stack, node_values })
        }
        interp::Outcome::NotVerified { function } => {
            let message = format!("`{}` has errors", view.program().path((*function).into()));
            Outcome::NotVerified(NotVerified { function: Function::new(view, *function)?, message })
        }
        interp::Outcome::Cancelled { place } => {
            let PlaceParts { at, stack, node_values } = parts(view, place);
            Outcome::Cancelled(Cancelled { at, stack, node_values })
        }
    })
}

/// The words for a trap, with what its operator was given as far as that is known.
fn trap_message(view: &View, fault: &interp::Fault, place: &interp::Place) -> String {
    let node = || {
        let at = place.at()?;
        let function = view.program().function(at.function)?;
        function.body().node(at.node?)
    };
    let message = fault.message(view.program());
    // It says what is asked of the host.
    let Some(node) = node().filter(|_| !matches!(fault, interp::Fault::Imported(_))) else { return message };
    let value = |source| place.values.iter().find(|one| Some(one.source) == source);
    let given: Vec<String> = node
        .inputs()
        .iter()
        .filter_map(|source| Some(cut(&text::print_value(view.program(), &value(source)?.shown.value))))
        .collect();
    if given.len() != node.inputs().len() || given.is_empty() {
        return message;
    }
    format!("{message}: `{}` of {}", node.op().code().mnemonic(), given.join(", "))
}

fn contract_of(view: &View, of: ContractRef) -> std::result::Result<Contract, ApiError> {
    let function = view.program().function_of(of.into());
    let function = function.ok_or_else(|| not_found("contract", &of.to_string()))?;
    Ok(Contract::new(Function::new(view, function)?, of))
}
