//! Laws over generated programs and edits.

mod program;
