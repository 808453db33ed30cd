//! A client that speaks lines.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::world::{World, soon};

pub(crate) struct Wire {
    input: DuplexStream,
    output: Lines<BufReader<DuplexStream>>,
    task: JoinHandle<std::io::Result<()>>,
    next: u64,
}

impl Wire {
    pub(crate) fn open(world: &World) -> Wire {
        let (input, far_input) = tokio::io::duplex(1 << 20);
        let (far_output, output) = tokio::io::duplex(1 << 20);
        let desk = world.desk.clone();
        let task =
            tokio::spawn(lmlang_mcp::stdio::serve(desk, far_input, far_output, CancellationToken::new()));
        Wire { input, output: BufReader::new(output).lines(), task, next: 1 }
    }

    pub(crate) async fn line(&mut self, line: &str) {
        soon(self.input.write_all(format!("{line}\n").as_bytes())).await.expect("somebody reads");
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.line(&message.to_string()).await;
    }

    /// The next line that is written.
    pub(crate) async fn read(&mut self) -> Value {
        let line = soon(self.output.next_line()).await.expect("it can be read").expect("there is a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The answer to a request, and what came before it.
    pub(crate) async fn answer(&mut self, id: &Value) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        for _ in 0..1_000 {
            let message = self.read().await;
            if message.get("id") == Some(id) {
                return (message, before);
            }
            before.push(message);
        }
        panic!("there is no answer to {id}")
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = json!(self.next);
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        self.answer(&id).await.0
    }

    pub(crate) async fn tool(&mut self, name: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    pub(crate) async fn initialize(&mut self, version: &str) -> Value {
        let client = json!({ "name": "wire", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let answer = self.ask("initialize", params).await;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        answer
    }

    /// Ends the input, and waits until all is answered; what was written and not read is given.
    pub(crate) async fn close(mut self) -> Vec<Value> {
        soon(self.input.shutdown()).await.expect("it can be closed");
        drop(self.input);
        let mut rest = Vec::new();
        while let Some(line) = soon(self.output.next_line()).await.expect("it can be read") {
            rest.push(serde_json::from_str(&line).expect("lines are JSON"));
        }
        soon(self.task).await.expect("it does not panic").expect("it ends well");
        rest
    }
}
