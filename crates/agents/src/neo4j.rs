//! The entities of agents in a Neo4j database.
//!
//! It keeps the promises of [`GraphStore`] by the code that keeps them elsewhere: patches are planned, and questions are
//! answered, by `lmlang-entities`, over what one transaction reads. A transaction takes its turn first, so that patches and
//! questions each see one moment, and only one of them runs at a time.
//!
//! Read [`statements`] for what is asked, `record` for how entities are stored, `server` for how the server is reached,
//! `transaction` for how one begins and ends, `reading` for what is read in it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lmlang_engine::entities::{MOST_HOPS, SUBGRAPH_ENTITIES};
use lmlang_engine::{BoxFuture, Call, Error};
use lmlang_entities::cypher::{self, Limits, Table};
use lmlang_entities::{Changes, Counts, EntityRef, Patch, PatchError, Relation, Stamp, Subgraph, subgraph};
use lmlang_ir::hash::hex;
use serde_json::{Map, Value, json};
use tokio::sync::{Mutex, OnceCell};
use tokio::time::timeout;
use uuid::Uuid;

use crate::graph_store::{GraphError, GraphStore};
use crate::http_client::ServerError;
use server::Server;
use transaction::{Failed, MOST_TURN, Transaction, joined, told};

mod reading;
mod record;
mod server;
pub mod statements;
mod transaction;

/// How long the server may take to look through all that it has.
const MOST_PREPARED: Duration = Duration::from_secs(60);

/// Where a database is, and who asks it.
pub struct Settings<'a> {
    /// The address of its HTTP interface: `http://127.0.0.1:7474`.
    pub url: &'a str,
    /// The user.
    pub user: &'a str,
    /// The user's password.
    pub password: &'a str,
    /// The database.
    pub database: &'a str,
}

/// Entities in a Neo4j database.
pub struct Neo4jStore {
    server: Arc<Server>,
    prepared: OnceCell<()>,
    turn: Arc<Mutex<()>>,
}

impl Neo4jStore {
    /// Makes the store; the server is asked nothing yet.
    ///
    /// # Errors
    ///
    /// [`ServerError`] for what is no address.
    pub fn new(settings: &Settings<'_>) -> Result<Neo4jStore, ServerError> {
        let Settings { url, user, password, database } = settings;
        let server = Arc::new(Server::new(url, user, password, database)?);
        Ok(Neo4jStore { server, prepared: OnceCell::new(), turn: Arc::default() })
    }

    /// Deletes all entities of this store, and what it keeps for itself; nothing else.
    ///
    /// # Errors
    ///
    /// Those of the server.
    pub async fn clear(&self) -> Result<(), GraphError> {
        for label in statements::LABELS {
            told("deleted its entities", MOST_PREPARED, self.server.run(&statements::clear(label))).await?;
        }
        Ok(())
    }

    async fn prepare(&self) -> Result<(), Failed> {
        for constraint in statements::CONSTRAINTS {
            told("made what keeps names unique", MOST_PREPARED, self.server.run(constraint)).await?;
        }
        Ok(())
    }

    /// Does some work in a transaction of its own, on a thread that may wait; what it wrote is there if it says so.
    async fn transact<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction) -> Result<(T, bool), GraphError> + Send + 'static,
    ) -> Result<T, GraphError> {
        self.prepared.get_or_try_init(|| self.prepare()).await?;
        let turn = timeout(MOST_TURN, Arc::clone(&self.turn).lock_owned()).await;
        let turn = turn.map_err(|_| Failed::Crowded)?;
        let transaction = transaction::transact(Arc::clone(&self.server), work);
        // Whoever asks may leave before it has ended.
        let ended = tokio::spawn(async move {
            let _turn = turn;
            transaction.await
        });
        joined(ended.await)
    }
}

impl GraphStore for Neo4jStore {
    fn patch<'a>(&'a self, patch: Patch, call: &'a Call) -> BoxFuture<'a, Result<Counts, GraphError>> {
        Box::pin(async move {
            let making = call.idempotency.clone();
            self.transact(move |transaction| {
                // A key is any bytes.
                let key = making.as_ref().map(|making| hex(&making.key));
                if let (Some(key), Some(making)) = (&key, &making)
                    && let Some(first) = answered(transaction, key)?
                {
                    return match first.digest == hex(&making.digest) {
                        true => Ok((first.counts, false)),
                        false => Err(GraphError::from(Error::IdempotencyMismatch)),
                    };
                }
                let ids = || Uuid::new_v4().into_bytes();
                let (changes, counts) =
                    lmlang_entities::apply(transaction, &patch, now(), ids).map_err(refused)?;
                write(transaction, &changes)?;
                if let (Some(key), Some(making)) = (&key, &making) {
                    note(transaction, key, &hex(&making.digest), counts)?;
                }
                Ok((counts, true))
            })
            .await
        })
    }

