//! What a trace shows where a run ends.

use lmlang_interp::{
    Cache, LimitKind, Limits, Note, Options, Outcome, Run, Step, Trace, TraceLevel, TracePage,
};
use lmlang_ir::text::parse_program;
use lmlang_ir::{Const, NodeRef, RefAllocator, Value};

use crate::tools::{check, i64s, whole};

/// The trace of the first function of a text, and how its run ended.
fn traced(text: &str, fuel: u64) -> (Vec<Step>, Outcome) {
    let program = parse_program(text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let function = program.functions().next().expect("a function").0;
    let checked = check(program);
    let options = Options { limits: Limits { fuel, ..Limits::default() }, ..Options::default() };
    let run = Run::new(&checked, function, &i64s(&[21]), &options, &Cache::new()).expect("it starts");
    let result = whole(&checked, function, &i64s(&[21]), &options);
    let mut trace = Trace::of(&run, TraceLevel::Nodes, None).expect("it starts");
    let TracePage { steps, next } = trace.page(0, usize::MAX, u64::MAX);
    assert_eq!(next, None);
    assert_eq!(steps.len() as u64, result.steps, "{steps:?}");
    assert_eq!(trace.run().steps(), result.steps);
    // A page that is just full ends the trace too.
    let again = trace.page(0, steps.len(), u64::MAX);
    assert_eq!((again.steps.as_slice(), again.next), (steps.as_slice(), None));
    (steps, result.outcome)
}

fn ends_at(outcome: &Outcome) -> Option<NodeRef> {
    outcome.place()?.at()?.node
}

#[test]
fn the_node_before_a_hole_has_its_value() {
    let (steps, outcome) = traced(
        "func f (n: i64) -> (i64) {\n  n17 = add.i64 n, 21\n  n18 = mul.i64 n17, _\n  return n18\n}\n",
        100,
    );
    let last = steps.last().expect("a step");
    assert_eq!((last.node, last.note), (NodeRef::new(17).expect("in range"), None));
    let values: Vec<&Value> = last.outputs.iter().map(|shown| &shown.value).collect();
    assert_eq!(values, [&Value::Const(Const::I64(42))]);
    assert_eq!(ends_at(&outcome), NodeRef::new(18));
}

#[test]
fn the_node_before_a_missing_terminator_has_its_value() {
    let (steps, outcome) = traced("func f (n: i64) -> (i64) {\n  n17 = add.i64 n, n\n}\n", 100);
    let last = steps.last().expect("a step");
    assert_eq!((last.note, last.outputs.len()), (None, 1));
    assert!(matches!(outcome, Outcome::ReachedHole { node: None, .. }), "{outcome:?}");
    assert_eq!(ends_at(&outcome), None);
}

#[test]
fn what_there_is_no_fuel_for_is_no_step() {
    let text = "func f (n: i64) -> (i64) {\n  loop L { continue L }\n  unreachable\n}\n";
    for text in [text, "func f (n: i64) -> (i64) {\n  return (add.i64 (mul.i64 n, n), (mul.i64 n, n))\n}\n"] {
        for fuel in 1..4 {
            let (steps, outcome) = traced(text, fuel);
            assert_eq!(steps.len() as u64, fuel);
            assert_eq!(steps.last().map(|step| step.note), Some(None), "{steps:?}");
            assert!(matches!(outcome, Outcome::LimitReached { limit: LimitKind::Fuel, .. }), "{outcome:?}");
        }
    }
}

#[test]
fn the_node_that_traps_is_the_last_step() {
    let (steps, outcome) =
        traced("func f (n: i64) -> (i64) {\n  n17 = div_s.i64 n, 0\n  return n17\n}\n", 100);
    let last = steps.last().expect("a step");
    assert_eq!((Some(last.node), last.note), (ends_at(&outcome), Some(Note::Stopped)));
    assert!(last.outputs.is_empty());
}

#[test]
fn every_step_of_long_code_has_its_values() {
    // Longer than what fuel is charged for at once.
    let mut text = String::from("func f (n: i64) -> (i64) {\n  x0 = add.i64 n, 1\n");
    for line in 1..1_000 {
        text += &format!("  x{line} = add.i64 x{}, 1\n", line - 1);
    }
    text += "  return x999\n}\n";
    let (steps, _) = traced(&text, 10_000);
    let sums = steps.iter().filter_map(|step| match &step.outputs[..] {
        [shown] => Some(shown.value.clone()),
        _ => None,
    });
    let sums: Vec<Value> = sums.filter(|value| *value != Value::Const(Const::I64(1))).collect();
    assert_eq!(sums, i64s(&(22..1_022).collect::<Vec<_>>()));
}
