//! Streams as a Manager describes them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use thiserror::Error;

/// Characters of a name at most.
pub const LONGEST_NAME: usize = 128;

/// Columns of a stream at most, with fields of fields.
pub const MOST_COLUMNS: usize = 1_000;

/// How deep structs and arrays nest at most.
pub const DEEPEST_TYPE: usize = 8;

/// What is wrong with a request or a stored record, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{problem}", if .path.is_empty() { String::new() } else { format!("{}: ", .path) })]
pub struct ShapeError {
    /// Where, such as `schema.columns[2].data_type`; empty for the whole.
    pub path: String,
    /// The problem in words.
    pub problem: String,
}

impl ShapeError {
    pub(crate) fn at(path: impl Into<String>, problem: impl Into<String>) -> ShapeError {
        ShapeError { path: path.into(), problem: problem.into() }
    }
}

/// Reads JSON of a given shape; an error says where it differs.
pub(crate) fn read<'d, T: Deserialize<'d>>(json: &'d Json) -> Result<T, ShapeError> {
    if !json.is_object() {
        return Err(ShapeError::at("", "expected an object"));
    }
    serde_path_to_error::deserialize(json).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { path };
        ShapeError { path, problem: error.into_inner().to_string() }
    })
}

/// The data type of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataType {
    /// A 64-bit integer.
    Bigint,
    /// A 32-bit integer; computed with as 64 bits.
    Int,
    /// A floating-point number; held as binary64.
    Float,
    /// A floating-point number, binary64.
    Double,
    /// A truth value.
    Boolean,
    /// A text.
    String,
    /// Milliseconds since 1970.
    Timestamp,
    /// As [`DataType::Timestamp`].
    Datetime,
    /// Named fields.
    Struct(Vec<Column>),
    /// Elements of one type.
    Array(Box<DataType>),
}

impl DataType {
    /// The names of the data types, as `data_type` has them.
    pub const NAMES: [&'static str; 10] =
        ["bigint", "int", "float", "double", "boolean", "string", "timestamp", "datetime", "struct", "array"];

    /// The name.
    pub const fn name(&self) -> &'static str {
        match self {
            DataType::Bigint => "bigint",
            DataType::Int => "int",
            DataType::Float => "float",
            DataType::Double => "double",
            DataType::Boolean => "boolean",
            DataType::String => "string",
            DataType::Timestamp => "timestamp",
            DataType::Datetime => "datetime",
            DataType::Struct(_) => "struct",
            DataType::Array(_) => "array",
        }
    }
}

/// A column of a stream, or a field of a struct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RawColumn", into = "RawColumn")]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawColumn {
    name: String,
    data_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<RawColumn>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    element: Option<Box<RawElement>>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawElement {
    data_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<RawColumn>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    element: Option<Box<RawElement>>,
}

impl TryFrom<RawColumn> for Column {
    type Error = ShapeError;

    fn try_from(raw: RawColumn) -> Result<Column, ShapeError> {
        raw.column("", 0)
    }
}

impl From<Column> for RawColumn {
    fn from(column: Column) -> RawColumn {
        let RawElement { data_type, fields, element } = column.data_type.into();
        RawColumn { name: column.name, data_type, fields, element }
    }
}

impl From<DataType> for RawElement {
    fn from(data_type: DataType) -> RawElement {
        let name = data_type.name().to_owned();
        let (fields, element) = match data_type {
            DataType::Struct(fields) => (Some(fields.into_iter().map(RawColumn::from).collect()), None),
            DataType::Array(element) => (None, Some(Box::new(RawElement::from(*element)))),
            DataType::Bigint
            | DataType::Int
            | DataType::Float
            | DataType::Double
            | DataType::Boolean
            | DataType::String
            | DataType::Timestamp
            | DataType::Datetime => (None, None),
        };
        RawElement { data_type: name, fields, element }
    }
}

impl RawColumn {
    fn column(self, path: &str, depth: usize) -> Result<Column, ShapeError> {
        check_name(&self.name).map_err(|problem| ShapeError::at(format!("{path}name"), problem))?;
        let of = RawElement { data_type: self.data_type, fields: self.fields, element: self.element };
        Ok(Column { name: self.name, data_type: of.data_type(path, depth)? })
    }
}

