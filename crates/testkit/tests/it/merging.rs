//! Merges of generated programs: sides are equal, conflicts can be resolved, and nothing ill-typed is called clean.

use std::collections::{BTreeSet, HashSet};
use std::num::NonZeroUsize;

use lmlang_history::merge::{Resolution, Side};
use lmlang_ir::{Program, RefAllocator};
use lmlang_testkit::merging::{Ancestry, merge, resolved};
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

/// Merges two states from a base, both ways around, and resolves what is in conflict in each of some ways. Gives what came of
/// the last one.
fn merged(
    base: &Program,
    [ours, theirs]: [&Checked; 2],
    ways: &[&dyn Fn(usize) -> Side],
) -> Result<Checked, TestCaseError> {
    let (merged, mut program) = merge(base, ours, theirs, &[]).unwrap();
    let (turned, _) = merge(base, theirs, ours, &[]).unwrap();
    prop_assert!(merged.program == turned.program);
    prop_assert_eq!(merged.program.root_hash(), turned.program.root_hash());
    check(ours, theirs, &program)?;
    for way in ways {
        let done = resolved(base, ours, theirs, &[], way);
        let (resolutions, checked) = done.map_err(TestCaseError::fail)?;
        check(ours, theirs, &checked)?;
        let mirrored: Vec<Resolution> =
            resolutions.iter().map(|one| Resolution { take: one.take.other(), ..*one }).collect();
        let (turned, _) = merge(base, theirs, ours, &mirrored).unwrap();
        prop_assert_eq!(checked.program().root_hash(), turned.program.root_hash());
        program = checked;
    }
    Ok(program)
}

/// Whichever side is taken where, whatever comes up on the way.
fn at_random(takes: u64) -> impl Fn(usize) -> Side {
    move |at| if takes.rotate_right(at as u32) & 1 == 0 { Side::Ours } else { Side::Theirs }
}

proptest! {
    #![proptest_config(config_of(6_000))]

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
        let sides = [&checked(&ours), &checked(&theirs)];
        let ways: [&dyn Fn(usize) -> Side; 3] = [&|_| Side::Ours, &|_| Side::Theirs, &at_random(takes)];
        merged(&base, sides, &ways)?;
    }
}

/// How often two branches go on and are merged: 4,500 merges with those that go crosswise, ten times as many in a long run.
const ROUNDS: usize = 3;

/// Programs with more functions, types and branches than those of a single merge.
fn large() -> Options {
    Options { functions: 4, nodes: 16, depth: 3, types: 3, recursion: true, ..Options::small() }
}

proptest! {
    #![proptest_config(config_of(1_000))]

    #[test]
    fn merges_of_merges_are_symmetric_resolvable_and_never_silently_wrong(
        generated in generate::programs(large()),
        mut choices in generate::choices(500),
        takes in any::<u64>(),
    ) {
        let (mut refs, options) = (generated.refs, large());
        let mut ancestry = Ancestry::new(checked(&generated.program));
        let mut heads = [0, 0];
        for round in 0..ROUNDS {
            for head in &mut heads {
                let before = ancestry.state(*head);
                let mut program = before.program().clone();
                change(&mut program, &mut refs, &mut choices, &options);
                let after = before.update(program);
                *head = ancestry.add(after, &[*head]);
            }
            let [one, two] = heads;
            let base = ancestry.base(one, two).unwrap();
            let sides = [ancestry.state(one), ancestry.state(two)];
            // Each of the two may be decided otherwise: then a later merge has to decide again.
            let here = merged(&base, sides, &[&at_random(takes.rotate_left(7 * round as u32))])?;
            let crosswise = choices.chance(50);
            let there = match crosswise {
                true => Some(merged(&base, [sides[1], sides[0]], &[&at_random(!takes.rotate_left(round as u32))])?),
                false => None,
            };
            // What was merged and undone is merged again by what comes next.
            if !choices.chance(20) {
                heads[0] = ancestry.add(here, &[one, two]);
            }
            if let Some(there) = there {
                heads[1] = ancestry.add(there, &[two, one]);
            }
        }
    }
}
