//! The two tiers beside each other.

mod agree;
mod bounds;
pub(crate) mod tools;
