//! What is exported is imported again.

use serde_json::{Value, json};

use crate::world::World;

const TEXT: &str = "module m

type Shape#t2 = enum { dot#d3, line#d4(i64), box#d5(i64) }

type Point#t6 = struct { x#d7: i64, y#d8: i64 }

func half#f9 (n: i64) -> (i64) pure { return (div_s.i64 n, 2) }

func size#f10 (s: Shape, p: Point) -> (i64) {
  r#n11 = match s (dot, line, box) -> (i64) {
    case dot { yield 0 }
    case line (a: i64) { yield (call half(a)) }
    case box (a: i64) { yield (mul.i64 a, (struct.get Point.y p)) }
  }
  return r
}
";

/// Changes that leave `size` behind: in a callee, a field and a variant.
const EDITS: &str = r#"[
    {setSignature: {ref: "half", params: [{name: "n", type: "i64"}, {name: "by", type: "i64"}]}}
    {replaceType: {ref: "Shape", text: "type Shape#t2 = enum { dot#d3, line#d4(i64) }"}}
    {replaceType: {ref: "Point", text: "type Point#t6 = struct { x#d7: i64 }"}}
]"#;

async fn text(world: &World, name: &str) -> Value {
    let query = "query($name: String!) { program(name: $name) { text rootHash } }";
    world.data(query, json!({ "name": name })).await["program"].take()
}

#[tokio::test]
async fn a_program_with_something_left_behind_is_made_again_of_its_text() {
    let world = World::empty().await;
    world.create("p", TEXT).await;
    let query = format!(
        r#"mutation {{ proposeEdit(input: {{programId: "p", edits: {EDITS}}}) {{ outcome {{ __typename ... on EditApplied {{ warnings {{ code }} }} }} }} }}"#
    );
    let outcome = world.data(&query, json!({})).await["proposeEdit"]["outcome"].take();
    let warnings = &outcome["warnings"];
    let codes = warnings.as_array().expect("it is applied").iter().map(|one| one["code"].as_str());
    let codes: Vec<&str> = codes.flatten().collect();
    for code in ["ARITY_MISMATCH", "UNKNOWN_MEMBER"] {
        assert!(codes.contains(&code), "{codes:?}");
    }
    let first = text(&world, "p").await;
    let create = "mutation($text: String) { createProgram(input: {name: \"q\", text: $text}) {
        errors { code message line } warnings { code }
    } }";
    let made = world.data(create, json!({ "text": first["text"] })).await["createProgram"].take();
    assert_eq!(made["errors"], json!([]), "{}", first["text"]);
    assert_eq!(made["warnings"].as_array().map(Vec::len), Some(codes.len()));
    assert_eq!(text(&world, "q").await, first);
    // The text of a function alone is taken too, and what is mended in it is.
    let own = r#"{ program(name: "q") { function(name: "size") { text } } }"#;
    let own = world.data(own, json!({})).await["program"]["function"]["text"].take();
    let replace = "mutation($text: String!) { proposeEdit(input: {programId: \"q\", edits: [
        {replaceFunctionText: {ref: \"size\", text: $text}}
    ]}) { outcome { __typename ... on EditRejected { errors { code message } } ... on EditApplied { unchanged changed { modified } } } } }";
    let same = world.data(replace, json!({ "text": own })).await["proposeEdit"]["outcome"].take();
    assert_eq!(same, json!({"__typename": "EditApplied", "unchanged": true, "changed": {"modified": 0}}));
}

/// In a new text nothing can have been left behind by a change.
#[tokio::test]
async fn what_is_wrong_in_a_new_text_is_refused() {
    let world = World::empty().await;
    let create = "mutation($text: String) { createProgram(input: {name: \"q\", text: $text}) { errors { code line } } }";
    for (line, code) in [
        ("return (add.i64 a, 1)", "TYPE_MISMATCH"),
        ("return (call f(a))", "ARITY_MISMATCH"),
        ("x = struct.get P.d99 p\n  return a", "UNKNOWN_MEMBER"),
    ] {
        let text = format!(
            "module m\ntype P = struct {{ x: i64 }}\nfunc f (a: i32, p: P) -> (i32) {{\n  {line}\n}}\n"
        );
        let made = world.data(create, json!({ "text": text })).await["createProgram"].take();
        assert_eq!(made["errors"][0]["code"], code, "{line}: {made}");
    }
}
