//! The peer: an axum server that has the steps of a run as structs, and sends them as the JSON that serde_json makes of so many at
//! a time.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::ws::{Message, WebSocket};
use axum::extract::{State, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::get;
use axum::serve::ListenerExt;
use lmlang_bench::socket::PATH;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::Failure;

/// A step of a trace.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Step {
    seq: u64,
    node: String,
    op: String,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

/// The file in the folder of both that holds the steps.
pub(crate) const STEPS: &str = "steps.json";

/// Some of the steps, as they are sent.
#[derive(Serialize)]
struct Batch<'a> {
    cursor: usize,
    steps: &'a [Step],
    skipped: usize,
    status: &'static str,
    outcome: Option<Outcome>,
}

#[derive(Serialize)]
struct Outcome {
    #[serde(rename = "__typename")]
    kind: &'static str,
}

#[derive(Serialize)]
struct Simulate<'a> {
    simulate: Batch<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    data: Simulate<'a>,
}

#[derive(Serialize)]
struct Next<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'static str,
    payload: Data<'a>,
}

/// Serves until the process is ended.
pub(crate) async fn serve(folder: &Path) -> Result<(), Failure> {
    let steps: Vec<Step> = serde_json::from_slice(&fs::read(folder.join(STEPS))?)?;
    let router = Router::new().route(PATH, get(upgrade)).with_state(Arc::new(steps));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        // Without it steps could wait for the acknowledgement of those before.
        stream.set_nodelay(true).ok();
    });
    axum::serve(listener, router).await?;
    Ok(())
}

async fn upgrade(State(steps): State<Arc<Vec<Step>>>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.protocols(["graphql-transport-ws"]).on_upgrade(move |socket| async move {
        // An error means that the client is gone.
        talk(socket, &steps).await.ok();
    })
}

async fn talk(mut socket: WebSocket, steps: &[Step]) -> Result<(), Failure> {
    while let Some(message) = socket.recv().await.transpose()? {
        let Message::Text(text) = message else { continue };
        let said: Value = serde_json::from_str(&text)?;
        match said["type"].as_str() {
            Some("connection_init") => send(&mut socket, r#"{"type":"connection_ack"}"#.to_owned()).await?,
            Some("subscribe") => {
                let most = said["payload"]["variables"]["batch"]["maxEvents"].as_u64().unwrap_or(1);
                stream(&mut socket, steps, usize::try_from(most)?).await?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Sends all steps, each message in a write of its own.
async fn stream(socket: &mut WebSocket, steps: &[Step], most: usize) -> Result<(), Failure> {
    let batch = |cursor, steps, status, outcome| {
        let simulate = Batch { cursor, steps, skipped: 0, status, outcome };
        serde_json::to_string(&Next { kind: "next", id: "1", payload: Data { data: Simulate { simulate } } })
    };
    let mut cursor = 0;
    for some in steps.chunks(most) {
        cursor += some.len();
        send(socket, batch(cursor, some, "RUNNING", None)?).await?;
    }
    send(socket, batch(cursor, &[], "COMPLETED", Some(Outcome { kind: "Returned" }))?).await?;
    send(socket, r#"{"type":"complete","id":"1"}"#.to_owned()).await
}

async fn send(socket: &mut WebSocket, text: String) -> Result<(), Failure> {
    Ok(socket.send(Message::Text(text.into())).await?)
}
