//! What a request is called, wherever it is told of.

use std::fmt;
use std::sync::Arc;

/// Names one request in logs and in the errors that its client sees.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(pub Arc<str>);

impl RequestId {
    /// Makes a fresh, time-ordered id.
    #[must_use]
    pub fn fresh() -> Self {
        RequestId(uuid::Uuid::now_v7().simple().to_string().into())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
