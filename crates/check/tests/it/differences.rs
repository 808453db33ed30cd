//! Two programs that do not do the same, and what inputs leave out.

use lmlang_check::{
    Difference, DifferenceProgress, Distinction, Ending, Given, Options, Refusal, State, Uncovered,
};
use lmlang_interp::{Cache, Environment, Limits};
use lmlang_ir::{Const, Value};

use crate::tools::{named, read, shown};

fn difference(before: &str, after: &str) -> Result<(DifferenceProgress, String), Refusal> {
    let (before, after) = (read(before), read(after));
    let function = named(&before, "f");
    let options = Options { cases: 5_000, ..Options::default() };
    let mut difference = Difference::new(&before, &after, function, &options, &Cache::new())?;
    while !matches!(difference.advance(777)?.state, State::Over(_)) {}
    let progress = difference.progress().clone();
    let args = progress.differing.as_ref().map(|found| shown(before.program(), &found.args));
    Ok((progress, args.unwrap_or_default()))
}

/// Two bodies of one function; the smallest input on which they differ, or nothing.
fn check(head: &str, before: &str, after: &str, expected: &str) {
    let text = |body: &str| format!("module m\n{head} {{\n{body}\n}}\n");
    let (progress, args) = difference(&text(before), &text(after)).expect("both can be run");
    assert_eq!(args, expected, "{progress:?}");
    let ending = if expected.is_empty() { Ending::Cases } else { Ending::Found };
    assert_eq!(progress.state, State::Over(ending));
}

#[test]
fn the_smallest_input_that_differs_is_found() {
    let head = "pub func f#f7 (x: i32) -> (i32)";
    check(head, "return (add.i32 x, x)", "return (shl.i32 x, 1)", "");
    check(head, "return (div_s.i32 x, 2)", "return (shr_s.i32 x, 1)", "i32:-1");
    check(
        head,
        "r = select<i32> (lt_s.i32 x, 1000), 1, 2\nreturn r",
        "r = select<i32> (le_s.i32 x, 1000), 1, 2\nreturn r",
        "i32:1000",
    );
    check(head, "return (div_s.i32 10, x)", "if (eqz.i32 x) { return 0 }\nreturn (div_s.i32 10, x)", "i32:0");
    check(
        head,
        "print \"a\"\nreturn x",
        "print \"a\"\nif (eq.i32 x, 77) {\nprint \"b\"\nyield\n}\nreturn x",
        "i32:77",
    );
    check(
        "pub func f#f7 (x: i64, text: string) -> (i64)",
        "require \"small\" = lt_s.i64 x, 10\nreturn x",
        "require \"small\" = lt_s.i64 x, 9\nreturn x",
        "i64:9, \"\"",
    );
    // That both give no number is no difference.
    check("pub func f#f7 (x: f64) -> (f64)", "return (div.f64 0.0, 0.0)", "return (sub.f64 inf, inf)", "");
}

/// Two bodies of a function of a program with storage: in what the smallest input that differs shows it.
fn left(storage: &str, before: &str, after: &str) -> (String, Vec<Distinction>) {
    let text = |body: &str| {
        format!("module m\n{storage}\npub func f#f7 (x: i32) -> (i32) {{\n{body}\nreturn x\n}}\n")
    };
    let (progress, args) = difference(&text(before), &text(after)).expect("both can be run");
    (args, progress.differing.map(|found| found.distinctions).unwrap_or_default())
}

#[test]
fn what_is_left_in_globals_and_memory_counts() {
    let global = "global mut kept#v3: i32 = 0\nglobal mut other#v4: i32 = 0";
    let (args, found) = left(global, "global.set kept, x", "global.set kept, (and.i32 x, 255)");
    assert_eq!(args, "i32:-1");
    let Some(Distinction::Global(of, values)) = found.first() else { panic!("{found:?}") };
    assert_eq!(of.to_string(), "v3");
    assert_eq!(*values, [Value::Const(Const::I32(-1)), Value::Const(Const::I32(255))]);
    assert_eq!(left(global, "global.set kept, x", "global.set kept, x").1, vec![]);
    // A global that only one of them has, or that has another type there, is nobody's loss.
    let added = "global mut kept#v3: i64 = 0\nglobal mut more#v5: i32 = 0\n";
    let text = |storage: &str, body: &str| {
        format!("module m\n{storage}\npub func f#f7 (x: i32) -> (i32) {{\n{body}\nreturn x\n}}\n")
    };
    let (progress, _) = difference(&text(global, "global.set kept, x"), &text(added, "global.set more, x"))
        .expect("they run");
    assert_eq!(progress.differing, None);
    let memory = "memory main#v2 1";
    let (args, found) = left(memory, "store.i32 16, x", "store.i32 16, (or.i32 x, 256)");
    assert_eq!(args, "i32:0");
    let [Distinction::Memory(17, [one, other])] = &found[..] else { panic!("{found:?}") };
    assert_eq!((one[0], other[0]), (0, 1));
    // What else is not the same says more, even where it is met later.
    let (args, found) = left(
        memory,
        "store.i32 16, x",
        "store.i32 16, (or.i32 x, 256)\nif (eq.i32 x, 77) {\nprint \"b\"\nyield\n}",
    );
    assert_eq!(args, "i32:77");
    assert_eq!(found[0], Distinction::Stdout([Vec::new(), b"b".to_vec()]), "{found:?}");
}

