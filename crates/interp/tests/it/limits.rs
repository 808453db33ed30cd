//! Bounds, cancellation, depth: every run ends, and says where.

use std::sync::Arc;

use lmlang_interp::{
    Cache, Control, Environment, Fault, LimitKind, Limits, Lowering, Note, Options, Outcome, Progress, Run,
    StartError, Trace, TraceLevel, run,
};
use lmlang_ir::text::parse_program;
use lmlang_ir::{Const, FuncRef, Program, RefAllocator, Trap, Value};
use lmlang_verify::Checked;

use crate::tools::{check, i64s, plain, returned, whole};

fn parse(text: &str) -> (Checked, Program) {
    let program = parse_program(text, &mut RefAllocator::starting_at(1)).expect("it parses");
    (check(program.clone()), program)
}

fn find(program: &Program, name: &str) -> FuncRef {
    program.functions().find(|(_, f)| &*f.head().name == name).expect("a function of that name").0
}

fn limited(limits: Limits) -> Options {
    Options { limits, ..Options::default() }
}

const PROGRAM: &str = r#"
module limits

pub func deeper (n: i64) -> (i64) {
  r = call deeper(add.i64 n, 1)
  return r
}

pub func endless () -> () {
  loop L {
    continue L
  }
  unreachable
}

pub func pushes (n: i32) -> (i32) {
  a = loop L (i: i32 = 0, a: array<i32> = (array.new<i32>)) -> (array<i32>) {
    break_if L (eq.i32 i, n) (a)
    continue L (add.i32 i, 1) (array.push<i32> a, i)
  }
  return (array.len<i32> a)
}

pub func chain (n: i32) -> (i32) {
  start = enum.new option<box<i32>>.none
  a = loop L (i: i32 = 0, a: List = (enum.new List.end)) -> (List) {
    break_if L (eq.i32 i, n) (a)
    next = enum.new List.more (box.new<List> a)
    continue L (add.i32 i, 1) (next)
  }
  return (enum.tag<List> a)
}

type List = enum { end, more(box<List>) }

pub func shouts (n: i32) -> () {
  loop L (i: i32 = 0) -> () {
    break_if L (eq.i32 i, n)
    print "0123456789"
    continue L (add.i32 i, 1)
  }
  return
}

pub func quotient (a: i64, b: i64) -> (i64) {
  twice = mul.i64 a, 2
  return (div_s.i64 twice, b)
}

pub func outer (a: i64) -> (i64) {
  r = call quotient(a, 0)
  return r
}

pub func huge () -> (i32) {
  var cells: array<i64, 1000000000>
  return (array.len<i64, 1000000000> (var.get cells))
}

type Wide = enum { cells(array<i64, 5000000>), nothing }
type Deep = struct { a: box<result<Deep, i32>>, b: box<result<Deep, i32>>, c: box<result<Deep, i32>> }

pub func wide () -> (i32) {
  var wide: Wide
  return (enum.tag<Wide> (var.get wide))
}

pub func deep () -> (Deep) {
  var deep: Deep
  return (var.get deep)
}

pub func big (n: i32) -> (i32) {
  b = bytes.new n
  return (bytes.len b)
}
"#;

#[test]
fn depth_is_bounded() {
    let (checked, program) = parse(PROGRAM);
    let options = limited(Limits { call_depth: 100, ..Limits::default() });
    for run in [whole, plain] {
        let result = run(&checked, find(&program, "deeper"), &i64s(&[0]), &options);
        let Outcome::LimitReached { limit: LimitKind::Depth, bound, place } = result.outcome else {
            panic!("{result:?}")
        };
        assert_eq!((bound, place.stack.len()), (Some(100), 100));
        // Each call adds first; the last one is not made.
        assert_eq!(result.steps, 300);
    }
    let deep = limited(Limits { call_depth: 200_000, ..Limits::default() });
    let result = whole(&checked, find(&program, "deeper"), &i64s(&[0]), &Options { inspect: false, ..deep });
    assert!(
        matches!(result.outcome, Outcome::LimitReached { limit: LimitKind::Depth, .. }),
        "{:?}",
        result.steps
    );
}

#[test]
fn fuel_is_exact() {
    let (checked, program) = parse(PROGRAM);
    for fuel in [0, 1, 2, 3, 1000, 1001] {
        for run in [whole, plain] {
            let options = limited(Limits { fuel, ..Limits::default() });
            let result = run(&checked, find(&program, "endless"), &[], &options);
            assert!(matches!(result.outcome, Outcome::LimitReached { limit: LimitKind::Fuel, .. }));
            assert_eq!((result.fuel_used, result.steps), (fuel, fuel));
        }
    }
}

