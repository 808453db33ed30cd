//! Functions as values: what may be called through them.

use lmlang_interp::{Cache, Options, Outcome, Run, StartError};
use lmlang_ir::text::parse_program;
use lmlang_ir::{Const, FuncRef, Program, RefAllocator, Trap, Type, Value};

use crate::tools::{check, plain, returned, whole};

const PROGRAM: &str = r#"
module functions

pub func longer (a: i32, b: i64) -> (i64) {
  return b
}

pub func adder [by: i32] (a: i32) -> (i32) {
  return (add.i32 a, (capture.get by))
}

table handlers [adder]

pub func calls (f: closure<(i32) -> (i32)>) -> (i32) {
  r = closure.call<(i32) -> (i32)> f, 5
  return r
}

pub func puts (f: funcref) -> (i32) {
  table.set handlers 0, f
  r = call_indirect handlers<(i32) -> (i32)> 0, 5
  return r
}

pub func finds () -> (i32) {
  r = call_indirect handlers<(i32) -> (i32)> 0, 5
  return r
}
"#;

fn parse() -> Program {
    parse_program(PROGRAM, &mut RefAllocator::starting_at(1)).expect("it parses")
}

fn find(program: &Program, name: &str) -> FuncRef {
    program.functions().find(|(_, f)| &*f.head().name == name).expect("a function of that name").0
}

fn i32s(value: i32) -> Value {
    Value::Const(Const::I32(value))
}

#[test]
fn a_closure_that_is_given_has_the_signature_of_its_type() {
    let program = parse();
    let calls = find(&program, "calls");
    let ty: Type = program.function(calls).unwrap().head().params[0].ty.clone();
    let closure = |name, captures| Value::Closure(ty.clone(), find(&program, name), captures);
    let checked = check(program.clone());
    for run in [whole, plain] {
        let args = [closure("adder", vec![i32s(2)])];
        assert_eq!(run(&checked, calls, &args, &Options::default()).outcome, returned(vec![i32s(7)]));
    }
    let refused = Run::new(&checked, calls, &[closure("longer", vec![])], &Options::default(), &Cache::new());
    assert!(matches!(refused, Err(StartError::Argument { index: 0, .. })), "{refused:?}");
}

#[test]
fn what_captures_values_is_not_called_without_them() {
    let program = parse();
    let adder = Value::FuncRef(Some(find(&program, "adder")));
    let checked = check(program.clone());
    let refused = Run::new(&checked, find(&program, "puts"), &[adder], &Options::default(), &Cache::new());
    assert!(matches!(refused, Err(StartError::Argument { index: 0, .. })), "{refused:?}");
    // A table is not left behind by a change of what it names: the call through it is.
    for run in [whole, plain] {
        let result = run(&checked, find(&program, "finds"), &[], &Options::default());
        let Outcome::Trapped { fault, .. } = &result.outcome else { panic!("{result:?}") };
        assert_eq!(*fault, lmlang_interp::Fault::Trap(Trap::SignatureMismatch));
    }
}
