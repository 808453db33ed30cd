//! Entities: what agents keep beside programs (PUN-39..41, PUN-49..62, PUN-98, PUN-100).

use std::sync::Arc;

use lmlang_engine::{Call, Engine, EntityFilter, Error, Patched};
use lmlang_entities::{Entity, EntityRef, Key, Label, Patch};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use crate::fixture::{Fixture, OFTEN, call};

fn patch(ops: &Value) -> Patch {
    Patch::from_json(ops).expect("the operations are legal")
}

async fn change(engine: &Engine, ops: &Value) -> Patched {
    engine.patch_entities(patch(ops), false, &call()).await.expect("the patch is applied")
}

fn name(label: &str, key: &str) -> EntityRef {
    EntityRef { label: Label::new(label).expect("a label"), key: Key::new(key).expect("a key") }
}

async fn entity(engine: &Engine, label: &str, key: &str) -> Entity {
    engine.entity(&name(label, key)).await.expect("it can be read").expect("it is there")
}

async fn ask(engine: &Engine, query: &str, params: Value) -> Result<Vec<Vec<Value>>, Error> {
    let Value::Object(params) = params else { panic!("parameters are an object") };
    Ok(engine.cypher(query.to_owned(), params).await?.rows)
}

async fn count(engine: &Engine) -> u64 {
    engine.count_entities(&EntityFilter::default()).await.expect("they can be counted")
}

fn ada() -> Value {
    json!([
        {"upsert_node": {"label": "Person", "key": "ada", "props": {"born": 1815, "ratio": 0.1, "tags": ["a", null]}}},
        {"upsert_node": {"label": "Note", "key": "g"}},
        {"upsert_edge": {"from": {"label": "Person", "key": "ada"}, "type": "WROTE",
                         "to": {"label": "Note", "key": "g"}, "props": {"year": 1843}}},
    ])
}

/// PUN-40, PUN-59.
#[tokio::test]
async fn the_second_time_a_patch_changes_nothing() {
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    let first = change(engine, &ada()).await;
    assert_eq!((first.counts.created, first.counts.unchanged, first.committed), (3, 0, true));
    let before = entity(engine, "Person", "ada").await;
    for _ in 0..2 {
        let again = change(engine, &ada()).await;
        assert_eq!((again.counts.created, again.counts.updated, again.counts.unchanged), (0, 0, 3));
    }
    assert_eq!(entity(engine, "Person", "ada").await, before);
    assert_eq!(engine.store().entities_now().await.unwrap().revision().await.unwrap(), 1);
}

/// PUN-07, PUN-49, PUN-51, PUN-60, PUN-76, PUN-85: of relations as well.
#[tokio::test]
async fn what_is_updated_keeps_its_id_and_when_it_was_made() {
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    change(engine, &ada()).await;
    let before = entity(engine, "Person", "ada").await;
    assert_eq!(before.created_at, before.updated_at);
    assert_eq!(before.id.0[6] >> 4, 4, "a random uuid");
    let update =
        json!([{"update_props": {"label": "Person", "key": "ada", "props": {"born": null, "died": 1852}}}]);
    assert_eq!(change(engine, &update).await.counts.updated, 1);
    let after = entity(engine, "Person", "ada").await;
    assert_eq!((after.id, after.created_at), (before.id, before.created_at));
    assert!(after.updated_at > before.updated_at);
    assert_eq!(after.props.to_json(), json!({"died": 1852, "ratio": 0.1, "tags": ["a", null]}));

    let wrote = async || {
        let around = engine.entity_subgraph(name("Person", "ada"), 1).await.expect("it can be read");
        Arc::clone(&around.expect("it is there").edges[0].1)
    };
    let before = wrote().await;
    assert_eq!(before.created_at, before.updated_at);
    assert_eq!(before.id.0[6] >> 4, 4, "a random uuid");
    let update = json!([{"upsert_edge": {"from": {"label": "Person", "key": "ada"}, "type": "WROTE",
                                         "to": {"label": "Note", "key": "g"}, "props": {"year": 1844}}}]);
    assert_eq!(change(engine, &update).await.counts.updated, 1);
    let after = wrote().await;
    assert_eq!((after.id, after.created_at), (before.id, before.created_at));
    assert!(after.created_at.is_some() && after.updated_at > before.updated_at);
}

