//! Each code that an edit can be refused with: what it says of the place, and of what could stand there.
//!
//! The answers are in `snapshots`, a line each; `INSTA_UPDATE=always` writes them anew, to be read before they are
//! committed.

use std::collections::BTreeSet;

use lmlang_history::request;
use lmlang_ir::text;
use lmlang_verify::{Class, Code};
use serde_json::{Value, json};

use crate::world::World;

/// What the edits are about.
pub(crate) const PROGRAM: &str = r#"
module m#m1

type Point#t2 = struct { x#d3: i64, y#d4: i64 }

type Shape#t5 = enum { dot#d6, at#d7(Point) }

global limit#v8: i32 = 5

data words#v9 "abc"

export "f" func f#f10 (a: i64, b: i64) -> (i64) #g11 {
  var cell#v12: i64
  x#n13 = add.i64 a, b
  y#n14 = mul.i64 x, x
  return#n15 y
}

func adder#f16 [n: i64] (a: i64) -> (i64) pure { return (add.i64 a, (capture.get n)) }

func when#f17 (c: bool, s: Shape) -> (i64) pure #g18 {
  r#n19 = if c -> (i64) #g20 { yield 1 } else #g21 { yield 2 }
  return#n22 r
}

start func begin#f23 () -> () { return }

import "env" "outer" func outer#f24 () -> ()

module other#m25

func secret#f26 () -> () pure { return }
"#;

/// Inserts lines into `f`.
fn lines(lines: &str) -> Value {
    json!([{ "insertText": { "text": lines, "before": "n15" } }])
}

fn add(text: &str) -> Value {
    json!([{ "addText": { "module": "m", "text": text } }])
}

fn node(op: &str, inputs: &[&str]) -> Value {
    json!({ "insertNode": { "op": op, "inputs": inputs, "before": "n15" } })
}

/// Codes that no edit is refused with, and why.
const NEVER: &[(&str, &str)] = &[
    // What the text form, or the edit, refuses with a code of its own.
    ("UNKNOWN_SOURCE", "a source that is not there is an UNKNOWN_REF"),
    ("CODE_AFTER_TERMINATOR", "in edits it is AFTER_TERMINATOR"),
    ("REGION_COUNT", "the text form gives each node its regions"),
    ("REGION_ROLE", "the text form gives each node its regions"),
    ("UNKNOWN_TYPE", "a type that is not there is an UNKNOWN_REF"),
    ("UNKNOWN_STORAGE", "storage that is not there is an UNKNOWN_REF"),
    ("UNKNOWN_FUNCTION", "a function that is not there is an UNKNOWN_REF"),
    ("UNKNOWN_VARIABLE", "a variable that is not there is an UNKNOWN_REF"),
    ("UNKNOWN_REGION", "no edit takes a region from its owner"),
    ("REGION_NOT_OWNED", "no edit takes a region from its owner"),
    ("DUPLICATE_REGION", "no edit takes a region from its owner"),
    ("STRAY_REGION", "no edit takes a region from its owner"),
    ("CONTRACT_REGION", "no edit takes a region from its owner"),
    ("IMPORT_WITH_BODY", "a SYNTAX error of the text"),
    ("BODY_MISSING", "a SYNTAX error of the text"),
    ("UNKNOWN_MODULE", "a module that is not there is an UNKNOWN_REF"),
    ("GLOBAL_INITIAL", "a BAD_LITERAL of the text"),
    ("REF_TOO_LARGE", "edits give refs to nothing new"),
    ("MODULE_CYCLE", "no edit moves a module"),
    // What takes too much to bring about.
    ("REFS_EXHAUSTED", "2^48 refs"),
    ("TOO_LARGE", "a text of 4 GiB"),
    ("TOO_MANY_PORTS", "a request of 20,000 inputs"),
    ("PROMOTES_TOO_MUCH", "hundreds of variables in a thousand loops"),
    ("STRUCTURE", "what the other checks do not name"),
];

