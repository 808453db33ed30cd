//! The codes that `errors[].extensions.code` can carry, and the one way to make such an error.

use async_graphql::{Error, ErrorExtensionValues, Value};

/// Names why a request, or one field of it, was not carried out.
///
/// Expected outcomes of the domain (rejected, conflict, trap) are data in the schema and have no code here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The request is malformed: syntax, validation, or a value that does not fit its type.
    BadRequest,
    /// The caller did not say who it is, or what it said is not valid.
    Unauthenticated,
    /// The caller is known and may not do this.
    Forbidden,
    /// No object has the given id, ref or name; data is `{given, candidates, retired}`.
    NotFound,
    /// A limit named in `serverInfo` is exceeded; data is `{which, limit, actual}`.
    LimitExceeded,
    /// The caller has more under way than it may; data is `{retryAfterMs, which, limit}`.
    RateLimited,
    /// The server has more work than it accepts at a time.
    Overloaded,
    /// The idempotency key was used before, with another request.
    IdempotencyMismatch,
    /// The cursor was not issued for this list or event source; of a list, data is `{given, expected, found}`: the text, the
    /// field, and the one that the text looks like a cursor of, if there is one.
    CursorInvalid,
    /// The database cannot be reached, does not accept writes, or holds what cannot be read.
    StorageUnavailable,
    /// The operation took longer than it may; a mutation is carried out all the same.
    Timeout,
    /// The request is well-formed and this server cannot carry it out.
    Unsupported,
    /// A fault of the server; what happened is in its log, under the request id.
    Internal,
}

impl Code {
    /// Every code, in the order of the documentation.
    pub const ALL: [Code; 13] = [
        Code::BadRequest,
        Code::Unauthenticated,
        Code::Forbidden,
        Code::NotFound,
        Code::LimitExceeded,
        Code::RateLimited,
        Code::Overloaded,
        Code::IdempotencyMismatch,
        Code::CursorInvalid,
        Code::StorageUnavailable,
        Code::Timeout,
        Code::Unsupported,
        Code::Internal,
    ];

    /// Returns the code as clients see it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Code::BadRequest => "BAD_REQUEST",
            Code::Unauthenticated => "UNAUTHENTICATED",
            Code::Forbidden => "FORBIDDEN",
            Code::NotFound => "NOT_FOUND",
            Code::LimitExceeded => "LIMIT_EXCEEDED",
            Code::RateLimited => "RATE_LIMITED",
            Code::Overloaded => "OVERLOADED",
            Code::IdempotencyMismatch => "IDEMPOTENCY_MISMATCH",
            Code::CursorInvalid => "CURSOR_INVALID",
            Code::StorageUnavailable => "STORAGE_UNAVAILABLE",
            Code::Timeout => "TIMEOUT",
            Code::Unsupported => "UNSUPPORTED",
            Code::Internal => "INTERNAL",
        }
    }

    /// Finds the code that clients see as `text`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Code> {
        Code::ALL.into_iter().find(|code| code.as_str() == text)
    }

    /// Says whether the same request can succeed when it is sent again, unchanged, as far as the code tells.
    #[must_use]
    pub const fn retriable(self) -> bool {
        match self {
            Code::RateLimited | Code::Overloaded | Code::StorageUnavailable | Code::Timeout => true,
            Code::BadRequest
            | Code::Unauthenticated
            | Code::Forbidden
            | Code::NotFound
            | Code::LimitExceeded
            | Code::IdempotencyMismatch
            | Code::CursorInvalid
            | Code::Unsupported
            | Code::Internal => false,
        }
    }
}

/// An error that a client may see: a listed code, a message in its words, and data to act on.
///
/// A resolver returns it with `?`; the executor adds the `requestId`. Every other error type that a
/// resolver lets through is logged and masked as [`Code::Internal`]. It does not implement `Display`, because the
/// conversion into [`async_graphql::Error`] that keeps the code would then clash with the one that loses it.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiError {
    /// Why the request was not carried out.
    pub code: Code,
    /// What is wrong, in lower case, with names in backticks; never shown for [`Code::Internal`].
    pub message: String,
    /// What a client needs to act on the code, in the shape that the code's documentation gives.
    pub data: Option<serde_json::Value>,
    /// Whether the same request can succeed when it is sent again, unchanged: as the code says, unless more is known.
    pub retriable: bool,
}

impl ApiError {
    /// Makes an error without data.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        ApiError { code, message: message.into(), data: None, retriable: code.retriable() }
    }

    /// Returns the same error of what will not succeed later, whatever others of its code do.
    #[must_use]
    pub(crate) fn lasting(self) -> Self {
        ApiError { retriable: false, ..self }
    }

    /// Makes the error for a limit that `serverInfo` names `which`.
    #[must_use]
    pub fn limit(which: &str, limit: u64, actual: u64) -> Self {
        ApiError::new(Code::LimitExceeded, format!("`{which}` is limited to {limit}, found {actual}"))
            .data(serde_json::json!({ "which": which, "limit": limit, "actual": actual }))
    }

    /// Returns the same error with `data`.
    #[must_use]
    pub fn data(mut self, data: serde_json::Value) -> Self {
        self.data = Some(data);
        self
    }

    /// Returns the same error with the argument that it is about, beside what its data has: `input.ops[3].label`.
    #[must_use]
    pub(crate) fn at(mut self, argument: &str) -> Self {
        let data = self.data.get_or_insert_with(|| serde_json::json!({}));
        if let Some(data) = data.as_object_mut() {
            data.insert("path".to_owned(), argument.into());
        }
        self
    }

    /// Returns the error's extensions as a resolver sets them: the code, the data, and whether it lasts.
    pub(crate) fn extensions(&self) -> ErrorExtensionValues {
        let mut extensions = ErrorExtensionValues::default();
        extensions.set("code", self.code.as_str());
        extensions.set("retriable", self.retriable);
        if let Some(data) = &self.data {
            let data = Value::from_json(data.clone());
            extensions.set("data", data.expect("JSON without raw values is a GraphQL value"));
        }
        extensions
    }
}

impl From<ApiError> for Error {
    fn from(error: ApiError) -> Self {
        let extensions = error.extensions();
        let mut converted = Error::new(error.message);
        converted.extensions = Some(extensions);
        converted
    }
}

/// The beginning of what a client gave, as far as an error repeats it.
pub(crate) fn cut(given: &str) -> String {
    const SHOWN: usize = 80;
    let mut shown: String = given.chars().take(SHOWN).collect();
    if shown.len() < given.len() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_repeated_is_short() {
        assert_eq!(cut("ä"), "ä");
        assert_eq!(cut(&"ä".repeat(81)), "ä".repeat(80) + "...");
    }

    #[test]
    fn every_code_parses_back() {
        for code in Code::ALL {
            assert_eq!(Code::parse(code.as_str()), Some(code));
        }
        assert_eq!(Code::parse("bad_request"), None);
    }

    #[test]
    fn an_api_error_keeps_code_and_data_through_the_library() {
        let error = Error::from(ApiError::limit("depth", 20, 21));
        assert_eq!(error.message, "`depth` is limited to 20, found 21");
        let extensions = error.extensions.expect("extensions are set");
        assert_eq!(extensions.get("code"), Some(&Value::from("LIMIT_EXCEEDED")));
        let data = extensions.get("data").expect("data is set").clone();
        let data = data.into_json().expect("data is JSON");
        assert_eq!(data, serde_json::json!({"which": "depth", "limit": 20, "actual": 21}));
    }
}
