//! Lines of JSON-RPC: MCP as clients speak it, and every tool as a method of its own.
//!
//! The SDK ignores lines that are no JSON and knows no other methods than MCP's. So lines are read here: what is wrong is
//! answered, a method with the name of a tool is called, and what is MCP is handed on. Answers come in the order in which
//! they are ready.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage, serve_server};
use rmcp::transport::Transport;
use serde_json::{Map, Value, json};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::desk::{self, Desk, Progress};
use crate::failure::{RpcCode, RpcError};
use crate::mask::masked;
use crate::request::{self, Request, refusal};
use crate::result::untyped;
use crate::service::{self, METHODS, Service};
use crate::tool::Tool;
use crate::tools;

/// Bytes of a line.
const LINE: u64 = 16 << 20;
/// Calls that run at a time; further lines wait.
const AT_A_TIME: usize = 64;

/// The field of `_meta` with which a request needs no handshake.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Reads requests until there are no more, or somebody asks it to stop, and writes the answers.
///
/// # Errors
///
/// The input cannot be read, or nobody takes the output.
pub async fn serve<R, W>(desk: Desk, input: R, output: W, stop: CancellationToken) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (out, lines) = mpsc::channel(AT_A_TIME);
    let writer = tokio::spawn(write(lines, output));
    let mut session = Session {
        desk,
        out,
        slots: Arc::new(Semaphore::new(AT_A_TIME)),
        open: Open::default(),
        tasks: JoinSet::new(),
        mcp: None,
        met: false,
        plain: false,
    };
    let mut input = BufReader::new(input);
    let read = loop {
        let line = tokio::select! {
            () = stop.cancelled() => break Ok(()),
            line = read(&mut input) => line,
        };
        match line {
            Ok(Some(line)) => session.take(&line).await,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    if stop.is_cancelled() {
        session.tasks.shutdown().await;
    }
    session.finish().await;
    let written = writer.await.map_err(io::Error::other)?;
    read.and(written)
}

async fn write<W: AsyncWrite + Unpin>(mut lines: mpsc::Receiver<String>, mut output: W) -> io::Result<()> {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

/// A line of the input.
enum Line {
    Whole(Vec<u8>),
    TooLong,
}

async fn read<R: AsyncBufRead + Unpin>(input: &mut R) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    input.take(LINE).read_until(b'\n', &mut line).await?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && u64::try_from(line.len()).is_ok_and(|length| length == LINE) {
        loop {
            line.clear();
            input.take(64 << 10).read_until(b'\n', &mut line).await?;
            if line.is_empty() || line.last() == Some(&b'\n') {
                return Ok(Some(Line::TooLong));
            }
        }
    }
    Ok(Some(Line::Whole(line)))
}

/// Requests that are not answered yet, by id: calls with what ends them, and what was handed on.
type Open = Arc<Mutex<HashMap<String, Option<CancellationToken>>>>;

fn locked(open: &Open) -> MutexGuard<'_, HashMap<String, Option<CancellationToken>>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Session {
    desk: Desk,
    out: mpsc::Sender<String>,
    slots: Arc<Semaphore>,
    open: Open,
    tasks: JoinSet<()>,
    mcp: Option<(mpsc::Sender<ClientJsonRpcMessage>, JoinHandle<()>)>,
    /// Whether there was a handshake.
    met: bool,
    /// Whether it was one of a revision without links in results.
    plain: bool,
}

impl Session {
    async fn take(&mut self, line: &Line) {
        let bytes = match line {
            Line::Whole(bytes) => bytes.trim_ascii_end(),
            Line::TooLong => {
                let expected = format!("a line of at most {LINE} bytes");
                let data = json!({ "field": "line", "expected": expected, "actual": "a longer one" });
                return self.refuse(&Value::Null, &RpcError::new(RpcCode::InvalidRequest, data)).await;
            }
        };
        if bytes.is_empty() {
            return;
        }
        match request::read(bytes) {
            Ok(Some(request)) => self.dispatch(request).await,
            // The answer to something that we asked: nothing is ever asked.
            Ok(None) => {}
            Err((id, error)) => self.refuse(&id, &error).await,
        }
        while self.tasks.try_join_next().is_some() {}
    }

