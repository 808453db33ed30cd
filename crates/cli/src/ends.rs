//! How runs end, as the API tells it.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::exit::Exit;

/// What is asked about the end of a run.
pub(crate) const END: &str = "fragment End on Outcome {
  __typename
  ... on Returned { values }
  ... on Trapped { code message }
  ... on ContractViolated { message }
  ... on LimitReached { limit message }
  ... on ReachedHole { message }
  ... on NotVerified { message }
}";

/// How a run ended.
#[derive(Debug, Deserialize)]
pub(crate) struct End {
    #[serde(rename = "__typename")]
    kind: String,
    values: Option<Vec<String>>,
    code: Option<String>,
    message: Option<String>,
    /// Which limit was reached.
    limit: Option<String>,
}

impl End {
    pub(crate) fn json(&self) -> Value {
        json!({ "outcome": self.kind, "values": self.values, "code": self.code, "message": self.message })
    }

    /// What was returned, if the run came to that.
    pub(crate) fn values(&self) -> Option<&[String]> {
        self.values.as_deref()
    }

    /// How the process ends on it, as it does for `lmlang run`.
    pub(crate) fn exit(&self) -> Exit {
        match (self.kind.as_str(), self.limit.as_deref()) {
            ("Returned", _) => Exit::Success,
            ("NotVerified", _) => Exit::Verification,
            ("Cancelled", _) => Exit::Interrupted,
            ("LimitReached", Some("time")) => Exit::TimeOut,
            _ => Exit::Failure,
        }
    }

    pub(crate) fn line(&self) -> String {
        match (&self.values, &self.code, &self.message) {
            (Some(values), _, _) if values.is_empty() => "returned".to_owned(),
            (Some(values), _, _) => format!("returned {}", values.join(", ")),
            (None, Some(code), Some(message)) => format!("{code}: {message}"),
            (None, _, Some(message)) => message.clone(),
            (None, _, None) => self.kind.clone(),
        }
    }
}
