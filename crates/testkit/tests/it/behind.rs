//! What a change elsewhere has left behind is kept by the text form.

use lmlang_ir::RefAllocator;
use lmlang_ir::text::{Detail, parse_program_with_places, print_program};
use lmlang_testkit::{Options, config, edits, generate};
use lmlang_verify::{Class, full};
use proptest::prelude::*;

proptest! {
    #![proptest_config(config())]

    /// It reads back as the same program, and each finding is at something whose ref the text gives.
    #[test]
    fn what_is_left_behind_reads_back(
        generated in generate::programs(Options::small()),
        mut choices in generate::choices(60),
    ) {
        let (mut program, mut refs) = (generated.program, generated.refs);
        for _ in 0..6 {
            let mut changed = program.clone();
            let done = edits::declared(&mut changed, &mut refs, &mut choices);
            let errors = full(&changed).tally().errors;
            if done.is_some() && errors == 0 {
                program = changed;
            }
        }
        let text = print_program(&program, Detail::Full);
        let read = parse_program_with_places(&text, &mut RefAllocator::starting_at(1));
        let (again, places) = read.map_err(|errors| {
            let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
            TestCaseError::fail(format!("{}\n{text}", told.join("\n")))
        })?;
        prop_assert!(again == program, "{}\n{text}", print_program(&again, Detail::Full));
        prop_assert_eq!(again.root_hash(), program.root_hash());
        let findings = full(&again);
        prop_assert_eq!(&findings, &full(&program));
        for (_, found) in findings.iter().filter(|(_, found)| found.class() == Class::Stale) {
            prop_assert!(places.is_tagged(found.at.entity.number), "{found:?}\n{text}");
        }
    }
}

/// A text that names members that are gone gives no new entity their refs.
#[test]
fn refs_of_what_is_gone_are_not_given_again() {
    let text = "module m\ntype P#t2 = struct { x: i64 }\nfunc f (p: P) -> (i64) {\n  y = struct.get P.d7 p\n  return y\n}\n";
    let mut refs = RefAllocator::starting_at(1);
    let (program, _) = parse_program_with_places(text, &mut refs).expect("it reads");
    assert!(program.ref_of(7).is_none() && refs.watermark() > 8, "{}", print_program(&program, Detail::Full));
}
