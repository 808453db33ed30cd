//! Modules that are large enough for threads to help.

use std::sync::Arc;

use lmlang_ir::{FuncRef, Function, RefAllocator};
use lmlang_wasm::{binary, import};

#[test]
fn threads_that_help_change_nothing() {
    let function = |at: usize| {
        format!(
            "(func (@name \"same\") (export \"e{at}\") (param $n i32) (param i64) (result i32) (local $sum i32)
              (block $out (loop $again
                (br_if $out (i32.eqz (local.get $n)))
                (local.set $sum (i32.add (local.get $sum) (i32.const {at})))
                (local.set $n (i32.sub (local.get $n) (i32.const 1)))
                (br $again)))
              (local.get $sum))"
        )
    };
    let functions: String = (0..300).map(function).collect();
    // A custom section alone makes a module large.
    let taken_in = |pad: usize| {
        let text = format!("(module {functions} (@custom \"pad\" \"{}\"))", "x".repeat(pad));
        let program = import(&binary(&text).unwrap(), &mut RefAllocator::starting_at(1)).unwrap();
        let hash = |(of, function): (FuncRef, &Arc<Function>)| (of, function.content_hash());
        program.functions().map(hash).collect::<Vec<_>>()
    };
    let alone = taken_in(1);
    assert_eq!(alone.len(), 300);
    assert_eq!(taken_in(100 << 10), alone);
}