    async fn dispatch(&mut self, request: Request) {
        let Some(id) = request.id.clone() else { return self.notified(request).await };
        if locked(&self.open).contains_key(&id.to_string()) {
            let actual: String = id.to_string().chars().take(80).collect();
            let expected = "an id that no request has which is not answered yet";
            let data = json!({ "field": "id", "expected": expected, "actual": actual });
            // With the id it would be taken for the answer to the first one.
            return self.refuse(&Value::Null, &RpcError::new(RpcCode::InvalidRequest, data)).await;
        }
        let method = request.method.as_str();
        if let Some(tool) = tools::find(method) {
            return self.call(id, tool, request.params, Form::Method).await;
        }
        if !METHODS.contains(&method) {
            let mut available = tools::names();
            available.extend(METHODS);
            return self.refuse(&id, &RpcError::no_method(method, &available)).await;
        }
        let inline = request.params["_meta"].get(VERSION).is_some();
        if !self.met && !inline {
            // Whoever speaks plain JSON-RPC shakes no hands.
            match method {
                "tools/list" => {
                    let list = serde_json::to_value(service::list()).unwrap_or_default();
                    return self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": list })).await;
                }
                "tools/call" => return self.call_named(id, request.params).await,
                _ => {}
            }
        }
        self.met |= method == "initialize" || inline;
        if method == "initialize" {
            self.plain = service::is_plain(request.params["protocolVersion"].as_str());
        }
        self.hand_on(request).await;
    }

    /// A notification gets no answer, whatever it says.
    async fn notified(&mut self, request: Request) {
        let cancelled = match request.method.as_str() {
            "notifications/cancelled" => &request.params["requestId"],
            "$/cancelRequest" => &request.params["id"],
            _ => &Value::Null,
        };
        if !cancelled.is_null() {
            let mut open = locked(&self.open);
            let key = cancelled.to_string();
            // What was handed on keeps its id: what it ended with could be taken for the answer to a later one.
            if let Some(call) = open.get(&key).cloned().flatten() {
                call.cancel();
                open.remove(&key);
            }
        }
        if request.method.starts_with("notifications/") && self.mcp.is_some() {
            self.hand_on(request).await;
        } else {
            tracing::debug!(method = request.method, "a notification without effect");
        }
    }

    async fn call_named(&mut self, id: Value, params: Value) {
        let name = params["name"].as_str().unwrap_or_default();
        match tools::find(name) {
            Some(tool) => {
                let mut arguments = params.get("arguments").cloned().unwrap_or_else(|| json!({}));
                if let (Some(meta), Some(arguments)) = (params.get("_meta"), arguments.as_object_mut()) {
                    arguments.insert("_meta".to_owned(), meta.clone());
                }
                self.call(id, tool, arguments, Form::Tool).await;
            }
            None => {
                let mut data = RpcError::no_method(name, &tools::names()).data;
                data["method"] = "tools/call".into();
                data["reason"] = match params["name"].is_string() {
                    true => format!("there is no tool `{name}`").into(),
                    false => "`name` is that of a tool".into(),
                };
                self.refuse(&id, &RpcError::new(RpcCode::InvalidParams, data)).await;
            }
        }
    }

    /// Begins a call; its answer comes when it is ready.
    async fn call(&mut self, id: Value, tool: &'static Tool, params: Value, form: Form) {
        let mut arguments = match params {
            Value::Object(arguments) => arguments,
            Value::Null => Map::new(),
            _ => {
                let data = json!({ "method": tool.name, "reason": "the parameters are no object" });
                return self.refuse(&id, &RpcError::new(RpcCode::InvalidParams, data)).await;
            }
        };
        let meta = arguments.remove("_meta").unwrap_or_default();
        let token = match (&meta["progressToken"], tool.begins) {
            (Value::Null, Some((token, _))) => token.into(),
            (given, _) => given.clone(),
        };
        let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else { return };
        let stop = CancellationToken::new();
        let key = id.to_string();
        locked(&self.open).insert(key.clone(), Some(stop.clone()));
        let (desk, out, open) = (self.desk.clone(), self.out.clone(), Arc::clone(&self.open));
        let (plain, named) = (self.plain, desk::named(&arguments));
        self.tasks.spawn(async move {
            let (progress, steps) = reports(&token);
            let work = desk.call(tool, arguments, progress);
            let answer = tokio::select! {
                () = stop.cancelled() => None,
                done = reporting(work, steps, &out) => Some(form.answer(&id, done, named.as_deref(), plain)),
            };
            {
                let mut open = locked(&open);
                // Otherwise it is gone, and the id may be that of a later one.
                if !stop.is_cancelled() {
                    open.remove(&key);
                }
            }
            if let Some(answer) = answer {
                // Whoever does not read any more gets nothing.
                out.send(answer.to_string()).await.ok();
            }
            drop(slot);
        });
    }

