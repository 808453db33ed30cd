//! Laws over generated programs and edits.

mod program;
mod structure;
