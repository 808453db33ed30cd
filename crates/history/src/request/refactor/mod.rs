//! Compound edits: one entry of a request that stands for many primitive edits.
//!
//! [`span`] is a run of nodes that an edit is about, [`graft`] copies code from one place to another. With these two,
//! [`wrap`] puts code into a node and takes it out again, [`extract`] and [`inline`] make a function of code and code of a
//! call, [`exits`] lets a loop, a node or a function give one more value, [`calls`] rewrites calls of a function whose
//! signature changed, [`subgraph`] and [`pattern`] put other code in place of code. All but the last two, a wrap into an
//! `if`, and a result more of what is imported, keep what runs give.

mod calls;
mod exits;
mod extract;
mod graft;
mod inline;
pub(super) mod inputs;
mod pattern;
mod span;
mod subgraph;
mod wrap;
