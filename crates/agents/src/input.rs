//! What runs are started with, as it came over the wire.

use lmlang_engine::{Error, Selector};
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

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

/// Refuses words of a field that say nothing, or have more than so many bytes.
pub(crate) fn check_words(field: &str, words: &str, most: usize) -> Result<(), Error> {
    if words.trim().is_empty() {
        return Err(wrong(field, format!("`{field}`: words are expected")));
    }
    if words.len() > most {
        return Err(wrong(field, format!("`{field}`: more than {most} bytes")));
    }
    Ok(())
}

/// The program that a caller names, by name or id.
pub(crate) fn program(given: &str) -> Selector {
    match Uuid::try_parse(given) {
        Ok(id) => Selector::Id(id),
        Err(_) => Selector::Name(given.to_owned()),
    }
}
