//! Expressions are evaluated where a run stands, and leave it as it is.

use lmlang_interp::{Breakpoint, Cache, Debugger, Options, Run, Spot};
use lmlang_ir::text::{parse_program, parse_value, print_value};
use lmlang_ir::{Const, RefAllocator, Value};

use crate::debug::{func, sum};
use crate::tools::check;

#[test]
fn expressions_have_values() {
    let (checked, run) = sum(6);
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    let spot = Spot::Function(func(3));
    debugger.set_breakpoints(&[Breakpoint::from(spot)]).expect("it is right");
    for _ in 0..5 {
        debugger.resume(&mut || false);
    }
    let (position, stack) = (debugger.position(), debugger.stack());
    let mut value = |frame: u32, text: &str| match debugger.evaluate(frame, text) {
        None => "no call".to_owned(),
        Some(Ok(shown)) => print_value(checked.program(), &shown.value),
        Some(Err(error)) => error.to_string(),
    };
    // In the call that is innermost, and in the one around it.
    assert_eq!(value(1, "a"), "i64:4");
    assert_eq!(value(1, "add.i64 a, (global.get total)"), "i64:10");
    assert_eq!(value(0, "i"), "i64:4");
    assert_eq!(value(0, "mul.i64 n, (var.get last)"), "i64:6");
    assert_eq!(value(0, "call step(i)"), "`call` needs the bound `any`: expected at most `reads`");
    assert_eq!(value(0, "eq.i64 i, 4"), "bool:true");
    assert_eq!(value(2, "a"), "no call");
    assert_eq!(value(1, "div_s.i64 a, 0"), "integer division by zero");
    assert_eq!(value(1, "nothing"), "there is no value `nothing` here");
    assert_eq!(value(1, "add.i64 a,"), "expected an operand, found the end of the text");
    // Nothing has changed by it.
    assert_eq!((debugger.position(), debugger.stack()), (position, stack));
}

#[test]
fn expressions_see_what_is_captured_and_the_whole_of_long_values() {
    let text = "func f (xs: array<i64>) -> (i64) {\n  c = closure.new inner xs, 7\n  r = closure.call<(i64) -> (i64)> c, 5\n  \
                return r\n}\nfunc inner [xs: array<i64>, k: i64] (a: i64) -> (i64) {\n  s#n10 = add.i64 (capture.get k), a\n  return s\n}\n";
    let program =
        parse_program(text, &mut RefAllocator::starting_at(100)).unwrap_or_else(|e| panic!("{e:?}"));
    let checked = check(program);
    let list = format!("[i64: {}]", (0..100).map(|at| at.to_string()).collect::<Vec<_>>().join(", "));
    let (function, found) = checked.program().functions().next().expect("there is one");
    let args = vec![parse_value(checked.program(), &found.head().params[0].ty, &list).expect("a list")];
    let run = Run::new(&checked, function, &args, &Options::default(), &Cache::new()).expect("it fits");
    let mut debugger = Debugger::of(&run, None).expect("it starts");
    while debugger.stack().len() < 2 {
        debugger.step(1, &mut || false);
    }
    let locals = debugger.values();
    assert!(locals.iter().any(|one| one.shown.value == Value::Const(Const::I64(7))), "{locals:?}");
    let mut value = |text: &str| {
        let shown =
            debugger.evaluate(1, text).expect("there is the call").unwrap_or_else(|error| panic!("{error}"));
        assert!(!shown.cut);
        print_value(checked.program(), &shown.value)
    };
    assert_eq!(value("capture.get k"), "i64:7");
    assert_eq!(value("mul.i64 (capture.get k), a"), "i64:35");
    assert_eq!(value("array.get<i64> (capture.get xs), 70"), "i64:70");
    assert_eq!(value("capture.get xs"), list);
}
