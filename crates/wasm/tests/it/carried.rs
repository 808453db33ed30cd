//! Operators that programs do not have and carry as they came.

use std::num::NonZeroUsize;

use lmlang_ir::RefAllocator;
use lmlang_ir::text::{Detail, parse_program, print_program};
use lmlang_verify::Checked;
use lmlang_wasm::{ExportError, ExportOptions, binary, export, export_alone, import, print};

/// Instructions in a function of such parameters and results: how they stand in a text, and in the program.
fn check(params: &str, results: &str, instructions: &str, expect: &[&str]) {
    let text = format!("(module (memory 1) (func (param {params}) (result {results}) {instructions}))");
    let program = import(&binary(&text).unwrap(), &mut RefAllocator::starting_at(1)).unwrap();
    let shown = print_program(&program, Detail::Summary);
    for line in &expect[1..] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    let checked = Checked::full(program.clone(), NonZeroUsize::MIN);
    let module = export(&checked, ExportOptions::default()).unwrap();
    assert!(print(&module).unwrap().contains(expect[0]), "{}", print(&module).unwrap());
    let again = import(&module, &mut RefAllocator::starting_at(1)).unwrap();
    let shown = print_program(&again, Detail::Summary);
    for line in &expect[1..] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    // What a function alone needs of memory comes along.
    let (function, _) = program.functions().next().unwrap();
    assert!(print(&export_alone(&checked, function).unwrap()).unwrap().contains(expect[0]));
}

#[test]
fn operators_of_other_proposals_are_carried() {
    let four = "(local.get 0) (local.get 1) (local.get 2) (local.get 3)";
    check(
        "i64 i64 i64 i64",
        "i64 i64",
        &format!("{four} i64.add128"),
        &["i64.add128", "raw \"fc13\" (i64, i64, i64, i64) -> (i64, i64) p0, p1, p2, p3"],
    );
    check(
        "i64 i64",
        "i64 i64",
        "(i64.mul_wide_u (local.get 0) (local.get 1))",
        &["i64.mul_wide_u", "raw \"fc16\" (i64, i64) -> (i64, i64)"],
    );
    check(
        "i32 i64",
        "i64",
        "(i64.atomic.rmw16.add_u offset=300 (local.get 0) (local.get 1))",
        &["i64.atomic.rmw16.add_u offset=300", "raw \"fe2301ac02\" (i32, i64) -> (i64)"],
    );
    // A truth value is a number again.
    check(
        "i32 i32",
        "i32",
        "(i32.atomic.store (i32.const 8) (i32.eqz (local.get 0))) (atomic.fence)
         (drop (memory.atomic.notify (local.get 0) (local.get 1))) (i32.const 1)",
        &[
            "i32.atomic.store",
            " \"fe170200\" (i32, i32) -> () 8, (extend_u.bool.i32",
            " \"fe0300\" () -> ()",
            "raw \"fe000200\" (i32, i32) -> (i32) p0, p1",
        ],
    );
    // What cannot be reached is left out, as any other.
    check(
        "i64",
        "i64",
        "(memory.discard (i32.const 0) (i32.const 0)) (return (local.get 0)) atomic.fence",
        &["memory.discard"],
    );
}

#[test]
fn what_is_no_such_operator_is_no_module() {
    let refused = |body: &str, memory: &str, expect: &str| {
        let text = format!("module m\n{memory}\nfunc f (a: i64, b: i32) -> () {{\n  {body}\n  return\n}}\n");
        let program = parse_program(&text, &mut RefAllocator::starting_at(1)).unwrap();
        match export(&Checked::full(program, NonZeroUsize::MIN), ExportOptions::default()) {
            Err(ExportError::Unsupported { path, what, .. }) => {
                assert!(path == "m::f" && what.contains(expect), "{body}: {what}");
            }
            other => panic!("{body}: {other:?}"),
        }
    };
    refused("raw \"ff\" () -> ()", "", "its bytes are no operator");
    refused("raw \"fe\" () -> ()", "", "its bytes are no operator");
    refused("raw \"fe0300fe0300\" () -> ()", "", "its bytes are no operator");
    refused(&format!("raw \"{}\" () -> ()", "fe".repeat(100)), "", "its bytes are no operator");
    refused("x = raw \"6a\" (i32, i32) -> (i32) b, b", "", "it is none of those that are carried");
    refused("raw \"0b\" () -> ()", "", "it is none of those that are carried");
    refused("x, y = raw \"fc16\" (i64) -> (i64, i64) a", "", "type mismatch");
    refused("x = raw \"fc16\" (i64, i64) -> (i64) a, a", "", "it takes or gives something else");
    refused("x, y = raw \"fc16\" (i64, i32) -> (i64, i64) a, b", "", "type mismatch");
    refused("x = raw \"fe100200\" (i32) -> (i32) b", "", "unknown memory 0");
    refused("x = raw \"fe10420100\" (i32) -> (i32) b", "memory one 1", "unknown memory 1");
    refused("raw \"fe0300\" (string) -> () \"a\"", "", "numbers");
}
