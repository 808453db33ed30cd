//! A store in Neo4j keeps the promises of every store: on a server of the tests' own, which knows the statements that it is
//! asked, and on a real one.
//!
//! `LMLANG_TEST_NEO4J=http://user:password@127.0.0.1:7474` names a real one. Entities of lmlang that it has are deleted.

mod server;

use std::sync::Arc;

use lmlang_agents::graph_store::GraphStore;
use lmlang_agents::neo4j::{Neo4jStore, Settings};
use serde_json::Map;

use crate::promises::{lookups, promises, two_writers, wholes};
use server::Server;

fn store(url: &str, user: &str, password: &str) -> Neo4jStore {
    Neo4jStore::new(&Settings { url, user, password, database: "neo4j" }).expect("it is an address")
}

async fn keeps_the_promises(store: Neo4jStore) {
    let store = Arc::new(store);
    promises(&*store).await;
    wholes(&*store).await;
    lookups(&*store).await;
    two_writers(store).await;
}

/// PUN-88.
#[tokio::test]
async fn the_store_keeps_the_promises() {
    let server = Server::start().await;
    keeps_the_promises(store(&server.url, "neo4j", server::PASSWORD)).await;
}

/// PUN-88.
#[tokio::test]
async fn a_real_server_keeps_the_promises() {
    let Ok(address) = std::env::var("LMLANG_TEST_NEO4J") else { return };
    let (scheme, rest) = address.split_once("://").expect("an address with a scheme");
    let (who, host) = rest.rsplit_once('@').expect("an address with a user");
    let (user, password) = who.split_once(':').expect("a user with a password");
    let url = format!("{scheme}://{host}");
    let store = store(&url, user, password);
    store.clear().await.expect("it answers");
    keeps_the_promises(store).await;
}

/// PUN-62, PUN-88: what goes wrong is told in words, with a code, and with whether it may pass.
#[tokio::test]
async fn what_goes_wrong_is_told() {
    let server = Server::start().await;
    let ask = async |store: Neo4jStore| {
        store.run_cypher("MATCH (n:Note) RETURN n", Map::new()).await.expect_err("it cannot be answered")
    };
    let denied = ask(store(&server.url, "neo4j", "guessed")).await;
    assert_eq!((denied.code.as_str(), denied.transient), ("STORAGE_UNAVAILABLE", false), "{denied}");

    server.fail("Neo.TransientError.General.DatabaseUnavailable", "it is being moved");
    let moved = ask(store(&server.url, "neo4j", server::PASSWORD)).await;
    assert_eq!((moved.code.as_str(), moved.transient), ("STORAGE_UNAVAILABLE", true), "{moved}");
    assert!(moved.message.contains("it is being moved"), "{moved}");

    server.garble();
    let strange = ask(store(&server.url, "neo4j", server::PASSWORD)).await;
    assert_eq!((strange.code.as_str(), strange.transient), ("STORAGE_UNAVAILABLE", false), "{strange}");
    assert!(strange.message.contains("the status 200: <html>"), "{strange}");

    server.spoil();
    let foreign = ask(store(&server.url, "neo4j", server::PASSWORD)).await;
    assert_eq!(foreign.code, "STORAGE_UNAVAILABLE");
    assert!(foreign.message.contains("something else has made"), "{foreign}");

    let url = server.stop().await;
    let gone = ask(store(&url, "neo4j", server::PASSWORD)).await;
    assert_eq!((gone.code.as_str(), gone.transient), ("STORAGE_UNAVAILABLE", true), "{gone}");

    let wrong = Settings { url: "bolt://127.0.0.1:7687", user: "neo4j", password: "", database: "neo4j" };
    let wrong = Neo4jStore::new(&wrong).err().expect("it is no address");
    assert!(wrong.to_string().contains("`http://`"), "{wrong}");
}

/// PUN-88: a transaction ends on the server, whether whoever has asked is still there, and whether the server is at work in it.
#[tokio::test]
async fn transactions_end_whatever_happens() {
    let server = Server::start().await;
    let store = Arc::new(store(&server.url, "neo4j", server::PASSWORD));
    let ask = || {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.run_cypher("MATCH (n:Note) RETURN n", Map::new()).await })
    };
    let held = server.hold();
    let left = ask();
    server.waiting(1).await;
    left.abort();
    assert!(left.await.expect_err("it has left").is_cancelled());
    server.is_busy();
    drop(held);
    // It has its turn when the one before it has ended.
    ask().await.expect("it ends").expect("it is answered");
    assert_eq!(server.open(), 0);
}
