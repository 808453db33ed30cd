//! The fields of an object, given one by one or as JSON in a file.

use std::path::Path;

use serde_json::{Map, Value};

use crate::error::Error;
use crate::source::input;

/// An object: what a file says as JSON, `-` for standard input; else `name=value` for each field, where a value that is no
/// JSON is a text, and `@FILE` the text of a file.
pub(crate) fn object(fields: &[String], file: Option<&Path>) -> Result<Value, Error> {
    if let Some(file) = file {
        let text = input(file)?;
        return serde_json::from_str(&text)
            .map_err(|error| Error::Input(format!("the input is no JSON: {error}")));
    }
    let mut object = Map::new();
    for field in fields {
        let (name, value) =
            field.split_once('=').ok_or_else(|| Error::Input(format!("`{field}` is not `name=value`")))?;
        let value = match value.strip_prefix('@') {
            Some(path) => Value::String(input(Path::new(path))?),
            // What stands in quotes is meant as a text with quotes; only what is no text is read as JSON.
            None => serde_json::from_str(value)
                .ok()
                .filter(|value: &Value| !value.is_string())
                .unwrap_or_else(|| Value::String(value.to_owned())),
        };
        object.insert(name.to_owned(), value);
    }
    Ok(Value::Object(object))
}

/// Has fields be texts as they were given, where the schema of the object says that they are texts.
pub(crate) fn as_texts(object: &mut Value, fields: &[String], schema: &Value) {
    let given = fields.iter().filter_map(|field| field.split_once('='));
    for (name, value) in given.filter(|(_, value)| !value.starts_with('@')) {
        if schema["properties"][name]["type"] == "string" {
            object[name] = Value::String(value.to_owned());
        }
    }
}

/// An object that is given as JSON.
pub(crate) fn read(text: &str) -> Result<Map<String, Value>, serde_json::Error> {
    serde_json::from_str(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(fields: &[&str], expect: &str) {
        let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
        let seen = match object(&fields, None) {
            Ok(object) => object.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(seen, expect);
    }

    #[test]
    fn what_is_no_json_is_a_text() {
        check(
            &["a=5", "b=x y", "c=null", "d=[1]", "e=\"q\"", "f="],
            r#"{"a":5,"b":"x y","c":null,"d":[1],"e":"\"q\"","f":""}"#,
        );
        check(&["a=b=c"], r#"{"a":"b=c"}"#);
        check(&["a"], "`a` is not `name=value`");
    }

    #[test]
    fn what_has_to_be_a_text_is_one() {
        let schema = json!({ "properties": { "a": { "type": "string" }, "b": { "type": "integer" } } });
        let fields = ["a=5", "b=5", "c=5"].map(str::to_owned);
        let mut given = object(&fields, None).expect("they are fields");
        as_texts(&mut given, &fields, &schema);
        assert_eq!(given, json!({ "a": "5", "b": 5, "c": 5 }));
        as_texts(&mut given, &fields, &Value::Null);
        assert_eq!(given, json!({ "a": "5", "b": 5, "c": 5 }));
    }
}
