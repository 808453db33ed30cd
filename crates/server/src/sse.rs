//! Event streams: the protocol of graphql-sse with a connection for each operation.

use std::convert::Infallible;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, future, stream};
use lmlang_graphql::transport::{Answer, Prepared};

use crate::router::Shared;
use crate::running;

/// Answers with one `next` event for each answer and `complete` after the last.
///
/// A client that does not read holds up its source. At a shutdown the stream ends without `complete`, on which clients
/// reconnect.
pub(crate) fn respond(state: &Shared, prepared: Result<Prepared, Answer>) -> Response {
    let answers = match prepared {
        Ok(prepared) => running::begin(state, prepared).boxed(),
        Err(answer) => stream::once(future::ready(answer)).boxed(),
    };
    let events = answers
        .map(|answer| {
            let json = serde_json::to_string(&answer).unwrap_or_else(|error| {
                tracing::error!(%error, "an answer is not JSON");
                r#"{"errors":[{"message":"internal error"}]}"#.to_owned()
            });
            Event::default().event("next").data(json)
        })
        .chain(stream::once(future::ready(Event::default().event("complete").data(""))))
        .map(Ok::<_, Infallible>)
        .take_until(state.shutdown.clone().cancelled_owned());
    Sse::new(events).keep_alive(KeepAlive::new().interval(state.config.keep_alive)).into_response()
}