/// An edit for each code.
fn cases() -> Vec<(&'static str, Value)> {
    let verified = vec![
        ("PORT_GONE", lines("z = add.i64 x.1, 1")),
        ("TYPE_MISMATCH", lines("z = add.i32 x, 1")),
        (
            "NOT_IN_SCOPE",
            json!([{ "addEdge": { "from": "n14", "to": "n13", "targetPort": 0, "replace": true } }]),
        ),
        ("YIELD_OUTSIDE_NODE", add("func g (a: i64) -> (i64) { yield a }")),
        ("RETURN_IN_CONTRACT", add("func g (a: i64) -> () {\n  require \"a\" { return }\n  return\n}")),
        ("UNKNOWN_LABEL", lines("break_if n14 (eqz.i64 a)")),
        ("CONTINUE_NOT_LOOP", lines("block B { continue B }")),
        (
            "SWITCH_TARGETS_DIFFER",
            add(
                "func g (i: i32, x: i64) -> () {\n  z = block A -> (i64) { br_switch (break A, return) i (x) }\n  return\n}",
            ),
        ),
        (
            "INVARIANT_MISPLACED",
            json!([{ "addContract": { "ref": "f10", "kind": "INVARIANT", "message": "a", "text": "true" } }]),
        ),
        ("INPUT_COUNT", lines("z = add.i64 a, b, 5")),
        ("ARITY_MISMATCH", lines("z = call f(a)")),
        (
            "REGION_PARAMS",
            add(
                "func g (s: Shape) -> () pure {\n  match s {\n    case dot (p: i64) { yield }\n    default { yield }\n  }\n  return\n}",
            ),
        ),
        (
            "FIXED_LENGTH",
            add("func g (a: array<i32, 2>) -> (array<i32, 2>) { return (array.push<i32, 2> a, 3) }"),
        ),
        ("WRONG_TYPE_SHAPE", add("func g (s: Shape) -> () { z = struct.new Shape s\n  return }")),
        (
            "UNKNOWN_MEMBER",
            json!([
                { "replaceType": { "ref": "t2", "text": "type Point#t2 = struct { x#d3: i64 }" } },
                { "addText": { "module": "m", "text": "func g (p: Point) -> (i64) {\n  z = struct.get Point.d4 p\n  return z\n}" } }
            ]),
        ),
        ("UNKNOWN_CAPTURE", lines("z = capture.get 3")),
        ("WRONG_STORAGE", json!([node("global.get v9", &[])])),
        ("NO_REFERENCE", add("table hosts: i32 [null]")),
        ("GLOBAL_IMMUTABLE", lines("global.set limit, 1")),
        ("NOT_VISIBLE", lines("call secret#f26()")),
        ("CALL_NEEDS_CLOSURE", lines("z = call adder(1)")),
        (
            "MATCH_NOT_EXHAUSTIVE",
            add("func g (s: Shape) -> () pure {\n  match s {\n    case dot { yield }\n  }\n  return\n}"),
        ),
        (
            "DUPLICATE_CASE",
            add(
                "func g (d: i32) -> () pure {\n  match d (0, 0, default) {\n    case 0 { yield }\n    case 0 { yield }\n    default { yield }\n  }\n  return\n}",
            ),
        ),
        ("MIXED_CASES", json!([node("match (0, Shape.dot, default)", &["a"])])),
        ("MEMORY_MISSING", lines("z = load.i32 0")),
        ("ALIGNMENT_TOO_LARGE", add("memory main 1\nfunc g () -> (i32) { return (load.i32 align=8 0) }")),
        ("NO_PLAIN_LAYOUT", add("func g (p: ptr<string>) -> () { return }")),
        ("LIMITS_EXCEEDED", add("memory main 4 max 2")),
        ("DUPLICATE_MEMORY", add("memory one 1\nmemory two 1")),
        ("DUPLICATE_NAME", add("func f () -> () { return }")),
        ("DUPLICATE_EXPORT", add("export \"f\" func g () -> () { return }")),
        ("START_SIGNATURE", add("start func g (a: i64) -> () { return }")),
        ("RESERVED_SECTION", add("custom name b\"\"")),
        ("DUPLICATE_START", add("start func g () -> () { return }")),
        ("CONTRACT_NOT_BOOLEAN", add("func g (a: i64) -> () {\n  require \"a\" = add.i64 a, 1\n  return\n}")),
        (
            "VARIABLE_IN_CONTRACT",
            add(
                "func g (a: i64) -> () {\n  var v: i64\n  require \"a\" = eq.i64 (var.get v), 0\n  return\n}",
            ),
        ),
        ("EFFECT_EXCEEDS_BOUND", add("func g () -> () pure { print \"x\"\n  return }")),
        ("TYPE_CONTAINS_ITSELF", add("type Tree = struct { left: Tree }")),
        ("TYPE_WITHOUT_VALUES", add("type Nothing = struct { none: never }")),
    ];
    let texts = vec![
        ("SYNTAX", add("func g () -> () { return ")),
        ("UNKNOWN_NAME", lines("z = add.i64 xx, 1")),
        (
            "AMBIGUOUS_NAME",
            add(
                "func g () -> () { return }\nfunc g () -> () { return }\nfunc h () -> () { call g()\n  return }",
            ),
        ),
        ("UNKNOWN_OP", lines("z = ad.i64 a, b")),
        ("UNKNOWN_REF", json!([{ "removeNode": { "ref": "n16" } }])),
        ("NAME_LIKE_REF", lines("n5x = add.i64 a, b\nn5 = add.i64 a, b\ng5, z = call f(a, b)")),
        (
            "DUPLICATE_REF",
            json!([{ "replaceFunctionText": { "ref": "f10", "text": "func f#f10 (a: i64) -> (i64) { x#n13 = add.i64 a, a\n  y#n13 = add.i64 a, x\n  return y }" } }]),
        ),
        ("WRONG_KIND", json!([{ "renameFunction": { "ref": "n13", "name": "h" } }])),
        ("BAD_LITERAL", lines("z = add.i64 a, 1x")),
        (
            "LITERAL_WITHOUT_TYPE",
            json!([{ "replaceUses": { "ref": "n13", "with": "5" } }, { "insertText": { "text": "break_if n14 (eqz.i64 a), 1", "before": "n15" } }]),
        ),
        ("TYPE_EXPECTED", add("func g (a: 5) -> () { return }")),
        ("ARITY", lines("match a (0, default) { case 1 { yield } default { yield } }")),
        (
            "TOO_DEEP",
            add(&format!("func g (a: {}i32{}) -> () {{ return }}", "box<".repeat(300), ">".repeat(300))),
        ),
        ("DUPLICATE", lines("match a { default { yield } default { yield } }")),
        ("MISSING_REGION", lines("z = if (eqz.i64 a) -> (i64) { yield 1 }")),
        ("MISPLACED_RUN", add("; run: f(1, 2) == 9")),
        (
            "TOO_MANY_ERRORS",
            add(&format!("func g () -> () {{\n{}  return\n}}", "  z = ad.i64 1, 2\n".repeat(101))),
        ),
    ];
    let edits = vec![
        ("UNSUPPORTED", json!([{ "unwrap": { "ref": "n14", "as": "$x" } }])),
        (
            "DUPLICATE_NAME",
            json!([
                { "insertNode": { "as": "$k", "op": "const.i64 1", "function": "m::f" } },
                { "insertNode": { "as": "k", "op": "const.i64 1", "function": "m::f" } }
            ]),
        ),
        ("BAD_NAME", json!([{ "renameFunction": { "ref": "f10", "name": "n12" } }])),
        ("BAD_SOURCE", json!([node("add.i64", &["n13.70000", ""])])),
        ("BAD_HASH", json!([{ "replaceFunctionText": { "ref": "f10", "text": "", "ifHash": "abc" } }])),
        ("NO_SUCH_PORT", json!([{ "addEdge": { "from": "a", "to": "n14", "targetPort": 9 } }])),
        ("INPUT_TAKEN", json!([{ "addEdge": { "from": "a", "to": "n14", "targetPort": 0 } }])),
        ("NO_SUCH_EDGE", json!([{ "addControlEdge": { "from": "n19", "to": "n22", "branchIndex": 2 } }])),
        ("EDGE_DERIVED", json!([{ "removeEdge": { "ref": "n13.next" } }])),
        ("BAD_ANCHOR", json!([{ "insertNode": { "op": "const.i64 1" } }])),
        ("AFTER_TERMINATOR", json!([{ "insertNode": { "op": "const.i64 1", "after": "n15" } }])),
        ("TERMINATOR_EXISTS", json!([{ "insertNode": { "op": "unreachable", "function": "f10" } }])),
        ("HAS_USES", json!([{ "removeNode": { "ref": "n13" } }])),
        ("NOT_EMPTY", json!([{ "removeModule": { "ref": "m25" } }])),
        ("IN_SIGNATURE", json!([{ "removeType": { "ref": "t5", "cascade": true } }])),
        ("REGIONS_LOST", json!([{ "modifyNode": { "ref": "n19", "op": "add.i64" } }])),
        (
            "NOT_PROMOTABLE",
            json!([{ "insertNode": { "op": "var.set v12", "before": "n15" } }, { "promoteVar": { "ref": "v12" } }]),
        ),
        (
            "NO_ZERO",
            json!([
                { "addText": { "module": "m", "text": "func g () -> (box<i64>) {\n  var v: box<i64>\n  return v\n}" } },
                { "promoteVar": { "ref": "m::g::v" } }
            ]),
        ),
        (
            "IN_CONTRACT",
            json!([
                { "addContract": { "ref": "f10", "kind": "REQUIRE", "message": "a", "text": "z = eqz.i64 a\nyield z" } },
                { "demoteToVar": { "ref": "m::f::z" } }
            ]),
        ),
        ("NOT_TOGETHER", json!([{ "wrap": { "refs": ["n14", "n15"], "op": "block" } }])),
        (
            "NOT_EXTRACTABLE",
            json!([
                { "insertText": { "text": "var.set cell, x\nz = var.get cell", "before": "n14" } },
                { "extractFunction": { "refs": ["$z"], "name": "part" } }
            ]),
        ),
        (
            "NOT_INLINABLE",
            json!([
                { "insertNode": { "as": "c", "op": "call f24", "before": "n15" } },
                { "inlineCall": { "ref": "$c" } }
            ]),
        ),
        ("NOT_UNWRAPPABLE", json!([{ "unwrap": { "ref": "n19" } }])),
        ("MISSING_VALUE", json!([{ "replaceSubgraph": { "refs": ["n14"], "text": "z = mul.i64 a, 2" } }])),
        (
            "SHARED_EXIT",
            json!([
                { "insertText": { "text": "z = block A -> (i64) { br_switch (break A, return) 0 (x) }", "before": "n14" } },
                { "addResult": { "ref": "$z", "type": "i64", "default": "1" } }
            ]),
        ),
        ("BAD_PATTERN", json!([{ "replacePattern": { "pattern": "add.i64 $p, $q", "replacement": "$r" } }])),
        ("NO_MATCH", json!([{ "replacePattern": { "pattern": "sub.i64 $p, $q", "replacement": "$p" } }])),
        (
            "TOO_MANY_MATCHES",
            json!([{ "replacePattern": { "pattern": "mul.i64 $p, $p", "replacement": "$p", "limit": 0 } }]),
        ),
        (
            "PATCH_MALFORMED",
            json!([{ "applyTextPatch": { "patch": "--- a/m::f\n+++ b/m::f\n  return y\n@@\n*\n" } }]),
        ),
        (
            "PATCH_MISFIT",
            json!([{ "applyTextPatch": { "patch": "--- a/m::f\n+++ b/m::f\n@@ -2 +2 @@\n-  return none\n" } }]),
        ),
        ("MODULE_REQUIRED", json!([{ "addFunction": { "name": "g", "params": [], "results": [] } }])),
    ];
    verified.into_iter().chain(texts).chain(edits).collect()
}

