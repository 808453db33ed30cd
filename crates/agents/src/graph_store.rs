//! Where agents keep entities: the seven operations that tools and flows have, whatever is behind them.
//!
//! Only stores know the language of queries; nodes of flows and tools pass it on.

use std::sync::{Arc, Mutex, PoisonError};

use lmlang_engine::entities::{MOST_HOPS, SUBGRAPH_ENTITIES};
use lmlang_engine::flows::code::failed;
use lmlang_engine::{BoxFuture, Call, Engine, Error};
use lmlang_entities::cypher::{self, Failure as CypherFailure, Limits, Table};
use lmlang_entities::{
    Counts, EdgeSpec, EntityRef, MemoryGraph, NodeSpec, Op, Patch, PatchError, RelationType, Stamp, Subgraph,
    subgraph,
};
use serde_json::{Map, Value};

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GraphError {
    /// A stable code: `ENTITY_…` of a value or of what the graph does not allow, `CYPHER_…` of a query, `LIMIT_EXCEEDED`,
    /// `STORAGE_UNAVAILABLE`.
    pub code: String,
    /// What is wrong, and where, in words that help to mend it.
    pub message: String,
    /// Whether the same request may be answered later.
    pub transient: bool,
}

/// A labelled property graph.
///
/// Idempotency: nodes are named by label and natural key and merged, so that a repetition changes nothing; under the key of a
/// call it is answered as the first time as well. Transactions: a patch is applied as a whole or not at all. Concurrency: all
/// operations may be called at the same time, and of two writers of one key one makes it and the other merges. Side effects:
/// those of patches alone. Secrets: a store
/// keeps what it is given; what is told of it, in spans, logs and exports, has passed the redaction of the engine.
///
/// Warning: a writer that is not answered does not know whether it has written. It repeats its request under the same key.
pub trait GraphStore: Send + Sync {
    /// Applies a patch.
    ///
    /// # Errors
    ///
    /// Those of [`ValidationError`](lmlang_entities::ValidationError) and
    /// [`ConstraintViolation`](lmlang_entities::ConstraintViolation) name the operation and the field; nothing is changed then.
    fn patch<'a>(&'a self, patch: Patch, call: &'a Call) -> BoxFuture<'a, Result<Counts, GraphError>>;

    /// Answers a question in Cypher, about one moment; it changes nothing.
    ///
    /// # Errors
    ///
    /// A code of the query's fault, with line and column.
    fn run_cypher<'a>(
        &'a self,
        query: &'a str,
        params: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Table, GraphError>>;

    /// What lies within some hops of a node; none if there is no such node.
    ///
    /// # Errors
    ///
    /// `LIMIT_EXCEEDED` for too many hops.
    fn get_subgraph<'a>(
        &'a self,
        of: EntityRef,
        hops: u32,
    ) -> BoxFuture<'a, Result<Option<Subgraph>, GraphError>>;

    /// Makes a node, or merges properties into the one that is there.
    ///
    /// # Errors
    ///
    /// As [`GraphStore::patch`].
    fn upsert_node<'a>(
        &'a self,
        node: NodeSpec,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Counts, GraphError>> {
        Box::pin(async move { self.patch(one(Op::UpsertNode(node))?, call).await })
    }

    /// Makes an edge between two nodes that are there, or merges properties into the one that is there.
    ///
    /// # Errors
    ///
    /// As [`GraphStore::patch`].
    fn upsert_edge<'a>(
        &'a self,
        edge: EdgeSpec,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Counts, GraphError>> {
        Box::pin(async move { self.patch(one(Op::UpsertEdge(edge))?, call).await })
    }

    /// Merges properties into a node that must be there.
    ///
    /// # Errors
    ///
    /// As [`GraphStore::patch`].
    fn update_props<'a>(
        &'a self,
        node: NodeSpec,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Counts, GraphError>> {
        Box::pin(async move { self.patch(one(Op::UpdateProps(node))?, call).await })
    }

    /// Deletes a node, if it is there; its edges with it only if told to.
    ///
    /// # Errors
    ///
    /// As [`GraphStore::patch`].
    fn delete_node<'a>(
        &'a self,
        of: EntityRef,
        detach: bool,
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Counts, GraphError>> {
        Box::pin(async move {
            self.patch(one(Op::DeleteNode { label: of.label, key: of.key, detach })?, call).await
        })
    }

    /// Deletes an edge, if it is there.
    ///
    /// # Errors
    ///
    /// As [`GraphStore::patch`].
    fn delete_edge<'a>(
        &'a self,
        (from, relation_type, to): (EntityRef, RelationType, EntityRef),
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Counts, GraphError>> {
        Box::pin(async move { self.patch(one(Op::DeleteEdge { from, relation_type, to })?, call).await })
    }
}

/// The kinds of stores that there are.
const KINDS: &str = if cfg!(feature = "neo4j") { "`sql`, `memory` or `neo4j`" } else { "`sql` or `memory`" };

