//! `/mcp` over real sockets: who may come in, who may do what, and every revision of the protocol.

use lmlang_engine::Scope;
use serde_json::{Value, json};

use crate::access::token;
use crate::real::{Real, start_guarded, start_real};
use crate::server::Reply;

const TEXT: &str = "module m\n\npub func f (n: i64) -> (i64) { return (add.i64 n, n) }\n\nfunc forever () -> () {\n  loop L () { continue L }\n}\n";

async fn post(real: &Real, headers: &str, body: &Value) -> Reply {
    let headers =
        format!("content-type: application/json\r\naccept: application/json, text/event-stream\r\n{headers}");
    real.server.send("POST /mcp", &headers, &body.to_string()).await
}

/// The result of a call of a tool.
async fn call(real: &Real, headers: &str, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let reply = post(real, headers, &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.json()["result"].take()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[tokio::test]
async fn every_revision_is_spoken_at_one_address() {
    let real = start_real().await;
    real.program("p", TEXT).await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let reply = post(&real, "", &body).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(reply.json()["result"]["protocolVersion"], version);
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        let headers = format!("mcp-protocol-version: {version}\r\n");
        let result =
            call(&real, &headers, "simulate", json!({ "program": "p", "function": "m::f", "args": [4] }))
                .await;
        assert!(text(&result).contains("returned i64:8"), "{result}");
    }
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "program", "arguments": { "action": "list" }, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: program\r\n";
    let reply = post(&real, headers, &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert!(text(&reply.json()["result"]).contains("1 program"), "{}", reply.text());
}

#[tokio::test]
async fn pages_of_elsewhere_and_other_hosts_stay_outside() {
    let real = start_real().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    for headers in
        ["origin: https://evil.example\r\n", "host: evil.example\r\n", "sec-fetch-site: cross-site\r\n"]
    {
        assert_eq!(post(&real, headers, &body).await.status, 403, "{headers}");
    }
    let own = format!("origin: http://{}\r\n", real.server.address);
    let reply = post(&real, &own, &body).await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.json()["result"]["tools"].as_array().map(Vec::len), Some(15));
    // A page may send text without asking first.
    let reply = real.server.send("POST /mcp", "content-type: text/plain\r\n", &body.to_string()).await;
    assert_eq!(reply.status, 415, "{}", reply.text());
    assert_eq!(real.server.send("GET /mcp", "accept: text/event-stream\r\n", "").await.status, 405);
}

#[tokio::test]
async fn a_token_says_what_may_be_done() {
    let real = start_guarded().await;
    real.program("p", TEXT).await;
    real.program("q", TEXT).await;
    let admin = token(&real, "admin", Scope::Admin, None).await;
    let reader = token(&real, "reader", Scope::Read, Some("p")).await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    let reply = post(&real, "", &body).await;
    assert_eq!((reply.status, reply.header("www-authenticate")), (401, Some("Bearer")));
    let wrong = format!("authorization: Bearer lml_abcdefgh_{}\r\n", "x".repeat(43));
    assert_eq!(post(&real, &wrong, &body).await.status, 401);

    let listed = call(&real, &reader, "program", json!({ "action": "list" })).await;
    assert!(text(&listed).contains("p @ r1") && !text(&listed).contains("q @ r1"), "{listed}");
    let hidden = call(&real, &reader, "program", json!({ "action": "overview", "program": "q" })).await;
    assert_eq!(hidden["structuredContent"]["errors"][0]["code"], "NOT_FOUND");
    let edits = json!([{ "renameFunction": { "ref": "m::f", "name": "g" } }]);
    let edit = json!({ "program": "p", "base_revision": "r1", "edits": edits });
    for (tool, arguments) in [
        ("propose_structured_edit", edit.clone()),
        ("undo", json!({ "program": "p" })),
        ("simulate", json!({ "program": "p", "function": "m::f", "args": [4] })),
        (
            "graphql",
            json!({ "action": "run", "document": "mutation { undo(input: {programId: \"p\"}) { outcome { __typename } } }" }),
        ),
    ] {
        let result = call(&real, &reader, tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        assert_eq!(result["structuredContent"]["errors"][0]["code"], "FORBIDDEN", "{tool}: {result}");
    }
    let done = call(&real, &admin, "propose_structured_edit", edit).await;
    assert_eq!(done["isError"], false, "{done}");
    let history = call(&real, &reader, "history", json!({ "program": "p" })).await;
    assert!(text(&history).contains("r2 edit by admin"), "{history}");
}

/// CUE-09 over HTTP: what is no request is answered in the words of JSON-RPC, and the next one works.
#[tokio::test]
async fn cue_09_rubbish_is_answered_in_json_rpc() {
    let real = start_real().await;
    let json = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
    for (body, status, code, data) in [
        ("{\n  \"id\" 1\n}", 400, -32700, json!({ "position": 9, "expected": "`:`" })),
        ("", 400, -32700, json!({ "position": 0, "expected": "a value" })),
        (
            "[]",
            400,
            -32600,
            json!({ "field": "request", "expected": "an object; batches are not supported" }),
        ),
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, 400, -32600, json!({ "field": "jsonrpc" })),
    ] {
        let reply = real.server.send("POST /mcp", json, body).await;
        assert_eq!(reply.status, status, "{body}: {}", reply.text());
        let error = reply.json()["error"].clone();
        assert_eq!(error["code"], code, "{body}: {error}");
        for (name, expect) in data.as_object().expect("an object") {
            assert_eq!(&error["data"][name], expect, "{body}: {error}");
        }
    }
    let text = real.server.send("POST /mcp", "content-type: text/plain\r\n", "{}").await;
    assert_eq!((text.status, &text.json()["error"]["code"]), (415, &json!(-32600)), "{}", text.text());
    assert!(call(&real, "", "program", json!({ "action": "list" })).await["content"].is_array());
}

#[tokio::test]
async fn limits_are_those_of_graphql() {
    let real = start_real().await;
    let aliases: String = (0..200).map(|index| format!("a{index}: __typename ")).collect();
    let document = format!("{{ {aliases} }}");
    let result = call(&real, "", "graphql", json!({ "action": "run", "document": document })).await;
    assert_eq!(result["structuredContent"]["errors"][0]["code"], "LIMIT_EXCEEDED", "{result}");
    let told = real.data("{ serverInfo { limits } }", json!({})).await["serverInfo"]["limits"].clone();
    for (name, limit) in [("toolTokens", 4000), ("toolTokensMost", 20_000), ("toolReadContextPerMinute", 10)]
    {
        assert_eq!(told[name], limit, "{told}");
    }
}
