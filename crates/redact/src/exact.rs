//! Secrets that are known: as they are, and within base64.
//!
//! Percent-encoding and the escapes of JSON are not looked for here: the text is read in its decoded forms as well.

use std::ops::Range;

use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::config::{PolicyError, SHORTEST_SECRET};
use crate::mark::MARK;
use crate::views::{MOST_DIGITS, ends_escape};

/// Known secrets, ready to be looked for all at once.
pub(crate) struct Exact {
    found: AhoCorasick,
    patterns: Vec<Pattern>,
}

/// What is looked for, in the order of its fields.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pattern {
    bytes: Vec<u8>,
    /// What stands before the bytes, in the text itself: the end of what is read as an escape.
    before: Vec<u8>,
    /// Whether it is a part of base64.
    encoded: bool,
}

impl Exact {
    /// Gets ready to look for secrets; none if there are none.
    pub(crate) fn new(secrets: &[String]) -> Result<Option<Exact>, PolicyError> {
        let mut patterns = Vec::new();
        for (index, secret) in secrets.iter().enumerate() {
            let secret = secret.trim();
            if secret.len() < SHORTEST_SECRET {
                return Err(PolicyError::ShortSecret { index, length: secret.len() });
            }
            if MARK.contains(secret) {
                return Err(PolicyError::SecretInMark { index });
            }
            patterns.extend(read_as(secret.as_bytes(), false));
            if secret.contains(' ') {
                patterns.extend(read_as(secret.replace(' ', "+").as_bytes(), false));
            }
            for ahead in 0..3 {
                patterns.extend(read_as(&within(&STANDARD_NO_PAD, secret, ahead), true));
                patterns.extend(read_as(&within(&URL_SAFE_NO_PAD, secret, ahead), true));
            }
        }
        patterns.sort_unstable();
        patterns.dedup();
        if patterns.is_empty() {
            return Ok(None);
        }
        let found = AhoCorasick::new(patterns.iter().map(|pattern| &pattern.bytes));
        let found = found.map_err(|_| PolicyError::TooManySecrets)?;
        Ok(Some(Exact { found, patterns }))
    }

    /// Finds the secrets in a view of a text. What is found in base64 takes the whole of the base64 with it: its other
    /// characters hold bits of the secret.
    pub(crate) fn find(
        &self,
        view: &[u8],
        origin: impl Fn(Range<usize>) -> Range<usize>,
        text: &[u8],
        spans: &mut Vec<Range<usize>>,
    ) {
        let mut widened = 0..0;
        for hit in self.found.find_overlapping_iter(view) {
            let pattern = &self.patterns[hit.pattern().as_usize()];
            let mut span = origin(hit.range());
            if !text[..span.start].ends_with(&pattern.before) {
                continue;
            }
            span.start -= pattern.before.len();
            if !pattern.encoded {
                spans.push(span);
            } else if !(widened.start <= span.start && span.end <= widened.end) {
                // Nothing before the last one is looked at again, so that the cost stays linear.
                let start = text[widened.end.min(span.start)..span.start]
                    .iter()
                    .rposition(|byte| *byte == b'=' || !of_base64(*byte));
                let start =
                    start.map_or(widened.end.min(span.start), |at| widened.end.min(span.start) + at + 1);
                let end = text[span.end..].iter().position(|byte| !of_base64(*byte));
                widened = start..end.map_or(text.len(), |at| span.end + at);
                spans.push(widened.clone());
            }
        }
    }
}

/// Returns the ways in which a reading of a text may hold bytes: whole, or without their first ones. What stands before
/// them may be half an escape, which then takes the rest from them: of `%a` and `c%3D`, the `c` is gone once `%ac` is
/// read.
fn read_as(bytes: &[u8], encoded: bool) -> impl Iterator<Item = Pattern> {
    let digits = bytes.iter().take(MOST_DIGITS).take_while(|byte| byte.is_ascii_hexdigit()).count();
    let letter = usize::from(bytes.first().is_some_and(|byte| ends_escape(*byte)));
    (0..=digits.max(letter)).map(move |taken| {
        let (before, bytes) = bytes.split_at(taken);
        Pattern { bytes: bytes.to_vec(), before: before.to_vec(), encoded }
    })
}

/// Returns the characters of base64 that a secret alone decides, if so many bytes stand before it in their group of
/// three.
fn within(alphabet: &impl Engine, secret: &str, ahead: usize) -> Vec<u8> {
    let bytes = [&[0; 2][..ahead], secret.as_bytes()].concat();
    let encoded = alphabet.encode(&bytes).into_bytes();
    // Each character holds six bits.
    let first = (ahead * 8).div_ceil(6);
    let last = bytes.len() * 8 / 6;
    encoded[first..last].to_vec()
}

fn of_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_' | b'%')
}
