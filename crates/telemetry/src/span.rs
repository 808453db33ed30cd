//! What is sent: spans as plain data.

/// A finished span.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The trace; not all zeros.
    pub trace_id: [u8; 16],
    /// Its own id; not all zeros.
    pub span_id: [u8; 8],
    /// The span that it lies in; none for the root of a trace.
    pub parent: Option<[u8; 8]>,
    /// What it is called, of few different names: see [`crate::names`].
    pub name: String,
    /// Which side of a call it is.
    pub kind: Kind,
    /// When it began, in nanoseconds since 1970.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// How it ended.
    pub status: Status,
    /// What is noted of it; names do not repeat.
    pub attributes: Vec<(String, Value)>,
    /// What happened in the middle of it.
    pub events: Vec<Event>,
}

/// Which side of a call a span is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Neither: work within the process.
    #[default]
    Internal,
    /// It answers a call from elsewhere.
    Server,
    /// It calls something elsewhere and waits.
    Client,
    /// It leaves a message.
    Producer,
    /// It takes a message.
    Consumer,
}

/// How a span ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Well.
    #[default]
    Ok,
    /// Not so.
    Error {
        /// What went wrong, for people.
        message: String,
    },
}

/// Something that happened at a moment of a span.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What it is called.
    pub name: String,
    /// When, in nanoseconds since 1970.
    pub time_ns: u64,
    /// What is noted of it.
    pub attributes: Vec<(String, Value)>,
}

/// What an attribute says.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// Several texts.
    Texts(Vec<String>),
    /// A JSON value, which is sent as its text: what is secret in it is found by the names of its fields, too.
    Json(serde_json::Value),
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

impl From<u64> for Value {
    /// Keeps what fits; a larger one becomes a float, as in JSON.
    fn from(value: u64) -> Value {
        i64::try_from(value).map_or(Value::Float(value as f64), Value::Int)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Value {
        Value::Int(i64::from(value))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}

impl From<serde_json::Value> for Value {
    /// Gives texts, numbers and booleans their own kinds; the rest stays JSON.
    fn from(value: serde_json::Value) -> Value {
        match value {
            serde_json::Value::String(text) => Value::Text(text),
            serde_json::Value::Bool(value) => Value::Bool(value),
            serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(value), _) => Value::Int(value),
                (None, Some(value)) => Value::Float(value),
                (None, None) => Value::Text(number.to_string()),
            },
            value
            @ (serde_json::Value::Null | serde_json::Value::Array(_) | serde_json::Value::Object(_)) => {
                Value::Json(value)
            }
        }
    }
}

/// Who sends: attributes of all spans of a process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resource {
    /// They give way to those that [`crate::Settings`] has read.
    pub attributes: Vec<(String, Value)>,
}

impl Resource {
    /// Returns the resource of this product in a version, built from a commit where that is known.
    #[must_use]
    pub fn lmlang(version: &str, commit: Option<&str>) -> Resource {
        let mut attributes = vec![
            ("service.name".to_owned(), Value::from("lmlang")),
            ("service.version".to_owned(), Value::from(version)),
            ("telemetry.sdk.language".to_owned(), Value::from("rust")),
        ];
        if let Some(commit) = commit {
            attributes.push(("vcs.ref.head.revision".to_owned(), Value::from(commit)));
            attributes.push((crate::names::langfuse::RELEASE.to_owned(), Value::from(commit)));
        }
        Resource { attributes }
    }
}
