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

/// Declares stable codes, each a constant, with `ALL` of them and their `PAGES`.
///
/// A row has the code, its title, meaning, example, repair, and the example repaired.
#[macro_export]
macro_rules! code_pages {
    ($($name:ident $title:literal $meaning:literal $example:literal $repair:literal $repaired:expr;)*) => {
        $(#[doc = $title] pub const $name: &str = stringify!($name);)*
        /// All codes.
        pub const ALL: &[&str] = &[$($name),*];
        /// A page for each code.
        pub const PAGES: &[$crate::CodePage] = &[$($crate::CodePage {
            code: $name,
            title: $title,
            meaning: $meaning,
            example: $example,
            repair: $repair,
            repaired: $repaired,
        }),*];
    };
}
