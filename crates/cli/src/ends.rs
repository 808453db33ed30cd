//! How runs end, as the API tells it.

use serde::Deserialize;
use serde_json::{Value, json};

/// What is asked about the end of a run.
pub(crate) const END: &str = "fragment End on Outcome {
  __typename
  ... on Returned { values }
  ... on Trapped { code message }
  ... on ContractViolated { message }
  ... on LimitReached { message }
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
}

impl End {
    pub(crate) fn json(&self) -> Value {
        json!({ "outcome": self.kind, "values": self.values, "code": self.code, "message": self.message })
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
