//! Writes characters out whose escapes the parser does not know.
//!
//! The specification has `\u{1F600}` for any character, and a pair of surrogates for one beyond U+FFFF, which is what
//! many libraries write for it. The parser has `\u` with four digits that are no surrogate.

use std::borrow::Cow;
use std::fmt::Write;

use super::tokens::Tokens;

/// The document with such escapes in its strings written out; what is no escape stays, for the parser to refuse.
pub(super) fn written_out(document: &str) -> Cow<'_, str> {
    if !document.contains("\\u") {
        return Cow::Borrowed(document);
    }
    let (mut out, mut copied) = (String::new(), 0);
    for token in Tokens::of(document) {
        let is_string = document
            .get(token.clone())
            .is_some_and(|text| text.starts_with('"') && !text.starts_with("\"\"\""));
        if !is_string {
            continue;
        }
        let mut at = token.start;
        while let Some(found) = document.get(at..token.end).and_then(|rest| rest.find('\\')) {
            let escape = at + found;
            if let Some((length, character)) = character(&document[escape..token.end]) {
                out.push_str(&document[copied..escape]);
                match u32::from(character) {
                    // It may be a quote, or the end of a line.
                    code @ 0..=0xffff => write!(out, "\\u{code:04x}").expect("a string takes everything"),
                    _ => out.push(character),
                }
                copied = escape + length;
                at = copied;
            } else {
                let escaped = document[escape + 1..].chars().next();
                at = escape + 1 + escaped.map_or(0, char::len_utf8);
            }
        }
    }
    if copied == 0 {
        return Cow::Borrowed(document);
    }
    out.push_str(&document[copied..]);
    Cow::Owned(out)
}

/// The character of an escape that the parser does not know at the beginning of a text, and how many bytes say it.
fn character(text: &str) -> Option<(usize, char)> {
    let rest = text.strip_prefix("\\u")?;
    if let Some(rest) = rest.strip_prefix('{') {
        let (digits, _) = rest.split_once('}')?;
        return Some((digits.len() + 4, char::from_u32(number(digits)?)?));
    }
    let high = number(rest.get(..4)?).filter(|unit| (0xd800..0xdc00).contains(unit))?;
    let low = number(rest.get(4..)?.strip_prefix("\\u")?.get(..4)?);
    let low = low.filter(|unit| (0xdc00..0xe000).contains(unit))?;
    Some((12, char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))?))
}

/// A number in hexadecimal digits.
fn number(digits: &str) -> Option<u32> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_number { u32::from_str_radix(digits, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::written_out;

    fn check(document: &str, expected: &str) {
        assert_eq!(written_out(document), expected, "{document}");
    }

    fn check_kept(document: &str) {
        assert!(matches!(written_out(document), Cow::Borrowed(kept) if kept == document), "{document}");
    }

    #[test]
    fn characters_are_written_out() {
        check(r#"{a(s: "x\ud83d\udca5y")}"#, "{a(s: \"x\u{1f4a5}y\")}");
        check(
            r#"{a(s: "\uD83D\uDCA5" t: "\u{1F4A5}\u{001f4a5}")}"#,
            "{a(s: \"\u{1f4a5}\" t: \"\u{1f4a5}\u{1f4a5}\")}",
        );
        check(r#"{a(s: "\u{22}\u{a}\u{e9}")}"#, r#"{a(s: "\u0022\u000a\u00e9")}"#);
        check("{é(s: \"é\\\\ \\u{e9}\") # \\u{e9}\n}", "{é(s: \"é\\\\ \\u00e9\") # \\u{e9}\n}");
    }

    #[test]
    fn what_is_no_such_escape_stays() {
        check_kept("{a}");
        check_kept(r#"{a(s: "\u00e9 \\ud83d\\udca5 \\u{e9}")}"#);
        check_kept(r#"{a(s: """\ud83d\udca5 \u{e9}""")}"#);
        check_kept(r#"{a(s: "\ud83d")}"#);
        check_kept(r#"{a(s: "\ud83d\u0041 \udca5\ud83d \ud83dx")}"#);
        check_kept(r#"{a(s: "\u{} \u{d800} \u{110000} \u{1f4a5 \u{+41} \u{fffffffff} \u+041\u")}"#);
        check_kept("{a(s: \"\\u{1f4a5");
        check_kept("{a(s: \"\\é\\u");
        check_kept("\"\\u\\");
    }
}
