//! Lines of JSON-RPC: MCP and plain methods on the same wire.

use serde_json::{Value, json};

use crate::wire::Wire;
use crate::world::World;

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// CUE-01: the first revision is spoken, and so are those after it.
#[tokio::test]
async fn cue_01_every_revision_with_a_handshake_is_spoken() {
    let world = World::new().await;
    for version in VERSIONS {
        let mut wire = Wire::open(&world);
        let answer = wire.initialize(version).await;
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "lmlang");
        let list = wire.ask("tools/list", json!({})).await;
        assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(15), "{list}");
        wire.close().await;
    }
}

#[tokio::test]
async fn the_newest_revision_needs_no_handshake() {
    let world = World::with_shop().await;
    let mut wire = Wire::open(&world);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = wire.ask("server/discover", json!({ "_meta": meta })).await;
    let versions = &found["result"]["supportedVersions"];
    assert!(versions.as_array().is_some_and(|all| all.contains(&json!("2026-07-28"))), "{found}");
    let arguments = json!({ "action": "list" });
    let called =
        wire.ask("tools/call", json!({ "name": "program", "arguments": arguments, "_meta": meta })).await;
    assert_eq!(called["result"]["resultType"], "complete", "{called}");
    wire.close().await;
}

/// CUE-04: a tool is a method as well, with equal results.
#[tokio::test]
async fn cue_04_methods_and_tools_give_equal_results() {
    let world = World::with_shop().await;
    for version in [None, Some("2024-11-05"), Some("2025-11-25")] {
        let mut wire = Wire::open(&world);
        if let Some(version) = version {
            wire.initialize(version).await;
        }
        for (name, arguments) in [
            ("program", json!({ "action": "overview", "program": "shop" })),
            ("retrieve_subgraph", json!({ "program": "shop" })),
            ("diff", json!({ "program": "shop", "from": "r1", "to": "r1" })),
            ("read_doc", json!({ "path": "a.md" })),
            ("history", json!({ "program": "shp" })),
        ] {
            let method = wire.ask(name, arguments.clone()).await;
            let tool = wire.tool(name, arguments).await;
            assert_eq!(method["result"], tool["result"], "{name} {version:?}");
            assert!(method["result"]["content"][0]["text"].is_string(), "{method}");
        }
        wire.close().await;
    }
}

/// CUE-05, CUE-06: answers have `jsonrpc`, `id` and either `result` or `error` with code, message and data.
fn is_well_formed(answer: &Value) -> bool {
    let error = &answer["error"];
    answer["jsonrpc"] == "2.0"
        && answer.get("id").is_some()
        && (answer.get("result").is_some() != answer.get("error").is_some())
        && (error.is_null()
            || (error["code"].is_i64() && error["message"].is_string() && error["data"].is_object()))
}

