//! What a request is known by.

use std::fmt::{self, Write};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// BLAKE3 of a value's canonical JSON; 64 hexadecimal digits as text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

/// A text that is no digest.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected a digest of 64 hexadecimal digits")]
pub struct DigestError;

impl Digest {
    /// The digest of a value: equal for equal values, whatever order their keys were written in.
    pub(crate) fn of(value: &Value) -> Digest {
        let mut text = String::new();
        canonical(value, &mut text);
        Digest(*blake3::hash(text.as_bytes()).as_bytes())
    }

    /// The bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Writes JSON without spaces, keys in the order of their bytes.
///
/// The order is made here: that of `serde_json` depends on its features, which any crate of a build can switch on.
pub(crate) fn canonical(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                string(key, out);
                out.push(':');
                canonical(member, out);
            }
            out.push('}');
        }
    }
}

fn string(text: &str, out: &mut String) {
    out.push_str(&Value::from(text).to_string());
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Digest, DigestError> {
        let hash = blake3::Hash::from_hex(text).map_err(|_| DigestError)?;
        Ok(Digest(*hash.as_bytes()))
    }
}

impl TryFrom<String> for Digest {
    type Error = DigestError;

    fn try_from(text: String) -> Result<Digest, DigestError> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> String {
        let mut text = String::with_capacity(64);
        write!(text, "{digest}").expect("a string takes any text");
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_sorted_and_nothing_else_is() {
        let mut text = String::new();
        canonical(&json!({"b": [2, 1, {"é": null, "a": true}], "a\n": 1.50}), &mut text);
        assert_eq!(text, r#"{"a\n":1.5,"b":[2,1,{"a":true,"é":null}]}"#);
    }

    #[test]
    fn a_digest_reads_back() {
        let digest = Digest::of(&json!({"a": 1}));
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!("12".parse::<Digest>(), Err(DigestError));
        let text = serde_json::to_string(&digest).unwrap();
        assert_eq!(serde_json::from_str::<Digest>(&text).unwrap(), digest);
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,3}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

        /// What is canonical is the same value, and stays as it is.
        #[test]
        fn canonical_text_is_the_value(value in any_value()) {
            let mut text = String::new();
            canonical(&value, &mut text);
            let back: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&back, &value);
            prop_assert_eq!(Digest::of(&back), Digest::of(&value));
        }
    }
}
