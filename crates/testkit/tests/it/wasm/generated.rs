//! Random programs: what is written of them does what they do here.

use std::collections::BTreeMap;

use lmlang_interp::Environment;
use lmlang_ir::text::parse_program;
use lmlang_ir::{Const, FuncRef, RefAllocator, Value};
use lmlang_testkit::generate::values::arguments;
use lmlang_testkit::{Options, generate};
use proptest::prelude::*;

use super::written::{alike, module, offer};

#[test]
fn what_is_written_of_random_programs_does_what_they_do() {
    let cases = if std::env::var_os("LMLANG_LONG").is_some() { 20_000 } else { 150 };
    let options = Options { odd_names: false, ..Options::default() };
    let (calls, left) = (std::cell::Cell::new(0u32), std::cell::RefCell::new(BTreeMap::new()));
    let config = ProptestConfig {
        cases,
        max_shrink_iters: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(generated in generate::programs(options), mut choices in generate::choices(200))| {
        let mut program = generated.program;
        offer(&mut program);
        let (checked, module) = module(program, &mut left.borrow_mut());
        let environment = Environment { stdin: "one\ntwo\r\nthree".into(), ..Environment::default() };
        let functions: Vec<FuncRef> = checked.program().functions().map(|(of, _)| of).collect();
        for of in functions {
            if let Some(values) = arguments(checked.program(), of, &mut choices) {
                calls.set(calls.get() + u32::from(alike(&checked, &module, of, &values, &environment)));
            }
        }
    });
    println!("{} calls in {cases} programs; left out: {:#?}", calls.get(), left.borrow());
    assert!(calls.get() > cases, "{} calls in {cases} programs; left out: {:#?}", calls.get(), left.borrow());
}

/// What wasmi 2.0.0 gets wrong, as wasmtime and V8 do not: the first result is false there.
const MISTAKEN: &str = r#"
module m

pub func f (p0: i32, p1: bool) -> (bool, i32) {
  value = const.bytes b""
  longer_name = bytes.len value
  sum#n70 = loop outer (i: i32 = 0, acc: i64 = -471899539760665823) #g69 {
    break_if#n73 outer (ge_s.i32 i, 0)
    n74 = mul.i64 acc, acc
    a#n77 = loop (i: i32 = 0) -> (i32) #g76 {
      n79 = ge_s.i32 i, 0
      b = const.i32 -1
      break_if#n81 n77 n79 (b)
      break_if#n82 n77 p1 (g69.0)
      continue#n85 n77 (add.i32 i, 1)
    }
    block#n87 {
      sum#n88 = const.i32 0
      n90 = loop outer (i: i32 = sum) -> (i32) #g89 {
        a#n91 = const.i32 1
        break_if#n93 outer (ge_s.i32 i, a) (i)
        n96 = loop (i: i32 = 0, acc: i32 = i) -> (i32) #g95 {
          break_if#n99 n96 (ge_s.i32 i, 0) (acc)
          continue#n102 n96 (add.i32 i, 1) (acc)
        }
        continue#n105 outer (add.i32 i, 1)
      }
      yield#n106
    }
    continue#n109 outer (add.i32 i, 1) (n74)
  }
  return#n110 p1, longer_name
}
"#;

#[test]
fn what_wasmi_gets_wrong_is_asked_of_wasmtime() {
    let mut program = parse_program(MISTAKEN, &mut RefAllocator::starting_at(1_000)).expect("it parses");
    offer(&mut program);
    let (checked, module) = module(program, &mut BTreeMap::new());
    let (of, _) = checked.program().functions().next().expect("there is one");
    let values = [Value::Const(Const::I32(1)), Value::Const(Const::Bool(true))];
    // It reads a place before that is written: at times what it answers is right.
    for _ in 0..20 {
        alike(&checked, &module, of, &values, &Environment::default());
    }
}
