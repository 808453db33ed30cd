//! Short quotes of what others wrote, without keys.

use std::borrow::Cow;

use super::secret::Secret;

/// Longest quote in an error, in characters.
pub(crate) const LONGEST: usize = 300;

/// What stands in place of a key.
const HIDDEN: &str = "[secret]";

/// Shortest word that begins as keys do and is taken for one.
const SHORTEST_KEY: usize = 12;

/// How keys of well-known providers begin.
const PREFIXES: [&str; 4] = ["sk-", "sk_", "gsk_", "AIza"];

/// The beginning of a text, on one line, without the given key and without words that look like one.
pub(crate) fn quote(text: &str, secret: Option<&Secret>) -> String {
    let text = without(text, secret);
    let mut out = String::new();
    for word in text.split_whitespace().take(LONGEST) {
        if !out.is_empty() {
            out.push(' ');
        }
        hide_keys(word, &mut out);
        if out.len() > LONGEST * 4 {
            break;
        }
    }
    // Once more: what was between two parts of it may be gone.
    cut(&without(&out, secret), LONGEST)
}

fn without<'a>(text: &'a str, secret: Option<&Secret>) -> Cow<'a, str> {
    match secret.map(Secret::reveal) {
        Some(secret) if !secret.is_empty() && text.contains(secret) => {
            Cow::Owned(text.replace(secret, HIDDEN))
        }
        Some(_) | None => Cow::Borrowed(text),
    }
}

/// The beginning of a text, with a sign that there is more.
pub(crate) fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn hide_keys(word: &str, out: &mut String) {
    let part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '*' | '.');
    let mut rest = word;
    while !rest.is_empty() {
        let end = rest.find(|letter| !part(letter)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        let key = run.len() >= SHORTEST_KEY && PREFIXES.iter().any(|prefix| run.starts_with(prefix));
        out.push_str(if key { HIDDEN } else { run });
        let between = after.find(part).unwrap_or(after.len());
        out.extend(after[..between].chars().filter(|letter| !letter.is_control()));
        rest = &after[between..];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(quote(text, Some(&Secret::new("my/key+=="))), expect);
    }

    #[test]
    fn quotes_are_short_and_have_no_keys() {
        check("it is\r\n\t bad \u{1b}[31m", "it is bad [31m");
        check("Bearer my/key+==, twice my/key+==my/key+==", "Bearer [secret], twice [secret][secret]");
        check(r#"{"message":"Incorrect: sk-abcd****wxyz."}"#, r#"{"message":"Incorrect: [secret]"}"#);
        check("sk-short risk-free-investments", "sk-short risk-free-investments");
        let long = quote(&"é".repeat(1_000), None);
        assert_eq!(long.chars().count(), LONGEST + 1);
        assert_eq!(quote(&"a ".repeat(100_000), None).chars().count(), LONGEST + 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

        /// Whatever stands around a key, and within it, it is not quoted.
        #[test]
        fn no_text_shows_the_key(parts in prop::collection::vec("(my/key\\+==|my|/key|\\+==|[ -~é\u{1}\n]{0,5})", 0..20)) {
            let quoted = quote(&parts.concat(), Some(&Secret::new("my/key+==")));
            prop_assert!(!quoted.contains("my/key+=="), "{}", quoted);
            prop_assert!(quoted.chars().count() <= LONGEST + 1);
        }
    }
}
