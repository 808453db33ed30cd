//! Views that are derived from a program: edges, calls, and what lies around, before and behind something.
//!
//! Nothing here is stored. Every answer has a defined order, walks without recursion and costs what it returns; a slice
//! backwards also a walk over the function.
//!
//! [`edges`] are those between nodes; [`calls`] is who mentions whom, as a graph for `petgraph`; [`subgraph`] cuts a
//! piece out around some nodes, [`slices`] along dependence; [`impact`] is what a change of something concerns; [`in_scope`] which
//! values a place can use; [`closure`] hashes a function with all that it needs; [`last_uses`] tells where values of the heap
//! are needed for the last time; [`invariants`] where those of types are checked.

pub mod calls;
pub mod closure;
pub mod edges;
mod exits;
pub mod impact;
pub mod in_scope;
pub mod invariants;
pub mod last_uses;
pub mod slices;
pub mod subgraph;

#[cfg(test)]
mod tests;

pub use calls::{Mentions, components, reachable, reaching};
pub use closure::{closure_hash, closure_hashes, interface_hash, world_hash};
pub use edges::{Edge, EdgeKind, EdgeRef, Role};
pub use impact::{Impact, impact};
pub use in_scope::{MOST_LOOKED_AT, values_in_scope};
pub use invariants::{checked_types, is_border, types_with_invariants};
pub use last_uses::{LastUses, last_uses};
pub use slices::{Slice, slice};
pub use subgraph::{Direction, Neighbourhood, Subgraph, neighbourhood};
