//! Addresses of resources, and how texts stand in them.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// How all of them begin.
pub(crate) const SCHEME: &str = "lmlang://";

/// What does not stand in an address as it is: a cursor keeps its colon.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// A text as part of an address.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// The text of a part of an address.
pub(crate) fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_the_way_through_an_address() {
        for name in ["shop", "a b/c%d?é", "r7:120", "%", "%zz"] {
            assert_eq!(decoded(&encoded(name)), name);
        }
        assert_eq!(encoded("r7:120 b?é/~"), "r7:120%20b%3F%C3%A9%2F~");
    }

    /// A sign is no digit.
    #[test]
    fn what_is_not_encoded_stays() {
        for text in ["%", "%4", "%zz", "%+f", "100%"] {
            assert_eq!(decoded(text), text);
        }
    }
}
