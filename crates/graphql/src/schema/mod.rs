//! The schema: one file per type family.
//!
//! Read [`ids`] for how objects are named, [`connection`] for lists, then the families.

pub mod connection;
pub mod edit_input;
pub mod ids;
pub mod ops;
pub mod scalars;
