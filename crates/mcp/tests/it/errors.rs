//! Errors that teach: the code, the place, and what would be right.

use lmlang_mcp::RpcCode;
use serde_json::{Value, json};

use crate::world::World;

async fn invalid(world: &World, tool: &str, arguments: Value, field: &str) {
    let error = world.try_call(tool, arguments).await.expect_err("it is wrong");
    assert_eq!(error.code, RpcCode::ValidationError);
    assert_eq!(error.data["field"], field, "{}", error.data);
    for name in ["expected", "actual", "recovery"] {
        assert!(error.data[name].is_string(), "{}", error.data);
    }
}

/// CUE-20: 1010 with field, expected and actual.
#[tokio::test]
async fn cue_20_arguments_that_do_not_fit_are_named() {
    let world = World::with_shop().await;
    invalid(&world, "program", json!({ "action": "overview" }), "program").await;
    invalid(&world, "program", json!({ "action": "lst" }), "action").await;
    invalid(&world, "graphql", json!({}), "action").await;
    invalid(&world, "retrieve_subgraph", json!({ "program": "shop", "hops": 4 }), "hops").await;
    invalid(&world, "propose_structured_edit", json!({ "program": "shop", "edits": [{}] }), "base_revision")
        .await;
    let edits = |edits: Value| json!({ "program": "shop", "base_revision": "r1", "edits": edits });
    invalid(&world, "propose_structured_edit", edits(json!([])), "edits").await;
    invalid(&world, "propose_structured_edit", edits(json!([{}])), "edits[0]").await;
    invalid(&world, "propose_structured_edit", edits(json!([{ "addTxt": {} }])), "edits[0]").await;
    invalid(&world, "retrieve_subgraph", json!({ "program": "shop", "cursor": "x" }), "cursor").await;
}

/// A word that is missing is told with the words that there are.
#[tokio::test]
async fn a_missing_word_is_told_with_those_that_there_are() {
    let world = World::new().await;
    let of_program = json!({ "program": "shop" });
    for (tool, arguments, word) in [
        ("checkpoint", of_program.clone(), "restore"),
        ("program", of_program, "overview"),
        ("session", json!({}), "list"),
        ("graphql", json!({}), "find"),
    ] {
        let error = world.try_call(tool, arguments).await;
        let data = error.expect_err("a word is missing").data;
        let expected = data["expected"].as_str().expect("it is a text");
        assert_eq!(data["field"], "action", "{tool}: {data}");
        assert!(expected.starts_with("one of ") && expected.contains(word), "{tool}: {expected}");
    }
}

#[tokio::test]
async fn all_mistakes_of_an_edit_are_told_with_their_places() {
    let world = World::with_shop().await;
    let text = "pub func f (x: i64) -> (i64) {\n  a = ad.i64 x, 1\n  return (mul.i64 y, 2)\n}";
    let edits = json!([{ "addText": { "module": "shop", "text": text } }, { "renameFunction": { "ref": "f999", "name": "g" } }]);
    let done = world
        .call("propose_structured_edit", json!({ "program": "shop", "base_revision": "r1", "edits": edits }))
        .await;
    assert!(done.is_error());
    assert_eq!(done.data()["outcome"], "rejected");
    assert!(done.text().contains("rejected, nothing is changed"), "{}", done.text());
    let errors = done.data()["errors"].as_array().expect("there are some");
    assert!(errors.len() >= 2, "{}", done.text());
    let first = &errors[0];
    assert_eq!((&first["code"], &first["line"]), (&json!("UNKNOWN_OP"), &json!(2)), "{first}");
    assert!(first["candidates"].as_array().is_some_and(|near| near.contains(&json!("add.i64"))), "{first}");
}

