//! Subscriptions, and any other operation, over WebSockets: the protocol `graphql-transport-ws`.

mod message;
mod session;

use axum::Extension;
use axum::extract::{State, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::caller;
use crate::listen::Slot;
use crate::router::Shared;

/// The name of the protocol in `Sec-WebSocket-Protocol`.
const PROTOCOL: &str = "graphql-transport-ws";
/// Bytes that are collected before they are written out.
const WRITE_BUFFER: usize = 16 << 10;

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
        .write_buffer_size(WRITE_BUFFER);
    if upgrade.selected_protocol().is_none() {
        return (StatusCode::BAD_REQUEST, "offer the subprotocol graphql-transport-ws\n").into_response();
    }
    let client = caller::client(&headers);
    let sockets = state.sockets.clone();
    upgrade.on_upgrade(move |socket| {
        sockets.track_future(async move {
            session::run(socket, client, state).await;
            drop(slot);
        })
    })
}
