//! Small changes that inputs notice, and those that they do not.

use lmlang_check::{Change, Given, Mutation, MutationOptions, Score};
use lmlang_interp::{Cache, Environment};
use lmlang_ir::{Const, Opcode, Value};
use lmlang_verify::Checked;

use crate::tools::{named, read};

const TEXT: &str = "module m
pub func clamp (x: i32, low: i32, high: i32) -> (i32) {
  require \"low is not above high\" = le_s.i32 low, high
  ensure \"not above\" (r: i32) = le_s.i32 r, high
  if (lt_s.i32 x, low) { return low }
  if (gt_s.i32 x, high) { return high }
  return x
}
pub func percent (x: i32) -> (i32) {
  r = call clamp(x, 0, 100)
  return r
}
";

fn given(checked: &Checked, name: &str, args: &[i32]) -> Given {
    let args = args.iter().map(|arg| Value::Const(Const::I32(*arg))).collect();
    Given { function: named(checked, name), args, environment: Environment::default() }
}

fn score(checked: &Checked, name: &str, given: &[Given], options: &MutationOptions, slice: u64) -> Score {
    let function = named(checked, name);
    let mutation = Mutation::new(checked, function, given.to_vec(), options, &Cache::new());
    let mut mutation = mutation.expect("it can be changed");
    while !mutation.advance(slice) {}
    mutation.score().clone()
}

#[test]
fn what_is_tested_well_leaves_little() {
    let checked = read(TEXT);
    let options = MutationOptions::default();
    let score = |given: &[Given]| score(&checked, "clamp", given, &options, 1_000_000);
    let nothing = score(&[]);
    assert_eq!((nothing.killed, nothing.ratio()), (0, Some(0.0)));
    assert!(nothing.possible >= 6 && nothing.survived.len() + nothing.skipped == nothing.possible);
    assert!(nothing.survived.iter().all(|one| !one.reached));
    let one = score(&[given(&checked, "clamp", &[-1, 0, 10])]);
    assert!(one.survived.iter().any(|one| !one.reached));
    let all: Vec<Given> = [[5, 0, 10], [-1, 0, 10], [11, 0, 10], [-7, -5, -5], [0, 0, 10], [10, 0, 10]]
        .iter()
        .map(|args| given(&checked, "clamp", args))
        .collect();
    let many = score(&all);
    assert!(nothing.killed < one.killed && one.killed < many.killed, "{one:?} {many:?}");
    // At the boundary both branches give the same: these changes change nothing.
    let left: Vec<&Change> = many.survived.iter().map(|one| &one.change).collect();
    let equivalent = |from, to| Change::Operator { from, to };
    assert_eq!(
        left,
        [&equivalent(Opcode::LtS, Opcode::LeS), &equivalent(Opcode::GtS, Opcode::GeS)],
        "{many:?}"
    );
}

#[test]
fn callers_notice_too_and_slices_do_not_matter() {
    let checked = read(TEXT);
    let given = [given(&checked, "percent", &[5]), given(&checked, "percent", &[-1])];
    for name in ["clamp", "percent"] {
        let options = MutationOptions::default();
        let whole = score(&checked, name, &given, &options, u64::MAX / 2);
        assert!(whole.killed > 0, "{whole:?}");
        for slice in [1, 100, 12_345] {
            assert_eq!(score(&checked, name, &given, &options, slice), whole);
        }
        // Fewer changes are a part of them, and the same for a seed.
        let few = MutationOptions { most: 3, seed: 7, ..options };
        let some = score(&checked, name, &given, &few, u64::MAX / 2);
        assert_eq!(some.killed + some.survived.len() + some.skipped, 3);
        assert_eq!(some.possible, whole.possible);
        assert_eq!(score(&checked, name, &given, &few, 50), some);
    }
}

#[test]
fn a_change_that_never_ends_is_noticed() {
    let checked = read(
        "module m
pub func sum (n: i32) -> (i32) {
  s = loop L (i: i32 = 0, s: i32 = 0) -> (i32) {
    break_if L (eq.i32 i, n) (s)
    continue L (add.i32 i, 1) (add.i32 s, i)
  }
  return s
}
",
    );
    let score = score(&checked, "sum", &[given(&checked, "sum", &[4])], &MutationOptions::default(), 10_000);
    let survived: Vec<String> = score.survived.iter().map(|one| one.change.to_string()).collect();
    // The first round adds nothing: to leave it out changes nothing.
    assert_eq!(survived, ["`0` became `1`"]);
    assert!(score.killed > 8, "{score:?}");
}

#[test]
fn what_is_done_for_its_effects_can_be_left_out() {
    let checked = read(
        "module m
global mut total: i32 = 0
pub func add (n: i32) -> (i32) {
  if (lt_s.i32 n, 0) { return -1 }
  global.set total, (add.i32 (global.get total), n)
  call told(n)
  return (global.get total)
}
func told (n: i32) -> () {
  print \"more\"
  return
}
",
    );
    let score = |given: &[Given]| score(&checked, "add", given, &MutationOptions::default(), 1_000_000);
    let left_out = |score: &Score| -> Vec<String> {
        let all = score.survived.iter().map(|one| one.change.to_string());
        all.filter(|change| change.ends_with("was left out")).collect()
    };
    assert_eq!(
        left_out(&score(&[])),
        ["`if` was left out", "`global.set` was left out", "`call` was left out"]
    );
    assert_eq!(
        left_out(&score(&[given(&checked, "add", &[0])])),
        ["`if` was left out", "`global.set` was left out"]
    );
    let both = [given(&checked, "add", &[-5]), given(&checked, "add", &[5])];
    assert_eq!(left_out(&score(&both)), [""; 0]);
}
