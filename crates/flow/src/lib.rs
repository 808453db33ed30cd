//! Durable flows as a pure state machine.
//!
//! A flow is data: nodes with their targets, channels with their reducers, bounds. A run is one execution of it, and all
//! that a run is follows from its journal: an append-only list of entries. This crate checks definitions, folds journals
//! into runs and plans the next entry. It must not know what a node does, what time it is, where a journal is kept or
//! who asks; times come in as microseconds of UTC.
//!
//! Read [`definition`] and [`check`] for what a flow is, [`state`] for what a run carries, [`depth`] for how deep that is nested, [`step`] for what a node
//! answers, [`entry`] for the journal, then [`run`] for the machine and the snapshots of it, [`ladder`] for what becomes of failures and
//! [`receipts`] for why an effect is not repeated; [`declared`] for flows that are data through and through.

pub mod answer;
mod branch;
pub mod check;
mod corrupt;
pub mod declared;
pub mod definition;
pub mod depth;
pub mod entry;
mod interrupt;
pub mod ladder;
mod moving;
mod picture;
mod place;
pub mod plan;
pub mod receipts;
pub mod run;
pub mod state;
pub mod step;

pub use answer::{AnswerError, BadAnswer, Decision};
pub use check::{Flow, Problem};
pub use corrupt::Corrupt;
pub use definition::{Channel, Definition, Fallback, NodeKind, NodeSpec, Reducer, Timeout};
pub use entry::{Entry, Failed, Kind, Receipt, Stepped, What};
pub use interrupt::{Interrupt, Settled};
pub use ladder::{Class, Failure, Remedy};
pub use moving::Hindrance;
pub use place::Place;
pub use plan::Refused;
pub use run::{Run, Snapshot, Status, Task};
pub use state::{State, StateError, Update};
pub use step::{Arm, Ask, AskKind, Goto, Step, Subject};

#[cfg(test)]
mod tests;
