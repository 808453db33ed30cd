//! Breakpoints: where a debugger stops.

use std::collections::BTreeSet;
use std::ops::Range;

use lmlang_ir::text::InsertPlace;
use lmlang_ir::{Attr, FuncRef, NodeRef, Opcode as Op, Program, StorageKind, VarRef};
use thiserror::Error;

use super::expression::{Expression, ExpressionError};
use crate::marks::Marks;
use crate::run::Run;
use crate::trace::started;
use crate::value::{Budget, Word, show};

/// Bytes of linear memory that one breakpoint watches at most.
const MOST_WATCHED: u64 = 4_096;

/// A place to stop at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakpoint {
    /// Where.
    pub spot: Spot,
    /// Stop only where this holds: a `bool` in the text form, of what is in scope there, that changes nothing. Not for
    /// what is watched.
    pub condition: Option<String>,
    /// How often it is met on the way forward without stopping, from when it is set; each time counts.
    pub ignore: u64,
}

impl From<Spot> for Breakpoint {
    /// Stops each time.
    fn from(spot: Spot) -> Breakpoint {
        Breakpoint { spot, condition: None, ignore: 0 }
    }
}

/// Where to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Before a node.
    Node(FuncRef, NodeRef),
    /// Before the first node of each call of a function.
    Function(FuncRef),
    /// Behind the node that gives a variable another value, in any call of its function.
    Variable(FuncRef, VarRef),
    /// Behind the node that gives a global another value.
    Global(VarRef),
    /// Behind the node that changes a byte of linear memory at these addresses.
    Memory(Range<u64>),
}

impl Spot {
    /// What a text names to be watched: a variable or a global, by ref or path, `v5` or `module::function::name`, or bytes of
    /// linear memory, `memory[16..24]` or `memory[0x10]`.
    pub fn watched(program: &Program, text: &str) -> Option<Spot> {
        if let Some(range) = text.strip_prefix("memory[").and_then(|rest| rest.strip_suffix(']')) {
            return addresses(range).map(Spot::Memory);
        }
        let named = || {
            let found = program.resolve(text).into_iter();
            let mut found = found.filter_map(|of| VarRef::try_from(of).ok());
            found.next().filter(|_| found.next().is_none())
        };
        let variable: VarRef = text.parse().ok().or_else(named)?;
        match program.function_of(variable.into()) {
            Some(function) => Some(Spot::Variable(function, variable)),
            None => program.storage(variable).map(|_| Spot::Global(variable)),
        }
    }
}

/// `16..24`, or `16` alone.
fn addresses(text: &str) -> Option<Range<u64>> {
    let number = |text: &str| {
        let text = text.trim();
        match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    };
    match text.split_once("..") {
        Some((from, to)) => Some(number(from)?..number(to)?),
        None => number(text).and_then(|at| Some(at..at.checked_add(1)?)),
    }
}

/// Why a breakpoint cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BreakpointError {
    /// There is no such function with a body.
    #[error("there is no function `{0}` with a body")]
    NoFunction(FuncRef),
    /// There is no such node in the function.
    #[error("there is no node `{1}` in `{0}`")]
    NoNode(FuncRef, NodeRef),
    /// There is no such variable in the function.
    #[error("there is no variable `{1}` in `{0}`")]
    NoVariable(FuncRef, VarRef),
    /// There is no such global.
    #[error("there is no global `{0}`")]
    NoGlobal(VarRef),
    /// No byte, or too many.
    #[error("expected 1 to {MOST_WATCHED} bytes, found {0}")]
    Bytes(u64),
    /// A condition beside something that is watched.
    #[error("a watch takes no condition")]
    WatchWithCondition,
    /// The condition cannot be told.
    #[error(transparent)]
    Condition(#[from] ExpressionError),
}

/// A breakpoint of a run.
#[derive(Debug)]
pub(super) struct Armed {
    spot: Spot,
    condition: Option<Expression>,
    /// The nodes that can give a variable another value.
    writers: BTreeSet<NodeRef>,
    pub(super) hits: u64,
    pub(super) ignore: u64,
    /// Why the condition could not be told last.
    pub(super) trouble: Option<String>,
}

/// What is watched, before a node.
pub(super) enum Before {
    /// The node cannot change it.
    Untouched,
    Value(Word),
    Bytes(Vec<u8>),
}

impl Armed {
    pub(super) fn new(run: &Run, wanted: &Breakpoint) -> Result<Armed, BreakpointError> {
        let Breakpoint { spot, condition, ignore } = wanted;
        let program = run.checked().program();
        let function = |of: FuncRef| {
            let found = program.function(of).filter(|found| found.body().root().is_some());
            found.ok_or(BreakpointError::NoFunction(of))
        };
        let mut writers = BTreeSet::new();
        // What a condition sees.
        let scope = match spot {
            Spot::Node(of, node) => {
                let body = function(*of)?.body();
                let found = body.node(*node).ok_or(BreakpointError::NoNode(*of, *node))?;
                let before = body.nodes_in(found.region()).take_while(|other| other != node).last();
                Some(InsertPlace { function: *of, region: found.region(), after: before })
            }
            Spot::Function(of) => {
                let root = function(*of)?.body().root();
                root.map(|region| InsertPlace { function: *of, region, after: None })
            }
            Spot::Variable(of, variable) => {
                let body = function(*of)?.body();
                if body.variable(*variable).is_none() {
                    return Err(BreakpointError::NoVariable(*of, *variable));
                }
                let writes =
                    |op: &lmlang_ir::Op| op.code() == Op::VarSet && *op.attr() == Attr::Variable(*variable);
                writers.extend(body.nodes().filter(|(_, node)| writes(node.op())).map(|(of, _)| of));
                None
            }
            Spot::Global(global) => match program.storage(*global).map(|storage| &storage.kind) {
                Some(StorageKind::Global { .. }) => None,
                Some(
                    StorageKind::Memory { .. }
                    | StorageKind::Data { .. }
                    | StorageKind::Table { .. }
                    | StorageKind::Elements { .. }
                    | StorageKind::Custom { .. },
                )
                | None => return Err(BreakpointError::NoGlobal(*global)),
            },
            Spot::Memory(range) => {
                let bytes = range.end.saturating_sub(range.start);
                if bytes == 0 || bytes > MOST_WATCHED {
                    return Err(BreakpointError::Bytes(bytes));
                }
                None
            }
        };
        let condition = match (condition, scope) {
            (None, _) => None,
            (Some(_), None) => return Err(BreakpointError::WatchWithCondition),
            (Some(text), Some(place)) => Some(Expression::condition(run, place, text)?),
        };
        Ok(Armed { spot: spot.clone(), condition, writers, hits: 0, ignore: *ignore, trouble: None })
    }

