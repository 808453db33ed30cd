//! What a policy is made from.

use lmlang_redact::{Config, Policy, PolicyError};
use serde_json::json;

fn secrets(secrets: &[&str]) -> Result<Policy, PolicyError> {
    Policy::new(&Config { secrets: secrets.iter().map(ToString::to_string).collect(), ..Config::default() })
}

fn patterns(patterns: &[&str]) -> Result<Policy, PolicyError> {
    Policy::new(&Config { patterns: patterns.iter().map(ToString::to_string).collect(), ..Config::default() })
}

#[test]
fn short_secrets_are_refused_and_not_shown() {
    let error = secrets(&["long enough", " abc\n"]).unwrap_err();
    assert_eq!(error, PolicyError::ShortSecret { index: 1, length: 3 });
    assert_eq!(error.to_string(), "secret 1 has 3 bytes, fewer than 8");
    assert_eq!(secrets(&["redacted"]).unwrap_err(), PolicyError::SecretInMark { index: 0 });
    assert_eq!(secrets(&[""]).unwrap_err(), PolicyError::ShortSecret { index: 0, length: 0 });
}

#[test]
fn neither_policy_nor_configuration_shows_a_secret() {
    let config = Config { secrets: vec!["correct horse".to_owned()], ..Config::default() };
    let policy = Policy::new(&config).unwrap();
    assert!(!format!("{config:?} {policy:?}").contains("horse"));
}

#[test]
fn exact_secrets_are_hidden_in_all_their_forms() {
    let policy = secrets(&["cörrect/h\"rse +1"]).unwrap();
    let cases = [
        ("a cörrect/h\"rse +1 b", "a [redacted] b"),
        (r#"a c\u00f6rrect\/h\"rse +1 b"#, "a [redacted] b"),
        (r#"{"a": "{\"b\": \"c\\u00f6rrect/h\\\"rse +1\"}"}"#, r#"{"a": "{\"b\": \"[redacted]\"}"}"#),
        ("?a=c%C3%B6rrect%2Fh%22rse%20%2B1&b", "?a=[redacted]&b"),
        ("?a=c%c3%b6rrect/h%22rse+%2b1&b", "?a=[redacted]&b"),
        ("a Y8O2cnJlY3QvaCJyc2UgKzE= b", "a [redacted] b"),
        ("a dXNlcjpjw7ZycmVjdC9oInJzZSArMTp4 b", "a [redacted] b"),
    ];
    for (text, expect) in cases {
        assert_eq!(policy.text(text), expect, "{text}");
    }
}

#[test]
fn half_an_escape_before_a_secret_takes_nothing_from_it() {
    let policy = secrets(&["cörrect/h\"rse", "ab: de\"fgh", "fähre: \"1"]).unwrap();
    let cases = [
        ("%ac%C3%B6rrect%2Fh%22rse", "%a[redacted]"),
        ("%ab%3A%20de%22fgh", "%[redacted]"),
        (r#"\u00ab: de\"fgh"#, r"\u00[redacted]"),
        (r#"\f\u00e4hre: \"1"#, r"\[redacted]"),
        // Bits of base64 with an escape in them.
        ("%AY8O2cnJlY3QvaCJyc2U%3D", "[redacted]"),
        // What only ends like one.
        ("%ad%C3%B6rrect%2Fh%22rse", "%ad%C3%B6rrect%2Fh%22rse"),
    ];
    for (text, expect) in cases {
        assert_eq!(policy.text(text), expect, "{text}");
    }
}

#[test]
fn overlapping_secrets_are_hidden_together() {
    let policy = secrets(&["abcdefgh", "efghijkl", "aaaaaaaa"]).unwrap();
    assert_eq!(policy.text("x abcdefghijkl aaaaaaaaaaaa y"), "x [redacted] [redacted] y");
    // What comes together is looked at again.
    assert_eq!(policy.text("password=x abcdabcdefghefgh"), "password=[redacted] abcd[redacted]efgh");
}

#[test]
fn names_are_added() {
    let config =
        Config { fields: vec!["Home Address".to_owned(), "Straße".to_owned()], ..Config::default() };
    let policy = Policy::new(&config).unwrap();
    let mut value =
        json!({"homeAddress": "here", "HOME_ADDRESS": 1, "address": "there", "Straße": "a", "Strase": "b"});
    assert_eq!(policy.value(&mut value), 3);
    let hidden = "[redacted]";
    assert_eq!(
        value,
        json!({"homeAddress": hidden, "HOME_ADDRESS": hidden, "address": "there", "Straße": hidden, "Strase": "b"})
    );
    assert_eq!(policy.text("home_address=here&x=1"), "home_address=[redacted]&x=1");
    let none = Config { fields: vec!["--".to_owned()], ..Config::default() };
    assert_eq!(Policy::new(&none).unwrap_err(), PolicyError::Field { name: "--".to_owned() });
}

#[test]
fn patterns_are_added() {
    let policy = patterns(&[r"\bint-[0-9a-f]{4,}\b"]).unwrap();
    assert_eq!(policy.text("a int-12ab b int-zz"), "a [redacted] b int-zz");
    assert_eq!(policy.text("a%20int-12ab%20"), "a%20[redacted]%20");
    let of = |pattern: &str| patterns(&[pattern]).unwrap_err();
    assert!(matches!(of("("), PolicyError::Pattern { index: 0, .. }));
    assert!(matches!(of("a*"), PolicyError::WidePattern { what: "the empty text", .. }));
    assert!(matches!(of("red"), PolicyError::WidePattern { what: "`[redacted]`", .. }));
    assert!(matches!(of(r"(\w{100}){100}{100}"), PolicyError::Pattern { .. }));
}

#[test]
fn a_text_that_never_ends_is_hidden_as_a_whole() {
    // Each part that is hidden makes the next one match.
    let policy = patterns(&[r"a\[redacted\]", "b"]).unwrap();
    assert_eq!(policy.text("xaab"), "x[redacted]");
    assert_eq!(policy.text(&format!("x{}b", "a".repeat(100))), "[redacted]");
}

#[test]
fn a_file_of_settings_holds_no_secrets() {
    let read = |value| serde_json::from_value::<Config>(value);
    assert_eq!(read(json!({"fields": ["a"]})).unwrap().fields, ["a"]);
    assert!(read(json!({"secrets": ["correct horse"]})).is_err());
}
