//! How an answer is read to its end.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{FutureExt, Stream, StreamExt};
use http::Response;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::super::quote::quote;
use super::super::secret::Secret;
use super::super::{ModelError, Tell};
use super::answer::{self, Answer, Piece};
use super::body::beginning;
use super::events::Events;
use super::refusal;
use super::{Options, with_causes};

/// Most pieces of a body that are looked at behind its end.
const REST: usize = 8;

/// What ends a stream.
const DONE: &[u8] = b"[DONE]";

/// Reads an answer that was not refused.
pub(super) async fn read(
    response: Response<Incoming>,
    options: &Options,
    tell: Tell<'_>,
) -> Result<Answer, ModelError> {
    let status = response.status().as_u16();
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let bytes = response.into_body().into_data_stream();
    let reader = Reader { status, idle: options.idle, key: options.key.as_ref() };
    match kind.as_str() {
        // Without a word about it, it is what was asked for.
        "text/event-stream" | "" => reader.stream(bytes, tell).await,
        kind if kind == "application/json" || kind.ends_with("+json") => reader.whole(bytes, tell).await,
        kind => {
            let why = format!("its content is `{}`", quote(kind, options.key.as_ref()));
            let begin = beginning(bytes, reader.idle).await;
            Err(ModelError::Unreadable { why, said: quote(&String::from_utf8_lossy(&begin), reader.key) })
        }
    }
}

/// Reads the bytes of one answer.
pub(super) struct Reader<'a> {
    /// The HTTP status.
    pub(super) status: u16,
    /// How long nothing may come.
    pub(super) idle: Duration,
    /// What no error may show.
    pub(super) key: Option<&'a Secret>,
}

impl Reader<'_> {
    /// Reads an event stream.
    pub(super) async fn stream<S, E>(&self, mut bytes: S, tell: Tell<'_>) -> Result<Answer, ModelError>
    where
        S: Stream<Item = Result<Bytes, E>> + Unpin,
        E: std::error::Error,
    {
        let mut answer = Answer::default();
        let mut events = Events::default();
        let mut found = Vec::new();
        let mut pieces = 0_usize;
        loop {
            let next = tokio::time::timeout(self.idle, bytes.next()).await;
            let Ok(next) = next else {
                // Said to be finished, and only the count of its tokens never comes.
                return if answer.finish.is_some() {
                    Ok(answer)
                } else {
                    Err(ModelError::Stalled { after: self.idle })
                };
            };
            match next {
                Some(Ok(chunk)) => {
                    let grown = events.push(&chunk, &mut found);
                    grown.map_err(|long| ModelError::TooLarge { limit: long.limit })?;
                    for data in found.drain(..) {
                        if data.trim_ascii() == DONE {
                            // The rest of the body, if it is there, makes the connection good for another request.
                            for _ in 0..REST {
                                if !matches!(bytes.next().now_or_never(), Some(Some(Ok(_)))) {
                                    break;
                                }
                            }
                            return self.done(answer, pieces);
                        }
                        pieces += 1;
                        self.take(&mut answer, &data, &mut *tell)?;
                    }
                }
                Some(Err(_)) if answer.finish.is_some() => return Ok(answer),
                Some(Err(_)) => return Err(ModelError::Cut { received: answer.text.len() }),
                None => break,
            }
        }
        let rest = events.end().map_err(|long| ModelError::TooLarge { limit: long.limit })?;
        for data in rest {
            if data.trim_ascii() == DONE {
                return self.done(answer, pieces);
            }
            // Half an event is what a stream that is cut off ends in.
            if serde_json::from_slice::<serde_json::Value>(&data).is_ok() {
                self.take(&mut answer, &data, &mut *tell)?;
            }
        }
        match answer.finish {
            Some(_) => Ok(answer),
            None => Err(ModelError::Cut { received: answer.text.len() }),
        }
    }

    /// Reads an answer that comes in one.
    async fn whole<S, E>(&self, bytes: S, tell: Tell<'_>) -> Result<Answer, ModelError>
    where
        S: Stream<Item = Result<Bytes, E>> + Unpin,
        E: std::error::Error,
    {
        let mut body = Vec::new();
        let mut bytes = bytes;
        loop {
            let next = tokio::time::timeout(self.idle, bytes.next()).await;
            match next.map_err(|_| ModelError::Stalled { after: self.idle })? {
                None => break,
                Some(Err(_)) => return Err(ModelError::Cut { received: 0 }),
                Some(Ok(chunk)) => body.extend_from_slice(&chunk),
            }
            if body.len() > answer::LONGEST {
                return Err(ModelError::TooLarge { limit: answer::LONGEST });
            }
        }
        let mut answer = Answer::default();
        self.take(&mut answer, &body, tell)?;
        let empty = answer.text.is_empty() && answer.finish.is_none();
        self.done(answer, usize::from(!empty))
    }

    fn take(&self, answer: &mut Answer, data: &[u8], tell: Tell<'_>) -> Result<(), ModelError> {
        let piece: Piece = serde_json::from_slice(data).map_err(|error| ModelError::Unreadable {
            why: quote(&with_causes(&error), self.key),
            said: quote(&String::from_utf8_lossy(data), self.key),
        })?;
        if let Some(error) = piece.error.as_ref().filter(|error| !error.is_null()) {
            return Err(refusal::within(error, self.status, self.key));
        }
        answer.take(piece, tell).map_err(|_| ModelError::TooLarge { limit: answer::LONGEST })
    }

    fn done(&self, answer: Answer, pieces: usize) -> Result<Answer, ModelError> {
        if pieces == 0 {
            let why = "there is no answer in it".to_owned();
            return Err(ModelError::Unreadable { why, said: String::new() });
        }
        Ok(answer)
    }
}
