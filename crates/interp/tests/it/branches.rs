//! Which region a `match` takes, where the cases are numbers that its value cannot be.

use lmlang_interp::Options;
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
