//! What a policy is made from beside what it knows by itself.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Shortest exact secret, in bytes. A shorter one would hide half of a text that does not hold it.
pub const SHORTEST_SECRET: usize = 8;

/// What a policy hides beside what every policy hides.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Names of fields whose values are secret; neither case nor separators matter.
    pub fields: Vec<String>,
    /// Secrets themselves. They are not read from a file of settings, which should hold none; spaces around one do not
    /// belong to it.
    #[serde(skip)]
    pub secrets: Vec<String>,
    /// Regular expressions, in the syntax of the `regex` crate; all of a match is hidden.
    pub patterns: Vec<String>,
}

impl fmt::Debug for Config {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Config")
            .field("fields", &self.fields)
            .field("secrets", &self.secrets.len())
            .field("patterns", &self.patterns)
            .finish()
    }
}

/// Why there is no such policy. No secret is shown: it is named by its place in the list, from 0.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// A secret would be found everywhere.
    #[error("secret {index} has {length} bytes, fewer than {SHORTEST_SECRET}")]
    ShortSecret {
        /// Its place in the list.
        index: usize,
        /// How long it is.
        length: usize,
    },
    /// A secret is a part of what stands in place of secrets.
    #[error("secret {index} is a part of `[redacted]`")]
    SecretInMark {
        /// Its place in the list.
        index: usize,
    },
    /// The secrets are too many, or too long, to be looked for.
    #[error("the secrets are too many or too long")]
    TooManySecrets,
    /// A name has no letter or digit.
    #[error("`{name}` is no name of a field: it has no letter or digit")]
    Field {
        /// What was given.
        name: String,
    },
    /// A pattern is none.
    #[error("pattern {index} is not a regular expression: {why}")]
    Pattern {
        /// Its place in the list.
        index: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A pattern matches where there is nothing, or what stands in place of secrets.
    #[error("pattern {index} matches {what}")]
    WidePattern {
        /// Its place in the list.
        index: usize,
        /// What it should not match.
        what: &'static str,
    },
}
