//! What every store of entities promises, whatever is behind it.

use std::sync::Arc;

use lmlang_agents::graph_store::{EngineGraph, GraphStore, MemoryStore};
use lmlang_agents::model::Models;
use lmlang_entities::{EdgeSpec, EntityRef, Key, Label, NodeSpec, PropsChange, RelationType};
use serde_json::{Map, Value, json};

use crate::world::{World, call};

fn of(label: &str, key: &str) -> EntityRef {
    EntityRef { label: Label::new(label).expect("a label"), key: Key::new(key).expect("a key") }
}

fn node(label: &str, key: &str, props: &Value) -> NodeSpec {
    let EntityRef { label, key } = of(label, key);
    NodeSpec { label, key, props: PropsChange::from_json(props).expect("properties") }
}

fn kind(name: &str) -> RelationType {
    RelationType::new(name).expect("a type")
}

fn edge(from: &EntityRef, to: &EntityRef) -> EdgeSpec {
    EdgeSpec {
        from: from.clone(),
        relation_type: kind("DEPENDS_ON"),
        to: to.clone(),
        props: PropsChange::default(),
    }
}

/// PUN-39, PUN-40, PUN-41, PUN-59, PUN-60, PUN-74, PUN-88: seven operations, merging, errors with codes.
async fn promises(store: &dyn GraphStore) {
    let (ticket, milestone) = (of("Ticket", "T-1"), of("Milestone", "M-1"));
    let by = call();
    let missing =
        store.upsert_edge(edge(&ticket, &milestone), &by).await.expect_err("its ends are not there");
    assert_eq!((missing.code.as_str(), missing.transient), ("ENTITY_END_MISSING", false));
    assert!(missing.message.contains("Ticket:T-1"), "{missing}");

    let made =
        store.upsert_node(node("Ticket", "T-1", &json!({ "title": "leak" })), &by).await.expect("made");
    assert_eq!((made.created, made.unchanged), (1, 0));
    let again =
        store.upsert_node(node("Ticket", "T-1", &json!({ "title": "leak" })), &by).await.expect("there");
    assert_eq!((again.created, again.updated, again.unchanged), (0, 0, 1));
    store.upsert_node(node("Milestone", "M-1", &json!({})), &by).await.expect("made");
    let joined = store.upsert_edge(edge(&ticket, &milestone), &by).await.expect("joined");
    assert_eq!(joined.created, 1);
    let joined = store.upsert_edge(edge(&ticket, &milestone), &by).await.expect("joined before");
    assert_eq!((joined.created, joined.unchanged), (0, 1));
    let changed =
        store.update_props(node("Ticket", "T-1", &json!({ "title": null })), &by).await.expect("there");
    assert_eq!(changed.updated, 1);
    let nobody =
        store.update_props(node("Ticket", "T-9", &json!({ "a": 1 })), &by).await.expect_err("not there");
    assert_eq!(nobody.code, "ENTITY_NOT_FOUND");

    let query = "MATCH (t:Ticket)-[:DEPENDS_ON]->(m) RETURN t.key, m.key";
    let found = store.run_cypher(query, Map::new()).await.expect("answered");
    assert_eq!(found.rows, [[json!("T-1"), json!("M-1")]]);
    let wrong = store.run_cypher("MATCH (t RETURN t", Map::new()).await.expect_err("it is no query");
    assert!(wrong.code.starts_with("CYPHER"), "{}", wrong.code);
    assert!(wrong.message.contains("line 1 column"), "{wrong}");
    let writes = store.run_cypher("CREATE (t:Ticket) RETURN t", Map::new()).await.expect_err("it only reads");
    assert!(writes.code.starts_with("CYPHER"), "{}", writes.code);

    let around = store.get_subgraph(ticket.clone(), 1).await.expect("read").expect("there");
    assert_eq!((around.nodes.len(), around.edges.len()), (2, 1));
    assert!(store.get_subgraph(of("Ticket", "T-9"), 1).await.expect("read").is_none());

    let held = store.delete_node(ticket.clone(), false, &by).await.expect_err("it has an edge");
    assert_eq!(held.code, "ENTITY_HAS_EDGES");
    let loose = (ticket.clone(), kind("DEPENDS_ON"), milestone.clone());
    assert_eq!(store.delete_edge(loose, &by).await.expect("gone").deleted, 1);
    assert_eq!(store.delete_node(ticket.clone(), false, &by).await.expect("gone").deleted, 1);
    assert_eq!(store.delete_node(ticket, false, &by).await.expect("gone before").deleted, 0);

    // Under a key, a repetition is answered as the first time.
    let keyed = call().keyed(Some("k"), b"x");
    for _ in 0..2 {
        let made = store.upsert_node(node("Note", "n", &json!({})), &keyed).await.expect("made");
        assert_eq!(made.created, 1);
    }
    let other = call().keyed(Some("k"), b"y");
    let refused =
        store.upsert_node(node("Note", "m", &json!({})), &other).await.expect_err("another request");
    assert_eq!(refused.code, "IDEMPOTENCY_MISMATCH");
}

/// PUN-100: of two writers of one key, one makes it and the other merges.
async fn two_writers(store: Arc<dyn GraphStore>) {
    let writer = |title: &'static str| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            store.upsert_node(node("Both", "one", &json!({ title: true })), &call()).await.expect("written")
        })
    };
    let (one, other) = tokio::join!(writer("one"), writer("other"));
    let (one, other) = (one.expect("it ends"), other.expect("it ends"));
    assert_eq!((one.created + other.created, one.updated + other.updated), (1, 1));
    let found = store.run_cypher("MATCH (b:Both) RETURN b.one, b.other", Map::new()).await.expect("answered");
    assert_eq!(found.rows, [[json!(true), json!(true)]]);
}

#[tokio::test]
async fn the_entities_of_an_engine_keep_the_promises() {
    let world = World::new(Models::none()).await;
    promises(&EngineGraph(world.engine.clone())).await;
    two_writers(Arc::new(EngineGraph(world.engine.clone()))).await;
}

#[tokio::test]
async fn a_store_in_memory_keeps_the_promises() {
    promises(&MemoryStore::default()).await;
    two_writers(Arc::new(MemoryStore::default())).await;
}
