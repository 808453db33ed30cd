//! What a compound edit made of something that it read: its primitive edits do not say that they are right only as long as
//! that stays as it was.
//!
//! A call that was replaced by code has a copy of what the function was; a variable that became values has none of what is
//! written to it otherwise. Both are recorded with the revision, so that a [merge](crate::merge) and whoever carries a
//! change set over others know of them, and ask where another change is about what was read.

use lmlang_ir::Ref;

/// Something that a compound edit read and made something else of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// What it was made of: a function that was copied, or a variable that became values.
    pub on: Ref,
    /// What came, went and changed for that, first what went: the call, or the variable. All of it is taken or left together.
    pub by: Vec<Ref>,
}