/// Makes the store that a kind names, for an engine: `sql` is the database of the engine, `memory` forgets. `neo4j`, which
/// needs an address and a password, is made by [`Neo4jStore::new`](crate::neo4j::Neo4jStore::new).
///
/// # Errors
///
/// `Unsupported graph store type` for any other kind.
pub fn make_graph_store(kind: &str) -> Result<GraphSource, GraphError> {
    match kind {
        "sql" => Ok(GraphSource::Engine),
        "memory" => Ok(GraphSource::Given(Arc::new(MemoryStore::default()))),
        other => Err(GraphError {
            code: "UNSUPPORTED".to_owned(),
            message: format!("Unsupported graph store type `{other}`: expected {KINDS}"),
            transient: false,
        }),
    }
}

/// Where a store comes from: a flow is made before the engine that runs it.
#[derive(Clone)]
pub enum GraphSource {
    /// The entities of the engine.
    Engine,
    /// This one.
    Given(Arc<dyn GraphStore>),
}

impl GraphSource {
    /// The store, for an engine.
    #[must_use]
    pub fn of(&self, engine: &Engine) -> Arc<dyn GraphStore> {
        match self {
            GraphSource::Engine => Arc::new(EngineGraph(engine.clone())),
            GraphSource::Given(store) => Arc::clone(store),
        }
    }
}

/// The entities of an engine.
pub struct EngineGraph(pub Engine);

impl GraphStore for EngineGraph {
    fn patch<'a>(&'a self, patch: Patch, call: &'a Call) -> BoxFuture<'a, Result<Counts, GraphError>> {
        Box::pin(async move { Ok(self.0.patch_entities(patch, false, call).await?.counts) })
    }

    fn run_cypher<'a>(
        &'a self,
        query: &'a str,
        params: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Table, GraphError>> {
        Box::pin(async move { Ok(self.0.cypher(query.to_owned(), params).await?) })
    }

    fn get_subgraph<'a>(
        &'a self,
        of: EntityRef,
        hops: u32,
    ) -> BoxFuture<'a, Result<Option<Subgraph>, GraphError>> {
        Box::pin(async move { Ok(self.0.entity_subgraph(of, hops).await?) })
    }
}

/// A store that forgets: for tests and demonstrations.
#[derive(Default)]
pub struct MemoryStore(Mutex<Held>);

struct Held {
    graph: MemoryGraph,
    ids: u128,
    time: i64,
    answered: std::collections::HashMap<Vec<u8>, ([u8; 32], Counts)>,
}

impl Default for Held {
    fn default() -> Self {
        Self { graph: MemoryGraph::indexing(), ids: 0, time: 0, answered: std::collections::HashMap::new() }
    }
}

impl GraphStore for MemoryStore {
    fn patch<'a>(&'a self, patch: Patch, call: &'a Call) -> BoxFuture<'a, Result<Counts, GraphError>> {
        Box::pin(async move {
            let held = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(made) = &call.idempotency
                && let Some((digest, counts)) = held.answered.get(&made.key)
            {
                return match *digest == made.digest {
                    true => Ok(*counts),
                    false => Err(GraphError::from(Error::IdempotencyMismatch)),
                };
            }
            held.time += 1;
            let ids = &mut held.ids;
            let id = || {
                *ids += 1;
                uuid::Builder::from_random_bytes(ids.to_be_bytes()).into_uuid().into_bytes()
            };
            let counts = held.graph.patch(&patch, Stamp { time_micros: held.time }, id);
            let counts = counts.map_err(|error| match error {
                PatchError::Validation(error) => GraphError::from(Error::EntityValue(error)),
                PatchError::Constraint(error) => GraphError::from(Error::EntityConstraint(error)),
                PatchError::Graph(never) => match never {},
            })?;
            if let Some(made) = &call.idempotency {
                held.answered.insert(made.key.clone(), (made.digest, counts));
            }
            Ok(counts)
        })
    }

    fn run_cypher<'a>(
        &'a self,
        query: &'a str,
        params: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Table, GraphError>> {
        Box::pin(async move {
            let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            cypher::run(query, &params, &held.graph, &Limits::default()).map_err(|error| match error {
                CypherFailure::Query(error) => GraphError::from(Error::Cypher(error)),
                CypherFailure::Graph(never) => match never {},
            })
        })
    }

    fn get_subgraph<'a>(
        &'a self,
        of: EntityRef,
        hops: u32,
    ) -> BoxFuture<'a, Result<Option<Subgraph>, GraphError>> {
        Box::pin(async move {
            if hops > MOST_HOPS {
                let (limit, actual) = (MOST_HOPS.into(), hops.into());
                return Err(Error::Limit { which: "entityHops", limit, actual }.into());
            }
            let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            subgraph(&held.graph, &of.label, &of.key, hops, SUBGRAPH_ENTITIES).map_err(|never| match never {})
        })
    }
}

impl From<Error> for GraphError {
    fn from(error: Error) -> GraphError {
        let told = failed("graph", &error);
        let code = match &error {
            Error::EntityValue(error) => error.code(),
            Error::EntityConstraint(error) => error.code(),
            Error::Cypher(error) => error.code(),
            _ => &told.code,
        };
        GraphError { code: code.to_owned(), message: told.message, transient: told.transient }
    }
}

fn one(op: Op) -> Result<Patch, GraphError> {
    Patch::new(vec![op]).map_err(|error| Error::EntityValue(error).into())
}
