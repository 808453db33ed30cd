//! Programs as modules over HTTP: for those who may read them, at any revision; and modules as programs.

use std::sync::Arc;
use std::time::Duration;

use lmlang_engine::{Engine, Scope};
use lmlang_graphql::error::{ApiError, Code};
use lmlang_graphql::schema::wasm;
use lmlang_server::{Config, Hooks, Import, Module};
use serde_json::json;
use tokio::sync::Notify;

use crate::access::token;
use crate::real::{Real, start_guarded_over};
use crate::server::{start, start_with};

const TEXT: &str = "module m\n\nexport \"f\" func f (n: i64) -> (i64) { return (add.i64 n, n) }\n";

async fn served() -> Real {
    let hooks = |engine: &Engine| {
        let (engine, importing) = (engine.clone(), engine.clone());
        let module: Module = Arc::new(move |grant, request| {
            let engine = engine.clone();
            Box::pin(async move { wasm::module(&engine, &grant, &request).await })
        });
        let import: Import = Arc::new(move |caller, request, watch| {
            let engine = importing.clone();
            Box::pin(async move { wasm::import(&engine, &caller, request, watch).await })
        });
        Hooks { module, import, ..Hooks::default() }
    };
    let real = start_guarded_over(hooks).await;
    real.program("p", TEXT).await;
    real
}

async fn check(real: &Real, headers: &str, path: &str, status: u16, expect: &str) {
    let reply = real.server.send(&format!("GET {path}"), headers, "").await;
    assert_eq!(reply.status, status, "{path}: {}", reply.text());
    assert!(reply.text().contains(expect), "{path}: {}", reply.text());
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let kind = if status == 200 { "application/wasm" } else { "application/json" };
    assert!(reply.header("content-type").is_some_and(|found| found.starts_with(kind)), "{path}");
}

