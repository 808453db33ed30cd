use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lmlang_ir::{
    Attr, Case, FuncRef, FunctionHead, Match, Module, NodeContent, NodeRef, Op, Opcode, Program, RefKind,
    Region, RegionOwner, RegionRef, RegionRole, Visibility,
};
use proptest::prelude::*;

use super::*;
use crate::apply::apply;
use crate::footprint::arms;
use crate::testing::{Choice, Mutator, cases, choices};

mod positions;
mod rests;

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
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

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
}

proptest! {
    // A tenth of what is asked of a long run.
    #![proptest_config(ProptestConfig { cases: 10 * cases(), max_shrink_iters: 20_000, ..ProptestConfig::default() })]

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
        let refs: BTreeSet<Ref> = merged.conflicts.iter().map(|one| one.of).collect();
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

/// A function with a `match` over integers, each case an empty region.
fn matching(cases: &[i64]) -> (Program, FuncRef, NodeRef) {
    let mut program = Program::new();
    let (module, function, node) = (number(1), number(2), number(4));
    let record =
        Module { name: "m".into(), parent: None, visibility: Visibility::Private, doc: None, trailer: None };
    program.add_module(module, record).unwrap();
    program.add_function(function, FunctionHead::new("f", module, vec![], vec![])).unwrap();
    let mut open = program.function_mut(function).unwrap();
    let root = Region::new(RegionOwner::Function, RegionRole::Body, vec![]);
    open.add_region(number(3), root).unwrap();
    open.insert_node(node, number(3), None, NodeContent::new(switch(&[]), [None])).unwrap();
    set_cases(&mut program, function, node, cases, 100);
    (program, function, node)
}

fn number<R: TryFrom<Ref> + std::fmt::Debug>(number: u64) -> R
where
    R::Error: std::fmt::Debug,
{
    let kinds = [RefKind::Module, RefKind::Function, RefKind::Region, RefKind::Node];
    kinds.into_iter().find_map(|kind| R::try_from(Ref { kind, number }).ok()).unwrap()
}

fn switch(cases: &[i64]) -> Op {
    let cases = cases.iter().map(|case| Case::Int(*case)).collect();
    let of = Match { label: None, cases, default: false, results: vec![] };
    Op::new(Opcode::Match, Attr::Match(Arc::new(of))).unwrap()
}

/// Gives a `match` these cases; those that it had keep their regions, others get them from a number on.
fn set_cases(program: &mut Program, function: FuncRef, node: NodeRef, cases: &[i64], first: u64) {
    let content = program.function(function).unwrap().body().node(node).unwrap().content();
    let known: BTreeMap<Case, RegionRef> = arms(&content).unwrap().into_iter().collect();
    let mut open = program.function_mut(function).unwrap();
    let region = |case: &i64| known.get(&Case::Int(*case)).copied();
    let regions = cases.iter().zip(first..).map(|(case, new)| region(case).unwrap_or_else(|| number(new)));
    let regions: Vec<RegionRef> = regions.collect();
    open.set_node(node, NodeContent { op: switch(cases), regions: regions.clone(), ..content }).unwrap();
    for (index, region) in (0..).zip(&regions) {
        let record = Region::new(RegionOwner::Node(node), RegionRole::Case(index), vec![]);
        match open.body().region(*region) {
            Some(_) => drop(open.set_region(*region, record).unwrap()),
            None => open.add_region(*region, record).unwrap(),
        }
    }
    for gone in known.values().filter(|region| !regions.contains(region)) {
        open.remove_region(*gone).unwrap();
    }
}

#[test]
fn a_resolution_is_of_a_conflict_and_the_only_one() {
    let (base, function, _) = matching(&[]);
    let named = |name: &str| {
        let mut program = base.clone();
        let head = FunctionHead::new(name, number(1), vec![], vec![]);
        program.function_mut(function).unwrap().set_head(head);
        program
    };
    let (ours, theirs) = (named("g"), named("h"));
    let of = Ref::from(function);
    let merged =
        |resolutions: &[Resolution]| merge(&base, &ours, &theirs, resolutions).map(|merged| merged.program);
    let [one, other] = [Side::Ours, Side::Theirs].map(|take| Resolution { of, take });
    assert_eq!(merged(&[one]).unwrap(), ours);
    assert_eq!(merged(&[other]).unwrap(), theirs);
    assert_eq!(merged(&[]).unwrap(), base);
    assert_eq!(merged(&[one, other]).unwrap_err().to_string(), "`f2` is resolved twice");
    let elsewhere = Resolution { of: number::<NodeRef>(4).into(), take: Side::Ours };
    let merged = merge(&base, &ours, &theirs, &[one, elsewhere]).unwrap();
    assert_eq!((merged.program, merged.idle), (ours, vec![elsewhere.of]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    /// Cases of both sides, in an order that both agree with, each with its region at its position.
    #[test]
    fn cases_of_both_sides_come_together(
        kept in prop::collection::vec((any::<bool>(), any::<bool>()), 0..6),
        ours in prop::collection::btree_set((0i64..7, 10i64..40), 0..4),
        theirs in prop::collection::btree_set((0i64..7, 50i64..90), 0..4),
    ) {
        let before: Vec<i64> = (0..kept.len() as i64).collect();
        let (base, function, node) = matching(&before);
        let cases = |keeps: &dyn Fn(usize) -> bool, new: &BTreeSet<(i64, i64)>| {
            let old = before.iter().filter(|case| keeps(**case as usize)).map(|case| (*case, -1));
            let mut all: Vec<(i64, i64)> = old.chain(new.iter().copied()).collect();
            all.sort_unstable();
            let mut seen = BTreeSet::new();
            let cases = all.into_iter().map(|(at, case)| if case < 0 { at } else { case });
            cases.filter(|case| seen.insert(*case)).collect::<Vec<i64>>()
        };
        let sides = [cases(&|at| kept[at].0, &ours), cases(&|at| kept[at].1, &theirs)];
        let programs = [(0, 200), (1, 300)].map(|(side, first)| {
            let mut program = base.clone();
            set_cases(&mut program, function, node, &sides[side], first);
            program
        });
        let merged = merge(&base, &programs[0], &programs[1], &[]).unwrap();
        prop_assert_eq!(&merged.conflicts, &[]);
        assert_same(&merged.program, &merge(&base, &programs[1], &programs[0], &[]).unwrap().program)?;
        let body = merged.program.function(function).unwrap().body();
        let found = arms(&body.node(node).unwrap().content()).unwrap();
        for (index, (_, region)) in (0..).zip(&found) {
            prop_assert_eq!(body.region(*region).unwrap().role, RegionRole::Case(index));
        }
        let found: Vec<i64> =
            found.iter().map(|(case, _)| if let Case::Int(case) = case { *case } else { -1 }).collect();
        for (side, keeps) in sides.iter().zip([|at: (bool, bool)| at.1, |at: (bool, bool)| at.0]) {
            let there = side.iter().copied().filter(|case| kept.get(*case as usize).is_none_or(|at| keeps(*at)));
            let shared: Vec<i64> = found.iter().copied().filter(|case| side.contains(case)).collect();
            prop_assert_eq!(there.collect::<Vec<_>>(), shared);
        }
        prop_assert!(found.iter().all(|case| sides.iter().any(|side| side.contains(case))));
    }
}
