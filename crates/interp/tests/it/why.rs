//! Why values are what they are, and why nodes did not run.

use lmlang_interp::{Absence, Cache, Options, Run, Trace, TraceLevel, WhyNot, why, why_not};
use lmlang_ir::text::{parse_program, parse_value, print_value};
use lmlang_ir::{FuncRef, NodeRef, RefAllocator, Value};

use crate::tools::check;

/// A run of the first function of a text.
fn run(text: &str, args: &[&str]) -> Run {
    let program =
        parse_program(text, &mut RefAllocator::starting_at(1_000)).unwrap_or_else(|e| panic!("{e:?}"));
    let (of, function) = program.functions().next().expect("there is one");
    let params = function.head().params.iter().zip(args);
    let args: Vec<Value> =
        params.map(|(param, text)| parse_value(&program, &param.ty, text).expect("it is one")).collect();
    Run::new(&check(program), of, &args, &Options::default(), &Cache::new()).expect("it starts")
}

/// Steps by their nodes, with what they made, or, where that is nothing, with what they read.
fn shown(run: &Run, steps: &[u64]) -> String {
    let mut trace = Trace::of(run, TraceLevel::Nodes, None).expect("it starts");
    let program = run.checked().program();
    let values = |values: &[lmlang_interp::Shown]| -> String {
        values.iter().map(|shown| format!(" {}", print_value(program, &shown.value))).collect()
    };
    let step = |step: lmlang_interp::Step| match step.outputs[..] {
        [] => format!("{}{}", step.node, values(&step.inputs)),
        _ => format!("{} ->{}", step.node, values(&step.outputs)),
    };
    let steps = steps.iter().flat_map(|seq| trace.page(*seq, 1, u64::MAX).steps);
    steps.map(step).collect::<Vec<String>>().join("\n")
}

/// The last step of a node.
fn last(run: &Run, node: NodeRef) -> u64 {
    let steps =
        Trace::of(run, TraceLevel::Nodes, None).expect("it starts").page(0, usize::MAX, u64::MAX).steps;
    steps.iter().rev().find(|step| step.node == node).expect("it ran").seq
}

fn lines(of: &[&str]) -> String {
    of.join("\n")
}

fn node(number: u64) -> NodeRef {
    NodeRef::new(number).expect("in range")
}

/// Why a value of the last step of a node is what it is.
fn because(text: &str, args: &[&str], of: u64, port: usize) -> String {
    let run = run(text, args);
    let why = why(&run, last(&run, node(of)), port, 100, &mut || false).expect("there is such a step");
    assert!(why.is_complete);
    shown(&run, &why.steps)
}

#[test]
fn only_what_a_value_follows_from_is_told() {
    let text = "func f (a: i64, b: i64) -> (i64) {\n  x#n1 = add.i64 a, 1#n2\n  y#n3 = mul.i64 b, 2#n4\n  \
                z#n5 = sub.i64 x, x\n  print#n6 \"no\"\n  return#n7 z\n}\n";
    assert_eq!(
        because(text, &["4", "5"], 7, 0),
        lines(&["n2 -> i64:1", "n1 -> i64:5", "n5 -> i64:0", "n7 i64:0"])
    );
    assert_eq!(because(text, &["4", "5"], 3, 0), lines(&["n4 -> i64:2", "n3 -> i64:10"]));
}

#[test]
fn values_come_through_branches_loops_and_calls() {
    let text = "func f (n: i64) -> (i64) {\n  s#n1 = loop L (i: i64 = 0#n2, acc: i64 = 0#n3, other: i64 = 7#n4) -> (i64, i64) {\n    \
                break_if#n5 L (ge_s.i64#n6 i, n) (acc, other)\n    t#n7 = call twice(i)\n    \
                continue#n8 L (add.i64#n9 i, 1#n10) (add.i64#n11 acc, t) (other)\n  }\n  \
                r#n12 = if (gt_s.i64#n13 s, 1#n14) -> (i64) {\n    yield#n15 s\n  } else {\n    yield#n16 n\n  }\n  \
                return#n17 r\n}\nfunc twice (a: i64) -> (i64) {\n  b#n20 = add.i64 a, a\n  return#n21 b\n}\n";
    assert_eq!(
        because(text, &["2"], 17, 0),
        lines(&[
            "n2 -> i64:0",
            "n3 -> i64:0",
            "n1 i64:0 i64:0 i64:7",
            "n7 i64:0",
            "n20 -> i64:0",
            "n21 i64:0",
            "n10 -> i64:1",
            "n9 -> i64:1",
            "n11 -> i64:0",
            "n8 i64:1 i64:0 i64:7",
            "n7 i64:1",
            "n20 -> i64:2",
            "n21 i64:2",
            "n11 -> i64:2",
            "n8 i64:2 i64:2 i64:7",
            "n5 bool:true i64:2 i64:7",
            "n15 i64:2",
            "n17 i64:2"
        ])
    );
    // The other result of the loop went round without change.
    assert_eq!(
        because(text, &["2"], 5, 2),
        lines(&[
            "n4 -> i64:7",
            "n1 i64:0 i64:0 i64:7",
            "n8 i64:1 i64:0 i64:7",
            "n8 i64:2 i64:2 i64:7",
            "n5 bool:true i64:2 i64:7"
        ])
    );
}

