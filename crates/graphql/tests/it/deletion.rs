//! Deleting a program: it is gone, its followers are told, and nobody else notices.

use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::world::{World, soon};

const TEXT: &str = "module m\npub func f (n: i64) -> (i64) pure { return (mul.i64 n, 2) }\n";

/// Everything about a program that a client can see.
async fn seen(world: &World, name: &str) -> Value {
    let query = "query($name: String!) { program(name: $name) {
        id rootHash text revision { number } stats { nodes }
        history { totalCount nodes { number kind hash } }
        checkpoints { nodes { name revision { number } } }
        functions { nodes { id contentHash simulate(input: {args: [4]}) { outcome { ... on Returned { values } } } } }
    } }";
    world.data(query, json!({ "name": name })).await
}

async fn with_two_programs() -> World {
    let world = World::empty().await;
    for name in ["kept", "gone"] {
        world.create(name, TEXT).await;
        let change = "mutation($p: ID!) {
            createCheckpoint(input: {programId: $p, name: \"good\"}) { checkpoint { name } }
            proposeEdit(input: {programId: $p, edits: [{setDoc: {ref: \"m::f\", doc: \"Doubles.\"}}]}) { outcome { __typename } }
        }";
        world.data(change, json!({ "p": name })).await;
    }
    world
}

async fn delete(world: &World, id: &Value) -> Value {
    world
        .data("mutation($p: ID!) { deleteProgram(input: {programId: $p}) { deleted } }", json!({ "p": id }))
        .await
}

#[tokio::test]
async fn deleting_one_program_leaves_the_others() {
    let world = with_two_programs().await;
    let before = seen(&world, "kept").await;
    let gone = seen(&world, "gone").await["program"]["id"].clone();
    assert_eq!(delete(&world, &gone).await, json!({"deleteProgram": {"deleted": true}}));
    assert_eq!(seen(&world, "kept").await, before);
    let listed = world.data("{ programs { totalCount nodes { name } } }", json!({})).await;
    assert_eq!(listed["programs"], json!({"totalCount": 1, "nodes": [{"name": "kept"}]}));
    let edit = r#"mutation { proposeEdit(input: {programId: "kept", edits: [{setDoc: {ref: "m::f", doc: null}}]}) { outcome { __typename } } }"#;
    let edited = world.data(edit, json!({})).await;
    assert_eq!(edited["proposeEdit"]["outcome"]["__typename"], "EditApplied");
}

#[tokio::test]
async fn what_is_deleted_is_not_found_by_any_of_its_ids() {
    let world = with_two_programs().await;
    let gone = seen(&world, "gone").await["program"].clone();
    let id = gone["id"].as_str().expect("a program has an id").to_owned();
    let entity = gone["functions"]["nodes"][0]["id"].clone();
    delete(&world, &gone["id"]).await;
    let query = "query($id: ID!, $old: ID!, $entity: ID!, $revision: ID!) {
        head: node(id: $id) { id } old: node(id: $old) { id } entity: node(id: $entity) { id }
        revision: node(id: $revision) { id } program(id: $id) { id }
    }";
    let variables =
        json!({"id": id, "old": format!("{id}@r1"), "entity": entity, "revision": format!("{id}/r1")});
    let answer = world.ask(query, variables).await;
    let errors = answer["errors"].as_array().expect("nothing is found");
    assert_eq!(errors.len(), 5, "{answer}");
    for error in errors {
        assert_eq!(error["extensions"]["code"], "NOT_FOUND");
        assert_eq!(error["extensions"]["data"]["retired"], true, "{error}");
    }
    let change = "mutation($p: ID!) {
        a: deleteProgram(input: {programId: $p}) { deleted }
        b: proposeEdit(input: {programId: $p, edits: [{setDoc: {ref: \"m1\", doc: \"x\"}}]}) { outcome { __typename } }
        c: undo(input: {programId: $p}) { outcome { __typename } }
        d: createCheckpoint(input: {programId: $p, name: \"x\"}) { checkpoint { name } }
        e: updateProgram(input: {programId: $p, name: \"again\"}) { program { id } }
    }";
    let answer = world.ask(change, json!({ "p": id })).await;
    let codes = answer["errors"].as_array().expect("nothing is changed").iter();
    assert_eq!(codes.filter(|error| error["extensions"]["code"] == "NOT_FOUND").count(), 5, "{answer}");
}

#[tokio::test]
async fn a_name_can_be_used_again() {
    let world = with_two_programs().await;
    let first = seen(&world, "gone").await["program"].clone();
    delete(&world, &json!("gone")).await;
    world.create("gone", TEXT).await;
    let second = seen(&world, "gone").await["program"].clone();
    assert_ne!(first["id"], second["id"]);
    assert_eq!(second["history"]["totalCount"], 1);
    assert_eq!(second["checkpoints"]["nodes"], json!([]));
    let answer = world.ask("query($id: ID!) { node(id: $id) { id } }", json!({"id": first["id"]})).await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "NOT_FOUND");
    // The other program can take the name of one that is gone, too.
    delete(&world, &json!("gone")).await;
    let rename =
        r#"mutation { updateProgram(input: {programId: "kept", name: "gone"}) { program { name } } }"#;
    assert_eq!(world.data(rename, json!({})).await["updateProgram"]["program"]["name"], "gone");
}

#[tokio::test]
async fn followers_are_told_and_their_streams_end() {
    let world = with_two_programs().await;
    let events = |name: &str| {
        let query = "subscription($p: ID!) { programEvents(programId: $p, after: \"r1\") { __typename ... on ProgramChanged { change name } } }";
        world.stream(query, json!({ "p": name }))
    };
    let (mut gone, mut kept) = (events("gone"), events("kept"));
    let query = "subscription($p: ID!) { diagnostics(programId: $p, after: \"r1\") { cursor } }";
    let mut findings = world.stream(query, json!({"p": "gone"}));
    for stream in [&mut gone, &mut kept] {
        for expected in ["CheckpointChanged", "RevisionCommitted"] {
            let event = soon(stream.next()).await.expect("it goes on");
            assert_eq!(event["data"]["programEvents"]["__typename"], expected);
        }
    }
    assert_eq!(soon(findings.next()).await.expect("it goes on")["data"]["diagnostics"]["cursor"], "r3");
    delete(&world, &json!("gone")).await;
    let last = soon(gone.next()).await.expect("the deletion is told");
    let expected = json!({"__typename": "ProgramChanged", "change": "REMOVED", "name": "gone"});
    assert_eq!(last["data"]["programEvents"], expected);
    assert_eq!(soon(gone.next()).await, None);
    assert_eq!(soon(findings.next()).await, None);
    // The follower of the other program goes on.
    let edit = r#"mutation { proposeEdit(input: {programId: "kept", edits: [{setDoc: {ref: "m::f", doc: "x"}}]}) { outcome { __typename } } }"#;
    world.data(edit, json!({})).await;
    let event = soon(kept.next()).await.expect("it goes on");
    assert_eq!(event["data"]["programEvents"]["__typename"], "RevisionCommitted");
    // Nobody can begin to follow what is gone.
    let answer = soon(events("gone").next()).await.expect("it is refused");
    assert_eq!(answer["errors"][0]["extensions"]["code"], "NOT_FOUND");
}

#[tokio::test]
async fn followers_of_all_programs_are_told() {
    let world = with_two_programs().await;
    let cursor = world.data("{ eventCursor }", json!({})).await["eventCursor"].clone();
    delete(&world, &json!("gone")).await;
    let query = "subscription($after: String) { programEvents(after: $after) { __typename cursor ... on ProgramChanged { change name } } }";
    let mut events = world.stream(query, json!({ "after": cursor }));
    let event = soon(events.next()).await.expect("it goes on")["data"]["programEvents"].clone();
    assert_eq!((&event["change"], &event["name"]), (&json!("REMOVED"), &json!("gone")), "{event}");
    // What comes after it, and it is not told again.
    let mut events = world.stream(query, json!({ "after": event["cursor"] }));
    let rename =
        r#"mutation { updateProgram(input: {programId: "kept", name: "left"}) { program { name } } }"#;
    world.data(rename, json!({})).await;
    let event = soon(events.next()).await.expect("it goes on")["data"]["programEvents"].clone();
    assert_eq!((&event["change"], &event["name"]), (&json!("RENAMED"), &json!("left")), "{event}");
}

#[tokio::test]
async fn what_happened_to_a_deleted_program_can_still_be_looked_at() {
    let world = with_two_programs().await;
    let gone = seen(&world, "gone").await["program"]["id"].clone();
    delete(&world, &gone).await;
    let query = r#"subscription { programEvents(after: "p0.0") {
        __typename programId
        ... on RevisionCommitted { touched revision { number kind } diff { functions { nodes { ref } } } }
        ... on ProgramChanged { name change }
        ... on CheckpointChanged { name }
    } }"#;
    let events: Vec<Value> = soon(world.stream(query, json!({})).take(9).collect()).await;
    let (mut of_gone, mut of_kept) = (Vec::new(), Vec::new());
    for event in events {
        assert_eq!(event["errors"], Value::Null, "{event}");
        let mut event = event["data"]["programEvents"].clone();
        let program = event.as_object_mut().and_then(|event| event.remove("programId"));
        if program == Some(gone.clone()) { of_gone.push(event) } else { of_kept.push(event) }
    }
    let last = of_gone.pop();
    assert_eq!(last, Some(json!({"__typename": "ProgramChanged", "name": "gone", "change": "REMOVED"})));
    assert_eq!(of_gone[0], json!({"__typename": "ProgramChanged", "name": "gone", "change": "ADDED"}));
    assert_eq!(of_gone[1]["revision"], json!({"number": 1, "kind": "CREATE"}));
    assert_eq!(of_gone[2], json!({"__typename": "CheckpointChanged", "name": "good"}));
    let change = json!({
        "__typename": "RevisionCommitted", "touched": ["f2"], "revision": {"number": 3, "kind": "EDIT"},
        "diff": {"functions": {"nodes": [{"ref": "f2"}]}},
    });
    assert_eq!(of_gone[3], change);
    assert_eq!(of_gone[1..], of_kept[1..]);
}

#[tokio::test]
async fn a_run_that_is_streamed_ends_with_its_program() {
    let world = with_two_programs().await;
    let endless = "module e
func endless (n: i64) -> () pure {
  loop L (i: i64 = n) {
    continue L (add.i64 i, 1)
  }
  unreachable
}
";
    world.create("endless", endless).await;
    // One waits for its reader, one runs without anything to show.
    let mut streams = Vec::new();
    for trace in ["NODES", "NONE"] {
        let run = format!(
            r#"subscription {{ simulate(
                input: {{programId: "endless", function: "e::endless", run: {{
                    args: [0], recordTrace: {trace}, tier: INTERPRETER, limits: {{fuel: 9007199254740991, timeoutMs: 60000}}
                }}}},
                batch: {{maxEvents: 10}}
            ) {{ simulationId status }} }}"#
        );
        let mut batches = world.stream(&run, json!({}));
        let first = soon(batches.next()).await.expect("it runs")["data"]["simulate"].take();
        assert_eq!(first["status"], "RUNNING", "{first}");
        streams.push((first["simulationId"].clone(), batches));
    }
    delete(&world, &json!("endless")).await;
    for (id, mut batches) in streams {
        let last = soon(async {
            loop {
                let batch = batches.next().await.expect("it says why it ends");
                if !batch["errors"].is_null() {
                    return batch;
                }
            }
        });
        let last = last.await;
        let error = &last["errors"][0]["extensions"];
        assert_eq!(
            (&error["code"], &error["data"]["retired"]),
            (&json!("NOT_FOUND"), &json!(true)),
            "{last}"
        );
        assert_eq!(soon(batches.next()).await, None);
        let again = "subscription($id: ID!) { simulation(id: $id) { status } }";
        let answer = soon(world.stream(again, json!({ "id": id })).next()).await.expect("it is refused");
        assert_eq!(answer["errors"][0]["extensions"]["code"], "NOT_FOUND", "{answer}");
    }
}
