//! The answers to an operation, one after the other: one to a query or a mutation, many to a subscription.

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use hyper::body::Incoming;
use lmlang_graphql::transport::Answer;

use crate::error::Error;
use crate::events::{Event, Events};
use crate::remote::Server;

/// What is still to come.
pub(crate) enum Answers<'a> {
    /// From this process.
    Here(BoxStream<'static, Answer>),
    /// From a server.
    There {
        /// The server.
        server: &'a Server,
        /// The rest of what it sends.
        body: Incoming,
        /// What has come and was not looked at.
        events: Events,
    },
    /// One that was there before anything ran; then none.
    Only(Option<Vec<u8>>),
}

impl Answers<'_> {
    /// The next one, as it comes; none after the last. A stream that a server breaks off is [`Error::Lost`].
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let (server, body, events) = match self {
            Answers::Here(answers) => return Ok(answers.next().await.map(|answer| written(&answer))),
            Answers::Only(answer) => return Ok(answer.take()),
            Answers::There { server, body, events } => (server, body, events),
        };
        loop {
            if let Some(Event { name, data }) = events.next() {
                match name.as_str() {
                    "next" => return Ok(Some(data.into_bytes())),
                    "complete" => return Ok(None),
                    // Newer servers may tell more.
                    _ => continue,
                }
            }
            match server.next(body).await? {
                Some(bytes) => events.add(&bytes),
                None => return Err(server.cut_off()),
            }
        }
    }
}

/// An answer in its JSON form.
pub(crate) fn written(answer: &Answer) -> Vec<u8> {
    serde_json::to_vec(answer).expect("answers have a JSON form")
}
