//! Private keys in the form of PEM.

use std::ops::Range;

/// Longest name of what a block holds.
const NAME: usize = 64;

/// Finds a block with a private key that begins here; one without an end goes to the end of the text.
pub(super) fn block(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text[at..].strip_prefix(b"-----BEGIN ")?;
    let name = &rest[..rest.len().min(NAME)];
    let name = &name[..name.windows(5).position(|part| part == b"-----")?];
    name.windows(11).any(|part| part == b"PRIVATE KEY").then_some(())?;
    let end = rest.windows(9).position(|part| part == b"-----END ").and_then(|last| {
        let last = last + 9;
        let close = rest[last..].windows(5).take(NAME).position(|part| part == b"-----")?;
        Some(last + close + 5)
    });
    Some(at..end.map_or(text.len(), |end| text.len() - rest.len() + end))
}
