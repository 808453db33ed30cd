//! What one answer holds: texts, results and errors are bounded over all of it.

use std::fmt::Write;
use std::time::Duration;

use futures_util::StreamExt;
use lmlang_graphql::transport::Limits;
use serde_json::{Value, json};

use crate::world::{World, ask, soon, stream};

/// Blocks in blocks; each is printed with what is inside.
fn nested(blocks: usize) -> String {
    let (open, close) = ("block {\n".repeat(blocks), "yield\n}\n".repeat(blocks));
    format!("module m\nfunc f () -> () pure {{\n{open}{close}return\n}}\n")
}

/// A function that returns many numbers, and one that prints them.
const MANY: &str = "module n
func many (count: i32) -> (array<i8>) {
  grown = loop L (i: i32 = 0, a: array<i8> = (array.new<i8>)) -> (array<i8>) {
    break_if L (ge_s.i32 i, count), a
    continue L (add.i32 i, 1), (array.push<i8> a, 1)
  }
  return grown
}
func said (count: i32) -> () {
  loop L (i: i32 = 0) {
    break_if L (ge_s.i32 i, count)
    print \"said \"
    continue L (add.i32 i, 1)
  }
  return
}
";

fn codes(answer: &Value) -> Vec<&str> {
    let errors = answer["errors"].as_array().into_iter().flatten();
    errors.map(|error| error["extensions"]["data"]["which"].as_str().unwrap_or("another error")).collect()
}

#[tokio::test]
async fn texts_are_counted_over_an_answer() {
    let world = World::empty().await;
    world.create("p", &nested(300)).await;
    let limit = 1_000_000;
    let executor = world.under(Limits { text_of_answer: limit, ..Limits::default() });
    let query = r#"{ program(name: "p") { function(name: "m::f") { name nodes(first: 700) { nodes { ref text } } } } }"#;
    let answer = ask(&executor, query, json!({})).await;
    let nodes = answer["data"]["program"]["function"]["nodes"]["nodes"].as_array().expect("a page is there");
    assert_eq!(nodes.len(), 601);
    let printed: usize = nodes.iter().filter_map(|node| node["text"].as_str()).map(str::len).sum();
    assert!(printed > 0 && printed as u64 <= limit, "{printed} bytes of text");
    assert!(nodes.iter().all(|node| node["ref"].is_string()));
    assert!(
        codes(&answer).iter().filter(|which| **which == "textOfAnswer").count() >= 50,
        "{:?}",
        codes(&answer)
    );
    // Once it is too much nothing more is printed.
    let errors = answer["errors"].as_array().expect("there are errors");
    let told = errors.iter().map(|error| &error["extensions"]["data"]);
    let mut spent: Vec<u64> = told.filter_map(|data| data["actual"].as_u64()).collect();
    spent.dedup();
    assert_eq!(spent.len(), 1, "{spent:?}");
    // The next answer begins anew.
    let answer = ask(&executor, r#"{ program(name: "p") { text } }"#, json!({})).await;
    assert_eq!(answer.get("errors"), None);
}

#[tokio::test]
async fn results_are_counted_over_an_answer() {
    let world = World::empty().await;
    world.create("p", MANY).await;
    let executor = world.under(Limits { text_of_answer: 10_000, ..Limits::default() });
    let query = r#"{ program(name: "p") {
        many: function(name: "n::many") { ref
            large: simulate(input: {args: [5000]}) { steps outcome { ... on Returned { values } } } }
        said: function(name: "n::said") { ref large: simulate(input: {args: [5000]}) { stdout } }
    } }"#;
    let answer = ask(&executor, query, json!({})).await;
    assert_eq!(codes(&answer), ["textOfAnswer", "textOfAnswer"], "{answer}");
    let program = &answer["data"]["program"];
    assert_eq!(program["many"]["large"]["outcome"], Value::Null);
    assert!(program["many"]["large"]["steps"].as_u64() > Some(5_000), "its siblings are there: {program}");
    assert_eq!(program["said"]["large"], json!({"stdout": null}));
    assert!(program["many"]["ref"].is_string() && program["said"]["ref"].is_string(), "{program}");
    let query = r#"{ program(name: "p") { function(name: "n::many") { simulate(input: {args: [10]}) { outcome { __typename } } } } }"#;
    assert_eq!(ask(&executor, query, json!({})).await.get("errors"), None);
}

#[tokio::test]
async fn the_errors_of_a_program_are_counted() {
    let world = World::empty().await;
    let mut text = "module m\n".to_owned();
    for at in 0..1_500 {
        writeln!(text, "func given{at} (n: i32) -> (i64) {{ return n }}").expect("a string takes everything");
    }
    let query = "mutation($text: String!) { createProgram(input: {name: \"p\", text: $text}) { errors { code message } } }";
    let made = world.data(query, json!({ "text": text })).await;
    let errors = made["createProgram"]["errors"].as_array().expect("there are errors");
    assert_eq!((errors.len(), &errors[0]["code"]), (1_001, &json!("TYPE_MISMATCH")));
    assert_eq!(errors[1_000]["code"], "MORE_ERRORS");
    assert_eq!(errors[1_000]["message"], "500 more errors are not listed");
}