#[test]
fn values_come_through_variables_globals_and_memory() {
    let text = "func f (n: i64) -> (i64) {\n  var v#v1: i64\n  var.set#n2 v, (add.i64#n3 n, 1#n4)\n  var.set#n5 v, (mul.i64#n6 (var.get#n7 v), 3#n8)\n  \
                global.set#n9 g, (var.get#n10 v)\n  store.i64#n11 8#n12, (global.get#n13 g)\n  store8.i64#n14 9#n15, 0#n16\n  store.i64#n17 100#n18, 1#n19\n  \
                r#n20 = load.i64 8#n21\n  return#n22 r\n}\nmemory main#v30 1\nglobal mut g#v31: i64 = 0\n";
    assert_eq!(
        because(text, &["4"], 22, 0),
        lines(&[
            "n4 -> i64:1",
            "n3 -> i64:5",
            "n2 i64:5",
            "n7 -> i64:5",
            "n8 -> i64:3",
            "n6 -> i64:15",
            "n5 i64:15",
            "n10 -> i64:15",
            "n9 i64:15",
            "n12 -> i32:8",
            "n13 -> i64:15",
            "n11 i32:8 i64:15",
            "n15 -> i32:9",
            "n16 -> i64:0",
            "n14 i32:9 i64:0",
            "n21 -> i32:8",
            "n20 -> i64:15",
            "n22 i64:15"
        ])
    );
}

#[test]
fn values_come_through_copies_of_memory() {
    let text = "func f (n: i64) -> (i64) {\n  store.i64#n1 80#n2, n\n  memory.copy#n3 1000#n4, 0#n5, 100#n6\n  \
                r#n7 = load.i64 1080#n8\n  return#n9 r\n}\nmemory main#v30 1\n";
    let steps = ["n2 -> i32:80", "n1 i32:80 i64:4", "n4 -> i32:1000", "n5 -> i32:0", "n6 -> i32:100"];
    let rest = ["n3 i32:1000 i32:0 i32:100", "n8 -> i32:1080", "n7 -> i64:4", "n9 i64:4"];
    assert_eq!(because(text, &["4"], 9, 0), lines(&[&steps[..], &rest[..]].concat()));
}

#[test]
fn values_come_through_pieces_of_memory() {
    let text = "func f (v: bytes) -> (i32) {\n  bytes.store#n1 40#n2, v\n  store8.i32#n3 41#n4, 66#n5\n  \
                r#n6 = load.i32 40#n7\n  b#n8 = bytes.load 40#n9, 4#n10\n  l#n11 = bytes.len b\n  return#n12 r\n}\nmemory main#v30 1\n";
    let stored = ["n2 -> i32:40", "n1 i32:40 b\"abcd\"", "n4 -> i32:41", "n5 -> i32:66", "n3 i32:41 i32:66"];
    let word = ["n7 -> i32:40", "n6 -> i32:1684226657", "n12 i32:1684226657"];
    assert_eq!(because(text, &["b\"abcd\""], 12, 0), lines(&[&stored[..], &word[..]].concat()));
    let bytes = ["n9 -> i32:40", "n10 -> i32:4", "n8 -> b\"aBcd\"", "n11 -> i32:4"];
    assert_eq!(because(text, &["b\"abcd\""], 11, 0), lines(&[&stored[..], &bytes[..]].concat()));
}

#[test]
fn what_an_invariant_is_about_has_an_origin() {
    let text = "pub func mk (n: i64) -> (P) pure {\n  big#n1 = mul.i64 n, 60#n2\n  return#n4 (struct.new#n3 P big)\n}\n\
                type P = struct { v: i64 }\nfunc p (value: P) -> () pure {\n  \
                invariant \"small\" { yield#n20 (lt_s.i64#n21 (struct.get#n22 P.v value), 100#n23) }\n  return#n24\n}\n";
    let made = ["n2 -> i64:60", "n1 -> i64:120", "n3 -> P{v: 120}", "n4 P{v: 120}"];
    let seen = ["n22 -> i64:120", "n23 -> i64:100", "n21 -> bool:false", "n20 bool:false"];
    assert_eq!(because(text, &["2"], 20, 0), lines(&[&made[..], &seen[..]].concat()));
}

