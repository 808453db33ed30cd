//! Whatever function there is in the examples and the tests of the language: a search of it comes to an end.

use std::path::{Path, PathBuf};

use lmlang_check::{Checker, Difference, Given, Mutation, MutationOptions, Options, State};
use lmlang_interp::{Cache, Environment, Limits};
use lmlang_ir::RefAllocator;
use lmlang_ir::text::parse_program;
use lmlang_verify::Checked;

/// The programs that there are; those with mistakes that no text may have are left out.
fn programs() -> Vec<(PathBuf, Checked)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in ["examples", "tests/filetests/lang", "tests/filetests/ops"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("it is there") {
            let path = entry.expect("it can be read").path();
            let text = std::fs::read_to_string(&path).expect("a text");
            if let Ok(program) = parse_program(&text, &mut RefAllocator::starting_at(1)) {
                found.push((path, Checked::full(program, std::num::NonZeroUsize::MIN)));
            }
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}

#[test]
fn every_function_can_be_searched_compared_and_changed() {
    let limits = Limits { fuel: 20_000, memory_bytes: 16 << 20, call_depth: 200, output_bytes: 10_000 };
    let options = Options { cases: 50, limits, ..Options::default() };
    let cache = Cache::new();
    let (mut searched, mut broken, mut killed) = (0, 0, 0);
    for (path, checked) in programs() {
        for (function, _) in checked.program().functions() {
            let Ok(mut checker) = Checker::new(&checked, function, &options, &cache) else { continue };
            while !matches!(checker.progress().state, State::Over(_)) {
                checker.advance(1_000_000).unwrap_or_else(|error| panic!("{path:?} {function}: {error}"));
            }
            searched += 1;
            let found = checker.progress().counterexample.clone();
            broken += usize::from(found.is_some());
            // A program does what it does.
            let small = Options { cases: 10, ..options.clone() };
            let mut difference =
                Difference::new(&checked, &checked, function, &small, &cache).expect("the same");
            while !matches!(difference.progress().state, State::Over(_)) {
                difference.advance(1_000_000).unwrap_or_else(|error| panic!("{path:?} {function}: {error}"));
            }
            assert_eq!(difference.progress().differing, None, "{path:?} {function}");
            let Some(found) = found else { continue };
            let given = Given { function, args: found.args, environment: Environment::default() };
            let few = MutationOptions { most: 5, limits, ..MutationOptions::default() };
            let mut mutation =
                Mutation::new(&checked, function, vec![given], &few, &cache).expect("verified");
            while !mutation.advance(1_000_000) {}
            let score = mutation.score();
            assert_eq!(
                score.killed + score.survived.len() + score.skipped,
                score.possible.min(5),
                "{path:?} {function}"
            );
            killed += score.killed;
        }
    }
    assert!(searched > 300 && broken > 50 && killed > 50, "{searched} {broken} {killed}");
}