impl RawElement {
    fn data_type(self, path: &str, depth: usize) -> Result<DataType, ShapeError> {
        if depth > DEEPEST_TYPE {
            return Err(ShapeError::at(path, format!("types nest deeper than {DEEPEST_TYPE}")));
        }
        let at = |what: &str| format!("{path}{what}");
        let lower = self.data_type.to_ascii_lowercase();
        let plain = match lower.as_str() {
            "struct" | "array" => None,
            "bigint" => Some(DataType::Bigint),
            "int" => Some(DataType::Int),
            "float" => Some(DataType::Float),
            "double" => Some(DataType::Double),
            "boolean" => Some(DataType::Boolean),
            "string" => Some(DataType::String),
            "timestamp" => Some(DataType::Timestamp),
            "datetime" => Some(DataType::Datetime),
            _ => {
                let known = DataType::NAMES.join(", ");
                let problem = format!("`{}` is no data type; there are {known}", self.data_type);
                return Err(ShapeError::at(at("data_type"), problem));
            }
        };
        if self.fields.is_some() && lower != "struct" {
            return Err(ShapeError::at(at("fields"), format!("`{lower}` has no fields")));
        }
        if self.element.is_some() && lower != "array" {
            return Err(ShapeError::at(at("element"), format!("`{lower}` has no element")));
        }
        if let Some(plain) = plain {
            return Ok(plain);
        }
        if lower == "array" {
            let element = self.element.ok_or_else(|| ShapeError::at(at("element"), "an array has one"))?;
            return Ok(DataType::Array(Box::new(element.data_type(&at("element."), depth + 1)?)));
        }
        let fields = self.fields.unwrap_or_default();
        if fields.is_empty() {
            return Err(ShapeError::at(at("fields"), "a struct has at least one"));
        }
        let fields = fields.into_iter().enumerate();
        let fields = fields.map(|(index, field)| field.column(&at(&format!("fields[{index}].")), depth + 1));
        let fields: Vec<Column> = fields.collect::<Result<_, _>>()?;
        unique(&fields)
            .map_err(|(index, problem)| ShapeError::at(at(&format!("fields[{index}]")), problem))?;
        Ok(DataType::Struct(fields))
    }
}

/// Tells what is wrong with the name of a stream or column: names are 1 to [`LONGEST_NAME`] characters long and have
/// no control characters.
pub fn check_name(name: &str) -> Result<(), String> {
    match name.chars().count() {
        0 => Err("a name has at least one character".to_owned()),
        length if length > LONGEST_NAME => Err(format!("a name has at most {LONGEST_NAME} characters")),
        _ if name.chars().any(char::is_control) => Err("a name has no control characters".to_owned()),
        _ => Ok(()),
    }
}

/// Tells what is wrong with a name that is part of an address, such as that of a stream or the id of a pipeline: besides
/// what [`check_name`] says, it is made of letters, digits, `_`, `-` and `.`.
pub fn check_id(id: &str) -> Result<(), String> {
    check_name(id)?;
    match id.chars().find(|char| !(char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.'))) {
        Some(char) => Err(format!("`{char}` is neither letter, digit, `_`, `-` nor `.`")),
        None if id.starts_with('.') => Err("a name does not begin with a dot".to_owned()),
        None => Ok(()),
    }
}

fn unique(columns: &[Column]) -> Result<(), (usize, String)> {
    let mut seen = BTreeSet::new();
    match columns.iter().enumerate().find(|(_, column)| !seen.insert(&column.name)) {
        Some((index, column)) => Err((index, format!("there are two of the name `{}`", column.name))),
        None => Ok(()),
    }
}

/// The columns of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// In order.
    pub columns: Vec<Column>,
}

/// Which column says when a row happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventTime {
    /// A column of `timestamp`, `datetime`, `bigint` or `int`: milliseconds since 1970.
    pub column: String,
    /// How it is written; passed on.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// What a stream is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    /// The kind of source, such as `mqtt`; passed on.
    #[serde(rename = "type")]
    pub kind: String,
    /// The columns.
    pub schema: Schema,
    /// Properties of the source; passed on.
    #[serde(default)]
    pub props: Map<String, Json>,
    /// Whether pipelines share one reader; passed on.
    #[serde(default)]
    pub shared: bool,
    /// How messages are decoded; passed on.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub decoder: Json,
    /// Which column says when a row happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eventtime: Option<EventTime>,
    /// How rows are thinned out before they come; passed on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampler: Option<Json>,
}

