use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use lmlang_server::{Config, Hooks};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::server::{Server, only, soon, start, start_with};
use crate::sse::{REFUSED, SPREAD};

pub(crate) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

async fn connect(server: &Server, protocol: &str, origin: Option<&str>) -> Result<Socket, u16> {
    let origin = origin.map(|origin| ("origin", origin));
    connect_with(server, &[[("sec-websocket-protocol", protocol)].as_slice(), origin.as_slice()].concat())
        .await
}

/// Opens a socket with headers; fails with the status of the answer.
pub(crate) async fn connect_with(server: &Server, headers: &[(&'static str, &str)]) -> Result<Socket, u16> {
    let url = format!("ws://{}/graphql/ws", server.address);
    let mut request = url.into_client_request().expect("the URL is one");
    for (name, value) in headers {
        request.headers_mut().append(*name, value.parse().expect("it is a header"));
    }
    match soon(tokio_tungstenite::connect_async(request)).await {
        Ok((socket, _)) => Ok(Socket(socket)),
        Err(Error::Http(reply)) => Err(reply.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

async fn open(server: &Server) -> Socket {
    connect(server, "graphql-transport-ws", None).await.expect("the socket opens")
}

pub(crate) async fn introduced(server: &Server) -> Socket {
    let mut socket = open(server).await;
    socket.send(json!({"type": "connection_init"})).await;
    assert_eq!(socket.next().await, Ok(json!({"type": "connection_ack"})));
    socket
}

impl Socket {
    pub(crate) async fn send(&mut self, message: Value) {
        self.send_text(&message.to_string()).await;
    }

    async fn send_text(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.expect("the message is sent");
    }

    pub(crate) async fn subscribe(&mut self, id: &str, query: &str) {
        self.send(json!({"type": "subscribe", "id": id, "payload": {"query": query}})).await;
    }

    /// Returns the next message, or the code with which the server closed.
    pub(crate) async fn next(&mut self) -> Result<Value, u16> {
        loop {
            match soon(self.0.next()).await {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).expect("it is JSON")),
                Some(Ok(Message::Close(frame))) => return Err(frame.map_or(1005, |frame| frame.code.into())),
                Some(Ok(_)) => {}
                Some(Err(error)) => panic!("{error}"),
                None => return Err(1006),
            }
        }
    }
}

fn next(id: &str, data: Value) -> Result<Value, u16> {
    Ok(json!({"type": "next", "id": id, "payload": {"data": data}}))
}

fn complete(id: &str) -> Result<Value, u16> {
    Ok(json!({"type": "complete", "id": id}))
}

#[tokio::test]
async fn operations_of_every_kind_run() {
    let server = start().await;
    let mut socket = introduced(&server).await;
    socket.subscribe("q", "{ hello }").await;
    assert_eq!(socket.next().await, next("q", json!({"hello": "world"})));
    assert_eq!(socket.next().await, complete("q"));
    socket.subscribe("q", "mutation { add(to: 2) }").await;
    assert_eq!(socket.next().await, next("q", json!({"add": 3})));
    assert_eq!(socket.next().await, complete("q"));
    socket.subscribe("s", "subscription { count(to: 2) }").await;
    assert_eq!(socket.next().await, next("s", json!({"count": 0})));
    assert_eq!(socket.next().await, next("s", json!({"count": 1})));
    assert_eq!(socket.next().await, complete("s"));
    socket.send(json!({"type": "ping", "payload": {"at": 1}})).await;
    assert_eq!(socket.next().await, Ok(json!({"type": "pong"})));
}

#[tokio::test]
async fn messages_longer_than_what_is_read_at_once_are_taken() {
    let server = start().await;
    let mut socket = introduced(&server).await;
    let padding = "x".repeat(100_000);
    for id in ["a", "b", "c"] {
        let payload = json!({"query": "{ hello }", "extensions": {"padding": padding}});
        socket.send(json!({"type": "subscribe", "id": id, "payload": payload})).await;
    }
    let mut told = Vec::new();
    for _ in 0..6 {
        let message = socket.next().await.expect("the socket stays open");
        told.push(format!("{} {}", message["id"], message["type"]));
    }
    told.sort_unstable();
    let expect = ["a", "b", "c"].map(|id| ["complete", "next"].map(|kind| format!("{id:?} {kind:?}")));
    assert_eq!(told, expect.concat());
}

#[tokio::test]
async fn a_field_in_fragments_is_answered() {
    let server = start().await;
    let mut socket = introduced(&server).await;
    for query in SPREAD {
        socket.subscribe("s", query).await;
        assert_eq!(socket.next().await, next("s", json!({"count": 0})), "{query}");
        assert_eq!(socket.next().await, next("s", json!({"count": 1})), "{query}");
        assert_eq!(socket.next().await, complete("s"), "{query}");
    }
    for query in REFUSED {
        socket.subscribe("s", query).await;
        let message = socket.next().await.expect("the socket stays open");
        assert_eq!(message["type"], "error", "{query}: {message}");
        assert_eq!(message["payload"][0]["extensions"]["code"], "BAD_REQUEST", "{query}");
    }
}

#[tokio::test]
async fn what_is_refused_is_an_error_and_what_failed_is_an_answer() {
    let server = start().await;
    let mut socket = introduced(&server).await;
    for (query, code) in [
        ("{ nope }", "BAD_REQUEST"),
        ("{", "BAD_REQUEST"),
        ("{ panics }", "INTERNAL"),
        ("query A { hello } query B { hello }", "BAD_REQUEST"),
    ] {
        socket.subscribe("x", query).await;
        let message = socket.next().await.expect("the socket stays open");
        assert_eq!(message["type"], "error", "{query}: {message}");
        assert_eq!(message["payload"][0]["extensions"]["code"], code, "{query}");
    }
    socket.subscribe("x", "{ hello fails }").await;
    let message = socket.next().await.expect("the socket stays open");
    assert_eq!(message["type"], "next");
    assert_eq!(message["payload"]["data"], json!({"hello": "world", "fails": null}));
    assert_eq!(socket.next().await, complete("x"));
}

#[tokio::test]
async fn completing_frees_the_source_and_the_name() {
    let server = start().await;
    let mut socket = introduced(&server).await;
    for tick in 0..3 {
        socket.subscribe("t", "subscription { ticks }").await;
        server.until_running(1).await;
        server.levers.ticks.send(tick).expect("somebody listens");
        assert_eq!(socket.next().await, next("t", json!({"ticks": tick})));
        socket.send(json!({"type": "complete", "id": "t"})).await;
        server.until_running(0).await;
    }
    socket.send(json!({"type": "complete", "id": "unknown"})).await;
    socket.subscribe("t", "subscription { ticks }").await;
    server.until_running(1).await;
    drop(socket);
    server.until_running(0).await;
}

#[tokio::test]
async fn breaches_of_the_protocol_close_with_their_codes() {
    let server = start().await;
    let subscribe = json!({"type": "subscribe", "id": "1", "payload": {"query": "subscription { ticks }"}});
    let init = json!({"type": "connection_init"}).to_string();
    let subscribe = subscribe.to_string();
    for (messages, code) in [
        (vec!["nonsense"], 4400),
        (vec![r#"{"type":"subscribe"}"#], 4400),
        (vec![&*init, r#"{"type":"\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"}"#], 4400),
        (vec![&*subscribe], 4401),
        (vec![&*init, &*init], 4429),
        (vec![&*init, &*subscribe, &*subscribe], 4409),
    ] {
        let mut socket = open(&server).await;
        for message in &messages {
            socket.send_text(message).await;
        }
        let seen = loop {
            match socket.next().await {
                Ok(message) => assert_eq!(message["type"], "connection_ack", "{messages:?}"),
                Err(code) => break code,
            }
        };
        assert_eq!(seen, code, "{messages:?}");
    }
    let mut socket = open(&server).await;
    socket.0.send(Message::binary(vec![1])).await.expect("the message is sent");
    assert_eq!(socket.next().await, Err(4400));
    server.until_running(0).await;
}

#[tokio::test]
async fn a_client_that_does_not_introduce_itself_is_closed() {
    let config = Config { init_timeout: Duration::from_millis(50), ..Config::default() };
    let server = start_with(config, Hooks::default()).await;
    assert_eq!(open(&server).await.next().await, Err(4408));
}

#[tokio::test]
async fn a_client_that_may_not_come_in_is_closed() {
    let server = start_with(Config::default(), only("open")).await;
    for (payload, close) in [
        (json!({"authorization": "Bearer x"}), 4403),
        (json!({}), 4403),
        (json!({"authorization": "Bearer"}), 4400),
    ] {
        let mut socket = open(&server).await;
        socket.send(json!({"type": "connection_init", "payload": payload})).await;
        assert_eq!(socket.next().await, Err(close), "{payload}");
    }
    let mut early = open(&server).await;
    early.send(json!({"type": "subscribe", "id": "1", "payload": {"query": "{ hello }"}})).await;
    assert_eq!(early.next().await, Err(4401));
    let mut socket = open(&server).await;
    socket.send(json!({"type": "connection_init", "payload": {"Authorization": "bearer open"}})).await;
    assert_eq!(socket.next().await, Ok(json!({"type": "connection_ack"})));
}

#[tokio::test]
async fn other_protocols_and_other_origins_do_not_connect() {
    let server = start().await;
    assert_eq!(connect(&server, "graphql-ws", None).await.err(), Some(400));
    assert_eq!(connect(&server, "graphql-transport-ws", Some("http://evil.example")).await.err(), Some(403));
    let own = format!("http://{}", server.address);
    assert!(connect(&server, "graphql-transport-ws", Some(&own)).await.is_ok());
}

#[tokio::test]
async fn a_client_that_closes_gets_its_goodbye() {
    let server = start().await;
    let mut socket = introduced(&server).await;
    socket.subscribe("t", "subscription { ticks }").await;
    server.until_running(1).await;
    let frame = CloseFrame { code: CloseCode::Normal, reason: "done".into() };
    socket.0.send(Message::Close(Some(frame))).await.expect("the message is sent");
    assert_eq!(socket.next().await, Err(1000));
    server.until_running(0).await;
}

#[tokio::test]
async fn a_message_over_the_limit_closes() {
    let server = start_with(Config { message_bytes: 256, ..Config::default() }, Hooks::default()).await;
    let mut socket = introduced(&server).await;
    socket.send_text(&"x".repeat(300)).await;
    assert_eq!(socket.next().await, Err(1009));
}

/// RFC 6455, 8.1.
#[tokio::test]
async fn a_text_that_is_not_utf_8_closes() {
    let server = start().await;
    let mut socket = introduced(&server).await;
    let frame = Frame::message(vec![0xff, 0xfe], OpCode::Data(Data::Text), true);
    socket.0.send(Message::Frame(frame)).await.expect("the message is sent");
    assert_eq!(socket.next().await, Err(1007));
}

#[tokio::test]
async fn streams_of_a_connection_are_limited() {
    let config = Config { streams_per_connection: 2, ..Config::default() };
    let server = start_with(config, Hooks::default()).await;
    let mut socket = introduced(&server).await;
    for id in ["1", "2"] {
        socket.subscribe(id, "subscription { ticks }").await;
    }
    socket.subscribe("3", "{ hello }").await;
    let message = socket.next().await.expect("the socket stays open");
    assert_eq!((&message["type"], &message["id"]), (&json!("error"), &json!("3")));
    let data = json!({"which": "streamsPerConnection", "limit": 2, "actual": 3});
    assert_eq!(message["payload"][0]["extensions"]["data"], data);
    server.until_running(2).await;
}

#[tokio::test]
async fn a_silent_client_is_closed_and_an_answering_one_is_not() {
    let config = Config { keep_alive: Duration::from_millis(40), ..Config::default() };
    let server = start_with(config, Hooks::default()).await;
    let mut answering = introduced(&server).await;
    answering.subscribe("t", "subscription { ticks }").await;
    server.until_running(1).await;
    let mut silent = introduced(&server).await;
    silent.subscribe("t", "subscription { ticks }").await;
    server.until_running(2).await;
    // Reading the socket is what answers the server's pings.
    let mut running = server.levers.running.subscribe();
    tokio::select! {
        seen = answering.next() => panic!("the answering client got {seen:?}"),
        ended = soon(running.wait_for(|&running| running == 1)) => drop(ended.expect("the levers are there")),
    }
    server.levers.ticks.send(5).expect("the answering client listens");
    assert_eq!(answering.next().await, next("t", json!({"ticks": 5})));
}

/// Reads what a client that never reads makes its source produce, and that the others do not notice.
#[tokio::test]
async fn a_client_that_does_not_read_holds_up_only_its_own_source() {
    let config = Config { keep_alive: Duration::from_millis(400), ..Config::default() };
    let server = start_with(config, Hooks::default()).await;
    let mut stalled = introduced(&server).await;
    stalled.subscribe("n", "subscription { numbers(bytes: 10000) }").await;
    server.until_running(1).await;
    let mut other = introduced(&server).await;
    for _ in 0..20 {
        other.subscribe("q", "{ hello }").await;
        assert_eq!(other.next().await, next("q", json!({"hello": "world"})));
        assert_eq!(other.next().await, complete("q"));
    }
    // Nothing was read for three beats, so the stalled client is gone with its sources.
    let mut running = server.levers.running.subscribe();
    let ended = running.wait_for(|&running| running == 0);
    tokio::select! {
        ended = soon(ended) => drop(ended.expect("the levers are there")),
        seen = other.next() => panic!("the other client got {seen:?}"),
    }
    let pulled = *server.levers.pulled.borrow();
    assert!(pulled < 2_000, "{pulled} answers of 10 kB were made for nobody");
}

#[tokio::test]
async fn a_client_that_does_not_read_does_not_suspend_what_it_sent() {
    let server = start().await;
    let mut stalled = introduced(&server).await;
    stalled.subscribe("m", "mutation { holds }").await;
    soon(server.levers.waiting.notified()).await;
    stalled.subscribe("n", "subscription { numbers(bytes: 1000000) }").await;
    server.until_running(1).await;
    let mut other = introduced(&server).await;
    for _ in 0..20 {
        other.subscribe("q", "{ hello }").await;
        assert_eq!(other.next().await, next("q", json!({"hello": "world"})));
        assert_eq!(other.next().await, complete("q"));
    }
    // Nothing more can be sent to the stalled client, and its mutation gives the lock back.
    server.levers.go_on.notify_one();
    other.subscribe("m", "mutation { holds }").await;
    soon(server.levers.waiting.notified()).await;
    server.levers.go_on.notify_one();
    assert_eq!(other.next().await, next("m", json!({"holds": 1})));
}

#[tokio::test]
async fn a_query_that_is_completed_does_not_go_on() {
    let server = start().await;
    let mut socket = introduced(&server).await;
    socket.subscribe("q", "{ holds }").await;
    soon(server.levers.waiting.notified()).await;
    socket.send(json!({"type": "complete", "id": "q"})).await;
    drop(soon(server.levers.lock.lock()).await);
    socket.subscribe("q", "{ holds }").await;
    soon(server.levers.waiting.notified()).await;
    drop(socket);
    drop(soon(server.levers.lock.lock()).await);
    assert_eq!(*server.levers.held.borrow(), 0);
}

#[tokio::test]
async fn a_mutation_that_has_begun_is_carried_out_whoever_listens() {
    let server = start_with(Config { connections: 1, ..Config::default() }, Hooks::default()).await;
    let levers = &server.levers;
    let mut socket = introduced(&server).await;
    socket.subscribe("m", "mutation { a: holds b: holds }").await;
    soon(levers.waiting.notified()).await;
    socket.send(json!({"type": "complete", "id": "m"})).await;
    socket.send(json!({"type": "ping"})).await;
    assert_eq!(socket.next().await, Ok(json!({"type": "pong"})));
    levers.go_on.notify_one();
    soon(levers.waiting.notified()).await;
    drop(socket);
    // The only connection is free, so the server has noticed that its client has gone.
    assert_eq!(server.send("GET /healthz", "", "").await.status, 200);
    // A shutdown waits for what nobody listens to as well.
    server.shutdown.cancel();
    levers.go_on.notify_one();
    soon(server.task).await.expect("the server ends");
    assert_eq!(*levers.held.borrow(), 2);
}

#[tokio::test]
async fn a_fast_source_does_not_starve_a_slow_one() {
    let server = start().await;
    let mut socket = introduced(&server).await;
    socket.subscribe("fast", "subscription { numbers(bytes: 1) }").await;
    socket.subscribe("slow", "subscription { ticks }").await;
    server.until_running(2).await;
    server.levers.ticks.send(1).expect("somebody listens");
    let mut fast = 0;
    loop {
        let message = socket.next().await.expect("the socket stays open");
        if message["id"] == "slow" {
            break;
        }
        fast += 1;
        assert!(fast < 100_000, "the slow source is starved");
    }
}

#[tokio::test]
async fn a_shutdown_closes_with_a_code_on_which_clients_reconnect() {
    let server = start().await;
    let mut socket = introduced(&server).await;
    socket.subscribe("t", "subscription { ticks }").await;
    server.until_running(1).await;
    server.shutdown.cancel();
    assert_eq!(socket.next().await, Err(1012));
    drop(socket);
    soon(server.task).await.expect("the server ends");
}
