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
//! ```
//! use lmlang_entities::{MemoryGraph, Patch, Stamp, cypher};
//! use serde_json::{Map, json};
//!
//! let patch = Patch::from_json(&json!([
//!     {"upsert_node": {"label": "Person", "key": "ada", "props": {"born": 1815}}},
//!     {"upsert_node": {"label": "Note", "key": "g"}},
//!     {"upsert_edge": {"from": {"label": "Person", "key": "ada"}, "type": "WROTE", "to": {"label": "Note", "key": "g"}}},
//! ]))?;
//! let (mut graph, mut ids) = (MemoryGraph::new(), 0_u128);
//! let mut id = || {
//!     ids += 1;
//!     ids.to_be_bytes()
//! };
//! assert_eq!(graph.patch(&patch, Stamp { time_micros: 1 }, &mut id)?.created, 3);
//! assert_eq!(graph.patch(&patch, Stamp { time_micros: 2 }, &mut id)?.unchanged, 3);
//!
//! let query = "MATCH (p:Person)-[:WROTE]->(n:Note {key: $key}) RETURN p.key, p.born";
//! let params = Map::from_iter([("key".to_owned(), json!("g"))]);
//! let table = cypher::run(query, &params, &graph, &cypher::Limits::default())?;
//! assert_eq!(table.rows, [[json!("ada"), json!(1815)]]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read [`name`], [`props`], [`entity`] (what there is), [`validation`], [`error`], [`patch`], [`apply`](mod@apply) (how it changes),
//! [`graph`] (how it is read), [`indexed`] (by which values nodes are found), [`memory`] (a graph in maps), [`encoding`]
//! (properties as text), [`subgraph`](mod@subgraph), then [`cypher`].

#![forbid(unsafe_code)]

pub mod apply;
pub mod cypher;
pub mod encoding;
pub mod entity;
pub mod error;
pub mod graph;
pub mod indexed;
pub mod memory;
pub mod name;
pub mod patch;
pub mod props;
pub mod subgraph;
pub mod validation;

pub use apply::{Changes, Counts, apply};
pub use entity::{EdgeSpec, Entity, EntityId, EntityRef, NodeSpec, Relation, RelationId, Stamp};
pub use error::{ConstraintViolation, PatchError};
pub use graph::{Edge, Graph, Hop, Node, Page, Read, Way};
pub use indexed::Indexed;
pub use memory::MemoryGraph;
pub use name::{Key, Label, RelationType};
pub use patch::{Op, Patch};
pub use props::{Props, PropsChange};
pub use subgraph::{Subgraph, subgraph};
pub use validation::{Place, ValidationError};
