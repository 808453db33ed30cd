//! What is written about a code that callers meet: of a finding, of a mistake, of a refused edit or request.

/// What is written about a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodePage {
    /// The code.
    pub code: &'static str,
    /// What it is about, in one line.
    pub title: &'static str,
    /// When it is given.
    pub meaning: &'static str,
    /// Something that it is given for: a text, an edit, a request; in words where it takes more than can be written down.
    pub example: &'static str,
    /// What to do.
    pub repair: &'static str,
    /// The example as it should be; `None` where that is in words.
    pub repaired: Option<&'static str>,
}
