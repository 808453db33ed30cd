//! What tests of several crates share: generated programs and edits, and runners of the tests that are text.
//!
//! It knows the domain and nothing of stores, servers or clocks. Read [`choices`] first: everything generated is a
//! function of a list of choices, so that a failure shrinks to a small program and a seed repeats a run.

pub mod choices;
pub mod edits;
#[cfg(feature = "files")]
pub mod filetest;
pub mod generate;
#[cfg(feature = "files")]
pub mod merging;
#[cfg(feature = "modules")]
pub mod modules;
pub mod shapes;

pub use choices::Choices;
pub use generate::{Generated, Options};

/// The settings of property tests: 1,000 cases, 10,000 in a long run (`LMLANG_LONG=1`).
pub fn config() -> proptest::test_runner::Config {
    config_of(1_000)
}

/// As [`config`], for laws whose single case is dear: that many cases, ten times as many in a long run.
pub fn config_of(cases: u32) -> proptest::test_runner::Config {
    let cases = if std::env::var_os("LMLANG_LONG").is_some() { cases * 10 } else { cases };
    proptest::test_runner::Config { cases, failure_persistence: None, ..Default::default() }
}