/// A hub is read page by page, in the order of what it leads to, whatever is asked of these between two pages.
#[tokio::test]
async fn all_edges_of_a_hub_are_found_in_order() {
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    let spokes = 700;
    change(engine, &json!([{"upsert_node": {"label": "Hub", "key": "h"}}])).await;
    let all: Vec<usize> = (0..spokes).collect();
    for some in all.chunks(100) {
        let spoke = |number: &usize| {
            let rim = json!({"label": "Rim", "key": format!("{number:04}")});
            let kind = if number.is_multiple_of(2) { "EVEN" } else { "ODD" };
            let edge =
                |from: &Value, to: &Value| json!({"upsert_edge": {"from": from, "type": kind, "to": to}});
            let hub = json!({"label": "Hub", "key": "h"});
            [json!({"upsert_node": rim}), edge(&hub, &rim), edge(&rim, &hub)]
        };
        let ops: Vec<Value> = some.iter().flat_map(spoke).collect();
        change(engine, &json!(ops)).await;
    }
    let keys = |rows: Vec<Vec<Value>>| -> Vec<String> {
        rows.iter().filter_map(|row| row[0].as_str().map(str::to_owned)).collect()
    };
    let expect = |wanted: &dyn Fn(usize) -> bool| -> Vec<String> {
        all.iter().filter(|number| wanted(**number)).map(|number| format!("{number:04}")).collect()
    };
    let (even, odd) = (expect(&|number| number % 2 == 0), expect(&|number| number % 2 == 1));
    let found = ask(engine, "MATCH (:Hub {key: 'h'})-->(r) RETURN r.key", json!({})).await.expect("answered");
    assert_eq!(keys(found), [even.clone(), odd.clone()].concat());
    let found = ask(engine, "MATCH (:Hub {key: 'h'})<-[:ODD]-(r) RETURN r.key", json!({})).await;
    assert_eq!(keys(found.expect("answered")), odd);
    let back = "MATCH (:Hub {key: 'h'})-[:EVEN]->(r)-[:EVEN]->(h:Hub) RETURN r.key";
    assert_eq!(keys(ask(engine, back, json!({})).await.expect("answered")), even);
}

/// PUN-100.
#[tokio::test(flavor = "multi_thread")]
async fn of_writers_of_one_key_one_makes_the_node_and_none_is_lost() {
    const WRITERS: usize = 8;
    let fixture = Fixture::new(OFTEN).await;
    // Other processes can only be there where the database is a server.
    let mut engines = vec![fixture.engine.clone()];
    if !fixture.engine.store().is_alone() {
        engines.push(fixture.replica().await);
    }
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let engine = engines[writer % engines.len()].clone();
        writers.spawn(async move {
            let mut props = Map::new();
            props.insert(format!("by_{writer}"), json!(writer));
            let ops = json!([
                {"upsert_node": {"label": "Person", "key": "ada", "props": props}},
                {"upsert_edge": {"from": {"label": "Person", "key": "ada"}, "type": "KNOWS",
                                 "to": {"label": "Person", "key": "ada"}}},
            ]);
            change(&engine, &ops).await.counts.created
        });
    }
    let created: usize = writers.join_all().await.into_iter().sum();
    assert_eq!(created, 2, "a node and an edge");
    assert_eq!(count(&fixture.engine).await, 1);
    assert_eq!(entity(&fixture.engine, "Person", "ada").await.props.len(), WRITERS);
    for replica in &engines[1..] {
        replica.close().await;
    }
}

