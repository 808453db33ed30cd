use super::*;
use crate::entities::{Field, Module, Shape, TypeDef, VariantDef, Visibility};
use crate::refs::{MemberRef, ModuleRef};

fn program() -> Program {
    let mut program = Program::new();
    let module = ModuleRef::new(1).expect("in range");
    let record = Module {
        name: "demo".into(),
        parent: None,
        visibility: Visibility::Public,
        doc: None,
        trailer: None,
    };
    program.add_module(module, record).expect("fresh");
    let field = |number, name: &str| Field {
        member: MemberRef::new(number).expect("in range"),
        name: name.into(),
        ty: Type::F64,
        doc: None,
    };
    let def = |name: &str, shape| TypeDef {
        name: name.into(),
        module,
        visibility: Visibility::Public,
        shape,
        doc: None,
    };
    let point = TypeRef::new(2).expect("in range");
    let fields = vec![field(3, "x"), field(4, "odd name")];
    program.add_type(point, def("Point", Shape::Struct(fields))).expect("fresh");
    let variant = |number, name: &str, payload| VariantDef {
        member: MemberRef::new(number).expect("in range"),
        name: name.into(),
        payload,
        doc: None,
    };
    let variants = vec![variant(6, "at", Some(Type::Named(point))), variant(7, "nowhere", None)];
    program.add_type(TypeRef::new(5).expect("in range"), def("Place", Shape::Enum(variants))).expect("fresh");
    program
}

#[track_caller]
fn check(ty: &str, text: &str, printed: &str) {
    let program = program();
    let ty = crate::text::parse_type_refs(ty).expect("a type");
    let value = parse_value(&program, &ty, text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(value.ty(), ty);
    assert_eq!(print_value(&program, &value), printed);
    assert_eq!(parse_value(&program, &ty, printed), Ok(value.clone()));
    let by_refs = print_value_by_refs(&program, &value);
    assert!(!["Point", "Place", "odd name"].iter().any(|name| by_refs.contains(name)), "{by_refs}");
    assert_eq!(parse_value(&program, &ty, &by_refs), Ok(value));
}

#[test]
fn values_read_back() {
    check("i64", "9007199254740993", "i64:9007199254740993");
    check("i64", "i64:-5", "i64:-5");
    check("f64", "f64:nan", "f64:nan");
    check("f64", "f64:-nan:0x1", "f64:-nan:0x1");
    check("f64", "-0.0", "f64:-0");
    check("f32", "0.1", "f32:0.1");
    check("bool", "true", "bool:true");
    check("unit", "unit", "unit");
    check("string", "\"a\\u{0}b\"", "\"a\\u{0}b\"");
    check("bytes", "hex\"00ff\"", "b\"\\00\\ff\"");
    check("array<i32>", "[i32: 1, 2]", "[i32: 1, 2]");
    check("array<i64>", "[i64:1, i64:2]", "[i64: 1, 2]");
    check("array<i32>", "[]", "[i32:]");
    check("array<i32, 2>", "[1, 2]", "[i32, 2: 1, 2]");
    check("array<array<i32>>", "[[1], []]", "[array<i32>: [1], []]");
    check("t2", "{\"odd name\": 2.5, x: 1}", "Point{x: 1, \"odd name\": 2.5}");
    check("t2", "demo::Point{x: f64:1, d4: 2}", "Point{x: 1, \"odd name\": 2}");
    check("array<t2>", "[Point{x: 1, d4: inf}]", "[Point: Point{x: 1, \"odd name\": inf}]");
    check("t5", "at({x: 1, d4: 2})", "Place.at(Point{x: 1, \"odd name\": 2})");
    check("t5", "demo::Place.nowhere", "Place.nowhere");
    check("option<t5>", "some(nowhere)", "option<Place>.some(nowhere)");
    check("option<i32>", "none", "option<i32>.none");
    check("result<i32, string>", "err(\"e\")", "result<i32, string>.err(\"e\")");
    check("box<i32>", "box(5)", "box<i32>(5)");
    check("ptr<i32>", "ptr<i32>:1024", "ptr<i32>:1024");
    check("funcref", "null", "funcref:null");
    check("externref", "null", "externref:null");
}

#[test]
fn mistakes_in_values_have_a_place() {
    let check = |ty: &str, text: &str, expect: &str| {
        let ty = crate::text::parse_type_refs(ty).expect("a type");
        let error = parse_value(&program(), &ty, text).expect_err(text);
        assert_eq!(error.to_string(), expect);
    };
    check("i8", "300", "1:1: BAD_LITERAL: `300` has no value in `i8`");
    check("t2", "Point{x: 1}", "1:11: ARITY: the field `odd name` is missing");
    check("t2", "{x: 1, x: 2}", "1:8: DUPLICATE: the field `x` stands here twice");
    check("t2", "Place{x: 1}", "1:1: BAD_LITERAL: expected a value of `Point`, found one of `Place`");
    check("i8", "+5", "1:1: SYNTAX: unexpected `+`");
    check("array<i32, 2>", "[1]", "1:1: ARITY: expected 2 elements, found 1");
    check("array<i32>", "[f64: 1]", "1:2: BAD_LITERAL: expected a value of `i32`, found one of `f64`");
    check("option<i32>", "maybe", "1:1: UNKNOWN_NAME: `option<i32>` has no variant `maybe`");
    check("i32", "", "1:1: SYNTAX: expected a value of `i32`, found the end of the text");
    check("i32", "i64:5", "1:1: BAD_LITERAL: expected a value of `i32`, found one of `i64`");
    check("string", "[\"a\"]", "1:1: SYNTAX: expected a value of `string`, found `[`");
    check("array<string>", "\"a\"", "1:1: SYNTAX: expected a value of `array<string>`, found `\"a\"`");
    check("array<t2>", "5", "1:1: SYNTAX: expected a value of `array<Point>`, found `5`");
    check("t2", "f64:5", "1:1: BAD_LITERAL: expected a value of `Point`, found one of `f64`");
    check("i32", "1 2", "1:3: SYNTAX: expected the end of the text, found `2`");
}

#[test]
fn deep_values_print() {
    let mut value = Value::Const(Const::I32(1));
    for _ in 0..10_000 {
        let ty = Type::I32;
        value = Value::Box(Arc::new(ty), Box::new(value));
    }
    assert!(print_value(&Program::new(), &value).len() > 40_000);
    // Dropping is recursive: take it apart.
    while let Value::Box(_, inner) = value {
        value = *inner;
    }
}

#[test]
fn what_is_no_value_is_told_without_operators() {
    let error = parse_value(&program(), &Type::Scalar(Scalar::I8), "+5").expect_err("there is no such sign");
    assert_eq!((error.expected, error.candidates), (Vec::new(), Vec::new()));
}
