//! How runs end, and where.

use std::fmt;
use std::time::Duration;

use lmlang_ir::text::print_signature;
use lmlang_ir::{
    ContractRef, FuncRef, NodeRef, Program, RegionRef, Source, StorageKind, Trap, Value, VarRef, counted,
};

use crate::machine::address;
use crate::value::Shown;
use crate::wasi;

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The function returned.
    Returned {
        /// Its results.
        values: Vec<Value>,
    },
    /// An operator trapped, or is not supported.
    Trapped {
        /// Why.
        fault: Fault,
        /// Where.
        place: Place,
    },
    /// A function's demand or promise did not hold.
    ContractViolated {
        /// Which one.
        contract: ContractRef,
        /// What it means, in words.
        message: String,
        /// Where: in the function that has the contract.
        place: Place,
    },
    /// A bound of the run was met.
    LimitReached {
        /// Which one.
        limit: LimitKind,
        /// Its value; none where nobody told it, as of time, which the caller watches.
        bound: Option<u64>,
        /// Where.
        place: Place,
    },
    /// The run came to something that is not there yet.
    ReachedHole {
        /// The node with the hole, or in whose place one is missing.
        node: Option<NodeRef>,
        /// The input without a source; none when the node as a whole is wrong, or a region has no terminator.
        port: Option<u16>,
        /// Where.
        place: Place,
    },
    /// A function with errors was called, or was to be run.
    NotVerified {
        /// Which one.
        function: FuncRef,
    },
    /// Someone stopped the run.
    Cancelled {
        /// Where.
        place: Place,
    },
}

impl Outcome {
    /// Where the run ended; `None` when it returned or never began.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Outcome::Returned { .. } | Outcome::NotVerified { .. } => None,
            Outcome::Trapped { place, .. }
            | Outcome::ContractViolated { place, .. }
            | Outcome::LimitReached { place, .. }
            | Outcome::ReachedHole { place, .. }
            | Outcome::Cancelled { place } => Some(place),
        }
    }

    /// Says how long the run might take, where that is what ended it: only whoever watched the clock knows.
    pub fn tell_time(&mut self, might_take: Duration) {
        if let Outcome::LimitReached { limit: LimitKind::Time, bound, .. } = self {
            *bound = u64::try_from(might_take.as_millis()).ok();
        }
    }

    pub(crate) fn place_mut(&mut self) -> Option<&mut Place> {
        match self {
            Outcome::Returned { .. } | Outcome::NotVerified { .. } => None,
            Outcome::Trapped { place, .. }
            | Outcome::ContractViolated { place, .. }
            | Outcome::LimitReached { place, .. }
            | Outcome::ReachedHole { place, .. }
            | Outcome::Cancelled { place } => Some(place),
        }
    }
}

/// Why a run trapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An operator trapped.
    Trap(Trap),
    /// A segment does not fit where it is put when the run begins.
    Segment(VarRef, Trap),
    /// A contract trapped instead of answering.
    InContract(ContractRef, Trap),
    /// Simulations do not have this operator.
    Unsupported,
    /// A node is an operator of WebAssembly that is only carried, with these first two bytes.
    Raw(NodeRef, [u8; 2]),
    /// A function that only the host has was called.
    Imported(FuncRef),
    /// The function is larger than the simulator takes.
    TooLarge(FuncRef),
    /// The program ended itself with a status that is not 0, or where results were wanted.
    Exit(u32),
}

impl Fault {
    /// The stable code.
    pub fn code(self) -> &'static str {
        match self {
            Fault::Trap(trap) | Fault::Segment(_, trap) => trap.code(),
            Fault::InContract(..) => Trap::ContractTrapped.code(),
            Fault::Unsupported | Fault::Raw(..) | Fault::Imported(_) | Fault::TooLarge(_) => "UNSUPPORTED",
            Fault::Exit(_) => "EXIT",
        }
    }

    /// What it is, in words, in the program that was run, with the paths of what it names: of a function that only the host
    /// has, what is asked of the host, and how one does without.
    pub fn message(self, program: &Program) -> String {
        match self {
            Fault::Imported(function) => imported(program, function).unwrap_or_else(|| self.to_string()),
            Fault::Segment(of, _) => segment(program, of).unwrap_or_else(|| self.to_string()),
            Fault::TooLarge(function) => too_large(&program.path(function.into())),
            Fault::Trap(_) | Fault::InContract(..) | Fault::Unsupported | Fault::Raw(..) | Fault::Exit(_) => {
                self.to_string()
            }
        }
    }
}

