//! Event streams: the protocol of graphql-sse with a connection for each operation.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{FutureExt, Stream, StreamExt, TryStreamExt, future, stream};
use lmlang_graphql::error::{ApiError, Code};
use lmlang_graphql::transport::{Answer, Caller, OperationKind, Prepared, RequestId};

use crate::running;
use crate::state::Shared;

/// Answers with one `next` event for each answer and `complete` after the last.
///
/// A client that does not read holds up its source. At a shutdown the stream ends without `complete`, on which clients
/// reconnect.
pub(crate) fn respond(state: &Shared, prepared: Result<Prepared, Answer>) -> Response {
    let answers = match prepared {
        Ok(prepared) if prepared.kind() == OperationKind::Subscription => {
            let (caller, id) = (Arc::clone(prepared.caller()), prepared.id().clone());
            as_long_as_good(running::begin(state, prepared), caller, id).boxed()
        }
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
        .chain(stream::once(future::ready(Event::default().event("complete"))))
        .map(Ok::<_, Infallible>)
        .take_until(state.shutdown.clone().cancelled_owned());
    let keep_alive = KeepAlive::new().interval(state.config.keep_alive);
    let response = Sse::new(events).keep_alive(keep_alive).into_response();
    response.map(|body| Body::from_stream(body.into_data_stream().map_ok(with_data)))
}

/// The last event, with the field `data` that the library does not write when it is empty. A browser tells its page of no event
/// without one: the page would not hear of the end, and the browser asks for the whole operation again.
fn with_data(event: Bytes) -> Bytes {
    const WITHOUT: &[u8] = b"event: complete\n\n";
    if *event == *WITHOUT { Bytes::from_static(b"event: complete\ndata:\n\n") } else { event }
}

/// Passes answers on for as long as what the caller came in with is good; then says so and ends.
fn as_long_as_good(
    answers: impl Stream<Item = Answer> + Send + 'static,
    caller: Arc<Caller>,
    id: RequestId,
) -> impl Stream<Item = Answer> + Send {
    let ended = async move { caller.grant.ended().await }.boxed();
    stream::unfold(Some((answers.boxed(), ended)), move |state| {
        let id = id.clone();
        async move {
            let (mut answers, mut ended) = state?;
            tokio::select! {
                biased;
                () = &mut ended => {
                    let error = ApiError::new(Code::Unauthenticated, "the token is not valid any more");
                    Some((Answer::refuse(error, &id), None))
                }
                answer = answers.next() => answer.map(|answer| (answer, Some((answers, ended)))),
            }
        }
    })
}
