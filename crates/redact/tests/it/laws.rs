//! Laws over generated texts and values.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use lmlang_redact::{Config, Policy};
use proptest::prelude::*;
use serde_json::{Map, Value};

const SECRET: &str = "cörrect/h\"rse&b=1";

static POLICY: LazyLock<Policy> = LazyLock::new(|| {
    let patterns = vec!["int-[0-9]+".to_owned()];
    let secrets = vec![SECRET.to_owned(), "another secret".to_owned()];
    Policy::new(&Config { secrets, patterns, fields: vec!["address".to_owned()] }).unwrap()
});

/// Pieces of what the rules look for, in any order.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~]{0,6}",
        "\\PC{0,4}",
        prop::sample::select(vec![
            "password",
            "token",
            "max_tokens",
            "api key",
            "authorization",
            "cookie",
            "sig",
            "=",
            ":",
            "://",
            "@",
            "\"",
            "'",
            "\\",
            "\\\"",
            "\n",
            "\\n",
            "%3D",
            "%",
            "&",
            ",",
            ";",
            "{",
            "}",
            "[",
            "]",
            "Bearer ",
            "Basic ",
            "dXNlcjpwYXNz",
            "sk-",
            "sk-abcdefghijklmnop12",
            "ghp_",
            "AKIA",
            "eyJhbGciOiJI.eyJh.x",
            "--",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "[redacted]",
            "redacted]",
            "[red",
            "int-1",
            "cörrect/h",
            "\"rse&b=1",
            SECRET,
            "another secret",
            "another%20",
            "another+",
            "secret",
            "\\u00f6",
            "ö",
            "YW5vdGhlciBzZWNyZXQ=",
            "null",
            "http",
            "postgres://u:p",
            "(",
            ")",
            "8080",
            "é",
            "`",
            "\t",
            "?",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let name = prop_oneof!["[a-z_]{1,8}", text(), Just("token".to_owned()), Just("a_key".to_owned())];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Puts a text at one of the texts or names of a value.
fn plant(value: &mut Value, at: &mut usize, planted: &str) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => insert(text, at, planted),
        Value::Array(items) => items.iter_mut().for_each(|item| plant(item, at, planted)),
        Value::Object(fields) => {
            let all = std::mem::take(fields);
            for (mut name, mut item) in all {
                insert(&mut name, at, planted);
                plant(&mut item, at, planted);
                fields.insert(name, item);
            }
        }
    }
}

fn insert(text: &mut String, at: &mut usize, planted: &str) {
    if *at == 0 {
        let middle = text.floor_char_boundary(text.len() / 2);
        text.insert_str(middle, planted);
    }
    *at = at.wrapping_sub(1);
}

fn percent(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

fn forms() -> Vec<String> {
    let json = serde_json::to_string(SECRET).unwrap();
    let json = json.trim_matches('"').to_owned();
    vec![
        SECRET.to_owned(),
        json.clone(),
        json.replace('ö', "\\u00f6"),
        percent(SECRET),
        percent(SECRET).to_lowercase(),
        STANDARD.encode(SECRET),
        URL_SAFE_NO_PAD.encode(format!("u:{SECRET}")),
        STANDARD.encode(format!("user:{SECRET}:x")),
    ]
}

/// Leaves with the shape around them.
fn shape(value: &Value) -> Value {
    match value {
        Value::Null => Value::Null,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Value::from("leaf"),
        Value::Array(items) => items.iter().map(shape).collect(),
        // Names change, and so does the order of fields.
        Value::Object(fields) => {
            let mut shapes: Vec<Value> = fields.values().map(shape).collect();
            shapes.sort_by_key(Value::to_string);
            Value::from(vec![Value::from("object"), Value::from(shapes)])
        }
    }
}

fn cases() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) }
}

proptest! {
    #![proptest_config(cases())]

    /// What was hidden stays as it is, and what is borrowed is equal.
    #[test]
    fn hiding_twice_is_hiding_once(text in text()) {
        let once = POLICY.text(&text);
        if let Cow::Borrowed(same) = &once {
            prop_assert_eq!(*same, &text);
        } else {
            prop_assert_ne!(&once, &text);
        }
        let twice = POLICY.text(&once);
        prop_assert!(matches!(twice, Cow::Borrowed(_)), "{} => {} => {}", text, once, twice);
        prop_assert!(!once.contains(SECRET) && !once.contains("another secret"));
    }

    /// Texts of words hold no secrets.
    #[test]
    fn words_stay(text in "([a-z]{1,9}[ ,.!?()\n]{1,2}|[0-9]{1,6} |é☃ ){0,40}") {
        prop_assert!(matches!(Policy::default().text(&text), Cow::Borrowed(same) if same == text));
    }

    /// A secret at any place of any JSON, in any of its forms, does not survive.
    #[test]
    fn a_planted_secret_does_not_survive(value in value(), at in 0_usize..40, form in 0_usize..8) {
        let mut value = Value::from(vec![value, Value::from("")]);
        let planted = &forms()[form];
        let mut at_text = at;
        plant(&mut value, &mut at_text, planted);
        let before = value.clone();
        POLICY.value(&mut value);
        let out = value.to_string();
        for form in forms() {
            prop_assert!(!out.contains(&form), "{} => {}", before, out);
        }
        prop_assert_eq!(shape(&value), shape(&before));
        let once = value.clone();
        prop_assert_eq!(POLICY.value(&mut value), 0);
        prop_assert_eq!(value, once);
    }
}

/// Texts that would cost a rule that looks ahead or back again and again.
#[test]
fn a_megabyte_takes_no_time() {
    let pieces = [
        "a",
        "sk-",
        "sk-a",
        "eyJ",
        "eyJaaaaaaaaaa.",
        "Bearer ",
        "Basic ",
        "Basic+",
        "bearer+",
        "://",
        "://a:b",
        "a://b:c/",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "password=",
        "password: ",
        "password=\"",
        "password={",
        "--password ",
        "token: ",
        "\\",
        "\\\\",
        "\\\"",
        "%",
        "%25",
        "%3D",
        "{",
        "[",
        "[redacted]",
        "[redacted",
        "=",
        ":",
        ",",
        "a=b,",
        "@",
        "ö",
        "☃",
        "AKIA",
        "ghp_",
        "cörrect/h\"rse&b=",
        "another secret",
        "YW5vdGhlciBzZWNyZXQ",
        "api key ",
        "\n",
        "\"",
        "a.b:c ",
        "an ordinary sentence with words, numbers 12 and a name: value pair. ",
        r#"{"password": "x", "user": "y"}"#,
    ];
    for piece in pieces {
        let text = piece.repeat(1_000_000 / piece.len());
        let started = Instant::now();
        let length = POLICY.text(&text).len();
        let took = started.elapsed();
        assert!(took.as_millis() < 2_000, "{piece}: {length} bytes after {took:?}");
    }
}