#[tokio::test]
async fn a_program_is_a_module() {
    let real = served().await;
    check(&real, "", "/programs/p/wasm", 200, "\0asm").await;
    check(&real, "", "/programs/p/wasm?at=r1&contracts=false&canonicalNan=true", 200, "\0asm").await;
    let head = real.server.send("HEAD /programs/p/wasm", "", "").await;
    assert_eq!((head.status, head.header("content-type")), (200, Some("application/wasm")));
    assert!(head.body.is_empty(), "{}", head.text());
    check(&real, "", "/programs/q/wasm", 404, r#""code":"NOT_FOUND""#).await;
    check(&real, "", "/programs/p/wasm?at=r9", 404, r#""code":"NOT_FOUND""#).await;
    check(&real, "", "/programs/p/wasm?when=r1", 400, "unknown field `when`").await;
    real.program("open", "module m\nfunc f (n: i64) -> (i64) { return (add.i64 n, _) }\n").await;
    check(&real, "", "/programs/open/wasm", 400, "`m::f` is not complete").await;
    let reply = real.server.send("PUT /programs/p/wasm", "", "").await;
    assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, POST")));
    assert_eq!(reply.json()["errors"][0]["extensions"]["code"], "BAD_REQUEST");
    let foreign = real.server.send("GET /programs/p/wasm", "sec-fetch-site: cross-site\r\n", "").await;
    assert_eq!(foreign.status, 403);
}

#[tokio::test]
async fn a_module_of_what_is_not_to_be_known_is_as_none() {
    let real = served().await;
    real.program("other", TEXT).await;
    let limited = token(&real, "limited", Scope::Read, Some("p")).await;
    check(&real, &limited, "/programs/p/wasm", 200, "\0asm").await;
    check(&real, &limited, "/programs/other/wasm", 404, r#""code":"NOT_FOUND""#).await;
    check(&real, "", "/programs/p/wasm", 401, r#""code":"UNAUTHENTICATED""#).await;
}

#[tokio::test]
async fn a_host_without_modules_says_so() {
    let server = start().await;
    let reply = server.send("GET /programs/p/wasm", "", "").await;
    assert!(reply.status == 400 && reply.text().contains(r#""code":"UNSUPPORTED""#), "{}", reply.text());
}

const WAT: &str = r#"(module $other (memory 1) (func (export "three") (result i32) (i32.const 3)))"#;
const KIND: &str = "content-type: text/wat\r\n";

async fn put(real: &Real, headers: &str, path: &str, text: &str, status: u16, expect: &str) -> String {
    let reply = real.server.send(&format!("POST {path}"), headers, text).await;
    assert_eq!(reply.status, status, "{path} {text}: {}", reply.text());
    assert!(reply.text().contains(expect), "{path} {text}: {}", reply.text());
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    reply.text()
}

#[tokio::test]
async fn a_module_becomes_the_content_of_a_program_as_one_revision() {
    let real = served().await;
    let made = r#"{"program":"p","revision":"r2","functions":1,"nodes":2}"#;
    put(&real, KIND, "/programs/p/wasm?message=in", WAT, 200, made).await;
    let query = "{ program(name: \"p\") { functions { nodes { path exports } }
        history(first: 1) { nodes { kind message actor { name } } } } }";
    let shown = real.data(query, json!({})).await;
    assert_eq!(
        shown["program"]["functions"]["nodes"],
        json!([{"path": "other::three", "exports": ["three"]}])
    );
    let newest = &shown["program"]["history"]["nodes"][0];
    assert_eq!(*newest, json!({"kind": "IMPORT", "message": "in", "actor": {"name": "anonymous"}}));
    // What came in goes out, as it can go in.
    let module = real.server.send("GET /programs/p/wasm", "", "").await.body;
    let mut request = format!(
        "POST /programs/p/wasm HTTP/1.1\r\nhost: {}\r\ncontent-type: application/wasm\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        real.server.address,
        module.len()
    );
    let mut request = std::mem::take(&mut request).into_bytes();
    request.extend(&module);
    let reply = real.server.send_raw(&request).await;
    assert!(reply.status == 200 && reply.text().contains(r#""revision":"r3""#), "{}", reply.text());
    let undone = "mutation { undo(input: {programId: \"p\", steps: 2}) { outcome { __typename } } }";
    assert_eq!(real.data(undone, json!({})).await["undo"]["outcome"]["__typename"], "RevisionMade");
    check(&real, "", "/programs/p/wasm", 200, "\0asm").await;
    let shown = real.data("{ program(name: \"p\") { functions { nodes { path } } } }", json!({})).await;
    assert_eq!(shown["program"]["functions"]["nodes"], json!([{"path": "m::f"}]));
}

#[tokio::test]
async fn an_import_is_repeated_by_its_key_and_refused_on_another_head() {
    let real = served().await;
    let keyed = format!("{KIND}idempotency-key: once\r\n");
    put(&real, &keyed, "/programs/p/wasm", WAT, 200, r#""revision":"r2""#).await;
    put(&real, &keyed, "/programs/p/wasm", WAT, 200, r#""revision":"r2""#).await;
    put(&real, &keyed, "/programs/p/wasm", "(module)", 400, "IDEMPOTENCY_MISMATCH").await;
    put(&real, KIND, "/programs/p/wasm?expectedHead=r1", WAT, 409, r#""head":"r2""#).await;
    // Whoever has the writer waits for nothing that needs it.
    put(&real, KIND, "/programs/p/wasm?expectedHead=r9", WAT, 404, "there is no revision `r9`").await;
    put(&real, KIND, "/programs/p/wasm?expectedHead=r2", WAT, 200, r#""revision":"r3""#).await;
}

#[tokio::test]
async fn what_is_no_module_is_refused_with_its_place() {
    let real = served().await;
    for (text, expect) in [
        ("(module\n  (func $f)\n  (export \"f\" (func $g)))", "(line 3, column 21)"),
        ("(module (func (result i32)))", "(line 1, column 10)"),
        ("(module (func $f (return_call $f)))", r#""code":"UNSUPPORTED""#),
        ("(module (memory 1 1 shared))", "a shared memory (byte "),
    ] {
        put(&real, KIND, "/programs/p/wasm", text, 400, expect).await;
    }
    put(&real, KIND, "/programs/q/wasm", WAT, 404, r#""code":"NOT_FOUND""#).await;
    put(&real, KIND, "/programs/p/wasm?head=r1", WAT, 400, "unknown field `head`").await;
    put(&real, "content-type: text/plain\r\n", "/programs/p/wasm", WAT, 415, "text/wat").await;
    put(&real, &format!("{KIND}content-encoding: gzip\r\n"), "/programs/p/wasm", WAT, 415, "compressed")
        .await;
    let other = format!("{KIND}accept: text/html\r\n");
    put(&real, &other, "/programs/p/wasm", WAT, 406, r#""code":"BAD_REQUEST""#).await;
    check(&real, "", "/programs/p/wasm?at=r1", 200, "\0asm").await;
    check(&real, "", "/programs/p/wasm?at=r2", 404, "NOT_FOUND").await;
}

#[tokio::test]
async fn an_import_tells_how_far_it_is() {
    let real = served().await;
    let events = format!("{KIND}accept: text/event-stream\r\n");
    // Those that are imported are functions of the program as well.
    let imported = r#"(import "env" "f" (func))"#.repeat(20);
    let text = format!("(module {imported}{})", "(func (result i32) (i32.const 1))".repeat(280));
    let told = put(&real, &events, "/programs/p/wasm", &text, 200, "committed").await;
    let names: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert_eq!(names[..3], ["read", "validated", "built"]);
    assert_eq!(names.last(), Some(&"committed"));
    let (_, committed) = told.split_once("event: committed").expect("it is committed");
    assert!(committed.contains(r#""functions":300"#) && committed.contains(r#""revision":"r2""#), "{told}");
    assert!(
        told.contains(r#"{"functions":300}"#) && told.contains(r#"{"functions":300,"of":300}"#),
        "{told}"
    );
    let told = put(&real, &events, "/programs/p/wasm", "(module (func (result i32)))", 200, "refused").await;
    assert!(told.contains("BAD_REQUEST") && !told.contains("committed"), "{told}");
    let stale = put(&real, &events, "/programs/p/wasm?expectedHead=r1", WAT, 200, "event: conflict").await;
    assert!(stale.contains(r#""head":"r2""#), "{stale}");
}

#[tokio::test]
async fn only_those_import_who_may_edit_the_program() {
    let real = served().await;
    real.program("other", TEXT).await;
    let reads = token(&real, "reads", Scope::Read, Some("p")).await;
    let edits = token(&real, "edits", Scope::Edit, Some("p")).await;
    let with = |token: &str| format!("{KIND}{token}");
    put(&real, KIND, "/programs/p/wasm", WAT, 401, r#""code":"UNAUTHENTICATED""#).await;
    put(&real, &with(&reads), "/programs/p/wasm", WAT, 403, r#""code":"FORBIDDEN""#).await;
    put(&real, &with(&edits), "/programs/other/wasm", WAT, 404, r#""code":"NOT_FOUND""#).await;
    put(&real, &with(&edits), "/programs/p/wasm", WAT, 200, r#""revision":"r2""#).await;
}

#[tokio::test]
async fn a_module_has_a_limit_of_its_own() {
    let config = Config { module_bytes: 100, body_bytes: 64, ..Config::default() };
    let server = start_with(config, Hooks::default()).await;
    let sent = async |bytes: usize| server.send("POST /programs/p/wasm", KIND, &" ".repeat(bytes)).await;
    let reply = sent(101).await;
    assert!(reply.status == 413 && reply.text().contains("moduleBytes"), "{}", reply.text());
    let reply = sent(100).await;
    assert!(reply.status == 400 && reply.text().contains("UNSUPPORTED"), "{}", reply.text());
}

#[tokio::test]
async fn so_many_modules_are_taken_in_at_a_time() {
    let (begun, ends) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (beginning, ending) = (Arc::clone(&begun), Arc::clone(&ends));
    let import: Import = Arc::new(move |_, _, _| {
        let (begun, ends) = (Arc::clone(&beginning), Arc::clone(&ending));
        Box::pin(async move {
            begun.notify_one();
            ends.notified().await;
            Err(ApiError::new(Code::Unsupported, "none"))
        })
    });
    let config = Config { imports: 1, import_wait: Duration::ZERO, ..Config::default() };
    let server = start_with(config, Hooks { import, ..Hooks::default() }).await;
    let sent = || server.send("POST /programs/p/wasm", KIND, WAT);
    let another = async {
        begun.notified().await;
        let refused = sent().await;
        ends.notify_one();
        refused
    };
    let (first, second) = tokio::join!(sent(), another);
    assert_eq!((first.status, second.status), (400, 503), "{}", second.text());
    let error = second.json()["errors"][0].clone();
    assert_eq!(error["message"], "too many modules are waiting: `parallelImports` is 1");
    assert_eq!(error["extensions"]["code"], "OVERLOADED");
    // The place of the first one is free again.
    ends.notify_one();
    assert_eq!(sent().await.status, 400);
}

#[tokio::test]
async fn a_module_of_a_million_functions_is_refused_before_any_is_made() {
    let real = served().await;
    let edits = token(&real, "edits", Scope::Edit, Some("p")).await;
    // One type, a million functions of it, and their empty bodies.
    let million = [0xc0, 0x84, 0x3d];
    let section = |id: u8, length: [u8; 4], entry: &[u8]| {
        [&[id][..], &length, &million, &entry.repeat(1_000_000)].concat()
    };
    let functions = section(3, [0xc3, 0x84, 0xbd, 0x00], &[0]);
    let bodies = section(10, [0xc3, 0x8d, 0xb7, 0x01], &[2, 0, 0x0b]);
    let module = [b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0".to_vec(), functions, bodies].concat();
    let host = real.server.address;
    let head = format!(
        "POST /programs/p/wasm HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{edits}content-type: application/wasm\r\n\
         content-length: {}\r\n\r\n",
        module.len()
    );
    let reply = real.server.send_raw(&[head.as_bytes(), &module].concat()).await;
    assert_eq!(reply.status, 400, "{}", reply.text());
    let error = reply.json()["errors"][0].clone();
    assert_eq!(
        error["message"],
        "`moduleEntries` is limited to 100000, found 1000000 functions (byte 19 of the module)"
    );
    assert_eq!(error["extensions"]["code"], "LIMIT_EXCEEDED");
    assert_eq!(
        error["extensions"]["data"],
        json!({ "which": "moduleEntries", "limit": 100_000, "actual": 1_000_000 })
    );
}
