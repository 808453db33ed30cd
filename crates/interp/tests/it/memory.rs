//! The memory limit: one sum over all that a run holds, looked at before anything is made.

use lmlang_interp::{LimitKind, Limits, Options, Outcome, RunResult};
use lmlang_ir::text::parse_program;
use lmlang_ir::{Const, RefAllocator, Value};

use crate::tools::{check, whole};

const LIMIT: u64 = 1 << 20;

/// Runs the first function of a text with a number.
fn with_limit(text: &str, n: i32) -> RunResult {
    let program = parse_program(text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let function = program.functions().next().expect("a function").0;
    let limits = Limits { memory_bytes: LIMIT, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    whole(&check(program), function, &[Value::Const(Const::I32(n))], &options)
}

#[track_caller]
fn check_stops(text: &str, n: i32) {
    let result = with_limit(text, n);
    let stopped = matches!(result.outcome, Outcome::LimitReached { limit: LimitKind::Memory, .. });
    assert!(stopped, "{:?}", result.outcome);
    assert!(result.memory_peak <= LIMIT, "{} bytes were taken", result.memory_peak);
    let small = with_limit(text, 100);
    assert!(matches!(small.outcome, Outcome::Returned { .. }), "{:?}", small.outcome);
}

#[test]
fn entries_of_tables_count() {
    let text = "table one [null]
table two [null]
func f (n: i32) -> (i32) {
  a = table.grow one (ref.null), n
  b = table.grow two (ref.null), n
  return b
}
";
    // Each alone would fit.
    check_stops(text, 100_000);
    assert!(with_limit(text, 50_000).memory_peak > 800_000);
    let text = "table one [null]
func f (n: i32) -> (i32) {
  a = table.grow one (ref.null), n
  return (bytes.len (bytes.new (mul.i32 n, 6)))
}
";
    check_stops(text, 80_000);
}

#[test]
fn a_slice_is_not_made_before_there_is_room() {
    let text = "func f (n: i32) -> (i32) {
  whole = bytes.new n
  part = bytes.slice whole, 0, n
  return (add.i32 (bytes.len whole), (bytes.len part))
}
";
    check_stops(text, 600_000);
    let text = "func f (n: i32) -> (i32) {
  text = string.from_bytes (bytes.new n)
  one = string.slice text, 0, n
  two = string.slice text, 0, n
  return (add.i32 (string.len text), (add.i32 (string.len one), (string.len two)))
}
";
    check_stops(text, 400_000);
    let text = "func f (n: i32) -> (i32) {
  whole = loop L (i: i32 = 0, a: array<i32> = (array.new<i32>)) -> (array<i32>) {
    break_if L (eq.i32 i, n) (a)
    continue L (add.i32 i, 1) (array.push<i32> a, i)
  }
  part = array.slice<i32> whole, 0, n
  return (add.i32 (array.len<i32> whole), (array.len<i32> part))
}
";
    check_stops(text, 70_000);
}

#[test]
fn a_segment_that_does_not_fit_is_named() {
    let rest = "func f () -> () {\n  return\n}\n";
    for (storage, code, message) in [
        (
            "memory main 1\ndata late at 65535 b\"ab\"\n",
            "MEMORY_OUT_OF_BOUNDS",
            "the data `m::late`, 2 bytes at 65535, ends beyond the memory of 65536 bytes",
        ),
        (
            "table steps [f, null]\nelem more in steps at 2 [f]\n",
            "TABLE_OUT_OF_BOUNDS",
            "the elements `m::more`, 1 entry at 2, end beyond the table `m::steps` of 2 entries",
        ),
    ] {
        let text = format!("module m\n{storage}{rest}");
        let program = parse_program(&text, &mut RefAllocator::starting_at(1)).expect("it parses");
        let function = program.functions().next().expect("a function").0;
        let checked = check(program);
        let result = whole(&checked, function, &[], &Options::default());
        let Outcome::Trapped { fault, .. } = result.outcome else { panic!("{:?}", result.outcome) };
        assert_eq!((fault.code(), fault.message(checked.program()).as_str()), (code, message));
    }
}