/// PUN-40: all of it or nothing; PUN-41, PUN-50, PUN-52, PUN-62.
#[tokio::test]
async fn a_patch_that_is_refused_leaves_nothing() {
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    let half = json!([
        {"upsert_node": {"label": "Person", "key": "ada"}},
        {"upsert_edge": {"from": {"label": "Person", "key": "ada"}, "type": "WROTE", "to": {"label": "Note", "key": "g"}}},
    ]);
    let refused = engine.patch_entities(patch(&half), false, &call()).await;
    let Err(Error::EntityConstraint(error)) = refused else { panic!("{refused:?}") };
    assert_eq!(
        (error.code(), error.place.op, error.place.field.as_str()),
        ("ENTITY_END_MISSING", Some(1), "upsert_edge.to")
    );
    assert_eq!(count(engine).await, 0);
    let with_id = json!([{"upsert_node": {"label": "Person", "key": "ada", "props": {"id": "x"}}}]);
    assert_eq!(Patch::from_json(&with_id).expect_err("ids are the server's").code(), "ENTITY_FIELD_RESERVED");

    change(engine, &ada()).await;
    let bare = json!([{"delete_node": {"label": "Person", "key": "ada"}}]);
    let refused = engine.patch_entities(patch(&bare), false, &call()).await;
    assert!(matches!(refused, Err(Error::EntityConstraint(error)) if error.code() == "ENTITY_HAS_EDGES"));
    let detached = json!([{"delete_node": {"label": "Person", "key": "ada", "detach": true}}]);
    assert_eq!(change(engine, &detached).await.counts.deleted, 2);
    assert_eq!(change(engine, &detached).await.counts.unchanged, 1);
    assert_eq!(count(engine).await, 1);
}

#[tokio::test]
async fn a_dry_run_answers_the_same_and_stores_nothing() {
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    let dry = engine.patch_entities(patch(&ada()), true, &call()).await.expect("it can be planned");
    assert!(!dry.committed);
    assert_eq!(count(engine).await, 0);
    assert_eq!(change(engine, &ada()).await.counts, dry.counts);
}

/// What is repeated under a key is not done to what others have made since.
#[tokio::test]
async fn a_repeated_request_is_answered_as_the_first_one_after_a_restart_too() {
    let fixture = Fixture::new(OFTEN).await;
    let keyed = |key: &str| Call::by(call().actor).keyed(Some(key), b"delete");
    change(&fixture.engine, &json!([{"upsert_node": {"label": "Note", "key": "g"}}])).await;
    let delete = patch(&json!([{"delete_node": {"label": "Note", "key": "g"}}]));
    let first = fixture.engine.patch_entities(delete.clone(), false, &keyed("k")).await.expect("deleted");
    change(&fixture.engine, &json!([{"upsert_node": {"label": "Note", "key": "g"}}])).await;
    let fixture = fixture.reopened(&[]).await;
    let again = fixture.engine.patch_entities(delete.clone(), false, &keyed("k")).await.expect("answered");
    assert_eq!(again, first);
    assert_eq!(count(&fixture.engine).await, 1, "the new one stays");
    let other = Call::by(call().actor).keyed(Some("k"), b"other");
    let refused = fixture.engine.patch_entities(delete, false, &other).await;
    assert!(matches!(refused, Err(Error::IdempotencyMismatch)), "{refused:?}");
}

#[tokio::test]
async fn everything_is_there_after_a_restart() {
    let fixture = Fixture::new(OFTEN).await;
    change(&fixture.engine, &ada()).await;
    let before = entity(&fixture.engine, "Person", "ada").await;
    let fixture = fixture.reopened(&[]).await;
    let engine = &fixture.engine;
    assert_eq!(entity(engine, "Person", "ada").await, before);
    let rows = ask(engine, "MATCH (p)-[w:WROTE]->(n) RETURN p.key, w.year, n.key", json!({})).await.unwrap();
    assert_eq!(rows, [[json!("ada"), json!(1843), json!("g")]]);
}

