//! How much the promotions of one request write, and look at.

use super::*;

const TEXT: &str = "module m
func f (n: i32) -> (i32) {
  var a: i32
  var b: i32
  var c: i32
  loop L {
    var.set a (add.i32 a, 1)
    var.set b (add.i32 b, a)
    var.set c (add.i32 c, b)
    break_if L (ge_s.i32 a, n)
    continue L
  }
  return (add.i32 c, (add.i32 a, b))
}
";

#[test]
fn what_promotions_write_is_bounded_over_a_request() {
    let mut refs = RefAllocator::starting_at(1);
    let program = parse_program(TEXT, &mut refs).unwrap();
    let variables = program.functions().flat_map(|(_, function)| function.body().variables());
    let all: Vec<EditRequest> =
        variables.map(|(of, _)| EditRequest::PromoteVar(PromoteVar { of: of.to_string() })).collect();
    assert_eq!(all.len(), 3);
    let within = |edits: &[EditRequest], most| expand_within(&program, &mut refs.clone(), edits, most);
    let enough = (0..100).find(|most| within(&all, *most).is_ok()).expect("it is not much");
    for (most, at) in [(0, 0), (enough - 1, 2)] {
        let Refused { errors, conflicts, suppressed } = within(&all, most).unwrap_err();
        let told: Vec<(usize, &str)> = errors.iter().map(|error| (error.edit, error.code)).collect();
        assert_eq!((told, conflicts.len(), suppressed), (vec![(at, code::PROMOTES_TOO_MUCH)], 0, 2 - at));
    }
    // Each in a request of its own has all of the room.
    let mut program = program.clone();
    for edit in all {
        program = expand_within(&program, &mut refs, &[edit], enough - 1).unwrap().program;
    }
    assert_eq!(
        program.functions().map(|(_, function)| function.body().variables().count()).sum::<usize>(),
        0
    );
}

#[test]
fn what_promotions_look_at_is_bounded_too() {
    let nodes: String = (0..320).map(|of| format!("  x{of} = add.i32 n, 1\n")).collect();
    let text =
        format!("module m\nfunc f (n: i32) -> () {{\n  var a: i32\n  var b: i32\n{nodes}  return\n}}\n");
    let mut refs = RefAllocator::starting_at(1);
    let program = parse_program(&text, &mut refs).unwrap();
    let variables = program.functions().flat_map(|(_, function)| function.body().variables());
    let both: Vec<EditRequest> =
        variables.map(|(of, _)| EditRequest::PromoteVar(PromoteVar { of: of.to_string() })).collect();
    // Each looks at 641 nodes.
    let within = |most| expand_within(&program, &mut refs.clone(), &both, most);
    assert!(within(80).is_ok());
    let Refused { errors, .. } = within(79).unwrap_err();
    let told: Vec<(usize, &str)> = errors.iter().map(|error| (error.edit, error.code)).collect();
    assert_eq!(told, [(1, code::PROMOTES_TOO_MUCH)]);
}
