//! What a server says instead of an answer.

use std::time::Duration;

use http::Response;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

use super::super::ModelError;
use super::super::quote::quote;
use super::super::secret::Secret;
use super::Options;
use super::body::beginning;
use crate::http_client::retry_after;

/// Reads an answer whose status says that it is none.
pub(super) async fn read(response: Response<Incoming>, options: &Options) -> ModelError {
    let status = response.status().as_u16();
    let wait = retry_after(response.headers());
    let key = options.key.as_ref();
    let body = beginning(response.into_body().into_data_stream(), options.idle).await;
    let Ok(value) = serde_json::from_slice::<Value>(&body) else {
        return refused(status, wait, "", quote(&String::from_utf8_lossy(&body), key));
    };
    // Read and not as it came: what is escaped in it would hide a key from who looks for one.
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(&value);
    refused(status, wait, &code(error), said(error, key))
}

/// Reads an error that stands where an answer should.
pub(super) fn within(error: &Value, status: u16, key: Option<&Secret>) -> ModelError {
    let code = code(error);
    let meant = code.parse().ok().filter(|code| (400..600).contains(code));
    match (meant, code.as_str()) {
        (Some(meant), code) => refused(meant, None, code, said(error, key)),
        (None, code) if code.contains("rate_limit") => refused(429, None, code, said(error, key)),
        (None, _) => ModelError::Unavailable { status, retry_after: None, said: said(error, key) },
    }
}

/// What the error is called: a number or a word.
fn code(error: &Value) -> String {
    let code = [&error["code"], &error["type"]].into_iter().find(|code| !code.is_null());
    match code {
        Some(Value::String(code)) => code.clone(),
        Some(code) => code.to_string(),
        None => String::new(),
    }
}

fn said(error: &Value, key: Option<&Secret>) -> String {
    match error.get("message").unwrap_or(error) {
        Value::String(text) => quote(text, key),
        other => quote(&other.to_string(), key),
    }
}

fn refused(status: u16, retry_after: Option<Duration>, code: &str, said: String) -> ModelError {
    match status {
        // What is used up does not come back by waiting.
        429 if code == "insufficient_quota" => ModelError::Denied { status, said },
        429 => ModelError::RateLimited { status, retry_after, said },
        401..=403 => ModelError::Denied { status, said },
        408 | 425 | 500 | 502..=504 | 506..=599 => ModelError::Unavailable { status, retry_after, said },
        _ => ModelError::Rejected { status, said: with_hint(said) },
    }
}

/// What is said, and which setting may help: servers differ in a few words of the protocol.
fn with_hint(said: String) -> String {
    let lower = said.to_ascii_lowercase();
    // Not where the number is what is wrong.
    let unknown = ["support", "unknown", "unrecognized", "not permitted", "extra"]
        .iter()
        .any(|word| lower.contains(word));
    let setting = if !unknown {
        return said;
    } else if said.contains("response_format") || said.contains("json_schema") {
        "`structured` (`json_object` or `prompt`)"
    } else if said.contains("max_tokens") || said.contains("max_completion_tokens") {
        "`limit_field` (`max_tokens` or `max_completion_tokens`)"
    } else if said.contains("stream_options") {
        "`stream_usage` (`false`)"
    } else {
        return said;
    };
    format!("{said} (another value of the setting {setting} may suit this server)")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_within(error: Value, expect: &str) {
        assert_eq!(within(&error, 200, None).code(), expect, "{error}");
    }

    #[test]
    fn errors_in_a_stream_say_what_they_are() {
        check_within(json!({"code": 502, "message": "down"}), "MODEL_UNAVAILABLE");
        check_within(json!({"code": "429", "message": "slow"}), "MODEL_RATE_LIMITED");
        check_within(json!({"code": "rate_limit_exceeded"}), "MODEL_RATE_LIMITED");
        check_within(json!({"code": 400, "message": "bad"}), "MODEL_REJECTED");
        check_within(json!({"code": null, "type": "server_error"}), "MODEL_UNAVAILABLE");
        check_within(json!("odd"), "MODEL_UNAVAILABLE");
        let used_up = refused(429, None, "insufficient_quota", String::new());
        assert_eq!(used_up.code(), "MODEL_DENIED");
    }
}
