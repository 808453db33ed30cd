//! Hides what looks like a secret from whatever is told.
//!
//! Only what is written like the keys of known issuers is hidden, of which the length and the alphabet are fixed: a name or
//! a number of a program is never taken for one.

use std::borrow::Cow;

/// What stands in place of a secret.
pub(crate) const MASKED: &str = "[masked]";

/// How a kind of secret begins, how long it is behind that at least, and what it is written in.
struct Kind {
    prefix: &'static str,
    least: usize,
    letters: fn(u8) -> bool,
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn capitals(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

const KINDS: &[Kind] = &[
    // Ours: eight characters that name it, and 43 that nobody can guess.
    Kind { prefix: "lml_", least: 52, letters: word },
    Kind { prefix: "sk-", least: 20, letters: word },
    Kind { prefix: "ghp_", least: 36, letters: word },
    Kind { prefix: "github_pat_", least: 40, letters: word },
    Kind { prefix: "xoxb-", least: 20, letters: word },
    Kind { prefix: "xoxp-", least: 20, letters: word },
    Kind { prefix: "AKIA", least: 16, letters: capitals },
    Kind { prefix: "AIza", least: 35, letters: word },
];

const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_ENDS: &str = "PRIVATE KEY-----";

/// The text without the secrets in it.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let (mut told, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match secret(text, at) {
            Some(end) => {
                out.push_str(&text[told..at]);
                out.push_str(MASKED);
                (told, at) = (end, end);
            }
            None => at += 1,
        }
    }
    if told == 0 && out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[told..]);
    Cow::Owned(out)
}

/// Where the secret ends that begins here.
fn secret(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    // In the middle of a word nothing begins.
    if !matches!(bytes[at], b'l' | b's' | b'g' | b'x' | b'A' | b'-') || (at > 0 && word(bytes[at - 1])) {
        return None;
    }
    let rest = text.get(at..)?;
    if let Some(kind) = rest.strip_prefix(KEY_BEGINS) {
        let line = &kind[..kind.find('\n').unwrap_or(kind.len()).min(kind.len())];
        let begins = line.find(KEY_ENDS)?;
        let body = at + KEY_BEGINS.len() + begins + KEY_ENDS.len();
        let end = text[body..].find(KEY_ENDS).map_or(text.len(), |end| body + end + KEY_ENDS.len());
        return Some(end);
    }
    KINDS.iter().find_map(|kind| {
        let tail = rest.strip_prefix(kind.prefix)?;
        let length = tail.bytes().take_while(|byte| (kind.letters)(*byte)).count();
        (length >= kind.least).then_some(at + kind.prefix.len() + length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(masked(text), expect);
    }

    /// CUE-74: secrets are masked on all outputs.
    #[test]
    fn cue_74_secrets_are_hidden_and_programs_are_not() {
        let ours = format!("lml_abcd1234_{}", "x".repeat(43));
        check(&format!("Bearer {ours}."), "Bearer [masked].");
        check("key AKIAABCDEFGHIJKLMNOP here", "key [masked] here");
        check(&format!("sk-{} é {ours}", "a1".repeat(20)), "[masked] é [masked]");
        check("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nx", "[masked]\nx");
        for program in [
            "a = sub.i64 task-1, lml_x",
            "module lml_base64",
            "AKIA",
            "const.string \"sk-\"",
            "disk-usage-of-the-whole-machine",
        ] {
            check(program, program);
        }
    }
}
