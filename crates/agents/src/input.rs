//! What runs are started with, as it came over the wire.

use lmlang_engine::Error;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads the input of a run; what does not fit says where.
pub(crate) fn read<T: DeserializeOwned>(input: &Value) -> Result<T, Error> {
    serde_path_to_error::deserialize(input).map_err(|error| {
        let path = error.path().to_string();
        wrong(if path == "." { "" } else { &path }, error.into_inner().to_string())
    })
}

/// What is wrong with a field of the input of a run; an empty name means the whole.
pub(crate) fn wrong(field: &str, message: impl Into<String>) -> Error {
    let place = match field {
        "" => "input.input".to_owned(),
        field => format!("input.input.{field}"),
    };
    Error::Argument { place, message: message.into() }
}
