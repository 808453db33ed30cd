//! Tests that need several crates: laws over generated programs, and the tests that are text.

mod behind;
mod filetests;
mod fixes;
mod merging;
mod patching;
mod program;
mod promoting;
mod recording;
mod refactoring;
mod structure;
mod tiers;
mod wasm;
