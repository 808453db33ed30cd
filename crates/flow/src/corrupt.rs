//! What is wrong with a journal.

use crate::entry::Kind;
use crate::state::StateError;

/// An entry that does not follow from those before it: the journal is another flow's, or damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Corrupt {
    /// Its number is not the next one.
    #[error("entry {found} stands where {expected} is expected")]
    Number {
        /// The next number.
        expected: u64,
        /// The entry's.
        found: u64,
    },
    /// It is about a branch, or a position of it, that is not there.
    #[error("entry {number} ({kind:?}) does not follow from those before it")]
    Place {
        /// The entry.
        number: u64,
        /// Its kind.
        kind: Kind,
    },
    /// What it changes does not fit the flow's channels.
    #[error("entry {number} does not fit the flow: {error}")]
    Update {
        /// The entry.
        number: u64,
        /// Why.
        error: StateError,
    },
}
