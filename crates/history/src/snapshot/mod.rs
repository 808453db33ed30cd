//! Snapshots: the state after an entry of the log, as objects that are named by their content.
//!
//! The maps of a program are cut into parts ([`lmlang_ir::trie::Part`]), and each part is one object. Snapshots share the
//! objects of what is equal in them, so that one costs what was written since another. A function of at most
//! [`WHOLE`] nodes stands in the part that holds its entry, a larger one is cut up like the program itself.
//!
//! [`write`] makes the objects that an earlier snapshot does not have. [`Reading`] says which objects it wants, takes them
//! in any order and puts the state together. Keeping and fetching them is the caller's business.

mod bytes;
mod entities;
mod function;
mod object;
mod reading;
#[cfg(test)]
mod tests;
mod writing;

use lmlang_ir::{Program, StructureError};
use thiserror::Error;

use crate::line::Line;
use crate::provenance::Provenance;

pub use object::{Object, ObjectKey, references};
pub use reading::Reading;
pub use writing::{Written, write};

/// The version of the form that is written; a part of every object's name.
pub const VERSION: u8 = 2;

/// The most nodes of a function that is kept in one piece; few in tests, so that small programs have large functions.
pub const WHOLE: u64 = if cfg!(test) { 4 } else { 128 };

/// What a snapshot holds: all that opening a program needs from the entries up to one.
#[derive(Clone, Debug)]
pub struct State {
    /// The number of the entry.
    pub number: u64,
    /// The content after it.
    pub program: Program,
    /// The first ref number that was never handed out.
    pub next_ref: u64,
    /// What undo and redo go back to.
    pub line: Line,
    /// In which revision each entity was made and changed last.
    pub provenance: Provenance,
    /// Numbers of the entries that made the checkpoints that there are, ascending; `None` where nobody noted them.
    pub marks: Option<Vec<u64>>,
}

impl State {
    /// The state before the first entry.
    pub fn before_all() -> State {
        State {
            number: 0,
            program: Program::new(),
            next_ref: 1,
            line: Line::new(),
            provenance: Provenance::default(),
            marks: Some(Vec::new()),
        }
    }
}

/// Why a snapshot cannot be read.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// Written by another version of lmlang.
    #[error("version {0} of the form of snapshots is not known")]
    Version(u8),
    /// The bytes end in the middle, or say something that nothing can mean.
    #[error("damaged at byte {at}: {what}")]
    Damaged {
        /// Where, from the start of the object or the root.
        at: usize,
        /// What was expected there.
        what: &'static str,
    },
    /// The entities do not hold together.
    #[error("the entities do not hold together: {0}")]
    Structure(#[from] StructureError),
    /// Some objects were not found.
    #[error("{0} objects are missing")]
    Incomplete(usize),
    /// What was put together is not what was written.
    #[error("the content does not have the recorded hash")]
    Hash,
}