#[test]
fn endless_loops_are_stopped_from_outside() {
    let (checked, program) = parse(PROGRAM);
    let function = find(&program, "endless");
    let options = limited(Limits { fuel: u64::MAX, ..Limits::default() });
    let mut slices = 0;
    let mut stop_with = |control: Control| {
        slices = 0;
        let mut decide = |_: &Run| {
            slices += 1;
            if slices < 5 { Control::Continue } else { control }
        };
        run(&checked, function, &[], &options, &Cache::new(), 10_000, &mut decide).unwrap().outcome
    };
    let cancelled = stop_with(Control::Cancel);
    assert!(matches!(&cancelled, Outcome::Cancelled { place } if place.at().is_some()), "{cancelled:?}");
    let late = stop_with(Control::TimeOut);
    assert!(matches!(late, Outcome::LimitReached { limit: LimitKind::Time, .. }), "{late:?}");
}

#[test]
fn memory_is_bounded() {
    let (checked, program) = parse(PROGRAM);
    let options = limited(Limits { memory_bytes: 1 << 20, ..Limits::default() });
    let i32s = |n: i32| vec![Value::Const(Const::I32(n))];
    for (name, n) in [("big", 2 << 20), ("pushes", 1 << 20), ("chain", 1 << 20)] {
        let result = whole(&checked, find(&program, name), &i32s(n), &options);
        assert!(
            matches!(result.outcome, Outcome::LimitReached { limit: LimitKind::Memory, .. }),
            "{name}: {:?}",
            result.outcome
        );
    }
    let huge = whole(&checked, find(&program, "huge"), &[], &options);
    assert!(
        matches!(huge.outcome, Outcome::LimitReached { limit: LimitKind::Memory, .. }),
        "{:?}",
        huge.outcome
    );
    let fits = whole(&checked, find(&program, "big"), &i32s(1000), &options);
    assert_eq!(fits.outcome, returned(i32s(1000)));
    assert!((1000..5000).contains(&fits.memory_peak), "{}", fits.memory_peak);
}

#[test]
fn pushing_in_a_loop_changes_in_place() {
    let (checked, program) = parse(PROGRAM);
    let n = vec![Value::Const(Const::I32(1_000_000))];
    let options = limited(Limits { memory_bytes: 64 << 20, ..Limits::default() });
    // A copy per push would take 4 TB of traffic.
    for run in [whole, plain] {
        assert_eq!(run(&checked, find(&program, "pushes"), &n, &options).outcome, returned(n.clone()));
    }
}

#[test]
fn deep_values_are_dropped_without_recursion() {
    let (checked, program) = parse(PROGRAM);
    let function = find(&program, "chain");
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
        let n = vec![Value::Const(Const::I32(200_000))];
        whole(&checked, function, &n, &Options { inspect: false, ..Options::default() }).outcome
    });
    assert_eq!(thread.unwrap().join().unwrap(), returned(vec![Value::Const(Const::I32(1))]));
}

#[test]
fn output_is_bounded() {
    let (checked, program) = parse(PROGRAM);
    let options = limited(Limits { output_bytes: 25, ..Limits::default() });
    let result = whole(&checked, find(&program, "shouts"), &[Value::Const(Const::I32(9))], &options);
    assert!(matches!(result.outcome, Outcome::LimitReached { limit: LimitKind::Output, .. }));
    assert_eq!(result.stdout, b"0123456789012345678901234");
}

#[test]
fn traps_say_where_and_with_what() {
    let (checked, program) = parse(PROGRAM);
    let (outer, quotient) = (find(&program, "outer"), find(&program, "quotient"));
    let result = whole(&checked, outer, &i64s(&[21]), &Options::default());
    let Outcome::Trapped { fault: Fault::Trap(Trap::DivisionByZero), place } = &result.outcome else {
        panic!("{result:?}")
    };
    let functions: Vec<_> = place.stack.iter().map(|at| (at.frame, at.function)).collect();
    assert_eq!(functions, [(0, outer), (1, quotient)]);
    let body = program.function(quotient).unwrap().body();
    let at = place.at().unwrap();
    assert_eq!(body.node(at.node.unwrap()).unwrap().op().code(), lmlang_ir::Opcode::DivS);
    let shown: Vec<_> = place.values.iter().map(|value| value.shown.value.clone()).collect();
    assert!(shown.contains(&i64s(&[42])[0]) && shown.contains(&i64s(&[21])[0]), "{shown:?}");
}

