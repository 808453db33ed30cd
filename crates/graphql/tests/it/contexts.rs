//! Contexts over the API: what was left out can be asked for, and tokens hold from one revision, and process, to another.

use serde_json::{Value, json};

use crate::world::World;

const CONTEXT: &str = "query($input: ContextInput!) { program(name: \"world\") { context(input: $input) {
  text tokensUsed token complete stages changedSince included { ref kind stage } omitted { what count howToAsk }
} } }";

async fn context(world: &World, input: Value) -> Value {
    let answer = world.ask(CONTEXT, json!({ "input": input })).await;
    assert_eq!(answer.get("errors"), None);
    answer["data"]["program"]["context"].clone()
}

/// Requirement CUE-43: what was left out is had by what the answer says, and has the hash that the text told.
#[tokio::test]
async fn what_is_left_out_can_be_asked_for() {
    let world = World::new().await;
    let whole = context(&world, json!({ "focus": ["world"], "budgetTokens": 5000 })).await;
    assert_eq!((&whole["complete"], &whole["omitted"]), (&json!(true), &json!([])));
    let (mut asked, mut hashes) = (0, 0);
    let used = whole["tokensUsed"].as_i64().unwrap();
    for budget in (used / 4..used).step_by(23) {
        let pack = context(&world, json!({ "focus": ["world"], "budgetTokens": budget })).await;
        assert!(pack["tokensUsed"].as_i64().unwrap() <= budget);
        assert_eq!(pack["complete"], pack["omitted"].as_array().unwrap().is_empty());
        let text = pack["text"].as_str().unwrap();
        for omitted in pack["omitted"].as_array().unwrap() {
            let answer = world.ask(omitted["howToAsk"].as_str().unwrap(), json!({})).await;
            assert_eq!(answer.get("errors"), None, "{omitted}");
            for node in answer["data"]["nodes"].as_array().unwrap() {
                asked += 1;
                assert!(
                    !node["text"].as_str().unwrap_or_default().is_empty() || node["id"].is_string(),
                    "{omitted}"
                );
                let Some(hash) = node["contentHash"].as_str() else { continue };
                if omitted["what"].as_str().unwrap().starts_with("the body of") {
                    hashes += 1;
                    assert!(text.contains(&format!("hash {}", &hash[..16])), "{text}");
                }
            }
        }
    }
    assert!(asked > 10 && hashes > 1, "{asked} {hashes}");
}

#[tokio::test]
async fn a_token_holds_over_edits_and_restarts_and_for_one_program_only() {
    let world = World::new().await;
    let first = context(&world, json!({ "focus": ["world::total"], "budgetTokens": 3000 })).await;
    let since = json!({ "focus": ["world::total"], "budgetTokens": 3000, "since": first["token"] });
    let same = context(&world, since.clone()).await;
    assert_eq!((&same["changedSince"], &same["included"]), (&json!([]), &json!([])));
    let edit = r#"mutation { proposeEdit(input: {programId: "world", edits: [
      {addText: {module: "world", text: "pub func user (n: i64) -> (i64) {\n  t = call total(n)\n  return t\n}"}}
      {setDoc: {ref: "world::far", doc: "Far away."}}
    ]}) { outcome { __typename ... on EditRejected { errors { message } } } } }"#;
    let edited = world.ask(edit, json!({})).await;
    assert_eq!(edited["data"]["proposeEdit"]["outcome"]["__typename"], "EditApplied", "{edited}");
    let world = world.restarted(&[]).await;
    let delta = context(&world, since.clone()).await;
    let changed = delta["changedSince"].as_array().unwrap();
    assert_eq!(changed.len(), 1, "a new caller; the doc of another one is none of its lines: {delta}");
    assert!(delta["text"].as_str().unwrap().contains("world::user"), "{delta}");
    assert!(delta["tokensUsed"].as_i64() < first["tokensUsed"].as_i64());
    let next = json!({ "focus": ["world::total"], "budgetTokens": 3000, "since": delta["token"] });
    assert_eq!(context(&world, next).await["changedSince"], json!([]));
    let made = r#"mutation { createProgram(input: {name: "other", text: "module m\nfunc f () -> () { return }"}) { errors { message } } }"#;
    assert_eq!(world.ask(made, json!({})).await["data"]["createProgram"]["errors"], json!([]));
    let other = CONTEXT.replace("\"world\"", "\"other\"");
    let input = json!({ "input": { "focus": ["m"], "budgetTokens": 100, "since": first["token"] } });
    let answer = world.ask(&other, input).await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "CURSOR_INVALID", "{answer}");
}

/// Requirement CUE-13: the error for a budget that is too small says the size, the limit, and what to do.
#[tokio::test]
async fn cue_13_too_small_a_budget_says_what_is_enough() {
    let world = World::new().await;
    let ask = async |budget: i64| {
        world.ask(CONTEXT, json!({ "input": { "focus": ["world::total"], "budgetTokens": budget } })).await
    };
    let answer = ask(5).await;
    let extensions = &answer["errors"][0]["extensions"];
    assert_eq!((&extensions["code"], &extensions["data"]["limit"]), (&json!("LIMIT_EXCEEDED"), &json!(5)));
    assert!(extensions["data"]["action"].is_string());
    let enough = extensions["data"]["actual"].as_i64().unwrap();
    assert_eq!(ask(enough).await.get("errors"), None);
}

/// A function with a test case is not dead, whatever else there is.
#[tokio::test]
async fn what_has_cases_is_not_dead() {
    let world = World::new().await;
    let dead = async || {
        let document = r#"{ program(name: "world") { analysis(question: DEAD_CODE, of: ["world::open"]) { nodes { ref kind } } } }"#;
        world.ask(document, json!({})).await["data"]["program"]["analysis"]["nodes"].clone()
    };
    assert_eq!(dead().await[0]["kind"], "FUNCTION");
    let case = r#"mutation { addCase(input: {programId: "world", function: "world::open", name: "c", args: [3]}) { case { name } } }"#;
    assert_eq!(world.ask(case, json!({})).await.get("errors"), None);
    assert_eq!(dead().await, json!([]));
}