/// CUE-09, CUE-10, CUE-20: every row of the error table, and the next request works.
#[tokio::test]
async fn cue_09_10_20_what_is_wrong_with_a_line_is_told_and_the_next_works() {
    let world = World::with_shop().await;
    let mut wire = Wire::open(&world);
    let keys: [(&str, i64, &str, &[&str]); 12] = [
        (r#"{"jsonrpc":"#, -32700, "Parse Error", &["position", "expected"]),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"program" "params":{}}"#,
            -32700,
            "Parse Error",
            &["position", "expected"],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"raed_doc"}"#,
            -32601,
            "Method Not Found",
            &["method", "available"],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#,
            -32601,
            "Method Not Found",
            &["method", "available"],
        ),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"program"}]"#,
            -32600,
            "Invalid Request",
            &["field", "expected", "actual"],
        ),
        (r#"5"#, -32600, "Invalid Request", &["field", "expected", "actual"]),
        (r#"{"id":1,"method":"program"}"#, -32600, "Invalid Request", &["field", "expected", "actual"]),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"program"}"#,
            -32600,
            "Invalid Request",
            &["field", "expected", "actual"],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            -32600,
            "Invalid Request",
            &["field", "expected", "actual"],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"program","params":[]}"#,
            -32602,
            "Invalid Params",
            &["method", "reason"],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"read_doc","params":{"path":5}}"#,
            1010,
            "Validation Error",
            &["field", "expected", "actual"],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"retrieve_subgraph","params":{"program":"shop","max_tokens":9}}"#,
            1003,
            "Token Limit Exceeded",
            &["current_size", "limit", "action"],
        ),
    ];
    for (line, code, message, names) in keys {
        wire.line(line).await;
        let answer = wire.read().await;
        assert!(is_well_formed(&answer), "{line}: {answer}");
        let error = &answer["error"];
        assert_eq!(
            (error["code"].as_i64(), error["message"].as_str()),
            (Some(code), Some(message)),
            "{line}: {answer}"
        );
        for name in names {
            assert!(error["data"].get(*name).is_some(), "{line}: {name}: {answer}");
        }
        let next = wire.ask("program", json!({ "action": "list" })).await;
        assert!(is_well_formed(&next) && next["result"]["isError"] == false, "{next}");
    }
    wire.line(r#"{"jsonrpc":"#).await;
    let answer = wire.read().await;
    assert_eq!((&answer["id"], &answer["error"]["data"]["position"]), (&Value::Null, &json!(11)));
    wire.line(r#"{"jsonrpc":"2.0","id":"x","method":"raed_doc"}"#).await;
    let answer = wire.read().await;
    assert_eq!((&answer["id"], &answer["error"]["data"]["method"]), (&json!("x"), &json!("raed_doc")));
    assert_eq!(answer["error"]["data"]["suggestion"], "Did you mean 'read_doc'?");
    wire.close().await;
}

/// An error of the call itself names the program that it is about, if that is a name.
#[tokio::test]
async fn the_program_of_a_wrong_call_is_named() {
    let world = World::with_shop().await;
    let mut wire = Wire::open(&world);
    let endless = "x".repeat(10_000);
    for (program, head) in
        [("shop", "; program shop @ -\nerror VALIDATION_ERROR"), (endless.as_str(), "; program * @ -\n")]
    {
        let answer = wire.tool("history", json!({ "program": program, "revision": 5 })).await;
        let text = answer["result"]["content"][0]["text"].as_str().expect("there is a text");
        assert!(text.starts_with(head), "{text}");
        let named = &answer["result"]["structuredContent"]["program"];
        assert_eq!(named == "shop", program == "shop", "{named}");
    }
    wire.close().await;
}

/// A tool that there is not is told with those that there are, before a handshake and after one.
#[tokio::test]
async fn a_tool_that_there_is_not_is_told() {
    let world = World::with_shop().await;
    let mut wire = Wire::open(&world);
    for handshake in [false, true] {
        if handshake {
            wire.initialize("2025-11-25").await;
        }
        let answer = wire.tool("simulat", json!({})).await;
        let error = &answer["error"];
        assert_eq!(
            (&error["code"], &error["data"]["suggestion"]),
            (&json!(-32602), &json!("Did you mean 'simulate'?")),
            "{answer}"
        );
        assert_eq!(error["data"]["available"].as_array().map(Vec::len), Some(15), "{answer}");
        let answer = wire.ask("tools/call", json!({ "name": 5 })).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    wire.close().await;
}

/// CUE-08: notifications get no answer, whatever they say.
#[tokio::test]
async fn cue_08_notifications_are_not_answered() {
    let world = World::with_shop().await;
    let mut wire = Wire::open(&world);
    for method in
        ["program", "nothing", "notifications/initialized", "notifications/cancelled", "$/cancelRequest"]
    {
        wire.send(&json!({ "jsonrpc": "2.0", "method": method, "params": {} })).await;
    }
    let answer = wire.ask("program", json!({ "action": "list" })).await;
    assert_eq!(answer["id"], 1);
    assert_eq!(wire.close().await, Vec::<Value>::new());
}

/// CUE-02: answers come when they are ready, by id; what is cancelled is not answered, and ends.
#[tokio::test]
async fn cue_02_answers_come_in_any_order_and_a_call_can_be_cancelled() {
    let world = World::with_shop().await;
    let mut wire = Wire::open(&world);
    let forever = json!({
        "program": "shop", "function": "shop::forever", "trace": "none", "fuel": 10_000_000_000_u64, "timeout_ms": 60_000,
    });
    wire.send(&json!({ "jsonrpc": "2.0", "id": "long", "method": "simulate", "params": forever })).await;
    let first = wire.read().await;
    // CUE-07: progress of a method.
    assert_eq!(first["method"], "$/progress", "{first}");
    assert_eq!(
        first["params"],
        json!({ "token": "simulate", "value": { "kind": "report", "message": "running" } })
    );
    wire.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "program", "params": { "action": "list" } }))
        .await;
    let (answer, before) = wire.answer(&json!(2)).await;
    assert_eq!(answer["result"]["isError"], false);
    assert!(before.iter().all(|message| message.get("id").is_none()), "{before:?}");
    wire.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "long" } }),
    )
    .await;
    let rest = wire.close().await;
    assert!(rest.iter().all(|message| message.get("id").is_none()), "{rest:?}");
}

