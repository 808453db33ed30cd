//! Merges of generated programs: sides are equal, conflicts can be resolved, and nothing ill-typed is called clean.

use std::collections::{BTreeSet, HashSet};
use std::num::NonZeroUsize;

use lmlang_history::merge::{Resolution, Side};
use lmlang_ir::{Program, RefAllocator};
use lmlang_testkit::merging::{merge, resolved};
use lmlang_testkit::{Choices, Options, config_of, edits, generate};
use lmlang_verify::{Checked, Class, Diagnostic, Identity, disagreements, full};
use proptest::prelude::*;

/// Changes a program at random, mostly so that it stays well-typed.
fn change(program: &mut Program, refs: &mut RefAllocator, choices: &mut Choices, options: &Options) {
    for _ in 0..=choices.below(12) {
        match choices.below(8) {
            0 => drop(edits::structural(program, refs, choices)),
            1 => drop(edits::declared(program, refs, choices)),
            _ => drop(edits::typed(program, refs, choices, options)),
        }
    }
}

fn checked(program: &Program) -> Checked {
    Checked::full(program.clone(), NonZeroUsize::MIN)
}

fn grave(found: &Diagnostic) -> Option<Identity> {
    matches!(found.class(), Class::Error | Class::Stale).then(|| found.identity())
}

/// What both sides and their merge come to when everything is looked at.
fn check(ours: &Checked, theirs: &Checked, merged: &Checked) -> Result<(), TestCaseError> {
    let all = full(merged.program());
    prop_assert!(*merged.findings() == all, "LOCAL and FULL differ about a merge");
    let found: BTreeSet<Identity> =
        disagreements(merged, ours, theirs).iter().map(Diagnostic::identity).collect();
    let of = |side: &Checked| -> HashSet<Identity> {
        side.findings().iter().filter_map(|(_, found)| grave(found)).collect()
    };
    let known: HashSet<Identity> = of(ours).union(&of(theirs)).copied().collect();
    let new: BTreeSet<Identity> =
        all.iter().filter_map(|(_, found)| grave(found)).filter(|found| !known.contains(found)).collect();
    prop_assert_eq!(found, new);
    Ok(())
}

proptest! {
    #![proptest_config(config_of(10_000))]

    #[test]
    fn merges_are_symmetric_resolvable_and_never_silently_wrong(
        generated in generate::programs(Options::small()),
        mut one in generate::choices(160),
        mut two in generate::choices(160),
        takes in any::<u64>(),
    ) {
        let (base, mut refs, options) = (generated.program, generated.refs, Options::small());
        let (mut ours, mut theirs) = (base.clone(), base.clone());
        change(&mut ours, &mut refs, &mut one, &options);
        change(&mut theirs, &mut refs, &mut two, &options);
        let sides = [checked(&ours), checked(&theirs)];
        let (merged, program) = merge(&base, &sides[0], &sides[1], &[]).unwrap();
        let (turned, _) = merge(&base, &sides[1], &sides[0], &[]).unwrap();
        prop_assert!(merged.program == turned.program);
        prop_assert_eq!(merged.program.root_hash(), turned.program.root_hash());
        check(&sides[0], &sides[1], &program)?;
        // Whichever side is taken where, whatever comes up on the way.
        let take = |at: usize| if takes.rotate_right(at as u32) & 1 == 0 { Side::Ours } else { Side::Theirs };
        let chosen: [&dyn Fn(usize) -> Side; 3] = [&|_| Side::Ours, &|_| Side::Theirs, &take];
        for choice in chosen {
            let done = resolved(&base, &sides[0], &sides[1], &[], choice);
            let (resolutions, program) = done.map_err(TestCaseError::fail)?;
            check(&sides[0], &sides[1], &program)?;
            let mirrored: Vec<Resolution> =
                resolutions.iter().map(|one| Resolution { take: one.take.other(), ..*one }).collect();
            let (turned, _) = merge(&base, &sides[1], &sides[0], &mirrored).unwrap();
            prop_assert_eq!(program.program().root_hash(), turned.program.root_hash());
        }
    }
}
