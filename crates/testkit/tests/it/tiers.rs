//! The two tiers beside each other.

mod agree;
mod bounds;
mod kept;
mod memories;
pub(crate) mod tools;
