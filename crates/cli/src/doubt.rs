//! Whether a change was made of which no answer came.

use crate::error::Error;

impl Error {
    /// Whether a request was sent, and its answer has not come.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, Error::Lost { .. } | Error::TimeOut { .. })
    }

    /// Whether a request that fails so may have been carried out, though it may not have been.
    pub(crate) fn leaves_doubt(&self) -> bool {
        match self {
            // A mutation that has begun goes on when its time is over.
            Error::Refused { code, .. } => code == "TIMEOUT",
            Error::Answer(_) => true,
            _ => self.is_lost(),
        }
    }

    /// Whether a repetition that fails so says nothing about the request before it: it came to nobody, or nobody looked at
    /// its idempotency key.
    pub(crate) fn tells_nothing_of_the_first(&self) -> bool {
        match self {
            Error::Refused { code, .. } => matches!(
                code.as_str(),
                "UNAUTHENTICATED"
                    | "FORBIDDEN"
                    | "RATE_LIMITED"
                    | "OVERLOADED"
                    | "STORAGE_UNAVAILABLE"
                    | "TIMEOUT"
                    | "INTERNAL"
            ),
            _ => true,
        }
    }

    /// The same about a change that may have been made all the same.
    pub(crate) fn in_doubt(self, look: &str) -> Error {
        match self {
            Error::InDoubt { .. } => self,
            _ => Error::InDoubt { look: look.to_owned(), source: Box::new(self) },
        }
    }
}
