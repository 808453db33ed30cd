//! What is reached: by marks as by a trace, in runs that follow each other as in runs of their own.

use std::collections::BTreeSet;

use lmlang_interp::{
    Cache, Limits, Observer, Options, Outcome, Progress, Reach, Reached, Run, Trace, TraceLevel,
};
use lmlang_ir::text::parse_program;
use lmlang_ir::{Const, FuncRef, NodeRef, Opcode, Program, RefAllocator, Value};
use lmlang_testkit::choices::Choices;
use lmlang_testkit::generate::{self, Options as Wild};
use lmlang_verify::Checked;
use proptest::prelude::*;

use crate::tools::{check, plain};

fn options() -> Options {
    Options {
        limits: Limits { fuel: 20_000, call_depth: 50, memory_bytes: 32 << 20, output_bytes: 10_000 },
        ..Options::default()
    }
}

/// What a trace shows to be reached: nodes, and the exits of conditional ones that are not followed by the next node.
fn traced(checked: &Checked, function: FuncRef, args: &[Value]) -> BTreeSet<Reached> {
    let run = Run::new(checked, function, args, &options(), &Cache::new()).unwrap();
    let mut trace = Trace::of(&run, TraceLevel::Nodes, None).unwrap();
    let page = trace.page(0, usize::MAX, u64::MAX);
    let mut reached = BTreeSet::new();
    for (index, step) in page.steps.iter().enumerate() {
        let body = checked.program().function(step.function).unwrap().body();
        reached.insert(Reached { function: step.function, reach: Reach::Node(step.node) });
        let op = body.node(step.node).unwrap().op();
        if matches!(op.code(), Opcode::BreakIf | Opcode::ContinueIf) {
            let condition = &step.inputs[0].value;
            if *condition == Value::Const(Const::Bool(true)) && index + 1 < page.steps.len() {
                reached.insert(Reached { function: step.function, reach: Reach::Exit(step.node, 0) });
            }
        }
    }
    // What a run stops at may cost more than there is, and then is no step.
    if let Some(at) = trace.outcome().and_then(Outcome::place).and_then(|place| place.at())
        && let Some(node) = at.node
    {
        reached.insert(Reached { function: at.function, reach: Reach::Node(node) });
    }
    reached
}

/// Whether something is reached that a trace tells of: exits of switches are left out, and so is what was reached last.
fn is_told(program: &Program, reached: &Reached) -> bool {
    let op =
        |node: NodeRef| program.function(reached.function).unwrap().body().node(node).unwrap().op().code();
    match reached.reach {
        Reach::Node(_) => true,
        Reach::Exit(node, _) => op(node) != Opcode::BrSwitch,
    }
}

/// The law, for a program that is generated from a seed: each function is run three times by one observer.
fn marks_are_traces(seed: u64, slice: u64) -> Result<(), TestCaseError> {
    let generated = generate::seeded(seed, &Wild { recursion: seed.is_multiple_of(3), ..Wild::default() });
    let checked = check(generated.program.clone());
    let mut choices = Choices::seeded(seed ^ 1);
    for (function, found) in generated.program.functions() {
        if !found.head().captures.is_empty() {
            continue;
        }
        let (mut observer, mut before) = (None::<Observer>, BTreeSet::new());
        for _ in 0..3 {
            let Some(args) = generate::values::arguments(&generated.program, function, &mut choices) else {
                break;
            };
            let mut now = match observer.take() {
                Some(mut again) => {
                    again.restart(&args).unwrap();
                    again
                }
                None => Observer::new(&checked, function, &args, &options(), &Cache::new()).unwrap(),
            };
            while now.resume(slice) == Progress::Paused {}
            let alone = plain(&checked, function, &args, &options());
            prop_assert_eq!(now.outcome(), Some(&alone.outcome), "{} again", function);
            prop_assert_eq!(now.run().fuel_used(), alone.fuel_used);
            prop_assert_eq!(now.run().stdout(), &alone.stdout[..]);
            let fresh = now.take_reached();
            let set: BTreeSet<Reached> = fresh.iter().copied().collect();
            prop_assert_eq!(
                set.len(),
                fresh.len(),
                "{}: nothing is reached for the first time twice",
                function
            );
            prop_assert!(set.is_disjoint(&before));
            let expected = traced(&checked, function, &args);
            before.extend(set);
            let limited = matches!(alone.outcome, Outcome::LimitReached { .. });
            let told: BTreeSet<Reached> =
                before.iter().filter(|one| is_told(&generated.program, one)).copied().collect();
            let missing: Vec<&Reached> = expected.difference(&told).collect();
            prop_assert!(missing.len() <= usize::from(limited), "{}: {:?}", function, missing);
            observer = Some(now);
            // What this run alone reaches, by an observer of its own.
            let mut own = Observer::new(&checked, function, &args, &options(), &Cache::new()).unwrap();
            while own.resume(slice) == Progress::Paused {}
            let own: BTreeSet<Reached> =
                own.take_reached().into_iter().filter(|one| is_told(&generated.program, one)).collect();
            let differing = own.symmetric_difference(&expected).count();
            prop_assert!(differing <= usize::from(limited), "{}: {:?} and {:?}", function, own, expected);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(lmlang_testkit::config())]

    #[test]
    fn what_marks_tell_is_what_a_trace_tells(seed in any::<u64>(), slice in 1u64..700) {
        marks_are_traces(seed, slice)?;
    }
}

/// A slice ends with more fuel than it began with: what another one paid for was not needed.
#[test]
fn fuel_that_a_slice_gives_back_is_counted() {
    marks_are_traces(13_823_839_536_315_076_526, 1).unwrap();
}

#[test]
fn exits_are_reached_when_they_are_taken() {
    let text = "module m
pub func f (n: i32) -> (i32) {
  block A -> () {
    block B -> () {
      block C -> () {
        break_if B (gt_s.i32 n, 100)
        br_switch (break A, break B, break C) n
      }
      return 2
    }
    return 1
  }
  return 0
}
";
    let program = parse_program(text, &mut RefAllocator::starting_at(1)).expect("it parses");
    let (function, found) = program.functions().next().expect("a function");
    let op = |code| found.body().nodes().find(|(_, node)| node.op().code() == code).unwrap().0;
    let (condition, switch) = (op(Opcode::BreakIf), op(Opcode::BrSwitch));
    let checked = check(program.clone());
    let mut seen: Vec<Vec<Reach>> = Vec::new();
    let args = |n| [Value::Const(Const::I32(n))];
    let mut observer =
        Observer::new(&checked, function, &args(7), &Options::default(), &Cache::new()).unwrap();
    for n in [7, 8, 1, 0, 101, 2, 102] {
        observer.restart(&args(n)).unwrap();
        while observer.resume(u64::MAX) == Progress::Paused {}
        let fresh = observer.take_reached();
        seen.push(
            fresh.into_iter().map(|one| one.reach).filter(|of| matches!(of, Reach::Exit(..))).collect(),
        );
    }
    let expected: [&[Reach]; 7] = [
        &[Reach::Exit(switch, 2)],
        &[],
        &[Reach::Exit(switch, 1)],
        &[Reach::Exit(switch, 0)],
        &[Reach::Exit(condition, 0)],
        &[],
        &[],
    ];
    assert_eq!(seen, expected.map(<[Reach]>::to_vec));
}
