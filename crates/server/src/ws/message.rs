//! The messages of `graphql-transport-ws`, and the codes with which a connection is closed.

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes};
use lmlang_graphql::transport::{Answer, Outcome, Params};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Longest name of an operation.
const ID_BYTES: usize = 128;

/// What a client sends.
#[derive(Debug)]
pub(super) enum FromClient {
    Init(Introduction),
    Ping,
    Pong,
    Subscribe { id: String, params: Box<Params> },
    Complete { id: String },
}

/// Who a client says it is.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Introduction {
    #[serde(default, alias = "Authorization")]
    pub(super) authorization: Option<String>,
    #[serde(default)]
    pub(super) author: Option<String>,
    #[serde(default)]
    pub(super) author_kind: Option<String>,
}

/// Why a connection is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Close {
    pub(super) code: u16,
    pub(super) reason: String,
}

impl Close {
    pub(super) fn bad_request(reason: impl Into<String>) -> Close {
        Close { code: 4400, reason: reason.into() }
    }
    pub(super) fn unauthorized() -> Close {
        Close { code: 4401, reason: "Unauthorized".to_owned() }
    }
    pub(super) fn forbidden() -> Close {
        Close { code: 4403, reason: "Forbidden".to_owned() }
    }
    pub(super) fn init_timeout() -> Close {
        Close { code: 4408, reason: "Connection initialisation timeout".to_owned() }
    }
    pub(super) fn subscriber_exists(id: &str) -> Close {
        Close { code: 4409, reason: format!("Subscriber for {id} already exists") }
    }
    pub(super) fn too_many_inits() -> Close {
        Close { code: 4429, reason: "Too many initialisation requests".to_owned() }
    }
    /// A code on which clients come again.
    pub(super) fn try_again() -> Close {
        Close { code: 1013, reason: "Try again later".to_owned() }
    }
    /// A code on which clients reconnect.
    pub(super) fn restart() -> Close {
        Close { code: 1012, reason: "Service restart".to_owned() }
    }
    pub(super) fn too_big() -> Close {
        Close { code: 1009, reason: "Message too big".to_owned() }
    }
    pub(super) fn silent() -> Close {
        Close { code: 1001, reason: "No sign of life".to_owned() }
    }
    pub(super) fn broken() -> Close {
        Close { code: 1002, reason: "Protocol error".to_owned() }
    }
    pub(super) fn not_utf8() -> Close {
        Close { code: 1007, reason: "Text that is not UTF-8".to_owned() }
    }

