use lmlang_ir::{Const, NodeContent, NodeRef, Op, RefAllocator, Region, RegionOwner, RegionRole};
use proptest::prelude::*;

use super::*;
use crate::apply::{apply, apply_all, invert_all};
use crate::testing::{Mutator, all_refs, cases, choices};

/// Everything that is derived and kept beside what was authored, to be compared too.
fn derived(program: &Program) -> impl PartialEq + std::fmt::Debug {
    let users: Vec<_> = program.all_users().collect();
    let inner: Vec<_> = program
        .functions()
        .map(|(function, found)| {
            (function, found.body().counts(), found.body().all_users().collect::<Vec<_>>())
        })
        .collect();
    let members: Vec<_> = std::iter::once(None)
        .chain(program.modules().map(|(module, _)| Some(module)))
        .map(|scope| program.members(scope).map(|(name, of)| (name.clone(), of)).collect::<Vec<_>>())
        .collect();
    (program.totals(), program.root_hash(), users, inner, members, all_refs(program))
}

fn assert_same(a: &Program, b: &Program) -> Result<(), TestCaseError> {
    prop_assert_eq!(derived(a), derived(b));
    for (function, found) in a.functions() {
        let other = b.function(function).unwrap();
        for (region, _) in found.body().regions() {
            let order = |body: &lmlang_ir::Body| body.nodes_in(region).collect::<Vec<_>>();
            prop_assert_eq!(order(found.body()), order(other.body()));
        }
    }
    prop_assert!(a == b);
    Ok(())
}

/// One of the lists of what differs in a function.
type List = fn(&FunctionChange) -> &[Ref];

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn applying_a_diff_gives_the_other_side(grow in choices(80), left in choices(25), right in choices(25)) {
        let base = Mutator::grown(&grow);
        let (mut a, mut b) = (base.clone(), base);
        a.mutate(&left);
        // Refs are never reused, on any branch.
        b.refs = a.refs.clone();
        b.mutate(&right);
        let found = diff(&a.program, &b.program);
        let mut patched = a.program.clone();
        for (index, edit) in found.edits.iter().enumerate() {
            let done = apply(&mut patched, edit);
            prop_assert!(done.is_ok(), "edit {index} {edit:?} of {:#?}: {done:?}", found.edits);
        }
        assert_same(&patched, &b.program)?;
        prop_assert_eq!(found.edits.is_empty(), a.program == b.program);
        let back = invert_all(&found.edits, &a.program).unwrap();
        apply_all(&mut patched, &back).unwrap();
        assert_same(&patched, &a.program)?;
    }

    #[test]
    fn counts_are_those_of_the_sets_of_refs(grow in choices(60), then in choices(25)) {
        let mut mutator = Mutator::grown(&grow);
        let before = mutator.program.clone();
        mutator.mutate(&then);
        let counts = diff(&before, &mutator.program).counts();
        let kept = |program: &Program| -> BTreeSet<Ref> {
            let counted = |of: &Ref| !matches!(of.kind, lmlang_ir::RefKind::Region | lmlang_ir::RefKind::Member);
            all_refs(program).into_iter().filter(counted).collect()
        };
        let (old, new) = (kept(&before), kept(&mutator.program));
        prop_assert_eq!(counts.added as usize, new.difference(&old).count());
        prop_assert_eq!(counts.removed as usize, old.difference(&new).count());
        prop_assert_eq!(counts.functions as usize, before.changed_functions(&mutator.program).len());
    }

    #[test]
    fn edits_touch_what_their_difference_lists(grow in choices(60), then in choices(25)) {
        let mut mutator = Mutator::grown(&grow);
        let before = mutator.program.clone();
        let edits = mutator.mutate(&then);
        let found = diff(&before, &mutator.program);
        let listed = |changes: &[EntityChange], change: ChangeKind| -> BTreeSet<Ref> {
            let counted = |one: &&EntityChange| one.of.kind != lmlang_ir::RefKind::Region;
            changes.iter().filter(counted).filter(|one| one.change == change).map(|one| one.of).collect()
        };
        let functions = |list: List| -> BTreeSet<Ref> {
            let refs = found.functions.iter().flat_map(list).copied();
            refs.filter(|of| of.kind != lmlang_ir::RefKind::Region).collect()
        };
        let kinds: [(ChangeKind, List); 3] = [
            (ChangeKind::Added, |one| &one.added),
            (ChangeKind::Removed, |one| &one.removed),
            (ChangeKind::Modified, |one| &one.modified),
        ];
        let [of_diff, of_edits] = [&found.edits, &edits].map(|edits| touched(edits, &before));
        for (change, list) in kinds {
            let others = found.others.iter().filter(|one| match one.change {
                ChangeKind::Added | ChangeKind::Removed => one.change == change,
                ChangeKind::Modified | ChangeKind::Renamed | ChangeKind::Moved => change == ChangeKind::Modified,
            });
            let expect: BTreeSet<Ref> = functions(list).into_iter().chain(others.map(|one| one.of)).collect();
            prop_assert_eq!(&listed(&of_diff, change), &expect);
            // What edits change they can take back, and of two nodes that change places either can be the one that moved.
            prop_assert!(change == ChangeKind::Modified || listed(&of_edits, change) == expect);
        }
    }

    #[test]
    fn taking_edits_back_is_the_identity(grow in choices(80), then in choices(40)) {
        let mut mutator = Mutator::grown(&grow);
        let before = mutator.program.clone();
        let edits = mutator.mutate(&then);
        let back = invert_all(&edits, &before).unwrap();
        let mut undone = mutator.program.clone();
        apply_all(&mut undone, &back).unwrap();
        assert_same(&undone, &before)?;
        let again = invert_all(&back, &mutator.program).unwrap();
        apply_all(&mut undone, &again).unwrap();
        assert_same(&undone, &mutator.program)?;
    }
}