#[test]
fn what_is_read_is_made_up_as_well() {
    let text = |words: &str| {
        format!(
            "module m
pub func f#f7 () -> (i32) {{
  line = read_line
  n = match line (some, none) -> (i32) {{
    case some (text) {{
      same = string.eq text, \"{words}\"
      r = select<i32> same, 1, 2
      yield r
    }}
    case none {{ yield 0 }}
  }}
  return n
}}
"
        )
    };
    let (progress, args) = difference(&text("stop"), &text("halt")).expect("both can be run");
    let found = progress.differing.expect("a line shows it");
    let stdin = String::from_utf8(found.stdin.expect("it reads")).expect("text");
    assert_eq!(args, "");
    assert!(["stop\n", "halt\n"].contains(&stdin.as_str()), "{stdin:?}");
    assert_eq!(found.distinctions, vec![Distinction::Results]);
    let (progress, _) = difference(&text("stop"), &text("stop")).expect("both can be run");
    assert_eq!(progress.differing, None);
}

#[test]
fn other_parameters_are_refused() {
    let refused = |before: &str, after: &str| difference(before, after).err();
    let one = "module m#m1\ntype T#t2 = struct { a#d3: i32 }\npub func f#f7 (x: T) -> () { return }\n";
    let other = "module m#m1\ntype T#t2 = struct { a#d3: i64 }\npub func f#f7 (x: T) -> () { return }\n";
    let more = "module m#m1\ntype T#t2 = struct { a#d3: i32 }\npub func f#f7 (x: T, y: T) -> () { return }\n";
    assert!(matches!(refused(one, other), Some(Refusal::OtherParameters(_))));
    assert!(matches!(refused(one, more), Some(Refusal::OtherParameters(_))));
    assert_eq!(refused(one, one), None);
}

#[test]
fn what_no_input_reaches_is_told() {
    let checked = read(
        "module m
pub func f (x: i32) -> (i32) {
  big = gt_s.i32 x, 100
  r = if big -> (i32) {
    a = call g(x)
    yield a
  } else {
    yield x
  }
  return r
}
func g (x: i32) -> (i32) {
  y = add.i32 x, 1
  return y
}
",
    );
    let (f, g) = (named(&checked, "f"), named(&checked, "g"));
    let given = |function, x: i64, wide: bool| {
        let arg = if wide { Const::I64(x) } else { Const::I32(x as i32) };
        Given { function, args: vec![Value::Const(arg)], environment: Environment::default() }
    };
    let uncovered = |given: Vec<Given>| {
        let mut uncovered = Uncovered::new(&checked, given, Limits::default(), &Cache::new());
        while !uncovered.advance(3) {}
        (uncovered.nodes(f).len(), uncovered.nodes(g).len(), uncovered.unfit().to_vec())
    };
    let all = |of| checked.program().function(of).unwrap().body().counts().nodes as usize;
    assert_eq!(uncovered(vec![]), (all(f), all(g), vec![]));
    assert_eq!(uncovered(vec![given(f, 1, false)]), (2, all(g), vec![]));
    assert_eq!(uncovered(vec![given(g, 1, false), given(f, 1, false)]), (2, 0, vec![]));
    assert_eq!(uncovered(vec![given(f, 101, false), given(f, 1, true)]), (1, 0, vec![1]));
    assert_eq!(uncovered(vec![given(f, 101, false), given(f, 1, false)]), (0, 0, vec![]));
}
