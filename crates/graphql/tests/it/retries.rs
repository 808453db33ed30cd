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

/// Every mutation that makes a revision: what is asked for, and all of the answer that does not say which view it is in.
const KEYED: &[(&str, &str)] = &[
    (
        "createProgram",
        r#"createProgram(input: {name: "made", doc: "Of then.", text: "module m\nfunc hole () -> (i64) { return _ }\n", idempotencyKey: "create"}) {
            errors { code } warnings { code message } program { programId name doc rootHash revision { number } functions { nodes { name } } }
        }"#,
    ),
    (
        "proposeEdit",
        r#"proposeEdit(input: {
            programId: "world", baseRevision: "gone", message: "Why.", idempotencyKey: "edit",
            edits: [
                {addFunction: {as: "twice", name: "twice", module: "world", params: [{name: "n", type: "i64"}], results: ["i64"], body: "sum = add.i64 n, n\nreturn sum"}}
                {insertText: {function: "world::total", text: "seven = const.i64 7\neight = add.i64 seven, _"}}
                {addModule: {as: "sub", name: "sub", parent: "world"}}
                {addVar: {as: "cell", function: "world::far", name: "cell", type: "i64"}}
            ]
        }) { outcome { __typename ... on EditApplied {
            committed revision { number message actor { name } changed { added } } created { name ref kind } changed { added removed modified functions }
            diagnosticsAdded { code message } diagnosticsResolved { code } warnings { code message } program { rootHash text }
        } } }"#,
    ),
    (
        "undo",
        r#"undo(input: {programId: "world", to: "gone", expectedHead: "head", message: "Back.", idempotencyKey: "undo"}) { ...Went }"#,
    ),
    ("redo", r#"redo(input: {programId: "world", idempotencyKey: "redo"}) { ...Went }"#),
    (
        "createCheckpoint",
        r#"createCheckpoint(input: {programId: "world", name: "mark", at: "gone", message: "Here.", idempotencyKey: "mark"}) {
            checkpoint { name message createdAt actor { name } revision { number } }
        }"#,
    ),
    (
        "restoreCheckpoint",
        r#"restoreCheckpoint(input: {programId: "world", name: "mark", idempotencyKey: "restore"}) { ...Went }"#,
    ),
    (
        "deleteCheckpoint",
        r#"deleteCheckpoint(input: {programId: "world", name: "mark", idempotencyKey: "delete"}) { deleted }"#,
    ),
    (
        "createBranch",
        r#"createBranch(input: {programId: "world", name: "line", at: "gone", message: "There.", idempotencyKey: "line"}) {
            branch { name createdAt head { number } }
        }"#,
    ),
    (
        "proposeEdit",
        r#"proposeEdit(input: {programId: "world", branch: "line", idempotencyKey: "on line", edits: [{setDoc: {ref: "world::total", doc: "On the line."}}]}) {
            outcome { __typename ... on EditApplied { revision { number branch } } }
        }"#,
    ),
    ("merge", r#"merge(input: {programId: "world", from: "line", idempotencyKey: "merge"}) { ...Merged }"#),
    (
        "revert",
        r#"revert(input: {programId: "world", revisions: ["main"], message: "Not yet.", idempotencyKey: "revert"}) { ...Reverted }"#,
    ),
    (
        "deleteBranch",
        r#"deleteBranch(input: {programId: "world", name: "line", idempotencyKey: "no line"}) { deleted }"#,
    ),
];

const WENT: &str = "fragment Went on RevisionPayload { outcome { __typename ... on RevisionMade {
    committed revision { number kind message target { number } edits { nodes { text } } } changed { added removed modified functions }
    diff { changed { modified } text } program { rootHash }
} } }";

async fn keyed(world: &World, field: &str, request: &str) -> Value {
    let fragments = [
        ("...Went", WENT.to_owned()),
        ("...Merged", WENT.replace("Went on RevisionPayload", "Merged on MergePayload")),
        (
            "...Reverted",
            WENT.replace(
                "Went on RevisionPayload {",
                "Reverted on RevertPayload { removed { number } alsoRemoved { number } kept { number } newDiagnostics { code }",
            ),
        ),
    ];
    let fragment = fragments.iter().find(|(spread, _)| request.contains(spread));
    let fragment = fragment.map_or("", |(_, fragment)| fragment);
    let mut answer = world.data(&format!("mutation {{ {request} }} {fragment}"), json!({})).await;
    let made = answer[field].take();
    assert!(!made.is_null(), "{request}");
    made
}

async fn mark(world: &World, name: &str) {
    let query = r#"mutation($name: String!) { createCheckpoint(input: {programId: "world", name: $name, message: "Another."}) { __typename } }"#;
    world.data(query, json!({ "name": name })).await;
}

