use std::sync::Arc;
use std::time::Duration;

use lmlang_server::{Config, Error, Hooks, bind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::{soon, start, start_with};

#[tokio::test]
async fn a_taken_address_is_an_error() {
    let server = start().await;
    let taken = bind(Config { listen: server.address, ..Config::default() }).await;
    assert!(matches!(taken, Err(Error::Listen { .. })), "{taken:?}");
}

#[tokio::test]
async fn a_request_in_flight_finishes_before_the_server_ends() {
    let server = start().await;
    let go_on = Arc::clone(&server.levers.go_on);
    let waiting = Arc::clone(&server.levers.waiting);
    let shutdown = server.shutdown.clone();
    let request = server.post("{ waits }", "application/json");
    let stop = async {
        waiting.notified().await;
        shutdown.cancel();
        go_on.notify_one();
    };
    let (reply, ()) = tokio::join!(request, stop);
    assert_eq!(reply.text(), r#"{"data":{"waits":1}}"#);
    soon(server.task).await.expect("the server ends");
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn a_request_that_does_not_finish_is_cut_off() {
    let config = Config { grace: Duration::from_millis(50), ..Config::default() };
    let server = start_with(config, Hooks::default()).await;
    let waiting = Arc::clone(&server.levers.waiting);
    let idle = TcpStream::connect(server.address).await.expect("the server accepts");
    let mut request = Box::pin(server.post("{ waits }", "application/json"));
    tokio::select! {
        () = waiting.notified() => {}
        reply = &mut request => panic!("{reply:?}"),
    }
    server.shutdown.cancel();
    drop((request, idle));
    soon(server.task).await.expect("the server ends");
}

#[tokio::test]
async fn readiness_is_the_hosts_word() {
    let hooks = Hooks { ready: Arc::new(|| Err("the disk is full".to_owned())), ..Hooks::default() };
    let server = start_with(Config::default(), hooks).await;
    let reply = server.send("GET /readyz", "", "").await;
    assert_eq!((reply.status, &*reply.text()), (503, "the disk is full\n"));
    assert_eq!(server.send("GET /healthz", "", "").await.status, 200);
}

#[tokio::test]
async fn more_connections_than_fit_wait_for_their_turn() {
    let server = start_with(Config { connections: 1, ..Config::default() }, Hooks::default()).await;
    let socket = crate::ws::introduced(&server).await;
    let mut request = Box::pin(server.send("GET /healthz", "", ""));
    let early = tokio::time::timeout(Duration::from_millis(50), &mut request).await;
    assert!(early.is_err(), "the only slot is a WebSocket's: {early:?}");
    drop(socket);
    assert_eq!(request.await.status, 200);
}

#[tokio::test]
async fn whoever_sends_no_request_makes_room_for_who_does() {
    let server = start_with(Config { connections: 3, ..Config::default() }, Hooks::default()).await;
    let connect = async |sent: &str| {
        let mut stream = TcpStream::connect(server.address).await.expect("the server accepts");
        stream.write_all(sent.as_bytes()).await.expect("the beginning is sent");
        stream
    };
    let waiting = Arc::clone(&server.levers.waiting);
    let busy = server.ask("{ waits }", "application/json").await;
    soon(waiting.notified()).await;
    let head = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n", server.address);
    let (mut half, mut silent) = (connect(&head).await, connect("").await);
    assert_eq!(server.send("GET /healthz", "", "").await.status, 200, "it takes the place of one that waits");
    // With an error where its bytes were not read before.
    assert!(matches!(soon(half.read(&mut [0])).await, Ok(0) | Err(_)), "the longest is closed");
    silent.write_all(format!("{head}connection: close\r\n\r\n").as_bytes()).await.expect("the other is not");
    for mut answered in [silent, busy] {
        server.levers.go_on.notify_one();
        let mut bytes = Vec::new();
        soon(answered.read_to_end(&mut bytes)).await.expect("the answer is read");
        assert!(bytes.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&bytes));
    }
}

#[tokio::test]
async fn a_connection_that_is_kept_after_an_answer_makes_room_too() {
    let server = start_with(Config { connections: 1, ..Config::default() }, Hooks::default()).await;
    let mut kept = TcpStream::connect(server.address).await.expect("the server accepts");
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    kept.write_all(request.as_bytes()).await.expect("the request is sent");
    soon(kept.read_exact(&mut [0])).await.expect("an answer comes");
    assert_eq!(server.send("GET /healthz", "", "").await.status, 200, "it takes the only place");
    soon(kept.read_to_end(&mut Vec::new())).await.expect("the connection is closed");
}

#[tokio::test]
async fn a_client_that_dawdles_is_let_go() {
    let config = Config { read_timeout: Duration::from_millis(50), ..Config::default() };
    let server = start_with(config, Hooks::default()).await;
    let host = format!("host: {}\r\n", server.address);
    let half_a_body = format!(
        "POST /graphql HTTP/1.1\r\n{host}content-type: application/json\r\ncontent-length: 20\r\nconnection: close\r\n\r\n{{"
    );
    for (sent, answer) in [("GET /graphql HTTP/1.1\r\n".to_owned(), ""), (half_a_body, "HTTP/1.1 408 ")] {
        let mut stream = TcpStream::connect(server.address).await.expect("the server accepts");
        stream.write_all(sent.as_bytes()).await.expect("the beginning is sent");
        let mut bytes = Vec::new();
        soon(stream.read_to_end(&mut bytes)).await.expect("the server closes");
        assert!(bytes.starts_with(answer.as_bytes()), "{}", String::from_utf8_lossy(&bytes));
    }
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_let_go() {
    let config = Config { write_timeout: Duration::from_millis(50), connections: 1, ..Config::default() };
    let server = start_with(config, Hooks::default()).await;
    // More than what the kernel holds for a client that does not read.
    let _holds = server.ask("{ long(bytes: 20000000) }", "application/json").await;
    assert_eq!(server.send("GET /healthz", "", "").await.status, 200, "the only connection is free again");
    let _holds = server.ask("subscription { numbers(bytes: 1000000) }", "text/event-stream").await;
    server.until_running(1).await;
    server.until_running(0).await;
    let mut socket = crate::ws::introduced(&server).await;
    socket.subscribe("n", "subscription { numbers(bytes: 1000000) }").await;
    server.until_running(1).await;
    server.until_running(0).await;
    assert_eq!(server.send("GET /healthz", "", "").await.status, 200, "the only connection is free again");
}