#[tokio::test]
async fn what_others_changed_meanwhile_is_a_conflict() {
    let world = World::with_shop().await;
    let edit = |text: &str| {
        json!({
            "program": "shop", "base_revision": "r1",
            "edits": [{ "replaceFunctionText": { "ref": "shop::twice", "text": text } }],
        })
    };
    world
        .says(
            "propose_structured_edit",
            edit("pub func twice (x: i64) -> (i64) pure { return (mul.i64 x, 3) }"),
        )
        .await;
    let done = world
        .call(
            "propose_structured_edit",
            edit("pub func twice (x: i64) -> (i64) pure { return (mul.i64 x, 4) }"),
        )
        .await;
    assert!(done.is_error(), "{}", done.text());
    assert_eq!((&done.data()["outcome"], &done.data()["revision"]), (&json!("conflict"), &json!("r2")));
    assert!(done.text().contains("what came after r1; read r2 and propose again"), "{}", done.text());
    for (label, value) in [("base", 2), ("there now", 3), ("yours", 4)] {
        let line = done.text().lines().find(|line| line.starts_with(&format!("  {label}: ")));
        assert!(line.is_some_and(|line| line.ends_with(&format!("const.i64 {value}"))), "{}", done.text());
    }
}

/// What is in the way of a change is told as what it is, not as the doing of others.
#[tokio::test]
async fn the_reason_of_a_conflict_is_told() {
    let world = World::with_shop().await;
    let text = "pub func twice (x: i64) -> (i64) pure { return x }";
    let edits = |hash: &str| json!([{ "replaceFunctionText": { "ref": "shop::twice", "ifHash": hash, "text": text } }]);
    let edit = json!({ "program": "shop", "base_revision": "r1", "edits": edits("0123456789abcdef") });
    let done = world.call("propose_structured_edit", edit).await;
    let told = "conflict, nothing is changed: a text has another hash than ifHash says; read it at r1";
    assert!(done.text().contains(told), "{}", done.text());
    let edits = json!([{ "renameFunction": { "ref": "shop::pair", "name": "two" } }]);
    let edit = json!({ "program": "shop", "base_revision": "r1", "edits": edits });
    world.says("propose_structured_edit", edit).await;
    let done = world.call("undo", json!({ "program": "shop", "expected_head": "r1" })).await;
    let told = "conflict, nothing is changed; read r2 and ask again\nconflict STALE_BASE main: the head is at r2, not at r1";
    assert!(done.text().contains(told), "{}", done.text());
}

/// What a text begins with is the next base, also where the base was named otherwise.
#[tokio::test]
async fn the_base_of_what_is_not_done_is_told_by_its_number() {
    let world = World::with_shop().await;
    for (of, dry_run) in [("shop::twice", false), ("shop::forever", true)] {
        let edits = json!([{ "removeFunction": { "ref": of } }]);
        let edit = json!({ "program": "shop", "base_revision": "main", "edits": edits, "dry_run": dry_run });
        let done = world.call("propose_structured_edit", edit).await;
        assert_eq!(done.is_error(), !dry_run, "{}", done.text());
        assert!(done.text().starts_with("; program shop @ r1\n"), "{}", done.text());
        assert!(!done.text().contains("did you mean"), "{}", done.text());
    }
}

/// Fields and values that there are stand in the text, not only in the data.
#[tokio::test]
async fn what_is_known_is_told() {
    let world = World::with_shop().await;
    let edit = |edit: Value| json!({ "program": "shop", "base_revision": "r1", "edits": [edit] });
    let done = world
        .call("propose_structured_edit", edit(json!({ "addText": { "moduleName": "shop", "text": "" } })))
        .await;
    assert!(done.text().contains("known: module, text"), "{}", done.text());
    let public = json!({ "setVisibility": { "ref": "shop::twice", "visibility": "public" } });
    let done = world.call("propose_structured_edit", edit(public)).await;
    assert!(done.text().contains("did you mean: PUBLIC"), "{}", done.text());
    let done = world.call("search", json!({ "program": "shop", "filter": { "opcode": ["mul"] } })).await;
    assert!(done.text().ends_with("did you mean: MUL"), "{}", done.text());
}

