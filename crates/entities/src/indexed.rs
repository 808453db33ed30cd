//! What of a value an index knows, so that nodes are found by what a property equals.

use std::sync::Arc;

use crate::props::{PropValue, Props, RESERVED};

/// A value by which an index finds nodes: equal for values that are equal in queries, whatever kind of number they are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Indexed {
    /// True or false.
    Bool(bool),
    /// An integer, or another number that equals it.
    Int(i64),
    /// The bits of any other number.
    Float(u64),
    /// A text.
    Text(Arc<str>),
}

impl Indexed {
    /// Returns a value as an index knows it; nothing of lists and objects.
    #[must_use]
    pub fn of(value: &PropValue) -> Option<Self> {
        /// The first number behind the integers.
        const END: f64 = 9_223_372_036_854_775_808.0;
        Some(match value {
            PropValue::Bool(value) => Self::Bool(*value),
            PropValue::Int(value) => Self::Int(*value),
            PropValue::Float(value) if value.fract() == 0.0 && (-END..END).contains(value) => {
                Self::Int(*value as i64)
            }
            PropValue::Float(value) => Self::Float(value.to_bits()),
            PropValue::Text(value) => Self::Text(value.clone()),
            PropValue::Null | PropValue::List(_) | PropValue::Map(_) => return None,
        })
    }

    /// Returns bytes that no other value has.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Self::Bool(value) => bytes.extend([0, u8::from(*value)]),
            Self::Int(value) => {
                bytes.push(1);
                bytes.extend(value.to_le_bytes());
            }
            Self::Float(bits) => {
                bytes.push(2);
                bytes.extend(bits.to_le_bytes());
            }
            Self::Text(text) => {
                bytes.push(3);
                bytes.extend(text.bytes());
            }
        }
        bytes
    }
}

/// Says whether a name is that of a property of an entity, and not of what is given beside these.
#[must_use]
pub fn is_property(name: &str) -> bool {
    !RESERVED.contains(&name)
}

/// Returns names and values of the properties that an index knows, in the order of names.
pub fn values(props: &Props) -> impl Iterator<Item = (&Arc<str>, Indexed)> {
    props.iter().filter_map(|(name, value)| Some((name, Indexed::of(value)?)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn equal_values_are_known_as_one() {
        let of = |json: serde_json::Value| {
            let props = Props::from_json(&json!({ "x": json })).expect("it is legal");
            props.get("x").and_then(Indexed::of)
        };
        assert_eq!(of(json!(3)), of(json!(3.0)));
        assert_eq!(of(json!(0)), of(json!(-0.0)));
        assert_eq!(of(json!(i64::MIN)), of(json!(-9_223_372_036_854_775_808.0)));
        for unknown in [json!([1]), json!({ "y": 1 }), json!([])] {
            assert_eq!(of(unknown.clone()), None, "{unknown}");
        }
        let others = [
            json!(true),
            json!(false),
            json!(1),
            json!(0),
            json!(0.5),
            json!("1"),
            json!(""),
            json!(9_007_199_254_740_992.0),
            json!(9_007_199_254_740_993_i64),
            json!(i64::MAX),
            json!(9_223_372_036_854_775_808.0),
            json!(1e300),
        ];
        let bytes: BTreeSet<Vec<u8>> =
            others.iter().map(|json| of(json.clone()).expect("it is known").to_bytes()).collect();
        assert_eq!(bytes.len(), others.len());
    }
}
