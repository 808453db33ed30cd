//! Scalars of the schema that GraphQL does not bring.

use std::borrow::Cow;

use async_graphql::parser::types::Field;
use async_graphql::registry::Registry;
use async_graphql::{
    ContextSelectionSet, InputValueError, InputValueResult, OutputType, Positioned, Scalar, ScalarType,
    ServerResult, Value as Json,
};

use crate::direct::Direct;
use crate::transport::budget;

/// An integer from 0 to 2^53 - 1, a JSON number: steps, fuel, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(pub u64);

/// The largest integer that every JSON reader keeps exactly.
pub const MAX_COUNT: u64 = (1 << 53) - 1;

impl Count {
    fn read(value: &Json) -> Option<Count> {
        match value {
            Json::Number(number) => number.as_u64().filter(|number| *number <= MAX_COUNT).map(Count),
            _ => None,
        }
    }
}

/// An integer from 0 to 2^53 - 1, a JSON number: steps, fuel, bytes.
#[Scalar(name = "Count")]
impl ScalarType for Count {
    fn parse(value: Json) -> InputValueResult<Self> {
        Count::read(&value).ok_or_else(|| InputValueError::expected_type(value))
    }

    // Found by validation, it fails the request with its place; found by a field, it would take the field's siblings
    // along.
    fn is_valid(value: &Json) -> bool {
        Count::read(value).is_some()
    }

    fn to_value(&self) -> Json {
        Json::Number(self.0.min(MAX_COUNT).into())
    }
}

/// A value of a program, in the text form: `i64:5`, `f64:nan`, `bool:true`, `unit`, `"text"`, `b"bytes"`, `[i32: 1, 2]`,
/// `Point{x: 1, y: 2}`, `Shape.dot`, `Shape.box(3)`, `option<i64>.some(1)`, `box<i64>(1)`.
///
/// Inputs may leave types out where the place says them (`5`, `[1, 2]`, `dot`, `some(1)`), and take plain JSON where it is
/// unambiguous: numbers, booleans, lists; for the type `string` a JSON string is literal. Output is always text.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueText(pub Json);

/// A value of a program, in the text form: `i64:5`, `f64:nan`, `bool:true`, `unit`, `"text"`, `b"bytes"`, `[i32: 1, 2]`,
/// `Point{x: 1, y: 2}`, `Shape.dot`, `Shape.box(3)`, `option<i64>.some(1)`, `box<i64>(1)`.
/// Inputs may leave types out where the place says them (`5`, `[1, 2]`, `dot`, `some(1)`), and take plain JSON where it is
/// unambiguous: numbers, booleans, lists; for the type `string` a JSON string is literal. Output is always text.
#[Scalar(name = "Value")]
impl ScalarType for ValueText {
    fn parse(value: Json) -> InputValueResult<Self> {
        Ok(ValueText(value))
    }

    fn to_value(&self) -> Json {
        self.0.clone()
    }
}

impl ValueText {
    /// Bytes of the text.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.0 {
            Json::String(text) => text.len() as u64,
            _ => 0,
        }
    }
}

impl From<String> for ValueText {
    fn from(text: String) -> ValueText {
        ValueText(Json::String(text))
    }
}

/// A text that a program determines, which counts among those of the answer: empty, with an error, when it holds too much
/// already. In the schema it is a string as any other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(pub String);

impl OutputType for Text {
    fn type_name() -> Cow<'static, str> {
        <String as OutputType>::type_name()
    }

    fn create_type_info(registry: &mut Registry) -> String {
        <String as OutputType>::create_type_info(registry)
    }

    async fn resolve(
        &self,
        context: &ContextSelectionSet<'_>,
        field: &Positioned<Field>,
    ) -> ServerResult<Json> {
        let Text(text) = self;
        let holds = budget::holds(context, field.pos, text.len() as u64);
        Ok(Json::String(if holds { text.clone() } else { String::new() }))
    }
}

impl Direct for Text {}

impl Direct for ValueText {}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(text)
    }
}
