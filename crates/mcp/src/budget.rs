//! How many tokens a text takes, by the vocabulary `o200k_base`.

use lmlang_context::Tokenizer;

/// Tokens of an answer when nobody says how many it may have.
pub(crate) const DEFAULT: u64 = 4_000;
/// Tokens that an answer may have at most, however many are asked for.
pub(crate) const CAP: u64 = 20_000;

/// Bytes that are counted at a time: what the tokenizer takes grows faster than a text without blanks.
const PIECE: usize = 4_096;

/// How many tokens a text takes; a little more than it may be for text in long lines, never less.
pub(crate) fn tokens(text: &str) -> u64 {
    let mut rest = text;
    let mut sum = 0;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE.min(rest.len())));
        sum += Tokenizer::O200kBase.count(piece);
        rest = after;
    }
    u64::try_from(sum).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_the_vocabulary() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("hello world"), 2);
        assert!(tokens(&"a".repeat(100_000)) > 1_000);
    }
}
