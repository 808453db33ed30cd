//! `Bearer ..` and `Basic ..`: what a header holds, wherever it stands.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

use super::{run, short_run, space};

/// How far a word is looked at to say whether it is user and password; a multiple of four.
const LOOK: usize = 256;

/// Most spaces behind the name of a scheme.
const SPACES: usize = 8;

/// Words that follow `Bearer` in a sentence.
const WORDS: [&str; 32] = [
    "access",
    "and",
    "api",
    "are",
    "as",
    "auth",
    "authentication",
    "authorization",
    "bonds",
    "can",
    "credentials",
    "for",
    "format",
    "from",
    "has",
    "header",
    "headers",
    "in",
    "is",
    "may",
    "must",
    "of",
    "on",
    "or",
    "prefix",
    "realm",
    "scheme",
    "to",
    "token",
    "tokens",
    "with",
    "error",
];

/// Reads base64 whether or not it is padded.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Finds what follows the name of a scheme that begins here.
pub(super) fn credentials(text: &[u8], at: usize) -> Option<Range<usize>> {
    let word = &text[at..text.len().min(at + 6)];
    let bearer = word.eq_ignore_ascii_case(b"bearer");
    let basic = !bearer && word.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"basic"));
    if !bearer && !basic {
        return None;
    }
    let after = at + if bearer { 6 } else { 5 };
    let from = short_run(text, after, SPACES, |byte| space(byte) || byte == b'+');
    if from == after {
        return None;
    }
    if !bearer && !is_basic(&text[from..short_run(text, from, LOOK, of_token)]) {
        return None;
    }
    let end = run(text, from, of_token);
    // The end of a sentence is not the end of a token.
    let dots = text[from..end].iter().rev().take_while(|byte| **byte == b'.').count();
    let token = from..end - dots;
    let exact = word.starts_with(b"Bearer");
    (!bearer || is_bearer(&text[token.clone()], exact)).then_some(token)
}

fn is_bearer(token: &[u8], exact: bool) -> bool {
    let a_word = WORDS.iter().any(|word| token.eq_ignore_ascii_case(word.as_bytes()));
    let plain = token.iter().all(u8::is_ascii_lowercase) && token.len() < 24;
    token.iter().any(u8::is_ascii_alphanumeric) && !a_word && (exact || !plain)
}

/// User and password, or a word that is none.
fn is_basic(token: &[u8]) -> bool {
    let word: &[u8] = token.strip_suffix(b".").unwrap_or(token);
    let pair = BASE64.decode(word).is_ok_and(|pair| pair.contains(&b':'));
    pair || (word.len() >= 16 && word.iter().any(u8::is_ascii_digit))
}

fn of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=')
}