#[tokio::test]
async fn a_struct_is_not_written_in_json() {
    let world = World::with_shop().await;
    let text = "type Item = struct { name: string, tags: array<i64> }\nfunc first (item: Item) -> (i64) {\n  \
                return (array.get<i64> (struct.get Item.tags item), 0)\n}";
    let add = json!({ "addText": { "module": "shop", "text": text } });
    let edit = json!({ "program": "shop", "base_revision": "r1", "edits": [add] });
    let done = world.call("propose_structured_edit", edit).await;
    assert!(!done.is_error(), "{}", done.text());
    let run =
        json!({ "program": "shop", "function": "shop::first", "args": [{ "name": "tea", "tags": [1] }] });
    let done = world.call("simulate", run).await;
    let example = "must be a `Item` in the text form, such as `Item{name: \"text\", tags: [1]}`";
    assert!(done.text().contains(example), "{}", done.text());
}

#[tokio::test]
async fn near_names_are_told_for_what_there_is_not() {
    let world = World::with_shop().await;
    let done = world.call("program", json!({ "action": "overview", "program": "shp" })).await;
    assert!(done.is_error());
    assert_eq!(done.data()["errors"][0]["code"], "NOT_FOUND");
    assert!(done.text().contains("did you mean: shop"), "{}", done.text());
    let done =
        world.call("simulate", json!({ "program": "shop", "function": "shop::pairs", "args": [1] })).await;
    assert!(done.is_error() && done.text().contains("pair"), "{}", done.text());
}

#[tokio::test]
async fn what_is_not_there_yet_says_so() {
    let world = World::new().await;
    for (tool, arguments) in
        [("read_doc", json!({ "path": "a.md" })), ("read_context", json!({ "query": "errors" }))]
    {
        let done = world.call(tool, arguments).await;
        assert!(done.is_error(), "{tool}");
        assert_eq!(done.data()["errors"][0]["code"], "UNSUPPORTED", "{tool}");
    }
}

/// CUE-19, CUE-68: 1009 with limit, window and how long to wait, each tool as often as it may be called.
#[tokio::test]
async fn cue_19_68_a_call_above_the_rate_is_refused() {
    for (tool, arguments, limit) in
        [("read_doc", json!({ "path": "a.md" }), 30), ("read_context", json!({ "query": "errors" }), 10)]
    {
        let world = World::new().await;
        for _ in 0..limit {
            world.call(tool, arguments.clone()).await;
        }
        let error = world.try_call(tool, arguments).await.expect_err("it is one too many");
        assert_eq!(error.code, RpcCode::RateLimited);
        assert_eq!(
            (&error.data["limit"], &error.data["window_seconds"]),
            (&json!(limit), &json!(60)),
            "{tool}"
        );
        assert!(error.data["retry_after_seconds"].as_u64().is_some_and(|wait| (1..=60).contains(&wait)));
        world.says("program", json!({ "action": "list" })).await;
    }
}

/// CUE-13: 1003 with the size, the limit and what to do.
#[tokio::test]
async fn cue_13_an_answer_that_does_not_fit_at_all_is_refused() {
    let world = World::with_shop().await;
    let arguments = json!({ "program": "shop", "max_tokens": 20 });
    let error = world.try_call("retrieve_subgraph", arguments).await.expect_err("it does not fit");
    assert_eq!(error.code, RpcCode::TokenLimitExceeded);
    assert_eq!(error.data["limit"], 20);
    assert!(error.data["current_size"].as_u64().is_some_and(|size| size > 20));
    assert!(error.data["action"].is_string());
}

/// CUE-74: a key is masked in what is read and in what is refused.
#[tokio::test]
async fn cue_74_a_planted_key_is_masked() {
    let world = World::new().await;
    let key = format!("sk-{}", "a1B2".repeat(10));
    let text = format!("module m\nfunc f () -> (string) {{ return (const.string \"{key}\") }}\n");
    world.says("program", json!({ "action": "create", "name": "m", "text": text })).await;
    let read = world.says("retrieve_subgraph", json!({ "program": "m" })).await;
    assert!(read.contains("[masked]") && !read.contains(&key), "{read}");
    let refused = world.call("program", json!({ "action": "overview", "program": key })).await;
    let told = format!("{}{}", refused.text(), refused.data());
    assert!(!told.contains(&key), "{told}");
}
