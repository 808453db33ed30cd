//! The use cases over a real database in a temporary folder.

mod events;
mod fixture;
mod opening;
mod past;
mod stream;
mod tokens;
mod writing;
