use serde_json::json;

use super::super::testing::{ask, joined, request, words};
use super::*;

fn script(text: &str) -> Script {
    Script::parse("s.toml", text, words).unwrap()
}

/// What a script says to these, one after the other: texts, or codes of errors.
async fn check(text: &str, asked: &[&str], expect: &[&str]) {
    let script = script(text);
    let mut found = Vec::new();
    for asked in asked {
        found.push(match ask(&script, &request(asked)).await {
            Ok(reply) => reply.text,
            Err(error) => error.code().to_owned(),
        });
    }
    assert_eq!(found, expect);
}

#[tokio::test]
async fn the_first_entry_that_fits_and_is_left_answers() {
    let text = r#"
        [[reply]]
        contains = ["a", "b"]
        text = "both"
        [[reply]]
        contains = ["a"]
        text = "one"
        times = 2
        [[reply]]
        prompt_contains = ["[user]", "a"]
        role = "planner"
        text = "rest"
        times = "always"
        [[reply]]
        role = "router"
        text = "never"
    "#;
    check(
        text,
        &["a", "b a", "ab", "a", "a", "c"],
        &["one", "both", "one", "rest", "rest", "MODEL_UNSCRIPTED"],
    )
    .await;
    let script = script(text);
    ask(&script, &request("a")).await.unwrap();
    let left: Vec<_> = script.unused().into_iter().map(|unused| (unused.entry, unused.left)).collect();
    assert_eq!(left, [(1, 1), (2, 1), (3, 1), (4, 1)]);
    assert_eq!(script.unused()[0].waits_for, "any role, `a`, `b`");
}

#[tokio::test]
async fn what_is_not_expected_is_shown() {
    let script = script("[[reply]]\ncontains = [\"b\"]\ntext = \"x\"");
    let error = ask(&script, &request("what is this?")).await.unwrap_err();
    let expect = "the script `s.toml` has no reply for this request (1 entry left):\n\
                  role: planner\n[user]\nwhat is this?";
    assert_eq!(error.to_string(), expect);
    assert!(!error.class().retriable());
    let script = self::script(
        "[[reply]]\ncontains = [\"b\"]\ntext = \"x\"\n[[reply]]\ncontains = [\"c\"]\ntext = \"y\"",
    );
    let error = ask(&script, &request("a")).await.unwrap_err();
    assert!(error.to_string().contains("(2 entries left)"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_told_word_by_word() {
    let script = script("[[reply]]\ntext = \"one two  thrée\"\ndelay_ms = 10\nmodel = \"m\"");
    let started = Instant::now();
    let mut told = Vec::new();
    let reply = script.complete(&request("x y"), &mut |delta| told.push(delta)).await.unwrap();
    assert_eq!((joined(&told), told.len()), (reply.text.clone(), 4));
    assert_eq!(started.elapsed(), Duration::from_millis(40));
    assert_eq!(reply.latency, Latency { first_ms: Some(10), total_ms: 40 });
    assert_eq!((reply.usage.input, reply.usage.output, reply.cost), (6, 3, None));
    assert_eq!((&*reply.model, &*reply.provider), ("m", "script"));
}

#[tokio::test]
async fn values_and_calls_are_json() {
    let script = script(
        r#"
        [[reply]]
        json = { steps = ["a"] }
        usage = { input = 7, output = 2 }
        [[reply]]
        tool_calls = [{ name = "f", arguments = { x = 1 } }, { id = "z", name = "g" }, { name = "h", arguments = "{" }]
    "#,
    );
    let reply = ask(&script, &request("x")).await.unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&reply.text).unwrap(), json!({"steps": ["a"]}));
    assert_eq!(reply.usage.input, 7);
    let reply = ask(&script, &request("x")).await.unwrap();
    let calls: Vec<_> =
        reply.tool_calls.iter().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect();
    assert_eq!(calls, [("call_0", "f", "{\"x\":1}"), ("z", "g", "{}"), ("call_2", "h", "{")]);
    assert_eq!(reply.finish, Finish::ToolCalls);
    assert!(script.unused().is_empty());
}

#[tokio::test]
async fn faults_come_as_they_are_written() {
    let text = r#"
        [[reply]]
        text = "half of it"
        error = "cut"
        [[reply]]
        error = "rate_limited"
        retry_after_ms = 5
        [[reply]]
        error = "timeout"
    "#;
    let script = script(text);
    let mut told = Vec::new();
    let error = script.complete(&request("x"), &mut |delta| told.push(delta)).await.unwrap_err();
    assert_eq!((error, &*joined(&told)), (ModelError::Cut { received: 10 }, "half of it"));
    let error = ask(&script, &request("x")).await.unwrap_err();
    let wait = Some(Duration::from_millis(5));
    assert_eq!(error.class(), super::super::Class::Transient { retry_after: wait });
    assert_eq!(ask(&script, &request("x")).await.unwrap_err().code(), "MODEL_TIMEOUT");
}

fn check_refused(text: &str, expect: &str) {
    let error = Script::parse("s.toml", text, words).err().unwrap().to_string();
    assert!(error.contains(expect), "{error}");
}

#[test]
fn a_script_that_cannot_be_meant_is_refused() {
    check_refused("[[reply]]", "entry 1 of the script `s.toml` answers nothing");
    check_refused("[[reply]]\ntext = \"a\"\njson = 1", "has both a text and a value");
    check_refused("[[reply]]\ntext = \"a\"\nretry_after_ms = 1", "no error that names one");
    check_refused("[[reply]]\ntxt = \"a\"", "unknown field `txt`");
    check_refused("[[reply]]\nrole = \"No\"\ntext = \"a\"", "`No` is not the name of a role");
}
