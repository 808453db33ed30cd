//! JSON values.

use lmlang_redact::Policy;
use serde_json::{Value, json};

fn check(mut value: Value, places: usize, expect: &Value) {
    let policy = Policy::default();
    assert_eq!(policy.value(&mut value), places);
    assert_eq!(&value, expect);
    assert_eq!(policy.value(&mut value), 0, "again");
    assert_eq!(&value, expect);
}

#[test]
fn names_hide_whatever_is_below_them() {
    let hidden = "[redacted]";
    check(
        json!({"a": [{"password": "x"}], "credentials": {"user": "u", "n": [1, true, null, ""]}, "count": 3}),
        4,
        &json!({"a": [{"password": hidden}], "credentials": {"user": hidden, "n": [hidden, hidden, null, ""]}, "count": 3}),
    );
}

#[test]
fn numbers_and_booleans_stay_unless_their_name_says_so() {
    let open = json!({"max_tokens": 1, "input_tokens": 2.5, "ok": true, "token_count": 12345678, "n": null});
    check(open.clone(), 0, &open);
    check(json!({"token": 12345678}), 1, &json!({"token": "[redacted]"}));
}

#[test]
fn texts_are_hidden_in_part() {
    check(json!(["Bearer abc12345", 1]), 1, &json!(["Bearer [redacted]", 1]));
    check(json!("password=x"), 1, &json!("password=[redacted]"));
}

#[test]
fn names_that_hold_secrets_are_hidden_and_stay_apart() {
    let key = |letter: &str| format!("sk-{}1", letter.repeat(20));
    check(
        json!({key("a"): 1, key("b"): 2, "[redacted] 2": 3}),
        2,
        &json!({"[redacted]": 1, "[redacted] 2": 3, "[redacted] 3": 2}),
    );
    check(
        json!({format!("{} token", key("a")): {"a": 1}}),
        2,
        &json!({"[redacted] token": {"a": "[redacted]"}}),
    );
}

#[test]
fn a_deep_value_is_no_deeper_than_the_stack() {
    let mut value = json!("password=x");
    for _ in 0..2_000 {
        value = json!([value]);
    }
    assert_eq!(Policy::default().value(&mut value), 1);
}
