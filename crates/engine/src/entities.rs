//! What agents keep beside programs: entities and relations, which belong to no program; and questions about these and
//! about programs.
//!
//! A patch is planned by [`lmlang_entities::apply`] on the rows of one moment and stored as the next revision of all
//! entities, or not at all: of two writers who planned on one revision the second plans again, on what the first has left.
//! Questions are answered about one moment, however many reads they take.
//!
//! Programs, their modules, types and functions, and what is written about these, are not kept a second time: a question sees
//! them in the newest states of `main`, as nodes with labels of their own, which no entity can have.
//!
//! Read [`record`] for how properties are stored, [`stored`] for rows as a graph; [`part`], [`shown`] and [`links`] for what
//! programs are made of, [`programs`] for that as a graph, [`everything`] for both in one; [`changing`] and [`reading`] for
//! the use cases.

mod changing;
mod checkup;
mod everything;
mod links;
mod part;
mod programs;
mod reading;
mod record;
mod shown;
mod stored;

use std::time::Duration;

use lmlang_entities::{cypher, patch, props};

pub use changing::Patched;
pub use reading::{EntityFilter, EntityPage};

/// Most edges of entities away from the first one, in a subgraph.
pub const MOST_HOPS: u32 = 8;
/// Most entities of a subgraph.
pub const SUBGRAPH_ENTITIES: usize = 1_000;
/// Most relations of an entity that is deleted with them.
const MOST_DETACHED: usize = 10_000;
/// How long a question may take.
const MOST_TIME: Duration = Duration::from_secs(10);
/// Questions that are answered at the same time: each keeps a connection to the database for as long as it takes, and those
/// that are left open programs.
pub(crate) const PARALLEL: usize = 2;

/// The bounds of what is asked and changed here, by the name that errors use.
pub(crate) fn limits() -> [(&'static str, u64); 14] {
    let cypher = cypher::Limits::default();
    [
        ("entityOps", patch::MAX_OPS as u64),
        ("entityProps", props::MAX_PROPS as u64),
        ("entityPropsBytes", props::MAX_BYTES as u64),
        ("entityPropsDepth", props::MAX_DEPTH as u64),
        ("entityRelationsDeleted", MOST_DETACHED as u64),
        ("entityHops", MOST_HOPS.into()),
        ("entitySubgraphNodes", SUBGRAPH_ENTITIES as u64),
        ("entityQueryMs", MOST_TIME.as_millis() as u64),
        ("cypherRows", cypher.rows as u64),
        ("cypherResultBytes", cypher.result_bytes as u64),
        ("cypherSteps", cypher.steps),
        ("cypherPathLength", cypher.path_length.into()),
        ("cypherDepth", cypher.depth as u64),
        ("cypherTextBytes", cypher.text_bytes as u64),
    ]
}
