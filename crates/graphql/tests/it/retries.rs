//! Requests that are sent again under their idempotency key.

use serde_json::{Value, json};

use crate::world::World;

const EDIT: &str = r#"mutation($doc: String!, $key: String) {
    proposeEdit(input: {programId: "world", edits: [{setDoc: {ref: "world", doc: $doc}}], idempotencyKey: $key}) {
        outcome { ... on EditApplied {
            revision { number } changed { modified } program { id revision { number } modules(first: 1) { nodes { id doc } } }
        } }
    }
}"#;

async fn edit(world: &World, doc: &str, key: Option<&str>) -> Value {
    world.data(EDIT, json!({"doc": doc, "key": key})).await["proposeEdit"]["outcome"].take()
}

/// An undo or a redo, by its name.
fn travel(way: &str, key: &str) -> String {
    format!(
        r#"mutation {{ made: {way}(input: {{programId: "world", idempotencyKey: "{key}"}}) {{ outcome {{
            __typename ... on RevisionMade {{ revision {{ number kind }} program {{ id }} }}
        }} }} }}"#
    )
}

#[tokio::test]
async fn an_undo_and_a_redo_do_not_share_a_key() {
    let world = World::new().await;
    let undone = world.data(&travel("undo", "k"), json!({})).await;
    assert_eq!(undone["made"]["outcome"]["revision"]["kind"], "UNDO");
    assert_eq!(world.data(&travel("undo", "k"), json!({})).await, undone);
    let answer = world.ask(&travel("redo", "k"), json!({})).await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "IDEMPOTENCY_MISMATCH", "{answer}");
}

#[tokio::test]
async fn a_repeated_request_is_answered_with_what_it_made_then() {
    let world = World::new().await;
    let first = edit(&world, "First.", Some("k")).await;
    let program = first["program"]["id"].as_str().expect("it has an id").to_owned();
    assert_eq!(edit(&world, "First.", Some("k")).await, first, "it is the head still");
    edit(&world, "Second.", None).await;
    let again = edit(&world, "First.", Some("k")).await;
    assert_eq!((&again["revision"], &again["changed"]), (&first["revision"], &first["changed"]));
    let pinned = format!("{program}@r{}", first["revision"]["number"]);
    assert_eq!(again["program"]["id"], pinned.as_str(), "not under the id of the head");
    let module = &again["program"]["modules"]["nodes"][0];
    assert_eq!(module["doc"], "First.");
    assert!(module["id"].as_str().expect("it has an id").starts_with(&pinned), "{module}");

    let undone = world.data(&travel("undo", "u"), json!({})).await;
    assert_eq!(undone["made"]["outcome"]["program"]["id"], program.as_str());
    edit(&world, "Third.", None).await;
    let again = world.data(&travel("undo", "u"), json!({})).await;
    let number = &undone["made"]["outcome"]["revision"]["number"];
    assert_eq!(again["made"]["outcome"]["program"]["id"], format!("{program}@r{number}"));
}
