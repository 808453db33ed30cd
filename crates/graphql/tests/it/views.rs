//! A view shows one moment of its program, whatever happens meanwhile.

use lmlang_engine::Selector;
use lmlang_graphql::schema::view::View;
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn the_past_has_the_checkpoints_of_then() {
    let world = World::new().await;
    let query = r#"query($at: String) { program(name: "world", at: $at) {
        eventCursor history { nodes { number } } checkpoints { totalCount nodes { name } } branches { nodes { head { number } } }
    } }"#;
    for (at, cursor, head, checkpoints) in
        [("r1", "r1", 1, json!([])), ("r3", "r3", 3, json!([{"name": "start"}]))]
    {
        let seen = world.data(query, json!({ "at": at })).await["program"].take();
        assert_eq!(seen["eventCursor"], cursor);
        assert_eq!(seen["branches"]["nodes"][0]["head"]["number"], head, "{at}");
        assert_eq!(seen["checkpoints"]["nodes"], checkpoints, "{at}");
        assert_eq!(seen["history"]["nodes"][0]["number"], head, "{at}");
    }
    let delete = r#"mutation { deleteCheckpoint(input: {programId: "world", name: "start"}) { deleted } }"#;
    world.data(delete, json!({})).await;
    let now = world.data(query, json!({})).await["program"].take();
    assert_eq!((&now["checkpoints"]["totalCount"], &now["eventCursor"]), (&json!(0), &json!("r4")));
    let then = world.data(query, json!({"at": "r3"})).await["program"].take();
    assert_eq!(then["checkpoints"]["totalCount"], 1);
}

#[tokio::test]
async fn a_view_of_the_head_stays_as_it_was() {
    let world = World::new().await;
    let open = world.engine.find(&Selector::Name("world".to_owned())).await.expect("it is there");
    let view = View::head(&world.engine, open);
    let change = r#"mutation {
        deleteCheckpoint(input: {programId: "world", name: "start"}) { deleted }
        undo(input: {programId: "world"}) { outcome { __typename } }
    }"#;
    world.data(change, json!({})).await;
    assert_eq!((view.revision().entry.number, view.newest_entry()), (3, 3));
    assert_eq!(view.as_head().map(|head| head.checkpoints.iter().len()), Some(1));
}

/// A dry run has made no revision, so nothing below it names one.
#[tokio::test]
async fn a_dry_run_names_no_revision() {
    let world = World::new().await;
    let program = "program {
        revision { number } eventCursor history(first: 1) { nodes { number } } branches { nodes { head { number } } }
        checkpoints { nodes { name revision { number } } } function(name: \"world::total\") { provenance { actor { name } } }
    }";
    let query = format!(
        r#"mutation {{
            edit: proposeEdit(input: {{programId: "world", dryRun: true, edits: [{{setDoc: {{ref: "world::total", doc: "x"}}}}]}}) {{
                outcome {{ ... on EditApplied {{ {program} }} }}
            }}
            undo(input: {{programId: "world", dryRun: true}}) {{ outcome {{ ... on RevisionMade {{ {program} }} }} }}
        }}"#
    );
    let seen = world.data(&query, json!({})).await;
    for outcome in ["edit", "undo"] {
        let expected = json!({
            "revision": null, "eventCursor": "r3", "history": {"nodes": [{"number": 3}]},
            "branches": {"nodes": [{"head": {"number": 3}}]},
            "checkpoints": {"nodes": [{"name": "start", "revision": {"number": 1}}]},
            "function": {"provenance": null},
        });
        assert_eq!(seen[outcome]["outcome"]["program"], expected, "{outcome}");
    }
}

/// What comes or goes between two pages moves nothing else.
#[tokio::test]
async fn pages_go_on_where_they_were() {
    let world = World::new().await;
    let checkpoint = |name: &str| {
        format!(
            r#"mutation {{ createCheckpoint(input: {{programId: "world", name: "{name}"}}) {{ checkpoint {{ name }} }} }}"#
        )
    };
    let query = r#"query($after: String, $functions: String) { program(name: "world") {
        checkpoints(first: 1, after: $after) { nodes { name } pageInfo { endCursor } }
        modules(first: 1) { nodes { functions(first: 1, after: $functions) { nodes { name } pageInfo { endCursor } } } }
    } }"#;
    let before = world.data(query, json!({})).await["program"].take();
    assert_eq!(before["checkpoints"]["nodes"], json!([{"name": "start"}]));
    let functions = &before["modules"]["nodes"][0]["functions"];
    assert_eq!(functions["nodes"], json!([{"name": "added"}]));
    for name in ["a", "z"] {
        world.data(&checkpoint(name), json!({})).await;
    }
    let edit = r#"mutation { proposeEdit(input: {programId: "world", edits: [
        {addText: {module: "world", text: "func aaa () -> () pure { return }"}}, {removeFunction: {ref: "world::added"}}
    ]}) { outcome { __typename } } }"#;
    assert_eq!(world.data(edit, json!({})).await["proposeEdit"]["outcome"]["__typename"], "EditApplied");
    let cursors = json!({
        "after": before["checkpoints"]["pageInfo"]["endCursor"],
        "functions": functions["pageInfo"]["endCursor"],
    });
    let after = world.data(query, cursors).await["program"].take();
    assert_eq!(after["checkpoints"]["nodes"], json!([{"name": "z"}]));
    assert_eq!(after["modules"]["nodes"][0]["functions"]["nodes"], json!([{"name": "far"}]));
}

#[tokio::test]
async fn what_is_on_a_branch_is_found_by_its_id_whatever_the_branch_is_called() {
    let world = World::new().await;
    for name in ["feature/x", "100%"] {
        let create = r#"mutation($name: String!) {
            createBranch(input: {programId: "world", name: $name}) { branch { name } }
        }"#;
        world.data(create, json!({ "name": name })).await;
        let query = r#"query($name: String) { program(name: "world", at: $name) {
            id branch function(name: "world::total") { id body { id } nodes(first: 1) { nodes { id } } }
        } }"#;
        let seen = world.data(query, json!({ "name": name })).await["program"].take();
        assert_eq!(seen["branch"], name);
        let function = &seen["function"];
        let ids =
            [&seen["id"], &function["id"], &function["body"]["id"], &function["nodes"]["nodes"][0]["id"]];
        let found =
            world.data("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", json!({ "ids": ids })).await;
        let found: Vec<_> = found["nodes"].as_array().into_iter().flatten().map(|node| &node["id"]).collect();
        assert_eq!(found, ids, "{name}");
        let query = "query($id: ID!) { program(id: $id) { branch } }";
        assert_eq!(world.data(query, json!({ "id": seen["id"] })).await["program"]["branch"], name);
    }
}
