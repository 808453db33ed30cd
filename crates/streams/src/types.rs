//! The types of values in queries.

use std::fmt;
use std::sync::Arc;

use crate::catalog::{Column, DataType};

/// The type of a value while a query is planned. Any value may be NULL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ty {
    /// That of `NULL`, which fits everywhere.
    Null,
    /// A 64-bit integer: `bigint` and `int`.
    Int,
    /// A binary64: `float` and `double`.
    Float,
    /// A truth value.
    Bool,
    /// A text.
    Text,
    /// Milliseconds since 1970: `timestamp` and `datetime`.
    Time,
    /// Named fields.
    Struct(Arc<[Field]>),
    /// Elements of one type, each of which may be NULL.
    Array(Arc<Ty>),
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Ty,
}

impl Ty {
    /// The type in which values of a column are computed with.
    pub fn of(data_type: &DataType) -> Ty {
        match data_type {
            DataType::Bigint | DataType::Int => Ty::Int,
            DataType::Float | DataType::Double => Ty::Float,
            DataType::Boolean => Ty::Bool,
            DataType::String => Ty::Text,
            DataType::Timestamp | DataType::Datetime => Ty::Time,
            DataType::Struct(fields) => Ty::Struct(Ty::fields(fields)),
            DataType::Array(element) => Ty::Array(Arc::new(Ty::of(element))),
        }
    }

    /// The fields that columns are.
    pub(crate) fn fields(columns: &[Column]) -> Arc<[Field]> {
        columns
            .iter()
            .map(|column| Field { name: column.name.clone(), ty: Ty::of(&column.data_type) })
            .collect()
    }

    /// Whether two of it can be compared by `<`.
    pub(crate) fn is_ordered(&self) -> bool {
        match self {
            Ty::Null | Ty::Int | Ty::Float | Ty::Text | Ty::Time => true,
            Ty::Bool | Ty::Struct(_) | Ty::Array(_) => false,
        }
    }

    /// Whether two of it can be compared by `=`, and rows grouped by it.
    pub(crate) fn is_comparable(&self) -> bool {
        self.is_ordered() || *self == Ty::Bool
    }

    /// The data type of a column of the result.
    pub(crate) fn data_type(&self) -> DataType {
        match self {
            Ty::Null | Ty::Int => DataType::Bigint,
            Ty::Float => DataType::Double,
            Ty::Bool => DataType::Boolean,
            Ty::Text => DataType::String,
            Ty::Time => DataType::Timestamp,
            Ty::Struct(fields) => DataType::Struct(
                fields
                    .iter()
                    .map(|field| Column { name: field.name.clone(), data_type: field.ty.data_type() })
                    .collect(),
            ),
            Ty::Array(element) => DataType::Array(Box::new(element.data_type())),
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Null => f.write_str("null"),
            Ty::Int => f.write_str("bigint"),
            Ty::Float => f.write_str("double"),
            Ty::Bool => f.write_str("boolean"),
            Ty::Text => f.write_str("string"),
            Ty::Time => f.write_str("timestamp"),
            Ty::Struct(fields) => {
                f.write_str("struct<")?;
                for (index, field) in fields.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{} {}", field.name, field.ty)?;
                }
                f.write_str(">")
            }
            Ty::Array(element) => write!(f, "array<{element}>"),
        }
    }
}
