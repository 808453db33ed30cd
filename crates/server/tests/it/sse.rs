use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::server::{Server, soon, start};

const EVENTS: &str = "text/event-stream";

/// An event stream that is being read.
pub(crate) struct Events {
    stream: TcpStream,
    pub(crate) seen: String,
}

impl Events {
    pub(crate) async fn open(server: &Server, query: &str) -> Events {
        Events::open_as(server, query, "").await
    }

    /// The same with more headers, each with the end of its line.
    pub(crate) async fn open_as(server: &Server, query: &str, headers: &str) -> Events {
        Events::of(server.ask_as(query, EVENTS, headers).await)
    }

    /// What comes on a connection that was asked for them.
    pub(crate) fn of(stream: TcpStream) -> Events {
        Events { stream, seen: String::new() }
    }

    /// Reads until `text` came; false when the stream ended before.
    pub(crate) async fn until(&mut self, text: &str) -> bool {
        let mut buffer = [0; 4096];
        while !self.seen.contains(text) {
            match soon(self.stream.read(&mut buffer)).await {
                Ok(0) | Err(_) => return false,
                Ok(read) => self.seen.push_str(&String::from_utf8_lossy(&buffer[..read])),
            }
        }
        true
    }
}

#[tokio::test]
async fn a_subscription_arrives_event_by_event() {
    let server = start().await;
    let mut events = Events::open(&server, "subscription { ticks }").await;
    server.until_running(1).await;
    for tick in [7, 8] {
        server.levers.ticks.send(tick).expect("somebody listens");
        assert!(events.until(&format!("event: next\ndata: {{\"data\":{{\"ticks\":{tick}}}}}\n\n")).await);
    }
    assert!(events.seen.contains("content-type: text/event-stream"), "{}", events.seen);
    drop(events);
    server.until_running(0).await;
}

#[tokio::test]
async fn any_operation_ends_with_complete() {
    let server = start().await;
    for (query, expect) in [
        ("{ hello }", "data: {\"data\":{\"hello\":\"world\"}}"),
        ("mutation { add(to: 1) }", "data: {\"data\":{\"add\":2}}"),
        ("subscription { count(to: 2) }", "data: {\"data\":{\"count\":1}}"),
        ("{ nope }", "data: {\"errors\":["),
        ("subscription { refused }", "CURSOR_INVALID"),
    ] {
        let reply = server.post(query, EVENTS).await;
        assert_eq!(reply.status, 200);
        assert!(reply.text().contains(expect), "{query}: {}", reply.text());
        // Without `data`, a browser passes over it.
        assert!(reply.text().contains("event: complete\ndata:\n\n"), "{query}: {}", reply.text());
    }
    let reply =
        server.send("GET /graphql?query=mutation%7Badd(to:1)%7D", &format!("accept: {EVENTS}\r\n"), "").await;
    assert_eq!(reply.status, 405);
    let reply = server.send("GET /graphql?query=%7Bhello%7D", &format!("accept: {EVENTS}\r\n"), "").await;
    assert!(reply.text().contains("world"));
}

#[tokio::test]
async fn a_field_in_fragments_is_answered() {
    let server = start().await;
    for query in SPREAD {
        let reply = server.post(query, EVENTS).await;
        let text = reply.text();
        let at = |count: u8| text.find(&format!("event: next\ndata: {{\"data\":{{\"count\":{count}}}}}\n\n"));
        assert!(at(0).is_some() && at(0) < at(1) && at(2).is_none(), "{query}: {text}");
        assert!(text.contains("event: complete\n"), "{query}: {text}");
    }
    for query in REFUSED {
        let reply = server.post(query, EVENTS).await;
        assert!(reply.text().contains("BAD_REQUEST"), "{query}: {}", reply.text());
        assert!(!reply.text().contains("data: {\"data\""), "{query}: {}", reply.text());
    }
}

/// Subscriptions to one field, `count(to: 2)`, that stands elsewhere.
pub(crate) const SPREAD: [&str; 6] = [
    "subscription { ... { count(to: 2) } }",
    "subscription { ... on Events @include(if: true) { count(to: 2) } }",
    "subscription { ...A } fragment A on Events { ...B } fragment B on Events { count(to: 2) }",
    "subscription { count(to: 2) ...A count(to: 2) } fragment A on Events { count(to: 2) }",
    "subscription($no: Boolean! = true) { ... @skip(if: $no) { count(to: 2) } ... { count(to: 2) } }",
    "subscription($to: Int! = 2) { ...A } fragment A on Events { count(to: $to) }",
];

/// Subscriptions that select several fields, none, or what there is not.
pub(crate) const REFUSED: [&str; 8] = [
    "subscription { count(to: 2) ticks }",
    "subscription { ...A ticks } fragment A on Events { count(to: 2) }",
    "subscription { ... { a: count(to: 2) } ... { b: count(to: 2) } }",
    "subscription { ... @skip(if: true) { count(to: 2) } }",
    "subscription { ... { nope } }",
    "subscription { ... @nope { count(to: 2) } }",
    "subscription { ... on Query { hello } }",
    "subscription { ...A } fragment A on Events { count(to: 2) } fragment B on Query { hello }",
];

#[tokio::test]
async fn a_shutdown_ends_the_stream_without_complete() {
    let server = start().await;
    let mut events = Events::open(&server, "subscription { ticks }").await;
    server.until_running(1).await;
    server.shutdown.cancel();
    assert!(!events.until("event: complete").await);
    soon(server.task).await.expect("the server ends");
}
