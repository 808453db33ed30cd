//! The peer: an axum server that tells those who subscribe of every edit, and nothing else. It has the text of an event
//! with places for the number of the revision, sends the same bytes to all, and what there is in one write.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket};
use axum::extract::{State, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::get;
use axum::serve::ListenerExt;
use futures_util::SinkExt;
use lmlang_bench::socket::PATH;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::broadcast;

use crate::Failure;

/// Events that wait for a subscriber at most: more than ever do.
const WAITING: usize = 4_096;

/// An event as the server sent it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) text: String,
    /// The revision that it tells of.
    pub(crate) number: u64,
}

/// The file in the folder of both that holds an [`Event`].
pub(crate) const EVENT: &str = "event.json";

struct Hub {
    /// What stands before the number of the revision, and behind it.
    around: (String, String),
    newest: Mutex<u64>,
    events: broadcast::Sender<Utf8Bytes>,
}

/// Serves until the process is ended. The first edit leads to the event in the folder.
pub(crate) async fn serve(folder: &Path) -> Result<(), Failure> {
    let Event { text, number } = serde_json::from_slice(&fs::read(folder.join(EVENT))?)?;
    let (before, after) = text.split_once(&format!("r{number}")).ok_or("an event tells its revision")?;
    let around = (before.to_owned() + "r", after.to_owned());
    let hub = Hub { around, newest: Mutex::new(number - 1), events: broadcast::Sender::new(WAITING) };
    let router = Router::new().route(PATH, get(upgrade)).with_state(Arc::new(hub));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        // Without it an event could wait for the acknowledgement of the one before.
        stream.set_nodelay(true).ok();
    });
    axum::serve(listener, router).await?;
    Ok(())
}

async fn upgrade(State(hub): State<Arc<Hub>>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.protocols(["graphql-transport-ws"]).on_upgrade(move |socket| async move {
        // An error means that the client is gone.
        talk(socket, &hub).await.ok();
    })
}

async fn talk(mut socket: WebSocket, hub: &Hub) -> Result<(), Failure> {
    let mut events: Option<broadcast::Receiver<Utf8Bytes>> = None;
    loop {
        let next = async {
            match &mut events {
                Some(events) => events.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            message = socket.recv() => match message.transpose()? {
                Some(Message::Text(text)) => {
                    let said: Value = serde_json::from_str(&text)?;
                    if said["payload"]["query"].as_str().is_some_and(|query| query.starts_with("subscription")) {
                        events = Some(hub.events.subscribe());
                    }
                    for answer in hub.answers(&said) {
                        socket.feed(Message::Text(answer.into())).await?;
                    }
                    socket.flush().await?;
                }
                Some(_) => {}
                None => return Ok(()),
            },
            event = next => {
                socket.feed(Message::Text(event?)).await?;
                while let Some(Ok(event)) = events.as_mut().map(broadcast::Receiver::try_recv) {
                    socket.feed(Message::Text(event)).await?;
                }
                socket.flush().await?;
            }
        }
    }
}

impl Hub {
    /// What a message is answered with; an edit is told to all who subscribe.
    fn answers(&self, said: &Value) -> Vec<String> {
        let query = said["payload"]["query"].as_str().unwrap_or_default();
        match said["type"].as_str() {
            Some("connection_init") => vec![r#"{"type":"connection_ack"}"#.to_owned()],
            Some("ping") => vec![r#"{"type":"pong"}"#.to_owned()],
            Some("subscribe") if query.starts_with("mutation") => {
                let (id, number) = (&said["id"], self.edit());
                let outcome = format!(
                    r#"{{"__typename":"EditApplied","committed":true,"revision":{{"number":{number}}}}}"#
                );
                let data = format!(r#"{{"data":{{"proposeEdit":{{"outcome":{outcome}}}}}}}"#);
                vec![
                    format!(r#"{{"type":"next","id":{id},"payload":{data}}}"#),
                    format!(r#"{{"type":"complete","id":{id}}}"#),
                ]
            }
            _ => Vec::new(),
        }
    }

    /// Makes an edit and tells of it; answers the number of its revision.
    fn edit(&self) -> u64 {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        *newest += 1;
        let (before, after) = &self.around;
        // Nobody may be there to be told.
        self.events.send(format!("{before}{newest}{after}").into()).ok();
        *newest
    }
}
