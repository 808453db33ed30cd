use lmlang_ir::Program;
use proptest::prelude::*;

use super::*;
use crate::apply::apply;
use crate::testing::{Choice, Mutator, cases, choices};

/// A base and two states that come from it.
fn diverged(grow: &[Choice], one: &[Choice], two: &[Choice]) -> (Program, Program, Program) {
    let base = Mutator::grown(grow);
    let (mut ours, mut theirs) = (base.clone(), base.clone());
    ours.mutate(one);
    // Refs are never reused, on any branch.
    theirs.refs = ours.refs.clone();
    theirs.mutate(two);
    (base.program, ours.program, theirs.program)
}

fn orders(program: &Program) -> Vec<Vec<lmlang_ir::NodeRef>> {
    let bodies = program.functions().map(|(_, function)| function.body());
    bodies
        .flat_map(|body| body.regions().map(|(region, _)| body.nodes_in(region).collect::<Vec<_>>()))
        .collect()
}

fn assert_same(a: &Program, b: &Program) -> Result<(), TestCaseError> {
    prop_assert!(a == b);
    prop_assert_eq!(a.root_hash(), b.root_hash());
    prop_assert_eq!(orders(a), orders(b));
    prop_assert_eq!(a.totals(), b.totals());
    Ok(())
}

/// Tells whether a state has all that a side changed, the order of nodes apart.
fn has(base: &Program, side: &Program, merged: &Program) -> Result<(), TestCaseError> {
    let there: Vec<Edit> = changes(base, merged).into_iter().map(|change| change.edit).collect();
    for change in changes(base, side) {
        match (change.placed(), &change.edit) {
            (Some((node, gap)), edit) => {
                let function = edit.function().unwrap();
                let record = |program: &Program| {
                    let found = program.function(function)?.body().node(node)?.clone();
                    Some((found.region(), edit.adds().then(|| found.content())))
                };
                prop_assert_eq!(record(merged), record(side), "{} {:?}", node, gap);
            }
            (None, edit) if edit.adds() || edit.removes() => prop_assert!(there.contains(edit), "{edit}"),
            // Laid over the merged state it changes nothing.
            (None, edit) => {
                let mut again = merged.clone();
                apply(&mut again, &onto(edit, base, merged)).unwrap();
                prop_assert!(again == *merged, "{edit}");
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10 * cases(), max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn merging_with_an_unchanged_or_an_equal_side_gives_the_other(grow in choices(60), then in choices(25)) {
        let (base, ours, _) = diverged(&grow, &then, &[]);
        for (a, b) in [(&ours, &base), (&base, &ours), (&ours, &ours)] {
            let merged = merge(&base, a, b, &[]).unwrap();
            prop_assert_eq!(&merged.conflicts, &[]);
            prop_assert_eq!(&merged.left, &[]);
            assert_same(&merged.program, &ours)?;
        }
    }

    #[test]
    fn sides_are_equal_and_conflicts_can_be_resolved(
        grow in choices(40),
        one in choices(12),
        two in choices(12),
        takes in any::<u64>(),
    ) {
        let (base, ours, theirs) = diverged(&grow, &one, &two);
        let merged = merge(&base, &ours, &theirs, &[]).unwrap();
        let turned = merge(&base, &theirs, &ours, &[]).unwrap();
        assert_same(&merged.program, &turned.program)?;
        let kinds = |merge: &Merge| merge.conflicts.iter().map(|one| (one.of, one.kind)).collect::<Vec<_>>();
        prop_assert_eq!(kinds(&merged), kinds(&turned));
        prop_assert_eq!(merged.conflicts.is_empty(), merged.left.is_empty());
        if merged.conflicts.is_empty() {
            has(&base, &ours, &merged.program)?;
            has(&base, &theirs, &merged.program)?;
        }
        let refs: std::collections::BTreeSet<Ref> = merged.conflicts.iter().map(|one| one.of).collect();
        for side in [Side::Ours, Side::Theirs] {
            let all: Vec<Resolution> = refs.iter().map(|of| Resolution { of: *of, take: side }).collect();
            let resolved = merge(&base, &ours, &theirs, &all).unwrap();
            prop_assert_eq!(&resolved.conflicts, &[]);
            prop_assert!(resolved.left.iter().all(|one| one.side != side), "{:#?}", resolved.left);
            has(&base, if side == Side::Ours { &ours } else { &theirs }, &resolved.program)?;
            let mirrored: Vec<Resolution> = all.iter().map(|one| Resolution { take: side.other(), ..*one }).collect();
            assert_same(&resolved.program, &merge(&base, &theirs, &ours, &mirrored).unwrap().program)?;
        }
        let mixed: Vec<Resolution> = refs
            .iter()
            .enumerate()
            .map(|(at, of)| (of, takes.rotate_right(2 * at as u32)))
            .filter(|(_, bits)| bits & 1 == 0)
            .map(|(of, bits)| Resolution { of: *of, take: if bits & 2 == 0 { Side::Ours } else { Side::Theirs } })
            .collect();
        let resolved = merge(&base, &ours, &theirs, &mixed).unwrap();
        let open: Vec<Ref> = resolved.conflicts.iter().map(|one| one.of).collect();
        prop_assert!(mixed.iter().all(|one| !open.contains(&one.of)));
        prop_assert!(open.iter().all(|of| refs.contains(of)));
    }
}
