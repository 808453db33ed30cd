use serde_json::json;

use super::super::request::Tool;
use super::super::testing::{Acts, ask, joined, reply, request};
use super::*;

fn planned(repair: Repair) -> Request {
    let schema = json!({"type": "object", "properties": {"steps": {"type": "array", "items": {"type": "string"}}},
        "required": ["steps"]});
    let format = Format::JsonSchema { name: "plan".to_owned(), schema };
    Request { format, repair, ..request("plan") }
}

fn with_tool(repair: Repair) -> Request {
    let parameters = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
        "additionalProperties": false});
    let tool = Tool { name: "find".to_owned(), description: String::new(), parameters };
    Request { tools: vec![tool], repair, ..request("find it") }
}

async fn run(acts: Acts, request: &Request) -> (Result<Reply, ModelError>, Vec<Request>, String) {
    let acts = Arc::new(acts);
    let mut told = Vec::new();
    let reply = Checked::new(acts.clone()).complete(request, &mut |delta| told.push(delta)).await;
    (reply, acts.asked(), joined(&told))
}

async fn check_value(text: &str, expect: Value) {
    let (reply, asked, _) = run(Acts::new().says(text), &planned(Repair::Once)).await;
    assert_eq!((reply.unwrap().value, asked.len()), (Some(expect), 1), "{text}");
}

async fn check_problem(acts: Acts, request: &Request, expect: &str) {
    let (reply, _, _) = run(acts, request).await;
    let error = reply.unwrap_err();
    let ModelError::Mismatch(found) = &error else { panic!("{error}") };
    assert_eq!(Problem::list(&found.problems, "; "), expect);
}

#[tokio::test]
async fn what_fits_comes_with_its_value() {
    check_value("{\"steps\": []}", json!({"steps": []})).await;
    check_value("```json\n{\"steps\": [\"a\"]}\n```\n", json!({"steps": ["a"]})).await;
    check_value("```\n{\"steps\": []}```", json!({"steps": []})).await;
}

/// PUN-71: what a model answers is held against the schema that was asked for.
#[tokio::test]
async fn what_is_wrong_is_told_with_its_place() {
    let request = planned(Repair::Never);
    check_problem(Acts::new().says("{}"), &request, "\"steps\" is a required property").await;
    let text = "{\"steps\": [1]}";
    check_problem(Acts::new().says(text), &request, "at `/steps/0`: 1 is not of type \"string\"").await;
    let not = "it is not JSON: expected value at line 1 column 1";
    check_problem(Acts::new().says("Sure! {\"steps\": []}"), &request, not).await;
    let object = Request { format: Format::JsonObject, ..super::super::testing::request("x") };
    check_problem(Acts::new().says("[1]"), &object, "it is JSON, but no object").await;
}

/// PUN-12, PUN-71: a call that does not fit its tool is told, and goes no further.
#[tokio::test]
async fn calls_are_held_against_their_tools() {
    let request = with_tool(Repair::Never);
    let (reply, _, _) = run(Acts::new().calls("find", "{\"name\": \"f\"}"), &request).await;
    assert_eq!(reply.unwrap().tool_calls.len(), 1);
    let check = |name: &str, arguments: &str, expect: &'static str| {
        check_problem(Acts::new().calls(name, arguments), &request, expect)
    };
    check("look", "{}", "no tool is called `look`: there are `find`").await;
    check("find", "{}", "at `find`: \"name\" is a required property").await;
    check("find", "{\"name\": 1}", "at `find/name`: 1 is not of type \"string\"").await;
    check("find", "[]", "at `find`: the arguments are no object").await;
    check(
        "find",
        "{",
        "at `find`: the arguments are not JSON: EOF while parsing an object at line 1 column 1",
    )
    .await;
}

#[tokio::test]
async fn one_repair_is_made_where_it_may_be() {
    let acts = Acts::new().says("{}").says("{\"steps\": []}");
    let (answer, asked, told) = run(acts, &planned(Repair::Once)).await;
    let answer = answer.unwrap();
    assert_eq!((answer.value, answer.calls, answer.usage.input), (Some(json!({"steps": []})), 2, 20));
    assert_eq!(told, "{\"steps\": []}");
    let [_, repair] = &asked[..] else { panic!("{asked:?}") };
    let [_, said, told] = &repair.messages[..] else { panic!("{repair:?}") };
    assert_eq!(said.text(), "{}");
    assert!(told.text().contains("- \"steps\" is a required property\n"), "{}", told.text());

    let (answer, asked, _) = run(Acts::new().says("{}").says("no"), &planned(Repair::Once)).await;
    let error = answer.unwrap_err();
    let ModelError::Mismatch(found) = &error else { panic!("{error}") };
    assert_eq!((found.calls, found.usage.output, asked.len()), (2, 2, 2));
    let expect = "the answer is not what was asked for: it is not JSON: expected ident at line 1 column 2; it begins `no`";
    assert_eq!((error.code(), error.to_string().as_str()), ("MODEL_SCHEMA_MISMATCH", expect));
    assert!(!error.class().retriable());
}

#[tokio::test]
async fn an_answer_without_its_end_is_not_repaired() {
    let short = Reply { finish: Finish::Length, ..reply("{\"ste") };
    let (answer, asked, _) = run(Acts::new().replies(short), &planned(Repair::Once)).await;
    let error = answer.unwrap_err();
    assert_eq!(asked.len(), 1);
    assert!(
        error.to_string().starts_with("the answer is not what was asked for because its end is missing: ")
    );
}

#[tokio::test]
async fn a_call_with_a_mistake_is_repaired_as_text() {
    let acts = Acts::new().calls("find", "{").calls("find", "{\"name\": \"f\"}");
    let (answer, asked, _) = run(acts, &with_tool(Repair::Once)).await;
    assert_eq!(answer.unwrap().calls, 2);
    let expect = Message::Assistant { text: "(calls find with {)".to_owned(), tool_calls: Vec::new() };
    assert_eq!(asked[1].messages[1], expect);
}

#[tokio::test]
async fn a_schema_that_is_none_asks_nobody() {
    for schema in
        [json!({"type": "objekt"}), json!({"$ref": "https://example.com/x.json"}), json!({"pattern": "("})]
    {
        let format = Format::JsonSchema { name: "plan".to_owned(), schema };
        let asked = Request { format, ..request("x") };
        let error = ask(&Checked::new(Arc::new(Acts::new())), &asked).await.unwrap_err();
        assert_eq!(error.code(), "MODEL_SCHEMA_INVALID", "{error}");
    }
}

#[tokio::test]
async fn problems_are_bounded() {
    let steps: Vec<_> = (0..1_000).map(|number| json!(number)).collect();
    let text = json!({"steps": steps, "more": "x".repeat(100_000)}).to_string();
    let (answer, _, _) = run(Acts::new().says(&text), &planned(Repair::Never)).await;
    let error = answer.unwrap_err();
    let ModelError::Mismatch(found) = &error else { panic!("{error}") };
    assert_eq!(found.problems.len(), PROBLEMS);
    assert!(error.to_string().len() < 4_000);
}
