//! What subscriptions are asked for: cursors, and what they are to look at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt;
use lmlang_store::{Action, Faults, Step};
use lmlang_testdb::TestDb;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::world::{World, soon};

async fn first(world: &World, query: &str) -> Value {
    soon(world.stream(query, json!({})).next()).await.expect("it answers")
}

#[tokio::test]
async fn what_is_not_there_is_refused() {
    let world = World::new().await;
    for (field, code) in [
        (r#"programEvents(programId: "world", after: "r99") { cursor }"#, "CURSOR_INVALID"),
        (r#"programEvents(programId: "world", after: "x") { cursor }"#, "CURSOR_INVALID"),
        (r#"programEvents(programId: "world", filter: {functions: ["zz"]}) { cursor }"#, "NOT_FOUND"),
        (r#"programEvents(programId: "world", filter: {functions: ["Point"]}) { cursor }"#, "BAD_REQUEST"),
        (r#"programEvents(filter: {functions: ["world::far"]}) { cursor }"#, "BAD_REQUEST"),
        (r#"programEvents(after: "r1") { cursor }"#, "CURSOR_INVALID"),
        (r#"programEvents(after: "p999.0") { cursor }"#, "CURSOR_INVALID"),
        (r#"programEvents(programId: "world", after: "p1.1") { cursor }"#, "CURSOR_INVALID"),
        (r#"tournament(id: "nothing") { rank }"#, "NOT_FOUND"),
        (r#"diagnostics(programId: "world", after: "p1.1") { cursor }"#, "CURSOR_INVALID"),
        (r#"diagnostics(programId: "world", after: "r99") { cursor }"#, "CURSOR_INVALID"),
        (r#"diagnostics(programId: "world", scope: ["zz"]) { cursor }"#, "NOT_FOUND"),
        (r#"diagnostics(programId: "world", scope: ["f99999"]) { cursor }"#, "NOT_FOUND"),
    ] {
        let answer = first(&world, &format!("subscription {{ {field} }}")).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], code, "{field}: {answer}");
    }
}

#[tokio::test]
async fn functions_and_modules_are_named_by_ref_path_or_name() {
    let world = World::new().await;
    let edit = r#"mutation { proposeEdit(input: {programId: "world", edits: [
        {addText: {module: "world", text: "func half () -> (i64) {\n  return _\n}"}}
    ]}) { outcome { __typename } } }"#;
    world.data(edit, json!({})).await;
    let query = r#"{ program(name: "world") { m: modules { nodes { ref } } f: function(name: "world::half") { ref } } }"#;
    let found = world.data(query, json!({})).await;
    let (module, function) = (&found["program"]["m"]["nodes"][0]["ref"], &found["program"]["f"]["ref"]);
    for (scope, added) in [
        (json!(["world::half"]), 1),
        (json!(["half"]), 1),
        (json!([function]), 1),
        (json!(["world"]), 1),
        (json!([module]), 1),
        (json!(["world::far"]), 0),
        (json!(["world::inner"]), 0),
        (json!(["inner"]), 0),
    ] {
        let query = r#"subscription($scope: [String!]) {
            diagnostics(programId: "world", after: "r3", scope: $scope) { cursor added { code } }
        }"#;
        let event = soon(world.stream(query, json!({ "scope": scope })).next()).await.expect("it answers");
        let found = &event["data"]["diagnostics"]["added"];
        assert_eq!(found.as_array().map(Vec::len), Some(added), "{scope}: {event}");
    }
    for function in ["world::half", "half"] {
        let query = format!(
            r#"subscription {{ programEvents(programId: "world", after: "r1", filter: {{functions: ["{function}"]}}) {{ cursor }} }}"#
        );
        assert_eq!(first(&world, &query).await["data"]["programEvents"]["cursor"], "r4", "{function}");
    }
}

#[tokio::test]
async fn names_are_those_of_the_branch() {
    let world = World::new().await;
    let edit = r#"mutation {
        createBranch(input: {programId: "world", name: "idea"}) { branch { name } }
        proposeEdit(input: {programId: "world", branch: "idea", edits: [
            {addText: {module: "world", text: "func half () -> (i64) {\n  return _\n}"}}
        ]}) { outcome { __typename } }
    }"#;
    world.data(edit, json!({})).await;
    let query = r#"subscription { diagnostics(programId: "world", branch: "idea", after: "r4", scope: ["half"]) { added { code } } }"#;
    let answer = first(&world, query).await;
    let added = &answer["data"]["diagnostics"]["added"];
    assert_eq!(added.as_array().map(Vec::len), Some(1), "{answer}");
    let query = r#"subscription { programEvents(programId: "world", branch: "idea", after: "r1", filter: {functions: ["half"]}) { cursor } }"#;
    assert_eq!(first(&world, query).await["data"]["programEvents"]["cursor"], "r5");
    let query = r#"subscription { programEvents(programId: "world", branch: "ideal") { cursor } }"#;
    let answer = first(&world, query).await;
    let data = json!({"given": "ideal", "candidates": ["idea"], "retired": false});
    assert_eq!(answer["errors"][0]["extensions"]["data"], data);
}

#[tokio::test]
async fn findings_of_a_branch_are_told_until_it_is_deleted() {
    let world = World::new().await;
    let edit = r#"mutation {
        createBranch(input: {programId: "world", name: "idea"}) { branch { name } }
        proposeEdit(input: {programId: "world", branch: "idea", edits: [
            {addText: {module: "world", text: "func half () -> (i64) {\n  return _\n}"}}
        ]}) { outcome { __typename } }
    }"#;
    world.data(edit, json!({})).await;
    let query = r#"subscription { diagnostics(programId: "world", branch: "idea", after: "r4") { cursor } }"#;
    let mut findings = world.stream(query, json!({}));
    let first = soon(findings.next()).await.expect("it is told");
    assert_eq!(first["data"]["diagnostics"]["cursor"], "r5", "{first}");
    let delete = r#"mutation { deleteBranch(input: {programId: "world", name: "idea"}) { deleted } }"#;
    world.data(delete, json!({})).await;
    assert_eq!(soon(findings.next()).await, None);
}

/// The events of all programs are read from the log, which has an entry before its own caller is told.
#[tokio::test]
async fn whoever_is_told_of_a_revision_can_look_at_it() {
    let (stored, go_on, armed) =
        (Arc::new(Notify::new()), Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let hook = {
        let (stored, go_on, armed) = (Arc::clone(&stored), Arc::clone(&go_on), Arc::clone(&armed));
        move |step| {
            if step != Step::BeforeAck || !armed.swap(false, Ordering::Relaxed) {
                return Action::Continue;
            }
            stored.notify_one();
            Action::Hold(Arc::clone(&go_on))
        }
    };
    let world = World::interfered(TestDb::new().await, Faults::new(hook)).await;
    world.create("p", "module m\n").await;
    armed.store(true, Ordering::Relaxed);
    let edit = r#"mutation { proposeEdit(input: {programId: "p", edits: [{setDoc: {ref: "m", doc: "x"}}]}) { outcome { __typename } } }"#;
    let told = async {
        stored.notified().await;
        let query = r#"subscription { programEvents(after: "p0.0") { ... on RevisionCommitted { revision { number } } } }"#;
        let mut events = world.stream(query, json!({}));
        let mut next = async || soon(events.next()).await.expect("it goes on");
        while next().await["data"]["programEvents"]["revision"]["number"] != 1 {}
        let let_go = async {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            go_on.notify_one();
        };
        let (told, ()) = tokio::join!(next(), let_go);
        told
    };
    let (_, told) = tokio::join!(world.data(edit, json!({})), told);
    assert_eq!(told, json!({"data": {"programEvents": {"revision": {"number": 2}}}}));
}

/// An edit, and the steps of a run, are written without the library; with a directive among what is selected, they are not.
#[tokio::test]
async fn events_are_the_same_whoever_writes_them() {
    let world = World::new().await;
    let run = "module r\n\nfunc twice (n: i64) -> (i64) {\n  return (add.i64 n, n)\n}\n";
    world.create("r", run).await;
    let edit = r#"mutation { proposeEdit(input: {programId: "world", edits: [
        {addText: {module: "world", text: "func half () -> (i64) {\n  return _\n}"}}
    ]}) { outcome { __typename } } }"#;
    world.data(edit, json!({})).await;
    let event =
        "programId at actor { name kind client } ... on RevisionCommitted { touched touchedTruncated }";
    let batch = "simulationId at: cursor steps { seq node op inputs outputs note } skipped status outcome { __typename }";
    let input = r#"input: {programId: "r", function: "r::twice", run: {args: [4]}}, batch: {maxEvents: 1}"#;
    for (field, fields, all) in [
        (r#"programEvents(programId: "world", after: "r3")"#.to_owned(), event, 1),
        (format!("simulate({input})"), batch, 3),
    ] {
        let told = async |cursor: &str| {
            let query = format!("subscription {{ {field} {{ of: __typename {cursor} {fields} }} }}");
            let events = world.stream(&query, json!({})).take(all).collect::<Vec<Value>>();
            soon(events).await
        };
        let (straight, library) = (told("cursor").await, told("cursor @include(if: true)").await);
        assert_eq!(straight.len(), all, "{straight:?}");
        assert!(straight.iter().all(|event| event["errors"].is_null()), "{straight:?}");
        assert_eq!(straight, library);
    }
}

/// A function without an end.
const ENDLESS: &str = "module e
func endless (n: i64) -> () pure {
  loop L (i: i64 = n) {
    continue L (add.i64 i, 1)
  }
  unreachable
}
";

#[tokio::test]
async fn the_position_of_a_run_is_where_its_reader_is() {
    let world = World::empty().await;
    world.create("e", ENDLESS).await;
    let run = r#"subscription { simulate(
        input: {programId: "e", function: "e::endless", run: {args: [0], limits: {fuel: 9007199254740991, timeoutMs: 60000}}},
        batch: {maxEvents: 100}
    ) { simulationId cursor steps { seq } skipped status } }"#;
    let mut batches = world.stream(run, json!({}));
    let first = soon(batches.next()).await.expect("it runs")["data"]["simulate"].take();
    assert_eq!((&first["status"], &first["skipped"]), (&json!("RUNNING"), &json!(0)));
    let steps = first["steps"].as_array().expect("there are steps");
    assert_eq!(first["cursor"], steps.len());
    let again = json!({"id": first["simulationId"], "from": first["cursor"]});
    let asked = "query($id: ID!, $from: Count!) { simulation(id: $id) {
        status position trace(from: $from, first: 10) { steps { seq } recorded dropped }
    } }";
    let standing = async || world.data(asked, again.clone()).await["simulation"].take();
    assert_eq!(standing().await["position"], first["cursor"], "more waits for the reader");
    drop(batches);
    let paused = soon(async {
        loop {
            let standing = standing().await;
            if standing["status"] == "PAUSED" {
                return standing;
            }
        }
    });
    let paused = paused.await;
    assert_eq!(paused["position"], first["cursor"]);
    let recorded = first["cursor"].as_u64().expect("it is a number") + 10;
    assert_eq!((&paused["trace"]["recorded"], &paused["trace"]["dropped"]), (&json!(recorded), &json!(0)));
    let again = "subscription($id: ID!) { simulation(id: $id, batch: {maxEvents: 10}) { cursor } }";
    let mut batches = world.stream(again, json!({"id": first["simulationId"]}));
    assert_eq!(soon(batches.next()).await.expect("it runs")["data"]["simulation"]["cursor"], 10);
    assert_eq!(standing().await["position"], first["cursor"], "it does not go back");
    let beyond =
        "subscription($id: ID!) { simulation(id: $id, after: 9007199254740991) { cursor steps { seq } } }";
    let mut batches = world.stream(beyond, json!({"id": first["simulationId"]}));
    let none = soon(batches.next()).await.expect("it is heard of")["data"]["simulation"].take();
    assert_eq!(none["steps"], json!([]));
    assert_eq!(standing().await["position"], first["cursor"], "nothing there was executed");
}