    async fn hand_on(&mut self, request: Request) {
        let message = match serde_json::from_value::<ClientJsonRpcMessage>(request.whole) {
            Ok(message) => message,
            Err(error) => {
                let Some(id) = request.id else { return };
                let data = json!({ "method": request.method, "reason": error.to_string() });
                return self.refuse(&id, &RpcError::new(RpcCode::InvalidParams, data)).await;
            }
        };
        if self.mcp.as_ref().is_none_or(|(_, task)| task.is_finished()) {
            // What an earlier one has not answered, nobody does.
            locked(&self.open).retain(|_, call| call.is_some());
            self.mcp = Some(self.begin());
        }
        if let Some(id) = &request.id {
            locked(&self.open).insert(id.to_string(), None);
        }
        if let Some((messages, _)) = &self.mcp
            && messages.send(message).await.is_err()
        {
            tracing::warn!("the MCP service has ended: a message is lost");
        }
    }

    fn begin(&self) -> (mpsc::Sender<ClientJsonRpcMessage>, JoinHandle<()>) {
        let (sender, messages) = mpsc::channel(AT_A_TIME);
        let transport = Channel { messages, out: self.out.clone(), open: Arc::clone(&self.open) };
        let service = Service::Alone(self.desk.clone());
        let task = tokio::spawn(async move {
            match serve_server(service, transport).await {
                Ok(running) => {
                    if let Err(error) = running.waiting().await {
                        tracing::error!(%error, "the MCP service has failed");
                    }
                }
                Err(error) => tracing::info!(%error, "the MCP service has not begun"),
            }
        });
        (sender, task)
    }

    async fn refuse(&self, id: &Value, error: &RpcError) {
        self.send(&refusal(id, error)).await;
    }

    async fn send(&self, message: &Value) {
        if self.out.send(message.to_string()).await.is_err() {
            tracing::debug!("nobody reads the answers");
        }
    }

    /// Waits for what has begun.
    async fn finish(mut self) {
        while self.tasks.join_next().await.is_some() {}
        if let Some((messages, task)) = self.mcp.take() {
            drop(messages);
            if let Err(error) = task.await {
                tracing::error!(%error, "the MCP service has failed");
            }
        }
    }
}

/// How a call was asked for, which is how errors of the call itself are told.
#[derive(Clone, Copy)]
enum Form {
    /// As a method: with an error of JSON-RPC.
    Method,
    /// As MCP's `tools/call`: with a result that a model reads.
    Tool,
}

impl Form {
    /// The answer to a call about a program.
    fn answer(
        self,
        id: &Value,
        done: Result<desk::Result, RpcError>,
        program: Option<&str>,
        plain: bool,
    ) -> Value {
        let done = match (self, done) {
            (_, Ok(done)) => done,
            (Form::Tool, Err(error)) => desk::Result::of_error(&error, program),
            (Form::Method, Err(error)) => return refusal(id, &error),
        };
        json!({ "jsonrpc": "2.0", "id": id, "result": untyped(&done, plain) })
    }
}

/// A channel for what a call says of how far it is, as notifications.
fn reports(token: &Value) -> (Progress, mpsc::UnboundedReceiver<String>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    if token.is_null() {
        return (Arc::new(|_| {}), receiver);
    }
    let token = token.clone();
    let progress: Progress = Arc::new(move |message| {
        let value = json!({ "kind": "report", "message": masked(message) });
        let params = json!({ "token": token, "value": value });
        let told = json!({ "jsonrpc": "2.0", "method": "$/progress", "params": params });
        // Nobody listens any more when the call is over.
        sender.send(told.to_string()).ok();
    });
    (progress, receiver)
}

async fn reporting<T>(
    work: impl Future<Output = T>,
    mut steps: mpsc::UnboundedReceiver<String>,
    out: &mpsc::Sender<String>,
) -> T {
    let mut work = std::pin::pin!(work);
    let mut open = true;
    loop {
        tokio::select! {
            biased;
            step = steps.recv(), if open => match step {
                Some(step) => open = out.send(step).await.is_ok(),
                None => open = false,
            },
            done = &mut work => {
                while let (true, Ok(step)) = (open, steps.try_recv()) {
                    open = out.send(step).await.is_ok();
                }
                return done;
            }
        }
    }
}

/// What the SDK reads from and writes to.
struct Channel {
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    out: mpsc::Sender<String>,
    open: Open,
}

impl Transport<RoleServer> for Channel {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(answer) => Some(&answer.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = answered {
            locked(&self.open).remove(&id.clone().into_json_value().to_string());
        }
        let out = self.out.clone();
        async move {
            let line = serde_json::to_string::<ServerJsonRpcMessage>(&message).map_err(io::Error::other)?;
            out.send(line).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.messages.close();
        Ok(())
    }
}
