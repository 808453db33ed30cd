//! Properties: a bounded JSON object in canonical order, and what can be changed about one.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::validation::{Problem, ValidationError, shown};

/// Most properties of one entity.
pub const MAX_PROPS: usize = 256;
/// Most bytes of one entity's properties, as compact JSON.
pub const MAX_BYTES: usize = 64 * 1024;
/// Most lists and objects in each other, the properties themselves not counted.
pub const MAX_DEPTH: usize = 8;
/// Names that only the server sets, or that are given beside the properties.
pub const RESERVED: [&str; 4] = ["id", "key", "created_at", "updated_at"];

/// A value of a property.
///
/// Integers fit 64 bits with a sign and floats are finite, as `Props` and `PropsChange` make them.
#[derive(Clone, Debug, PartialEq)]
pub enum PropValue {
    /// Nothing; only within a list or an object, since a property that is null is none.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A finite number.
    Float(f64),
    /// A text.
    Text(Arc<str>),
    /// Values in order.
    List(Arc<[PropValue]>),
    /// Values by name.
    Map(Arc<BTreeMap<Arc<str>, PropValue>>),
}

impl PropValue {
    fn of(json: &Json, depth: usize) -> Result<Self, ValidationError> {
        if depth > MAX_DEPTH {
            return Err(ValidationError::new(Problem::TooDeep { limit: MAX_DEPTH }));
        }
        Ok(match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => number_of(number)?,
            Json::String(text) => Self::Text(text.as_str().into()),
            Json::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| {
                    Self::of(item, depth + 1).map_err(|error| error.within(&format!("[{index}]")))
                })
                .collect::<Result<Vec<_>, _>>()
                .map(|items| Self::List(items.into()))?,
            Json::Object(fields) => fields
                .iter()
                .map(|(name, value)| {
                    let value = check_name(name).and_then(|()| Self::of(value, depth + 1));
                    Ok((name.as_str().into(), value.map_err(|error| error.within(&shown(name)))?))
                })
                .collect::<Result<BTreeMap<_, _>, ValidationError>>()
                .map(|fields| Self::Map(fields.into()))?,
        })
    }

    /// Returns the value as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Bool(value) => Json::from(*value),
            Self::Int(value) => Json::from(*value),
            Self::Float(value) => Json::from(*value),
            Self::Text(value) => Json::from(value.as_ref()),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Map(fields) => object(fields),
        }
    }
}

fn number_of(number: &serde_json::Number) -> Result<PropValue, ValidationError> {
    let wrong = || ValidationError::new(Problem::Number { found: shown(&number.to_string()) });
    match (number.as_i64(), number.is_u64()) {
        (Some(value), _) => Ok(PropValue::Int(value)),
        (None, true) => Err(wrong()),
        (None, false) => {
            number.as_f64().filter(|value| value.is_finite()).map(PropValue::Float).ok_or_else(wrong)
        }
    }
}

fn object(fields: &BTreeMap<Arc<str>, PropValue>) -> Json {
    Json::Object(fields.iter().map(|(name, value)| (name.to_string(), value.to_json())).collect())
}

fn check_name(name: &str) -> Result<(), ValidationError> {
    match name.is_empty() || name.len() > 128 || name.chars().any(char::is_control) {
        true => Err(ValidationError::new(Problem::PropName { found: shown(name) })),
        false => Ok(()),
    }
}

/// Returns a reading of an object's fields, with the first error of a field put within that field.
fn fields_of(json: &Json) -> Result<BTreeMap<Arc<str>, PropValue>, ValidationError> {
    let Json::Object(fields) = json else {
        return Err(ValidationError::new(Problem::Type { expected: "an object", found: kind(json) }));
    };
    let read = |(name, value): (&String, &Json)| {
        if RESERVED.contains(&name.as_str()) {
            return Err(ValidationError::new(Problem::Reserved { field: name.clone() }).within(name));
        }
        let value = check_name(name).and_then(|()| PropValue::of(value, 0));
        Ok((name.as_str().into(), value.map_err(|error| error.within(&shown(name)))?))
    };
    let fields = fields.iter().map(read).collect::<Result<BTreeMap<_, _>, _>>()?;
    check_size(&fields)?;
    Ok(fields)
}