fn imported(program: &Program, function: FuncRef) -> Option<String> {
    let import = program.function(function)?.head().import.as_ref()?;
    let (path, signature) = (program.path(function.into()), print_signature(program, function));
    let whose = match *import.module == *wasi::MODULE {
        true => "which WASI preview 1 does not have like that here",
        false => "which only a host has",
    };
    Some(format!(
        "`{path}` is `{}.{}`, `{}`, {whose}: give it a body, or run the exported module in a host that has it",
        import.module,
        import.name,
        signature.trim()
    ))
}

/// Where a segment was to be put, and what is there.
fn segment(program: &Program, of: VarRef) -> Option<String> {
    let path = program.path(of.into());
    match &program.storage(of)?.kind {
        StorageKind::Data { offset, bytes } => {
            let memory = program.all_storage().find_map(|(_, found)| match found.kind {
                StorageKind::Memory { pages, .. } => Some(u64::from(pages) << 16),
                _ => None,
            });
            let (at, length) = (address(program, (*offset)?), counted(bytes.len() as u64, "byte", "bytes"));
            let memory = memory.unwrap_or(0);
            Some(format!("the data `{path}`, {length} at {at}, ends beyond the memory of {memory} bytes"))
        }
        StorageKind::Elements { target, entries, .. } => {
            let (table, offset) = (*target)?;
            let StorageKind::Table { entries: held, .. } = &program.storage(table)?.kind else { return None };
            let number = |of: usize| counted(of as u64, "entry", "entries");
            let (at, table) = (address(program, offset), program.path(table.into()));
            let (length, held) = (number(entries.len()), number(held.len()));
            Some(format!("the elements `{path}`, {length} at {at}, end beyond the table `{table}` of {held}"))
        }
        _ => None,
    }
}

fn too_large(function: &str) -> String {
    format!(
        "`{function}` has more values, or more targets of a branch, than the interpreter takes in a function; compiled code \
         may take it"
    )
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Trap(trap) => write!(f, "{trap}"),
            Fault::Segment(of, trap) => write!(f, "`{of}` does not fit where it is put: {trap}"),
            Fault::InContract(contract, trap) => write!(f, "contract `{contract}` trapped: {trap}"),
            Fault::Unsupported => f.write_str("simulations cannot execute this operator"),
            Fault::Raw(node, [first, second]) => {
                write!(
                    f,
                    "`{node}` is the WebAssembly operator {first:02x} {second:02x}, which only the host executes"
                )
            }
            Fault::Imported(function) => write!(f, "`{function}` is a function that only the host has"),
            Fault::TooLarge(function) => f.write_str(&too_large(&function.to_string())),
            Fault::Exit(status) => write!(f, "the program ended itself with status {status}"),
        }
    }
}

/// A bound of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitKind {
    /// Executed nodes, with what bulk operators cost beyond.
    Fuel,
    /// Bytes of linear memory and of the value heap.
    Memory,
    /// Nested calls.
    Depth,
    /// Wall-clock time, watched by the caller between slices.
    Time,
    /// Bytes of trace that are kept.
    Trace,
    /// Bytes written to standard output and standard error.
    Output,
}

/// The words for a bound that was met.
pub fn limit_message(limit: LimitKind, bound: Option<u64>) -> String {
    match bound {
        Some(bound) => format!("the limit of {limit} was reached: {bound}{}", limit.unit()),
        None => format!("the limit of {limit} was reached"),
    }
}

impl LimitKind {
    /// What stands behind a number of it.
    const fn unit(self) -> &'static str {
        match self {
            LimitKind::Fuel => "",
            LimitKind::Memory | LimitKind::Trace | LimitKind::Output => " bytes",
            LimitKind::Depth => " calls",
            LimitKind::Time => " ms",
        }
    }

    /// The name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            LimitKind::Fuel => "fuel",
            LimitKind::Memory => "memory",
            LimitKind::Depth => "depth",
            LimitKind::Time => "time",
            LimitKind::Trace => "trace",
            LimitKind::Output => "output",
        }
    }
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where a run stopped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// The calls, the outermost first; the last one is where the run stopped. Empty if nothing had been called.
    pub stack: Vec<Location>,
    /// Values that are alive in the innermost call.
    pub values: Vec<SourceValue>,
}

impl Place {
    /// The innermost location.
    pub fn at(&self) -> Option<&Location> {
        self.stack.last()
    }
}

/// A place in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Position in the stack of calls, from 0.
    pub frame: u32,
    /// The function.
    pub function: FuncRef,
    /// The region.
    pub region: RegionRef,
    /// The node; `None` at the end of a region without terminator, and where invariants of the parameters are checked.
    pub node: Option<NodeRef>,
    /// Nodes that the run had executed.
    pub step: u64,
}

/// The value of a variable or a global.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableValue {
    /// The variable or global.
    pub variable: VarRef,
    /// Its value.
    pub shown: Shown,
}

/// A value with what it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceValue {
    /// Output of a node, or a parameter.
    pub source: Source,
    /// The value.
    pub shown: Shown,
}
