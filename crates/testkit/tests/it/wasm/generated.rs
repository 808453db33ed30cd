//! Random programs: what is written of them does what they do here.

use std::collections::BTreeMap;

use lmlang_interp::Environment;
use lmlang_ir::FuncRef;
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
