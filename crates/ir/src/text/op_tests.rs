use super::*;
use crate::types::Const;

#[track_caller]
fn check(text: &str) {
    let op = parse_op(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(print_op(&op), text);
    assert_eq!(parse_op(&print_op(&op)).as_ref(), Ok(&op));
}

#[track_caller]
fn check_error(text: &str, expect: &str) {
    assert_eq!(parse_op(text).expect_err(text).to_string(), expect);
}

#[test]
fn canonical_operators_read_back() {
    for text in [
        "add.i32",
        "extend_s.i8.i32",
        "const.i64 -9223372036854775808",
        "const.i64 9223372036854775807",
        "const.i8 -128",
        "const.bool true",
        "const.unit unit",
        "const.f64 nan",
        "const.f64 -nan:0x1",
        "const.f64 -inf",
        "const.f64 -0.0",
        "const.f64 5e-324",
        "const.f32 3.4028235e38",
        "const.f32 nan:0x200000",
        "const.f64 1.0",
        "const.string \"a\\n\\\"\\u{202e}é\"",
        "const.bytes b\"a\\00\\ff\\n\"",
        "select<array<option<t3>, 4>>",
        "call f7",
        "func.ref f7",
        "closure.new f7",
        "closure.call<(i32, ptr<t3>) -> (i64)>",
        "call_indirect v9<(i32) -> ()>",
        "var.get v3",
        "global.set v4",
        "memory.init v4",
        "load.i32",
        "load.i32 offset=4 align=1",
        "load8_u.i64",
        "load8_u.i64 align=2",
        "store.f64 align=2^200",
        "memory.size",
        "field_addr t3.d7",
        "struct.new t3",
        "struct.get t3.d7",
        "array.new<i32>",
        "array.get<i32, 3>",
        "enum.new option<i32>.some",
        "enum.new t3.d7",
        "enum.payload result<i32, string>.err",
        "enum.tag<t3>",
        "capture.get 2",
        "block",
        "loop L -> (i64)",
        "if -> (i64, f64)",
        "if \"odd label\"",
        "match L (0, -1, default) -> (string)",
        "match (t3.d7, option<i32>.none)",
        "match (default)",
        "match ()",
        "yield",
        "break n12",
        "continue_if n12",
        "br_switch (break n3, continue n4, return)",
        "raw \"fd0c\" (i32) -> (i32)",
        "string.format.f32",
    ] {
        check(text);
    }
}

#[test]
fn every_float_of_a_sample_reads_back() {
    for step in 0..2_000u64 {
        let bits = step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for value in [Const::F64(bits), Const::F32((bits >> 32) as u32)] {
            let op = Op::constant(value);
            assert_eq!(parse_op(&print_op(&op)).as_ref(), Ok(&op));
        }
    }
}

#[test]
fn literals_have_a_range() {
    check_error("const.i8 128", "1:10: BAD_LITERAL: `128` has no value in `i8`");
    check_error("const.i32 1.5", "1:11: BAD_LITERAL: `1.5` is no `i32`");
    check_error(
        "const.i64 99999999999999999999",
        "1:11: BAD_LITERAL: `99999999999999999999` has no value in `i64`",
    );
    check_error("const.f64 1e999", "1:11: BAD_LITERAL: `1e999` has no value in `f64`");
    check_error("const.i32 0x1_ffff_ffff", "1:11: BAD_LITERAL: `0x1ffffffff` has no value in `i32`");
    assert_eq!(parse_op("const.i32 0xffff_ffff"), parse_op("const.i32 -1"));
    assert_eq!(parse_op("const.i64 -0x8000000000000000"), parse_op("const.i64 -9223372036854775808"));
    assert_eq!(parse_op("const.f64 2"), parse_op("const.f64 2.0"));
    check_error("const.bool 1", "1:12: BAD_LITERAL: `1` is no `bool`");
    check_error("const.string \"a", "1:14: BAD_LITERAL: the text does not end");
}

#[test]
fn mistakes_name_what_is_known() {
    let error = parse_op("sbu.i32").expect_err("no operator");
    assert_eq!((error.code, error.candidates), (code::UNKNOWN_OP, vec!["sub.i32".to_owned()]));
    let error = parse_op("add.bool").expect_err("no type");
    assert_eq!(error.candidates, ["add.i32", "add.i64", "add.f32", "add.f64"]);
    check_error("call fib", "1:6: UNKNOWN_NAME: `fib` is no ref");
    check_error("call v3", "1:6: WRONG_KIND: expected a ref with the letter `f`, found `v3`");
    check_error("add.i32 x", "1:9: SYNTAX: expected the end of the text, found `x`");
    check_error("", "1:1: SYNTAX: expected an operator, found the end of the text");
    check_error("loop (i: i32)", "1:1: SYNTAX: parameters belong to the region of a loop");
    let deep = format!("select<{}i32{}>", "box<".repeat(100), ">".repeat(100));
    assert_eq!(parse_op(&deep).expect_err("too deep").code, code::TOO_DEEP);
}

#[test]
fn types_read_back() {
    for text in ["i32", "result<t3, closure<(i32) -> (never)>>", "array<ptr<box<bytes>>, 7>", "externref"] {
        assert_eq!(parse_type_refs(text).expect(text).to_string(), text);
    }
    assert_eq!(parse_type_refs("5").expect_err("no type").code, code::TYPE_EXPECTED);
}