#[test]
fn wrong_arguments_are_errors() {
    let (checked, program) = parse(PROGRAM);
    let start = |function, args: &[Value]| {
        Run::new(&checked, function, args, &Options::default(), &Cache::new()).map(|_| ())
    };
    let quotient = find(&program, "quotient");
    assert_eq!(start(quotient, &i64s(&[1])), Err(StartError::Arity { expected: 2, found: 1 }));
    let wrong = [i64s(&[1]), vec![Value::Const(Const::I32(1))]].concat();
    assert!(matches!(start(quotient, &wrong), Err(StartError::Argument { index: 1, .. })));
    let nowhere = FuncRef::new(999_999).unwrap();
    assert_eq!(start(nowhere, &[]), Err(StartError::NoFunction(nowhere)));
}

#[test]
fn a_trace_pages_by_level() {
    let (checked, program) = parse(PROGRAM);
    let outer = find(&program, "outer");
    let run = Run::new(&checked, outer, &i64s(&[21]), &Options::default(), &Cache::new()).unwrap();
    let mut trace = Trace::of(&run, TraceLevel::Nodes, None).unwrap();
    let all = trace.page(0, 100, u64::MAX);
    assert_eq!(
        all.steps.iter().map(|step| step.seq).collect::<Vec<_>>(),
        (0..all.steps.len() as u64).collect::<Vec<_>>()
    );
    assert_eq!(all.next, None);
    let last = all.steps.last().unwrap();
    assert_eq!(last.note, Some(Note::Stopped));
    assert_eq!(last.inputs.iter().map(|shown| shown.value.clone()).collect::<Vec<_>>(), i64s(&[42, 0]));
    assert!(all.steps.iter().any(|step| step.outputs.iter().any(|shown| shown.value == i64s(&[42])[0])));
    // Any page is the same part of the whole, also backwards.
    for from in (0..all.steps.len()).rev() {
        let page = trace.page(from as u64, 2, u64::MAX);
        let end = (from + 2).min(all.steps.len());
        assert_eq!(page.steps, all.steps[from..end]);
    }
    let mut calls = Trace::of(&run, TraceLevel::Calls, None).unwrap();
    assert_eq!(calls.page(0, 100, u64::MAX).steps.len(), 1);
    let mut none = Trace::of(&run, TraceLevel::None, None).unwrap();
    assert!(none.page(0, 100, u64::MAX).steps.is_empty());
}

#[test]
fn slices_end_where_they_like() {
    let (checked, program) = parse(PROGRAM);
    let n = vec![Value::Const(Const::I32(1000))];
    let function = find(&program, "pushes");
    let whole = whole(&checked, function, &n, &Options::default());
    for slice in [1, 7, 255, 256, 1000] {
        let mut run =
            Run::with_lowering(&checked, function, &n, &Options::default(), &Cache::new(), Lowering::Fast)
                .unwrap();
        let mut paused = 0;
        while run.resume(slice) == Progress::Paused {
            paused += 1;
        }
        assert!(paused > 2, "{slice}");
        assert_eq!(run.into_result(), whole);
    }
}

/// Handlers must end in jumps: otherwise a long run needs a long host stack.
#[test]
fn long_runs_take_no_host_stack() {
    let text = r#"
module long
memory ram 1
global mut g: i64 = 0
table t [add_one]
pub func add_one (x: i64) -> (i64) {
  return (add.i64 x, 1)
}
func captured [k: i64] (x: i64) -> (i64) {
  return (add.i64 x, (capture.get k))
}
pub func mixed (n: i64) -> (i64) {
  c = closure.new captured 3
  r = loop L (i: i64 = 0, acc: i64 = 0, s: string = "") -> (i64) {
    break_if L (ge_s.i64 i, n) (acc)
    low = wrap.i64.i32 i
    at = and.i32 low, 1023
    store.i64 at, acc
    store8.i32 at, low
    back = load.i64 at
    f = convert_s.i64.f64 back
    root = sqrt.f64 (abs.f64 f)
    near = nearest.f64 (min.f64 root, 1000.0)
    whole = trunc_s.f64.i64 near
    called = call add_one(whole)
    closed = closure.call<(i64) -> (i64)> c, called
    indirect = call_indirect t<(i64) -> (i64)> 0, closed
    bits = popcnt.i64 (rotl.i64 indirect, 7)
    picked = select<i64> (eqz.i64 bits), 1, bits
    global.set g, picked
    text = string.format.i64 (global.get g)
    length = extend_u.i32.i64 (string.len text)
    quotient = div_s.i64 length, 3
    m = match picked (1, 2, default) -> (i64) {
      case 1 {
        yield 1
      }
      case 2 {
        yield 2
      }
      default {
        yield 3
      }
    }
    continue L (add.i64 i, 1) (add.i64 (add.i64 acc, m), quotient) (text)
  }
  return r
}
"#;
    let (checked, program) = parse(text);
    let function = find(&program, "mixed");
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
        let options = Options { inspect: false, ..Options::default() };
        [whole, plain].map(|run| run(&checked, function, &i64s(&[200_000]), &options))
    });
    let [fast, slow] = thread.unwrap().join().unwrap();
    assert!(matches!(fast.outcome, Outcome::Returned { .. }), "{:?}", fast.outcome);
    assert_eq!(fast, slow);
}