/// What was found is told in the words of then: the names are gone with what had them.
#[tokio::test]
async fn what_is_resolved_is_told_as_it_was() {
    let world = World::empty().await;
    world.create("p", "module m\n\nfunc kept () -> () { return }\n\nfunc open#f9 (n: i64) -> (i64) {\n  sum#n10 = add.i64 n, _\n  return sum\n}\n").await;
    let edit = r#"mutation { proposeEdit(input: {programId: "p", edits: [{removeFunction: {ref: "open"}}]}) { outcome { __typename } } }"#;
    world.data(edit, json!({})).await;
    let query = r#"subscription { diagnostics(programId: "p", after: "r1") { complete added { code } resolved {
        code message details { function node expectedType text }
    } } }"#;
    let told = first(&world, query).await["data"]["diagnostics"].take();
    assert_eq!((&told["complete"], &told["added"]), (&json!(true), &json!([])));
    assert_eq!(
        told["resolved"],
        json!([{
            "code": "EMPTY_INPUT",
            "message": "input `b` of `add` is empty: expected `i64`",
            "details": {"function": "f9", "node": "n10", "expectedType": "i64", "text": "sum#n10 = add.i64 n, _\n"},
        }])
    );
}

#[tokio::test]
async fn candidates_are_told_as_they_come_and_then_by_rank() {
    let world = World::new().await;
    let tried = r#"mutation { proposeMany(input: {programId: "world", idempotencyKey: "mine", candidates: [
        [{setDoc: {ref: "world::nothing", doc: "x"}}]
        [{setDoc: {ref: "world::total", doc: "x"}}]
        [{setDoc: {ref: "world::total", doc: "y"}}, {setDoc: {ref: "world::far", doc: "y"}}]
    ]}) { tournamentId ranked { index } } }"#;
    let tried = world.data(tried, json!({})).await;
    let id = tried["proposeMany"]["tournamentId"].as_str().expect("it has one");
    for (id, after, count) in [(id, None, 6), ("mine", None, 6), ("mine", Some("4"), 2), (id, Some("6"), 0)] {
        let query = r#"subscription($id: ID!, $after: String) { tournament(id: $id, after: $after) { index rank outcome { __typename } } }"#;
        let mut rows = world.stream(query, json!({ "id": id, "after": after }));
        let mut told = Vec::new();
        while let Some(row) = soon(rows.next()).await {
            told.push(row["data"]["tournament"].clone());
        }
        assert_eq!(told.len(), count, "{told:?}");
        let ranked: Vec<&Value> = told.iter().filter(|row| !row["rank"].is_null()).collect();
        assert_eq!(ranked.len(), count.min(3));
        if let Some(last) = ranked.last() {
            assert_eq!(**last, json!({ "index": 0, "rank": 3, "outcome": { "__typename": "EditRejected" } }));
        }
    }
}

#[tokio::test]
async fn who_looks_at_a_tournament_may_come_before_it() {
    let world = World::new().await;
    let mut rows = world.stream(r#"subscription { tournament(id: "soon") { index } }"#, json!({}));
    let tried = r#"mutation { proposeMany(input: {programId: "world", idempotencyKey: "soon", candidates: [
        [{setDoc: {ref: "world::nothing", doc: "x"}}]
    ]}) { tournamentId } }"#;
    let (row, _) = tokio::join!(soon(rows.next()), world.data(tried, json!({})));
    assert_eq!(row, Some(json!({ "data": { "tournament": { "index": 0 } } })));
}