/// An error in a line: place, code, message, and what it says besides.
fn shown(error: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let list =
        |value: &Value| value.as_array().into_iter().flatten().map(&text).collect::<Vec<_>>().join(" | ");
    let path: Vec<String> = error["path"].as_array().into_iter().flatten().map(&text).collect();
    let mut line = format!("  {} {}", error["editIndex"], path.join("."));
    if !error["line"].is_null() {
        line.push_str(&format!(" at {}:{}", error["line"], error["column"]));
    }
    line.push_str(&format!(": {}: {}", text(&error["code"]), text(&error["message"])));
    for name in ["expected", "candidates"] {
        if error[name] != json!([]) {
            line.push_str(&format!("; {name} {}", list(&error[name])));
        }
    }
    if !error["found"].is_null() {
        line.push_str(&format!("; found {}", text(&error["found"])));
    }
    for name in ["node", "port", "expectedType", "actualType"] {
        let fact = &error["details"][name];
        if !fact.is_null() {
            line.push_str(&format!("; {name} {}", text(fact)));
        }
    }
    line + "\n"
}

#[tokio::test]
async fn each_code_says_what_it_means() {
    let world = World::empty().await;
    world.create("p", PROGRAM).await;
    let query = "mutation($edits: [EditInput!]!) {
        proposeEdit(input: {programId: \"p\", dryRun: true, edits: $edits}) { outcome {
            __typename
            ... on EditRejected { errors {
                editIndex path code message line column expected found candidates
                details { node port expectedType actualType }
            } }
        } }
    }";
    let (mut told, mut seen) = (String::new(), BTreeSet::new());
    for (code, edits) in cases() {
        let answer = world.data(query, json!({ "edits": edits })).await;
        let outcome = &answer["proposeEdit"]["outcome"];
        let errors: Vec<&Value> = outcome["errors"].as_array().into_iter().flatten().collect();
        let (of_code, others): (Vec<&Value>, Vec<&Value>) =
            errors.into_iter().partition(|error| error["code"] == code);
        assert!(!of_code.is_empty(), "{code}: {outcome}");
        seen.extend(
            of_code.iter().chain(&others).filter_map(|error| error["code"].as_str()).map(str::to_owned),
        );
        told.push_str(&format!("{code}\n"));
        // Two are enough to see what they look like.
        of_code.into_iter().chain(others).take(2).for_each(|error| told.push_str(&shown(error)));
    }
    insta::assert_snapshot!("codes", told);
    let refusing = Code::ALL.iter().filter(|code| matches!(code.class(), Class::Error | Class::Stale));
    let all = refusing.map(|code| code.name()).chain(request::code::ALL.iter().copied());
    let untold: Vec<&str> = all
        .chain(text::code::ALL.iter().copied())
        .filter(|code| !seen.contains(*code) && NEVER.iter().all(|(never, _)| never != code))
        .collect();
    assert_eq!(untold, [""; 0], "no edit is refused with these");
    let never: Vec<&str> = NEVER.iter().map(|(code, _)| *code).filter(|code| seen.contains(*code)).collect();
    assert_eq!(never, [""; 0], "an edit is refused with these");
}
