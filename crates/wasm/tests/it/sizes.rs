//! What is written of a module that came in is as large as that was, where nothing was changed.

use std::num::NonZeroUsize;

use lmlang_ir::RefAllocator;
use lmlang_verify::Checked;
use lmlang_wasm::{ExportOptions, binary, export, import, print};

/// A module, and what is written of it.
fn again(text: &str) -> (Vec<u8>, Vec<u8>) {
    let module = binary(text).unwrap();
    let program = import(&module, &mut RefAllocator::starting_at(1)).unwrap();
    let written = export(&Checked::full(program, NonZeroUsize::MIN), ExportOptions::default()).unwrap();
    (module, written)
}

#[test]
fn what_compilers_write_is_as_large_again() {
    let check = |body: &str| {
        let text = format!(
            "(module (func $f0 (export \"f\") (param $a i32) (param $b i32) (param $p i32) (result i32) {body}))"
        );
        let (module, written) = again(&text);
        let (written, was) = (written.len(), module.len());
        assert!(written <= was, "{written} bytes, {was} before: {body}");
    };
    let less = "(i32.lt_s (local.get $a) (local.get $b))";
    let more = "(i32.gt_u (local.get $b) (local.get $p))";
    // Truth values as numbers, one and several.
    check(less);
    check(&format!("(i32.and {less} {more})"));
    check(&format!("(i32.or (i32.and {less} {more}) (i32.xor {more} (i32.eqz (local.get $p))))"));
    check(&format!("(if (i32.and {less} {more}) (then (return (i32.const 1)))) (i32.const 2)"));
    check(&format!("(i32.add {less} (i32.add {more} {less}))"));
    check(&format!("(block $l (br_if $l (i32.and {less} {more})) (return (i32.const 1))) (i32.const 2)"));
    check(&format!("(select (i32.const 7) (i32.const 8) (i32.and {less} {more}))"));
    // Counting and adding up, as loops do.
    check(
        "(loop $l (local.set $a (i32.add (local.get $a) (i32.const 1)))
           (br_if $l (i32.lt_s (local.tee $b (i32.sub (local.get $b) (i32.const 1))) (local.get $p))))
         (local.get $a)",
    );
}

/// A module that comes out as it went in, byte by byte.
#[track_caller]
fn same(text: &str) {
    let (module, written) = again(text);
    let [was, is] = [&module, &written].map(|module| print(module).unwrap());
    assert!(written == module, "{is}\n{was}");
}

#[test]
fn what_a_loop_takes_goes_to_its_variables_at_once() {
    same(
        "(module (func (export \"sum\") (param i64) (result i64) (local i64 i64)
           i64.const 0
           i64.const 0
           loop (param i64 i64)
             local.set 1
             local.tee 2
             i64.const 1
             i64.add
             local.get 1
             local.get 2
             i64.add
             local.get 2
             local.get 0
             i64.lt_u
             br_if 0
             drop
             drop
           end
           local.get 1))",
    );
}

#[test]
fn several_results_go_to_variables_at_once() {
    same(
        "(module
           (func (export \"both\") (param i32) (result i32 i32) local.get 0 i32.const 1)
           (func (export \"sum\") (result i32) (local i32 i32)
             i32.const 5
             call 0
             local.set 0
             local.set 1
             local.get 0
             local.get 1
             local.get 0
             i32.mul
             i32.sub)
           (func (export \"again\") (result i32 i32) i32.const 5 call 0))",
    );
}

#[test]
fn what_is_set_and_got_at_once_stays_on_the_stack() {
    // Before it comes a constant, a parameter, and both.
    for (first, then) in [
        ("i32.const 7", "i32.sub"),
        ("local.get 0", "i32.sub"),
        ("i32.const 7 local.get 0", "i32.xor i32.sub"),
        ("i32.const 7", "i32.const 1 i32.and i32.sub"),
    ] {
        same(&format!(
            "(module (func (export \"f\") (param i32) (result i32) (local i32)
               {first}
               local.get 0
               i32.const 3
               i32.mul
               local.tee 1
               {then}
               local.get 1
               i32.add))"
        ));
    }
}

#[test]
fn locals_of_a_type_stand_together() {
    same(
        "(module (func (export \"f\") (param f64 i32) (local i32 i32 i64 i64)
           i64.const 1
           local.set 4
           i32.const 2
           local.set 2
           i64.const 3
           local.set 5
           i32.const 4
           local.set 3))",
    );
}

#[test]
fn locals_that_are_used_most_have_short_numbers() {
    let sets: String = (0..200).map(|local| format!("(local.set {local} (i32.const 1))")).collect();
    let gets = "(local.set 0 (i32.add (local.get 1) (local.get 199)))".repeat(20);
    let locals = "i32 ".repeat(200);
    let (module, written) = again(&format!("(module (func (local {locals}) {sets} {gets}))"));
    // The number of the last one takes a byte less in 21 places, and that of another one a byte more in one.
    assert_eq!(module.len() - written.len(), 20, "{}", print(&written).unwrap());
}

#[test]
fn a_function_is_left_by_a_branch() {
    same(
        "(module (global (mut i32) (i32.const 0))
           (func (export \"f\") (param i32)
             local.get 0
             br_if 0
             block
               local.get 0
               i32.eqz
               br_if 1
               i32.const 1
               global.set 0
             end
             i32.const 2
             global.set 0))",
    );
}

#[test]
fn what_is_exported_is_not_named_once_more() {
    same(
        "(module
           (memory (export \"memory\") 1)
           (global (export \"count\") (mut i32) (i32.const 3))
           (table (export \"handlers\") 1 funcref))",
    );
    same("(module (import \"env\" \"memory\" (memory 1)) (import \"env\" \"base\" (global i32)))");
}