/// What is too much is left empty where nothing can be null, and told once.
fn only_error(answer: &Value, which: &str) {
    assert_eq!(codes(answer), [which], "{answer}");
    assert!(answer["data"].is_object(), "{answer}");
}

#[tokio::test]
async fn operators_and_words_are_counted_over_an_answer() {
    let world = World::empty().await;
    let said = "x".repeat(10_000);
    let text = format!("; {said}\nmodule m\nfunc f () -> () {{\n  print \"{said}\"\n  return\n}}\n");
    world.create("p", &text).await;
    let executor = world.under(Limits { text_of_answer: 15_000, ..Limits::default() });
    let query = r#"{ program(name: "p") { search(filter: {opcode: [CONST]}, first: 1) { nodes { ref a: op b: op c: op } } } }"#;
    let answer = ask(&executor, query, json!({})).await;
    only_error(&answer, "textOfAnswer");
    let node = &answer["data"]["program"]["search"]["nodes"][0];
    assert!(node["a"].as_str().is_some_and(|op| op.contains(&said)));
    assert_eq!((&node["b"], &node["c"]), (&json!(""), &json!("")));
    let query = r#"{ program(name: "p") { modules { nodes { name a: doc b: doc } } } }"#;
    let answer = ask(&executor, query, json!({})).await;
    only_error(&answer, "textOfAnswer");
    let module = &answer["data"]["program"]["modules"]["nodes"][0];
    assert_eq!((&module["name"], &module["b"]), (&json!("m"), &Value::Null));
}

#[tokio::test]
async fn the_items_of_lists_are_counted_over_an_answer() {
    let world = World::empty().await;
    let fields: String = (0..500).map(|at| format!("  x{at}: i64,\n")).collect();
    world.create("p", &format!("module m\ntype T = struct {{\n{fields}  y: i64\n}}\n")).await;
    let limits = Limits { complexity: 10_000, ..Limits::default() };
    let types: String = (0..30)
        .map(|at| format!("t{at}: types(first: 1) {{ nodes {{ fields {{ ref name }} }} }} "))
        .collect();
    let answer =
        ask(&world.under(limits), &format!("{{ program(name: \"p\") {{ {types} }} }}"), json!({})).await;
    only_error(&answer, "complexity");
    let found = answer["data"]["program"].as_object().expect("the program is there");
    let fields = |types: &Value| types["nodes"][0]["fields"].as_array().map_or(0, Vec::len);
    let answered: usize = found.values().map(fields).sum();
    assert!((4_000..=5_000).contains(&answered), "{answered} fields of types");
}

#[tokio::test]
async fn types_are_counted_over_an_answer() {
    let world = World::empty().await;
    let ty = format!("{}i8{}", "array<".repeat(50), ">".repeat(50));
    let params: Vec<String> = (0..50).map(|at| format!("p{at}: {ty}")).collect();
    world.create("p", &format!("module m\nfunc f ({}) -> () {{ return }}\n", params.join(", "))).await;
    let executor = world.under(Limits { text_of_answer: 4_000, ..Limits::default() });
    // With a directive the list is left to the library.
    for here in ["", "@include(if: true)"] {
        let query = format!(
            r#"{{ program(name: "p") {{ function(name: "m::f") {{ params {{ name {here} type }} }} }} }}"#
        );
        let answer = ask(&executor, &query, json!({})).await;
        only_error(&answer, "textOfAnswer");
        let params = answer["data"]["program"]["function"]["params"].as_array().expect("they are there");
        let shown = params.iter().filter(|param| param["type"] == ty).count();
        assert_eq!((params.len(), shown), (50, 4_000 / ty.len()), "{here}");
    }
}

