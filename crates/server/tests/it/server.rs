//! A server on a free port, and the least of an HTTP client.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_graphql::ValidationMode;
use lmlang_graphql::transport::{Denied, Executor, Grant, Limits};
use lmlang_server::{Admit, Config, Hooks, bind, serve};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::schema::{Levers, schema};

/// Nothing that a test waits for takes this long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("it happens soon")
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) levers: Levers,
    pub(crate) shutdown: CancellationToken,
    pub(crate) task: JoinHandle<()>,
}

pub(crate) async fn start() -> Server {
    start_with(Config::default(), Hooks::default()).await
}

pub(crate) async fn start_with(config: Config, hooks: Hooks) -> Server {
    let levers = Levers::new();
    let schema = |mode| schema(levers.clone(), mode);
    let (strict, lenient) = (schema(ValidationMode::Strict), schema(ValidationMode::Fast));
    let executor = Executor::with_lenient(strict, lenient, Limits::default());
    serving(executor, levers, config, hooks).await
}

/// Serves the operations of an executor.
pub(crate) async fn serving(executor: Executor, levers: Levers, config: Config, hooks: Hooks) -> Server {
    let config = Config { listen: ([127, 0, 0, 1], 0).into(), ..config };
    let bound = bind(config).await.expect("a free port is there");
    let address = bound.address();
    let shutdown = CancellationToken::new();
    let task = tokio::spawn(serve(bound, executor, hooks, shutdown.clone()));
    Server { address, levers, shutdown, task }
}

/// Lets in whoever shows one token.
pub(crate) fn only(token: &'static str) -> Hooks {
    let admit: Admit = Arc::new(move |shown| {
        let admitted = match shown {
            Some(shown) if shown == token => Ok(Grant::owner()),
            Some(_) => Err(Denied::Invalid { id: None }),
            None => Err(Denied::Missing),
        };
        Box::pin(std::future::ready(admitted))
    });
    Hooks { admit, ..Hooks::default() }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Server {
    /// Sends one request on a connection of its own.
    pub(crate) async fn send(&self, line: &str, headers: &str, body: &str) -> Reply {
        let host = if headers.to_lowercase().contains("host:") {
            String::new()
        } else {
            format!("host: {}\r\n", self.address)
        };
        let length = if headers.to_lowercase().contains("content-length:") || line.starts_with("GET") {
            String::new()
        } else {
            format!("content-length: {}\r\n", body.len())
        };
        let request = format!("{line} HTTP/1.1\r\n{host}{length}connection: close\r\n{headers}\r\n{body}");
        self.send_raw(request.as_bytes()).await
    }

    /// Sends bytes on a connection of its own, which the server closes after its answer.
    pub(crate) async fn send_raw(&self, request: &[u8]) -> Reply {
        soon(async {
            let mut stream = TcpStream::connect(self.address).await.expect("the server accepts");
            stream.write_all(request).await.expect("the request is sent");
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).await.expect("the answer is read");
            let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("the answer has a head");
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let status =
                head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("it has a status");
            Reply { status, head, body: bytes[end + 4..].to_vec() }
        })
        .await
    }

    /// Posts a document on a connection of its own, whose answer is still to be read.
    pub(crate) async fn ask(&self, query: &str, accept: &str) -> TcpStream {
        self.ask_as(query, accept, "").await
    }

    /// The same with more headers, each with the end of its line.
    pub(crate) async fn ask_as(&self, query: &str, accept: &str, headers: &str) -> TcpStream {
        let body = serde_json::json!({ "query": query }).to_string();
        let request = format!(
            "POST /graphql HTTP/1.1\r\nhost: {}\r\naccept: {accept}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n{headers}connection: close\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let mut stream = TcpStream::connect(self.address).await.expect("the server accepts");
        stream.write_all(request.as_bytes()).await.expect("the request is sent");
        stream
    }

    /// Posts a document and asks for `accept`.
    pub(crate) async fn post(&self, query: &str, accept: &str) -> Reply {
        let body = serde_json::json!({ "query": query }).to_string();
        let headers = format!("content-type: application/json\r\naccept: {accept}\r\n");
        self.send("POST /graphql", &headers, &body).await
    }

    /// Waits until `count` subscriptions run.
    pub(crate) async fn until_running(&self, count: i32) {
        let mut running = self.levers.running.subscribe();
        soon(running.wait_for(|&running| running == count)).await.expect("the levers are there");
    }
}