/// A second request with the id of one that is not answered yet is refused, with no id: both would have the same. The first one
/// is answered, and leaves its id to others; so does a call that was cancelled, but for those of MCP.
#[tokio::test]
async fn an_id_is_that_of_one_request_at_a_time() {
    let world = World::with_shop().await;
    let lists = |answer: &Value| {
        answer["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("1 program\n"))
    };
    for version in [None, Some("2025-11-25")] {
        let mut wire = Wire::open(&world);
        if let Some(version) = version {
            wire.initialize(version).await;
        }
        let call = |tool: &str, arguments: Value| {
            let params = json!({ "name": tool, "arguments": arguments });
            json!({ "jsonrpc": "2.0", "id": 50, "method": "tools/call", "params": params })
        };
        let forever = json!({
            "program": "shop", "function": "shop::forever", "trace": "none", "fuel": 10_000_000_000_u64, "timeout_ms": 3_000,
        });
        let list = json!({ "action": "list" });
        wire.send(&call("simulate", forever.clone())).await;
        wire.send(&call("program", list.clone())).await;
        let (refused, before) = wire.answer(&Value::Null).await;
        assert!(before.iter().all(|message| message.get("id").is_none()), "{before:?}");
        let error = &refused["error"];
        assert_eq!((&error["code"], &error["data"]["field"]), (&json!(-32600), &json!("id")), "{refused}");
        assert_eq!(error["data"]["actual"], "50", "{refused}");
        let (answer, _) = wire.answer(&json!(50)).await;
        assert!(answer["result"]["content"][0]["text"].is_string(), "{answer}");

        wire.send(&call("program", list.clone())).await;
        let (answer, _) = wire.answer(&json!(50)).await;
        assert!(lists(&answer), "{answer}");
        if version.is_some() {
            wire.close().await;
            continue;
        }

        wire.send(&call("simulate", forever)).await;
        let cancel = json!({ "requestId": 50 });
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel })).await;
        wire.send(&call("program", list)).await;
        let (answer, _) = wire.answer(&json!(50)).await;
        assert!(lists(&answer), "{answer}");
        wire.close().await;
    }
}

#[tokio::test]
async fn progress_and_cancellation_work_for_mcp() {
    let world = World::with_shop().await;
    let mut wire = Wire::open(&world);
    wire.initialize("2025-11-25").await;
    let forever = json!({
        "program": "shop", "function": "shop::forever", "trace": "none", "fuel": 10_000_000_000_u64, "timeout_ms": 60_000,
    });
    let params = json!({ "name": "simulate", "arguments": forever, "_meta": { "progressToken": "p1" } });
    wire.send(&json!({ "jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params })).await;
    let first = wire.read().await;
    assert_eq!(first["method"], "notifications/progress", "{first}");
    assert_eq!(
        (&first["params"]["progressToken"], &first["params"]["message"]),
        (&json!("p1"), &json!("running"))
    );
    wire.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 77 } }),
    )
    .await;
    let answer = wire.ask("ping", json!({})).await;
    assert!(answer["result"].is_object(), "{answer}");
    let rest = wire.close().await;
    assert!(rest.iter().all(|message| message.get("result").is_none()), "{rest:?}");
}