#[tokio::test]
async fn damaged_rows_are_told_apart_from_wrong_requests() {
    let fixture = Fixture::new(OFTEN).await;
    change(&fixture.engine, &ada()).await;
    let fixture = fixture.reopened(&["UPDATE entities SET props = label"]).await;
    let read = fixture.engine.entity(&name("Person", "ada")).await;
    assert!(matches!(read, Err(Error::Storage(_))), "{read:?}");
}

/// PUN-39, PUN-56.
#[tokio::test]
async fn questions_are_answered_with_parameters() {
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    let nodes = (0..700)
        .map(|n| json!({"upsert_node": {"label": "Leaf", "key": format!("{n:03}"), "props": {"n": n}}}));
    let hub = json!({"upsert_node": {"label": "Hub", "key": "h"}});
    change(engine, &nodes.chain([hub]).collect()).await;
    let edges = (0..700).map(|n| {
        json!({"upsert_edge": {"from": {"label": "Hub", "key": "h"}, "type": "HAS",
                               "to": {"label": "Leaf", "key": format!("{n:03}")}}})
    });
    change(engine, &edges.collect()).await;
    let query =
        "MATCH (:Hub {key: $hub})-[:HAS]->(l:Leaf) WHERE l.n >= $from RETURN count(l), min(l.n), max(l.key)";
    let rows = ask(engine, query, json!({"hub": "h", "from": 10})).await.unwrap();
    assert_eq!(rows, [[json!(690), json!(10), json!("699")]]);
    let found = engine.entity_subgraph(name("Leaf", "000"), 2).await.unwrap().expect("it is there");
    assert_eq!((found.nodes.len(), found.edges.len(), found.truncated), (701, 700, false));
    assert!(engine.entity_subgraph(name("Leaf", "none"), 2).await.unwrap().is_none());
    let far = engine.entity_subgraph(name("Leaf", "000"), 99).await;
    assert!(matches!(far, Err(Error::Limit { which: "entityHops", .. })), "{far:?}");
}

/// What a question costs follows what it asks for: entities with other values are not read, here those that cannot be.
#[tokio::test]
async fn entities_are_looked_up_by_their_values() {
    let fixture = Fixture::new(OFTEN).await;
    let leaf = |n: usize| {
        let state = if n < 3 { "open" } else { "shut" };
        let props = json!({"n": n, "even": n.is_multiple_of(2), "state": state});
        json!({"upsert_node": {"label": "Leaf", "key": format!("{n:04}"), "props": props}})
    };
    change(&fixture.engine, &(0..900).map(leaf).collect()).await;
    let even = "MATCH (l:Leaf {even: true}) RETURN l.n";
    let rows = ask(&fixture.engine, even, json!({})).await.expect("answered");
    assert_eq!(rows, (0..450).map(|n| vec![json!(n * 2)]).collect::<Vec<_>>());

    // All but `0000`, `0001` and `0002`.
    let fixture = fixture.reopened(&["UPDATE entities SET props = label WHERE name > x'30303032'"]).await;
    let engine = &fixture.engine;
    let unread = ask(engine, "MATCH (l:Leaf) RETURN count(l)", json!({})).await;
    assert!(matches!(unread, Err(Error::Storage(_))), "{unread:?}");
    for (query, keys) in [
        ("MATCH (l:Leaf {state: 'open'}) RETURN l.key", vec!["0000", "0001", "0002"]),
        ("MATCH (l:Leaf) WHERE l.n = $one RETURN l.key", vec!["0001"]),
        ("MATCH (l:Leaf {even: true, state: 'open'}) RETURN l.key", vec!["0000", "0002"]),
        ("MATCH (l:Leaf {state: 'lost'}) RETURN l.key", vec![]),
        ("UNWIND [2, 0] AS n MATCH (l:Leaf {n: n}) RETURN l.key", vec!["0002", "0000"]),
        ("MATCH (l:Leaf {n: 1}), (m:Leaf {n: l.n + $one}) RETURN m.key", vec!["0002"]),
    ] {
        let rows = ask(engine, query, json!({"one": 1.0})).await.expect(query);
        let found: Vec<&str> = rows.iter().filter_map(|row| row[0].as_str()).collect();
        assert_eq!(found, keys, "{query}");
    }
}