    /// Counts that it was met; tells whether that is a reason to stop.
    pub(super) fn count(&mut self) -> bool {
        self.hits += 1;
        self.hits > self.ignore
    }

    /// Adds the nodes before which it has to be looked at.
    pub(super) fn mark(&self, marks: &mut Marks) {
        match &self.spot {
            Spot::Node(_, node) => drop(marks.nodes.insert(*node)),
            Spot::Function(of) => drop(marks.entries.insert(*of)),
            Spot::Variable(..) => marks.nodes.extend(&self.writers),
            Spot::Global(_) | Spot::Memory(_) => marks.writes = true,
        }
    }

    /// Whether the next step of a run is one to stop before. A condition that cannot be told stops too.
    pub(super) fn is_met(&mut self, run: &mut Run) -> bool {
        let Some((code, slots)) = started(run).filter(|_| run.outcome().is_none()) else { return false };
        let here = match &self.spot {
            Spot::Node(_, node) => code.slots[slots].node == *node,
            Spot::Function(of) => {
                let (entry, at) = (code.first_start(), run.code().map(|(_, at)| at));
                entry == at && run.name(run.machine.func) == Some(*of)
            }
            Spot::Variable(..) | Spot::Global(_) | Spot::Memory(_) => false,
        };
        let Some(condition) = self.condition.as_mut().filter(|_| here) else { return here };
        let told = condition.holds(run);
        self.trouble = told.as_ref().err().cloned();
        told.unwrap_or(true)
    }

    /// What is watched, if the next node can change it.
    pub(super) fn before(&self, run: &Run) -> Before {
        let node = || started(run).map(|(code, slots)| &code.slots[slots]);
        match &self.spot {
            Spot::Node(..) | Spot::Function(_) => Before::Untouched,
            Spot::Variable(..) => match node() {
                Some(node) if self.writers.contains(&node.node) => self.value(run),
                Some(_) | None => Before::Untouched,
            },
            Spot::Global(_) => self.value(run),
            Spot::Memory(_) => Before::Bytes(self.bytes(run).to_vec()),
        }
    }

    /// Whether what is watched is another than before the node.
    pub(super) fn has_changed(&self, run: &Run, before: &Before) -> bool {
        match before {
            Before::Untouched => false,
            Before::Bytes(bytes) => self.bytes(run) != bytes,
            Before::Value(before) => match (self.value(run), before) {
                (Before::Value(Word::Num(now)), Word::Num(before)) => now != *before,
                (Before::Value(now), before) => {
                    let Some(ty) = self.ty(run) else { return false };
                    let shown = |word| {
                        show(run.checked().program(), &ty, word, &|index| run.name(index), Budget::STEP)
                    };
                    let (now, before) = (shown(&now), shown(before));
                    // Of what is too long to compare it is said that it changed.
                    now != before || now.is_some_and(|now| now.cut)
                }
                (Before::Untouched | Before::Bytes(_), _) => false,
            },
        }
    }

    fn value(&self, run: &Run) -> Before {
        let word = match &self.spot {
            Spot::Variable(_, variable) => run.code().and_then(|(code, _)| {
                let found = code.vars.iter().find(|(of, ..)| of == variable);
                found.map(|(_, loc, _)| run.read(*loc))
            }),
            Spot::Global(global) => run.global(*global, self.ty(run).as_ref()),
            Spot::Node(..) | Spot::Function(_) | Spot::Memory(_) => None,
        };
        word.map_or(Before::Untouched, Before::Value)
    }

    fn ty(&self, run: &Run) -> Option<lmlang_ir::Type> {
        let program = run.checked().program();
        match &self.spot {
            Spot::Variable(of, variable) => {
                program.function(*of)?.body().variable(*variable).map(|found| found.ty.clone())
            }
            Spot::Global(global) => match &program.storage(*global)?.kind {
                StorageKind::Global { ty, .. } => Some(ty.clone()),
                StorageKind::Memory { .. }
                | StorageKind::Data { .. }
                | StorageKind::Table { .. }
                | StorageKind::Elements { .. }
                | StorageKind::Custom { .. } => None,
            },
            Spot::Node(..) | Spot::Function(_) | Spot::Memory(_) => None,
        }
    }

    /// The watched bytes that there are.
    fn bytes<'r>(&self, run: &'r Run) -> &'r [u8] {
        let Spot::Memory(range) = &self.spot else { return &[] };
        run.bytes_at(range)
    }
}
