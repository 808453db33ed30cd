//! What drafts are made for: a Manager of streams and pipelines, which says what there is and checks a draft by making it.

use std::time::Duration;

use lmlang_engine::BoxFuture;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use serde_json::Value;

/// A request to a Manager, as its interface has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// `GET /streams`.
    Streams,
    /// `GET /streams/describe/:name`.
    Describe(String),
    /// `GET /functions`.
    Functions,
    /// `GET /capabilities/syntax`.
    Syntax,
    /// `POST /validate_sql`, of a Manager that offers it.
    Validate(Value),
    /// `POST /pipelines`.
    Create(Value),
    /// `GET /pipelines/:id/explain`.
    Explain(String),
    /// `DELETE /pipelines/:id`.
    Delete(String),
}

impl Ask {
    /// The method of HTTP.
    #[must_use]
    pub const fn method(&self) -> &'static str {
        match self {
            Ask::Streams | Ask::Describe(_) | Ask::Functions | Ask::Syntax | Ask::Explain(_) => "GET",
            Ask::Validate(_) | Ask::Create(_) => "POST",
            Ask::Delete(_) => "DELETE",
        }
    }

    /// The path, with names encoded.
    #[must_use]
    pub fn path(&self) -> String {
        match self {
            Ask::Streams => "/streams".to_owned(),
            Ask::Describe(name) => format!("/streams/describe/{}", encoded(name)),
            Ask::Functions => "/functions".to_owned(),
            Ask::Syntax => "/capabilities/syntax".to_owned(),
            Ask::Validate(_) => "/validate_sql".to_owned(),
            Ask::Create(_) => "/pipelines".to_owned(),
            Ask::Explain(id) => format!("/pipelines/{}/explain", encoded(id)),
            Ask::Delete(id) => format!("/pipelines/{}", encoded(id)),
        }
    }

    /// What is sent.
    #[must_use]
    pub const fn body(&self) -> Option<&Value> {
        match self {
            Ask::Validate(body) | Ask::Create(body) => Some(body),
            Ask::Streams
            | Ask::Describe(_)
            | Ask::Functions
            | Ask::Syntax
            | Ask::Explain(_)
            | Ask::Delete(_) => None,
        }
    }

    /// What a status says to it.
    #[must_use]
    pub const fn judged(&self, status: u16) -> Judged {
        match (self, status) {
            (_, 200..=299) => Judged::Answered,
            // What is wrong with what was sent, or what is there already.
            (Ask::Create(_), 400 | 404 | 409 | 413 | 422)
            | (Ask::Explain(_), 400 | 404 | 409 | 422)
            | (Ask::Validate(_), 400 | 413 | 422) => Judged::Answered,
            // What stays is taken away another time.
            (Ask::Delete(_), _) => Judged::Answered,
            (_, 408 | 425 | 429 | 500..) => Judged::Busy,
            (_, _) => Judged::Refused,
        }
    }
}

/// What the status of an answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// What was asked for, or why what was sent is not good for that.
    Answered,
    /// Nothing of what was sent: the Manager cannot answer now, and may later.
    Busy,
    /// Nothing of what was sent: the Manager does not let in who asks, has no such path, or sends elsewhere.
    Refused,
}

/// What a Manager answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// The body: JSON, or a text where it is none.
    pub body: Value,
    /// For how long the Manager wants not to be asked again.
    pub retry_after: Option<Duration>,
}

impl Answer {
    /// Whether it is what was asked for.
    #[must_use]
    pub const fn is_ok(&self) -> bool {
        self.status >= 200 && self.status < 300
    }

    /// What it says, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let words = self
            .body
            .as_str()
            .or_else(|| self.body["message"].as_str())
            .or_else(|| self.body["error"].as_str());
        words.map_or_else(|| self.body.to_string(), |words| words.trim().to_owned())
    }
}

/// A Manager cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the Manager at `{server}` cannot be asked: {why}")]
pub struct Unreachable {
    /// The server, without path, query and user.
    pub server: String,
    /// Why.
    pub why: String,
}

/// A Manager.
///
/// Concurrency: it is asked by many runs at once. Idempotency: what it makes has an id that its caller chose, so that a
/// repetition is told with the status 409. Side effects: what is made stays until it is deleted.
///
/// Warning: a request that is not answered may have been done. What was to be made under an id is deleted under it.
pub trait DraftTarget: Send + Sync {
    /// Asks it. Every status is an answer.
    ///
    /// # Errors
    ///
    /// [`Unreachable`], for which trying again may help.
    fn ask<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Result<Answer, Unreachable>>;
}

/// What does not stand in a path as it is.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A name as a part of a path.
fn encoded(name: &str) -> PercentEncode<'_> {
    utf8_percent_encode(name, ENCODED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(asks: &[Ask], statuses: &[u16], expect: Judged) {
        for (ask, status) in asks.iter().flat_map(|ask| statuses.iter().map(move |status| (ask, *status))) {
            assert_eq!(ask.judged(status), expect, "{} {} {status}", ask.method(), ask.path());
        }
    }

    /// What a Manager says of itself is told from what it says of a draft.
    #[test]
    fn a_status_is_about_the_draft_or_about_the_manager() {
        let name = || "a".to_owned();
        let catalog = [Ask::Streams, Ask::Describe(name()), Ask::Functions, Ask::Syntax];
        let draft = [Ask::Create(Value::Null), Ask::Explain(name())];
        let validate = [Ask::Validate(Value::Null)];
        let both = [&catalog[..], &draft, &validate].concat();
        check(&both, &[200, 201, 204], Judged::Answered);
        check(&both, &[408, 425, 429, 500, 502, 503, 504, 599], Judged::Busy);
        check(&both, &[301, 302, 307, 401, 402, 403, 405, 407, 451], Judged::Refused);
        check(&draft, &[400, 404, 409, 422], Judged::Answered);
        check(&validate, &[400, 413, 422], Judged::Answered);
        check(&validate, &[404, 409], Judged::Refused);
        check(&catalog, &[400, 404, 409, 422], Judged::Refused);
        check(&[Ask::Delete(name())], &[200, 302, 401, 404, 429, 500], Judged::Answered);
    }
}