fn check_size(fields: &BTreeMap<Arc<str>, PropValue>) -> Result<(), ValidationError> {
    let too_large = |found, limit, unit| Err(ValidationError::new(Problem::TooLarge { found, limit, unit }));
    if fields.len() > MAX_PROPS {
        return too_large(fields.len(), MAX_PROPS, "names");
    }
    let bytes = 1 + fields.iter().map(|(name, value)| text_bytes(name) + 2 + bytes_of(value)).sum::<usize>();
    match bytes > MAX_BYTES {
        true => too_large(bytes, MAX_BYTES, "bytes"),
        false => Ok(()),
    }
}

/// Returns how long a value is as compact JSON, no shorter than it is.
fn bytes_of(value: &PropValue) -> usize {
    match value {
        PropValue::Null | PropValue::Bool(_) => 5,
        PropValue::Int(_) | PropValue::Float(_) => 24,
        PropValue::Text(text) => text_bytes(text),
        PropValue::List(items) => 2 + items.iter().map(|item| 1 + bytes_of(item)).sum::<usize>(),
        PropValue::Map(fields) => {
            2 + fields.iter().map(|(name, value)| text_bytes(name) + 2 + bytes_of(value)).sum::<usize>()
        }
    }
}

fn text_bytes(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' => 2,
        0..0x20 => 6,
        _ => 1,
    };
    2 + text.bytes().map(escaped).sum::<usize>()
}

/// Names the type of a JSON value, for errors.
pub(crate) fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// The properties of an entity or relation: values by name, none of them null; of what is stored, within the bounds of this
/// module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Props(Arc<BTreeMap<Arc<str>, PropValue>>);

impl Props {
    /// Reads properties from a JSON object; a name with null is left out.
    pub fn from_json(json: &Json) -> Result<Self, ValidationError> {
        let mut fields = fields_of(json)?;
        fields.retain(|_, value| *value != PropValue::Null);
        Ok(Self(fields.into()))
    }

    /// Makes the properties of a node that is no stored entity: these are as large as they are.
    ///
    /// What is null is left out.
    #[must_use]
    pub fn shown(fields: impl IntoIterator<Item = (&'static str, PropValue)>) -> Self {
        let known = fields.into_iter().filter(|(_, value)| *value != PropValue::Null);
        Self(Arc::new(known.map(|(name, value)| (name.into(), value)).collect()))
    }

    /// Returns the value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&PropValue> {
        self.0.get(name)
    }

    /// Returns names and values in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &PropValue)> {
        self.0.iter()
    }

    /// Returns how many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Says whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the properties with a change: a value replaces, null removes, other names stay.
    pub fn merged(&self, change: &PropsChange) -> Result<Self, ValidationError> {
        let differs = |(name, value): (&Arc<str>, &PropValue)| match value {
            PropValue::Null => self.0.contains_key(name),
            value => self.0.get(name) != Some(value),
        };
        if !change.0.iter().any(differs) {
            return Ok(self.clone());
        }
        let mut fields = self.0.as_ref().clone();
        for (name, value) in change.0.iter() {
            match value {
                PropValue::Null => fields.remove(name),
                value => fields.insert(name.clone(), value.clone()),
            };
        }
        check_size(&fields)?;
        Ok(Self(fields.into()))
    }

    /// Returns the properties as a JSON object, names in order.
    #[must_use]
    pub fn to_json(&self) -> Json {
        object(&self.0)
    }
}

impl Serialize for Props {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

/// What is to be said of some properties: a value sets, null removes, what is not named stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PropsChange(Arc<BTreeMap<Arc<str>, PropValue>>);

impl PropsChange {
    /// Reads a change from a JSON object.
    pub fn from_json(json: &Json) -> Result<Self, ValidationError> {
        Ok(Self(fields_of(json)?.into()))
    }

    /// Returns the change as a JSON object, names in order.
    #[must_use]
    pub fn to_json(&self) -> Json {
        object(&self.0)
    }
}

impl Serialize for PropsChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}
