//! Records: the form in which edits leave memory.
//!
//! Edits have one form, JSON: it is what the log keeps, what the API shows and what the command line prints. Refs, sources,
//! types and operators stand in it as the canonical text that people read too, so the op table may grow without a new
//! version. It begins with its version.

mod edits;
mod entities;
mod glance;
mod shown;
mod storage;
#[cfg(test)]
mod tests;

use lmlang_ir::StructureError;
use thiserror::Error;

pub use edits::{EditForm, decode_edits, edit_json, encode_edits, parse_edit};
pub use glance::{Glance, function_of, glance, mention, mention_whole};

pub(crate) use entities::regions_outside_in;

/// The version of the form of edits that is written.
pub const EDITS_VERSION: u32 = 1;

/// Why a record cannot be read.
#[derive(Debug, Error)]
pub enum RecordError {
    /// Written by a newer program.
    #[error("version {0} of the record is not known")]
    Version(u32),
    /// Not the JSON of an edit.
    #[error("not an edit: {0}")]
    Json(#[from] serde_json::Error),
    /// A whole function that does not hold together.
    #[error("the record does not hold together: {0}")]
    Structure(#[from] StructureError),
}
