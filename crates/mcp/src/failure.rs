//! What can go wrong with a call: the one table of JSON-RPC codes, and refusals of the API.

use serde_json::{Value, json};
use thiserror::Error;

/// The codes of JSON-RPC errors: those of its specification, and ours from 1001 on.
///
/// This is their single definition; numbers, messages and the names of `data` do not change. 1001, 1002, 1004, 1006 and
/// 1008 are about documents and come with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RpcCode {
    /// A line is no JSON; data is `{position, expected}`.
    ParseError,
    /// It is JSON and no request; data is `{field, expected, actual}`.
    InvalidRequest,
    /// There is no such method; data is `{method, available}`.
    MethodNotFound,
    /// The parameters are none of the method's; data is `{method, reason}`.
    InvalidParams,
    /// A fault of ours; data is `{reason}`.
    Internal,
    /// What was asked for does not fit its budget, however much is left out; data is `{current_size, limit, action}`.
    TokenLimitExceeded,
    /// A server cannot be reached; data is `{url, timeout_ms, error_detail}`.
    NetworkError,
    /// Another process has the database; data is `{lock_file, holder_pid, lock_age_seconds, suggestion}`.
    LockError,
    /// Too many calls of a tool; data is `{limit, window_seconds, retry_after_seconds}`.
    RateLimited,
    /// An argument is not what it must be; data is `{field, expected, actual}`.
    ValidationError,
}

impl RpcCode {
    /// All of them.
    pub const ALL: [RpcCode; 10] = [
        RpcCode::ParseError,
        RpcCode::InvalidRequest,
        RpcCode::MethodNotFound,
        RpcCode::InvalidParams,
        RpcCode::Internal,
        RpcCode::TokenLimitExceeded,
        RpcCode::NetworkError,
        RpcCode::LockError,
        RpcCode::RateLimited,
        RpcCode::ValidationError,
    ];

    /// The number.
    #[must_use]
    pub const fn number(self) -> i32 {
        match self {
            RpcCode::ParseError => -32700,
            RpcCode::InvalidRequest => -32600,
            RpcCode::MethodNotFound => -32601,
            RpcCode::InvalidParams => -32602,
            RpcCode::Internal => -32603,
            RpcCode::TokenLimitExceeded => 1003,
            RpcCode::NetworkError => 1005,
            RpcCode::LockError => 1007,
            RpcCode::RateLimited => 1009,
            RpcCode::ValidationError => 1010,
        }
    }

    /// The message.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            RpcCode::ParseError => "Parse Error",
            RpcCode::InvalidRequest => "Invalid Request",
            RpcCode::MethodNotFound => "Method Not Found",
            RpcCode::InvalidParams => "Invalid Params",
            RpcCode::Internal => "Internal Error",
            RpcCode::TokenLimitExceeded => "Token Limit Exceeded",
            RpcCode::NetworkError => "Network Error",
            RpcCode::LockError => "Lock Error",
            RpcCode::RateLimited => "Rate Limited",
            RpcCode::ValidationError => "Validation Error",
        }
    }

    /// The same as a word, as results of tools name it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            RpcCode::ParseError => "PARSE_ERROR",
            RpcCode::InvalidRequest => "INVALID_REQUEST",
            RpcCode::MethodNotFound => "METHOD_NOT_FOUND",
            RpcCode::InvalidParams => "INVALID_PARAMS",
            RpcCode::Internal => "INTERNAL",
            RpcCode::TokenLimitExceeded => "TOKEN_LIMIT_EXCEEDED",
            RpcCode::NetworkError => "NETWORK_ERROR",
            RpcCode::LockError => "LOCK_ERROR",
            RpcCode::RateLimited => "RATE_LIMITED",
            RpcCode::ValidationError => "VALIDATION_ERROR",
        }
    }

    /// What the caller can do about it.
    #[must_use]
    pub const fn recovery(self) -> &'static str {
        match self {
            RpcCode::ParseError => "Check JSON syntax",
            RpcCode::InvalidRequest => "Send a JSON-RPC 2.0 request",
            RpcCode::MethodNotFound => "Verify tool name",
            RpcCode::InvalidParams => "Check the parameters",
            RpcCode::Internal => "Look into the log",
            RpcCode::TokenLimitExceeded => "Archive cards or increase limit",
            RpcCode::NetworkError => "Check connection, retry",
            RpcCode::LockError => "Close other instances",
            RpcCode::RateLimited => "Wait and retry",
            RpcCode::ValidationError => "Fix input format",
        }
    }
}

