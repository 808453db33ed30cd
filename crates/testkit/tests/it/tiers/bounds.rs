//! Bounds of compiled runs.

use std::sync::Arc;

use lmlang_compiled::{Change, Compiler, Ending, Refusal, Runner, Start, Tier};
use lmlang_interp::{
    Cache, Entry, Environment, Fault, Input, Limits, Options, Outcome, Progress, Run, RunResult,
};
use lmlang_ir::{Const, Value};

use super::tools::{alike, alike_with, checked, compiled, function, interpreted};

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
        let options = Options { limits, ..Options::default() };
        for n in [0, 1, 2, 99, 100, 9_998, 9_999, 10_000] {
            let result = interpreted(&checked, of, &[int(n)], &options);
            let ending = compiled(&compiler, &checked, of, &[int(n)], &options, 5_000).unwrap();
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
    let of = function(&checked, "on");
    let unit = compiler.compile(&checked, of).unwrap();
    let limits = Limits { fuel: u64::MAX, call_depth: 10, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let run = Run::new(&checked, of, &[], &options, &Cache::new()).unwrap();
    let mut asked = Vec::new();
    let ending = unit.run(&run, Start::of(&run), &mut |used: u64| {
        asked.push(used);
        (asked.len() < 5).then_some(1_000)
    });
    let Ending::Interrupted(result) = ending else { panic!("{ending:?}") };
    let RunResult { fuel_used, steps, .. } = *result;
    assert!((4_000..4_020).contains(&fuel_used) && steps == fuel_used, "{fuel_used}");
    assert!(asked.is_sorted() && asked.len() == 5 && asked[0] == 0, "{asked:?}");
}

#[test]
fn what_ends_before_its_first_step_does_not_run() {
    let text = "
module full
memory main 1
data late at 65535 b\"ab\"
func seven () -> (i32) {
  return 7
}
";
    let (checked, compiler) = (checked(text), Compiler::new());
    let of = function(&checked, "seven");
    let trapped = interpreted(&checked, of, &[], &Options::default());
    assert!(matches!(trapped.outcome, Outcome::Trapped { .. }), "{trapped:?}");
    // The code has no memory, and so nothing that does not fit.
    let ending = compiled(&compiler, &checked, of, &[], &Options::default(), u64::MAX);
    assert_eq!(ending, Some(Ending::Stopped));
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
        let options = Options { limits, ..Options::default() };
        for pages in [0, 1, 4, 5, 19, 20, 70_000, -1] {
            let result = interpreted(&checked, of, &[int(pages)], &options);
            let ending = compiled(&compiler, &checked, of, &[int(pages)], &options, 5_000).unwrap();
            match (&result.outcome, ending) {
                (Outcome::Returned { .. }, Ending::Returned(returned)) => assert_eq!(result, *returned),
                (Outcome::LimitReached { .. }, Ending::Stopped) => {}
                (here, there) => panic!("{pages} of {memory_bytes}: {here:?}, {there:?}"),
            }
        }
    }
}

