//! The stages in which a context becomes shorter, the safest first.

use std::fmt;

use crate::abbreviations::Abbreviations;
use crate::tokenizer::Tokenizer;

/// A way to make a context shorter. They are applied in this order, each only if those before were not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Comments inside of bodies, and runs, go; docs stay.
    Comments,
    /// Long words get short forms; the legend stands in the text.
    Abbreviations,
    /// Indentation and blank lines go.
    Whitespace,
    /// Sections over 30 lines become their head, counts, and first and last lines.
    Summaries,
    /// Bodies become their hash, behind docs, signature and contracts.
    References,
}

impl Stage {
    /// All of them, in order.
    pub const ALL: [Stage; 5] =
        [Stage::Comments, Stage::Abbreviations, Stage::Whitespace, Stage::Summaries, Stage::References];

    /// The name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Comments => "comments",
            Stage::Abbreviations => "abbreviations",
            Stage::Whitespace => "whitespace",
            Stage::Summaries => "summaries",
            Stage::References => "references",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Sections with more lines than this are summarised.
pub const SUMMARISED_LINES: usize = 30;

/// Makes contexts shorter.
#[derive(Clone, Debug, Default)]
pub struct Compressor {
    /// What may be abbreviated.
    pub abbreviations: Abbreviations,
    /// Counts.
    pub tokenizer: Tokenizer,
}

/// How much of a section is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Whole,
    Summary,
    Reference,
    LeftOut,
}

/// What became of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) form: Form,
    /// The last stage that changed it.
    pub(crate) stage: Option<Stage>,
    /// The tokens that it takes.
    pub(crate) tokens: usize,
    pub(crate) text: String,
}

/// A context that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Compressed {
    /// The text.
    pub content: String,
    /// Its tokens: never more than the budget.
    pub tokens_used: usize,
    /// The tokens that the context would take as a whole.
    pub tokens_whole: usize,
    /// The stages that were applied, in their order.
    pub applied: Vec<Stage>,
    /// What became of each section, in the order in which they were given.
    pub(crate) pieces: Vec<Piece>,
    /// Comment lines that went.
    pub comments_removed: usize,
}

impl Compressed {
    /// The part of the whole that is left: 1 when nothing was compressed.
    pub fn compression_ratio(&self) -> f64 {
        match self.tokens_whole {
            0 => 1.0,
            whole => self.tokens_used as f64 / whole as f64,
        }
    }
}

/// A text without comments. `docs` at its beginning stay, if `has_comments`; otherwise there is nothing but docs.
pub(crate) fn without_comments(text: &str, has_comments: bool) -> (String, usize) {
    if !has_comments {
        return (text.to_owned(), 0);
    }
    let (mut in_docs, mut removed) = (true, 0);
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let is_comment = line.trim_start().starts_with(';');
        in_docs &= is_comment;
        if is_comment && !in_docs {
            removed += 1;
            continue;
        }
        out.extend([line, "\n"]);
    }
    (out, removed)
}

/// A text without indentation and blank lines. Blanks inside of a line stay: they may stand in quotes.
pub(crate) fn without_whitespace(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.flat_map(|line| [line, "\n"]).collect()
}
