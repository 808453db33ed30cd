//! The revisions of a program.

use std::collections::BTreeSet;
use std::fmt::Write;

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
    let last = page(json!("hi:4"), Value::Null).await;
    assert_eq!((&last["all"], &last["nodes"][0]["number"]), (&json!(4), &json!(1)), "{last}");
    assert_eq!(last["pageInfo"], json!({"hasNextPage": false, "endCursor": "hi:1"}));
    assert_eq!(page(Value::Null, json!("r4")).await["all"], 2, "as of then");
}

/// A revision with much in it is listed page by page, each entity once; the parts of its functions are among them.
#[tokio::test]
async fn what_a_revision_touched_is_listed_page_by_page() {
    let world = World::empty().await;
    let mut text = "module m\n".to_owned();
    for at in 0..300 {
        writeln!(text, "func of_{at} (a: i64) -> (i64) {{ return (add.i64 a, (mul.i64 a, {at})) }}").unwrap();
    }
    world.create("p", &text).await;
    let query = r#"query($after: String) { program(name: "p") { revision { changed { added }
        touched(first: 700, after: $after) { totalCount nodes { ref change alive } pageInfo { hasNextPage endCursor } } } } }"#;
    let (mut seen, mut listed, mut after) = (BTreeSet::new(), 0, Value::Null);
    let revision = loop {
        let revision = world.data(query, json!({ "after": after })).await["program"]["revision"].take();
        let page = &revision["touched"];
        for node in page["nodes"].as_array().expect("a page is there") {
            assert_eq!((&node["change"], &node["alive"]), (&json!("ADDED"), &json!(true)), "{node}");
            seen.insert(node["ref"].as_str().expect("it has a ref").to_owned());
            listed += 1;
        }
        if page["pageInfo"]["hasNextPage"] == false {
            break revision;
        }
        after = page["pageInfo"]["endCursor"].clone();
    };
    // A module, and functions of four nodes and a region, which is not counted.
    assert_eq!(revision["changed"]["added"], 1 + 300 * 5);
    assert_eq!((seen.len(), listed, &revision["touched"]["totalCount"]), (1_801, 1_801, &json!(1_801)));
}
