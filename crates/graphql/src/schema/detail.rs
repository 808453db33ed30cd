//! How much a text says.

use async_graphql::Enum;
use lmlang_ir::text;

/// How much a text says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
pub enum Detail {
    /// Names alone where one thing has them, and refs where there is no name to go by: the shortest. Of single nodes their
    /// refs.
    Summary,
    /// The ref of everything.
    Standard,
    /// Docs and runs too: `createProgram` makes the same program of it.
    Full,
}

impl From<Detail> for text::Detail {
    fn from(detail: Detail) -> text::Detail {
        match detail {
            Detail::Summary => text::Detail::Summary,
            Detail::Standard => text::Detail::Standard,
            Detail::Full => text::Detail::Full,
        }
    }
}