    /// Makes the frame; a longer reason than a frame can hold is cut, which would otherwise be a broken frame.
    pub(super) fn into_message(self) -> Message {
        let mut reason = self.reason;
        let end = (0..=reason.len().min(123)).rev().find(|&at| reason.is_char_boundary(at)).unwrap_or(0);
        reason.truncate(end);
        Message::Close(Some(CloseFrame { code: self.code, reason: reason.into() }))
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

/// Reads a message; what is none closes the connection.
pub(super) fn read(text: &str) -> Result<FromClient, Close> {
    let not_json = || Close::bad_request("Invalid message: not a JSON object with a type");
    if !text.trim_start().starts_with('{') {
        return Err(not_json());
    }
    let Envelope { kind, id, payload } = serde_json::from_str(text).map_err(|_| not_json())?;
    let id = || match id {
        Some(id) if (1..=ID_BYTES).contains(&id.len()) => Ok(id),
        Some(_) | None => Err(Close::bad_request(format!("Invalid message: id of 1 to {ID_BYTES} bytes"))),
    };
    match kind.as_str() {
        "connection_init" => Ok(FromClient::Init(introduction(payload)?)),
        "ping" => Ok(FromClient::Ping),
        "pong" => Ok(FromClient::Pong),
        "complete" => Ok(FromClient::Complete { id: id()? }),
        "subscribe" => {
            let payload = payload.map(RawValue::get).filter(|payload| payload.starts_with('{'));
            let payload =
                payload.ok_or_else(|| Close::bad_request("Invalid message: payload is no object"))?;
            let params = serde_json::from_str(payload)
                .map_err(|error| Close::bad_request(format!("Invalid message: {error}")))?;
            Ok(FromClient::Subscribe { id: id()?, params })
        }
        _ => Err(Close::bad_request("Invalid message: unknown type")),
    }
}

/// Reads the payload of `connection_init`, which may hold anything else.
fn introduction(payload: Option<&RawValue>) -> Result<Introduction, Close> {
    let Some(payload) = payload.map(RawValue::get).filter(|payload| *payload != "null") else {
        return Ok(Introduction::default());
    };
    let read = payload.starts_with('{').then(|| serde_json::from_str(payload).ok()).flatten();
    read.ok_or_else(|| Close::bad_request("Invalid message: payload of connection_init"))
}

/// What the server sends.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ToClient<'a, E: Serialize> {
    ConnectionAck,
    Pong,
    Next { id: &'a str, payload: &'a Answer },
    Error { id: &'a str, payload: &'a E },
    Complete { id: &'a str },
}

pub(super) fn ack() -> Message {
    write::<()>(&ToClient::ConnectionAck)
}

pub(super) fn pong() -> Message {
    write::<()>(&ToClient::Pong)
}

pub(super) fn complete(id: &str) -> Message {
    write::<()>(&ToClient::Complete { id })
}

/// Writes an answer: `next`, or `error` for one that was refused, after which its stream is over.
pub(super) fn answer(id: &str, answer: &Answer) -> Message {
    match answer.outcome() {
        Outcome::Executed => write::<()>(&ToClient::Next { id, payload: answer }),
        Outcome::Refused(_) => write(&ToClient::Error { id, payload: answer.errors() }),
    }
}

fn write<E: Serialize>(message: &ToClient<'_, E>) -> Message {
    match serde_json::to_string(message) {
        Ok(text) => Message::Text(Utf8Bytes::from(text)),
        Err(error) => {
            tracing::error!(%error, "an answer is not JSON");
            Close { code: 1011, reason: "Internal error".to_owned() }.into_message()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let seen = match read(text) {
            Ok(message) => format!("{message:?}"),
            Err(close) => format!("{} {}", close.code, close.reason),
        };
        assert!(seen.starts_with(expect), "{text}: {seen}");
    }

    #[test]
    fn messages_are_read_strictly() {
        check(r#"{"type":"ping","payload":{"at":1}}"#, "Ping");
        check(r#"{"type":"connection_init"}"#, "Init(Introduction { authorization: None, author: None");
        check(r#"{"type":"connection_init","payload":null}"#, "Init(Introduction { authorization: None");
        check(
            r#"{"type":"connection_init","payload":{"x":1,"Authorization":"Bearer t"}}"#,
            r#"Init(Introduction { authorization: Some("Bearer t"), author: None"#,
        );
        check(
            r#"{"type":"connection_init","payload":{"author":"planner","authorKind":"AGENT"}}"#,
            r#"Init(Introduction { authorization: None, author: Some("planner"), author_kind: Some("AGENT")"#,
        );
        check(r#"{"type":"connection_init","payload":[]}"#, "4400");
        check(r#"{"type":"complete","id":"1"}"#, r#"Complete { id: "1" }"#);
        check(r#"{"type":"complete"}"#, "4400");
        check(r#"{"type":"complete","id":""}"#, "4400");
        check(r#"{"type":"subscribe","id":"1","payload":{"query":"{a}"}}"#, r#"Subscribe { id: "1""#);
        check(r#"{"type":"subscribe","id":"1","payload":["{a}"]}"#, "4400");
        check(r#"{"type":"subscribe","id":"1","payload":{}}"#, "4400 Invalid message: missing field `query`");
        check(r#"{"type":"next"}"#, "4400 Invalid message: unknown type");
        check(r#"["ping"]"#, "4400");
        check("{", "4400");
        check("", "4400");
    }

    #[test]
    fn a_close_reason_fits_its_frame() {
        let Message::Close(Some(frame)) = Close::subscriber_exists(&"é".repeat(100)).into_message() else {
            panic!("a close is a close frame");
        };
        assert!(frame.reason.len() <= 123);
        assert_eq!(frame.code, 4409);
    }
}
