//! Rows between JSON and the values of programs.

use std::sync::Arc;

use lmlang_ir::{Const, Program, Shape, Type, TypeRef, Value, Variant};
use serde_json::{Map, Number, Value as Json};

use super::{SimulateCode, SimulateError};
use crate::catalog::{Column, DataType};
use crate::types::{Field, Ty};

/// Reads rows of one stream.
pub(super) struct RowReader<'p> {
    pub(super) program: &'p Program,
    /// The index of the row, for errors.
    pub(super) row: usize,
    pub(super) errors: Vec<SimulateError>,
}

impl RowReader<'_> {
    /// Reads an object as a struct; nothing when something is wrong, which was noted then.
    pub(super) fn record(
        &mut self,
        object: &Map<String, Json>,
        columns: &[Column],
        of: TypeRef,
        path: &str,
    ) -> Option<Value> {
        let types: Vec<Type> = match self.program.type_def(of).map(|def| &def.shape) {
            Some(Shape::Struct(fields)) => fields.iter().map(|field| field.ty.clone()).collect(),
            _ => Vec::new(),
        };
        let mut ok = true;
        for name in object.keys().filter(|name| columns.iter().all(|column| column.name != **name)) {
            let known = columns.iter().map(|column| column.name.as_str());
            let nearest = lmlang_ir::text::nearest(name, known);
            let near = nearest.first().map_or(String::new(), |near| format!("; nearest `{near}`"));
            self.wrong(
                SimulateCode::UnknownColumn,
                &format!("{path}{name}"),
                format!("there is no such column{near}"),
            );
            ok = false;
        }
        let mut values = Vec::with_capacity(columns.len());
        for (column, ty) in columns.iter().zip(&types) {
            let json = object.get(&column.name).unwrap_or(&Json::Null);
            let value = self.option(json, &column.data_type, ty, &format!("{path}{}", column.name));
            ok &= value.is_some();
            values.extend(value);
        }
        ok.then_some(Value::Struct(of, values))
    }

    fn option(&mut self, json: &Json, data_type: &DataType, ty: &Type, path: &str) -> Option<Value> {
        let Type::Option(inner) = ty else { return None };
        if json.is_null() {
            return Some(Value::Enum(Variant::None(Arc::clone(inner)), None));
        }
        let value = self.value(json, data_type, inner, path)?;
        Some(Value::Enum(Variant::Some(Arc::clone(inner)), Some(Box::new(value))))
    }

    fn value(&mut self, json: &Json, data_type: &DataType, ty: &Type, path: &str) -> Option<Value> {
        let value = match (data_type, json) {
            (DataType::Bigint | DataType::Timestamp | DataType::Datetime, Json::Number(number)) => {
                number.as_i64().map(|value| Value::Const(Const::I64(value)))
            }
            (DataType::Int, Json::Number(number)) => {
                let value = number.as_i64().filter(|value| i32::try_from(*value).is_ok());
                value.map(|value| Value::Const(Const::I64(value)))
            }
            (DataType::Float | DataType::Double, Json::Number(number)) => {
                number.as_f64().map(|value| Value::Const(Const::F64(value.to_bits())))
            }
            (DataType::Boolean, Json::Bool(value)) => Some(Value::Const(Const::Bool(*value))),
            (DataType::String, Json::String(text)) => Some(Value::Const(Const::String(text.as_str().into()))),
            (DataType::Struct(fields), Json::Object(object)) => {
                let Type::Named(of) = ty else { return None };
                return self.record(object, fields, *of, &format!("{path}."));
            }
            (DataType::Array(element), Json::Array(list)) => {
                let Type::Array(of) = ty else { return None };
                let values: Vec<Option<Value>> = list
                    .iter()
                    .enumerate()
                    .map(|(index, one)| self.option(one, element, of, &format!("{path}[{index}]")))
                    .collect();
                let values: Option<Vec<Value>> = values.into_iter().collect();
                return Some(Value::Array(Arc::clone(of), values?));
            }
            _ => {
                let message = format!("expected {}, found {}", data_type.name(), kind(json));
                self.wrong(SimulateCode::WrongType, path, message);
                return None;
            }
        };
        if value.is_none() {
            self.wrong(SimulateCode::WrongType, path, format!("{json} is no {}", data_type.name()));
        }
        value
    }

    fn wrong(&mut self, code: SimulateCode, path: &str, message: String) {
        let column = Some(path.to_owned());
        self.errors.push(SimulateError { code, row: Some(self.row), column, message });
    }
}

fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}

/// A row of the result as JSON; fails with the column that JSON cannot hold.
pub(super) fn object(value: &Value, fields: &[Field]) -> Result<Map<String, Json>, String> {
    let Value::Struct(_, values) = value else { return Ok(Map::new()) };
    let mut object = Map::new();
    for (field, value) in fields.iter().zip(values) {
        let json = json(value, &field.ty).map_err(|inner| {
            if inner.is_empty() { field.name.clone() } else { format!("{}.{inner}", field.name) }
        })?;
        object.insert(field.name.clone(), json);
    }
    Ok(object)
}

fn json(value: &Value, ty: &Ty) -> Result<Json, String> {
    Ok(match (value, ty) {
        (Value::Enum(_, None), _) => Json::Null,
        (Value::Enum(_, Some(inner)), _) => json(inner, ty)?,
        (Value::Const(Const::Bool(value)), _) => Json::Bool(*value),
        (Value::Const(Const::I64(value)), _) => Json::from(*value),
        (Value::Const(Const::F64(bits)), _) => match Number::from_f64(f64::from_bits(*bits)) {
            Some(number) => Json::Number(number),
            None => return Err(String::new()),
        },
        (Value::Const(Const::String(text)), _) => Json::String(text.to_string()),
        (Value::Struct(..), Ty::Struct(fields)) => Json::Object(object(value, fields)?),
        (Value::Array(_, values), Ty::Array(element)) => {
            let list: Result<Vec<Json>, String> = values.iter().map(|value| json(value, element)).collect();
            Json::Array(list?)
        }
        _ => Json::Null,
    })
}

/// A key as text: equal keys have equal texts.
pub(super) fn key_text(value: &Value) -> String {
    match value {
        Value::Const(Const::F64(bits)) if f64::from_bits(*bits) == 0.0 => "0.0".to_owned(),
        Value::Struct(_, values) => {
            let texts: Vec<String> = values.iter().map(key_text).collect();
            texts.join("|")
        }
        Value::Enum(_, Some(inner)) => key_text(inner),
        Value::Enum(_, None) => "null".to_owned(),
        other => format!("{other:?}"),
    }
}