/// A JSON-RPC error.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{}: {}", code.message().to_lowercase(), told(data))]
pub struct RpcError {
    /// Which.
    pub code: RpcCode,
    /// What its code says that there is, and `recovery`.
    pub data: Value,
}

/// What the data of an error says in words, in the order of names.
fn told(data: &Value) -> String {
    let fields = data.as_object().into_iter().flatten().filter(|(name, _)| *name != "recovery");
    let said = fields.map(|(name, value)| match value.as_str() {
        Some(text) => format!("{name}: {text}"),
        None => format!("{name}: {value}"),
    });
    said.collect::<Vec<_>>().join("; ")
}

impl RpcError {
    /// Makes one with the data that its code asks for, an object.
    #[must_use]
    pub fn new(code: RpcCode, mut data: Value) -> RpcError {
        if let Some(data) = data.as_object_mut() {
            data.entry("recovery").or_insert_with(|| code.recovery().into());
        }
        RpcError { code, data }
    }

    /// An argument that is not what it must be.
    #[must_use]
    pub fn invalid(field: &str, expected: impl Into<String>, actual: impl Into<String>) -> RpcError {
        let data = json!({ "field": field, "expected": expected.into(), "actual": actual.into() });
        RpcError::new(RpcCode::ValidationError, data)
    }

    /// A method that there is not.
    #[must_use]
    pub fn no_method(method: &str, available: &[&str]) -> RpcError {
        let mut data = json!({ "method": method, "available": available });
        if let Some(near) = nearest(method, available.iter().copied()) {
            data["suggestion"] = format!("Did you mean '{near}'?").into();
        }
        RpcError::new(RpcCode::MethodNotFound, data)
    }

    /// The error object of JSON-RPC.
    #[must_use]
    pub fn object(&self) -> Value {
        json!({ "code": self.code.number(), "message": self.code.message(), "data": self.data })
    }
}

/// A refusal of the API: a code that clients may rely on, what is wrong, and what to act on.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{code}: {message}")]
pub struct Refused {
    /// The code, as `errors[].extensions.code` has it.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What goes with the code.
    pub data: Value,
}

impl Refused {
    /// What does not exist yet.
    pub(crate) fn unsupported(message: impl Into<String>) -> Refused {
        Refused { code: "UNSUPPORTED".to_owned(), message: message.into(), data: Value::Null }
    }

    /// What is wrong, with the names that come near, and those that there are.
    pub(crate) fn told(&self) -> String {
        let list = |name: &str| -> Vec<&str> {
            let names = self.data.get(name).and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).collect()
        };
        let (mut near, known) = (list("candidates"), list("known"));
        if near.is_empty() {
            let given: Vec<&str> = self.message.split(['"', '`']).collect();
            near.extend(known.iter().find(|name| given.iter().any(|given| is_slip(given, name))));
        }
        let mut told = self.message.clone();
        if !near.is_empty() {
            told.push_str(&format!("; did you mean: {}", near.join(", ")));
        }
        let more = known.len().saturating_sub(KNOWN);
        if !known.is_empty() && (near.is_empty() || more == 0) {
            told.push_str(&format!("; known: {}", known[..known.len() - more].join(", ")));
            if more > 0 {
                told.push_str(&format!(" and {more} more"));
            }
        }
        told
    }
}

