//! The trace tier: runs a revision of a program, bounded and deterministic, and says what happened.
//!
//! A function is decoded once to flat register code, kept by content in a [`Cache`]; a [`Run`] executes that code in
//! slices, between which the caller looks at clocks and cancellation. There is no clock, randomness or IO in here: what
//! a run does follows from the program, the arguments, the environment (standard input, files, a command line, a seed) and the
//! limits.
//!
//! A run keeps no trace: since runs are deterministic, a [`Trace`] executes again, node by node, what one wants to
//! see. The same second, unfolded form of the code shows the values at the place where a run stopped. A [`Recorder`]
//! executes folded code that notes every scalar which a node computes, at little more than the price of a run. A
//! [`Debugger`] stands before one step, and goes on and back, to breakpoints too. An [`Observer`] runs a function again and
//! again, and says what was reached for the first time.
//!
//! Fuel: one unit for each executed node; what copies, compares or scans bytes costs one more per 64 of them. Bytes of
//! `memory.copy`, `memory.fill`, `memory.init`, `bytes.new`, `bytes.load`: the length; of `bytes.store`, `print`,
//! `string.chars`, `string.to_bytes`, `string.from_bytes`, `string.parse`: that of the operand; of concatenations: of
//! the result; of slices: of the slice, 8 for an element of an array; of `string.from_chars`: 4 per character; of
//! comparisons: of the shorter operand; of `read_line`: of the line with its end; of `file.open`: of the path; of
//! `file.read` and `file.write`: of what is moved, with a file that is written to for the first time; of `table.grow`,
//! `table.fill`, `table.init` and `table.copy`: 8 per entry. The search of a value for those with
//! invariants costs one for each place that it comes to. Functions of WASI cost no node, and the same for the bytes that
//! they move.
//!
//! Read `code` (the instructions), `lower` (nodes to instructions), `exec` (what instructions do), `machine`, `heap` and
//! `world` (what they work on), `run` (slices, limits, linking), then `trace`, `record`, `debug` and `nodes`.

#![forbid(unsafe_code)]

mod cache;
mod code;
mod contained;
mod debug;
mod exec;
mod heap;
mod lower;
mod machine;
mod marks;
mod nodes;
mod outcome;
mod outside;
mod record;
mod run;
mod trace;
mod value;
mod wasi;
mod world;

pub use cache::Cache;
pub use code::Lowering;
pub use debug::{
    Absence, Breakpoint, BreakpointError, Debugger, ExpressionError, Interrupt, MissedCall, Spot, Stopped,
    Why, WhyNot, why, why_not,
};
pub use nodes::{NodesError, NodesResult, NodesTrace, OpenPort, run_nodes};
pub use outcome::{Fault, LimitKind, Location, Outcome, Place, SourceValue, VariableValue, limit_message};
pub use outside::{Beyond, Called, Outside};
pub use record::{NodeValue, Recorder};
pub use run::{
    Control, Limits, Observer, Options, Progress, Reach, Reached, Run, RunResult, StartError, run,
};
pub use trace::{Note, Step, Trace, TraceLevel, TracePage};
pub use value::Shown;
pub use wasi::HostFunction;
pub use world::{Entry, Environment, Files, Input, Written};
