//! Programs as modules over HTTP: for those who may read them, at any revision.

use std::sync::Arc;

use lmlang_engine::{Engine, Scope};
use lmlang_graphql::schema::wasm;
use lmlang_server::{Hooks, Module};

use crate::access::token;
use crate::real::{Real, start_guarded_over};
use crate::server::start;

const TEXT: &str = "module m\n\nexport \"f\" func f (n: i64) -> (i64) { return (add.i64 n, n) }\n";

async fn served() -> Real {
    let hooks = |engine: &Engine| {
        let engine = engine.clone();
        let module: Module = Arc::new(move |grant, request| {
            let engine = engine.clone();
            Box::pin(async move { wasm::module(&engine, &grant, &request).await })
        });
        Hooks { module, ..Hooks::default() }
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
    check(&real, "", "/programs/q/wasm", 404, r#""code":"NOT_FOUND""#).await;
    check(&real, "", "/programs/p/wasm?at=r9", 404, r#""code":"NOT_FOUND""#).await;
    check(&real, "", "/programs/p/wasm?when=r1", 400, "unknown field `when`").await;
    real.program("open", "module m\nfunc f (n: i64) -> (i64) { return (add.i64 n, _) }\n").await;
    check(&real, "", "/programs/open/wasm", 400, "`m::f` is not complete").await;
    assert_eq!(real.server.send("POST /programs/p/wasm", "", "").await.status, 405);
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