impl StreamSpec {
    /// Finds what the shape alone does not hold: there is a column, names differ, and the event time is one of them.
    pub fn validate(&self) -> Result<(), ShapeError> {
        let columns = &self.schema.columns;
        if self.kind.is_empty() {
            return Err(ShapeError::at("type", "a stream has a type, such as `mqtt`"));
        }
        if columns.is_empty() {
            return Err(ShapeError::at("schema.columns", "a stream has at least one column"));
        }
        if columns.iter().map(|column| size(&column.data_type)).sum::<usize>() > MOST_COLUMNS {
            return Err(ShapeError::at("schema.columns", format!("there are more than {MOST_COLUMNS}")));
        }
        unique(columns)
            .map_err(|(index, problem)| ShapeError::at(format!("schema.columns[{index}]"), problem))?;
        let Some(eventtime) = &self.eventtime else { return Ok(()) };
        match columns.iter().find(|column| column.name == eventtime.column).map(|column| &column.data_type) {
            Some(DataType::Timestamp | DataType::Datetime | DataType::Bigint | DataType::Int) => Ok(()),
            Some(other) => {
                let problem = format!("`{}` is of type {}, which is no time", eventtime.column, other.name());
                Err(ShapeError::at("eventtime.column", problem))
            }
            None => {
                let problem = format!("there is no column `{}`", eventtime.column);
                Err(ShapeError::at("eventtime.column", problem))
            }
        }
    }
}

fn size(data_type: &DataType) -> usize {
    match data_type {
        DataType::Struct(fields) => 1 + fields.iter().map(|field| size(&field.data_type)).sum::<usize>(),
        DataType::Array(element) => 1 + size(element),
        _ => 1,
    }
}

/// A stream, as `GET /streams/describe/:name` shows it and as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Its name.
    pub stream: String,
    /// Counts the specs that the name has had, from 1.
    pub spec_version: u64,
    /// What it is.
    pub spec: StreamSpec,
}

impl Stream {
    /// Reads a described stream, as a Manager of whatever make answers it.
    pub fn from_json(json: &Json) -> Result<Stream, ShapeError> {
        let stream: Stream = read(json)?;
        check_id(&stream.stream).map_err(|problem| ShapeError::at("stream", problem))?;
        stream
            .spec
            .validate()
            .map_err(|error| ShapeError::at(format!("spec.{}", error.path), error.problem))?;
        Ok(stream)
    }
}

/// A stream in a list, as `GET /streams` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamSummary {
    /// Its name.
    pub name: String,
    /// Whether pipelines share one reader.
    pub shared: bool,
    /// The columns.
    pub schema: Schema,
}

/// The streams that queries may read.
///
/// Invariant: each stream is valid and has the name that it is found by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    streams: BTreeMap<String, Stream>,
}

impl Catalog {
    /// A catalog without streams.
    pub fn new() -> Catalog {
        Catalog::default()
    }

    /// Takes a stream up, in place of one of the same name.
    pub fn insert(&mut self, stream: Stream) -> Result<(), ShapeError> {
        check_id(&stream.stream).map_err(|problem| ShapeError::at("stream", problem))?;
        stream
            .spec
            .validate()
            .map_err(|error| ShapeError::at(format!("spec.{}", error.path), error.problem))?;
        self.streams.insert(stream.stream.clone(), stream);
        Ok(())
    }

    /// Lets a stream go, if it is there.
    pub fn remove(&mut self, name: &str) {
        self.streams.remove(name);
    }

    /// The stream of a name.
    pub fn get(&self, name: &str) -> Option<&Stream> {
        self.streams.get(name)
    }

    /// The streams by name.
    pub fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.streams.values()
    }

    /// The names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.streams.keys().map(String::as_str)
    }

    /// The list that `GET /streams` shows.
    pub fn summaries(&self) -> Vec<StreamSummary> {
        let summary = |stream: &Stream| StreamSummary {
            name: stream.stream.clone(),
            shared: stream.spec.shared,
            schema: stream.spec.schema.clone(),
        };
        self.iter().map(summary).collect()
    }
}
