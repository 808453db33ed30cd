//! Counts the tokens of a document before it is parsed.
//!
//! The parser builds a tree several hundred times the size of its input and recurses with its brackets, so both are
//! bounded first, in one pass that allocates nothing.

use std::ops::Range;

use super::limits::Limits;
use crate::error::ApiError;

/// Checks the number of tokens and the nesting of brackets.
pub(super) fn check(document: &str, limits: &Limits) -> Result<(), ApiError> {
    let (tokens, brackets) = count(document.as_bytes());
    if tokens > limits.tokens {
        return Err(ApiError::limit("tokens", limits.tokens, tokens));
    }
    if brackets > limits.brackets {
        return Err(ApiError::limit("brackets", limits.brackets, brackets));
    }
    Ok(())
}

/// Counts tokens and the deepest nesting of brackets.
fn count(bytes: &[u8]) -> (u64, u64) {
    let (mut tokens, mut open, mut deepest) = (0u64, 0u64, 0u64);
    for token in (Tokens { bytes, at: 0 }) {
        match bytes.get(token.start) {
            Some(b'{' | b'[' | b'(') => {
                open += 1;
                deepest = deepest.max(open);
            }
            Some(b'}' | b']' | b')') => open = open.saturating_sub(1),
            Some(_) | None => {}
        }
        tokens += 1;
    }
    (tokens, deepest)
}

/// The tokens of a document, each as where it begins and ends.
///
/// Total on any input: what is not GraphQL is a token a byte, and the parser refuses it afterwards.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(document: &'a str) -> Tokens<'a> {
        Tokens { bytes: document.as_bytes(), at: 0 }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let bytes = self.bytes;
        let start = loop {
            match bytes.get(self.at)? {
                b' ' | b'\t' | b'\r' | b'\n' | b',' => self.at += 1,
                b'#' => self.at = skip_while(bytes, self.at, |byte| byte != b'\n' && byte != b'\r'),
                _ => break self.at,
            }
        };
        self.at = match bytes.get(start)? {
            b'"' => skip_string(bytes, start),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                skip_while(bytes, start + 1, |byte| byte.is_ascii_alphanumeric() || byte == b'_')
            }
            b'-' | b'0'..=b'9' => skip_while(bytes, start + 1, |byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-')
            }),
            b'.' if bytes[start..].starts_with(b"...") => start + 3,
            _ => start + 1,
        };
        Some(start..self.at)
    }
}

/// Returns the end of the string, block or not, that begins at `at`.
fn skip_string(bytes: &[u8], at: usize) -> usize {
    if bytes[at..].starts_with(b"\"\"\"") {
        let mut at = at + 3;
        while at < bytes.len() {
            if bytes[at..].starts_with(b"\\\"\"\"") {
                at += 4;
            } else if bytes[at..].starts_with(b"\"\"\"") {
                return at + 3;
            } else {
                at += 1;
            }
        }
        return at;
    }
    let mut at = at + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            b'\n' | b'\r' => return at,
            _ => at += 1,
        }
    }
    at
}

fn skip_while(bytes: &[u8], from: usize, matches: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|&&byte| matches(byte)).count()
}

#[cfg(test)]
mod tests {
    use super::count;

    fn check(document: &str, tokens: u64, brackets: u64) {
        assert_eq!(count(document.as_bytes()), (tokens, brackets), "{document}");
    }

    #[test]
    fn tokens_are_counted_as_the_specification_lexes_them() {
        check("", 0, 0);
        check("{a}", 3, 1);
        check("query Q($x: [Int!]! = -1.5e+3) { f(x: $x) ...F }", 25, 2);
        check("{a...F...G}", 7, 1);
        check("{a # } } }\n b}", 4, 1);
        check(r#"{a(s: "} \" {")}"#, 8, 2);
        check("{a(s: \"\"\"x \\\"\"\" } \n\"\"\")}", 8, 2);
        check("\"unclosed\n{", 2, 1);
        check("\"\"\"unclosed {", 1, 0);
        check("\\", 1, 0);
        check("\"ends in a backslash\\", 1, 0);
        check("{é}", 4, 1);
    }
}