/// Names that are told of those that there are.
const KNOWN: usize = 12;

/// Why a call gives nothing that was asked for.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum Failure {
    /// The call, or its way, is wrong.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// The API refuses it.
    #[error(transparent)]
    Refused(Refused),
}

impl From<Refused> for Failure {
    /// Two of the API's codes have a number of their own.
    fn from(refused: Refused) -> Failure {
        let data = &refused.data;
        match refused.code.as_str() {
            "RATE_LIMITED" => {
                let wait = data["retryAfterMs"].as_u64().unwrap_or(1000).div_ceil(1000);
                let data = json!({ "limit": null, "window_seconds": null, "retry_after_seconds": wait });
                RpcError::new(RpcCode::RateLimited, data).into()
            }
            "LIMIT_EXCEEDED" if data["which"] == "budgetTokens" => {
                let data = json!({
                    "current_size": data["actual"],
                    "limit": data["limit"],
                    "action": "raise `max_tokens`, or ask for less",
                });
                RpcError::new(RpcCode::TokenLimitExceeded, data).into()
            }
            _ => Failure::Refused(refused),
        }
    }
}

/// The name among those that there are which comes nearest, if one is near.
pub(crate) fn nearest<'a>(given: &str, names: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let slip = names.clone().find(|name| is_slip(given, name));
    slip.map(str::to_owned).or_else(|| lmlang_ir::text::nearest(given, names).into_iter().next())
}

/// Whether a text is a name but for case and underscores: `add_text` for `addText`.
fn is_slip(given: &str, name: &str) -> bool {
    given != name && letters(given) == letters(name)
}

fn letters(name: &str) -> String {
    name.chars().filter(|letter| *letter != '_').flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["read_doc", "read_context", "run"];
        assert_eq!(nearest("raed_doc", names.into_iter()).as_deref(), Some("read_doc"));
        assert_eq!(nearest("read_contxt", names.into_iter()).as_deref(), Some("read_context"));
        assert_eq!(nearest("delete_everything", names.into_iter()), None);
        assert_eq!(nearest("RUN", names.into_iter()).as_deref(), Some("run"));
        assert_eq!(nearest("readContext", names.into_iter()).as_deref(), Some("read_context"));
    }

    fn check_told(message: &str, data: Value, expect: &str) {
        let refused = Refused { code: "BAD_REQUEST".to_owned(), message: message.to_owned(), data };
        assert_eq!(refused.told(), format!("{message}{expect}"));
    }

    #[test]
    fn refusals_tell_what_there_is() {
        let fields = json!({ "candidates": [], "known": ["module", "text"] });
        check_told("unknown field \"moduleName\" of type \"AddText\"", fields, "; known: module, text");
        let values = json!({ "candidates": [], "known": ["PUBLIC", "PRIVATE"] });
        let near = "; did you mean: PUBLIC; known: PUBLIC, PRIVATE";
        check_told("enumeration type \"Visibility\" does not contain the value \"public\"", values, near);
        let many: Vec<String> = (0..40).map(|index| format!("N_{index}")).collect();
        let told = many[..12].join(", ");
        check_told("no \"x\"", json!({ "known": many }), &format!("; known: {told} and 28 more"));
        check_told("no \"n_7\"", json!({ "known": many }), "; did you mean: N_7");
        check_told("there is no program `shp`", json!({ "candidates": ["shop"] }), "; did you mean: shop");
        check_told("it is late", Value::Null, "");
    }

    /// CUE-27: one enum defines the codes.
    #[test]
    fn cue_27_codes_are_told_apart() {
        for (index, code) in RpcCode::ALL.iter().enumerate() {
            let same = |other: &&RpcCode| other.number() == code.number() || other.word() == code.word();
            assert_eq!(RpcCode::ALL.iter().skip(index + 1).find(same), None, "{code:?}");
        }
    }
}
