//! Variables that may be read before they are assigned.

use lmlang_ir::text::parse_program;
use lmlang_ir::{FuncRef, RefAllocator};
use lmlang_testkit::config;
use lmlang_testkit::edits::structural;
use lmlang_testkit::generate::{Options, choices, programs};
use lmlang_verify::{Code, full, unassigned};
use proptest::prelude::*;

/// Checks which reads are found in a function with a condition `c` and variables `x` and `y`, by the names of their nodes.
#[track_caller]
fn check(body: &str, expected: &[&str]) {
    let text = format!("func f (c: bool, n: i32) -> () {{\n  var x: i32\n  var y: i32\n{body}\n}}\n");
    let program = parse_program(&text, &mut RefAllocator::starting_at(1)).expect("it reads");
    assert_eq!(full(&program).tally().errors, 0, "{text}");
    let of: FuncRef = program.functions().next().expect("there is one").0;
    let body = program.function(of).expect("it is there").body();
    let found: Vec<String> = unassigned(&program, of)
        .into_iter()
        .map(|one| {
            assert_eq!(one.code, Code::VariableUnassigned);
            assert!(!one.message(&program).contains("nothing"));
            let node = one.at.node().and_then(|node| body.node(node)).expect("it hangs on a node");
            node.name().map_or_else(String::new, ToString::to_string)
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn one_after_the_other() {
    check("a = var.get x\nvar.set x, n\nb = var.get x\nd = var.get y\nreturn", &["a", "d"]);
}

#[test]
fn on_all_ways_through_an_if() {
    check("if c {\nvar.set x, n\nyield\n} else {\nvar.set x, 1\nyield\n}\na = var.get x\nreturn", &[]);
    check("if c {\nvar.set x, n\nyield\n} else {\nyield\n}\na = var.get x\nreturn", &["a"]);
    check("if c {\nvar.set x, n\nyield\n} else {\nreturn\n}\na = var.get x\nreturn", &[]);
    check(
        "if c {\na = var.get x\nvar.set x, n\nyield\n} else {\nb = var.get x\nyield\n}\nreturn",
        &["a", "b"],
    );
}

#[test]
fn through_blocks_and_their_exits() {
    check("block L {\nbreak_if L c\nvar.set x, n\nyield\n}\na = var.get x\nreturn", &["a"]);
    check(
        "block L {\nvar.set x, n\nbreak_if L c\nvar.set y, n\nyield\n}\na = var.get x\nb = var.get y\nreturn",
        &["b"],
    );
    check("block L {\nblock M {\nvar.set x, n\nbreak L\n}\nyield\n}\na = var.get x\nreturn", &[]);
    check(
        "block L {\nblock M {\nbr_switch (break M, break L) n\n}\nvar.set x, n\nyield\n}\na = var.get x\nreturn",
        &["a"],
    );
}

#[test]
fn in_rounds_of_a_loop() {
    // The first round has nothing of those before.
    check(
        "loop L {\na = var.get x\nvar.set x, n\nbreak_if L c\ncontinue L\n}\nb = var.get x\nreturn",
        &["a"],
    );
    check("loop L {\nbreak_if L c\nvar.set x, n\ncontinue L\n}\na = var.get x\nreturn", &["a"]);
    check("var.set x, n\nloop L {\na = var.get x\nbreak_if L c\ncontinue L\n}\nreturn", &[]);
}

#[test]
fn in_cases() {
    check(
        "match n (0, 1, default) {\ncase 0 {\nvar.set x, n\nyield\n}\ncase 1 {\nreturn\n}\ndefault {\nvar.set x, 2\nyield\n}\n}\na = var.get x\nreturn",
        &[],
    );
    check(
        "match n (0, default) {\ncase 0 {\nvar.set x, n\nyield\n}\ndefault {\nyield\n}\n}\na = var.get x\nreturn",
        &["a"],
    );
}

#[test]
fn what_nothing_comes_to_reads_nothing() {
    check("block L {\nreturn\n}\na = var.get x\nunreachable", &[]);
}

proptest! {
    #![proptest_config(config())]

    /// It ends on any structure, and what it finds is in the function.
    #[test]
    fn any_structure_can_be_looked_at(generated in programs(Options::default()), mut choices in choices(120)) {
        let (mut program, mut refs) = (generated.program, generated.refs);
        while !choices.exhausted() {
            // A change that the structure does not allow changes nothing.
            drop(structural(&mut program, &mut refs, &mut choices));
        }
        for (of, function) in program.functions() {
            for found in unassigned(&program, of) {
                let read = found.at.node().and_then(|node| function.body().node(node));
                prop_assert!(read.is_some(), "{found:?}");
            }
        }
    }
}
