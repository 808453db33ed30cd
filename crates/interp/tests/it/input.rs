//! Input that comes while a program runs.

use lmlang_interp::{
    Cache, Environment, Input, LimitKind, Limits, Lowering, Options, Outcome, Progress, Run, Trace,
    TraceLevel,
};
use lmlang_ir::text::parse_program;
use lmlang_ir::{Const, FuncRef, RefAllocator, Value};
use lmlang_verify::Checked;

use crate::tools::check;

/// Reads pieces up to the end, and answers with their lengths as digits; then whole lines, as many as there are.
const READS: &str = r#"
module m

memory memory 1

import "wasi_snapshot_preview1" "fd_read"
func fd_read (fd: i32, iovs: i32, count: i32, read: i32) -> (i32)

pub func pieces () -> (i32) {
  store.i32 0, 64
  store.i32 4, 5
  told = loop L (told: i32 = 0) -> (i32) {
    call fd_read(0, 0, 1, 16)
    read = load.i32 16
    break_if L (eqz.i32 read) (told)
    continue L (add.i32 (mul.i32 told, 10), read)
  }
  return told
}

pub func lines () -> (i32) {
  count = loop L (count: i32 = 0) -> (i32) {
    line = read_line
    some = match line (some, none) -> (bool) {
      case some (text) {
        yield true
      }
      case none {
        yield false
      }
    }
    break_if L (not.bool some) (count)
    continue L (add.i32 count, 1)
  }
  return count
}

pub func four () -> (i32) {
  bytes = file.read 0, 4
  return (bytes.len bytes)
}
"#;

fn program() -> (Checked, [FuncRef; 3]) {
    let program = parse_program(READS, &mut RefAllocator::starting_at(1)).unwrap();
    let named = |name| program.functions().find(|(_, of)| &*of.head().name == name).unwrap().0;
    let functions = ["pieces", "lines", "four"].map(named);
    (check(program), functions)
}

fn started(function: usize, lowering: Lowering, limits: Limits) -> Run {
    let (checked, functions) = program();
    let environment = Environment { stdin: Input::open(), ..Environment::default() };
    let options = Options { limits, environment, ..Options::default() };
    Run::with_lowering(&checked, functions[function], &[], &options, &Cache::new(), lowering).unwrap()
}

/// Feeds pieces when they are asked for, the last one empty; what was returned, and the fuel.
fn fed(mut run: Run, pieces: &[&str], slice: u64) -> (i32, Run) {
    let mut pieces = pieces.iter();
    loop {
        match run.resume(slice) {
            Progress::Paused => {}
            Progress::Waiting => run.feed(pieces.next().expect("no more is asked for").as_bytes()),
            Progress::Done => break,
        }
    }
    let Some(Outcome::Returned { values }) = run.outcome() else { panic!("{:?}", run.outcome()) };
    let [Value::Const(Const::I32(value))] = values[..] else { panic!("{values:?}") };
    (value, run)
}

#[test]
fn one_read_gives_what_is_left_of_a_piece() {
    let pieces = ["abc", "defghij", "k", ""];
    let mut seen = Vec::new();
    for lowering in [Lowering::Fast, Lowering::Plain] {
        for slice in [1, 3, 100, u64::MAX] {
            let (told, run) = fed(started(0, lowering, Limits::default()), &pieces, slice);
            assert_eq!(told, 3521);
            seen.push((run.steps(), run.fuel_used()));
        }
    }
    seen.dedup();
    assert_eq!(seen.len(), 1, "waiting changes nothing: {seen:?}");
}

#[test]
fn lines_and_lengths_go_over_the_ends_of_pieces() {
    let run = || started(1, Lowering::Fast, Limits::default());
    assert_eq!(fed(run(), &["a", "b\nc", "\n", "d", ""], 10).0, 3);
    assert_eq!(fed(run(), &["a\nb\nc\n", ""], 10).0, 3);
    assert_eq!(fed(run(), &[""], 10).0, 0);
    let run = || started(2, Lowering::Fast, Limits::default());
    // What is there is enough: nothing more is asked for.
    assert_eq!(fed(run(), &["a", "bc", "defgh"], 10).0, 4);
    assert_eq!(fed(run(), &["a", "bc", ""], 10).0, 3);
}

#[test]
fn what_was_read_is_read_again_in_a_trace() {
    let (_, run) = fed(started(0, Lowering::Fast, Limits::default()), &["abc", "de", ""], 7);
    let mut trace = Trace::of(&run, TraceLevel::Nodes, Some(run.fuel_used())).unwrap();
    let page = trace.page(0, 1_000, u64::MAX);
    assert_eq!((page.steps.len() as u64, page.next), (run.steps(), None));
    assert_eq!(trace.outcome(), run.outcome());
    // Of a run that was given up while it waited there is as much as there was.
    let mut run = started(0, Lowering::Fast, Limits::default());
    while run.resume(10) != Progress::Waiting {}
    run.feed(b"abc");
    while run.resume(10) != Progress::Waiting {}
    run.cancel();
    let mut trace = Trace::of(&run, TraceLevel::Nodes, Some(run.fuel_used())).unwrap();
    let steps = trace.page(0, 1_000, u64::MAX).steps.len() as u64;
    assert!(trace.outcome().is_some() && steps.abs_diff(run.steps()) <= 1, "{steps}, {}", run.steps());
    let Outcome::Cancelled { place } = run.into_result().outcome else { panic!("it was cancelled") };
    assert!(place.at().is_some());
}

#[test]
fn input_that_is_kept_is_bounded() {
    let limits = Limits { memory_bytes: 100_000, ..Limits::default() };
    let mut run = started(0, Lowering::Fast, limits);
    let piece = [b'x'; 1_000];
    while run.resume(1_000) != Progress::Done {
        run.feed(&piece);
    }
    let Some(Outcome::LimitReached { limit, bound, .. }) = run.outcome() else {
        panic!("{:?}", run.outcome())
    };
    assert_eq!((*limit, *bound), (LimitKind::Memory, Some(100_000)));
}
