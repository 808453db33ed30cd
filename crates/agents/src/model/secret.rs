//! A key that is never shown.

use std::fmt;

/// A key. It prints as `[secret]`, and is neither serialised nor compared.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Keeps a key.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The key itself, for the one who sends it and for who removes it from a text.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[secret]")
    }
}