#[tokio::test]
async fn names_are_counted_over_an_answer() {
    let world = World::empty().await;
    let long = "x".repeat(3_000);
    let functions: String = (0..5).map(|at| format!("func a{at}{long} () -> () {{ return }}\n")).collect();
    world
        .create("p", &format!("module m\n{functions}type T = struct {{ b{long}: i64, c{long}: i64 }}\n"))
        .await;
    let executor = world.under(Limits { text_of_answer: 10_000, ..Limits::default() });
    // With a directive the list is left to the library.
    for here in ["", "@include(if: true)"] {
        let query = format!(r#"{{ program(name: "p") {{ functions {{ nodes {{ ref name {here} }} }} }} }}"#);
        let answer = ask(&executor, &query, json!({})).await;
        only_error(&answer, "textOfAnswer");
        let functions = answer["data"]["program"]["functions"]["nodes"].as_array().expect("they are there");
        let shown = functions.iter().filter(|function| function["name"] != "").count();
        assert_eq!((functions.len(), shown), (5, 3), "{here}");
    }
    let query = r#"{ program(name: "p") { types { nodes { a: fields { name } b: fields { name } } } } }"#;
    only_error(&ask(&executor, query, json!({})).await, "textOfAnswer");
}

#[tokio::test]
async fn lists_inside_of_an_outcome_are_counted() {
    let world = World::empty().await;
    world.create("p", "module m\nfunc down (n: i64) -> (i64) {\n  return (call down n)\n}\n").await;
    let query = r#"{ program(name: "p") { function(name: "m::down") {
        simulate(input: {args: [1], limits: {callDepth: 500}}) { outcome { ... on LimitReached { limit stack { frame } } } }
    } } }"#;
    let frames = |answer: &Value| {
        let outcome = &answer["data"]["program"]["function"]["simulate"]["outcome"];
        assert_eq!(outcome["limit"], "depth", "{answer}");
        outcome["stack"].as_array().map_or(0, Vec::len)
    };
    let all = frames(&ask(&world.executor, query, json!({})).await);
    assert!(all > 100, "{all} frames");
    let answer = ask(&world.under(Limits { complexity: 100, ..Limits::default() }), query, json!({})).await;
    only_error(&answer, "complexity");
    assert_eq!(frames(&answer), 0);
}

#[tokio::test]
async fn each_event_of_a_subscription_is_counted_for_itself() {
    let world = World::empty().await;
    world.create("p", MANY).await;
    let edit = r#"mutation($message: String!) { proposeEdit(input: {programId: "p", message: $message, edits: [
        {setDoc: {ref: "n", doc: $message}}
    ]}) { outcome { __typename } } }"#;
    for length in [600, 700, 1_100, 800] {
        world.data(edit, json!({"message": "x".repeat(length)})).await;
    }
    let executor = world.under(Limits { text_of_answer: 1_000, ..Limits::default() });
    let query = r#"subscription { programEvents(programId: "p", after: "r1") {
        cursor ... on RevisionCommitted { revision { message } }
    } }"#;
    let events: Vec<Value> = soon(stream(&executor, query).take(4).collect()).await;
    for (event, length) in events.iter().zip([Some(600), Some(700), None, Some(800)]) {
        let found = &event["data"]["programEvents"];
        assert_eq!(found["revision"]["message"].as_str().map(str::len), length, "{event}");
        assert!(found["cursor"].is_string());
        assert_eq!(codes(event).len(), usize::from(length.is_none()), "{event}");
    }
}

#[tokio::test]
async fn a_streamed_run_is_counted_too() {
    let world = World::empty().await;
    world.create("p", MANY).await;
    let executor = world.under(Limits { text_of_answer: 1_000, ..Limits::default() });
    let query = r#"subscription { simulate(
        input: {programId: "p", function: "n::many", run: {args: [500]}}, batch: {maxEvents: 10000, maxLatencyMs: 10000}
    ) { steps { seq inputs outputs op } cursor status outcome { ... on Returned { values } } } }"#;
    let events: Vec<Value> = soon(stream(&executor, query).collect()).await;
    let (last, others) = events.split_last().expect("there are events");
    assert_eq!(codes(last), ["textOfAnswer"], "{last}");
    let end = &last["data"]["simulate"];
    assert_eq!((&end["status"], &end["outcome"]), (&json!("COMPLETED"), &Value::Null));
    assert!(others.iter().all(|event| event.get("errors").is_none()));
    let steps = |event: &Value| event["data"]["simulate"]["steps"].as_array().map_or(0, Vec::len);
    assert_eq!(json!(events.iter().map(steps).sum::<usize>()), end["cursor"]);
    let longest = others.iter().map(|event| event["data"]["simulate"]["steps"].to_string().len()).max();
    assert!(longest < Some(20_000), "{longest:?} bytes of steps in one event");
}

#[tokio::test]
async fn the_deadline_cuts_what_only_reads() {
    let world = World::empty().await;
    world.create("p", &nested(300)).await;
    let query = r#"{ program(name: "p") { function(name: "m::f") { nodes(first: 1000) { nodes {
        a: incoming { nodes { to { ref op } } } b: outgoing { nodes { to { ref op } } } owner { regions { nodes { ref } } }
    } } } } }"#;
    let executor = world.under(Limits {
        deadline: Duration::from_millis(30),
        complexity: 10_000_000,
        ..Limits::default()
    });
    let answer = ask(&executor, query, json!({})).await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "TIMEOUT", "{}", answer["data"].is_object());
    assert_eq!(answer.get("data"), None);
}
