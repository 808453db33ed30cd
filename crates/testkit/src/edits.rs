//! Random changes of a program, one at a time.
//!
//! Three kinds: [`typed`] changes keep a well-typed program well-typed, [`structural`] ones keep nothing but the
//! structure, so that whatever an undo, a merge or an old log can lead to is reached, and [`declared`] ones leave behind
//! what uses the declarations. All go straight through `ir::change`; a test compares the programs before and after.

pub mod declared;
pub mod structural;
pub mod typed;

pub use declared::declared;
pub use structural::structural;
pub use typed::typed;