#[test]
fn checks_of_invariants_pass_values_by() {
    let text = "pub func f (n: i32) -> (i32) {\n  s#n1 = call made(n)\n  t#n2 = call same(s)\n  \
                return#n3 (struct.get#n4 Share.of t)\n}\ntype Share = struct { of: i32 }\n\
                func share (value: Share) -> () pure {\n  \
                invariant \"small\" { yield#n20 (lt_s.i32#n21 (struct.get#n22 Share.of value), 9#n23) }\n  return#n24\n}\n\
                pub func made (n: i32) -> (Share) {\n  return#n30 (struct.new#n31 Share n)\n}\n\
                pub func same (s: Share) -> (Share) {\n  return#n40 s\n}\n";
    assert_eq!(
        because(text, &["4"], 3, 0),
        lines(&[
            "n1 i32:4",
            "n31 -> Share{of: 4}",
            "n30 Share{of: 4}",
            "n2 Share{of: 4}",
            "n40 Share{of: 4}",
            "n4 -> i32:4",
            "n3 i32:4"
        ])
    );
}

#[test]
fn closures_and_matches_pass_values_on() {
    let text = "func f (n: i64) -> (i64) {\n  c#n1 = closure.new adder n\n  r#n2 = closure.call<(i64) -> (i64)> c, 5#n3\n  \
                o#n4 = enum.new option<i64>.some r\n  m#n5 = match o -> (i64) {\n    case some (x: i64) { yield#n6 x }\n    case none { yield#n7 0#n8 }\n  }\n  \
                return#n9 m\n}\nfunc adder [k: i64] (a: i64) -> (i64) {\n  s#n10 = add.i64 (capture.get#n11 k), a\n  return#n12 s\n}\n";
    assert_eq!(
        because(text, &["4"], 9, 0),
        lines(&[
            "n1 -> closure:adder(4)",
            "n3 -> i64:5",
            "n2 closure:adder(4) i64:5",
            "n11 -> i64:4",
            "n10 -> i64:9",
            "n12 i64:9",
            "n4 -> option<i64>.some(9)",
            "n5 option<i64>.some(9)",
            "n6 i64:9",
            "n9 i64:9"
        ])
    );
}

#[test]
fn a_node_that_did_not_run_has_reasons() {
    let text = "func f (n: i64) -> () {\n  block#n1 A {\n    if#n2 (gt_s.i64#n3 n, 5#n4) {\n      call#n5 g(n)\n      yield#n6\n    }\n    \
                break_if#n7 A (eq.i64#n8 n, 3#n9)\n    print#n10 \"late\"\n    yield#n11\n  }\n  return#n12\n}\n\
                func g (a: i64) -> () {\n  print#n20 \"in g\"\n  return#n21\n}\nfunc nobody () -> () {\n  print#n30 \"x\"\n  return#n31\n}\n";
    let reasons = |args: &[&str], of: u64| {
        let run = run(text, args);
        let function = run.checked().program().function_of(node(of).into()).expect("it is there");
        let why = why_not(&run, None, function, node(of), &mut || false).expect("there is such a node");
        let ran = matches!(why.absence, Absence::Ran(_));
        format!("{}{}", if ran { "it ran\n" } else { "" }, shown(&run, &why.steps))
    };
    assert_eq!(reasons(&["3"], 5), "n2 bool:false");
    assert_eq!(reasons(&["3"], 10), "n7 bool:true");
    assert_eq!(reasons(&["3"], 20), "n2 bool:false");
    assert_eq!(reasons(&["7"], 20), "it ran\n");
    assert_eq!(reasons(&["7"], 30), "");
}

#[test]
fn a_run_that_stopped_before_a_node_was_not_turned_away() {
    let text = "func f (n: i64) -> () {\n  loop#n1 L (i: i64 = 0) -> () {\n    if#n2 (eq.i64#n3 i, 1#n4) {\n      print#n5 \"one\"\n      \
                yield#n6\n    }\n    if#n7 (eq.i64#n8 i, n) {\n      print#n9 _\n      print#n11 \"after\"\n      yield#n12\n    }\n    \
                break_if#n13 L (ge_s.i64#n14 i, 3#n15)\n    print#n16 \"on\"\n    continue#n17 L (add.i64#n18 i, 1#n19)\n  }\n  print#n20 \"end\"\n  return#n21\n}\n";
    let reasons = |args: &[&str], of: u64, fuel: Option<u64>| {
        let run = run(text, args);
        let function = run.checked().program().function_of(node(of).into()).expect("it is there");
        let why = why_not(&run, fuel, function, node(of), &mut || false).expect("there is such a node");
        assert_eq!(why.stopped.is_some(), why.absence == Absence::Stopped);
        let stopped = if why.stopped.is_some() { "it stopped before\n" } else { "" };
        format!("{stopped}{}", shown(&run, &why.steps))
    };
    // At the hole in the first turn.
    assert_eq!(reasons(&["0"], 11, None), "it stopped before\n");
    assert_eq!(reasons(&["0"], 16, None), "it stopped before\n");
    assert_eq!(reasons(&["0"], 20, None), "it stopped before\n");
    assert_eq!(reasons(&["0"], 5, None), "n2 bool:false");
    assert_eq!(reasons(&["1"], 11, None), "it stopped before\n");
    // At a limit; what an earlier turn decided, holds.
    assert_eq!(reasons(&["9"], 5, Some(1)), "it stopped before\n");
    assert_eq!(reasons(&["9"], 20, Some(20)), "it stopped before\n");
    assert_eq!(reasons(&["9"], 11, Some(20)), "n7 bool:false");
}

