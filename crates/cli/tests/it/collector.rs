//! Spans that leave the process before it ends.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use crate::serve::Server;
use crate::tool::Place;

/// A collector that takes one request and hands its bytes on.
fn collector() -> (String, mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (came, bytes) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody comes");
        let (mut taken, mut some) = (Vec::new(), [0; 64 << 10]);
        let whole = |taken: &[u8]| {
            let head = taken.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
            let text = String::from_utf8_lossy(&taken[..head]).to_lowercase();
            let length = text.split("content-length: ").nth(1)?.lines().next()?.trim().parse::<usize>();
            Some(taken.len() >= head + length.ok()?)
        };
        while whole(&taken) != Some(true) {
            let count = stream.read(&mut some).expect("it can be read");
            taken.extend_from_slice(&some[..count]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").expect("it can be answered");
        came.send(taken).expect("the test waits");
    });
    (url, bytes)
}

/// PUN-32, PUN-35: a server that is asked to stop sends the spans that it has first, to Langfuse as its variables say.
#[test]
fn a_server_that_stops_loses_no_span() {
    let (url, bytes) = collector();
    let place = Place::new();
    let mut command = place.command();
    command
        .args(["serve", "--json", "--listen", "127.0.0.1:0", "--no-samples"])
        .env("LANGFUSE_PUBLIC_KEY", "pk-lf-public")
        .env("LANGFUSE_SECRET_KEY", "sk-lf-planted-secret")
        .env("LANGFUSE_HOST", &url)
        .env("OTEL_BSP_SCHEDULE_DELAY", "3600000")
        .env("OTEL_RESOURCE_ATTRIBUTES", "lmlang.dataset_item=item-7");
    let server = Server::start_as(command, &place);
    let turn = "mutation($input: TurnInput!) { turn(input: $input) { done run { status provider } } }";
    let said = json!({ "input": { "text": r#"AddNode User:ada {"note": "sk-lf-planted-secret"}"# } });
    let answer = server.ask_with(turn, &said);
    assert_eq!(
        answer["data"]["turn"]["run"],
        json!({ "status": "COMPLETED", "provider": "rules" }),
        "{answer}"
    );
    let metrics = server.exchange("GET /metrics", "", "");
    assert!(metrics.contains("lmlang_spans_exported_total 0"), "{metrics}");
    assert_eq!(server.stop(), Some(0));
    let sent = bytes.recv_timeout(Duration::from_secs(60)).expect("it was sent before the end");
    let sent = String::from_utf8_lossy(&sent);
    let head = sent.split("\r\n\r\n").next().unwrap_or_default().to_lowercase();
    assert!(head.starts_with("post /api/public/otel/v1/traces"), "{head}");
    assert!(
        head.contains("authorization: basic ") && head.contains("x-langfuse-ingestion-version: 4"),
        "{head}"
    );
    for name in ["invoke_workflow act", "lmlang.config_hash", "lmlang.dataset_item", "item-7", "execute_tool"]
    {
        assert!(sent.contains(name), "{name}");
    }
    assert!(!sent.contains("planted-secret"));
}

/// A collector that makes no sense is told of before anything is opened, and its keys are not.
#[test]
fn a_collector_that_makes_no_sense_is_told_of() {
    let place = Place::new();
    let mut command = place.command();
    command.args(["serve", "--listen", "127.0.0.1:0"]).env("LANGFUSE_SECRET_KEY", "sk-lf-planted-secret");
    let ended = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(said.contains("`LANGFUSE_SECRET_KEY` is set and"), "{said}");
    assert!(!said.contains("planted"), "{said}");
}
