//! What cannot be checked says so, and what nothing follows from is no failure.

use lmlang_check::{Checker, NoValue, Options, Refusal, Undecided};
use lmlang_interp::{Cache, Limits};

use crate::tools::{named, read, search};

const TEXT: &str = "module m
type Endless = struct { again: box<Endless> }
type Maybe = struct { then: option<closure<() -> (i32)>> }
pub func closure (f: closure<(i32) -> (i32)>) -> () { return }
pub func reference (f: funcref) -> () { return }
pub func host (e: externref) -> () { return }
pub func endless (x: i32, e: Endless) -> () { return }
pub func large (x: array<array<i32, 70000>, 2>) -> () { return }
pub func without (maybe: Maybe) -> () { return }
import \"env\" \"log\" func log (what: i32) -> (i32)
pub func wrong (x: i32) -> (i32) {
  return x
  return x
}
pub func spins (x: i32) -> () {
  loop L () -> () { continue L }
}
pub func hungry (x: bool) -> () {
  loop L (s: string = \"aaaaaaaaaaaaaaaa\") -> () { continue L (string.concat s, s) }
}
pub func noisy (x: bool) -> () {
  loop L () -> () {
    print \"again and again\"
    continue L
  }
}
pub func open (x: bool) -> (i32) {
  if x {
    y = add.i32 _, 1
    return y
  }
  return 0
}
pub func calls_wrong (x: bool) -> () {
  if x {
    y = call wrong(1)
    yield
  }
  return
}
";

#[test]
fn what_has_no_values_is_refused_with_its_reason() {
    let checked = read(TEXT);
    let refused = |name: &str| {
        let checker = Checker::new(&checked, named(&checked, name), &Options::default(), &Cache::new());
        checker.err().unwrap_or_else(|| panic!("`{name}` is checked"))
    };
    let why = |name: &str| match refused(name) {
        Refusal::Parameter { index, why } => (index, why),
        other => panic!("{other}"),
    };
    assert!(matches!(why("closure"), (0, NoValue::Function(_))));
    assert!(matches!(why("reference"), (0, NoValue::Function(_))));
    assert!(matches!(why("host"), (0, NoValue::Host(_))));
    assert!(matches!(why("endless"), (1, NoValue::Endless(_))));
    assert!(matches!(why("large"), (0, NoValue::TooLarge(_))));
    assert_eq!(refused("wrong"), Refusal::NotVerified(named(&checked, "wrong")));
    let asked = "`m::log` is `env.log`, `(what: i32) -> (i32)`, which only a host has: give it a body, or run the exported \
                 module in a host that has it";
    assert_eq!(refused("log").message(checked.program()), asked);
    assert!(search(&checked, named(&checked, "without"), &Options::default()).counterexample.is_none());
}

#[test]
fn limits_holes_and_errors_decide_nothing() {
    let checked = read(TEXT);
    let limits = Limits { fuel: 20_000, memory_bytes: 1 << 17, call_depth: 100, output_bytes: 1_000 };
    let options = Options { cases: 10, limits, ..Options::default() };
    for (name, why, count) in [
        ("spins", Undecided::Fuel, 10),
        ("hungry", Undecided::Memory, 2),
        ("noisy", Undecided::Output, 2),
        ("open", Undecided::Hole, 1),
        ("calls_wrong", Undecided::NotVerified, 1),
    ] {
        let progress = search(&checked, named(&checked, name), &options);
        assert_eq!(progress.counterexample, None, "{name}");
        assert_eq!(progress.undecided.into_iter().collect::<Vec<_>>(), [(why, count)], "{name}");
    }
}

#[test]
fn coverage_is_of_the_function_and_what_it_calls() {
    let checked = read(
        "module m
pub func f (x: i32) -> (i32) {
  r = if (eq.i32 x, 123456) -> (i32) { yield 1 } else { yield 2 }
  s = call g(r)
  return s
}
func g (x: i32) -> (i32) {
  if (gt_s.i32 x, 5) { return 0 }
  return x
}
func unused (x: i32) -> (i32) { return x }
",
    );
    let progress = search(&checked, named(&checked, "f"), &Options::default());
    // The body, two cases; the body, two cases, of which `x` above 5 is out of reach.
    assert_eq!((progress.coverage.branches, progress.coverage.reached), (6, 5));
}
