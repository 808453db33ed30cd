//! Names with values: `password=..`, `api_key: ..`, `"token": ".."`, `--secret ..`.

use std::ops::Range;

use super::{run, short_run, space};
use crate::fields::Fields;
use crate::names::Words;

/// Longest name, in bytes; of a longer one the end is read.
const NAME: usize = 64;

/// Most spaces on either side of `=` or `:`.
const SPACES: usize = 16;

/// How far is looked whether a comma begins another pair.
const NEXT: usize = 64;

/// Values that hide nothing: there is none, or it is a type.
const NO_SECRETS: [&str; 31] = [
    "null",
    "none",
    "nil",
    "undefined",
    "unset",
    "empty",
    "missing",
    "true",
    "false",
    "string",
    "str",
    "&str",
    "text",
    "number",
    "integer",
    "int",
    "bool",
    "boolean",
    "bytes",
    "object",
    "any",
    "uuid",
    "i32",
    "i64",
    "f32",
    "f64",
    "u64",
    "required",
    "optional",
    "required.",
    "optional.",
];

/// Finds the value of a secret name that ends before `=` or `:`.
pub(super) fn pair(fields: &Fields, text: &[u8], sign: usize) -> Option<Range<usize>> {
    let before = sign.checked_sub(1).map(|before| text[before])?;
    let after = text.get(sign + 1).copied()?;
    let twice = |byte| byte == text[sign];
    let compared = matches!(before, b'=' | b'!' | b'<' | b'>' | b':');
    if compared || twice(after) || text[sign..].starts_with(b"://") {
        return None;
    }
    let name = name_before(text, sign)?;
    let words = Words::of(&text[name.clone()]);
    let (secret, words) = said(fields, text, &name, words);
    if !secret && !signature(text, &name) {
        return None;
    }
    let value = sign + if matches!((text[sign], after), (b':', b'=') | (b'=', b'>')) { 2 } else { 1 };
    let from = short_run(text, value, SPACES, space);
    let line = ["authorization", "cookie"].iter().any(|end| words.compact().ends_with(end));
    of_value(text, from, line, text[sign] == b'=')
}

/// Finds the value that stands behind `--name` and a space.
pub(super) fn flag(fields: &Fields, text: &[u8], at: usize) -> Option<Range<usize>> {
    let begins = at == 0 || text[at - 1].is_ascii_whitespace() || matches!(text[at - 1], b'"' | b'\'' | b'`');
    if !begins || !text[at..].starts_with(b"--") {
        return None;
    }
    let end = short_run(text, at + 2, NAME, of_name);
    if !fields.hides(&Words::of(&text[at + 2..end])) {
        return None;
    }
    let from = short_run(text, end, SPACES, space);
    let value = text.get(from).is_some_and(|byte| *byte != b'-');
    (from > end && value).then(|| of_value(text, from, false, false))?
}

fn name_before(text: &[u8], sign: usize) -> Option<Range<usize>> {
    let mut end = sign;
    let back = |end: usize, part: fn(u8) -> bool, longest: usize| {
        let from = end.saturating_sub(longest);
        text[from..end].iter().rposition(|byte| !part(*byte)).map_or(from, |at| from + at + 1)
    };
    end = back(end, space, SPACES);
    end = back(end, |byte| byte == b']', 1);
    end = back(end, |byte| matches!(byte, b'"' | b'\'' | b'`'), 1);
    let start = back(end, of_name, NAME);
    (start < end).then_some(start..end)
}

/// Says whether a name is secret, by itself or with the word before it: `API key`, and `max token` not.
fn said(fields: &Fields, text: &[u8], name: &Range<usize>, words: Words) -> (bool, Words) {
    let alone = fields.hides(&words);
    let joined = name.start > 1 && text[name.start - 1] == b' ' && of_name(text[name.start - 2]);
    if !joined || (alone && words.compact() != "token") {
        return (alone, words);
    }
    let from = name.start.saturating_sub(NAME);
    let start = text[from..name.start - 1].iter().rposition(|byte| !of_name(*byte));
    let phrase = Words::of(&text[start.map_or(from, |at| from + at + 1)..name.end]);
    (fields.hides(&phrase), phrase)
}

