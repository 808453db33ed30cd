//! The two tiers beside each other.

mod agree;
mod bounds;
mod kept;
pub(crate) mod tools;
