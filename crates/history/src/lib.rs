//! How a program changes: edits, the log of revisions, undo and redo, and the difference of two revisions.
//!
//! This crate knows structure and order of changes. It does not know whether a program is right (`verify`), how the log
//! is kept (`store`) or who may change what when (`engine`); ids and time come in as arguments.
//!
//! Read [`edit`], [`apply`], [`diff`], [`footprint`], [`record`], then [`log`], [`line`], [`provenance`] and [`revision`];
//! [`snapshot`] is how a state is kept, [`request`] turns what a caller asks for into edits, [`merge`] makes one state of two.

pub mod apply;
pub mod describe;
pub mod diff;
pub mod edit;
pub mod footprint;
pub mod line;
pub mod log;
pub mod merge;
pub mod provenance;
pub mod record;
pub mod request;
mod rest;
pub mod revision;
pub mod snapshot;
#[cfg(test)]
mod testing;

pub use apply::{ApplyError, apply, apply_all, invert_all};
pub use diff::{
    ChangeCounts, ChangeKind, Diff, EntityChange, FunctionChange, counts, diff, text_difference, touched,
};
pub use edit::{Edit, FunctionEdit};
pub use footprint::{Collision, Footprint, footprint};
pub use provenance::{Provenance, Touched};
pub use rest::Rest;