/// Why a node did not run, in words.
fn absent(text: &str, args: &[&str], of: u64, fuel: Option<u64>) -> String {
    let run = run(text, args);
    let function = run.checked().program().function_of(node(of).into()).expect("it is there");
    let WhyNot { absence, stopped, calls, is_complete, .. } =
        why_not(&run, fuel, function, node(of), &mut || false).expect("there is such a node");
    assert!(is_complete);
    let at = stopped.map(|at| format!(" before step {}", at.step)).unwrap_or_default();
    let calls = calls.iter().map(|call| format!("\n{} {:?}", call.node, call.absence));
    format!("{absence:?}{at}{}", calls.collect::<String>())
}

#[test]
fn an_absence_has_its_kind() {
    let text = "func f (n: i64) -> () {\n  if#n1 (gt_s.i64#n2 n, 5#n3) {\n    call#n4 mid()\n    yield#n5\n  }\n  return#n6\n}\n\
                func mid () -> () {\n  call#n10 g()\n  return#n11\n}\n\
                func g () -> () {\n  print#n20 \"g\"\n  call#n21 g()\n  return#n22\n}\n\
                func dead () -> () {\n  call#n30 g()\n  return#n31\n}\n";
    assert_eq!(absent(text, &["3"], 1, None), "Ran(2)");
    assert_eq!(absent(text, &["3"], 4, None), "TurnedAway(2)");
    assert_eq!(
        absent(text, &["3"], 20, None),
        lines(&["NotCalled", "n10 NotCalled", "n30 Unreachable", "n4 TurnedAway(2)"])
    );
    assert_eq!(absent(text, &["3"], 31, None), "Unreachable");
    assert_eq!(absent(text, &["3"], 6, Some(1)), "Stopped before step 1");
    assert_eq!(
        absent(text, &["7"], 20, Some(3)),
        lines(&["NotCalled before step 3", "n10 NotCalled", "n30 Unreachable", "n4 Stopped"])
    );
    // It was called, and never got behind its own call.
    assert_eq!(absent(text, &["7"], 22, Some(40)).split(' ').next(), Some("Stopped"));
}

#[test]
fn an_absence_is_seen_through_tables_and_references() {
    let text = "func f (n: i32) -> () {\n  if#n1 (eq.i32#n2 n, 7#n3) {\n    call_indirect#n4 t<() -> ()> n\n    yield#n5\n  }\n  \
                r#n6 = func.ref h\n  return#n7\n}\nfunc g () -> () {\n  return#n20\n}\nfunc h () -> () {\n  return#n22\n}\ntable t#v30 [g]\n";
    assert_eq!(absent(text, &["3"], 20, None), lines(&["NotCalled", "n4 TurnedAway(2)"]));
    assert_eq!(absent(text, &["3"], 22, None), lines(&["NotCalled", "n6 Ran(4)"]));
}

#[test]
fn a_precondition_turns_away() {
    let text = "func f (n: i64) -> () {\n  require \"small\" { yield#n20 (lt_s.i64#n21 n, 9#n22) }\n  print#n1 \"f\"\n  return#n2\n}\n";
    assert_eq!(absent(text, &["10"], 1, None), "TurnedAway(2)");
    assert_eq!(absent(text, &["3"], 21, None), "Ran(1)");
}

#[test]
fn what_is_not_there_is_not_explained() {
    let text = "func f (a: i64) -> (i64) {\n  x#n1 = add.i64 a, 1#n2\n  return#n3 x\n}\n";
    let run = run(text, &["1"]);
    assert_eq!(why(&run, 99, 0, 10, &mut || false), None);
    assert_eq!(why(&run, 1, 1, 10, &mut || false), None);
    assert_eq!(why(&run, 2, 1, 10, &mut || false), None);
    let function = FuncRef::new(1_000).expect("in range");
    assert_eq!(why_not(&run, None, function, node(99), &mut || false), None);
    // The nearest steps are told where there are too many.
    let cut = why(&run, 2, 0, 2, &mut || false).expect("there is such a step");
    assert_eq!((cut.steps, cut.is_complete), (vec![1, 2], false));
}
