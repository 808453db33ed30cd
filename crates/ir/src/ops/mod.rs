//! Operators: one table, as data, and the operator of a node.
//!
//! The table drives the verifier, the interpreter's decoder, the text form, the GraphQL enum and the documentation.
//! Read [`table`] for what there is, [`op`] for what a node holds, [`signature`] for how the types of a node's ports
//! follow from its operator and the entities it names, [`bound_needed`] for what a function must declare to have it.

mod bound;
pub mod op;
pub mod signature;
pub mod spec;
pub mod table;
mod trap;

pub use bound::bound_needed;
pub use op::{Attr, Case, Control, Exit, Match, MemArg, Op, Raw};
pub use signature::{Expected, Ports, ports};
pub use spec::{AttrKind, Effect, Group, OpSpec, Port, PortType, Trap};
pub use table::{OPS, Opcode};
