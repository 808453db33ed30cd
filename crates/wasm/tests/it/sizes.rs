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
