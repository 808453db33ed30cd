//! What every store of entities promises, whatever is behind it: the tests of each store call it.

use std::sync::Arc;

use lmlang_agents::graph_store::GraphStore;
use lmlang_engine::Call;
use lmlang_entities::{EdgeSpec, EntityRef, Key, Label, NodeSpec, Op, Patch, PropsChange, RelationType};
use lmlang_history::log::{Actor, ActorKind};
use serde_json::{Map, Value, json};

fn call() -> Call {
    Call::by(Actor { name: "ada".to_owned(), kind: ActorKind::Human, client: None })
}

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
pub(crate) async fn promises(store: &dyn GraphStore) {
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
    let far = store.get_subgraph(ticket.clone(), 9).await.expect_err("too far");
    assert_eq!(far.code, "LIMIT_EXCEEDED");

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

/// PUN-40, PUN-60: a patch is applied as a whole or not at all, and what is known comes back as it was given.
pub(crate) async fn wholes(store: &dyn GraphStore) {
    let given = json!({
        "n": 3, "x": 0.1, "yes": true, "text": "f1", "tags": ["a", "b"], "mixed": [1, 2.5, null], "empty": [],
        "inner": { "deep": [[1.5]], "null": null },
    });
    let times = "MATCH (w:Whole) RETURN w.created_at, w.updated_at";
    store.upsert_node(node("Whole", "one", &given), &call()).await.expect("made");
    let found = store.run_cypher("MATCH (w:Whole {n: 3.0}) RETURN w", Map::new()).await.expect("answered");
    assert_eq!(found.rows[0][0]["props"], given);
    let first = store.run_cypher(times, Map::new()).await.expect("answered").rows;
    store.upsert_node(node("Whole", "one", &json!({ "n": 4 })), &call()).await.expect("changed");
    let then = store.run_cypher(times, Map::new()).await.expect("answered").rows;
    assert_eq!(first[0][0], then[0][0], "it was made when it was made");
    assert_ne!(first[0][1], then[0][1], "it has changed since");
    let made = Map::from_iter([("made".to_owned(), then[0][0].clone())]);
    let at = "MATCH (w:Whole {created_at: $made}) RETURN w.n";
    assert_eq!(store.run_cypher(at, made).await.expect("answered").rows, [[json!(4)]]);

    let ops = vec![
        Op::UpsertNode(node("Whole", "two", &json!({}))),
        Op::UpsertEdge(edge(&of("Whole", "one"), &of("Whole", "two"))),
        Op::UpdateProps(node("Whole", "nobody", &json!({ "n": 1 }))),
    ];
    let refused =
        store.patch(Patch::new(ops.clone()).expect("a patch"), &call()).await.expect_err("not there");
    assert!(refused.message.contains("ops[2]"), "{refused}");
    let all = "MATCH (w:Whole) RETURN w.key ORDER BY w.key";
    let found = store.run_cypher(all, Map::new()).await.expect("answered");
    assert_eq!(found.rows, [[json!("one")]]);
    let made = store.patch(Patch::new(ops[..2].to_vec()).expect("a patch"), &call()).await.expect("made");
    assert_eq!((made.created, made.updated), (2, 0));
    let gone = store.delete_node(of("Whole", "one"), true, &call()).await.expect("gone with its edge");
    assert_eq!(gone.deleted, 2);
    let found = store.run_cypher(all, Map::new()).await.expect("answered");
    assert_eq!(found.rows, [[json!("two")]]);
}

/// PUN-40, PUN-74: nodes are found by what their properties equal, in order, however often these have changed.
pub(crate) async fn lookups(store: &dyn GraphStore) {
    const TASKS: usize = 300;
    let by = call();
    let long = "x".repeat(5_000);
    let task = |n: usize| {
        let state = if n < 2 { "open" } else { "shut" };
        let props = json!({ "n": n, "task": true, "state": state, "tags": [state], "half": 0.5 + n as f64 });
        Op::UpsertNode(node("Task", &format!("{n:03}"), &props))
    };
    let others = [
        node("Chore", "000", &json!({ "state": "open", "n": 7 })),
        node("Odd", "big", &json!({ "n": 9_007_199_254_740_993_i64, "text": long, "yes": true })),
        node("Odd", "near", &json!({ "n": 9_007_199_254_740_992_i64, "text": "9", "yes": "true" })),
    ];
    let ops = (0..TASKS).map(task).chain(others.into_iter().map(Op::UpsertNode)).collect();
    store.patch(Patch::new(ops).expect("a patch"), &by).await.expect("made");
    let keys = async |query: &str, value: &Value| -> Vec<String> {
        let params = Map::from_iter([("v".to_owned(), value.clone())]);
        let found = store.run_cypher(query, params).await.expect("answered");
        found.rows.iter().filter_map(|row| row[0].as_str().map(str::to_owned)).collect()
    };
    let n = "MATCH (t:Task {n: $v}) RETURN t.key";
    let all: Vec<String> = (0..TASKS).map(|n| format!("{n:03}")).collect();
    let none: Vec<String> = Vec::new();
    assert_eq!(keys("MATCH (t:Task) WHERE t.task = $v RETURN t.key", &json!(true)).await, all);
    assert_eq!(keys("MATCH (t:Task {task: $v}) RETURN t.key LIMIT 2", &json!(true)).await, all[..2]);
    assert_eq!(keys("MATCH (t:Task {state: $v}) RETURN t.key", &json!("open")).await, all[..2]);
    assert_eq!(keys("MATCH (t:Task {state: $v, n: 1}) RETURN t.key", &json!("open")).await, all[1..2]);
    assert_eq!(keys("MATCH (t:Task {state: $v, n: 2}) RETURN t.key", &json!("open")).await, none);
    assert_eq!(keys("MATCH (t:Task {tags: $v}) RETURN t.key", &json!(["open"])).await, all[..2]);
    assert_eq!(keys("MATCH (t:Task {half: $v}) RETURN t.key", &json!(7.5)).await, all[7..8]);
    assert_eq!(
        keys("UNWIND $v AS v MATCH (t:Task {n: v}) RETURN t.key", &json!([7, null, 3])).await,
        ["007", "003"]
    );
    let joined = "MATCH (c:Chore {key: $v}), (t:Task {n: c.n}) RETURN t.key";
    assert_eq!(keys(joined, &json!("000")).await, all[7..8]);
    assert_eq!(keys(n, &json!(7)).await, all[7..8]);
    assert_eq!(keys(n, &json!(7.0)).await, all[7..8]);
    assert_eq!(keys(n, &json!("7")).await, none);
    assert_eq!(keys(n, &json!(null)).await, none);
    assert_eq!(keys("MATCH (o:Odd {n: $v}) RETURN o.key", &json!(9_007_199_254_740_993_i64)).await, ["big"]);
    assert_eq!(keys("MATCH (o:Odd {text: $v}) RETURN o.key", &json!(long)).await, ["big"]);
    assert_eq!(keys("MATCH (o:Odd {yes: $v}) RETURN o.key", &json!(true)).await, ["big"]);
    assert_eq!(keys("MATCH (o:Odd {id: $v}) RETURN o.key", &json!("big")).await, none);

    store.update_props(node("Task", "007", &json!({ "n": 1_007 })), &by).await.expect("changed");
    assert_eq!(keys(n, &json!(7)).await, none);
    assert_eq!(keys(n, &json!(1_007)).await, all[7..8]);
    store.upsert_node(node("Task", "009", &json!({ "n": 1_007 })), &by).await.expect("changed");
    assert_eq!(keys(n, &json!(1_007)).await, ["007", "009"]);
    store.update_props(node("Task", "007", &json!({ "n": null })), &by).await.expect("changed");
    assert_eq!(keys(n, &json!(1_007)).await, ["009"]);
    let (one, other) = (of("Task", "008"), of("Task", "009"));
    store.upsert_edge(edge(&one, &other), &by).await.expect("joined");
    store.delete_node(other.clone(), true, &by).await.expect("gone");
    assert_eq!(keys(n, &json!(1_007)).await, none);
    store.upsert_node(node("Task", "009", &json!({})), &by).await.expect("made again");
    assert_eq!(keys(n, &json!(1_007)).await, none);
    store.upsert_node(node("Task", "009", &json!({ "n": 9 })), &by).await.expect("changed");
    assert_eq!(keys(n, &json!(9)).await, ["009"]);
    // What is refused as a whole changes none.
    let ops = vec![
        Op::UpsertNode(node("Task", "008", &json!({ "n": 5_000 }))),
        Op::UpdateProps(node("Task", "nobody", &json!({ "n": 1 }))),
    ];
    store.patch(Patch::new(ops).expect("a patch"), &by).await.expect_err("not there");
    assert_eq!((keys(n, &json!(8)).await, keys(n, &json!(5_000)).await), (all[8..9].to_vec(), none));
}

/// PUN-100: of two writers of one key, one makes it and the other merges.
pub(crate) async fn two_writers(store: Arc<dyn GraphStore>) {
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
