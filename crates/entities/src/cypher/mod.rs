//! Read-only Cypher over a [`Graph`]: [`run()`] reads a query, plans it, and answers with a [`Table`].
//!
//! What is understood is a part of openCypher: `MATCH` and `OPTIONAL MATCH` of node and edge patterns with labels, types,
//! properties, directions and bounded lengths, `WHERE`, `WITH`, `UNWIND`, `RETURN`, `DISTINCT`, aggregates, `ORDER BY`,
//! `SKIP`, `LIMIT`, `CASE`, `EXISTS`, parameters, and the functions of `functions`. A clause that writes, `CALL` and
//! `LOAD CSV` are refused with `CYPHER_READ_ONLY`, and whatever else is not understood with a code that says so.
//!
//! A node shows its key as the property `key`, and its times as `created_at` and `updated_at`. Ids are not shown. Without
//! `ORDER BY` rows come in an order that follows from the query and the graph: a pattern is searched from the place where
//! the fewest nodes can be, these in the order of labels and keys, their edges in the order of types and other ends.
//!
//! The modules in order: `token`, `ast`, `parse`; `stage` with `resolve` and `project` (names become slots of rows), `plan`;
//! `value`, `functions`, `evaluate`, `matching`, and `run`, through which rows pass one by one.

mod ast;
mod error;
mod evaluate;
mod functions;
mod matching;
mod parse;
mod plan;
mod project;
mod resolve;
mod run;
mod span;
mod stage;
mod token;
mod value;

use std::cell::Cell;

use serde::Serialize;
use serde_json::{Map, Value as Json};

pub use error::{CypherError, Failure, Position, Problem};

use crate::graph::Graph;
use evaluate::Context;
use plan::Statistics;
use stage::Resolved;

/// What a query may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most rows of an answer; with more of them it says that it is truncated.
    pub rows: usize,
    /// Most bytes of an answer's rows as JSON; as `rows`.
    pub result_bytes: usize,
    /// Most steps: nodes and edges that are looked at, expressions, elements of lists.
    pub steps: u64,
    /// Most edges of a path of variable length.
    pub path_length: u32,
    /// Most expressions in each other, and most lists and maps of an answer.
    pub depth: usize,
    /// Most bytes of a query.
    pub text_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rows: 1_000,
            result_bytes: 1024 * 1024,
            steps: 5_000_000,
            path_length: 8,
            depth: 32,
            text_bytes: 32 * 1024,
        }
    }
}

/// What a query answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with a value per column.
    ///
    /// A node is `{labels, key, props}`, a relationship `{type, from: {label, key}, to: {label, key}, props}`, a path
    /// `{nodes, relationships}`.
    pub rows: Vec<Vec<Json>>,
    /// Whether there are more rows than the limits allow.
    pub truncated: bool,
}

/// Answers a query.
///
/// Cost: bounded by the limits, memory included, since what is kept of a row counts as steps.
pub fn run<G: Graph>(
    query: &str,
    params: &Map<String, Json>,
    graph: &G,
    limits: &Limits,
) -> Result<Table, Failure<G::Error>> {
    let clauses = parse::parse(query, limits).map_err(|fault| fault.placed(query))?;
    let mut resolved = resolve::resolve(clauses, params).map_err(|fault| fault.placed(query))?;
    let statistics = statistics(&mut resolved, graph).map_err(Failure::Graph)?;
    for pattern in resolved.patterns() {
        plan::plan(pattern, &statistics);
    }
    let context =
        Context { graph, text: query, limits, nested: &resolved.nested, left: Cell::new(limits.steps) };
    run::run(&context, &resolved.stages, resolved.columns)
}

/// Returns what plans need to know: what is indexed, and how many there are of what they can begin with, where they have a choice.
fn statistics<G: Graph>(resolved: &mut Resolved, graph: &G) -> Result<Statistics, G::Error> {
    let mut statistics = Statistics::default();
    let mut anywhere = false;
    for pattern in resolved.patterns() {
        let is_choice = plan::is_choice(pattern);
        for (label, props) in plan::asked(pattern) {
            for (prop, values) in props.into_iter().filter(|(prop, _)| graph.is_indexed(&label, prop)) {
                for value in values.into_iter().filter(|_| is_choice) {
                    let of = (label.clone(), prop.clone(), value);
                    if statistics.equal.iter().all(|(known, _)| *known != of) {
                        let about = graph.estimate_equal(&label, &prop, &of.2)?;
                        statistics.equal.push((of, about));
                    }
                }
                statistics.indexed.insert((label.clone(), prop));
            }
            if is_choice && !statistics.labels.contains_key(&label) {
                let size = graph.estimate(Some(&label))?;
                statistics.labels.insert(label, size);
            }
        }
        anywhere |= is_choice && plan::to_find(pattern).any(|vertex| vertex.labels.is_empty());
    }
    if anywhere {
        statistics.all = graph.estimate(None)?;
    }
    Ok(statistics)
}
