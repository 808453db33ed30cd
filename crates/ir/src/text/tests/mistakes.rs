//! What mistakes say and offer.

use super::*;

/// The candidates of the first mistake of a text.
#[track_caller]
fn check_candidates(text: &str, message: &str, expect: &[&str]) {
    let errors = parse_program(text, &mut RefAllocator::starting_at(1)).expect_err(text);
    assert_eq!(errors[0].message, message, "{text}");
    assert_eq!(errors[0].candidates, expect, "{text}");
}

#[test]
fn a_name_that_is_unknown_lists_those_that_are_known() {
    let lines = |lines: &str| format!("func f (count: i32, zeta: i32) -> () {{\n  {lines}\n  return\n}}\n");
    let message = "there is no value `cuont` here";
    check_candidates(&lines("alpha = add.i32 cuont, 1"), message, &["count", "zeta"]);
    let many: Vec<String> = (0..20).map(|index| format!("x{index} = memory.size")).collect();
    let text = lines(&format!("{}\n  y = add.i32 cuont, 1", many.join("\n  ")));
    let expect = ["count", "x0", "x1", "x10", "x11", "x12", "x13", "x14", "x15", "x16"];
    check_candidates(&text, message, &expect);
    check_candidates(&lines("block L { break M }"), "there is no label `M` around", &["L"]);
    check_candidates(&lines("var cell: i32\n  var.set x 1"), "there is no variable `x`", &["cell"]);
    check_candidates(&lines("call g()"), "there is no function `g`", &["f"]);
}

#[test]
fn types_that_there_are_not_name_those_that_are_meant() {
    let param = |ty: &str| format!("type Point = struct {{ x: f64 }}\nfunc f (x: {ty}) -> () {{ return }}\n");
    check_candidates(&param("int"), "there is no type `int`", &["i32", "i64", "Point"]);
    check_candidates(&param("Pont"), "there is no type `Pont`", &["Point"]);
    check_candidates(&param("[i32]"), "expected a type, found `[`", &["array<i32>"]);
    check_candidates(&param("[f64, 4]"), "expected a type, found `[`", &["array<f64, 4>"]);
    check_candidates(&param("Vec<i32>"), "there is no type `Vec<..>`", &["array<T>"]);
}

#[test]
fn what_other_languages_write_is_one_mistake() {
    let body = |lines: &str| format!("func f (x: i32) -> () {{\n  {lines}\n  return\n}}\n");
    check_mistakes(
        &format!("// one, two {{\n{}", body("y = add.i32 x, 1 // three (\n  // four")),
        &["1:1: SYNTAX: a comment begins with `;`"],
    );
    check_mistakes(
        &body("match x {\n    case 42, 43 { yield }\n    case 44 { yield }\n    default { yield }\n  }"),
        &["3:12: SYNTAX: a region is that of one case: each case has its own"],
    );
    check_mistakes(
        &body("match x (42, 43, default) {\n    case 42, 43 { yield }\n    default { yield }\n  }"),
        &["3:12: SYNTAX: a region is that of one case: each case has its own"],
    );
    check_mistakes(
        &body("y = add.i32 x, i64:5"),
        &["2:18: BAD_LITERAL: a literal takes its type from its place, or is written `(const.i64 5)`"],
    );
    check_mistakes(
        "type Tok = enum { num, end }\nfunc f (t: Tok) -> () {\n  a = enum.new Tok::num\n  return\n}\n",
        &["3:16: SYNTAX: a dot stands before a member: `Tok.num`"],
    );
    check_mistakes(
        "type Tok = enum { num, end }\nfunc f (t: Tok) -> () {\n  match t {\n    case Tok::num { yield }\n    default { yield }\n  }\n  return\n}\n",
        &["4:10: SYNTAX: a dot stands before a member: `Tok.num`"],
    );
}

#[test]
fn a_name_like_a_ref_is_told_with_another() {
    check_candidates("func d0 () -> () { return }\n", "`d0` looks like a ref and cannot be a name", &["d0_"]);
    let mut program = parsed("module m\n");
    let text = "func f () -> () {\n  n5 = memory.size\n  return\n}\n";
    let errors = add_text(&mut program, &mut RefAllocator::starting_at(10), None, text).expect_err(text);
    assert_eq!((errors[0].code, &errors[0].candidates), (code::UNKNOWN_REF, &vec!["n5_".to_owned()]));
    assert!(errors[0].expected[0].contains("mtdfgvkn"));
}