#[test]
fn values_that_may_not_fit_are_for_the_interpreter() {
    let text = "
module texts
func repeat (text: string, times: i32) -> (string) {
  all = loop L (all: string = text, left: i32 = times) -> (string) {
    break_if L (eqz.i32 left) (all)
    continue L (string.concat all, all) (sub.i32 left, 1)
  }
  return all
}
";
    let (checked, compiler) = (checked(text), Compiler::new());
    let of = function(&checked, "repeat");
    let (mut returned, mut stopped) = (0, 0);
    for memory_bytes in [1 << 12, 1 << 16, 1 << 20, 1 << 28] {
        let options = Options { limits: Limits { memory_bytes, ..Limits::default() }, ..Options::default() };
        for times in 0..20 {
            let args = [Value::Const(Const::String("abc".into())), int(times)];
            let result = interpreted(&checked, of, &args, &options);
            match compiled(&compiler, &checked, of, &args, &options, 5_000).unwrap() {
                Ending::Returned(found) => {
                    assert_eq!(found.outcome, result.outcome, "{times} in {memory_bytes}");
                    returned += 1;
                }
                Ending::Stopped => stopped += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(returned > 30 && stopped > 10, "{returned} returned, {stopped} stopped");
}

/// Whatever its values take up, compiled code holds no more than its run may.
#[test]
fn compiled_code_keeps_to_the_bound_of_memory() {
    let text = "
module texts
func repeat (text: string, times: i32) -> (i32) {
  all = loop L (all: string = text, left: i32 = times) -> (string) {
    break_if L (eqz.i32 left) (all)
    continue L (string.concat all, all) (sub.i32 left, 1)
  }
  return (string.len all)
}
";
    let (checked, compiler) = (checked(text), Compiler::new());
    let of = function(&checked, "repeat");
    let unit = compiler.compile(&checked, of).unwrap();
    let memory_bytes = 4 << 20;
    let options = Options { limits: Limits { memory_bytes, ..Limits::default() }, ..Options::default() };
    let args = [Value::Const(Const::String("abc".into())), int(30)];
    let run = Run::new(&checked, of, &args, &options, &Cache::new()).unwrap();
    let mut peaks = Vec::new();
    loop {
        let mut left = peaks.len();
        let ending = unit.run(&run, Start::of(&run), &mut |_: u64| {
            left = left.checked_sub(1)?;
            Some(1_000)
        });
        match ending {
            Ending::Interrupted(result) => peaks.push(result.memory_peak),
            Ending::Stopped => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(peaks.iter().all(|peak| *peak <= memory_bytes), "{peaks:?}");
    assert!(peaks.last().is_some_and(|peak| *peak > memory_bytes / 4), "{peaks:?}");
}

#[test]
fn what_has_references_or_closures_outside_is_refused() {
    let text = "
module closures
func made () -> (closure<() -> (i32)>) {
  return (closure.new one)
}
func one () -> (i32) {
  return 1
}
";
    let (checked, compiler) = (checked(text), Compiler::new());
    let refused = compiler.compile(&checked, function(&checked, "made"));
    assert!(matches!(refused, Err(Refusal::Reference { .. })), "{refused:?}");
    assert!(compiler.compile(&checked, function(&checked, "one")).is_ok());
}

#[test]
fn what_has_references_of_the_host_inside_is_refused() {
    let text = "
module hosts
table things: externref [null]
func first () -> (bool) {
  return (ref.is_null (table.get things 0))
}
func null () -> (bool) {
  return (ref.is_null (ref.null_extern))
}
func passed (thing: externref) -> (bool) {
  return (ref.is_null thing)
}
func made () -> (bool) {
  passed = call passed(ref.null_extern)
  return passed
}
func plain () -> (i32) {
  return 1
}
";
    let (checked, compiler) = (checked(text), Compiler::new());
    for name in ["first", "null", "made"] {
        let refused = compiler.compile(&checked, function(&checked, name));
        assert!(matches!(refused, Err(Refusal::OfHost { .. })), "{name}: {refused:?}");
    }
    assert!(compiler.compile(&checked, function(&checked, "plain")).is_ok());
}

/// Variables that change in loops inside of each other.
fn changed_far_inside(loops: usize, variables: usize) -> String {
    let mut text = "module far\nfunc f (x: i32) -> (i32) {\n".to_owned();
    (0..variables).for_each(|at| text.push_str(&format!("var cell{at}: i32\n")));
    (0..loops).for_each(|at| text.push_str(&format!("loop round{at} {{\n")));
    (0..variables)
        .for_each(|at| text.push_str(&format!("var.set cell{at}, (add.i32 (var.get cell{at}), x)\n")));
    (0..loops).for_each(|_| text.push_str("yield\n}\n"));
    text.push_str("return (var.get cell0)\n}\n");
    text
}

/// Values that are used behind branches which do not know them.
fn kept_for_long(values: usize, branches: usize) -> String {
    let mut text = "module long\nfunc f (x: i32) -> (i32) {\n".to_owned();
    (0..values).for_each(|at| text.push_str(&format!("made{at} = mul.i32 x, {at}\n")));
    (0..branches).for_each(|_| text.push_str("if (eqz.i32 x) {\nyield\n}\n"));
    text.push_str("sum0 = add.i32 x, made0\n");
    (1..values).for_each(|at| text.push_str(&format!("sum{at} = add.i32 sum{}, made{at}\n", at - 1)));
    text.push_str(&format!("return sum{}\n}}\n", values - 1));
    text
}

#[test]
fn a_small_text_that_takes_long_to_compile_is_left_to_the_interpreter() {
    let compiler = Compiler::new();
    for text in [changed_far_inside(30, 40), kept_for_long(150, 300)] {
        let checked = checked(&text);
        assert!(alike(&compiler, &checked, function(&checked, "f"), &[int(3)]));
    }
    for (text, nests) in [(changed_far_inside(300, 400), true), (kept_for_long(1_500, 3_000), false)] {
        let checked = checked(&text);
        let of = function(&checked, "f");
        match compiler.compile(&checked, of) {
            Err(Refusal::Nests { .. }) => assert!(nests),
            Err(Refusal::Keeps { .. }) => assert!(!nests),
            other => panic!("{other:?}"),
        }
        let result = interpreted(&checked, of, &[int(3)], &Options::default());
        assert!(matches!(result.outcome, Outcome::Returned { .. }), "{:?}", result.outcome);
    }
}

#[test]
fn the_world_outside_is_the_same() {
    let text = r#"
module echo
func main () -> (i32) {
  out = file.open "copy.txt", true
  count = loop L (count: i32 = 0) -> (i32) {
    line = read_line
    more = match line (some, none) -> (bool) {
      case some (text) {
        print text
        print "\n"
        written = file.write out, (string.to_bytes text)
        yield true
      }
      case none {
        yield false
      }
    }
    break_if L (not.bool more) (count)
    continue L (add.i32 count, 1)
  }
  file.close out
  again = file.open "copy.txt", false
  bytes = file.read again, 1000
  print (string.from_bytes bytes)
  none = file.open "none", false
  return (add.i32 (add.i32 count, (bytes.len bytes)), none)
}
"#;
    let (checked, compiler) = (checked(text), Compiler::new());
    let of = function(&checked, "main");
    let long: String = (0..300).map(|line| format!("line {line} of many\r\n")).collect();
    for stdin in ["", "one", "one\ntwo\n\n", &long] {
        let environment = Environment { stdin: stdin.into(), ..Environment::default() };
        let options = Options { environment, ..Options::default() };
        assert!(alike_with(&compiler, &checked, of, &[], &options));
        let limits = Limits { output_bytes: 10, ..Limits::default() };
        let options = Options { limits, ..options };
        let result = interpreted(&checked, of, &[], &options);
        let ending = compiled(&compiler, &checked, of, &[], &options, 5_000).unwrap();
        assert_eq!(matches!(result.outcome, Outcome::Returned { .. }), !ending.is_stopped(), "{ending:?}");
    }
}

#[test]
fn what_the_world_outside_refuses_is_the_same() {
    let text = r#"
module refused
func opened (path: string, writes: bool) -> (i32, bytes) {
  file = file.open path, writes
  bytes = file.read file, 100
  return file, bytes
}
func written (file: i32, data: bytes) -> (i32, bytes) {
  file.close file
  count = file.write file, data
  bytes = file.read file, 3
  return count, bytes
}
"#;
    let (checked, compiler) = (checked(text), Compiler::new());
    let files = [
        ("a", Entry::File(b"a file"[..].into())),
        ("folder", Entry::Folder),
        ("folder/b", Entry::File(b"\xff"[..].into())),
    ];
    let files = files.into_iter().map(|(path, entry)| (path.into(), entry)).collect();
    let environment = Environment {
        stdin: vec![b'a', 0xff, b'\n'].into(),
        files: Arc::new(files),
        ..Environment::default()
    };
    let options = Options { environment, ..Options::default() };
    let same = |name: &str, args: &[Value]| {
        assert!(alike_with(&compiler, &checked, function(&checked, name), args, &options), "{name}");
    };
    let long = "a".repeat(300);
    let paths = ["a", "./folder//b", "folder", "folder/..", "", "..", "/a", "none/a", "a/b", "a\0", &long];
    for path in paths {
        for writes in [false, true] {
            let path = Value::Const(Const::String(path.into()));
            same("opened", &[path, Value::Const(Const::Bool(writes))]);
        }
    }
    for file in [-1, 0, 1, 2, 3, 4, 2_000] {
        same("written", &[int(file), Value::Const(Const::Bytes(b"data"[..].into()))]);
    }
}

#[test]
fn input_that_nobody_gives_is_for_the_interpreter() {
    let text = "
module later
func line () -> (bool) {
  line = read_line
  return true
}
func plain () -> (i32) {
  print \"plain\"
  return 1
}
";
    let (checked, compiler) = (checked(text), Compiler::new());
    let environment = Environment { stdin: Input::open(), ..Environment::default() };
    let options = Options { environment, ..Options::default() };
    for (name, stops) in [("line", true), ("plain", false)] {
        let ending = compiled(&compiler, &checked, function(&checked, name), &[], &options, 5_000);
        assert_eq!(ending.map(|ending| ending.is_stopped()), Some(stops), "{name}");
    }
}

/// Gives input in pieces, and hears what was printed.
struct Gives<'p> {
    pieces: std::slice::Iter<'p, &'p str>,
    heard: String,
    /// What had been heard at each question for input.
    before: Vec<String>,
}

impl Runner for Gives<'_> {
    fn fuel(&mut self, _used: u64) -> Option<u64> {
        Some(100)
    }

    fn input(&mut self) -> Option<Vec<u8>> {
        self.before.push(self.heard.clone());
        Some(self.pieces.next().map(|piece| piece.as_bytes().to_vec()).unwrap_or_default())
    }

    fn printed(&mut self, stdout: &[u8], _stderr: &[u8]) {
        self.heard.push_str(std::str::from_utf8(stdout).unwrap());
    }
}

#[test]
fn input_comes_in_pieces_as_in_the_interpreter() {
    let text = "
module later
func main () -> (bytes, option<string>) {
  first = read_line
  print \"first\"
  bytes = file.read 0, 5
  print \"second\"
  last = read_line
  return bytes, last
}
";
    let (checked, compiler) = (checked(text), Compiler::new());
    let of = function(&checked, "main");
    let environment = Environment { stdin: Input::open(), ..Environment::default() };
    let options = Options { environment, ..Options::default() };
    let unit = compiler.compile(&checked, of).unwrap();
    for pieces in [&["one\ntwo\nthree"][..], &["o", "ne\nt", "w", "o\nt", "hree"], &["one"], &[]] {
        let mut run = Run::new(&checked, of, &[], &options, &Cache::new()).unwrap();
        let mut gives = Gives { pieces: pieces.iter(), heard: String::new(), before: Vec::new() };
        let ending = unit.run(&run, Start::of(&run), &mut gives);
        let mut given = pieces.iter();
        while run.resume(u64::MAX) == Progress::Waiting {
            run.feed(given.next().map_or(b"", |piece| piece.as_bytes()));
        }
        let Ending::Returned(found) = ending else { panic!("{pieces:?}: {ending:?}") };
        let expected = run.into_result();
        assert_eq!((&found.outcome, found.steps), (&expected.outcome, expected.steps), "{pieces:?}");
        assert_eq!((found.fuel_used, &found.stdout), (expected.fuel_used, &expected.stdout), "{pieces:?}");
        assert!(gives.before.is_sorted() && gives.before[0].is_empty(), "{:?}", gives.before);
    }
    // More than there may be stops it, as it ends the other one.
    let limits = Limits { memory_bytes: 3, ..Limits::default() };
    let options = Options { limits, ..options };
    let run = Run::new(&checked, of, &[], &options, &Cache::new()).unwrap();
    let mut gives = Gives { pieces: ["four\n"].iter(), heard: String::new(), before: Vec::new() };
    assert_eq!(unit.run(&run, Start::of(&run), &mut gives), Ending::Stopped);
}

#[test]
fn what_only_a_host_has_is_named() {
    let text = r#"
module hosts
import "elsewhere" "beep" func sched () -> (i32)
func main () -> (i32) {
  done = call sched()
  loop on {
    continue on
  }
  return done
}
"#;
    let (checked, compiler) = (checked(text), Compiler::new());
    let of = function(&checked, "main");
    let ending = compiled(&compiler, &checked, of, &[], &Options::default(), 5_000).unwrap();
    let (module, name) = ("elsewhere".to_owned(), "beep".to_owned());
    assert_eq!(ending, Ending::Missing { module, name });
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

const ENDS: &str = "
module ends
memory main 1
import \"wasi_snapshot_preview1\" \"proc_exit\"
func exit (status: i32) -> ()
import \"wasi_snapshot_preview1\" \"sched_yield\"
func rest () -> (i32)
func down (n: i32, status: i32) -> (i32) {
  a = add.i32 n, 1
  b = if (eqz.i32 n) -> (i32) {
    c = mul.i32 a, 2
    call exit(status)
    yield c
  } else {
    ok = call rest()
    below = call down((sub.i32 n, 1), status)
    yield (add.i32 below, ok)
  }
  return (add.i32 a, b)
}
func main (n: i32, status: i32) -> () {
  x = call down(n, status)
  store.i32 0, x
  return
}
";

#[test]
fn a_program_that_ends_itself_ends_alike() {
    let (checked, compiler) = (checked(ENDS), Compiler::new());
    for (name, status, returns) in [("main", 0, true), ("main", 3, false), ("down", 0, false)] {
        let of = function(&checked, name);
        for n in [0, 1, 7] {
            let args = [int(n), int(status)];
            assert!(alike_with(&compiler, &checked, of, &args, &Options::default()));
            let result = interpreted(&checked, of, &args, &Options::default());
            assert_eq!(matches!(result.outcome, Outcome::Returned { .. }), returns, "{:?}", result.outcome);
        }
        // What the host does is a call as any other.
        for call_depth in 1..6 {
            let options =
                Options { limits: Limits { call_depth, ..Limits::default() }, ..Options::default() };
            assert!(alike_with(&compiler, &checked, of, &[int(2), int(status)], &options));
        }
    }
}

#[test]
fn what_is_too_large_for_the_interpreter_is_compiled() {
    let mut text = "
module m
pub func wide (d: i32) -> (i32) {
  block A -> () {
    block B -> () {
      br_switch ("
        .to_owned();
    (0..40_000).for_each(|at| text.push_str(if at == 39_999 { "break B, " } else { "break A, " }));
    text.push_str("break A) d\n    }\n    return 1\n  }\n  return 2\n}\n");
    text.push_str("pub func calls (d: i32) -> (i32) {\n  print \"once\\n\"\n  return (call wide(d))\n}\n");
    let (checked, compiler) = (checked(&text), Compiler::new());
    for (name, said) in [("wide", ""), ("calls", "once\n")] {
        let of = function(&checked, name);
        for (given, answer) in [(39_999, 1), (0, 2), (40_000, 2)] {
            let options = Options::default();
            let mut run = Run::new(&checked, of, &[int(given)], &options, &Cache::new()).unwrap();
            let (mut change, mut never) = (Change::of(&run, None), Change::of(&run, Some(Tier::Interpreter)));
            assert!(!change.is_due(&run), "it has to begin first");
            while run.resume(u64::MAX) == Progress::Paused {}
            let Some(Outcome::Trapped { fault: Fault::TooLarge(_), .. }) = run.outcome() else {
                panic!("{:?}", run.outcome())
            };
            assert!(change.is_due(&run) && !never.is_due(&run), "{name}({given})");
            let unit = change.compile(&compiler, &run).unwrap();
            let ending = unit.run(&run, change.start(), &mut |_: u64| Some(u64::MAX));
            let Ending::Returned(result) = ending else { panic!("{ending:?}") };
            assert_eq!(result.outcome, Outcome::Returned { values: vec![int(answer)] });
            assert_eq!(result.stdout, said.as_bytes());
            assert!(!change.is_due(&run), "it changes once");
        }
    }
}
