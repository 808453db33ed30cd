//! Which region a `match` takes, at the borders of what cases and tables hold.

use lmlang_interp::{Fault, Options, Outcome};
use lmlang_ir::text::parse_program;
use lmlang_ir::{Const, RefAllocator, Value};

use crate::tools::{check, plain, returned, whole};

#[test]
fn a_case_beyond_32_bits_is_no_case_of_its_low_bits() {
    let text = "module m
pub func f (d: i32) -> (i32) {
  s = match d (4294967296, -2147483649, 4294967295, default) -> (i32) {
    case 4294967296 { yield 1 }
    case -2147483649 { yield 2 }
    case 4294967295 { yield 3 }
    default { yield 4 }
  }
  return s
}
";
    let program = parse_program(text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let function = program.functions().next().expect("a function").0;
    let checked = check(program);
    for run in [whole, plain] {
        for (given, taken) in [(0, 4), (i32::MAX, 4), (-1, 3)] {
            let args = [Value::Const(Const::I32(given))];
            let result = run(&checked, function, &args, &Options::default());
            assert_eq!(result.outcome, returned(vec![Value::Const(Const::I32(taken))]), "{given}");
        }
    }
}

/// An operand has 16 bits for the table: one more would take the table of another `match`.
#[test]
fn a_function_with_more_switches_than_can_be_told_apart_says_so() {
    let mut text = "module m\npub func f (d: i32) -> () {\n".to_owned();
    (0..=1 << 16).for_each(|_| text.push_str("  match d (default) { default { yield } }\n"));
    text.push_str("  return\n}\n");
    let program = parse_program(&text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let function = program.functions().next().expect("a function").0;
    let checked = check(program);
    let options = Options { inspect: false, ..Options::default() };
    let result = whole(&checked, function, &[Value::Const(Const::I32(0))], &options);
    let Outcome::Trapped { fault, .. } = result.outcome else { panic!("{} steps", result.steps) };
    assert_eq!(fault, Fault::TooLarge(function));
}

/// The jumps of a switch stand in one window of code: behind much other code there is not room for all of them.
#[test]
fn a_switch_with_more_targets_than_a_window_has_jumps_says_so() {
    let mut text = "module m\npub func f (d: i32) -> (i32) {\n  x0 = add.i32 d, 1\n".to_owned();
    (1..32_700).for_each(|at| text.push_str(&format!("  x{at} = mul.i32 x{}, d\n", at - 1)));
    text.push_str("  block A -> () {\n    block B -> () {\n      br_switch (");
    (0..40_000).for_each(|at| text.push_str(if at == 39_999 { "break B, " } else { "break A, " }));
    text.push_str("break A) d\n    }\n    return 1\n  }\n  return 2\n}\n");
    let program = parse_program(&text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let function = program.functions().next().expect("a function").0;
    let checked = check(program);
    let options = Options { inspect: false, ..Options::default() };
    let result = whole(&checked, function, &[Value::Const(Const::I32(39_999))], &options);
    let Outcome::Trapped { fault, .. } = result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!(fault, Fault::TooLarge(function));
    let message = fault.message(checked.program());
    assert!(message.starts_with("`m::f` has more values, or more targets of a branch, than"), "{message}");
}

/// Every case puts its value where the result will be; what others put there is no concern of its.
#[test]
fn very_many_cases_are_lowered_in_no_time() {
    const CASES: i32 = 20_000;
    let mut text = "module m\npub func f (d: i32) -> (i32) {\n  s = match d (".to_owned();
    (0..CASES).for_each(|case| text.push_str(&format!("{case}, ")));
    text.push_str("default) -> (i32) {\n");
    (0..CASES).for_each(|case| text.push_str(&format!("case {case} {{ yield (add.i32 d, {case}) }}\n")));
    text.push_str("default { yield -1 }\n}\n  return s\n}\n");
    let program = parse_program(&text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let function = program.functions().next().expect("a function").0;
    let checked = check(program);
    for (given, answer) in [(0, 0), (7, 14), (CASES - 1, 2 * CASES - 2), (CASES, -1)] {
        let result = whole(&checked, function, &[Value::Const(Const::I32(given))], &Options::default());
        assert_eq!(result.outcome, returned(vec![Value::Const(Const::I32(answer))]));
    }
}

/// Whether a constant stands in a loop is not asked of each region around it.
#[test]
fn conditions_far_inside_are_lowered_in_no_time() {
    const LEVELS: usize = 30_000;
    let mut text = "module m\npub func f () -> () {\n".to_owned();
    (0..LEVELS).for_each(|_| text.push_str("if (eqz.i32 0) {\n"));
    (0..LEVELS).for_each(|_| text.push_str("yield\n}\n"));
    text.push_str("  return\n}\n");
    let program = parse_program(&text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let function = program.functions().next().expect("a function").0;
    let result = whole(&check(program), function, &[], &Options::default());
    assert_eq!(result.outcome, returned(Vec::new()));
}

/// The place of a loop's parameter is offered to the value of each region down to the innermost.
#[test]
fn a_value_that_comes_from_far_inside_is_lowered_in_no_time() {
    const LEVELS: usize = 3_000;
    let mut text = "module m\npub func f (x: i32) -> (i32) {\n".to_owned();
    text.push_str(
        "s = loop L (p: i32 = x) -> (i32) {\nbreak_if L (ge_s.i32 p, 100) (p)\nc = ge_s.i32 p, 0\n",
    );
    (0..LEVELS).for_each(|at| text.push_str(&format!("w{at} = if c -> (i32) {{\n")));
    text.push_str("yield (add.i32 p, 1)\n");
    (1..LEVELS).rev().for_each(|at| text.push_str(&format!("}} else {{\nyield 0\n}}\nyield w{at}\n")));
    text.push_str("} else {\nyield 0\n}\ncontinue L w0\n}\nreturn s\n}\n");
    let program = parse_program(&text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let function = program.functions().next().expect("a function").0;
    let checked = check(program);
    for run in [whole, plain] {
        let result = run(&checked, function, &[Value::Const(Const::I32(1))], &Options::default());
        assert_eq!(result.outcome, returned(vec![Value::Const(Const::I32(100))]));
    }
}

/// The field 65,536 of a struct would be its field 0, which is a text and no number.
#[test]
fn a_part_that_no_operand_names_says_so() {
    let mut text = "module m\ntype Wide = struct { first: string".to_owned();
    (1..=1 << 16).for_each(|at| text.push_str(&format!(", x{at}: i32")));
    text.push_str(" }\npub func f () -> (i32) {\n  var wide: Wide\n");
    text.push_str("  return (struct.get Wide.x65536 (var.get wide))\n}\n");
    let program = parse_program(&text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let function = program.functions().next().expect("a function").0;
    let checked = check(program);
    for run in [whole, plain] {
        let options = Options { inspect: false, ..Options::default() };
        let result = run(&checked, function, &[], &options);
        let Outcome::Trapped { fault, .. } = result.outcome else { panic!("{:?}", result.outcome) };
        assert_eq!(fault, Fault::TooLarge(function));
    }
}