/// PUN-61: whatever a query says, it only reads.
#[tokio::test]
async fn queries_that_would_write_are_refused_with_their_place() {
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    change(engine, &ada()).await;
    for query in ["MATCH (n) DETACH DELETE n", "MATCH (n)\nSET n.x = 1", "CREATE (:Person {key: 'eve'})"] {
        let refused = ask(engine, query, json!({})).await;
        let Err(Error::Cypher(error)) = refused else { panic!("{query}: {refused:?}") };
        assert_eq!(error.code(), "CYPHER_READ_ONLY", "{query}");
    }
    let refused = ask(engine, "MATCH (p:Person)\nRETURN p.key, $x", json!({})).await;
    let Err(Error::Cypher(error)) = refused else { panic!("{refused:?}") };
    assert_eq!((error.code(), error.position.line), ("CYPHER_PARAMETER_MISSING", 2));
    assert_eq!(count(engine).await, 2);
}

#[tokio::test]
async fn pages_go_on_after_an_entity_that_is_gone() {
    let fixture = Fixture::new(OFTEN).await;
    let engine = &fixture.engine;
    let nodes = ["a", "b", "c"].map(|key| json!({"upsert_node": {"label": "Note", "key": key}}));
    change(engine, &nodes.into_iter().collect()).await;
    let all = EntityFilter::default();
    let first = engine.entity_page(&all, None, 2).await.unwrap();
    assert!(first.more && first.items[1].name() == name("Note", "b"));
    change(engine, &json!([{"delete_node": {"label": "Note", "key": "b"}}])).await;
    let rest = engine.entity_page(&all, Some(&name("Note", "b")), 2).await.unwrap();
    assert_eq!((rest.items.len(), rest.items[0].name(), rest.more), (1, name("Note", "c"), false));
}

#[tokio::test]
async fn the_doctor_looks_at_what_entities_are_found_by() {
    let fixture = Fixture::new(OFTEN).await;
    change(&fixture.engine, &ada()).await;
    let fixture = fixture.reopened(&["DELETE FROM entity_values"]).await;
    let checkup = fixture.engine.doctor(|_| {}).await.expect("it is looked at");
    let told: Vec<String> = checkup.findings().collect();
    assert_eq!(told, ["the entity Person:ada is looked up by other values than its properties have"]);
}

#[tokio::test]
async fn the_doctor_reads_entities() {
    let fixture = Fixture::new(OFTEN).await;
    change(&fixture.engine, &ada()).await;
    let checkup = fixture.engine.doctor(|_| {}).await.expect("it is looked at");
    assert_eq!((checkup.entities, checkup.findings().count()), (3, 0));

    // SQLite and PostgreSQL write bytes differently; a label is one either way.
    let fixture = fixture
        .reopened(&[
            "DELETE FROM entities WHERE id = (SELECT target FROM relations)",
            "UPDATE entities SET props = label",
        ])
        .await;
    let checkup = fixture.engine.doctor(|_| {}).await.expect("it is looked at");
    let told: Vec<String> = checkup.findings().collect();
    assert_eq!((checkup.entities, told.len()), (2, 2), "{told:?}");
    assert!(told[0].starts_with("the entity Person:ada: column `props`"), "{told:?}");
    assert!(told[1].ends_with("of kind WROTE ends at an entity that is not there"), "{told:?}");
}
