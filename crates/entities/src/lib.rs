//! The labelled property graph that agents edit, as values, and read-only Cypher over it.
//!
//! An [`Entity`] has a label and a natural [`Key`], which together name it for ever; a [`Relation`] joins two. Changes come
//! as a [`Patch`], which [`apply()`] turns into the rows that differ: all of it or nothing, and nothing the second time.
//! [`cypher::run()`] answers questions about whatever implements [`Graph`].
//!
//! All of it is a function of its arguments: times and ids are given by the caller. This crate does not know where rows
//! lie, who may change them, how a request arrives, or what else is shown as an entity: a [`Node`] is a value with a set of
//! labels, so that programs and documents can be nodes as well.
//!
//! Read [`name`], [`props`], [`entity`] (what there is), [`error`], [`patch`], [`apply`](mod@apply) (how it changes),
//! [`graph`] (how it is read), [`memory`] (a graph in maps), [`subgraph`](mod@subgraph), then [`cypher`].

#![forbid(unsafe_code)]

pub mod apply;
pub mod cypher;
pub mod entity;
pub mod error;
pub mod graph;
pub mod memory;
pub mod name;
pub mod patch;
pub mod props;
pub mod subgraph;

pub use apply::{Changes, Counts, apply};
pub use entity::{EdgeSpec, Entity, EntityId, EntityRef, NodeSpec, Relation, RelationId, Stamp};
pub use error::{ConstraintViolation, PatchError, Place, ValidationError};
pub use graph::{Graph, Hop, Node, Read, Way};
pub use memory::MemoryGraph;
pub use name::{Key, Label, RelationType};
pub use patch::{Op, Patch};
pub use props::{Props, PropsChange};
pub use subgraph::{Subgraph, subgraph};
