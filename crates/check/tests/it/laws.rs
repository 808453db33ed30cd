//! Laws over generated programs: what is made fits, what is found fails, slices change nothing.

use lmlang_check::{Checker, Options, Progress, State};
use lmlang_interp::{Cache, Limits, Options as RunOptions, Outcome, run};
use lmlang_ir::FuncRef;
use lmlang_testkit::generate::{self, Options as Wild};
use lmlang_verify::Checked;
use proptest::prelude::*;

use crate::tools::{named, read};

fn options(seed: u64) -> Options {
    let limits = Limits { fuel: 20_000, call_depth: 50, memory_bytes: 16 << 20, output_bytes: 10_000 };
    Options { cases: 60, seed, limits, ..Options::default() }
}

/// Searches in slices that follow each other in a circle.
fn in_slices(checked: &Checked, function: FuncRef, seed: u64, slices: &[u64]) -> Option<Progress> {
    let mut checker = Checker::new(checked, function, &options(seed), &Cache::new()).ok()?;
    let mut slices = slices.iter().cycle();
    while !matches!(checker.progress().state, State::Over(_)) {
        // An error would say that an input that was made does not fit its parameter.
        checker.advance(slices.next().copied().unwrap_or(1)).expect("what is made fits");
    }
    Some(checker.progress().clone())
}

fn laws(seed: u64, slice: u64) -> Result<(), TestCaseError> {
    let wild = Wild { recursion: seed.is_multiple_of(3), functions: 3, ..Wild::default() };
    let generated = generate::seeded(seed, &wild);
    let checked = Checked::full(generated.program.clone(), std::num::NonZeroUsize::MIN);
    for (function, _) in generated.program.functions() {
        let Some(whole) = in_slices(&checked, function, seed, &[u64::MAX / 2]) else { continue };
        let sliced = in_slices(&checked, function, seed, &[slice, 1, 3 * slice]);
        prop_assert_eq!(Some(&whole), sliced.as_ref(), "{} in slices of {}", function, slice);
        prop_assert!(whole.coverage.reached <= whole.coverage.branches);
        let Some(found) = &whole.counterexample else { continue };
        // A run of its own, in folded code, fails in the same way.
        let run_options = RunOptions { limits: options(seed).limits, ..RunOptions::default() };
        let again = run(&checked, function, &found.args, &run_options, &Cache::new(), u64::MAX, &mut |_| {
            lmlang_interp::Control::Continue
        });
        let again = again.expect("the arguments fit").outcome;
        let alike = match (&again, &found.outcome) {
            (Outcome::Trapped { fault: a, place: p }, Outcome::Trapped { fault: b, place: q }) => {
                a == b && p.at().map(|at| at.node) == q.at().map(|at| at.node)
            }
            (
                Outcome::ContractViolated { contract: a, .. },
                Outcome::ContractViolated { contract: b, .. },
            ) => a == b,
            (Outcome::LimitReached { limit: a, .. }, Outcome::LimitReached { limit: b, .. }) => a == b,
            (_, _) => false,
        };
        prop_assert!(alike, "{}: {:?} and {:?}", function, again, found.outcome);
    }
    Ok(())
}

proptest! {
    #![proptest_config(lmlang_testkit::config_of(100))]

    #[test]
    fn searches_are_deterministic_and_what_they_find_fails(seed in any::<u64>(), slice in 1u64..5_000) {
        laws(seed, slice)?;
    }
}

/// The planted ones, which are harder to find, in slices of any length and by any seed.
#[test]
fn slices_change_nothing() {
    let checked = read(include_str!("planted.lm"));
    for name in ["average", "sorted", "handled", "holds_seven", "even", "larger", "impossible"] {
        let function = named(&checked, name);
        let whole = in_slices(&checked, function, 3, &[u64::MAX / 2]);
        for slices in [&[1][..], &[997, 1, 1 << 20], &[50_000]] {
            assert_eq!(in_slices(&checked, function, 3, slices), whole, "{name} {slices:?}");
        }
    }
}
