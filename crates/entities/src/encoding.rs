//! Properties as text that is read back to the last bit, for whoever stores them; and as bytes, the first of which says how.
//!
//! JSON readers may give back another float than the one that was written, in its last bit, and a repeated patch would
//! change it again and again. So a float is a text here that begins with `f`, and a text is one that begins with `s`.

use serde_json::{Number, Value};

use crate::props::Props;

/// Returns properties as text: JSON, with marked texts and floats.
#[must_use]
pub fn encode(props: &Props) -> String {
    marked(props.to_json()).to_string()
}

/// Returns the properties that a text was made of; nothing if it was made of none.
#[must_use]
pub fn decode(text: &str) -> Option<Props> {
    Props::from_json(&unmarked(serde_json::from_str(text).ok()?)?).ok()
}

/// What the first byte of stored properties says.
const VERSION: u8 = 1;

/// Returns properties as bytes: one for the version, then their text.
#[must_use]
pub fn to_bytes(props: &Props) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    bytes.extend_from_slice(encode(props).as_bytes());
    bytes
}

/// Returns the properties that bytes were made of; nothing if they were made of none.
#[must_use]
pub fn of_bytes(bytes: &[u8]) -> Option<Props> {
    let (&VERSION, text) = bytes.split_first()? else { return None };
    decode(str::from_utf8(text).ok()?)
}

fn marked(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => Value::String(format!("f{number}")),
        Value::String(text) => Value::String(format!("s{text}")),
        Value::Array(items) => Value::Array(items.into_iter().map(marked).collect()),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, marked(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn unmarked(value: Value) -> Option<Value> {
    Some(match value {
        Value::String(text) => match text.split_at_checked(1)? {
            ("f", float) => Value::Number(Number::from_f64(float.parse().ok()?)?),
            ("s", text) => Value::from(text),
            _ => return None,
        },
        Value::Array(items) => Value::Array(items.into_iter().map(unmarked).collect::<Option<_>>()?),
        Value::Object(fields) => Value::Object(
            fields.into_iter().map(|(name, value)| Some((name, unmarked(value)?))).collect::<Option<_>>()?,
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn properties_come_back_to_the_last_bit() {
        let floats: Vec<f64> = (1..2_000).map(|n| f64::from(n) / 7.0 * 1.1e-3).collect();
        let given = json!({
            "floats": floats, "whole": 3.0, "least": 5e-324, "most": f64::MAX, "text": "f1.5", "empty": "",
            "int": i64::MIN, "yes": true, "inner": {"null": null, "list": ["s", 0.1]}
        });
        let props = Props::from_json(&given).expect("they are legal");
        let read = decode(&encode(&props)).expect("they can be read");
        assert_eq!(read, props);
        assert_eq!(read.to_json(), given);
        assert_eq!(of_bytes(&to_bytes(&props)), Some(props));
    }

    #[test]
    fn what_nobody_wrote_is_not_read() {
        for text in ["", "[]", r#"{"a":"x"}"#, r#"{"a":""}"#, "{"] {
            assert_eq!(decode(text), None, "{text}");
        }
        for bytes in [&b""[..], b"\x02{}", b"\x01[]", b"\x01\xff", b"\x01{"] {
            assert_eq!(of_bytes(bytes), None, "{bytes:?}");
        }
    }
}
