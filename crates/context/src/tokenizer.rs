//! Counting tokens as models do.

use std::str::FromStr;

use thiserror::Error;

/// How a text becomes tokens; the vocabularies are part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Tokenizer {
    /// `o200k_base`: of GPT-4o, GPT-4.1, GPT-5 and the o series.
    #[default]
    O200kBase,
    /// `cl100k_base`: of GPT-4 and GPT-3.5; the nearest to most others.
    Cl100kBase,
}

/// A name that no tokenizer has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no tokenizer `{0}`: expected `o200k_base` or `cl100k_base`")]
pub struct UnknownTokenizer(pub String);

impl Tokenizer {
    /// All of them.
    pub const ALL: [Tokenizer; 2] = [Tokenizer::O200kBase, Tokenizer::Cl100kBase];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Tokenizer::O200kBase => "o200k_base",
            Tokenizer::Cl100kBase => "cl100k_base",
        }
    }

    /// The tokens of a text; what looks like a special token is text, too. The first call reads the vocabulary.
    pub fn count(self, text: &str) -> usize {
        match self {
            Tokenizer::O200kBase => tiktoken_rs::o200k_base_singleton(),
            Tokenizer::Cl100kBase => tiktoken_rs::cl100k_base_singleton(),
        }
        .count_ordinary(text)
    }
}

impl FromStr for Tokenizer {
    type Err = UnknownTokenizer;

    fn from_str(text: &str) -> Result<Tokenizer, UnknownTokenizer> {
        let found = Tokenizer::ALL.into_iter().find(|tokenizer| tokenizer.name() == text);
        found.ok_or_else(|| UnknownTokenizer(text.chars().take(40).collect()))
    }
}