/// The signature in an address that is good for whoever has it.
fn signature(text: &[u8], name: &Range<usize>) -> bool {
    &text[name.clone()] == b"sig" && name.start > 0 && matches!(text[name.start - 1], b'?' | b'&')
}

fn of_value(text: &[u8], from: usize, line: bool, query: bool) -> Option<Range<usize>> {
    let first = *text.get(from)?;
    let quoted = |at: usize| text.get(at).is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    if quoted(from) {
        return in_quotes(text, from);
    }
    // `b"..."` and the like
    if first.is_ascii_alphabetic() && quoted(from + 1) {
        return in_quotes(text, from + 1);
    }
    let end = if line {
        let end = run(text, from, |byte| !matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`'));
        let spaces = text[from..end].iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
        end - spaces
    } else if matches!(first, b'{' | b'[') {
        let end = in_brackets(text, from);
        if text[from..end].starts_with(b"[redacted]") { bare(text, end, query) } else { end }
    } else {
        bare(text, from, query)
    };
    let value = &text[from..end];
    let secret = value.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    let nothing = value.len() < 16
        && NO_SECRETS.iter().any(|word| word.as_bytes() == value.to_ascii_lowercase().as_slice());
    (secret && !nothing).then_some(from..end)
}

/// The inside of a quotation, to its end or to that of the line.
fn in_quotes(text: &[u8], open: usize) -> Option<Range<usize>> {
    let quote = text[open];
    let triple = text[open..].starts_with(&[quote; 3]);
    let from = open + if triple { 3 } else { 1 };
    let mut at = from;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 1,
            b'\n' if !triple => break,
            byte if byte == quote && (!triple || text[at..].starts_with(&[quote; 3])) => break,
            _ => {}
        }
        at += 1;
    }
    let end = at.min(text.len());
    (end > from).then_some(from..end)
}

/// The end of what a bracket opens; that of the text if nothing closes it.
fn in_brackets(text: &[u8], open: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = open;
    while at < text.len() {
        match text[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b'"' => at = in_quotes(text, at).map_or(at + 1, |inside| inside.end),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            break;
        }
    }
    at.min(text.len())
}

/// The end of a value without quotes.
fn bare(text: &[u8], from: usize, query: bool) -> usize {
    let mut at = from;
    while at < text.len() {
        let next = text.get(at + 1).copied();
        let ends = match text[at] {
            byte if byte.is_ascii_whitespace() || byte.is_ascii_control() => true,
            b'"' if at > from && text[at - 1] == b'(' => {
                at = in_quotes(text, at).map_or(at + 1, |inside| inside.end);
                false
            }
            b'"' | b'`' | b'<' | b'>' => true,
            b'\\' => next.is_none_or(|next| matches!(next, b'n' | b'r' | b't' | b'"')),
            b'&' => query,
            b',' | b';' => next.is_none_or(|_| separates(text, at + 1)),
            b'\'' | b')' | b']' | b'}' => !next.is_some_and(|next| next.is_ascii_alphanumeric()),
            b'.' | b'!' | b'?' => next.is_none_or(|next| next.is_ascii_whitespace()),
            _ => false,
        };
        if ends {
            break;
        }
        at += 1;
    }
    at.min(text.len())
}

/// Says whether what follows a comma is something else: nothing, or another pair.
fn separates(text: &[u8], from: usize) -> bool {
    let end = short_run(text, from, NEXT, of_name);
    let after = text.get(end).copied();
    text[from].is_ascii_whitespace()
        || matches!(text[from], b'"' | b'\'' | b'}' | b']')
        || (end > from && matches!(after, Some(b'=' | b':')))
}

fn of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}