/// A function of 120,000 nodes has more values than a frame has places, and more code than a window shows.
#[test]
fn large_functions_run() {
    let mut text = String::from("module large\n\npub func large (n: i64) -> (i64) {\n");
    text.push_str(
        "  r = loop L (i: i64 = 0, acc: i64 = 0) -> (i64) {\n    break_if L (ge_s.i64 i, n) (acc)\n",
    );
    let mut expected = [0i64; 4];
    let rounds = |k: i64| if k % 3 == 0 { k } else { -1 };
    text.push_str("    x_0 = add.i64 acc, i\n");
    const STEPS: i64 = 30_000;
    for k in 1..=STEPS {
        let before = k - 1;
        if k % 100 == 0 {
            text.push_str(&format!(
                "    c_{k} = eq.i64 (rem_s.i64 x_{before}, 7), 3\n    x_{k} = if c_{k} -> (i64) {{\n      yield (add.i64 x_{before}, 5)\n    }} else {{\n      yield (xor.i64 x_{before}, {k})\n    }}\n"
            ));
        } else {
            text.push_str(&format!("    x_{k} = add.i64 (mul.i64 x_{before}, 3), {}\n", rounds(k)));
        }
    }
    text.push_str(&format!("    continue L (add.i64 i, 1) (x_{STEPS})\n  }}\n  return r\n}}\n"));
    let mut acc = 0i64;
    for (i, slot) in expected.iter_mut().enumerate() {
        *slot = acc;
        let mut x = acc.wrapping_add(i as i64);
        for k in 1..=STEPS {
            x = if k % 100 == 0 {
                if x % 7 == 3 { x.wrapping_add(5) } else { x ^ k }
            } else {
                x.wrapping_mul(3).wrapping_add(rounds(k))
            };
        }
        acc = x;
    }
    let (checked, program) = parse(&text);
    let function = find(&program, "large");
    assert!(program.function(function).unwrap().body().counts().nodes > 100_000);
    for (n, expected) in expected.into_iter().enumerate() {
        let options = Options { inspect: false, ..Options::default() };
        let [fast, slow] = [whole, plain].map(|run| run(&checked, function, &i64s(&[n as i64]), &options));
        assert_eq!(fast.outcome, returned(i64s(&[expected])), "{n}");
        assert_eq!(fast, slow);
    }
}

#[test]
fn what_a_variable_starts_with_asks_for_room_first() {
    let (checked, program) = parse(PROGRAM);
    for name in ["huge", "wide", "deep"] {
        for run in [whole, plain] {
            let options = limited(Limits { memory_bytes: 1 << 20, ..Limits::default() });
            let result = run(&checked, find(&program, name), &[], &options);
            let Outcome::LimitReached { limit: LimitKind::Memory, .. } = result.outcome else {
                panic!("{name}: {result:?}")
            };
            assert!(result.memory_peak <= 1 << 20, "{name}: {}", result.memory_peak);
        }
    }
}

#[test]
fn frames_full_of_references_are_bounded() {
    let mut text = "module deep\n\npub func f () -> () {\n".to_owned();
    (0..1000).for_each(|at| text.push_str(&format!("  s{at} = const.string \"a\"\n")));
    text.push_str("  call f()\n");
    (0..1000).for_each(|at| text.push_str(&format!("  print s{at}\n")));
    text.push_str("  return\n}\n");
    let (checked, program) = parse(&text);
    for run in [whole, plain] {
        let limits = Limits { memory_bytes: 4 << 20, call_depth: 10_000, ..Limits::default() };
        let shared = limited(limits);
        let result = run(&checked, find(&program, "f"), &[], &Options { inspect: false, ..shared });
        assert!(
            matches!(result.outcome, Outcome::LimitReached { limit: LimitKind::Memory, .. }),
            "{:?}",
            result.steps
        );
    }
}

