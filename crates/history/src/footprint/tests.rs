use std::sync::Arc;

use lmlang_ir::text::parse_program;
use lmlang_ir::{Attr, FunctionHead, Opcode, Param, RefAllocator, Type};
use proptest::prelude::*;

use super::*;
use crate::apply::apply;
use crate::edit::FunctionEdit;
use crate::merge::onto;
use crate::testing::{Mutator, cases, choices};

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn edits_that_do_not_collide_commute(
        grow in choices(60),
        one in choices(2),
        two in choices(2),
    ) {
        let base = Mutator::grown(&grow);
        let (mut a, mut b) = (base.clone(), base.clone());
        let ours = a.mutate(&one);
        b.refs = a.refs.clone();
        let theirs = b.mutate(&two);
        let prints = [&ours, &theirs].map(|edits| footprint(edits, &base.program));
        prop_assert_eq!(prints[0].collisions(&prints[1]), prints[1].collisions(&prints[0]));
        let one_gap = prints[0].gaps.keys().any(|gap| prints[1].gaps.contains_key(gap));
        prop_assume!(prints[0].collisions(&prints[1]).is_empty() && !one_gap);
        let result = |edits: [&Vec<Edit>; 2]| {
            let mut program = base.program.clone();
            for edit in edits.into_iter().flatten() {
                let edit = onto(edit, &base.program, &program);
                apply(&mut program, &edit)?;
            }
            Ok::<Program, lmlang_ir::StructureError>(program)
        };
        let (there, back) = (result([&ours, &theirs]), result([&theirs, &ours]));
        prop_assert!(there.is_ok() && back.is_ok(), "{ours:#?} {theirs:#?} {there:?} {back:?}");
        prop_assert!(there == back);
    }
}

#[test]
fn two_calls_in_one_gap_collide_and_two_constants_do_not() {
    let base = Mutator::grown(&[]);
    let (function, found) = base.program.functions().next().unwrap();
    let region = found.body().root().unwrap();
    let insert = |number: u64, op: Op| {
        let content = Box::new(lmlang_ir::NodeContent::new(op, []));
        let node = NodeRef::new(number).unwrap();
        FunctionEdit::InsertNode { node, region, after: None, content }.within(function)
    };
    let print = |edit: &Edit| edit.footprint(&base.program);
    let constant = || Op::constant(lmlang_ir::Const::Unit);
    let calls = [insert(100, Op::call(function)), insert(101, Op::call(function))];
    let gap = Gap { region, after: None };
    assert_eq!(print(&calls[0]).collisions(&print(&calls[1])), [Collision::Gap(gap)]);
    let constants = [insert(100, constant()), insert(101, constant())];
    assert_eq!(print(&constants[0]).collisions(&print(&constants[1])), []);
}

#[test]
fn captures_are_told_by_their_positions() {
    let mut base = Mutator::grown(&[]).program;
    let (function, found) = base.functions().next().map(|(of, found)| (of, Arc::clone(found))).unwrap();
    let region = found.body().root().unwrap();
    let capture = |name: &str, ty: Type| Param { name: name.into(), ty };
    let with = |captures: &[Param]| {
        let head = FunctionHead { captures: captures.to_vec(), ..found.head().clone() };
        FunctionEdit::SetHead { head: Arc::new(head) }.within(function)
    };
    let [a, b, c] = ["a", "b", "c"].map(|name| capture(name, Type::I64));
    apply(&mut base, &with(&[a.clone(), b.clone()])).unwrap();
    let insert = |op: Option<Op>| {
        let content = Box::new(lmlang_ir::NodeContent::new(op.unwrap(), []));
        FunctionEdit::InsertNode { node: NodeRef::new(100).unwrap(), region, after: None, content }
            .within(function)
    };
    let read = insert(Op::new(Opcode::CaptureGet, Attr::Index(1)));
    let make = insert(Op::new(Opcode::ClosureNew, Attr::Function(function)));
    let collisions = |captures: &[Param], with_edit: &Edit| {
        with(captures).footprint(&base).collisions(&with_edit.footprint(&base))
    };
    let (second, made) = (Touch::Capture(function, 1), Touch::Signature(function.into()));
    for (captures, moves, relied) in [
        (vec![b.clone(), a.clone()], true, true),
        (vec![b.clone()], true, true),
        (vec![c.clone(), a.clone(), b.clone()], true, true),
        (vec![a.clone(), capture("b", Type::I32)], true, true),
        (vec![a.clone(), b.clone(), c.clone()], false, true),
        (vec![a.clone(), c.clone()], false, false),
    ] {
        let expect = |is: bool, touch: &Touch| is.then(|| Collision::Touch(touch.clone()));
        let told: Vec<Collision> = expect(moves, &second).into_iter().collect();
        assert_eq!(collisions(&captures, &read), told, "{captures:?}");
        let told: Vec<Collision> = expect(relied, &made).into_iter().collect();
        assert_eq!(collisions(&captures, &make), told, "{captures:?}");
    }
}

#[test]
fn who_goes_on_with_a_loop_gives_its_parameters_by_position() {
    let text = "module m\nfunc f (n: i64) -> (i64) pure {\n  r#n10 = loop L (a: i64 = n, b: i64 = n) -> (i64) #g11 {\n    \
                break_if#n12 L (eqz.i64 a) (b)\n    continue#n13 L b, a\n  }\n  return r\n}\n";
    let base = parse_program(text, &mut RefAllocator::starting_at(1)).unwrap();
    let (function, found) = base.functions().next().unwrap();
    let (target, region) = (NodeRef::new(10).unwrap(), RegionRef::new(11).unwrap());
    let mut content = found.body().region(region).unwrap().clone();
    content.params.swap(0, 1);
    let swap = FunctionEdit::SetRegion { region, content }.within(function);
    let leave = |code: Opcode| {
        let op = Op::new(code, Attr::Exit(target)).unwrap();
        let content = Box::new(lmlang_ir::NodeContent::new(op, [None, None]));
        let node = NodeRef::new(100).unwrap();
        FunctionEdit::InsertNode { node, region, after: None, content }.within(function)
    };
    let collisions = |edit: &Edit| swap.footprint(&base).collisions(&edit.footprint(&base));
    let params = [0, 1].map(|index| Collision::Touch(Touch::Param(region.into(), index)));
    assert_eq!(collisions(&leave(Opcode::Continue)), params);
    assert_eq!(collisions(&leave(Opcode::ContinueIf)), params);
    assert_eq!(collisions(&leave(Opcode::Break)), []);
}
