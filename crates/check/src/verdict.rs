//! What the end of a run says about a function.

use std::collections::BTreeSet;
use std::fmt;

use lmlang_interp::{Fault, LimitKind, Limits, Outcome, Place, limit_message};
use lmlang_ir::graph::{is_border, types_with_invariants};
use lmlang_ir::{ContractKind, ContractRef, FuncRef, Function, NodeRef, Program};

use crate::distance::{Distance, distance};

/// How a function failed. Two inputs fail in the same way where these are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// An operator trapped, or a contract did.
    Trapped {
        /// Why.
        fault: Fault,
        /// Where.
        function: FuncRef,
        /// The node; none where a value that nobody set was to be returned.
        node: Option<NodeRef>,
    },
    /// A promise was not kept, or a demand of a function that was called not met.
    Violated {
        /// The contract.
        contract: ContractRef,
        /// Whose it is.
        function: FuncRef,
    },
    /// Calls went deeper than a run allows: a recursion without an end, most often.
    TooDeep,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Trapped { fault, function, node: Some(node) } => {
                write!(f, "{fault}, at `{node}` of `{function}`")
            }
            Failure::Trapped { fault, function, node: None } => write!(f, "{fault}, in `{function}`"),
            Failure::Violated { contract, function } => {
                write!(f, "contract `{contract}` of `{function}` does not hold")
            }
            Failure::TooDeep => f.write_str("calls went deeper than a run allows"),
        }
    }
}

/// Why nothing follows from a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Undecided {
    /// It met the limit of fuel.
    Fuel,
    /// It met the limit of memory.
    Memory,
    /// It wrote more than it may.
    Output,
    /// It came to something that is not there yet.
    Hole,
    /// It called a function with errors.
    NotVerified,
    /// It came to something that runs cannot do: an operator or a function of the host.
    Unsupported,
    /// It waited for input, of which there is no more here.
    Input,
}

impl Undecided {
    /// Why, with the value of the limit that was met.
    pub fn told(self, limits: &Limits) -> String {
        let bound = match self {
            Undecided::Fuel => Some((LimitKind::Fuel, limits.fuel)),
            Undecided::Memory => Some((LimitKind::Memory, limits.memory_bytes)),
            Undecided::Output => Some((LimitKind::Output, limits.output_bytes)),
            Undecided::Hole | Undecided::NotVerified | Undecided::Unsupported | Undecided::Input => None,
        };
        bound.map_or_else(|| self.to_string(), |(limit, bound)| limit_message(limit, Some(bound)))
    }
}

impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Undecided::Fuel => "the limit of fuel was reached",
            Undecided::Memory => "the limit of memory was reached",
            Undecided::Output => "the limit of output was reached",
            Undecided::Hole => "a hole was reached",
            Undecided::NotVerified => "a function with errors was called",
            Undecided::Unsupported => "something was reached that runs cannot do",
            Undecided::Input => "input was waited for",
        })
    }
}

/// What one input shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// It returned, and kept its promises.
    Held,
    /// The function does not take the input: a demand of its own is not met.
    Unwanted(Unmet),
    /// It failed.
    Failed(Failure),
    /// Nothing follows.
    Undecided(Undecided),
}

/// A demand that is not met.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unmet {
    /// How many demands of the function come before it, and are met.
    pub(crate) met: usize,
    /// How far the input is from meeting it.
    pub(crate) distance: Distance,
}

/// Judges how a run of a function ended; none where it has not.
pub(crate) fn judge(program: &Program, function: FuncRef, outcome: Option<&Outcome>) -> Verdict {
    let undecided = Verdict::Undecided;
    match outcome {
        None => undecided(Undecided::Input),
        Some(Outcome::Returned { .. }) => Verdict::Held,
        Some(Outcome::Trapped { fault, place }) => match fault {
            Fault::Trap(_) | Fault::Segment(..) | Fault::InContract(..) => {
                let at = place.at();
                Verdict::Failed(Failure::Trapped {
                    fault: *fault,
                    function: at.map_or(function, |at| at.function),
                    node: at.and_then(|at| at.node),
                })
            }
            // Ending with a status is what a program says, not how it breaks.
            Fault::Exit(_) => Verdict::Held,
            Fault::Unsupported | Fault::Raw(..) | Fault::Imported(_) | Fault::TooLarge(_) => {
                undecided(Undecided::Unsupported)
            }
        },
        Some(Outcome::ContractViolated { contract, place, .. }) => {
            match unmet(program, function, *contract, place) {
                Some(unmet) => Verdict::Unwanted(unmet),
                None => {
                    let owner = place.at().map_or(function, |at| at.function);
                    Verdict::Failed(Failure::Violated { contract: *contract, function: owner })
                }
            }
        }
        Some(Outcome::LimitReached { limit, .. }) => match limit {
            LimitKind::Depth => Verdict::Failed(Failure::TooDeep),
            LimitKind::Fuel | LimitKind::Time | LimitKind::Trace => undecided(Undecided::Fuel),
            LimitKind::Memory => undecided(Undecided::Memory),
            LimitKind::Output => undecided(Undecided::Output),
        },
        Some(Outcome::ReachedHole { .. }) => undecided(Undecided::Hole),
        Some(Outcome::NotVerified { .. }) => undecided(Undecided::NotVerified),
        Some(Outcome::Cancelled { .. }) => undecided(Undecided::Fuel),
    }
}

/// The demand of the function itself that a run violates right at its start, an invariant of what it takes among them; none
/// for any other contract.
fn unmet(program: &Program, function: FuncRef, contract: ContractRef, place: &Place) -> Option<Unmet> {
    // What is checked before the body stands at no node of the function.
    let is_demand = match &place.stack[..] {
        [at] => at.function == function,
        [border, _] => border.function == function && border.node.is_none(),
        _ => false,
    };
    let found = program.function(function).filter(|_| is_demand)?;
    let types = found.head().params.iter().flat_map(|param| types_with_invariants(program, &param.ty));
    let types = types.filter(|_| is_border(found)).collect::<BTreeSet<_>>();
    let stating = types.into_iter().flat_map(|of| program.stating(of)).filter_map(|of| program.function(of));
    let met = stating.chain([found]).flat_map(|of| demands(of)).position(|of| of == contract)?;
    Some(Unmet { met, distance: distance(program, contract, place) })
}

/// What a function demands of who calls it, in the order in which it is evaluated.
fn demands(of: &Function) -> impl Iterator<Item = ContractRef> {
    let kinds = [ContractKind::Invariant, ContractKind::Require].into_iter();
    kinds.flat_map(|kind| {
        let contracts = of.body().contracts().filter(move |(_, found)| found.kind == kind);
        contracts.map(|(of, _)| of)
    })
}
