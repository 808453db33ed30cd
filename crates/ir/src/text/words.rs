//! Names: which are bare, and which stand in quotes.

use crate::refs::looks_like_ref;
use crate::text::heads::is_reserved;
use crate::text::literal::write_text;
use crate::types::Scalar;

/// Tells whether a name stands without quotes wherever a name is given or used.
pub fn is_bare(name: &str) -> bool {
    let mut bytes = name.bytes();
    let identifier = bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_');
    identifier && !looks_like_ref(name) && !is_word(name)
}

/// Whether a name means something in the language.
pub(super) fn is_word(name: &str) -> bool {
    is_reserved(name)
        || matches!(name, "default" | "null" | "never" | "string" | "bytes" | "funcref" | "externref")
        || name.parse::<Scalar>().is_ok()
}

/// Writes a name, in quotes where it is needed.
pub(super) fn write_name(out: &mut String, name: &str) {
    if is_bare(name) { out.push_str(name) } else { write_text(out, name) }
}