async fn unmark(world: &World, name: &str) {
    let query = r#"mutation($name: String!) { deleteCheckpoint(input: {programId: "world", name: $name}) { deleted } }"#;
    world.data(query, json!({ "name": name })).await;
}

/// Whatever happened since, and whoever answers: the names that a request was made with may mean something else by now, or
/// nothing.
#[tokio::test]
async fn every_repeated_request_is_answered_as_the_first() {
    let world = World::new().await;
    let mut first = Vec::new();
    for (field, request) in KEYED {
        let names: Vec<&str> = ["gone", "head"].into_iter().filter(|name| request.contains(name)).collect();
        for name in &names {
            mark(&world, name).await;
            if *field == "undo" && *name == "gone" {
                edit(&world, "Undone.", None).await;
            }
        }
        first.push(keyed(&world, field, request).await);
        for name in &names {
            unmark(&world, name).await;
        }
        if *field == "createCheckpoint" {
            edit(&world, "To go back from.", None).await;
        }
    }
    let outcomes: Vec<&Value> = first.iter().map(|answer| &answer["outcome"]["__typename"]).collect();
    assert_eq!(outcomes[1..4], ["EditApplied", "RevisionMade", "RevisionMade"], "{first:?}");
    assert_eq!(outcomes[5], "RevisionMade", "{first:?}");
    assert!(first[1]["outcome"]["created"].as_array().is_some_and(|made| made.len() >= 6), "{}", first[1]);
    for doc in ["One.", "Two."] {
        edit(&world, doc, None).await;
    }
    mark(&world, "mark").await;
    let other = r#"mutation { proposeEdit(input: {programId: "made", edits: [{addModule: {name: "more"}}]}) { outcome { __typename } } }"#;
    world.data(other, json!({})).await;
    let newest = async |world: &World| {
        let query = r#"{ world: program(name: "world") { eventCursor } made: program(name: "made") { eventCursor } }"#;
        world.data(query, json!({})).await
    };
    let before = newest(&world).await;
    let repeat = async |world: &World| {
        for ((field, request), first) in KEYED.iter().zip(&first) {
            assert_eq!(&keyed(world, field, request).await, first, "{field}");
        }
        assert_eq!(newest(world).await, before, "nothing was done");
    };
    repeat(&world).await;
    let world = world.restarted(&[]).await;
    repeat(&world).await;
}

/// A name that a request was made with may be another program's by now.
#[tokio::test]
async fn a_repeated_rename_or_deletion_is_answered_as_the_first() {
    const RENAME: &str = r#"mutation { made: updateProgram(input: {programId: "old", name: "new", doc: "Of then.", idempotencyKey: "rename"}) {
        program { programId name doc rootHash revision { number } }
    } }"#;
    const DELETE: &str = r#"mutation { made: deleteProgram(input: {programId: "gone", idempotencyKey: "delete"}) { deleted } }"#;
    const OTHERS: &str =
        r#"{ old: program(name: "old") { rootHash doc } gone: program(name: "gone") { rootHash } }"#;
    let world = World::new().await;
    for name in ["old", "gone"] {
        world.create(name, "module m\n").await;
    }
    let first = [world.data(RENAME, json!({})).await, world.data(DELETE, json!({})).await];
    assert_eq!(first[0]["made"]["program"]["name"], "new");
    assert_eq!(first[1]["made"]["deleted"], true);
    for name in ["old", "gone"] {
        world.create(name, "module other\n").await;
    }
    let since = r#"mutation {
        proposeEdit(input: {programId: "new", edits: [{addModule: {name: "more"}}]}) { outcome { __typename } }
        updateProgram(input: {programId: "new", name: "newer", doc: "Of now."}) { program { name } }
    }"#;
    world.data(since, json!({})).await;
    let others = world.data(OTHERS, json!({})).await;
    let repeat = async |world: &World| {
        assert_eq!([world.data(RENAME, json!({})).await, world.data(DELETE, json!({})).await], first);
        assert_eq!(world.data(OTHERS, json!({})).await, others, "they are left alone");
        for other in [
            r#"mutation { updateProgram(input: {programId: "old", name: "else", idempotencyKey: "rename"}) { program { name } } }"#,
            r#"mutation { deleteProgram(input: {programId: "old", idempotencyKey: "rename"}) { deleted } }"#,
        ] {
            let answer = world.ask(other, json!({})).await;
            assert_eq!(answer["errors"][0]["extensions"]["code"], "IDEMPOTENCY_MISMATCH", "{answer}");
        }
    };
    repeat(&world).await;
    let world = world.restarted(&[]).await;
    repeat(&world).await;
    world.data(r#"mutation { deleteProgram(input: {programId: "newer"}) { deleted } }"#, json!({})).await;
    repeat(&world).await;
}
