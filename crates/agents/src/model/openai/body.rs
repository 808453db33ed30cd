//! The body of an answer that is none.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};

/// Enough to find a message in.
const ENOUGH: usize = 64 << 10;

/// The beginning of a body, as far as it comes; `idle` is for how long nothing may.
pub(super) async fn beginning<S, E>(mut bytes: S, idle: Duration) -> Vec<u8>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: std::error::Error,
{
    let mut body = Vec::new();
    while let Ok(Some(Ok(chunk))) = tokio::time::timeout(idle, bytes.next()).await {
        body.extend_from_slice(&chunk);
        if body.len() >= ENOUGH {
            body.truncate(ENOUGH);
            break;
        }
    }
    body
}
