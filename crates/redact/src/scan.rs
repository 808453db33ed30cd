//! What secrets look like in a text: one walk over its bytes.
//!
//! Every rule looks a bounded way back and, for what it does not take, a bounded way ahead; what it takes is not looked at
//! again. So the walk is linear.

mod auth;
mod keys;
mod pairs;
mod pem;
mod urls;

use std::ops::Range;

use crate::fields::Fields;

/// Finds what looks like a secret.
pub(crate) fn find(fields: &Fields, text: &[u8], spans: &mut Vec<Range<usize>>) {
    let mut urls = urls::Urls::default();
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        let begins = byte.is_ascii_alphanumeric() && (at == 0 || !text[at - 1].is_ascii_alphanumeric());
        let span = match byte {
            b'=' | b':' => {
                let pair = pairs::pair(fields, text, at);
                pair.or_else(|| if byte == b':' { urls.userinfo(text, at) } else { None })
            }
            b'-' => pem::block(text, at).or_else(|| pairs::flag(fields, text, at)),
            _ if begins => keys::key(text, at).or_else(|| auth::credentials(text, at)),
            _ => None,
        };
        match span {
            Some(span) => {
                at = span.end.max(at + 1);
                spans.push(span);
            }
            None => at += 1,
        }
    }
}

/// Returns where a run of bytes ends.
fn run(text: &[u8], from: usize, part: impl Fn(u8) -> bool) -> usize {
    text[from..].iter().position(|byte| !part(*byte)).map_or(text.len(), |length| from + length)
}

/// As [`run`], for a bounded way.
fn short_run(text: &[u8], from: usize, longest: usize, part: impl Fn(u8) -> bool) -> usize {
    run(&text[..text.len().min(from + longest)], from, part)
}

fn of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
