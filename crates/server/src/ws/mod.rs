//! Subscriptions, and any other operation, over WebSockets: the protocol `graphql-transport-ws`.

mod message;
mod session;

use axum::Extension;
use axum::extract::{State, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::admission::{self, Outside};
use crate::answering::request_id;
use crate::caller;
use crate::slot::Slot;
use crate::state::Shared;

/// The name of the protocol in `Sec-WebSocket-Protocol`.
const PROTOCOL: &str = "graphql-transport-ws";
/// Bytes that are read at a time, more than most messages have. Each connection has them, and the library fills them with zeros
/// whenever it looks whether something has come, which a session does with every answer.
const READ_BUFFER: usize = 4 << 10;
/// Bytes that are collected before they are written out.
const WRITE_BUFFER: usize = 16 << 10;

/// What a client shows of itself before it says anything.
struct Shown {
    /// How its program names itself.
    client: Option<String>,
    /// The token in the header of its request, which browsers do not send.
    token: Option<String>,
}

/// Takes over the connection and its slot; one that does not offer the protocol is refused.
pub(crate) async fn upgrade(
    State(state): State<Shared>,
    Extension(slot): Extension<Slot>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let upgrade = upgrade
        .protocols([PROTOCOL])
        .max_message_size(state.config.message_bytes)
        .max_frame_size(state.config.message_bytes)
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER);
    if upgrade.selected_protocol().is_none() {
        return (StatusCode::BAD_REQUEST, "offer the subprotocol graphql-transport-ws\n").into_response();
    }
    let token = match admission::token(&headers) {
        Ok(token) => token.map(str::to_owned),
        Err(Outside { status, error, .. }) => {
            let id = request_id(&headers);
            tracing::info!(request_id = %id, code = error.code.as_str(), "a WebSocket was refused");
            return (status, format!("{}\n", error.message)).into_response();
        }
    };
    let shown = Shown { client: caller::client(&headers), token };
    let sockets = state.sockets.clone();
    upgrade.on_upgrade(move |socket| {
        sockets.track_future(async move {
            session::run(socket, shown, state).await;
            drop(slot);
        })
    })
}
