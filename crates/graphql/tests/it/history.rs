//! The revisions of a program.

use serde_json::{Value, json};

use crate::world::World;

const EDIT: &str = r#"mutation($doc: String!) {
    proposeEdit(input: {programId: "world", edits: [{setDoc: {ref: "world::total", doc: $doc}}]}) { outcome { __typename } }
}"#;

/// The length of a filtered list is that of the list, whatever the page.
#[tokio::test]
async fn what_touches_something_is_counted_over_the_whole_log() {
    let world = World::new().await;
    for doc in ["One.", "Two.", "Three."] {
        world.data(EDIT, json!({ "doc": doc })).await;
    }
    let query = r#"query($after: String, $at: String) { program(name: "world", at: $at) {
        history(first: 1, after: $after, touching: "world::total") {
            all: totalCount ...Page pageInfo { hasNextPage endCursor }
        }
    } }
    fragment Page on RevisionConnection { nodes { number edits { nodes { kind } } } }"#;
    let page = async |after: Value, at: Value| {
        world.data(query, json!({"after": after, "at": at})).await["program"]["history"].take()
    };
    let first = page(Value::Null, Value::Null).await;
    assert_eq!((&first["all"], &first["nodes"][0]["number"]), (&json!(4), &json!(6)), "{first}");
    assert_eq!(first["nodes"][0]["edits"]["nodes"], json!([{"kind": "setHead"}]));
    let last = page(json!("4"), Value::Null).await;
    assert_eq!((&last["all"], &last["nodes"][0]["number"]), (&json!(4), &json!(1)), "{last}");
    assert_eq!(last["pageInfo"], json!({"hasNextPage": false, "endCursor": "1"}));
    assert_eq!(page(Value::Null, json!("r4")).await["all"], 2, "as of then");
}
