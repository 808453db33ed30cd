//! The mark of what is hidden.

/// What stands in place of what is hidden.
pub const MARK: &str = "[redacted]";
