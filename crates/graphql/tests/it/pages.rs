//! The pages about codes: each example has its code, and repaired it has none.

use lmlang_graphql::error::Code;
use lmlang_graphql::schema::code_page;
use lmlang_history::request;
use lmlang_ir::{CodePage, Trap, text};
use serde_json::{Value, json};

use crate::codes::PROGRAM;
use crate::world::World;

/// Codes in an answer: of errors, of mistakes and of findings.
fn codes(answer: &Value) -> Vec<&str> {
    match answer {
        Value::Object(fields) => {
            let own = fields.get("code").and_then(Value::as_str);
            own.into_iter().chain(fields.values().flat_map(codes)).collect()
        }
        Value::Array(items) => items.iter().flat_map(codes).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// What is wrong with a page, given the answers to its example and to what that should be.
fn judge(page: CodePage, wrong: &Value, repaired: &Value) -> Option<String> {
    let (found, left) = (codes(wrong), codes(repaired));
    let holds = found.contains(&page.code) && left.is_empty();
    (!holds).then(|| format!("{}: {found:?}, repaired {left:?}\n{wrong}\n{repaired}", page.code))
}

/// The answers to the examples of the pages that are not in words, by a way of asking.
async fn check(pages: impl Iterator<Item = CodePage>, ask: impl AsyncFn(&str) -> Value) -> usize {
    let (mut failures, mut count) = (Vec::new(), 0);
    for page in pages {
        let Some(repaired) = page.repaired else { continue };
        failures.extend(judge(page, &ask(page.example).await, &ask(repaired).await));
        count += 1;
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    count
}

#[tokio::test]
async fn examples_of_texts_have_their_code_and_repaired_none() {
    let world = World::empty().await;
    let ask = async |given: &str| {
        let name = format!("p-{}", uuid::Uuid::new_v4());
        let query =
            "mutation($name: String!, $text: String) { createProgram(input: {name: $name, text: $text}) {
            errors { code message } warnings { code message }
        } }";
        world.data(query, json!({ "name": name, "text": given })).await
    };
    let verified = lmlang_verify::Code::ALL.iter().map(|code| code.page());
    let count = check(verified.chain(text::code::PAGES.iter().copied()), ask).await;
    assert!(count > 55, "only {count} pages have an example that can be tried");
}

#[tokio::test]
async fn examples_of_edits_have_their_code_and_repaired_none() {
    let world = World::empty().await;
    world.create("p", PROGRAM).await;
    let ask = async |given: &str| {
        let query = format!(
            r#"mutation {{ proposeEdit(input: {{programId: "p", dryRun: true, edits: [{given}
]}}) {{ outcome {{
                ... on EditRejected {{ errors {{ code message }} }}
            }} }} }}"#
        );
        world.data(&query, json!({})).await
    };
    let count = check(request::code::PAGES.iter().copied(), ask).await;
    assert!(count > 18, "only {count} pages have an example that can be tried");
}

#[tokio::test]
async fn examples_of_traps_have_their_code_and_repaired_none() {
    let world = World::empty().await;
    let ask = async |given: &str| {
        let name = format!("p-{}", uuid::Uuid::new_v4());
        world.create(&name, given).await;
        let query = "query($name: String) { program(name: $name) { function(name: \"f\") { simulate(input: {args: []}) {
            outcome { __typename ... on Trapped { code message } }
        } } } }";
        let answer = world.data(query, json!({ "name": name })).await;
        let outcome = &answer["program"]["function"]["simulate"]["outcome"]["__typename"];
        assert!(outcome == "Returned" || outcome == "Trapped", "{given}: {answer}");
        answer
    };
    assert_eq!(check(Trap::ALL.map(Trap::page).into_iter(), ask).await, Trap::ALL.len());
}

#[tokio::test]
async fn examples_of_requests_have_their_code_and_repaired_none() {
    let world = World::empty().await;
    world.create("p", PROGRAM).await;
    let ask = async |given: &str| world.ask(given, json!({})).await;
    let count = check(Code::ALL.map(code_page::of_request).into_iter(), ask).await;
    assert!(count > 5, "only {count} pages have an example that can be tried");
}

#[tokio::test]
async fn every_code_has_a_page_that_is_found_however_it_is_written() {
    let world = World::empty().await;
    let query = "query($code: String!) { diagnosticCode(code: $code) { code title meaning example repair repaired } }";
    let verified = lmlang_verify::Code::ALL.iter().map(|code| code.name());
    let others = request::code::ALL.iter().chain(text::code::ALL).copied();
    let traps = Trap::ALL.map(Trap::code);
    for code in verified.chain(others).chain(traps).chain(Code::ALL.map(Code::as_str)) {
        let page = world.data(query, json!({ "code": code.to_lowercase() })).await["diagnosticCode"].take();
        assert_eq!(page["code"], code);
        for part in ["title", "meaning", "example", "repair"] {
            assert_ne!(page[part], "", "{code}");
        }
    }
    let answer = world.ask(query, json!({ "code": "TYPE_MISMATCHED" })).await;
    let data = &answer["errors"][0]["extensions"]["data"];
    assert_eq!(data["candidates"], json!(["TYPE_MISMATCH"]), "{answer}");
}