    fn run_cypher<'a>(
        &'a self,
        query: &'a str,
        params: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Table, GraphError>> {
        Box::pin(async move {
            let query = query.to_owned();
            let answer = move |transaction: &Transaction| {
                let table = cypher::run(&query, &params, transaction, &Limits::default());
                let table = table.map_err(|failure| match failure {
                    cypher::Failure::Query(error) => GraphError::from(Error::Cypher(error)),
                    cypher::Failure::Graph(failed) => failed.into(),
                })?;
                Ok((table, false))
            };
            self.transact(answer).await
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
                return Err(GraphError::from(Error::Limit { which: "entityHops", limit, actual }));
            }
            let around = move |transaction: &Transaction| {
                let found = subgraph(transaction, &of.label, &of.key, hops, SUBGRAPH_ENTITIES);
                Ok((found.map_err(GraphError::from)?, false))
            };
            self.transact(around).await
        })
    }
}

fn now() -> Stamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Stamp { time_micros: i64::try_from(since.as_micros()).unwrap_or(i64::MAX) }
}

fn refused(error: PatchError<Failed>) -> GraphError {
    match error {
        PatchError::Validation(error) => Error::EntityValue(error).into(),
        PatchError::Constraint(error) => Error::EntityConstraint(error).into(),
        PatchError::Graph(failed) => failed.into(),
    }
}

/// Writes what differs: relations are deleted before entities, and entities put before relations.
fn write(transaction: &Transaction, changes: &Changes) -> Result<(), Failed> {
    if !changes.deleted_relations.is_empty() {
        let row = |gone: &Relation| json!({ "from": record::id(gone.from.0), "to": record::id(gone.to.0), "id": record::id(gone.id.0) });
        let rows: Vec<Value> = changes.deleted_relations.iter().map(row).collect();
        transaction.ask(statements::DELETE_RELATIONS, json!({ "rows": rows }))?;
    }
    if !changes.deleted_entities.is_empty() {
        let ids: Vec<String> = changes.deleted_entities.iter().map(|gone| record::id(gone.id.0)).collect();
        transaction.ask(statements::DELETE_ENTITIES, json!({ "ids": ids }))?;
    }
    let mut entities: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for entity in changes.inserted_entities.iter().chain(&changes.updated_entities) {
        let row = json!({ "name": record::name(&entity.name()), "props": record::of_entity(entity) });
        entities.entry(entity.label.as_str()).or_default().push(row);
    }
    for (label, rows) in entities {
        transaction.ask(&statements::merge_entities(label), json!({ "rows": rows }))?;
    }
    let mut relations: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for relation in changes.inserted_relations.iter().chain(&changes.updated_relations) {
        let (from, to) = (record::id(relation.from.0), record::id(relation.to.0));
        let row = json!({ "from": from, "to": to, "props": record::of_relation(relation) });
        relations.entry(relation.relation_type.as_str()).or_default().push(row);
    }
    for (relation_type, rows) in relations {
        transaction.ask(&statements::merge_relations(relation_type), json!({ "rows": rows }))?;
    }
    Ok(())
}

/// What was answered under a key.
struct Answered {
    digest: String,
    counts: Counts,
}

fn answered(transaction: &Transaction, key: &str) -> Result<Option<Answered>, Failed> {
    let rows = transaction.ask(statements::REQUEST, json!({ "key": key }))?;
    let Some(row) = rows.first() else { return Ok(None) };
    let request = row.get("request").ok_or(Failed::Foreign)?;
    let count = |name: &str| {
        let count = request[name].as_u64().and_then(|count| usize::try_from(count).ok());
        count.ok_or(Failed::Foreign)
    };
    let counts = Counts {
        created: count("created")?,
        updated: count("updated")?,
        deleted: count("deleted")?,
        unchanged: count("unchanged")?,
    };
    Ok(Some(Answered { digest: request["digest"].as_str().unwrap_or_default().to_owned(), counts }))
}

fn note(transaction: &Transaction, key: &str, digest: &str, counts: Counts) -> Result<(), Failed> {
    let request = json!({
        "key": key,
        "digest": digest,
        "created": counts.created,
        "updated": counts.updated,
        "deleted": counts.deleted,
        "unchanged": counts.unchanged,
        "time": now().time_micros,
    });
    transaction.ask(statements::NOTE_REQUEST, json!({ "request": request }))?;
    Ok(())
}