/// A program with one function of `count` constants in one region.
fn flat(count: u64) -> (Program, FuncRef, lmlang_ir::RegionRef, RefAllocator) {
    let mut refs = RefAllocator::starting_at(10);
    let mut program = Program::new();
    let (module, function) = (ModuleRef::new(1).unwrap(), FuncRef::new(2).unwrap());
    let region = lmlang_ir::RegionRef::new(3).unwrap();
    let record = lmlang_ir::Module {
        name: "m".into(),
        parent: None,
        visibility: lmlang_ir::Visibility::Private,
        doc: None,
        trailer: None,
    };
    program.add_module(module, record).unwrap();
    program.add_function(function, FunctionHead::new("f", module, vec![], vec![])).unwrap();
    let mut open = program.function_mut(function).unwrap();
    let root = Region::new(RegionOwner::Function, RegionRole::Body, vec![]);
    open.add_region(region, root).unwrap();
    let mut last = None;
    for value in 0..count {
        let node = NodeRef::new(refs.allocate_in(function).unwrap()).unwrap();
        let content = NodeContent::new(Op::constant(Const::I32(value as i32)), []);
        open.insert_node(node, region, last, content).unwrap();
        last = Some(node);
    }
    (program, function, region, refs)
}

fn moves(diff: &Diff) -> usize {
    diff.edits.iter().filter(|edit| edit.kind() == "moveNode").count()
}

#[test]
fn a_block_that_moves_is_as_few_moves_as_there_are_nodes_in_it() {
    let (a, function, region, _) = flat(2000);
    let order: Vec<NodeRef> = a.function(function).unwrap().body().nodes_in(region).collect();
    let mut b = a.clone();
    let mut open = b.function_mut(function).unwrap();
    let mut anchor = order[1500];
    for node in &order[100..140] {
        open.move_node(*node, region, Some(anchor)).unwrap();
        anchor = *node;
    }
    let there = diff(&a, &b);
    assert_eq!(moves(&there), 40);
    assert_eq!(there.counts(), ChangeCounts { added: 0, removed: 0, modified: 40, functions: 1 });
    let mut patched = a.clone();
    apply_all(&mut patched, &there.edits).unwrap();
    assert_same(&patched, &b).unwrap();
}

#[test]
fn a_node_that_changes_its_function_keeps_its_ref() {
    let (a, function, region, mut refs) = flat(20);
    let moved = a.function(function).unwrap().body().nodes_in(region).nth(4).unwrap();
    let mut b = a.clone();
    let content = b.function_mut(function).unwrap().remove_node(moved).unwrap();
    let (other, root) = (FuncRef::new(refs.allocate().unwrap()).unwrap(), refs.allocate().unwrap());
    let module = ModuleRef::new(1).unwrap();
    b.add_function(other, FunctionHead::new("g", module, vec![], vec![])).unwrap();
    let mut open = b.function_mut(other).unwrap();
    let root = lmlang_ir::RegionRef::new(root).unwrap();
    open.add_region(root, Region::new(RegionOwner::Function, RegionRole::Body, vec![])).unwrap();
    open.insert_node(moved, root, None, content).unwrap();
    for (from, to) in [(&a, &b), (&b, &a)] {
        let mut patched = from.clone();
        apply_all(&mut patched, &diff(from, to).edits).unwrap();
        assert_same(&patched, to).unwrap();
    }
}

#[test]
fn what_became_of_a_function() {
    let (a, function, ..) = flat(3);
    let change = |edit: &dyn Fn(&mut FunctionHead)| {
        let mut b = a.clone();
        let mut head = b.function(function).unwrap().head().clone();
        edit(&mut head);
        b.function_mut(function).unwrap().set_head(head);
        diff(&a, &b).functions[0].change
    };
    assert_eq!(change(&|head| head.name = "g".into()), ChangeKind::Renamed);
    assert_eq!(change(&|head| head.module = ModuleRef::new(9).unwrap()), ChangeKind::Moved);
    assert_eq!(change(&|head| head.doc = Some("d".into())), ChangeKind::Modified);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases() / 20, ..ProptestConfig::default() })]

    #[test]
    fn orders_of_long_regions(steps in prop::collection::vec((0usize..3, 0usize..3000, 0usize..3000, 1usize..40), 1..12)) {
        let (a, function, region, mut refs) = flat(1200);
        let mut b = a.clone();
        let (mut touched, mut open) = (0, b.function_mut(function).unwrap());
        for (what, from, to, length) in steps {
            let order: Vec<NodeRef> = open.body().nodes_in(region).collect();
            let (from, to) = (from % order.len(), to % order.len());
            for node in &order[from..(from + length).min(order.len())] {
                touched += 1;
                match what {
                    0 => drop(open.move_node(*node, region, Some(order[to]))),
                    1 => drop(open.remove_node(*node).unwrap()),
                    _ => {
                        let new = NodeRef::new(refs.allocate_in(function).unwrap()).unwrap();
                        let content = NodeContent::new(Op::constant(Const::Unit), []);
                        drop(open.insert_node(new, region, Some(*node), content));
                    }
                }
            }
        }
        let found = diff(&a, &b);
        prop_assert!(moves(&found) <= touched);
        let mut patched = a.clone();
        apply_all(&mut patched, &found.edits).unwrap();
        assert_same(&patched, &b)?;
    }
}
