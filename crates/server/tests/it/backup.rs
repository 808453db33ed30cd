//! Backups: what the host makes goes out as it is, to those who may have it; an answer that ends early is cut off.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use lmlang_engine::Scope;
use lmlang_graphql::error::{ApiError, Code};
use lmlang_server::{Backup, Config, Hooks};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::access::{somebody, token};
use crate::real::start_guarded_with;
use crate::server::{Server, only, soon, start, start_with};

const JSON: &str = "content-type: application/json\r\n";

/// A host whose backup is the names that it is asked for, and fails at the name `fault`.
fn names(hooks: Hooks) -> Hooks {
    let backup: Backup = Arc::new(|request| {
        let pieces = request.programs.into_iter().map(|name| match name.as_str() {
            "fault" => Err(ApiError::new(Code::StorageUnavailable, "the disk is gone")),
            name => Ok(format!("{name} ").into_bytes()),
        });
        let pieces: Vec<_> = pieces.collect();
        let answer = match request.without_deleted {
            false => Ok(stream::iter(pieces).boxed()),
            true => Err(ApiError::new(Code::NotFound, "there is no program `x`")),
        };
        Box::pin(std::future::ready(answer))
    });
    Hooks { backup, ..hooks }
}

async fn check(server: &Server, headers: &str, body: &str, status: u16, expect: &str) {
    let reply = server.send("POST /backup", headers, body).await;
    assert_eq!(reply.status, status, "{headers} {body}: {}", reply.text());
    assert!(reply.text().contains(expect), "{headers} {body}: {}", reply.text());
    assert_eq!(reply.header("cache-control"), Some("no-store"));
}

#[tokio::test]
async fn what_the_host_makes_goes_out() {
    let server = start_with(Config::default(), names(Hooks::default())).await;
    // In chunks, the last of which is empty.
    check(&server, JSON, r#"{"programs":["a","b"]}"#, 200, "2\r\na \r\n2\r\nb \r\n0\r\n\r\n").await;
    check(&server, JSON, "{}", 200, "").await;
    check(&server, JSON, r#"{"withoutDeleted":true}"#, 400, r#""code":"NOT_FOUND""#).await;
    check(&server, JSON, r#"{"program":["a"]}"#, 400, "unknown field `program`").await;
    check(&server, JSON, "", 400, "the body is empty").await;
    check(&server, "content-type: text/plain\r\n", "{}", 415, "the content type must be").await;
    let foreign = format!("{JSON}sec-fetch-site: cross-site\r\n");
    assert_eq!(server.send("POST /backup", &foreign, "{}").await.status, 403);
    assert_eq!(server.send("GET /backup", "", "").await.status, 405);
    let none = start().await;
    check(&none, JSON, "{}", 400, r#""code":"UNSUPPORTED""#).await;
}

#[tokio::test]
async fn what_fails_on_the_way_is_cut_off() {
    let server = start_with(Config::default(), names(Hooks::default())).await;
    let body = r#"{"programs":["a","fault","b"]}"#;
    let request = format!(
        "POST /backup HTTP/1.1\r\nhost: {}\r\n{JSON}content-length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    let answer = soon(async {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        answer
    });
    assert!(!answer.await.ends_with(b"0\r\n\r\n"), "there is no last chunk");
    // What is known before anything is sent is told.
    check(&server, JSON, r#"{"programs":["fault"]}"#, 503, r#""code":"STORAGE_UNAVAILABLE""#).await;
}

#[tokio::test]
async fn whoever_stays_outside_gets_nothing() {
    let server = start_with(Config::default(), names(only("open"))).await;
    check(&server, JSON, r#"{"programs":["a"]}"#, 401, "UNAUTHENTICATED").await;
    let open = format!("{JSON}authorization: Bearer open\r\n");
    check(&server, &open, r#"{"programs":["a"]}"#, 200, "a ").await;
}

#[tokio::test]
async fn what_a_token_is_good_for_ends_with_it() {
    let endless: Backup = Arc::new(|_| {
        let pieces = stream::iter([Ok(b"begun".to_vec())]).chain(stream::pending());
        Box::pin(std::future::ready(Ok(pieces.boxed())))
    });
    let real = start_guarded_with(Hooks { backup: endless, ..Hooks::default() }).await;
    let admin = token(&real, "root", Scope::Admin, None).await;
    for (name, scope) in [("ed", Scope::Edit), ("eve", Scope::Simulate), ("rea", Scope::Read)] {
        let headers = format!("{JSON}{}", token(&real, name, scope, None).await);
        check(&real.server, &headers, "{}", 403, "`backup` needs the scope `ADMIN`").await;
    }
    let request = format!(
        "POST /backup HTTP/1.1\r\nhost: {}\r\n{JSON}{admin}content-length: 2\r\n\r\n{{}}",
        real.server.address
    );
    let mut stream = TcpStream::connect(real.server.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    soon(async {
        while !answer.ends_with(b"begun\r\n") {
            stream.read_buf(&mut answer).await.unwrap();
        }
    })
    .await;
    real.engine.revoke_token("root", &somebody()).await.unwrap();
    soon(stream.read_to_end(&mut answer)).await.unwrap();
    assert!(answer.ends_with(b"begun\r\n"), "there is no last chunk");
}
