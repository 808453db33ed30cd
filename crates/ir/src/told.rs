//! How mistakes, conflicts and what was carried over are worded, wherever they are told as text.

use crate::counted::counted;

/// What an edit would make of something, beside [`NOW`].
pub const EDITED: &str = "yours";
/// What going back, forward or to a checkpoint would make of it.
pub const WENT: &str = "without it";
/// What is there since somebody else changed it.
pub const NOW: &str = "there now";
/// What became of edits that have changed nothing.
pub const UNCHANGED: &str = "unchanged: the edits change nothing";

/// A mistake as it is told behind its place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mistake<'a> {
    /// The code.
    pub code: &'a str,
    /// What is wrong, in words.
    pub message: &'a str,
    /// What could stand there.
    pub expected: &'a [&'a str],
    /// What the code's [`candidates`] are.
    pub candidates: &'a [&'a str],
    /// What stands there.
    pub found: Option<&'a str>,
}

impl Mistake<'_> {
    /// The message, and behind it what that does not say itself.
    pub fn text(&self) -> String {
        let mut told = self.message.to_owned();
        let known = |fact: &str| says(self.message, fact);
        let expected: Vec<&str> = self.expected.iter().copied().filter(|fact| !known(fact)).collect();
        let near = self.candidates.iter().copied();
        let near: Vec<&str> = near.filter(|fact| !known(fact) && !self.expected.contains(fact)).collect();
        for (label, facts) in [("expected", expected), (candidates(self.code), near)] {
            if !facts.is_empty() {
                told.push_str(&format!("; {label}: {}", facts.join(", ")));
            }
        }
        if let Some(found) = self.found.filter(|found| !known(found)) {
            told.push_str(&format!("; found: {found}"));
        }
        told
    }
}

/// Whether a message says a fact itself: it stands there in backticks, or as words of their own.
pub fn says(message: &str, fact: &str) -> bool {
    let plain = fact.replace('`', "");
    if plain.is_empty() || message.contains(&format!("`{plain}`")) {
        return true;
    }
    let message = message.replace('`', "");
    let goes_on = |letter: char| letter.is_alphanumeric() || "_.:#$<>".contains(letter);
    message
        .match_indices(&plain)
        .any(|(at, _)| !message[..at].ends_with(goes_on) && !message[at + plain.len()..].starts_with(goes_on))
}

/// What the candidates of a mistake are: names near to one that there is not, what could be meant, or what is in the way.
pub fn candidates(code: &str) -> &'static str {
    match code {
        "UNKNOWN_NAME" | "UNKNOWN_REF" | "UNKNOWN_OP" | "SYNTAX" | "TYPE_EXPECTED" | "BAD_LITERAL"
        | "BAD_NAME" | "NAME_LIKE_REF" | "BAD_PATTERN" => "did you mean",
        "AMBIGUOUS_NAME" | "MODULE_REQUIRED" => "one of",
        _ => "see",
    }
}

/// A conflict as lines: what it is, and what each side has there. `proposed` is [`EDITED`] or [`WENT`].
pub fn conflict(head: &str, [base, ours, theirs]: [Option<&str>; 3], proposed: &str) -> String {
    let mut told = head.to_owned();
    for (side, label) in [(base, "base"), (ours, NOW), (theirs, proposed)] {
        if let Some(text) = side {
            told.push_str(&format!("\n  {label}: {}", text.replace('\n', "\n    ")));
        }
    }
    told
}

/// That a change was made on revisions which its author had not seen.
pub fn carried_over(revisions: u64) -> String {
    format!("carried over {}", counted(revisions, "later revision", "later revisions"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_message_says_is_found_in_it() {
        let message = "input `values` 1 of `return`: expected `i64`, found `array<i32>`";
        for (fact, expect) in
            [("i64", true), ("array<i32>", true), ("i32", false), ("return", true), ("", true)]
        {
            assert_eq!(says(message, fact), expect, "{fact}");
        }
        assert!(says("expected `i32` or a `ptr`, found `f32`", "i32 or a ptr"));
        assert!(says("expected a type, found `[`", "`[`"));
        assert!(!says("there is no operator `ad.i64`", "i64"));
    }

    #[test]
    fn nothing_of_a_mistake_is_told_twice() {
        let check = |mistake: Mistake<'_>, expect: &str| assert_eq!(mistake.text(), expect);
        let message = "the type of `mul` is missing";
        check(
            Mistake {
                code: "UNKNOWN_OP",
                message,
                expected: &["mul.i32", "mul.i64"],
                candidates: &["mul.i32", "mul.i64", "call mul"],
                found: Some("mul"),
            },
            "the type of `mul` is missing; expected: mul.i32, mul.i64; did you mean: call mul",
        );
        let message = "the pattern fits more places than may change: 2 of 1";
        check(
            Mistake {
                code: "TOO_MANY_MATCHES",
                message,
                candidates: &["n23", "n24"],
                found: Some("2"),
                ..Mistake::default()
            },
            "the pattern fits more places than may change: 2 of 1; see: n23, n24",
        );
    }

    #[test]
    fn a_conflict_tells_what_each_side_has() {
        let told = conflict("conflict BOTH n4: both", [Some("a"), None, Some("b\nc")], EDITED);
        assert_eq!(told, "conflict BOTH n4: both\n  base: a\n  yours: b\n    c");
        assert_eq!(
            (carried_over(1), carried_over(2)),
            ("carried over 1 later revision".to_owned(), "carried over 2 later revisions".to_owned())
        );
    }
}
