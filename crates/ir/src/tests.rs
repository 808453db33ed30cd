//! What the tests of this crate share.

use proptest::test_runner::Config;

/// At least 1,000 generated cases; ten times as many in a long run.
pub(crate) fn config() -> Config {
    let cases = if std::env::var_os("LMLANG_LONG").is_some() { 10_000 } else { 1_000 };
    Config { cases, failure_persistence: None, ..Config::default() }
}
