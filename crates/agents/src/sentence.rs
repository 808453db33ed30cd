//! What others have said, as a sentence among ours.

/// A text that ends as a sentence does: with a full stop, unless it has a mark of its own.
pub(crate) fn ended(text: &str) -> String {
    let text = text.trim_end();
    match text.ends_with(['.', '?', '!', '…']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(ended(text), expect);
    }

    #[test]
    fn a_sentence_ends_once() {
        check("give the rate a name", "give the rate a name.");
        check("Give the rate a name.", "Give the rate a name.");
        check("which tax?\n", "which tax?");
        check("no `i64` (BAD_LITERAL)", "no `i64` (BAD_LITERAL).");
    }
}
