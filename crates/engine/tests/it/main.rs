//! The use cases over a real database in a temporary folder.

mod fixture;
mod opening;
