//! Bounds of compiled runs.

use lmlang_compiled::{Bounds, Compiler, Ending, Refusal};
use lmlang_interp::{Limits, Outcome};
use lmlang_ir::{Const, Value};

use super::tools::{checked, compiled, function, interpreted};

fn int(value: i32) -> Value {
    Value::Const(Const::I32(value))
}

const DEEP: &str = "
module deep
func down (n: i32) -> (i32) {
  done = if (eqz.i32 n) -> (i32) {
    yield 0
  } else {
    below = call down(sub.i32 n, 1)
    yield (add.i32 below, 1)
  }
  return done
}
";

#[test]
fn calls_are_as_deep_as_in_the_interpreter() {
    let (checked, compiler) = (checked(DEEP), Compiler::new());
    let of = function(&checked, "down");
    for depth in [0, 1, 2, 3, 100, 10_000] {
        let limits = Limits { call_depth: depth, ..Limits::default() };
        for n in [0, 1, 2, 99, 100, 9_998, 9_999, 10_000] {
            let (result, memory) = interpreted(&checked, of, &[int(n)], limits);
            let ending = compiled(&compiler, &checked, of, &[int(n)], limits, memory, 5_000).unwrap();
            let returns = matches!(result.outcome, Outcome::Returned { .. });
            assert_eq!(returns, matches!(ending, Ending::Returned(_)), "{n} at {depth}: {ending:?}");
        }
    }
}

#[test]
fn what_runs_on_and_on_is_asked_and_can_be_ended() {
    let text = "
module ever
func on () -> () {
  loop round {
    continue round
  }
  return
}
";
    let (checked, compiler) = (checked(text), Compiler::new());
    let unit = compiler.compile(&checked, function(&checked, "on")).unwrap();
    let bounds = Bounds { fuel: u64::MAX, call_depth: 10, more_memory: 0 };
    let mut asked = Vec::new();
    let ending = unit.run(&[], bounds, &mut |used| {
        asked.push(used);
        (asked.len() < 5).then_some(1_000)
    });
    let Ending::Interrupted { fuel, extra: 0, grown: 0 } = ending else { panic!("{ending:?}") };
    assert!((4_000..4_020).contains(&fuel), "{fuel}");
    assert!(asked.is_sorted() && asked.len() == 5 && asked[0] == 0, "{asked:?}");
}

#[test]
fn memory_grows_within_bounds() {
    let text = "
module growing
memory main 1 max 20
func grow (pages: i32) -> (i32) {
  return (memory.grow pages)
}
";
    let (checked, compiler) = (checked(text), Compiler::new());
    let of = function(&checked, "grow");
    for memory_bytes in [1 << 16, 5 << 16, 1 << 30] {
        let limits = Limits { memory_bytes, ..Limits::default() };
        for pages in [0, 1, 4, 5, 19, 20, 70_000, -1] {
            let (result, memory) = interpreted(&checked, of, &[int(pages)], limits);
            let ending = compiled(&compiler, &checked, of, &[int(pages)], limits, memory, 5_000).unwrap();
            match (result.outcome, ending) {
                (Outcome::Returned { values }, Ending::Returned(returned)) => {
                    assert_eq!(values, returned.values);
                    assert_eq!(result.memory_peak, memory + returned.grown);
                }
                (Outcome::LimitReached { .. }, Ending::Stopped) => {}
                (here, there) => panic!("{pages} of {memory_bytes}: {here:?}, {there:?}"),
            }
        }
    }
}

#[test]
fn what_has_values_of_the_heap_is_refused() {
    let text = "
module texts
func shout (text: string) -> (string) {
  return (string.concat text, text)
}
func fine (n: i32) -> (i32) {
  return n
}
";
    let (checked, compiler) = (checked(text), Compiler::new());
    let refused = compiler.compile(&checked, function(&checked, "shout"));
    assert!(matches!(refused, Err(Refusal::Export(_))), "{refused:?}");
    assert!(compiler.compile(&checked, function(&checked, "fine")).is_ok());
}

#[test]
fn what_is_compiled_is_kept_until_it_changes() {
    let compiler = Compiler::new();
    let first = checked(DEEP);
    let of = function(&first, "down");
    let unit = compiler.compile(&first, of).unwrap();
    let again = checked(&DEEP.replace("below", "under"));
    let same = compiler.compile(&again, of).unwrap();
    assert!(std::sync::Arc::ptr_eq(&unit, &same), "names are not code");
    let changed = checked(&DEEP.replace("below, 1)", "below, 2)"));
    let other = compiler.compile(&changed, of).unwrap();
    assert!(!std::sync::Arc::ptr_eq(&unit, &other));
}
