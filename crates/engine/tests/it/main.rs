//! The use cases over a real database in a temporary folder.

mod events;
mod fixture;
mod opening;
mod stream;
mod writing;