#[test]
fn a_line_loses_its_end_and_nothing_else() {
    let text = "module m\npub func f () -> (option<string>) {\n  l = read_line\n  return l\n}\n";
    let (checked, program) = parse(text);
    for (stdin, line) in [("a\n", "a"), ("a\r\n", "a"), ("a\r\r\n", "a\r"), ("a\r", "a\r")] {
        let options = Options {
            environment: Environment { stdin: stdin.into(), ..Environment::default() },
            ..Options::default()
        };
        let result = whole(&checked, find(&program, "f"), &[], &options);
        let Outcome::Returned { values } = result.outcome else { panic!("{stdin:?}") };
        let [Value::Enum(_, Some(found))] = values.as_slice() else { panic!("{values:?}") };
        assert_eq!(**found, Value::Const(Const::String(Arc::from(line))), "{stdin:?}");
    }
}

/// A change of a shared value copies it, at the fuel of one node: the clock has to be looked at all the same.
#[test]
fn copies_end_a_slice() {
    let text = r#"
module m
pub func bytes (n: i32) -> (i32) {
  b = bytes.new 1000000
  s = loop L (i: i32 = 0) -> (i32) {
    break_if L (ge_u.i32 i, n) (bytes.len b)
    c = bytes.set b, 0, 1
    continue L (add.i32 i, 1)
  }
  return s
}
func one () -> () {
  var cells: array<i64, 500000>
  var.set cells (var.get cells)
  return
}
pub func variables (n: i32) -> (i32) {
  s = loop L (i: i32 = 0) -> (i32) {
    break_if L (ge_u.i32 i, n) (i)
    call one()
    continue L (add.i32 i, 1)
  }
  return s
}
"#;
    let (checked, program) = parse(text);
    for (name, answer) in [("bytes", 1_000_000), ("variables", 50)] {
        let args = [Value::Const(Const::I32(50))];
        let mut results = Vec::new();
        for lowering in [Lowering::Fast, Lowering::Plain] {
            let (options, cache) = (Options::default(), Cache::new());
            let function = find(&program, name);
            let mut run = Run::with_lowering(&checked, function, &args, &options, &cache, lowering).unwrap();
            let mut slices = 1;
            while run.resume(1 << 20) == Progress::Paused {
                slices += 1;
            }
            assert!(slices >= 8, "{name}: {slices}");
            results.push(run.into_result());
        }
        assert_eq!(results[0].outcome, returned(vec![Value::Const(Const::I32(answer))]));
        assert_eq!(results[0], results[1]);
    }
}

/// A function large enough that places are given out again: those of a loop's parameters are not others' then.
#[test]
fn places_are_given_out_again_one_value_each() {
    let mut text = "module large\n\npub func f (n: i64) -> (i64) {\n".to_owned();
    (0..20).for_each(|at| text.push_str(&format!("  a_{at} = add.i64 n, {at}\n")));
    (0..5).for_each(|at| text.push_str(&format!("  kept_{at} = mul.i64 n, {at}\n")));
    (0..10).for_each(|at| text.push_str(&format!("  s_{at} = xor.i64 a_{at}, a_{}\n", at + 10)));
    text.push_str("  r = loop L (i: i64 = 0, x: i64 = 1, y: i64 = 2) -> (i64) {\n");
    text.push_str("    break_if L (ge_s.i64 i, n) (add.i64 x, y)\n");
    text.push_str("    continue L (add.i64 i, 1) (y) (x)\n  }\n");
    (0..30).for_each(|at| text.push_str(&format!("  after_{at} = add.i64 r, {at}\n")));
    text.push_str("  sum_0 = add.i64 n, 0\n");
    let mut at = 0;
    let mut expected = 7;
    let add = |name: &str, at: &mut usize, text: &mut String| {
        text.push_str(&format!("  sum_{} = add.i64 (mul.i64 sum_{at}, 3), {name}\n", *at + 1));
        *at += 1;
    };
    for (kind, count) in [("kept", 5i64), ("s", 10), ("after", 30)] {
        for index in 0..count {
            add(&format!("{kind}_{index}"), &mut at, &mut text);
            let value = match kind {
                "kept" => 7 * index,
                "s" => (7 + index) ^ (7 + index + 10),
                _ => 3 + index,
            };
            expected = i64::wrapping_add(i64::wrapping_mul(expected, 3), value);
        }
    }
    for _ in 0..15_000 {
        add("n", &mut at, &mut text);
        expected = i64::wrapping_add(i64::wrapping_mul(expected, 3), 7);
    }
    text.push_str(&format!("  return sum_{at}\n}}\n"));
    let (checked, program) = parse(&text);
    let options = Options { inspect: false, ..Options::default() };
    for run in [whole, plain] {
        let result = run(&checked, find(&program, "f"), &i64s(&[7]), &options);
        assert_eq!(result.outcome, returned(i64s(&[expected])));
    }
}
