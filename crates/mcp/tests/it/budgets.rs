//! Every tool keeps to the budget of its answer, 4,000 tokens if nobody says otherwise, or says what would be enough.

use lmlang_mcp::{RpcCode, TOOLS};
use serde_json::{Value, json};

use crate::world::World;

/// Many functions with something to tell of each: a doc, a call, a hole.
fn text(count: usize) -> String {
    let functions = (0..count).map(|index| {
        format!(
            "; What is known of number {index}.\npub func f_{index} (x: i64) -> (i64) {{\n  y = call base(x)\n  \
             z = add.i64 y, _\n  return z\n}}\n"
        )
    });
    format!(
        "module many\nfunc base (x: i64) -> (i64) {{ return (add.i64 x, 1) }}\n{}",
        functions.collect::<String>()
    )
}

/// Calls with much to tell, of every tool.
fn calls() -> Vec<(&'static str, Value)> {
    let wrong: Vec<Value> = (0..300)
        .map(|index| json!({ "renameFunction": { "ref": format!("f9{index:04}"), "name": "g" } }))
        .collect();
    let removal = |index: usize| json!({ "removeFunction": { "ref": format!("many::f_{index}") } });
    let removals: Vec<Value> = (0..300).map(removal).collect();
    let edit = |edits: &[Value]| json!({ "program": "many", "base_revision": "r1", "edits": edits, "dry_run": true });
    let more = json!({ "addText": { "module": "many", "text": text(200).replace("f_", "g_").replace("module many\n", "").replace("base", "other") } });
    let read = |view: &str| json!({ "program": "many", "of": ["many::base"], "view": view });
    vec![
        ("program", json!({ "action": "list" })),
        ("program", json!({ "action": "overview", "program": "many" })),
        ("propose_structured_edit", edit(&wrong)),
        ("propose_structured_edit", edit(&removals)),
        ("propose_structured_edit", edit(&[more])),
        ("retrieve_subgraph", json!({ "program": "many" })),
        ("retrieve_subgraph", read("calls")),
        ("retrieve_subgraph", read("impact")),
        ("search", json!({ "program": "many", "query": "known number", "limit": 200 })),
        ("search", json!({ "program": "many", "filter": { "opcode": ["ADD"] }, "limit": 200 })),
        ("verify_and_propagate", json!({ "program": "many", "scope": "full" })),
        ("simulate", json!({ "program": "many", "function": "many::base", "args": [1] })),
        ("simulate", json!({ "program": "many", "function": "many::f_7", "args": [1] })),
        ("history", json!({ "program": "many" })),
        ("history", json!({ "program": "many", "revision": "r2" })),
        ("diff", json!({ "program": "many", "from": "r1", "to": "r2" })),
        ("undo", json!({ "program": "many", "dry_run": true })),
        ("checkpoint", json!({ "program": "many", "action": "list" })),
        ("read_context", json!({ "program": "many", "focus": ["many"] })),
        ("read_doc", json!({ "path": "a.md" })),
        ("session", json!({ "action": "list" })),
        ("run", json!({ "action": "list" })),
        (
            "graphql",
            json!({ "action": "run", "document": "{ program(name: \"many\") { text functions(first: 200) { nodes { path signature doc } } } }" }),
        ),
        ("graphql", json!({ "action": "type", "name": "Program" })),
        ("graphql", json!({ "action": "find", "search": "program" })),
    ]
}

#[tokio::test]
async fn every_tool_keeps_to_its_budget() {
    let world = World::new().await;
    world.says("program", json!({ "action": "create", "name": "many", "text": text(300) })).await;
    let more = "func more (x: i64) -> (i64) { return (mul.i64 x, _) }\n";
    let more: String = (0..100).map(|index| more.replace("more", &format!("more_{index}"))).collect();
    let edits = json!([{ "addText": { "module": "many", "text": more } }]);
    world
        .says("propose_structured_edit", json!({ "program": "many", "base_revision": "r1", "edits": edits }))
        .await;
    for index in 0..40 {
        let name = format!("a checkpoint with a long name, the one with the number {index}");
        world.says("checkpoint", json!({ "program": "many", "action": "create", "name": name })).await;
    }
    let calls = calls();
    for tool in TOOLS {
        assert!(calls.iter().any(|(name, _)| *name == tool.name), "{} is not asked", tool.name);
    }
    let (mut told, mut cut, mut refused) = (0, 0, 0);
    for (tool, arguments) in calls {
        for most in [None, Some(1_000), Some(250), Some(60)] {
            let mut arguments = arguments.clone();
            if let Some(most) = most {
                arguments["max_tokens"] = most.into();
            }
            let limit: u64 = most.unwrap_or(4_000);
            match world.try_call(tool, arguments.clone()).await {
                Ok(done) => {
                    told += 1;
                    cut += usize::from(done.data()["truncated"] == true);
                    assert!(done.tokens() <= limit, "{tool} {arguments}: {} of {limit}", done.tokens());
                }
                Err(error) => {
                    refused += 1;
                    assert_eq!(error.code, RpcCode::TokenLimitExceeded, "{tool} {arguments}: {error}");
                    let size = error.data["current_size"].as_u64();
                    assert!(size.is_some_and(|size| size > limit), "{tool} {arguments}: {error}");
                    assert!(limit < 1_000, "{tool} {arguments}: {error}");
                }
            }
        }
    }
    assert!(told > 50 && cut > 20 && refused > 5, "{told} {cut} {refused}");
}
